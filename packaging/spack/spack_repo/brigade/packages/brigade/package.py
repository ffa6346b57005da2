# Spack's recipe for Brigade; packaging/README.md says how it is used.
import os

from spack_repo.builtin.build_systems.generic import Package

from spack.package import Executable, depends_on, license, requires, version

OPEN_MPIS = ("openmpi", "hpcx-mpi")
MPICHS = ("mpich", "mvapich", "intel-oneapi-mpi")


class Brigade(Package):
    """Communication patterns, one-sided windows and a BLACS for transports whose messages pass
    through scarce registered memory."""

    # No server has it: `spack dev-build` builds a checkout, `spack install` an archive in the
    # current folder.
    url = f"file://{os.getcwd()}/brigade-0.1.0.tar.gz"
    manual_download = True

    version("0.1.0")

    license("BSD-3-Clause")

    requires("os=debian12", msg="Bazel takes itself and libraries from Debian 12")
    requires("target=x86_64:", msg="Brigade is for x86-64")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("mpi")
    requires(
        *(f"^[virtuals=mpi] {mpi}" for mpi in OPEN_MPIS + MPICHS),
        policy="one_of",
        msg="Brigade is for Open MPI and for MPIs with the binary interface of MPICH",
    )

    sanity_check_is_file = ["bin/brigade_info", "lib/libbrigade_blacs.so"]

    def install(self, spec, prefix):
        mpich = any(spec.satisfies(f"^[virtuals=mpi] {mpi}") for mpi in MPICHS)
        # Bazel hides the environment that Spack's compiler wrapper reads, so it is given the
        # compiler itself.
        Executable("./install.sh")(
            "--prefix",
            prefix,
            "--mpi",
            "mpich" if mpich else "openmpi",
            extra_env={"MPICC": spec["mpi"].mpicc, "CC": self["c"].cc},
        )

# Spack's recipe for Brigade; ../README.md says how it is used.
import os

from spack.package import Executable, conflicts, depends_on, license, requires, version
from spack_repo.builtin.build_systems.generic import Package


class Brigade(Package):
    """Communication patterns, one-sided windows and a BLACS for transports whose messages pass through scarce
    registered memory."""

    # Nothing to fetch: `spack develop` names the checkout.
    version("0.1.0")

    license("BSD-3-Clause")

    requires("platform=linux", msg="Brigade needs futexes and io_uring")
    conflicts("target=ppc64le:", msg="Brigade is for x86-64")
    conflicts("target=aarch64:", msg="Brigade is for x86-64")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("mpi")

    def install(self, spec, prefix):
        mpich = any(spec.satisfies(f"^[virtuals=mpi] {name}")
                    for name in ("mpich", "mvapich", "mvapich-plus", "cray-mpich", "intel-oneapi-mpi"))
        # Bazel hides the environment that Spack's compiler wrappers want, so it is given the compiler itself.
        Executable("./install.sh")("--prefix", prefix, "--mpi", "mpich" if mpich else "openmpi",
                                   extra_env={"MPICC": spec["mpi"].mpicc, "CC": os.environ["SPACK_CC"]})

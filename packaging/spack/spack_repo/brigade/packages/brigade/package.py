# Spack's recipe for Brigade; packaging/README.md says how it is used.
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import depends_on, filter_system_paths, license, requires, variant, version

OPEN_MPIS = ("openmpi", "hpcx-mpi")
MPICHS = ("mpich", "mvapich", "cray-mpich", "intel-oneapi-mpi")


class Brigade(CMakePackage):
    """Communication patterns, one-sided windows and a BLACS for transports whose messages pass
    through scarce registered memory."""

    # No server has it: `spack dev-build` builds a checkout, `spack install` an archive in the
    # current folder.
    url = f"file://{os.getcwd()}/brigade-1.0.0.tar.gz"
    manual_download = True

    version("1.0.0")

    license("BSD-3-Clause")

    variant("mpi", default=True, description="The libraries that call MPI, and the programs")
    variant("liburing", default=True, description="io_uring under the TCP transport")
    variant("libsodium", default=True, description="The TCP transport, which authenticates peers")
    # brigade_trace_picture also needs py-numpy and py-matplotlib, which users of it load.
    variant("tools", default=True, description="brigade_bench, brigade_info, timelines", when="+mpi")

    requires("platform=linux", msg="Brigade is for Linux")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.20:", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("googletest", type="test")
    # Both are opened at run time, in the folders of the RPATH.
    depends_on("liburing@2.3:", when="+liburing")
    depends_on("libsodium", when="+libsodium")
    depends_on("pkgconfig", type="build", when="+liburing")
    depends_on("pkgconfig", type="build", when="+libsodium")
    depends_on("mpi", when="+mpi")
    depends_on("help2man", type="build", when="+mpi")
    depends_on("cli11", type="build", when="+tools")
    depends_on("python@3:", type=("build", "run"), when="+tools")
    requires(
        *(f"^[virtuals=mpi] {mpi}" for mpi in OPEN_MPIS + MPICHS),
        policy="one_of",
        when="+mpi",
        msg="Brigade is for Open MPI and for MPIs with the binary interface of MPICH",
    )

    sanity_check_is_file = ["lib/libbrigade.so", "include/brigade/brigade.h"]

    def cmake_args(self):
        spec = self.spec
        opened = [spec[name] for name in ("liburing", "libsodium") if f"+{name}" in spec]
        folders = [folder for library in opened for folder in library.libs.directories]
        args = [
            self.define_from_variant("BRIGADE_MPI", "mpi"),
            self.define_from_variant("BRIGADE_LIBURING", "liburing"),
            self.define_from_variant("BRIGADE_LIBSODIUM", "libsodium"),
            self.define("BRIGADE_TOOLS", "+tools" in spec),
            self.define("BRIGADE_MANUALS", "+mpi" in spec),
            self.define("BUILD_TESTING", self.run_tests),
            self.define("CMAKE_INSTALL_LIBDIR", "lib"),
            self.define("CMAKE_INSTALL_RPATH", filter_system_paths(folders)),
            self.define("JSON_INCLUDE_DIR", spec["nlohmann-json"].prefix.include),
        ]
        if "+tools" in spec:
            args.append(self.define("CLI11_INCLUDE_DIR", spec["cli11"].prefix.include))
        if "+mpi" in spec:
            args.append(self.define("MPI_C_COMPILER", spec["mpi"].mpicc))
            args.append(self.define("MPI_HOME", spec["mpi"].prefix))
        return args

"""Tests that run as an MPI job."""

load("//membuf:copts.bzl", "BRIGADE_COPTS")

def mpi_test(name, ranks, srcs, deps, args = [], size = "medium", tags = [], main = "//test/support:gtest_mpi_main"):
    """A program of the test's own, and per number of ranks one test NAME_<ranks> that starts it.

    Args:
      name: of the program; the tests are NAME_<ranks>.
      ranks: list of numbers of ranks to run with.
      srcs: sources of the program.
      deps: libraries of the program.
      args: arguments of the program.
      size: Bazel's size of the tests.
      tags: more tags of the tests.
      main: the library with main(), which makes all ranks exit alike.
    """
    native.cc_binary(
        name = name,
        testonly = True,
        srcs = srcs,
        copts = BRIGADE_COPTS,
        deps = deps + [main],
    )
    for n in ranks:
        native.sh_test(
            name = "%s_%d" % (name, n),
            size = size,
            srcs = ["//test/support:run_mpi.sh"],
            args = [str(n), "$(rootpath :%s)" % name] + args,
            data = [":" + name],
            tags = ["mpi", "cpu:2"] + tags,
        )

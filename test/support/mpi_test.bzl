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
        mpi_job_test(
            name = "%s_%d" % (name, n),
            size = size,
            ranks = n,
            args = [":" + name] + args,
            tags = ["mpi", "cpu:2"] + tags,
        )

def mpi_job_test(name, args, ranks = None, script = None, data = [], tags = ["mpi", "cpu:2"], **attributes):
    """A test that starts MPI jobs: one of `ranks` ranks with the command `args`, or those of a script.

    Args:
      name: of the test.
      args: words; one that begins with : or // is a target, which the test gets the path of.
      ranks: number of ranks of the job.
      script: of the test, whose first argument is the program that starts jobs (run_mpi.sh), before `args`.
      data: targets and files that are needed and are no arguments.
      tags: of the test. cpu:2 keeps other tests away.
      **attributes: more of sh_test.
    """
    starter = "//test/support:run_mpi.sh"
    words = [str(ranks)] + args if ranks else [starter] + args
    targets = [word for word in words if word.startswith(":") or word.startswith("//")]
    native.sh_test(
        name = name,
        srcs = [script or starter],
        args = ["$(rootpath %s)" % word if word in targets else word for word in words],
        data = depset(targets + data).to_list(),
        tags = tags,
        **attributes
    )

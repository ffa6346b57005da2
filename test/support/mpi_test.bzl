"""Tests that run as an MPI job."""

load("//membuf:copts.bzl", "BRIGADE_COPTS", "BRIGADE_C_COPTS")

def mpi_test(name, ranks, deps = [], libraries = [], args = [], size = "medium", tags = []):
    """A program of GoogleTest, NAME.cc, and per number of ranks one test NAME_<ranks> that starts it.

    Args:
      name: of the program; the tests are NAME_<ranks>.
      ranks: list of numbers of ranks to run with.
      deps: libraries of the program; GoogleTest and MPI are two.
      libraries: of ours that it is linked with, as a user's program is.
      args: arguments of the program.
      size: Bazel's size of the tests.
      tags: more tags of the tests.
    """
    mpi_program(name, libraries, deps + ["//test/support:gtest_mpi_main", "@com_google_googletest//:gtest"])
    for n in ranks:
        mpi_job_test(
            name = "%s_%d" % (name, n),
            size = size,
            ranks = n,
            args = [":" + name] + args,
            tags = ["mpi", "cpu:2"] + tags,
        )

def mpi_program(name, libraries = [], deps = [], copts = [], **attributes):
    """A program that tests start as an MPI job: NAME.c or NAME.cc.

    Args:
      name: of the program.
      libraries: of ours that it is linked with, as a user's program is.
      deps: other libraries; MPI is one.
      copts: more than the project's.
      **attributes: more of cc_binary.
    """
    is_c = len(native.glob([name + ".c"])) > 0
    native.cc_binary(
        name = name,
        testonly = True,
        srcs = [name + (".c" if is_c else ".cc")] + libraries,
        copts = (BRIGADE_C_COPTS if is_c else BRIGADE_COPTS) + copts,
        deps = deps + (["//include:brigade"] if libraries else []) + ["@mpi"],
        **attributes
    )

def mpi_job_test(name, args, ranks = None, script = None, data = [], tags = ["mpi", "cpu:2"], **attributes):
    """A test that starts MPI jobs: one of `ranks` ranks with the command `args`, or those of a script.

    Args:
      name: of the test.
      args: words. The test gets the path of a word that is a target (it begins with : or //), and of a target that
        stands in braces within a word.
      ranks: number of ranks of the job.
      script: of the test, whose first argument is the program that starts jobs (run_mpi.sh), before `args`.
      data: targets and files that are needed and are no arguments.
      tags: of the test. cpu:2 keeps other tests away.
      **attributes: more of sh_test.
    """
    if "waits" in tags and "size" not in attributes:
        attributes["timeout"] = "long"  # beside a load they wait several times as long
    starter = "//test/support:run_mpi.sh"
    targets = [] if ranks else [starter]
    words = [str(ranks)] if ranks else ["$(rootpath %s)" % starter]
    for word in args:
        if word.startswith(":") or word.startswith("//"):
            word = "{%s}" % word
        parts = word.split("{")
        for i, part in enumerate(parts[1:]):
            is_target = part.startswith(":") or part.startswith("//")
            targets += [part.split("}")[0]] if is_target else []
            parts[i + 1] = "$(rootpath %s" % part.replace("}", ")", 1) if is_target else "{" + part
        words.append("".join(parts))
    native.sh_test(
        name = name,
        srcs = [script or starter],
        args = words,
        data = depset(targets + data).to_list(),
        tags = tags,
        **attributes
    )

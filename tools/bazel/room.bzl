"""A room is a folder of sources: one library, and one program of unit tests."""

load("//membuf:copts.bzl", "BRIGADE_COPTS")

def room(name = None, deps = [], files = ["*"], exclude = [], copts = [], **attributes):
    """The sources and headers of the folder but its tests, or some of them.

    test/include_check.sh holds each file to the arrows between rooms; Bazel only sees rooms.

    Args:
      name: of the library; the folder's unless given.
      deps: libraries of other rooms.
      files: patterns of names; extensions of other files are ignored.
      exclude: files that belong to other targets.
      copts: more than BRIGADE_COPTS.
      **attributes: more of cc_library.
    """
    all = native.glob(files, exclude = ["*_test.cc"] + exclude)
    native.cc_library(
        name = name or native.package_name().split("/")[-1],
        srcs = [file for file in all if file.endswith(".cc")],
        hdrs = [file for file in all if file.endswith(".h")],
        copts = BRIGADE_COPTS + copts,
        deps = deps,
        **attributes
    )

def room_test(name = None, deps = [], exclude = [], size = "small", copts = [], **attributes):
    """The unit tests of the folder, *_test.cc, in one program.

    Args:
      name: of the test; FOLDER_test unless given.
      deps: libraries beside the folder's own and GoogleTest's.
      exclude: tests that are targets of their own.
      size: Bazel's size of the test.
      copts: more than BRIGADE_COPTS.
      **attributes: more of cc_test.
    """
    folder = native.package_name().split("/")[-1]
    native.cc_test(
        name = name or folder + "_test",
        size = size,
        srcs = native.glob(["*_test.cc"], exclude = exclude),
        copts = BRIGADE_COPTS + copts,
        linkopts = ["-pthread"],
        deps = [":" + folder, "@com_google_googletest//:gtest_main"] + deps,
        **attributes
    )

def unit_tests(deps, size = "medium", exclude = [], special = {}, **attributes):
    """A program for each *_test.cc of the folder.

    Args:
      deps: libraries of all of them, beside GoogleTest's.
      size: Bazel's size of the tests.
      exclude: files that belong to other targets.
      special: by name of a test, attributes of cc_test that differ.
      **attributes: more of cc_test.
    """
    files = native.glob(["*_test.cc"], exclude = exclude)
    for name in special:
        if name + ".cc" not in files:
            fail("special names %s, which is no test of the folder" % name)
    for file in files:
        own = dict(size = size, **attributes)
        own.update(special.get(file[:-3], {}))
        native.cc_test(
            name = file[:-3],
            srcs = [file],
            copts = BRIGADE_COPTS,
            deps = deps + own.pop("deps", ["@com_google_googletest//:gtest_main"]),
            **own
        )

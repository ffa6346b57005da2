"""A room is a folder of sources: one library, and one program of unit tests."""

load("//membuf:copts.bzl", "BRIGADE_COPTS")

# Headers take two thirds of the time of a compilation, so the compiler reads them once for several sources. More would
# make the next build after a change of one source slow.
_SOURCES_OF_A_UNIT = 5

def _unit_impl(ctx):
    ctx.actions.write(ctx.outputs.out, "".join(["#include \"%s\"\n" % file.path for file in ctx.files.srcs]))

_unit = rule(
    doc = "A source that includes others.",
    implementation = _unit_impl,
    attrs = {
        "out": attr.output(),
        "srcs": attr.label_list(allow_files = [".cc"]),
    },
)

def _units(name, sources):
    units = []
    for begin in range(0, len(sources), _SOURCES_OF_A_UNIT):
        unit = "%s_unit_%d" % (name, begin // _SOURCES_OF_A_UNIT)
        _unit(name = unit, out = unit + ".cc", srcs = sources[begin:begin + _SOURCES_OF_A_UNIT])
        units.append(unit + ".cc")
    return units

def room(name = None, deps = [], files = ["*"], exclude = [], alone = [], copts = [], **attributes):
    """The sources and headers of the folder but its tests, or some of them. Several sources are compiled as one.

    test/include_check.sh holds each file to the arrows between rooms; Bazel only sees rooms.

    Args:
      name: of the library; the folder's unless given.
      deps: libraries of other rooms.
      files: patterns of names; extensions of other files are ignored.
      exclude: files that belong to other targets.
      alone: sources that are compiled for themselves: they have names of other sources, or options of their own.
      copts: more than BRIGADE_COPTS.
      **attributes: more of cc_library.
    """
    name = name or native.package_name().split("/")[-1]
    all = native.glob(files, exclude = ["*_test.cc"] + exclude)
    together = [file for file in all if file.endswith(".cc") and file not in alone]
    native.cc_library(
        name = name,
        srcs = _units(name, together) + alone,
        hdrs = [file for file in all if file.endswith(".h")],
        copts = BRIGADE_COPTS + copts,
        textual_hdrs = together,
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

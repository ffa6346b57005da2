"""Shared libraries that lie beside libbrigade.so, which has all that is below them."""

load("//membuf:copts.bzl", "BRIGADE_COPTS")
load("//patterns/api:without.bzl", "without")

def library_beside(name, srcs, beyond, deps = [], copts = [], exports = "exports.map", stays = False):
    """lib<name>.so.0, lib<name>.so, a copy, and libbrigade.so.0 beside them, as where they are installed.

    Programs that are linked look for the library under its SONAME, which changes when they would no longer work.

    Args:
      name: of the library, without lib and .so.
      srcs: what has the names that it exports.
      beyond: libraries that these need, linked except for what libbrigade.so has.
      deps: libraries that these include alone.
      copts: more than BRIGADE_COPTS.
      exports: the version script with the names.
      stays: whether it stays loaded once loaded, for MPI calls it back when it ends.
    """
    library = "lib%s.so" % name
    soname = library + ".0"
    without(
        name = name + "_beyond_libbrigade",
        held = "//patterns/api:contents",
        deps = beyond,
    )
    native.cc_binary(
        name = soname,
        srcs = srcs,
        additional_linker_inputs = [
            exports,
            ":libbrigade.so.0",
        ],
        copts = BRIGADE_COPTS + copts,
        linkopts = [
            "$(location :libbrigade.so.0)",
            "-Wl,-rpath,'$$ORIGIN'",
            "-Wl,--version-script=$(location %s)" % exports,
            "-Wl,-soname," + soname,
            "-Wl,-z,defs",
        ] + (["-Wl,-z,nodelete"] if stays else []),
        linkshared = True,
        deps = [":%s_beyond_libbrigade" % name] + deps + ["@mpi"],
    )

    # What linkers look for, and what is preloaded.
    native.genrule(
        name = "lib" + name,
        srcs = [":" + soname],
        outs = [library],
        cmd = "cp $< $@",
    )
    if native.existing_rule("libbrigade") == None:
        native.genrule(
            name = "libbrigade",
            srcs = ["//patterns/api:libbrigade.so.0"],
            outs = ["libbrigade.so.0"],
            cmd = "cp $< $@",
        )
    native.sh_test(
        name = name + "_soname_test",
        size = "small",
        srcs = ["//test/support:soname_test.sh"],
        args = [
            "$(location :%s)" % library,
            "$(location :%s)" % soname,
        ],
        data = [
            ":" + library,
            ":" + soname,
        ],
    )

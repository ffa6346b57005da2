"""Shared libraries that lie beside libbrigade.so, which has all that is below them but what calls MPI."""

load("//membuf:copts.bzl", "BRIGADE_COPTS")
load("//patterns/api:without.bzl", "without")

# Of MPIs, as files are called after them.
FAMILIES = ["openmpi", "mpich"]

# Where MPIs are made: no library of ours names one that it needs.
MPIS = ["@mpi//:mpi", "@mpich//:mpich"]

def mpi_parts(names):
    """The names, with the family of MPIs that all is built for in place of %s."""
    return select({
        "@mpi//:is_mpich": [name % "mpich" for name in names],
        "//conditions:default": [name % "openmpi" for name in names],
    })

def _copied(library):
    """The library of patterns/api, beside others."""
    if native.existing_rule(library + "_copy") == None:
        native.genrule(
            name = library + "_copy",
            srcs = ["//patterns/api:" + library],
            outs = [library],
            cmd = "cp $< $@",
            tags = ["manual"],
        )

def _with_parts_impl(ctx):
    copy = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.run_shell(
        inputs = [ctx.file.library] + ctx.files.parts,
        outputs = [copy],
        command = "cp '%s' '%s'" % (ctx.file.library.path, copy.path),
    )
    return [DefaultInfo(files = depset([copy]), runfiles = ctx.runfiles([copy] + ctx.files.parts))]

_with_parts = rule(
    doc = "A copy of a library. Who has it among its data has what it opens, too: tests run again when that changes.",
    implementation = _with_parts_impl,
    attrs = {
        "library": attr.label(allow_single_file = True),
        "parts": attr.label_list(allow_files = True),
    },
)

def library_beside(name, srcs, deps, copts = [], exports = "exports.map", names = None):
    """lib<name>.so.1, lib<name>.so, a copy, and what they need beside them, as where they are installed.

    Programs that are linked look for the library under its SONAME, which changes when they would no longer work.

    Args:
      name: of the library, without lib and .so.
      srcs: what has the names that it exports.
      deps: libraries that these need, linked except for what libbrigade.so and its part for MPI have.
      copts: more than BRIGADE_COPTS.
      exports: the version script with the names.
      names: a source that has the names alone (transport/family). The library is made of it, for all MPIs, and the
        rest is lib<name>_<family>.so.1. Without it the library is for the MPI that all is built with.
    """
    library = "lib%s.so" % name
    soname = library + ".1"
    _copied("libbrigade.so.1")
    for family in FAMILIES:
        _copied("libbrigade_mpi_%s.so.1" % family)
    native.cc_library(
        name = name + "_api",
        srcs = srcs,
        # Each of its files has names that nothing here calls.
        alwayslink = True,
        copts = BRIGADE_COPTS + copts,
        deps = deps + ["@mpi"],
    )
    for family in FAMILIES if names else [""]:
        file = "lib%s_%s.so.1" % (name, family) if names else soname
        beyond = file + "_beyond_libbrigade"
        without(
            name = beyond,
            family = family,
            folders = MPIS,
            held = "//patterns/api:contents",
            deps = [":%s_api" % name],
        )
        native.cc_binary(
            name = file,
            additional_linker_inputs = [
                exports,
                ":libbrigade.so.1",
            ] + ([":libbrigade_mpi_%s.so.1" % family] if family else mpi_parts([":libbrigade_mpi_%s.so.1"])),
            linkopts = [
                "$(location :libbrigade.so.1)",
                "-Wl,-rpath,'$$ORIGIN'",
                "-Wl,--version-script=$(location %s)" % exports,
                "-Wl,-soname," + file,
            ] + ([
                "$(location :libbrigade_mpi_%s.so.1)" % family,
                "-Wl,-z,nodelete",
            ] if family else mpi_parts(["$(location :libbrigade_mpi_%s.so.1)"])),
            linkshared = True,
            tags = ["manual"] if names else [],
            deps = [":" + beyond],
        )
    if names:
        native.cc_binary(
            name = soname,
            srcs = [names],
            additional_linker_inputs = [exports],
            copts = BRIGADE_COPTS + copts + ["-DBRIGADE_PART='\"%s\"'" % name.replace("brigade_", "")],
            linkopts = [
                "-Wl,--version-script=$(location %s)" % exports,
                "-Wl,-soname," + soname,
                "-Wl,-z,defs",
                "-Wl,-z,nodelete",
            ],
            linkshared = True,
            deps = ["//transport/family:names"],
        )

    # The file that linkers look for, and that LD_PRELOAD names.
    _with_parts(
        name = library,
        library = ":" + soname,
        parts = [":libbrigade.so.1"] +
                mpi_parts([":libbrigade_mpi_%s.so.1"] + ([":lib" + name + "_%s.so.1"] if names else [])),
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

"""The headers and libraries of an MPI, as its compiler wrapper says where they are."""

def _mpi_impl(ctx):
    chosen = ctx.os.environ.get("MPICC", "")
    wrapper = chosen or ctx.attr.wrapper
    program = ctx.path(wrapper) if wrapper.startswith("/") else ctx.which(wrapper)
    shown = ctx.execute([program, "-show"]) if program else None
    if not shown or shown.return_code != 0:
        fail("%s: there is no such wrapper of a compiler; ./test/install.sh installs Debian's" % wrapper)
    words = shown.stdout.split(" ")
    folders = [word[2:].strip() for word in words if word.startswith("-I")]

    # Where no folder has it the compiler finds it by itself.
    for folder in folders:
        if not ctx.path(folder + "/mpi.h").exists:
            continue
        if ctx.attr.folder:
            ctx.symlink(folder, ctx.attr.folder)
        else:
            for file in ctx.path(folder).readdir():
                ctx.symlink(file, file.basename)
        break
    options = ctx.attr.linkopts
    if chosen:
        options = [word.strip() for word in words if word.startswith("-L") or word.startswith("-l")]
        options += ["-Wl,-rpath," + word[2:] for word in options if word.startswith("-L")]
    ctx.template("BUILD", ctx.attr.build_file, {"@linkopts@": repr(options)})

mpi = repository_rule(
    doc = "The MPI of the wrapper $MPICC; where that is not set, of `wrapper`, linked with `linkopts`.",
    implementation = _mpi_impl,
    attrs = {
        "build_file": attr.label(allow_single_file = True),
        "folder": attr.string(doc = "where the headers are to be; empty: at the top"),
        "linkopts": attr.string_list(),
        "wrapper": attr.string(),
    },
    environ = ["MPICC"],
    local = True,
)

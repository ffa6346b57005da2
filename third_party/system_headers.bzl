"""Headers of a Debian package, and no others of /usr/include."""

def _system_headers_impl(ctx):
    for entry in ctx.attr.entries:
        found = ctx.path("/usr/include/" + entry)
        if not found.exists:
            fail("%s: there is no such header; ./test/install.sh installs it" % found)
        ctx.symlink(found, entry)
    ctx.symlink(ctx.attr.build_file, "BUILD")

system_headers = repository_rule(
    doc = "Links to `entries`, files and folders of /usr/include.",
    implementation = _system_headers_impl,
    attrs = {
        "build_file": attr.label(allow_single_file = True),
        "entries": attr.string_list(),
    },
    local = True,
)

"""What a library has beyond what another one has already."""

def _without_impl(ctx):
    held = {}
    if ctx.attr.held:
        for linker_input in ctx.attr.held[CcInfo].linking_context.linker_inputs.to_list():
            held[linker_input.owner] = True
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    kept = []
    for linker_input in merged.linking_context.linker_inputs.to_list():
        owner = linker_input.owner
        if owner not in held and [owner.workspace_name, owner.package] not in [
            [folder.workspace_name, folder.package]
            for folder in [Label(name) for name in ctx.attr.folders]
        ]:
            kept.append(linker_input)
    return [CcInfo(
        compilation_context = merged.compilation_context,
        linking_context = cc_common.create_linking_context(linker_inputs = depset(kept, order = "topological")),
    )]

without = rule(
    doc = "The libraries `deps` and what they need, to be linked, except for what is elsewhere.",
    implementation = _without_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "folders": attr.string_list(doc = "what their BUILD files make, but not what that needs, is elsewhere"),
        "held": attr.label(doc = "what it brings is elsewhere", providers = [CcInfo]),
    },
)

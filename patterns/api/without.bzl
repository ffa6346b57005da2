"""What a library has beyond what another one has already."""

def _without_impl(ctx):
    held = {}
    for linker_input in ctx.attr.held[CcInfo].linking_context.linker_inputs.to_list():
        held[linker_input.owner] = True
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    kept = [
        linker_input
        for linker_input in merged.linking_context.linker_inputs.to_list()
        if linker_input.owner not in held
    ]
    return [CcInfo(
        compilation_context = merged.compilation_context,
        linking_context = cc_common.create_linking_context(linker_inputs = depset(kept, order = "topological")),
    )]

without = rule(
    doc = "The libraries `deps` and what they need, to be linked, except for what `held` brings, which is elsewhere.",
    implementation = _without_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo]),
        "held": attr.label(providers = [CcInfo]),
    },
)

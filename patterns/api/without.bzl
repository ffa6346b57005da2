"""What a library has beyond what another one has already, for a family of MPIs."""

load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

_FAMILY = "//third_party:family"

def _for_family_impl(settings, attr):
    return {_FAMILY: attr.family or settings[_FAMILY]}

_for_family = transition(
    implementation = _for_family_impl,
    inputs = [_FAMILY],
    outputs = [_FAMILY],
)

def _linked_whole(ctx, linker_input):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    return cc_common.create_linker_input(
        owner = linker_input.owner,
        libraries = depset([
            cc_common.create_library_to_link(
                actions = ctx.actions,
                feature_configuration = features,
                cc_toolchain = toolchain,
                static_library = library.static_library,
                pic_static_library = library.pic_static_library,
                alwayslink = True,
            )
            for library in linker_input.libraries
        ]),
        user_link_flags = depset(linker_input.user_link_flags),
        additional_inputs = depset(linker_input.additional_inputs),
    )

def _without_impl(ctx):
    held = {}
    if ctx.attr.held:
        for linker_input in ctx.attr.held[CcInfo].linking_context.linker_inputs.to_list():
            held[linker_input.owner] = True
    folders = [(folder.workspace_name, folder.package) for folder in [Label(name) for name in ctx.attr.folders]]
    merged = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps])
    kept = []
    for linker_input in merged.linking_context.linker_inputs.to_list():
        owner = linker_input.owner
        if owner not in held and (owner.workspace_name, owner.package) not in folders:
            kept.append(_linked_whole(ctx, linker_input) if ctx.attr.whole else linker_input)
    return [CcInfo(
        compilation_context = merged.compilation_context,
        linking_context = cc_common.create_linking_context(linker_inputs = depset(kept, order = "topological")),
    )]

without = rule(
    doc = "The libraries `deps` and what they need, to be linked, except for what is elsewhere.",
    implementation = _without_impl,
    attrs = {
        "deps": attr.label_list(providers = [CcInfo], cfg = _for_family),
        "family": attr.string(doc = "of MPIs, that `deps` are compiled for; empty: that of the configuration"),
        "folders": attr.string_list(doc = "what their BUILD files make, but not what that needs, is elsewhere"),
        "held": attr.label(doc = "what it brings is elsewhere", providers = [CcInfo]),
        "whole": attr.bool(doc = "whether what nothing calls is linked, too: other libraries may call it"),
        "_allowlist_function_transition": attr.label(
            default = "@bazel_tools//tools/allowlists/function_transition_allowlist",
        ),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

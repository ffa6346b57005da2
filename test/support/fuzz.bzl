"""Fuzz targets: what reads what others send."""

load("//membuf:copts.bzl", "BRIGADE_COPTS")

def fuzz_target(name, deps, size = "small"):
    """fuzz/NAME.cc, which defines LLVMFuzzerTestOneInput, and fuzz/corpus/NAME/, inputs worth keeping.

    NAME_fuzz_test runs it over these and over what is like them, with every build; test/fuzz.sh runs NAME_fuzzer.

    Args:
      name: of the target.
      deps: libraries that it needs.
      size: Bazel's size of the test.
    """
    srcs = ["fuzz/%s.cc" % name]
    native.cc_test(
        name = name + "_fuzz_test",
        size = size,
        srcs = srcs,
        args = ["%s/fuzz/corpus/%s" % (native.package_name(), name)],
        copts = BRIGADE_COPTS,
        data = native.glob(["fuzz/corpus/%s/*" % name]),
        deps = deps + ["//test/support:fuzz_main"],
    )
    native.cc_binary(
        name = name + "_fuzzer",
        testonly = True,
        srcs = srcs,
        copts = BRIGADE_COPTS,
        linkopts = ["-fsanitize=fuzzer"],
        tags = ["manual"],
        deps = deps,
    )

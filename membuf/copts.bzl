"""The warnings every package of the project compiles with."""

BRIGADE_COPTS = [
    "-Wall",
    "-Wextra",
    "-Wshadow",
    "-Wcast-qual",
    "-Wnon-virtual-dtor",
    "-Woverloaded-virtual",
    "-Wvla",
]

# For the C sources among the tests and examples.
BRIGADE_C_COPTS = [
    "-std=c11",
    "-Wall",
    "-Wextra",
    "-Wstrict-prototypes",
]

// The environment variables of the library: BRIGADE_*. Their readers define their meaning;
// docs/user/settings.md documents them for users.

#ifndef BRIGADE_TRANSPORT_HOST_VARIABLE_NAMES_H_
#define BRIGADE_TRANSPORT_HOST_VARIABLE_NAMES_H_

#include <string>
#include <string_view>

namespace brigade {

// All names.
inline constexpr std::string_view kVariables[] = {
    "BRIGADE_CALIBRATE",      "BRIGADE_CHECK_WINDOWS", "BRIGADE_CHUNK_BYTES",
    "BRIGADE_EXPLAIN",        "BRIGADE_IFACE",         "BRIGADE_IO_URING",
    "BRIGADE_KERNEL_COPIES",  "BRIGADE_LI_BACKEND",    "BRIGADE_LI_BSP",
    "BRIGADE_LI_CHECK",       "BRIGADE_LOG",           "BRIGADE_MULTIPLY_BYTES",
    "BRIGADE_OVERFLOW_BYTES", "BRIGADE_OVERFLOW_WAIT", "BRIGADE_PBLAS",
    "BRIGADE_REPORT_SECONDS", "BRIGADE_RMA",           "BRIGADE_STAGING_BYTES",
    "BRIGADE_STATS",          "BRIGADE_STATS_FILE",    "BRIGADE_STATS_MPI",
    "BRIGADE_TIME_SLICES",    "BRIGADE_TOPOLOGY",      "BRIGADE_TRACE",
    "BRIGADE_TRANSPORT",
};

// Returns a line per variable of `environment` (like environ: "NAME=value", ended by a null
// pointer) whose name begins with BRIGADE_ and is unknown, since a misspelt setting has no effect,
// and a line per setting with the old name of a value. BRIGADE_TEST_* is reserved for tests.
std::string SettingWarnings(const char* const* environment);

// Prints these lines on stderr, once in a process.
void PrintSettingWarnings();

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_VARIABLE_NAMES_H_

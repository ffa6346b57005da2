// Settings: what the environment requests of the library. docs/user/settings.md has the table.

#ifndef BRIGADE_PATTERNS_SETTINGS_SETTINGS_H_
#define BRIGADE_PATTERNS_SETTINGS_SETTINGS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/engine.h"

namespace brigade {

struct Settings {
  enum class Statistics { kOff, kSummed, kPerRank };
  enum class When { kOff, kOn, kAuto };
  // The values of variables, in the order of these enums.
  static constexpr std::string_view kStatistics[] = {"0", "1", "ranks"};
  static constexpr std::string_view kWhen[] = {"off", "on", "auto"};

  std::string transport = "auto";  // BRIGADE_TRANSPORT
  // BRIGADE_{CHUNK,STAGING,OVERFLOW}_BYTES, BRIGADE_OVERFLOW_WAIT, BRIGADE_REPORT_SECONDS,
  // BRIGADE_CALIBRATE, BRIGADE_EXPLAIN, BRIGADE_TOPOLOGY
  EngineOptions engine;
  Settings() {
    engine.calibrate = EngineOptions::Calibrate::kIfUnknown;
    engine.topology_is_hint = true;
  }

  bool log_info = false;                     // BRIGADE_LOG
  Statistics statistics = Statistics::kOff;  // BRIGADE_STATS
  std::string statistics_file;               // BRIGADE_STATS_FILE; empty: none
  bool statistics_of_mpi = false;            // BRIGADE_STATS_MPI
  std::string trace;                         // BRIGADE_TRACE; empty: none
  When rma = When::kAuto;                    // BRIGADE_RMA
  When pblas = When::kAuto;                  // BRIGADE_PBLAS
  size_t multiply_bytes = size_t{8} << 20;   // BRIGADE_MULTIPLY_BYTES, of a buffer of a product
  bool check_windows = false;                // BRIGADE_CHECK_WINDOWS

  // Of LI.
  std::string li_backend = "windows";          // BRIGADE_LI_BACKEND
  std::string li_bsp = "libbrigade_bsp.so.1";  // BRIGADE_LI_BSP, as dlopen takes it
  bool li_check = false;                       // BRIGADE_LI_CHECK
};

// Reads the environment of this process; an unset or empty variable keeps its default.
// kInvalidArgument, naming variable, value and what is allowed, at the first bad one, whether or
// not the caller uses it. BRIGADE_IFACE is judged by the transports, which look for the interface.
Status ReadSettings(Settings* settings);

// Returns the variables of `settings`, those with defaults included, and their values as
// ReadSettings would take them, an empty value where there is none. The variables of the transports
// are not among them.
std::vector<std::pair<std::string, std::string>> ListSettings(const Settings& settings);

// Compares settings of `ranks` ranks with those of rank 0. `values_of` returns the variables of a
// rank and their values. kMismatch, with both values, for the first difference: the ranks of
// `group` ("a grid") differ.
using SettingValues = std::vector<std::pair<std::string_view, std::string_view>>;
Status CheckEqualSettings(const std::string& group, size_t ranks,
                          const std::function<SettingValues(size_t rank)>& values_of);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SETTINGS_SETTINGS_H_

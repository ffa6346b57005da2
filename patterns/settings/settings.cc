#include "patterns/settings/settings.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <locale>
#include <sstream>
#include <string_view>
#include <system_error>

#include "transport/registry/registry.h"

namespace brigade {
namespace {

// The pool lends memory out in units of cache lines.
constexpr size_t kChunkGranuleBytes = 64;
// As kLeastMultiplyBuffer of those who take it.
constexpr size_t kLeastMultiplyBytes = 4096;

constexpr std::string_view kLiBackends[] = {"windows", "mpi_rma", "mpi_send", "bsp"};

const char* Lookup(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

Status Bad(const char* variable, const char* value, const char* allowed) {
  return Status(StatusCode::kInvalidArgument,
                std::string(variable) + "=" + value + ": must be " + allowed);
}

// A decimal number with an optional suffix K, M or G (powers of 1024).
bool ParseBytes(const char* text, size_t* bytes) {
  size_t number = 0;
  const auto [end, error] = std::from_chars(text, text + std::strlen(text), number);
  if (error != std::errc()) return false;
  int shift = 0;
  switch (std::toupper(static_cast<unsigned char>(*end))) {
    case 'K':
      shift = 10;
      break;
    case 'M':
      shift = 20;
      break;
    case 'G':
      shift = 30;
      break;
  }
  if (end[shift != 0] != '\0' || number > (SIZE_MAX >> shift)) return false;
  *bytes = number << shift;
  return true;
}

Status ReadBytes(const char* variable, size_t* bytes) {
  const char* value = Lookup(variable);
  if (value != nullptr && !ParseBytes(value, bytes)) {
    return Bad(variable, value, "a number of bytes, optionally followed by K, M or G");
  }
  return Status();
}

Status ReadSeconds(const char* variable, double* seconds) {
  const char* value = Lookup(variable);
  if (value == nullptr) return Status();
  // Unlike strtod, the same in every locale.
  const auto [end, error] = std::from_chars(value, value + std::strlen(value), *seconds);
  if (error != std::errc() || *end != '\0' || !std::isfinite(*seconds) || *seconds < 0) {
    return Bad(variable, value, "a number of seconds, 0 or more");
  }
  return Status();
}

Status ReadFlag(const char* variable, bool* flag) {
  const char* value = Lookup(variable);
  if (value == nullptr) return Status();
  *flag = std::strcmp(value, "1") == 0;
  if (!*flag && std::strcmp(value, "0") != 0) return Bad(variable, value, "0 or 1");
  return Status();
}

Status ReadWhen(const char* name, Settings::When* when) {
  const char* const value = Lookup(name);
  if (value == nullptr) return Status();
  const auto& all = Settings::kWhen;
  const auto* const known = std::find(std::begin(all), std::end(all), std::string_view(value));
  if (known == std::end(all)) return Bad(name, value, "off, on or auto");
  *when = static_cast<Settings::When>(known - std::begin(all));
  return Status();
}

}  // namespace

Status ReadSettings(Settings* settings) {
  if (const char* value = Lookup("BRIGADE_TRANSPORT")) {
    settings->transport = value;
    BRIGADE_RETURN_IF_ERROR(
        CheckTransport(value).WithContext(std::string("BRIGADE_TRANSPORT=") + value));
  }
  BRIGADE_RETURN_IF_ERROR(CheckVariables());

  EngineOptions& engine = settings->engine;
  BRIGADE_RETURN_IF_ERROR(ReadBytes("BRIGADE_STAGING_BYTES", &engine.staging_bytes));
  BRIGADE_RETURN_IF_ERROR(ReadBytes("BRIGADE_OVERFLOW_BYTES", &engine.overflow_bytes));
  BRIGADE_RETURN_IF_ERROR(ReadSeconds("BRIGADE_OVERFLOW_WAIT", &engine.overflow_wait_seconds));
  BRIGADE_RETURN_IF_ERROR(ReadSeconds("BRIGADE_REPORT_SECONDS", &engine.report_seconds));
  bool calibrate = true;
  BRIGADE_RETURN_IF_ERROR(ReadFlag("BRIGADE_CALIBRATE", &calibrate));
  if (!calibrate) engine.calibrate = EngineOptions::Calibrate::kNever;
  BRIGADE_RETURN_IF_ERROR(ReadFlag("BRIGADE_EXPLAIN", &engine.explain));
  BRIGADE_RETURN_IF_ERROR(ReadBytes("BRIGADE_CHUNK_BYTES", &engine.chunk_bytes));
  if (engine.chunk_bytes == 0 || engine.chunk_bytes % kChunkGranuleBytes != 0) {
    return Bad("BRIGADE_CHUNK_BYTES", Lookup("BRIGADE_CHUNK_BYTES"),
               "a multiple of 64, at least 1024");
  }

  if (const char* value = Lookup("BRIGADE_TOPOLOGY")) {
    engine.topology_is_hint = std::strcmp(value, "hint") == 0;
    if (!engine.topology_is_hint && std::strcmp(value, "strict") != 0) {
      return Bad("BRIGADE_TOPOLOGY", value, "hint or strict");
    }
  }
  if (const char* value = Lookup("BRIGADE_LOG")) {
    settings->log_info = std::strcmp(value, "info") == 0;
    if (!settings->log_info && std::strcmp(value, "off") != 0) {
      return Bad("BRIGADE_LOG", value, "off or info");
    }
  }
  if (const char* value = Lookup("BRIGADE_STATS")) {
    if (std::strcmp(value, "0") == 0) {
      settings->statistics = Settings::Statistics::kOff;
    } else if (std::strcmp(value, "1") == 0) {
      settings->statistics = Settings::Statistics::kSummed;
    } else if (std::strcmp(value, "ranks") == 0) {
      settings->statistics = Settings::Statistics::kPerRank;
    } else {
      return Bad("BRIGADE_STATS", value, "0, 1 or ranks");
    }
  }
  if (const char* value = Lookup("BRIGADE_STATS_FILE")) settings->statistics_file = value;
  BRIGADE_RETURN_IF_ERROR(ReadFlag("BRIGADE_STATS_MPI", &settings->statistics_of_mpi));
  if (const char* value = Lookup("BRIGADE_TRACE")) settings->trace = value;
  BRIGADE_RETURN_IF_ERROR(ReadFlag("BRIGADE_CHECK_WINDOWS", &settings->check_windows));
  if (const char* value = Lookup("BRIGADE_LI_BACKEND")) {
    settings->li_backend = value;
    if (std::find(std::begin(kLiBackends), std::end(kLiBackends), settings->li_backend) ==
        std::end(kLiBackends)) {
      return Bad("BRIGADE_LI_BACKEND", value, "windows, mpi_rma, mpi_send or bsp");
    }
  }
  if (const char* value = Lookup("BRIGADE_LI_BSP")) settings->li_bsp = value;
  BRIGADE_RETURN_IF_ERROR(ReadFlag("BRIGADE_LI_CHECK", &settings->li_check));
  BRIGADE_RETURN_IF_ERROR(ReadWhen("BRIGADE_RMA", &settings->rma));
  BRIGADE_RETURN_IF_ERROR(ReadBytes("BRIGADE_MULTIPLY_BYTES", &settings->multiply_bytes));
  if (settings->multiply_bytes < kLeastMultiplyBytes) {
    return Bad("BRIGADE_MULTIPLY_BYTES", Lookup("BRIGADE_MULTIPLY_BYTES"), "4096 bytes or more");
  }
  return ReadWhen("BRIGADE_PBLAS", &settings->pblas);
}

std::vector<std::pair<std::string, std::string>> ListSettings(const Settings& settings) {
  const EngineOptions& engine = settings.engine;
  const auto flag = [](bool value) { return value ? "1" : "0"; };
  const auto seconds = [](double value) {
    std::ostringstream text;
    text.imbue(std::locale::classic());
    text << value;
    return text.str();
  };
  return {
      {"BRIGADE_TRANSPORT", settings.transport},
      {"BRIGADE_STAGING_BYTES", std::to_string(engine.staging_bytes)},
      {"BRIGADE_CHUNK_BYTES", std::to_string(engine.chunk_bytes)},
      {"BRIGADE_OVERFLOW_BYTES", engine.overflow_bytes == OverflowArena::kAvailableMemory
                                     ? ""
                                     : std::to_string(engine.overflow_bytes)},
      {"BRIGADE_OVERFLOW_WAIT", seconds(engine.overflow_wait_seconds)},
      {"BRIGADE_CALIBRATE", flag(engine.calibrate != EngineOptions::Calibrate::kNever)},
      {"BRIGADE_TOPOLOGY", engine.topology_is_hint ? "hint" : "strict"},
      {"BRIGADE_EXPLAIN", flag(engine.explain)},
      {"BRIGADE_LOG", settings.log_info ? "info" : "off"},
      {"BRIGADE_REPORT_SECONDS", seconds(engine.report_seconds)},
      {"BRIGADE_STATS", std::string(Settings::kStatistics[static_cast<int>(settings.statistics)])},
      {"BRIGADE_STATS_FILE", settings.statistics_file},
      {"BRIGADE_STATS_MPI", flag(settings.statistics_of_mpi)},
      {"BRIGADE_TRACE", settings.trace},
      {"BRIGADE_RMA", std::string(Settings::kWhen[static_cast<int>(settings.rma)])},
      {"BRIGADE_PBLAS", std::string(Settings::kWhen[static_cast<int>(settings.pblas)])},
      {"BRIGADE_MULTIPLY_BYTES", std::to_string(settings.multiply_bytes)},
      {"BRIGADE_CHECK_WINDOWS", flag(settings.check_windows)},
      {"BRIGADE_LI_BACKEND", settings.li_backend},
      {"BRIGADE_LI_BSP", settings.li_bsp},
      {"BRIGADE_LI_CHECK", flag(settings.li_check)},
  };
}

Status CheckEqualSettings(const std::string& group, size_t ranks,
                          const std::function<SettingValues(size_t)>& values_of) {
  const SettingValues first = values_of(0);
  for (size_t r = 1; r < ranks; ++r) {
    const SettingValues other = values_of(r);
    const auto at = std::mismatch(first.begin(), first.end(), other.begin());
    if (at.first == first.end()) continue;
    const auto text = [](std::string_view of) { return std::string(of); };
    return {StatusCode::kMismatch, "the ranks of " + group + " differ in " + text(at.first->first) +
                                       ": rank 0 has " + text(at.first->second) + ", rank " +
                                       std::to_string(r) + " has " + text(at.second->second)};
  }
  return Status();
}

}  // namespace brigade

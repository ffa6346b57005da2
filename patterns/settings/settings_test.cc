#include "patterns/settings/settings.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "transport/host/variable_names.h"

namespace brigade {
namespace {

// Sets one variable for the life of a test.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~ScopedVariable() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(SettingsTest, DefaultsWithoutVariables) {
  for (const std::string_view name : kVariables) unsetenv(std::string(name).c_str());
  Settings settings;
  ASSERT_TRUE(ReadSettings(&settings).ok());
  EXPECT_EQ(settings.transport, "auto");
  EXPECT_EQ(settings.engine.chunk_bytes, size_t{32} << 10);
  EXPECT_EQ(settings.engine.staging_bytes, size_t{2} << 20);
  EXPECT_EQ(settings.engine.overflow_bytes, OverflowArena::kAvailableMemory);
  EXPECT_EQ(settings.engine.overflow_wait_seconds, 120);
  EXPECT_EQ(settings.engine.report_seconds, 60);
  EXPECT_EQ(settings.engine.calibrate, EngineOptions::Calibrate::kIfUnknown);
  EXPECT_FALSE(settings.engine.explain);
  EXPECT_TRUE(settings.engine.topology_is_hint);
  EXPECT_FALSE(settings.log_info);
  EXPECT_EQ(settings.statistics, Settings::Statistics::kOff);
  EXPECT_EQ(settings.statistics_file, "");
  EXPECT_FALSE(settings.statistics_of_mpi);
  EXPECT_EQ(settings.trace, "");
  EXPECT_EQ(settings.multiply_bytes, size_t{8} << 20);
  EXPECT_FALSE(settings.check_windows);
  EXPECT_EQ(settings.li_backend, "windows");
  EXPECT_EQ(settings.li_bsp, "libbrigade_bsp.so.1");
  EXPECT_FALSE(settings.li_check);
}

TEST(SettingsTest, ReadsEveryVariable) {
  ScopedVariable transport("BRIGADE_TRANSPORT", "mpi");
  ScopedVariable chunk("BRIGADE_CHUNK_BYTES", "16k");
  ScopedVariable staging("BRIGADE_STAGING_BYTES", "3M");
  ScopedVariable overflow("BRIGADE_OVERFLOW_BYTES", "1G");
  ScopedVariable wait("BRIGADE_OVERFLOW_WAIT", "0.5");
  ScopedVariable report("BRIGADE_REPORT_SECONDS", "2.5");
  ScopedVariable calibrate("BRIGADE_CALIBRATE", "0");
  ScopedVariable explain("BRIGADE_EXPLAIN", "1");
  ScopedVariable topology("BRIGADE_TOPOLOGY", "strict");
  ScopedVariable log("BRIGADE_LOG", "info");
  ScopedVariable stats("BRIGADE_STATS", "ranks");
  ScopedVariable stats_file("BRIGADE_STATS_FILE", "stats.json");
  ScopedVariable stats_mpi("BRIGADE_STATS_MPI", "1");
  ScopedVariable trace("BRIGADE_TRACE", "lu.json");
  ScopedVariable multiply("BRIGADE_MULTIPLY_BYTES", "4K");
  ScopedVariable check("BRIGADE_CHECK_WINDOWS", "1");
  ScopedVariable li_backend("BRIGADE_LI_BACKEND", "bsp");
  ScopedVariable li_bsp("BRIGADE_LI_BSP", "libbsponmpi.so");
  ScopedVariable li_check("BRIGADE_LI_CHECK", "1");
  Settings settings;
  ASSERT_TRUE(ReadSettings(&settings).ok());
  EXPECT_EQ(settings.transport, "mpi");
  EXPECT_EQ(settings.engine.chunk_bytes, size_t{16} << 10);
  EXPECT_EQ(settings.engine.staging_bytes, size_t{3} << 20);
  EXPECT_EQ(settings.engine.overflow_bytes, size_t{1} << 30);
  EXPECT_EQ(settings.engine.overflow_wait_seconds, 0.5);
  EXPECT_EQ(settings.engine.report_seconds, 2.5);
  EXPECT_EQ(settings.engine.calibrate, EngineOptions::Calibrate::kNever);
  EXPECT_TRUE(settings.engine.explain);
  EXPECT_FALSE(settings.engine.topology_is_hint);
  EXPECT_TRUE(settings.log_info);
  EXPECT_EQ(settings.statistics, Settings::Statistics::kPerRank);
  EXPECT_EQ(settings.statistics_file, "stats.json");
  EXPECT_TRUE(settings.statistics_of_mpi);
  EXPECT_EQ(settings.trace, "lu.json");
  EXPECT_EQ(settings.multiply_bytes, size_t{4096});
  EXPECT_TRUE(settings.check_windows);
  EXPECT_EQ(settings.li_backend, "bsp");
  EXPECT_EQ(settings.li_bsp, "libbsponmpi.so");
  EXPECT_TRUE(settings.li_check);
}

// Listed variables, set again, give the same list, except for variables that other libraries read.
TEST(SettingsTest, ListsEveryVariableInForce) {
  ScopedVariable transport("BRIGADE_TRANSPORT", "mpi");
  ScopedVariable overflow("BRIGADE_OVERFLOW_BYTES", "1G");
  ScopedVariable wait("BRIGADE_OVERFLOW_WAIT", "0.5");
  ScopedVariable topology("BRIGADE_TOPOLOGY", "strict");
  ScopedVariable stats("BRIGADE_STATS", "ranks");
  ScopedVariable rma("BRIGADE_RMA", "on");
  ScopedVariable pblas("BRIGADE_PBLAS", "off");
  ScopedVariable check("BRIGADE_CHECK_WINDOWS", "1");
  Settings settings;
  ASSERT_TRUE(ReadSettings(&settings).ok());
  EXPECT_EQ(settings.rma, Settings::When::kOn);
  EXPECT_EQ(settings.pblas, Settings::When::kOff);
  const auto listed = ListSettings(settings);
  // The transports'.
  std::vector<std::string> names = {"BRIGADE_IFACE", "BRIGADE_IO_URING", "BRIGADE_KERNEL_COPIES",
                                    "BRIGADE_TIME_SLICES"};
  for (const auto& [name, value] : listed) {
    names.push_back(name);
    setenv(name.c_str(), value.c_str(), 1);
  }
  Settings again;
  ASSERT_TRUE(ReadSettings(&again).ok());
  EXPECT_EQ(ListSettings(again), listed);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, std::vector<std::string>(std::begin(kVariables), std::end(kVariables)));
  for (const auto& [name, value] : listed) unsetenv(name.c_str());
}

TEST(SettingsTest, EmptyVariableIsUnset) {
  ScopedVariable chunk("BRIGADE_CHUNK_BYTES", "");
  Settings settings;
  ASSERT_TRUE(ReadSettings(&settings).ok());
  EXPECT_EQ(settings.engine.chunk_bytes, size_t{32} << 10);
}

TEST(SettingsTest, BadValueNamesVariableAndValue) {
  const struct {
    const char* variable;
    const char* value;
  } kBad[] = {
      {"BRIGADE_TRANSPORT", "tpc"},
      {"BRIGADE_KERNEL_COPIES", "never"},
      {"BRIGADE_IO_URING", "1"},
      {"BRIGADE_TIME_SLICES", "long"},
      {"BRIGADE_LI_BACKEND", "window"},
      {"BRIGADE_CALIBRATE", "maybe"},
      {"BRIGADE_EXPLAIN", "2"},
      {"BRIGADE_TOPOLOGY", "loose"},
      {"BRIGADE_CHUNK_BYTES", "0"},
      {"BRIGADE_CHUNK_BYTES", "100"},
      {"BRIGADE_CHUNK_BYTES", "-64"},
      {"BRIGADE_STAGING_BYTES", "2MB"},
      {"BRIGADE_STAGING_BYTES", "many"},
      {"BRIGADE_STAGING_BYTES", "99999999999999999999"},
      {"BRIGADE_OVERFLOW_BYTES", "+1"},
      {"BRIGADE_OVERFLOW_BYTES", "99999999999G"},
      {"BRIGADE_OVERFLOW_WAIT", "-1"},
      {"BRIGADE_OVERFLOW_WAIT", "soon"},
      {"BRIGADE_OVERFLOW_WAIT", "1s"},
      {"BRIGADE_OVERFLOW_WAIT", "inf"},
      {"BRIGADE_OVERFLOW_WAIT", "0x10"},
      {"BRIGADE_OVERFLOW_WAIT", " 5"},
      {"BRIGADE_OVERFLOW_WAIT", "+5"},
      {"BRIGADE_STAGING_BYTES", " 2M"},
      {"BRIGADE_LOG", "debug"},
      {"BRIGADE_RMA", "yes"},
      {"BRIGADE_PBLAS", "1"},
      {"BRIGADE_MULTIPLY_BYTES", "4095"},
      {"BRIGADE_MULTIPLY_BYTES", "8MB"},
      {"BRIGADE_CHECK_WINDOWS", "yes"},
      {"BRIGADE_LI_CHECK", "2"},
      {"BRIGADE_STATS", "yes"},
      {"BRIGADE_REPORT_SECONDS", "-1"},
  };
  for (const auto& bad : kBad) {
    SCOPED_TRACE(std::string(bad.variable) + "=" + bad.value);
    ScopedVariable variable(bad.variable, bad.value);
    Settings settings;
    const Status status = ReadSettings(&settings);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(std::string(bad.variable) + "=" + bad.value + ":"),
              std::string::npos)
        << status.message();
  }
}

}  // namespace
}  // namespace brigade

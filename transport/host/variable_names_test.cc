#include "transport/host/variable_names.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

TEST(VariablesTest, NamesMisspeltVariablesAndTheNearestNames) {
  const char* const environment[] = {"PATH=/bin", "BRIGADE_TRANSPROT=shm", "BRIGADE_STATS=1",
                                     "BRIGADE_STAT=1", nullptr};
  EXPECT_EQ(SettingWarnings(environment),
            "brigade: BRIGADE_TRANSPROT is set, but there is no such setting; the nearest name is "
            "BRIGADE_TRANSPORT\n"
            "brigade: BRIGADE_STAT is set, but there is no such setting; the nearest name is "
            "BRIGADE_STATS\n");
}

TEST(VariablesTest, NamesOldValues) {
  const char* const environment[] = {"BRIGADE_TRANSPORT=uring", "BRIGADE_KERNEL_COPIES=0",
                                     "BRIGADE_TRANSPORT=tcp", nullptr};
  EXPECT_EQ(SettingWarnings(environment),
            "brigade: BRIGADE_TRANSPORT=uring is an old name; set tcp instead\n"
            "brigade: BRIGADE_KERNEL_COPIES=0 is an old name; set off instead\n");
}

TEST(VariablesTest, IsSilentAboutItsOwnAndOthers) {
  std::vector<std::string> entries = {"PATH=BRIGADE_", "MY_BRIGADE_LOG=1", "BRIGADE=1",
                                      "BRIGADE_TEST_SEED=1"};
  for (const std::string_view name : kVariables) entries.push_back(std::string(name) + "=");
  std::vector<const char*> environment;
  for (const std::string& entry : entries) environment.push_back(entry.c_str());
  environment.push_back(nullptr);
  EXPECT_EQ(SettingWarnings(environment.data()), "");
}

}  // namespace
}  // namespace brigade

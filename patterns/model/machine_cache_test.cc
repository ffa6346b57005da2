#include "patterns/model/machine_cache.h"

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace brigade {
namespace {

MachineDescription Machine() {
  MachineDescription machine;
  machine.name = "calibrated";
  machine.memories.resize(1);
  machine.memories[0].name = "user";
  machine.copies.resize(1);
  machine.copies[0].rate.points = {{256, 1000}, {32768, 30000.125}};
  machine.adds = machine.copies;
  machine.between_hosts.mb_s = 47.8;
  return machine;
}

class MachineCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/machine_cache";
    std::filesystem::remove_all(folder_);
    setenv("XDG_CACHE_HOME", folder_.c_str(), 1);
  }
  std::string folder_;
};

TEST_F(MachineCacheTest, AStoredMachineIsFoundUnderItsKey) {
  MachineDescription machine;
  EXPECT_FALSE(LoadMachine("tcp h1 h2", &machine));
  StoreMachine("tcp h1 h2", Machine());
  ASSERT_TRUE(LoadMachine("tcp h1 h2", &machine));
  EXPECT_EQ(machine.between_hosts.mb_s, 47.8);
  EXPECT_EQ(machine.copies[0].rate.points[1].mb_s, 30000.125);
  EXPECT_FALSE(LoadMachine("tcp h1 h3", &machine));
  EXPECT_EQ(CachedMachines(), std::vector<std::string>{"tcp h1 h2"});
  // Nothing but the one file.
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_ + "/brigade"),
                          std::filesystem::directory_iterator()),
            1);
}

TEST_F(MachineCacheTest, AWrongFileIsNotLoaded) {
  StoreMachine("key", Machine());
  const std::string file = CachedMachineFile("key");
  std::filesystem::copy_file(file, CachedMachineFile("other"));
  MachineDescription machine;
  EXPECT_FALSE(LoadMachine("other", &machine));  // as if two keys had one name
  EXPECT_EQ(CachedMachines(), std::vector<std::string>{"key"});
  std::ofstream(file) << "{";
  EXPECT_FALSE(LoadMachine("key", &machine));
  StoreMachine("key", Machine());
  EXPECT_TRUE(LoadMachine("key", &machine));
}

TEST_F(MachineCacheTest, AWeekLaterItIsForgotten) {
  StoreMachine("key", Machine());
  const std::string file = CachedMachineFile("key");
  MachineDescription machine;
  const auto age = [&](int hours) {
    std::filesystem::last_write_time(
        file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(hours));
  };
  age(24 * 7 - 1);
  EXPECT_TRUE(LoadMachine("key", &machine));
  age(24 * 7 + 1);
  EXPECT_FALSE(LoadMachine("key", &machine));
  EXPECT_EQ(CachedMachines(), std::vector<std::string>());
}

TEST_F(MachineCacheTest, WithoutAFolderNoMachineIsStored) {
  setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
  StoreMachine("key", Machine());
  MachineDescription machine;
  EXPECT_FALSE(LoadMachine("key", &machine));
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  EXPECT_EQ(CachedMachineFile("key"), "");
  EXPECT_EQ(CachedMachines(), std::vector<std::string>());
  StoreMachine("key", Machine());
  EXPECT_FALSE(LoadMachine("key", &machine));
}

TEST_F(MachineCacheTest, AStoreDeletesOldFiles) {
  StoreMachine("old", Machine());
  const std::filesystem::path old = CachedMachineFile("old");
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(old, now - std::chrono::hours(24 * 8));
  StoreMachine("new", Machine());
  EXPECT_FALSE(std::filesystem::exists(old));
  EXPECT_TRUE(std::filesystem::exists(CachedMachineFile("new")));
}

TEST_F(MachineCacheTest, AStoreDeletesTheOldestOfTooManyFiles) {
  const auto now = std::filesystem::file_time_type::clock::now();
  const auto store = [&](int i) {
    const std::string key = "hosts " + std::to_string(i);
    StoreMachine(key, Machine());
    std::filesystem::last_write_time(CachedMachineFile(key),
                                     now - std::chrono::hours(24) + std::chrono::seconds(i));
  };
  for (int i = 0; i < 256; ++i) store(i);
  EXPECT_TRUE(std::filesystem::exists(CachedMachineFile("hosts 0")));
  store(256);
  EXPECT_FALSE(std::filesystem::exists(CachedMachineFile("hosts 0")));
  EXPECT_EQ(CachedMachines().size(), 256u);
}

}  // namespace
}  // namespace brigade

#include "membuf/available_memory.h"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "gtest/gtest.h"

namespace brigade {
namespace {

constexpr size_t kMachine = size_t{8} << 30;

class AvailableMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::remove_all(root_);
    Write("proc/meminfo", "MemTotal:  16777216 kB\nMemFree:  100 kB\nMemAvailable:  8388608 kB\n");
  }
  void Write(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + "/" + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  size_t Available(Swapping swapping = Swapping::kAvoided) {
    return AvailableMemory(swapping, root_ + "/proc", root_ + "/cgroup");
  }

  const std::string root_ = testing::TempDir() + "/available_memory";
};

TEST_F(AvailableMemoryTest, WithoutControlGroupsTheMachineDecides) {
  EXPECT_EQ(Available(), kMachine);
  Write("proc/self/cgroup", "0::/a\n");
  EXPECT_EQ(Available(), kMachine);
  Write("cgroup/a/memory.max", "max\n");
  EXPECT_EQ(Available(), kMachine);
}

TEST_F(AvailableMemoryTest, SwapCountsWhereItMay) {
  Write("proc/meminfo", "MemAvailable: 8388608 kB\nSwapFree: 1024 kB\n");
  EXPECT_EQ(Available(), kMachine);
  EXPECT_EQ(Available(Swapping::kAllowed), kMachine + (1 << 20));
}

TEST_F(AvailableMemoryTest, IsUnlimitedIfTheSystemReportsNothing) {
  std::filesystem::remove_all(root_);
  EXPECT_EQ(Available(), SIZE_MAX);
}

TEST_F(AvailableMemoryTest, TheStrictestGroupOnTheWayUpDecides) {
  Write("proc/self/cgroup", "0::/job/step/task\n");
  Write("cgroup/job/memory.max", "1000000\n");
  Write("cgroup/job/memory.current", "400000\n");
  EXPECT_EQ(Available(), 600000u);
  Write("cgroup/job/step/task/memory.max", "5000\n");
  Write("cgroup/job/step/task/memory.current", "1000\n");
  EXPECT_EQ(Available(), 4000u);
  Write("cgroup/job/step/task/memory.current", "7000\n");
  EXPECT_EQ(Available(), 0u);
}

TEST_F(AvailableMemoryTest, CachedFilesCanBeHad) {
  Write("proc/self/cgroup", "0::/job\n");
  Write("cgroup/job/memory.max", "1000\n");
  Write("cgroup/job/memory.current", "900\n");
  Write("cgroup/job/memory.stat", "anon 100\ninactive_file 300\nactive_file 100\n");
  EXPECT_EQ(Available(), 400u);
}

TEST_F(AvailableMemoryTest, VersionOneBesideVersionTwo) {
  Write("proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/job/1\n1:cpuset:/\n0::/\n");
  Write("cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  Write("cgroup/memory/memory.usage_in_bytes", "123456789\n");
  EXPECT_EQ(Available(), kMachine);
  Write("cgroup/memory/job/1/memory.limit_in_bytes", "2000\n");
  Write("cgroup/memory/job/1/memory.usage_in_bytes", "1500\n");
  Write("cgroup/memory/job/1/memory.stat", "inactive_file 1\ntotal_inactive_file 100\n");
  EXPECT_EQ(Available(), 600u);
}

TEST_F(AvailableMemoryTest, TheSystemOvercommitsUnlessItSaysNot) {
  EXPECT_TRUE(MayOvercommit(root_ + "/proc")) << "no such file";
  for (const char* value : {"0", "1", "2"}) {
    Write("proc/sys/vm/overcommit_memory", std::string(value) + "\n");
    EXPECT_EQ(MayOvercommit(root_ + "/proc"), value[0] != '2') << value;
  }
}

TEST_F(AvailableMemoryTest, InAContainerOnlyTheTopIsMounted) {
  Write("proc/self/cgroup", "0::/machine/container\n");
  Write("cgroup/memory.max", "2000\n");
  Write("cgroup/memory.current", "500\n");
  EXPECT_EQ(Available(), 1500u);
}

}  // namespace
}  // namespace brigade

#include "transport/host/fabric.h"

#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"

namespace brigade {
namespace {

TEST(Fabric, IsTcpOnlyWhereNothingFasterCanBeMeant) {
  const std::vector<std::string> none;
  const std::vector<std::string> infiniband = {"mlx5_0"};
  const struct {
    const char* pml;
    const char* btl;
    const char* mtl;
    std::vector<std::string> devices;
    bool uses_tcp;
  } cases[] = {
      {"", "", "", none, true},
      {"", "", "", infiniband, false},
      // As Debian sets them.
      {"^ucx", "^uct,openib,ofi", "^ofi", none, true},
      {"^ucx", "^uct,openib,ofi", "^ofi", infiniband, false},
      {"ob1", "tcp,self", "", infiniband, true},
      {"ob1", "self, vader, tcp", "", infiniband, true},
      {"ob1", "tcp,self", "psm2", infiniband, true},  // which ob1 does not use
      {"ob1", "", "", infiniband, false},
      {"", "tcp,self", "", infiniband, false},
      {"^ucx,cm", "^openib,ofi,uct,usnic", "", infiniband, true},
      {"^ucx,cm", "^openib", "", infiniband, false},
      // Requested by name, whatever devices it needs.
      {"ucx", "", "", none, false},
      {"cm", "", "", none, false},
      {"", "openib,self", "", none, false},
      {"", "", "psm2", none, false},
      {"yet_unknown", "", "", none, false},
  };
  for (const auto& c : cases) {
    const FabricVerdict verdict = JudgeFabric({true, c.pml, c.btl, c.mtl, c.devices});
    EXPECT_EQ(verdict.uses_tcp, c.uses_tcp)
        << "pml " << c.pml << ", btl " << c.btl << ", mtl " << c.mtl << ", " << c.devices.size()
        << " devices: " << verdict.reason;
    EXPECT_FALSE(verdict.reason.empty());
    EXPECT_FALSE(JudgeFabric({false, c.pml, c.btl, c.mtl, c.devices}).uses_tcp);
  }
}

TEST(Fabric, SeesDevicesWithAnActivePort) {
  const std::filesystem::path sysfs =
      std::filesystem::path(testing::TempDir()) / "fabric_test_sysfs";
  std::filesystem::remove_all(sysfs);
  EXPECT_TRUE(ActiveDevices(sysfs).empty());
  const auto add_port = [&](const char* device, const char* port, const char* state) {
    const std::filesystem::path folder = sysfs / "class/infiniband" / device / "ports" / port;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "state") << state << "\n";
  };
  add_port("mlx5_0", "1", "1: DOWN");
  EXPECT_TRUE(ActiveDevices(sysfs).empty());
  add_port("mlx5_0", "2", "4: ACTIVE");
  add_port("hfi1_0", "1", "2: INIT");
  EXPECT_EQ(ActiveDevices(sysfs), std::vector<std::string>{"mlx5_0"});
  std::filesystem::create_directories(sysfs / "class/cxi/cxi0");
  EXPECT_EQ(ActiveDevices(sysfs), (std::vector<std::string>{"cxi0", "mlx5_0"}));
}

TEST(Fabric, SeesDevicesThatAreOpen) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "fabric_test_fd";
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(OpenDevices(folder).empty());
  std::filesystem::create_directories(folder);
  const char* const files[] = {"/dev/null",      "/dev/pts/3",   "/dev/shm/segment",
                               "/dev/nvidiactl", "socket:[123]", "/home/dev/file"};
  int number = 0;
  for (const char* file : files) {
    std::filesystem::create_symlink(file, folder / std::to_string(number++));
  }
  EXPECT_TRUE(OpenDevices(folder).empty());
  for (const char* file : {"/dev/tofu", "/dev/infiniband/uverbs0", "/dev/tofu"}) {
    std::filesystem::create_symlink(file, folder / std::to_string(number++));
  }
  EXPECT_EQ(OpenDevices(folder), (std::vector<std::string>{"tofu", "infiniband/uverbs0"}));
  EXPECT_TRUE(OpenDevices("/proc/self/fd").empty());
}

}  // namespace
}  // namespace brigade

#include "transport/host/network_interface.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "gtest/gtest.h"

namespace brigade {
namespace {

std::string Chosen(const char* setting) {
  SocketAddress address;
  const Status status = ChooseInterface(setting, &address);
  return status.ok() ? address.ToString() : status.ToString();
}

SocketAddress Address4(const char* text, uint16_t port) {
  sockaddr_in in = {};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET, text, &in.sin_addr), 1);
  return SocketAddress::From(reinterpret_cast<const sockaddr*>(&in));
}

SocketAddress Address6(const char* text, uint16_t port) {
  sockaddr_in6 in = {};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  EXPECT_EQ(inet_pton(AF_INET6, text, &in.sin6_addr), 1);
  return SocketAddress::From(reinterpret_cast<const sockaddr*>(&in));
}

TEST(SocketAddressTest, HasATextForm) {
  EXPECT_EQ(Address4("10.0.0.1", 4000).ToString(), "10.0.0.1:4000");
  EXPECT_EQ(Address4("10.0.0.1", 0).ToString(), "10.0.0.1");
  EXPECT_EQ(Address6("fd00::1", 65535).ToString(), "[fd00::1]:65535");
  EXPECT_EQ(Address6("fd00::1", 0).ToString(), "fd00::1");
  EXPECT_EQ(SocketAddress().ToString(), "no address");
}

TEST(SocketAddressTest, GoesToTheSystemAndBack) {
  for (const SocketAddress& address : {Address4("10.1.2.3", 4000), Address6("fd00::1:2", 80)}) {
    sockaddr_storage system;
    const socklen_t bytes = address.ToSystem(&system);
    EXPECT_EQ(bytes, address.family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
    EXPECT_TRUE(SocketAddress::From(reinterpret_cast<const sockaddr*>(&system)) == address);
  }
  EXPECT_FALSE(Address4("10.1.2.3", 4000) == Address4("10.1.2.3", 4001));
  EXPECT_FALSE(Address6("fd00::1", 80) == Address6("fd00::2", 80));
}

constexpr int kNotPermitted = 77;

// Runs the body in a child with a network of its own, which has `commands` of ip(8) carried out.
// False if the system does not allow that.
bool InNetwork(const std::string& commands, const std::function<void()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    const std::string map = "0 " + std::to_string(geteuid()) + " 1";
    if (unshare(CLONE_NEWNET) != 0) {
      if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) _exit(kNotPermitted);
      std::ofstream("/proc/self/uid_map") << map;
    }
    // Addresses that are still looked for in vain cannot be listened on.
    std::ofstream("/proc/sys/net/ipv6/conf/default/accept_dad") << 0;
    // The kernel notices a cable some time later.
    const std::string script =
        "PATH=$PATH:/usr/sbin:/sbin; set -e\n"
        "await_cable() { until ip link show $1 | grep -q 'state UP'; do sleep 0.01; done; }\n" +
        commands;
    if (std::system(script.c_str()) != 0) _exit(kNotPermitted);
    body();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNotPermitted) return false;
  EXPECT_EQ(WEXITSTATUS(status), 0);
  return true;
}

#define SKIP_UNLESS(made_network) \
  if (!(made_network)) GTEST_SKIP() << "no network namespaces, no veth, or no ip command"

class ChooseInterfaceTest : public ::testing::Test {
 protected:
  void SetUp() override { unsetenv("OMPI_MCA_btl_tcp_if_include"); }
};

TEST_F(ChooseInterfaceTest, LoopbackMayBeAskedFor) {
  EXPECT_EQ(Chosen("lo"), "127.0.0.1");
  EXPECT_EQ(Chosen("127.0.0.0/8"), "127.0.0.1");
  EXPECT_EQ(Chosen("127.0.0.1/32"), "127.0.0.1");
}

TEST_F(ChooseInterfaceTest, AnUnmatchedSettingListsTheInterfaces) {
  for (const char* setting :
       {"none0", "127.0.0.2/32", "127.0.0.1", "127.0.0.1/", "127.0.0.1/33", "127.0.0.1/8x",
        "127.0.0.1/-1", "127.0.0/8", "/8", "lo/8", ",", "1::/129"}) {
    const std::string text = Chosen(setting);
    EXPECT_EQ(text.find(std::string("invalid argument: BRIGADE_IFACE=") + setting + " is neither"),
              0u)
        << text;
    EXPECT_NE(text.find(" lo 127.0.0.1"), std::string::npos) << text;
  }
}

// Three interfaces, of which the one in the middle carries the default route.
constexpr char kThree[] =
    "ip link set lo up\n"
    "ip link add a0 type veth peer name a1\n"
    "ip link add b0 type veth peer name b1\n"
    "ip link add c0 type veth peer name c1\n"
    "ip address add 169.254.1.1/16 dev a1\n"
    "ip address add 10.1.0.1/24 dev a0; ip address add fd01::1/64 dev a0\n"
    "ip address add 10.2.0.1/24 dev b0; ip address add fd02::1/64 dev b0\n"
    "ip address add 10.3.0.1/24 dev c0; ip address add fd03::1/64 dev c0\n"
    "for i in a0 a1 b0 b1 c0 c1; do ip link set $i up; done\n"
    "for i in a0 a1 b0 b1 c0 c1; do await_cable $i; done\n";

TEST_F(ChooseInterfaceTest, LoopbackIsTheLastResort) {
  SKIP_UNLESS(InNetwork("ip link set lo up", [] { EXPECT_EQ(Chosen(nullptr), "127.0.0.1"); }));
}

TEST_F(ChooseInterfaceTest, NoInterfaceIsUp) {
  SKIP_UNLESS(InNetwork("", [] {
    EXPECT_EQ(Chosen(nullptr), "unavailable: no network interface is up and has an address");
  }));
}

TEST_F(ChooseInterfaceTest, TheLowestIndexWithoutADefaultRoute) {
  SKIP_UNLESS(InNetwork(kThree, [] {
    EXPECT_EQ(Chosen(nullptr), "10.1.0.1");
    EXPECT_EQ(Chosen(""), "10.1.0.1");
  }));
}

TEST_F(ChooseInterfaceTest, TheIndexCountsBeforeTheFamily) {
  SKIP_UNLESS(InNetwork(std::string(kThree) + "ip address del 10.1.0.1/24 dev a0",
                        [] { EXPECT_EQ(Chosen(nullptr), "fd01::1"); }));
}

TEST_F(ChooseInterfaceTest, TheDefaultRouteComesFirst) {
  SKIP_UNLESS(InNetwork(std::string(kThree) + "ip route add default via 10.2.0.2",
                        [] { EXPECT_EQ(Chosen(nullptr), "10.2.0.1"); }));
}

TEST_F(ChooseInterfaceTest, TheDefaultRouteOfLowestMetricComesFirst) {
  SKIP_UNLESS(InNetwork(std::string(kThree) + "ip route add default via 10.2.0.2 metric 200\n"
                                              "ip route add default via 10.3.0.2 metric 30\n"
                                              "ip route add default via 10.1.0.2 metric 1000\n",
                        [] { EXPECT_EQ(Chosen(nullptr), "10.3.0.1"); }));
}

TEST_F(ChooseInterfaceTest, ADefaultRouteOfIpv6Counts) {
  SKIP_UNLESS(InNetwork(std::string(kThree) + "ip -6 route add default via fd02::2 metric 200\n"
                                              "ip -6 route add default via fd03::2 metric 30\n",
                        [] { EXPECT_EQ(Chosen(nullptr), "fd03::1"); }));
}

TEST_F(ChooseInterfaceTest, Ipv4BeforeIpv6) {
  SKIP_UNLESS(InNetwork(std::string(kThree) + "ip route add default via 10.2.0.2\n"
                                              "ip -6 route add default via fd02::2",
                        [] { EXPECT_EQ(Chosen(nullptr), "10.2.0.1"); }));
}

TEST_F(ChooseInterfaceTest, AnInterfaceThatIsDownDoesNotCount) {
  SKIP_UNLESS(InNetwork(std::string(kThree) + "ip link set a0 down\n", [] {
    EXPECT_EQ(Chosen(nullptr), "10.2.0.1");
    EXPECT_EQ(Chosen("a0").find("invalid argument: BRIGADE_IFACE=a0 is neither"), 0u);
  }));
}

TEST_F(ChooseInterfaceTest, AnInterfaceWithoutACableDoesNotCount) {
  // The system notices when it gets to it.
  SKIP_UNLESS(InNetwork(std::string(kThree) +
                            "ip link set a1 down\n"
                            "until ip link show a0 | grep -q NO-CARRIER; do sleep 0.01; done\n",
                        [] { EXPECT_EQ(Chosen(nullptr), "10.2.0.1"); }));
}

TEST_F(ChooseInterfaceTest, LinkLocalOnlyWhenAskedFor) {
  SKIP_UNLESS(InNetwork(
      "ip link set lo up\n"
      "ip link add a0 type veth peer name a1\n"
      "ip address add 169.254.1.1/16 dev a0\n"
      "ip link set a0 up; ip link set a1 up; await_cable a0",
      [] {
        EXPECT_EQ(Chosen("a0"), "169.254.1.1");
        // Addresses of fe80::/10, which both have, are never listed.
        EXPECT_EQ(Chosen("fe80::/10").find("fe80", 60), std::string::npos) << Chosen("fe80::/10");
        EXPECT_EQ(Chosen(nullptr), "127.0.0.1");
      }));
}

TEST_F(ChooseInterfaceTest, TakesANameOrANetwork) {
  SKIP_UNLESS(InNetwork(std::string(kThree) + "ip route add default via 10.2.0.2", [] {
    EXPECT_EQ(Chosen("c0"), "10.3.0.1");
    EXPECT_EQ(Chosen("10.3.0.0/16"), "10.3.0.1");
    EXPECT_EQ(Chosen("10.0.0.0/8"), "10.2.0.1");
    EXPECT_EQ(Chosen("0.0.0.0/0"), "10.2.0.1");
    EXPECT_EQ(Chosen("fd03::/16"), "fd03::1");
    EXPECT_EQ(Chosen("fd00::/8"), "fd01::1");
    EXPECT_EQ(Chosen("fd03::1/128"), "fd03::1");
    EXPECT_EQ(Chosen("10.3.0.0/31"), "10.3.0.1");
    EXPECT_EQ(Chosen("10.3.0.2/31").find("invalid argument"), 0u);
    EXPECT_EQ(Chosen("none0,10.9.0.0/16,c0,a0"), "10.3.0.1");
  }));
}

TEST_F(ChooseInterfaceTest, FollowsOpenMpi) {
  SKIP_UNLESS(InNetwork(kThree, [] {
    setenv("OMPI_MCA_btl_tcp_if_include", "none0,10.3.0.0/24", 1);
    EXPECT_EQ(Chosen(nullptr), "10.3.0.1");
    EXPECT_EQ(Chosen("b0"), "10.2.0.1");
    setenv("OMPI_MCA_btl_tcp_if_include", "none0", 1);
    EXPECT_EQ(Chosen("").find("invalid argument: OMPI_MCA_btl_tcp_if_include=none0 is neither"),
              0u);
    setenv("OMPI_MCA_btl_tcp_if_include", "", 1);
    EXPECT_EQ(Chosen(nullptr), "10.1.0.1");
  }));
}

}  // namespace
}  // namespace brigade

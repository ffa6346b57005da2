#include "patterns/group/host_numbers.h"

#include <cstdint>

#include "gtest/gtest.h"

namespace brigade {
namespace {

RankHost At(const std::string& name, const std::string& boot_id, uint64_t network) {
  RankHost rank;
  name.copy(rank.name, sizeof(rank.name) - 1);
  boot_id.copy(rank.host.boot_id, sizeof(rank.host.boot_id) - 1);
  rank.host.network_namespace = network;
  return rank;
}

TEST(HostNumbers, HostsOfOneNameAreTwo) {
  const std::vector<RankHost> ranks = {At("node", "a", 1), At("node", "a", 1), At("node", "b", 1),
                                       At("node", "a", 2), At("node", "b", 1)};
  EXPECT_EQ(NumberHosts(ranks), (std::vector<int>{0, 0, 1, 2, 1}));
  EXPECT_EQ(DescribeHosts(ranks), "node x2 node x1 node x1 node x1");
}

// Containers may give each process its name, its users and its process numbers.
TEST(HostNumbers, AHostOfTwoNamesIsOne) {
  std::vector<RankHost> ranks = {At("first", "a", 1), At("second", "a", 1)};
  ranks[1].host.process_namespace = 5;
  ranks[1].host.user = 7;
  EXPECT_EQ(NumberHosts(ranks), (std::vector<int>{0, 0}));
  EXPECT_EQ(DescribeHosts(ranks), "second x2");
}

TEST(HostNumbers, ThisProcessIsSomewhere) {
  const RankHost here = RankHost::Here();
  EXPECT_NE(std::string(here.name), "");
  EXPECT_NE(std::string(here.host.boot_id), "");
  EXPECT_EQ(NumberHosts({here, RankHost::Here()}), (std::vector<int>{0, 0}));
}

}  // namespace
}  // namespace brigade

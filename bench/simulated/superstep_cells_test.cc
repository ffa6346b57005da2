#include "bench/simulated/superstep_cells.h"

#include <gtest/gtest.h>

#include <utility>

namespace brigade::bench {
namespace {

MachineDescription Cluster() {
  MachineDescription machine;
  EXPECT_TRUE(MachineDescription::Read("transport/machines/shaped_cluster.json", &machine).ok());
  return machine;
}

TEST(SuperstepCells, EveryStudyBringsWhatItShould) {
  const MachineDescription machine = Cluster();
  for (const char* const study : {"as", "mult", "rdx", "exchange"}) {
    for (const SuperstepCell& cell : SuperstepCells(study, 4)) {
      for (const Way way : {Way::kPut, Way::kGet, Way::kSend}) {
        if (way == Way::kGet && cell.gets.empty()) continue;
        double us = 0;
        const Status status = SimulateSupersteps(machine, cell, way, &us);
        EXPECT_TRUE(status.ok()) << cell.name << ": " << status.message();
        EXPECT_GT(us, 0) << cell.name;
      }
    }
  }
}

TEST(SuperstepCells, RanksGetWhereTheProgramsDo) {
  for (const auto& [study, gets] : {std::pair("as", false), std::pair("mult", true),
                                    std::pair("rdx", false), std::pair("exchange", true)}) {
    for (const SuperstepCell& cell : SuperstepCells(study, 4)) EXPECT_NE(cell.gets.empty(), gets);
  }
}

// Each to another at a time, where RDXSORT has all of them put to the same one.
TEST(SuperstepCells, RdxsortoptBeginsWithOneself) {
  const SuperstepCell cell = SuperstepCells("rdx", 4)[1];
  ASSERT_EQ(cell.name, "radix sort, RDXSORTOPT");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(cell.pieces[1][static_cast<size_t>(rank)].front().to, (rank + 1) % 4);
  }
}

TEST(SuperstepCells, VirtualTimeIsTheSameEveryTime) {
  const MachineDescription machine = Cluster();
  const SuperstepCell cell = SuperstepCells("rdx", 4).front();
  double once = 0;
  double again = 0;
  ASSERT_TRUE(SimulateSupersteps(machine, cell, Way::kPut, &once).ok());
  ASSERT_TRUE(SimulateSupersteps(machine, cell, Way::kPut, &again).ok());
  EXPECT_EQ(once, again);
}

TEST(SuperstepCells, ALongExchangeTakesAsLongAsTheLinkDoes) {
  const SuperstepCell cell = SuperstepCells("exchange", 4)[3];
  ASSERT_EQ(cell.bytes, 131072);  // to a neighbour
  double us = 0;
  ASSERT_TRUE(SimulateSupersteps(Cluster(), cell, Way::kPut, &us).ok());
  const double link_us = (131072 - 20000) / 50.0;  // 400 Mbit/s, and what goes at once
  EXPECT_GT(us, link_us);
  EXPECT_LT(us, 1.5 * link_us);
}

}  // namespace
}  // namespace brigade::bench

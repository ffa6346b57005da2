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

TEST(SuperstepCells, EveryStudyDeliversTheRightData) {
  const MachineDescription machine = Cluster();
  for (const char* const study : {"as", "mult", "rdx", "exchange"}) {
    for (const SuperstepCell& cell : SuperstepCells(study, 4)) {
      for (const SuperstepVariant variant : {SuperstepVariant::kPut, SuperstepVariant::kGather,
                                             SuperstepVariant::kGet, SuperstepVariant::kSend}) {
        if (variant == SuperstepVariant::kGet && cell.gets.empty()) continue;
        double us = 0;
        const Status status = SimulateSupersteps(machine, cell, variant, &us);
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

TEST(SuperstepCells, GivenSizesReplaceTheStudysSizes) {
  EXPECT_EQ(SuperstepCells("as", 4, {7}).size(), 6);  // after five tests
  EXPECT_EQ(SuperstepCells("mult", 25, {320, 640, 1000}).size(), 3);
  EXPECT_EQ(SuperstepCells("rdx", 4, {4096}).back().rows, 4096);
  EXPECT_EQ(SuperstepCells("exchange", 4, {5}).size(), 2);
}

// Each to another at a time, where RDXSORT has all of them put to the same one.
TEST(SuperstepCells, RdxsortoptBeginsWithOneself) {
  const SuperstepCell cell = SuperstepCells("rdx", 4)[1];
  ASSERT_EQ(cell.name, "radix sort, RDXSORTOPT");
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(cell.pieces[1][static_cast<size_t>(rank)].front().to, (rank + 1) % 4);
  }
}

// Of the keys there each has as many digits 0 as is to be expected, and the first rank gets most.
TEST(SuperstepCells, SkewedKeysGoMostlyToTheFirst) {
  const SuperstepCell cell = SuperstepCells("rdx", 4)[3];
  ASSERT_EQ(cell.name, "radix sort, skewed keys, RDXSORT");
  // 60 % of all keys have digit 0: those of rank 1 fill up rank 0 and go on in its own memory.
  const std::vector<SuperstepPiece>& of_rank_1 = cell.pieces[1][1];
  EXPECT_EQ(of_rank_1.front().to, 0);
  EXPECT_GT(of_rank_1.front().bytes, 100000 * 4);
  size_t sent = 0;
  for (const auto& of_rank : cell.pieces[1]) {
    for (const SuperstepPiece& piece : of_rank) sent += piece.bytes;
  }
  EXPECT_LT(sent, cell.bytes);
}

// All ranks that get keys have equally many, wherever they come from.
TEST(SuperstepCells, KeysFillEveryRank) {
  for (const SuperstepCell& cell : SuperstepCells("rdx", 5)) {
    for (int rank = 0; rank < 5; ++rank) {
      size_t arriving = 0;
      size_t leaving = 0;
      for (int from = 0; from < 5; ++from) {
        for (const SuperstepPiece& piece : cell.pieces[1][static_cast<size_t>(from)]) {
          if (piece.to == rank) arriving += piece.bytes;
          if (from == rank) leaving += piece.bytes;
        }
      }
      EXPECT_EQ(arriving, leaving) << cell.name;
    }
  }
}

TEST(SuperstepCells, APutOfManyBlocksIsCheaperThanManyPuts) {
  const SuperstepCell cell = SuperstepCells("rdx", 16).front();
  double one_by_one = 0;
  double gathered = 0;
  ASSERT_TRUE(SimulateSupersteps(Cluster(), cell, SuperstepVariant::kPut, &one_by_one).ok());
  ASSERT_TRUE(SimulateSupersteps(Cluster(), cell, SuperstepVariant::kGather, &gathered).ok());
  EXPECT_LT(gathered, one_by_one);
}

TEST(SuperstepCells, TestsEndWithABarrierOfMessages) {
  const std::vector<SuperstepCell> cells = SuperstepCells("as", 4);
  EXPECT_EQ(cells.front().name, "test 1, empty");
  for (const SuperstepCell& cell : cells) EXPECT_EQ(cell.meets, cell.name.rfind("test", 0) == 0);
}

TEST(SuperstepCells, VirtualTimeIsTheSameEveryTime) {
  const MachineDescription machine = Cluster();
  const SuperstepCell cell = SuperstepCells("rdx", 4).front();
  double once = 0;
  double again = 0;
  ASSERT_TRUE(SimulateSupersteps(machine, cell, SuperstepVariant::kPut, &once).ok());
  ASSERT_TRUE(SimulateSupersteps(machine, cell, SuperstepVariant::kPut, &again).ok());
  EXPECT_EQ(once, again);
}

TEST(SuperstepCells, ALongExchangeTakesAsLongAsTheLinkDoes) {
  const SuperstepCell cell = SuperstepCells("exchange", 4)[3];
  ASSERT_EQ(cell.bytes, 131072);  // to a neighbour
  double us = 0;
  ASSERT_TRUE(SimulateSupersteps(Cluster(), cell, SuperstepVariant::kPut, &us).ok());
  const double link_us = (131072 - 20000) / 50.0;  // 400 Mbit/s, and what goes at once
  EXPECT_GT(us, link_us);
  EXPECT_LT(us, 1.5 * link_us);
}

}  // namespace
}  // namespace brigade::bench

#include "bench/simulated/srumma_cells.h"

#include "gtest/gtest.h"

namespace brigade::bench {
namespace {

// Hosts of `ranks_per_host`, whose links carry 1000 MB/s without latency.
MachineDescription Machine(int ranks_per_host) {
  MachineDescription machine;
  machine.hosts = 1024;
  machine.ranks_per_host = ranks_per_host;
  machine.memories.resize(1);
  machine.between_hosts.mb_s = 1000;
  machine.between_hosts.ports_of_host = true;
  machine.within_host.mb_s = kUnlimitedRate;
  return machine;
}

// Each rank has ports of its own, and each row of the grid of kRowsOnHosts is a host. So only
// blocks of B are fetched. In diagonal order each rank fetches two of them, and in one step no two
// ranks fetch from the same owner. A step computes 1000 us, and a block takes 80 us on a link.
MachineDescription MachineOfRows() {
  MachineDescription machine = Machine(3);
  machine.between_hosts.ports_of_host = false;
  return machine;
}
constexpr SrummaCell kRowsOnHosts{3, 100, 2};

constexpr MultiplyOrder kOrders[] = {MultiplyOrder::kNatural, MultiplyOrder::kDiagonal};

TEST(SrummaCells, OnOneHostGetsOnlyCompute) {
  MachineDescription machine = Machine(64);
  machine.within_host.mb_s = 1000;  // of those who copy
  const SrummaCell cell{8, 100, 2};
  EXPECT_DOUBLE_EQ(cell.ComputeMicroseconds(), 8 * 1000);
  for (const MultiplyOrder order : kOrders) {
    const SrummaOutcome outcome = SimulateSrumma(machine, cell, order, 1, cell.block);
    EXPECT_DOUBLE_EQ(outcome.us, cell.ComputeMicroseconds());
    EXPECT_EQ(outcome.contention, 0);
  }
  // The first chunk passes seven ranks.
  EXPECT_GE(SimulateSumma(machine, cell, 100).us, cell.ComputeMicroseconds() + 7 * 80);
}

// Source: SRUMMA, section 3.1, with hosts for rows instead of columns.
TEST(SrummaCells, ContentionIsThatOfTheOrders) {
  for (const int q : {4, 8}) {
    const SrummaCell cell{q, 10, 1};
    const MachineDescription machine = Machine(q);
    EXPECT_EQ(SimulateSrumma(machine, cell, MultiplyOrder::kNatural, 1, cell.block).contention, q);
    EXPECT_EQ(SimulateSrumma(machine, cell, MultiplyOrder::kDiagonal, 1, cell.block).contention, 1);
    EXPECT_EQ(SimulateSumma(machine, cell, 10).contention, q);
  }
}

// The load of the links bounds the time; the diagonal order comes close to that bound.
TEST(SrummaCells, FewAskOneHostInDiagonalOrder) {
  constexpr int kSide = 8;
  const SrummaCell cell{kSide, 100, 1e6};
  const MachineDescription machine = Machine(kSide);
  // Each host fetches, for each of its ranks, the blocks of B of the other rows.
  const double least = (kSide - 1) * kSide * 80000 / 1000.0;
  const double diagonal = SimulateSrumma(machine, cell, MultiplyOrder::kDiagonal, 1, cell.block).us;
  const double natural = SimulateSrumma(machine, cell, MultiplyOrder::kNatural, 1, cell.block).us;
  EXPECT_GE(diagonal, least);
  EXPECT_LE(diagonal, 1.5 * least);
  EXPECT_GT(natural, 1.2 * diagonal);
}

double DiagonalMicroseconds(const MachineDescription& machine, const SrummaCell& cell, int depth,
                            int width) {
  return SimulateSrumma(machine, cell, MultiplyOrder::kDiagonal, depth, width).us;
}

// If one block is prefetched, the ranks of two columns wait for one block, in their first step. If
// none is, each rank waits for both of its blocks.
TEST(SrummaCells, GetsAreUnderWayWhileRanksCompute) {
  EXPECT_NEAR(DiagonalMicroseconds(MachineOfRows(), kRowsOnHosts, 1, 100), 3000 + 80, 1);
  EXPECT_NEAR(DiagonalMicroseconds(MachineOfRows(), kRowsOnHosts, 0, 100), 3000 + 2 * 80, 1);
}

// The ranks of two columns wait for the first of four panels, or for a whole block.
TEST(SrummaCells, NarrowPanelsAreThereSooner) {
  EXPECT_NEAR(DiagonalMicroseconds(MachineOfRows(), kRowsOnHosts, 1, 25), 3000 + 80 / 4.0, 1);
  EXPECT_NEAR(DiagonalMicroseconds(MachineOfRows(), kRowsOnHosts, 1, 100), 3000 + 80, 1);
}

TEST(SrummaCells, BroadcastsComeFromEachRowAndColumnInTurn) {
  const SrummaCell cell{2, 100, 2};
  // The last rank begins when two blocks have come, one by one, and sends as many for the second
  // step when it has computed.
  EXPECT_NEAR(SimulateSumma(Machine(1), cell, 100).us, 2000 + 4 * 80, 1);
}

// A block takes as long to be copied as on a link. A rank copies the two blocks that it gets and
// the two that it sends.
TEST(SrummaCells, CopiesTakeTheProcessorsOfBothSides) {
  SrummaCell cell = kRowsOnHosts;
  const auto us = [&](MachineDescription machine) {
    machine.copies.resize(1);
    machine.copies[0].rate.points = {{1, 1000}};
    return DiagonalMicroseconds(machine, cell, 1, 100);
  };
  const double alone = us(MachineOfRows());
  cell.zero_copy = false;
  EXPECT_NEAR(us(MachineOfRows()) - alone, 4 * 80, 1);
}

// Each of two ranks on different hosts gets a block of A, and sends its own.
TEST(SrummaCells, CopiesTakeTheProcessorsOfSumma) {
  MachineDescription machine = Machine(1);
  machine.copies.resize(1);
  machine.copies[0].rate.points = {{1, 1000}};
  SrummaCell cell{2, 100, 2};
  const double summa = SimulateSumma(machine, cell, 100).us;
  cell.zero_copy = false;
  EXPECT_GE(SimulateSumma(machine, cell, 100).us, summa + 2 * 80);
}

TEST(SrummaCells, IsTheSameEveryTime) {
  const SrummaCell cell{8, 64, 10};
  for (const MultiplyOrder order : kOrders) {
    EXPECT_EQ(SimulateSrumma(Machine(4), cell, order, 1, cell.block).us,
              SimulateSrumma(Machine(4), cell, order, 1, cell.block).us);
  }
  EXPECT_EQ(SimulateSumma(Machine(4), cell, 16).us, SimulateSumma(Machine(4), cell, 16).us);
}

}  // namespace
}  // namespace brigade::bench

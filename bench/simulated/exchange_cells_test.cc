#include "bench/simulated/exchange_cells.h"

#include <gtest/gtest.h>

#include <map>

namespace brigade::bench {
namespace {

MachineDescription Sx5() {
  MachineDescription machine;
  EXPECT_TRUE(MachineDescription::Read("transport/machines/sx5.json", &machine).ok());
  return machine;
}

double Time(const ExchangeCell& cell, double cache_clear_us = 0, bool carries_payload = true) {
  double us = 0;
  const Status status = SimulateExchange(Sx5(), cell, cache_clear_us, carries_payload, &us);
  EXPECT_TRUE(status.ok()) << status.message();
  return us;
}

TEST(ExchangeCells, AreAllOfThePaper) {
  std::map<int, int> counts;
  for (const ExchangeCell& cell : ExchangeCells()) ++counts[cell.table];
  EXPECT_EQ(counts, (std::map<int, int>{{1, 48}, {2, 98}, {3, 70}, {4, 30}}));
}

TEST(ExchangeCells, BringTheBlocksAndTakeTheTimeOfTheirLengths) {
  for (const ExchangeCell& cell : ExchangeCells()) {
    if (cell.bytes > 65536 || cell.ranks == 6) continue;
    const double us = Time(cell);
    EXPECT_GT(us, 0);
    if (cell.datatype.empty()) {
      EXPECT_EQ(us, Time(cell, 0, /*carries_payload=*/false)) << cell.table << " " << cell.bytes;
    }
  }
}

TEST(ExchangeCells, TheCacheOfSharedMemoryIsClearedOncePerEpochAndPerLock) {
  ExchangeCell cell;
  for (const EpochKind kind : {EpochKind::kFence, EpochKind::kPostStart, EpochKind::kLock}) {
    cell.epoch = kind;
    cell.neighbours = 1;
    cell.is_shared = false;
    const double alone = Time(cell);
    EXPECT_EQ(Time(cell, 100), alone);
    cell.is_shared = true;
    EXPECT_GE(Time(cell, 100), alone + 99.9);
    EXPECT_LE(Time(cell, 100), alone + 200);
    cell.neighbours = 8;
    if (kind == EpochKind::kLock) {
      EXPECT_GE(Time(cell, 100), alone + 799.9);
    }
  }
}

// Only a description that the target has not kept travels.
TEST(ExchangeCells, ForgottenDatatypesTakeLonger) {
  ExchangeCell cell;
  cell.epoch = EpochKind::kPostStart;
  cell.datatype = "struct";
  cell.bytes = 1024;
  const double kept = Time(cell);
  cell.forgets = true;
  EXPECT_GT(Time(cell), kept);
}

}  // namespace
}  // namespace brigade::bench

#include "bench/simulated/paper_cells.h"

#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {
namespace {

MachineDescription Ap3000() {
  MachineDescription machine;
  const Status status = MachineDescription::Read("transport/machines/ap3000.json", &machine);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return machine;
}

double MessageMicroseconds(const MachineDescription& machine, size_t bytes) {
  double us = 0;
  const Status status = SimulateMessage(machine, bytes, &us);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return us;
}

TEST(PaperCells, AreThe96OfTheTable) {
  const std::vector<PaperCell> cells = PaperCells();
  std::set<std::string> different;
  for (const PaperCell& cell : cells) {
    EXPECT_EQ(cell.cols % cell.ranks, 0);
    different.insert(cell.Describe());
  }
  EXPECT_EQ(cells.size(), 96u);
  EXPECT_EQ(different.size(), 96u);
}

// Every cell ends with the right result, and takes the same time again, with lengths only.
TEST(PaperCells, AreRightAndDeterministic) {
  const MachineDescription machine = Ap3000();
  for (const PaperCell& cell : PaperCells()) {
    double us = 0;
    const Status status = SimulateCell(machine, cell, /*carries_payload=*/true, &us);
    EXPECT_TRUE(status.ok()) << status.ToString();
    double again = 0;
    EXPECT_TRUE(SimulateCell(machine, cell, /*carries_payload=*/false, &again).ok());
    EXPECT_EQ(us, again) << cell.Describe();
    EXPECT_GT(us, 0);
  }
}

// Packing is what the plain ways pay for strided blocks: where nothing is strided they copy as
// often as the staged ones.
TEST(PaperCells, OnlyStridedBlocksArePacked) {
  MachineDescription machine = Ap3000();
  const PaperCell contiguous{false, false, false, 2, 1000, 2};
  const PaperCell strided{false, false, false, 2, 1000, 4};
  const auto time = [&](const PaperCell& cell) {
    double us = 0;
    EXPECT_TRUE(SimulateCell(machine, cell, /*carries_payload=*/false, &us).ok());
    return us;
  };
  const double before = time(contiguous);
  const double strided_before = time(strided);
  MemoryWork& packing = machine.copies[0];  // within user memory
  const double run_us = 8000 / packing.rate.RateAt(8000);
  for (RateCurve::Point& point : packing.rate.points) point.mb_s /= 2;
  // A column copied to the workspace by each rank at the same time.
  EXPECT_NEAR(time(contiguous) - before, run_us, 0.01 * run_us);
  // Two of these; and for either root two packed, and two unpacked by the other rank.
  EXPECT_NEAR(time(strided) - strided_before, 10 * run_us, 0.1 * run_us);
}

// Of the paper: 26.3 us, 30 MB/s at 8 KB, 85 MB/s from 1 MB on.
TEST(PaperMessages, AreWithinATenthOfTheFacts) {
  const MachineDescription machine = Ap3000();
  EXPECT_NEAR(MessageMicroseconds(machine, 0), 26.3, 1);
  EXPECT_NEAR(8192 / MessageMicroseconds(machine, 8192), 30, 3);
  for (size_t bytes = 1 << 20; bytes <= 8 << 20; bytes *= 2) {
    EXPECT_NEAR(static_cast<double>(bytes) / MessageMicroseconds(machine, bytes), 85, 8.5);
  }
}

}  // namespace
}  // namespace brigade::bench

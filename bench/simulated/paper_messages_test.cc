#include "bench/simulated/paper_messages.h"

#include <gtest/gtest.h>

#include "bench/simulated/paper_cells.h"

namespace brigade::bench {
namespace {

MachineDescription Ap3000() {
  MachineDescription machine;
  EXPECT_TRUE(MachineDescription::Read("transport/machines/ap3000.json", &machine).ok());
  return machine;
}

double Send(Library library, size_t bytes, size_t run_bytes) {
  double us = 0;
  const Status status = SimulateSend(Ap3000(), library, bytes, run_bytes, &us);
  EXPECT_TRUE(status.ok()) << status.message();
  return us;
}

double Broadcasts(Library library, int ranks, size_t bytes) {
  double us = 0;
  const Status status = SimulateRingBroadcasts(Ap3000(), library, ranks, bytes, &us);
  EXPECT_TRUE(status.ok()) << status.message();
  return us;
}

TEST(PaperMessages, AContiguousSendIsThatOfTheMessages) {
  double us = 0;
  ASSERT_TRUE(SimulateMessage(Ap3000(), 256000, &us).ok());
  EXPECT_EQ(Send(Library::kBrigade, 256000, 0), us);
}

TEST(PaperMessages, ShortRunsTakeLonger) {
  for (const Library library : {Library::kBrigade, Library::kBlacs}) {
    EXPECT_GT(Send(library, 256000, 256), Send(library, 256000, 4000));
    EXPECT_GT(Send(library, 256000, 4000), Send(library, 256000, 0));
  }
}

// Section 5.2.
TEST(PaperMessages, TheBlacsAreSlower) {
  for (const size_t run_bytes : {0, 256, 4000}) {
    EXPECT_GT(Send(Library::kBlacs, 1024000, run_bytes),
              Send(Library::kBrigade, 1024000, run_bytes));
  }
}

// Section 5.1.
TEST(PaperMessages, TwoRanksBroadcastMuchFaster) {
  EXPECT_GT(Broadcasts(Library::kBlacs, 2, 1 << 20),
            1.5 * Broadcasts(Library::kBrigade, 2, 1 << 20));
}

}  // namespace
}  // namespace brigade::bench

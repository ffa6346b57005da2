#include "bench/simulated/putget/putget_cells.h"

#include "bench/simulated/putget/program_rank.h"
#include "gtest/gtest.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {
namespace {

constexpr ProgramVariant kVariants[] = {ProgramVariant::kMessages, ProgramVariant::kBlocking,
                                        ProgramVariant::kAhead};

// Hosts of `ranks_per_host` ranks, with links of 1000 MB/s without other costs; copies take no
// time.
MachineDescription Machine(int ranks_per_host) {
  MachineDescription machine;
  machine.hosts = 64;
  machine.ranks_per_host = ranks_per_host;
  machine.memories.resize(1);
  machine.copies.resize(1);
  machine.copies[0].rate.points = {{1, kUnlimitedRate}};
  machine.adds = machine.copies;
  machine.between_hosts.mb_s = 1000;
  machine.between_hosts.ports_of_host = true;
  machine.within_host = machine.between_hosts;
  machine.within_host.mb_s = kUnlimitedRate;
  machine.within_host.ports_of_host = false;
  return machine;
}

double Simulated(const MachineDescription& machine, const PutgetCell& cell,
                 ProgramVariant variant) {
  double us = 0;
  const Status status = SimulatePutget(machine, cell, variant, &us);
  EXPECT_TRUE(status.ok()) << cell.name << " on " << cell.ranks << ": " << status.ToString();
  return us;
}

PutgetCell Mg(int points, int ranks, double gflops) {
  return {"MG", "mg", ranks, points, 0, gflops};
}
PutgetCell Cg(int n, int ranks, double gflops) { return {"CG", "cg", ranks, n, 7, gflops}; }
PutgetCell Md(int atoms, int ranks, double gflops) {
  return {"MD", "md", ranks, atoms, 16, gflops};
}
PutgetCell Summa(int ranks, double gflops) { return {"SUMMA", "summa", ranks, 64, 32, gflops, 64}; }

// With more ranks than a coarse grid has points, and several ranks on a host.
TEST(PutgetCells, EveryVariantDeliversTheRightData) {
  for (const int per_host : {1, 4}) {
    for (const ProgramVariant variant : kVariants) {
      for (const int ranks : {1, 2, 4, 8, 16, 64}) {
        EXPECT_GT(Simulated(Machine(per_host), Mg(16, ranks, 1), variant), 0);
        EXPECT_GT(Simulated(Machine(per_host), Cg(256, ranks, 1), variant), 0);
      }
      for (const int ranks : {1, 2, 4, 8, 9, 16}) {
        EXPECT_GT(Simulated(Machine(per_host), Summa(ranks, 1), variant), 0);
        EXPECT_GT(Simulated(Machine(per_host), Md(200, ranks, 1), variant), 0);
      }
    }
  }
}

TEST(PutgetCells, OneRankOnlyComputes) {
  for (const ProgramVariant variant : kVariants) {
    const double npb_us = 58.0 * 64 * 64 * 64 / 1e3;  // as many operations as NPB counts
    EXPECT_NEAR(Simulated(Machine(1), Mg(64, 1, 1), variant), npb_us, 0.05 * npb_us);
    EXPECT_NEAR(Simulated(Machine(1), Summa(1, 1), variant), 2 * 64 * 64 * 64 / 1e3, 1e-3);
    EXPECT_NEAR(Simulated(Machine(1), Md(64, 1, 1), variant), 40.0 * 64 * 64 / 2 / 1e3, 1e-3);
  }
}

// Pieces of A and of B differ in length where the grid is not square.
TEST(PutgetCells, MatricesOfAnOrderAreSquareOnEveryGrid) {
  MachineDescription machine = Machine(1);
  machine.between_hosts.mb_s = kUnlimitedRate;
  for (const int ranks : {1, 2, 4, 8}) {
    const auto cells = PutgetCells("summa", ranks, {256});
    ASSERT_EQ(cells.size(), 1) << ranks;
    PutgetCell cell = cells[0];
    EXPECT_EQ(cell.name, "SUMMA, 256 x 256");
    cell.gflops = 1;
    const double alone_us = 2.0 * 256 * 256 * 256 / 1e3;
    for (const ProgramVariant variant : kVariants) {
      const double us = Simulated(machine, cell, variant);
      EXPECT_NEAR(us, alone_us / ranks, 0.05 * alone_us / ranks) << ranks;
    }
  }
}

// 26 products of 256 x 64 entries at least.
TEST(PutgetCells, ComputationIsDealtToTheRanks) {
  MachineDescription machine = Machine(1);
  machine.between_hosts.mb_s = kUnlimitedRate;
  for (const ProgramVariant variant : kVariants) {
    const double alone = Simulated(machine, Cg(256, 1, 1), variant);
    EXPECT_GT(alone, 26 * 2 * 256 * 64 / 1e3);
    EXPECT_LT(Simulated(machine, Cg(256, 16, 1), variant), alone / 8);
    EXPECT_LT(Simulated(machine, Mg(64, 8, 1), variant),
              Simulated(machine, Mg(64, 1, 1), variant) / 6);
  }
}

// Four hosts; each product of chunks takes as long as it takes to fetch both.
TEST(PutgetCells, GetsAreUnderWayWhileRanksMultiply) {
  const double chunk_us = 2 * 64 * 32 * 8 / 1e3;
  const PutgetCell cell = Summa(4, 2.0 * 64 * 64 * 32 / chunk_us / 1e3);
  const double blocking = Simulated(Machine(1), cell, ProgramVariant::kBlocking);
  const double ahead = Simulated(Machine(1), cell, ProgramVariant::kAhead);
  EXPECT_GE(ahead, 4 * chunk_us);
  EXPECT_LT(ahead, 0.85 * blocking);
}

// The matrix's halves take as long as half of a vector.
TEST(PutgetCells, HalfAVectorIsUnderWayWhileRanksMultiply) {
  const PutgetCell cell = Cg(4096, 2, 25);
  EXPECT_LT(Simulated(Machine(1), cell, ProgramVariant::kAhead),
            0.95 * Simulated(Machine(1), cell, ProgramVariant::kBlocking));
}

// A task waits for its number and its positions; ahead, these come while a rank computes.
TEST(PutgetCells, TheNextTaskIsUnderWayWhileRanksCompute) {
  MachineDescription machine = Machine(1);
  machine.between_hosts.latency_us = 20;
  const PutgetCell cell = Md(512, 4, 0.05);
  EXPECT_LT(Simulated(machine, cell, ProgramVariant::kAhead),
            0.9 * Simulated(machine, cell, ProgramVariant::kBlocking));
}

TEST(PutgetCells, InnerFacesLeaveBeforeTheFacesBeforeThemHaveCome) {
  MachineDescription machine = Machine(1);
  machine.between_hosts.latency_us = 50;
  const PutgetCell cell = Mg(128, 8, 1000);
  EXPECT_LT(Simulated(machine, cell, ProgramVariant::kAhead),
            0.95 * Simulated(machine, cell, ProgramVariant::kBlocking));
}

// Where nothing but sending a message takes time. A sum is two doubles, and goes in a control
// message.
TEST(PutgetCells, APutTakesOneMessageMoreThanASend) {
  constexpr double kMessageUs = 10;
  constexpr int kProducts = 26;
  MachineDescription machine = Machine(1);
  machine.between_hosts.mb_s = kUnlimitedRate;
  machine.between_hosts.send_overhead.message_us = kMessageUs;
  const PutgetCell cell = Cg(256, 2, 1e9);
  EXPECT_NEAR(Simulated(machine, cell, ProgramVariant::kBlocking),
              Simulated(machine, cell, ProgramVariant::kMessages) + kProducts * kMessageUs, 1);
}

TEST(PutgetCells, VirtualTimeIsTheSameEveryTime) {
  for (const ProgramVariant variant : kVariants) {
    EXPECT_EQ(Simulated(Machine(2), Mg(16, 8, 1), variant),
              Simulated(Machine(2), Mg(16, 8, 1), variant));
    EXPECT_EQ(Simulated(Machine(2), Summa(9, 1), variant),
              Simulated(Machine(2), Summa(9, 1), variant));
  }
}

TEST(PutgetCells, ThereAreCasesForRanksThatAProgramCanHave) {
  for (const char* const study : {"mg", "cg"}) {
    EXPECT_EQ(PutgetCells(study, 64).size(), study[0] == 'c' ? 3 : 2);
    EXPECT_TRUE(PutgetCells(study, 48).empty());
  }
  for (const int ranks : {8, 9, 512}) EXPECT_EQ(PutgetCells("summa", ranks).size(), 2);
  EXPECT_TRUE(PutgetCells("summa", 6).empty());
  // A block of 1024 / 3 is no whole number of columns, one of 192 no whole number of chunks.
  EXPECT_EQ(PutgetCells("summa", 16, {1024, 768}).size(), 1);
  EXPECT_TRUE(PutgetCells("summa", 9, {1024}).empty());
  EXPECT_TRUE(PutgetCells("summa", 6, {768}).empty());
  EXPECT_EQ(PutgetCells("md", 6).size(), 3);
}

}  // namespace
}  // namespace brigade::bench

#include "bench/studies/putget/md_forces.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "bench/contenders/locked_window.h"
#include "bench/studies/putget/md_folds.h"
#include "bench/studies/putget/md_system.h"
#include "bench/studies/putget/md_tasks.h"
#include "bench/studies/putget/pauses.h"
#include "gtest/gtest.h"

namespace brigade::bench {
namespace {

constexpr int kAtoms = 32;

// Both are of one rank, and count the operations that it computes.

class OwnMessages final : public MdFolds::Messages {
 public:
  Status Gather(bool, const std::vector<double>& own, MdLine* line) override {
    line->positions = own;
    return Status();
  }
  Status Fold(bool, const MdLine& line, double* own) override {
    std::copy(line.forces.begin(), line.forces.end(), own);
    return Status();
  }
  bool TakesTimeOf(double more) override {
    operations += more;
    return false;
  }
  double operations = 0;
};

class OwnWindow final : public LockedWindow {
 public:
  explicit OwnWindow(int64_t doubles) : memory_(static_cast<size_t>(doubles)) {}
  double* memory() override { return memory_.data(); }
  Status StartGet(double* data, int64_t count, int, int64_t at,
                  std::unique_ptr<Pending>*) override {
    std::copy_n(memory() + at, count, data);
    return Status();
  }
  Status Add(const double* data, int64_t count, int, int64_t at) override {
    for (int64_t i = 0; i < count; ++i) memory()[at + i] += data[i];
    return Status();
  }
  Status StartAdd(const double* data, int64_t count, int rank, int64_t at,
                  std::unique_ptr<Pending>*) override {
    return Add(data, count, rank, at);
  }
  Status FetchAndAdd(double value, double* before, int, int64_t at) override {
    *before = memory()[at];
    memory()[at] += value;
    return Status();
  }
  Status StartFetchAndAdd(double value, double* before, int rank, int64_t at,
                          std::unique_ptr<Pending>*) override {
    return FetchAndAdd(value, before, rank, at);
  }
  Status Flush(int) override { return Status(); }
  Status Barrier() override { return Status(); }
  bool TakesTimeOf(double more) override {
    operations += more;
    return false;
  }
  double operations = 0;

 private:
  std::vector<double> memory_;
};

struct Computed {
  double operations = 0;
  double potential = 0;
  std::vector<double> forces = std::vector<double>(3 * kAtoms);
};

Computed ByFolds(int times) {
  const MdSystem system(kAtoms);
  OwnMessages messages;
  MdFolds folds(system, &messages, /*rank=*/0, /*ranks=*/1, times);
  Computed computed;
  EXPECT_TRUE(folds.Compute(system.positions(), &computed.forces, &computed.potential).ok());
  computed.operations = messages.operations;
  return computed;
}

Computed ByTasks(int times, bool ahead) {
  const MdSystem system(kAtoms);
  OwnWindow window(MdTasks::WindowDoubles(system, 1));
  MdTasks tasks(system, &window, /*rank=*/0, /*ranks=*/1, /*block=*/12, ahead, Pauses(0, 1), times);
  Computed computed;
  EXPECT_TRUE(tasks.Compute(system.positions(), &computed.forces, &computed.potential).ok());
  computed.operations = window.operations;
  return computed;
}

void ExpectThreeTimesAsMuch(const Computed& once, const Computed& thrice) {
  EXPECT_GT(once.operations, 0);
  EXPECT_EQ(thrice.operations, 3 * once.operations);
  EXPECT_NE(once.potential, 0);
  EXPECT_EQ(thrice.potential, once.potential);
  EXPECT_EQ(thrice.forces, once.forces);
}

TEST(MdForces, EachPairIsComputedSeveralTimesAndCountsOnce) {
  ExpectThreeTimesAsMuch(ByFolds(1), ByFolds(3));
  for (const bool ahead : {false, true}) {
    ExpectThreeTimesAsMuch(ByTasks(1, ahead), ByTasks(3, ahead));
  }
}

}  // namespace
}  // namespace brigade::bench

// ProgramWindow, ProgramMessages: a window and the messages of molecular dynamics
// (bench/studies/putget) between ranks in virtual time.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_FORCES_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_FORCES_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bench/contenders/locked_window.h"
#include "bench/simulated/putget/program_rank.h"
#include "bench/studies/putget/md_folds.h"
#include "membuf/status.h"
#include "patterns/schedule/pattern.h"

namespace brigade::bench {

class ProgramWindow final : public LockedWindow {
 public:
  explicit ProgramWindow(ProgramRank* me) : me_(me) {}

  double* memory() override { return me_->arrived(); }
  // The values stay where the rank checks them.
  Status StartGet(double* /*data*/, int64_t count, int rank, int64_t displacement,
                  std::unique_ptr<Pending>* pending) override {
    auto made = std::make_unique<Get>(me_);
    BRIGADE_RETURN_IF_ERROR(me_->StartGet(rank, BytesOf(displacement), BytesOf(count), &made->get));
    *pending = std::move(made);
    return Status();
  }
  Status Add(const double* data, int64_t count, int rank, int64_t displacement) override {
    std::unique_ptr<Pending> pending;
    BRIGADE_RETURN_IF_ERROR(StartAdd(data, count, rank, displacement, &pending));
    return pending->Wait();
  }
  Status StartAdd(const double* data, int64_t count, int rank, int64_t displacement,
                  std::unique_ptr<Pending>* pending) override {
    auto made = std::make_unique<Update>(me_);
    BRIGADE_RETURN_IF_ERROR(me_->StartAdd(rank, BytesOf(displacement), data, count, &made->over));
    *pending = std::move(made);
    return Status();
  }
  // ARMCI, whose programs are simulated, waits for a fetch-and-add.
  bool fetches_ahead() const override { return false; }
  Status FetchAndAdd(double value, double* before, int rank, int64_t displacement) override {
    std::unique_ptr<Pending> pending;
    BRIGADE_RETURN_IF_ERROR(StartFetchAndAdd(value, before, rank, displacement, &pending));
    return pending->Wait();
  }
  Status StartFetchAndAdd(double value, double* before, int rank, int64_t displacement,
                          std::unique_ptr<Pending>* pending) override {
    auto made = std::make_unique<Update>(me_);
    made->value = value;
    BRIGADE_RETURN_IF_ERROR(
        me_->StartFetchAndAdd(rank, BytesOf(displacement), &made->value, before, &made->over));
    *pending = std::move(made);
    return Status();
  }
  // Add has waited.
  Status Flush(int /*rank*/) override { return Status(); }
  Status Barrier() override { return me_->Meet(); }
  bool TakesTimeOf(double operations) override {
    me_->Compute(operations);
    return true;
  }

 private:
  struct Get final : Pending {
    explicit Get(ProgramRank* rank) : me(rank) {}
    Status Wait() override { return me->AwaitGet(&get); }
    ProgramRank* const me;
    ProgramRank::PendingGet get;
  };
  struct Update final : Pending {
    explicit Update(ProgramRank* rank) : me(rank) {}
    Status Wait() override { return me->AwaitOver(over); }
    ProgramRank* const me;
    double value = 0;  // of a fetch-and-add
    std::atomic<bool> over{false};
  };
  static size_t BytesOf(int64_t doubles) { return static_cast<size_t>(doubles) * sizeof(double); }

  ProgramRank* const me_;
};

// By this library's multi-broadcasts and multi-reduces. All ranks have equally many atoms.
class ProgramMessages final : public MdFolds::Messages {
 public:
  explicit ProgramMessages(ProgramRank* me) : me_(me) {}

  Status Gather(bool along_row, const std::vector<double>& own, MdLine* /*line*/) override {
    return me_->Collect(Pattern::kMultiBroadcast, along_row, own.size() * sizeof(double));
  }
  Status Fold(bool along_row, const MdLine& line, double* /*own*/) override {
    return me_->Collect(Pattern::kMultiReduce, along_row,
                        static_cast<size_t>(line.counts.front()) * sizeof(double));
  }
  bool TakesTimeOf(double operations) override {
    me_->Compute(operations);
    return true;
  }

 private:
  ProgramRank* const me_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_FORCES_H_

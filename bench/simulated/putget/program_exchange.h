// ProgramExchange: the messages of a program of bench/studies/putget between ranks in virtual time.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_EXCHANGE_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_EXCHANGE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "bench/simulated/putget/program_rank.h"
#include "bench/studies/putget/pair_exchange.h"
#include "membuf/status.h"

namespace brigade::bench {

class ProgramExchange final : public PairExchange {
 public:
  // `me` is opened with memory for DoublesFor(channels).
  ProgramExchange(ProgramRank* me, const std::vector<Channel>& channels)
      : PairExchange(channels, Pauses(0, 0)), me_(me), coming_(channels.size()) {}

  std::string name() const override { return "simulated"; }
  Status Free() override { return Status(); }

 protected:
  double* arrived() override { return me_->arrived(); }
  Status BeginPart(size_t channel, const Channel& with, const double* /*data*/, int64_t place,
                   int64_t count) override {
    const Part part{static_cast<size_t>(place) * sizeof(double),
                    static_cast<size_t>(count) * sizeof(double)};
    if (with.from >= 0) coming_[channel].push_back(part);
    return with.to < 0 ? Status() : me_->Begin(with.to, part.place, part.bytes);
  }
  Status AwaitPart(size_t channel, int from) override {
    const Part part = coming_[channel].front();
    coming_[channel].pop_front();
    return me_->Await(from, part.place, part.bytes);
  }
  Status EndRound(size_t /*channel*/) override { return Status(); }
  bool TakesTimeOf(double operations) override {
    me_->Compute(operations);
    return true;
  }
  bool TakesTimeOfCopy(size_t bytes, size_t run_bytes) override {
    me_->Copy(bytes, run_bytes);
    return true;
  }

 private:
  struct Part {
    size_t place, bytes;
  };
  ProgramRank* const me_;
  std::vector<std::deque<Part>> coming_;  // by channel
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_EXCHANGE_H_

// ProgramExchange: the messages of a program of bench/studies/putget between ranks in virtual time.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_EXCHANGE_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_EXCHANGE_H_

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
  Status BeginPart(size_t channel, int partner, const double* /*data*/, int64_t place,
                   int64_t count) override {
    const auto bytes = [](int64_t doubles) {
      return static_cast<size_t>(doubles) * sizeof(double);
    };
    coming_[channel].push_back({partner, partner, bytes(place), bytes(count)});
    return me_->Begin(coming_[channel].back(), 0, bytes(count));
  }
  Status AwaitPart(size_t channel, int /*partner*/) override {
    const Slot part = coming_[channel].front();
    coming_[channel].pop_front();
    return me_->Await(part, 0, part.bytes);
  }
  Status EndRound(size_t /*channel*/) override { return Status(); }
  bool TakesTimeOf(double operations) override {
    me_->Compute(operations);
    return true;
  }

 private:
  ProgramRank* const me_;
  std::vector<std::deque<Slot>> coming_;  // by channel, at places of their own
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_EXCHANGE_H_

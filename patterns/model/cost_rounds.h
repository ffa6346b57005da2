// The ranks' times in patterns whose ranks send their present results round after round.

#ifndef BRIGADE_PATTERNS_MODEL_COST_ROUNDS_H_
#define BRIGADE_PATTERNS_MODEL_COST_ROUNDS_H_

#include <algorithm>
#include <cstddef>
#include <vector>

#include "patterns/model/cost_ports.h"
#include "patterns/model/cost_steps.h"

namespace brigade {

// The work of each rank for a segment, and when it is through.
class Rounds {
 public:
  Rounds(const Steps& steps, int ranks, const Segment& segment, Ports::Buckets buckets)
      : steps_(steps),
        segment_(segment),
        ports_(steps, ranks, buckets),
        ranks_(static_cast<size_t>(ranks)) {}

  void Work(int rank, double us) {
    At(rank).now_us += us;
    At(rank).processor_us += us;
  }
  // Sends the rank's present result. In a round each rank sends before it receives, once at most.
  void Send(int from, int to) {
    const Hop hop(steps_, steps_.LinkIndex(from, to), segment_, ChunkRole::kCombineTarget,
                  ChunkRole::kReceive, steps_.Crowd());
    Work(from, hop.send_us);
    Rank& sender = At(from);
    Rank& receiver = At(to);
    sender.wire_us += hop.wire_us;
    receiver.arrival_us = ports_.Pass(from, to, sender.now_us, hop.wire_us) + hop.latency_us;
    receiver.receive_us = hop.receive_us;
    burst_us_ = hop.burst_us;
  }
  // Receives what was sent to the rank.
  void Receive(int rank) {
    At(rank).now_us = std::max(At(rank).now_us, At(rank).arrival_us);
    Work(rank, At(rank).receive_us);
  }
  // When the last rank is through.
  double Latest() const {
    double latest_us = 0;
    for (const Rank& rank : ranks_) latest_us = std::max(latest_us, rank.now_us);
    return latest_us;
  }
  SegmentTimes Result() const {
    SegmentTimes result;
    result.first_us = Latest();
    result.spare_us = burst_us_;
    for (const Rank& rank : ranks_) {
      result.segment_us = std::max({result.segment_us, rank.processor_us, rank.wire_us});
      result.spare_us = std::min(result.spare_us, std::max(0.0, burst_us_ - rank.wire_us));
      result.port_bound_us = std::max(result.port_bound_us, rank.wire_us - rank.processor_us);
    }
    return result;
  }

 private:
  struct Rank {
    double now_us = 0;
    double arrival_us = 0;  // of the message to it
    double receive_us = 0;
    double processor_us = 0;
    double wire_us = 0;
  };
  Rank& At(int rank) { return ranks_[static_cast<size_t>(rank)]; }

  const Steps& steps_;
  const Segment segment_;
  Ports ports_;
  std::vector<Rank> ranks_;
  double burst_us_ = 0;  // of the last message's link
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_COST_ROUNDS_H_

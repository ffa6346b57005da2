#include "patterns/model/scan_cost.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "patterns/model/cost_ports.h"

namespace brigade {
namespace {

// The ranks' times, round after round, and what each does for the piece.
class Rounds {
 public:
  Rounds(const Steps& steps, const CostQuery& query, const Piece& piece)
      : steps_(steps),
        piece_(piece),
        ports_(steps, query.ranks, Ports::Buckets::kFull),
        ranks_(static_cast<size_t>(query.ranks)) {}

  void Work(int rank, double us) {
    At(rank).now_us += us;
    At(rank).processor_us += us;
  }
  // Starts a round, in which ranks send their present results.
  void Begin() {
    for (Rank& rank : ranks_) rank.begun_us = rank.now_us;
  }
  // Sends a message. The receiver may need it later.
  void Pass(int from, int to) {
    const Hop hop(steps_, steps_.LinkIndex(from, to), piece_, ChunkRole::kCombineTarget,
                  ChunkRole::kReceive, steps_.Crowd());
    const double sent_us = At(from).begun_us + hop.send_us;
    const double arrived_us = ports_.Pass(from, to, sent_us, hop.wire_us) + hop.latency_us;
    At(from).processor_us += hop.send_us;
    At(from).wire_us += hop.wire_us;
    burst_us_ = hop.burst_us;
    At(from).now_us = std::max(At(from).now_us, sent_us);
    At(to).now_us = std::max(At(to).now_us, arrived_us) + hop.receive_us;
    At(to).processor_us += hop.receive_us;
  }
  Way Result() const {
    Way way;
    way.spare_us = burst_us_;
    for (const Rank& rank : ranks_) {
      way.first_us = std::max(way.first_us, rank.now_us);
      way.piece_us = std::max({way.piece_us, rank.processor_us, rank.wire_us});
      way.spare_us = std::min(way.spare_us, std::max(0.0, burst_us_ - rank.wire_us));
      way.port_bound_us = std::max(way.port_bound_us, rank.wire_us - rank.processor_us);
    }
    return way;
  }

 private:
  struct Rank {
    double begun_us = 0;
    double now_us = 0;
    double processor_us = 0;
    double wire_us = 0;
  };
  Rank& At(int rank) { return ranks_[static_cast<size_t>(rank)]; }

  const Steps& steps_;
  const Piece piece_;
  Ports ports_;
  std::vector<Rank> ranks_;
  double burst_us_ = 0;  // of the last message's link
};

}  // namespace

Way ScanWay(const Steps& steps, const CostQuery& query, const Piece& piece) {
  const bool exclusive = query.pattern == Pattern::kExscan;
  const double crowd = steps.CrowdAtWork();
  const double in = crowd * steps.CopyIn(ChunkRole::kCombineTarget, piece.bytes);
  const double out = crowd * steps.CopyOut(ChunkRole::kCombineTarget, piece.bytes);
  const double combine = crowd * steps.Combine(ChunkRole::kCombineTarget, piece.bytes);
  const int last = query.ranks - 1;
  Rounds rounds(steps, query, piece);
  if (query.topology.shape != Shape::kHypercube) {
    rounds.Work(0, in);
    for (int r = 1; r <= last; ++r) {
      rounds.Begin();
      rounds.Pass(r - 1, r);
      if (r < last || !exclusive) rounds.Work(r, combine);
    }
    for (int r = 1; r <= last; ++r) {
      if (r < last || exclusive) rounds.Work(r, out);
    }
    return rounds.Result();
  }
  for (int r = 0; r < last; ++r) rounds.Work(r, in);
  for (int distance = 1; distance <= last; distance *= 2) {
    rounds.Begin();
    for (int r = distance; r <= last; ++r) {
      rounds.Pass(r - distance, r);
      const bool is_sent_again = r + 2 * distance <= last;
      if (!exclusive || is_sent_again) rounds.Work(r, combine);
      if (exclusive) rounds.Work(r, distance == 1 ? out : combine);
    }
  }
  return rounds.Result();
}

}  // namespace brigade

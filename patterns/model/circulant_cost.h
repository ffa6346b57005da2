// CirculantCost: what multi-broadcast, multi-reduce and all-to-all cost on a circulant graph.
// CirculantTimes: the same for broadcast and reduce.

#ifndef BRIGADE_PATTERNS_MODEL_CIRCULANT_COST_H_
#define BRIGADE_PATTERNS_MODEL_CIRCULANT_COST_H_

#include <cstddef>
#include <vector>

#include "patterns/model/cost_ports.h"
#include "patterns/model/cost_steps.h"
#include "patterns/schedule/circulant_graph.h"

namespace brigade {

// In each round every rank sends one message and receives another, with as many blocks as the
// receiver lacks, or as are not its sender's, or with the blocks that go so far. Ranks are in
// different rounds at a time where they share their host's port, so messages are followed one by
// one.
class CirculantCost {
 public:
  // REQUIRES: kMultiBroadcast, kMultiReduce or kAllToAll, on two ranks at least.
  CirculantCost(const Steps& steps, const CostQuery& query);

  // One segment of every block; alone: until it is through, and nothing of others. O(ranks log^2
  // ranks), nine times as long if not alone.
  SegmentTimes TimesOf(const Segment& segment, bool alone) const;

 private:
  // A rank's message in a round, and the times of its other work before and after the message.
  struct Round {
    int skip;  // to whom the message goes, relative to its sender
    int blocks;
    double before_us;  // it is sent
    double after_us;
  };
  // When all ranks have done with each of so many segments, one after the other.
  std::vector<double> Finish(const Segment& segment, int segments, Ports::Buckets buckets) const;
  std::vector<Round> RoundsOf(size_t bytes) const;
  std::vector<Round> RoundsToAll(size_t bytes) const;
  // A rank's work once all has come.
  double End(size_t bytes) const;

  const Steps& steps_;
  const bool combines_;
  const bool to_all_;
  const CirculantGraph graph_;
};

// Blocks on a circulant graph: each rank sends and receives one in each round, and no block is
// passed on more often than there are rounds in a phase.
SegmentTimes CirculantTimes(const Steps& steps, const CostQuery& query, const Segment& segment);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_CIRCULANT_COST_H_

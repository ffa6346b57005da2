#include "patterns/model/ring_cost.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace brigade {
namespace {

// How many ranks each host has, by host.
std::vector<int> RanksOfHosts(const Steps& steps, int ranks) {
  std::vector<int> counts;
  for (int r = 0; r < ranks; ++r) {
    const auto host = static_cast<size_t>(steps.HostOf(r));
    if (host >= counts.size()) counts.resize(host + 1);
    ++counts[host];
  }
  return counts;
}

// The edges of a ring through all ranks, and the messages of a segment along them.
class RingEdges {
 public:
  RingEdges(const Steps& steps, const CostQuery& query, const Segment& segment, ChunkRole from,
            ChunkRole to)
      : hops_{{steps, 0, segment, from, to, steps.Crowd()},
              {steps, 1, segment, from, to, steps.Crowd()}} {
    std::vector<int> order(static_cast<size_t>(query.ranks));
    std::iota(order.begin(), order.end(), 0);
    if (query.topology.by_host) {
      std::stable_sort(order.begin(), order.end(),
                       [&](int a, int b) { return steps.HostOf(a) < steps.HostOf(b); });
    }
    std::vector<int> leave(RanksOfHosts(steps, query.ranks).size());  // by host
    int in = steps.LinkIndex(order.back(), order.front());
    for (size_t i = 0; i < order.size(); ++i) {
      const int out = steps.LinkIndex(order[i], order[(i + 1) % order.size()]);
      ++edges_[out];
      leave[static_cast<size_t>(steps.HostOf(order[i]))] += out;
      meet_[in][out] = true;
      in = out;
    }
    if (steps.LinkAt(1).ports_of_host) far_at_port_ = *std::max_element(leave.begin(), leave.end());
  }

  // The kind of link that most waiting is for, and a message on it.
  int slowest() const { return edges_[1] > 0 ? 1 : 0; }
  const Hop& slowest_hop() const { return hops_[slowest()]; }
  // One turn around the ring of what each rank passes on at once: all edges but the best.
  // `after_us`: work of each receiver.
  double Around(double after_us) const {
    const auto along = [&](int link) { return edges_[link] * (hops_[link].us() + after_us); };
    const double best_us = hops_[edges_[0] > 0 ? 0 : 1].us() + after_us;
    return (edges_[0] > 0 ? along(0) : 0) + (edges_[1] > 0 ? along(1) : 0) - best_us;
  }
  // How long the busiest port is in use if every rank sends a message.
  double AtPort() const {
    return std::max(edges_[0] > 0 ? hops_[0].wire_us : 0,
                    edges_[1] > 0 ? far_at_port_ * hops_[1].wire_us : 0);
  }
  // And the busiest processor.
  double AtProcessor() const {
    double busiest_us = 0;
    for (const int in : {0, 1}) {
      for (const int out : {0, 1}) {
        if (!meet_[in][out]) continue;
        busiest_us = std::max(busiest_us, hops_[in].receive_us + hops_[out].send_us);
      }
    }
    return busiest_us;
  }

 private:
  const Hop hops_[2];  // by link
  int edges_[2] = {};
  bool meet_[2][2] = {};  // at a rank: the kind of edge by which it receives, and sends
  int far_at_port_ = 1;   // messages to other hosts
};

}  // namespace

int SlowestLink(const Steps& steps, const CostQuery& query) {
  return RingEdges(steps, query, {0, false}, ChunkRole::kForward, ChunkRole::kForward).slowest();
}

SegmentTimes RingMultiBroadcastTimes(const Steps& steps, const CostQuery& query,
                                     const Segment& segment) {
  const RingEdges edges(steps, query, segment, ChunkRole::kForward, ChunkRole::kForward);
  const Hop& hop = edges.slowest_hop();
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, segment.bytes);
  const double out = steps.CopyOut(ChunkRole::kForward, segment.bytes);
  // The last segment to arrive goes no further.
  const double last = segment.later && steps.LandsInPlace() ? 0 : out;
  const int others = query.ranks - 1;
  const double around = edges.Around(0);
  const double processor = others * (edges.AtProcessor() + out) - out;
  const double at_port = edges.AtPort();
  const double round = std::max({around, processor, others * at_port});
  return {hop.Begin(in) + round - hop.Saved(others) + last, std::max(round, processor + last + in)};
}

SegmentTimes MultiBroadcastByHostTimes(const Steps& steps, const CostQuery& query,
                                       const Segment& segment) {
  const std::vector<int> counts = RanksOfHosts(steps, query.ranks);
  const int most = *std::max_element(counts.begin(), counts.end());
  const auto hosts = static_cast<int>(
      std::count_if(counts.begin(), counts.end(), [](int count) { return count > 0; }));
  const Hop far(steps, 1, segment, ChunkRole::kForward, ChunkRole::kForward, 1);
  const Hop near(steps, 0, segment, ChunkRole::kForward, ChunkRole::kReceive, steps.Crowd());
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, segment.bytes);
  const double out = steps.CopyOut(ChunkRole::kForward, segment.bytes);
  const int others = most - 1;  // to which a gate sends
  const int blocks = query.ranks - most;
  const double processor = far.processor_us() + others * near.send_us + out;
  const double busy = std::max({processor, far.wire_us, others * near.wire_us});
  // As many rings, one after the other, as a host has ranks. The first block of each ring came
  // early.
  const double around =
      (hosts - 1) * far.us() + (most - 1) * (hosts - 2) * std::max(far.us(), processor);
  const double round = std::max({blocks * busy, around, others * (blocks + 1) * near.wire_us});
  const double to_others = others * near.send_us + near.wire_us + near.latency_us + near.receive_us;
  return {far.Begin(in) + round - far.Saved(blocks) + to_others + out, round + in};
}

SegmentTimes RingMultiReduceTimes(const Steps& steps, const CostQuery& query,
                                  const Segment& segment) {
  const RingEdges edges(steps, query, segment, ChunkRole::kCombineTarget, ChunkRole::kReceive);
  const Hop& hop = edges.slowest_hop();
  const double crowd = steps.CrowdAtWork();
  const double in = crowd * steps.CopyIn(ChunkRole::kBufferedSend, segment.bytes);
  const double combine = crowd * steps.Combine(ChunkRole::kCombineTarget, segment.bytes);
  const int others = query.ranks - 1;
  const double around = edges.Around(combine);
  const double at_port = edges.AtPort();
  const double round = std::max(around, others * at_port);
  return {hop.Begin(in) + round - hop.Saved(others),
          std::max(round, others * (edges.AtProcessor() + combine) + in)};
}

SegmentTimes ReduceScatterAllgatherTimes(const Steps& steps, const CostQuery& query,
                                         const Segment& segment) {
  const RingEdges edges(steps, query, segment, ChunkRole::kCombineTarget, ChunkRole::kReceive);
  const Hop& hop = edges.slowest_hop();
  const double crowd = steps.CrowdAtWork();
  const double in = crowd * steps.CopyIn(ChunkRole::kCombineTarget, segment.bytes);
  const double out = crowd * steps.CopyOut(ChunkRole::kForward, segment.bytes);
  const double combine = crowd * steps.Combine(ChunkRole::kCombineTarget, segment.bytes);
  const int others = query.ranks - 1;
  const double at_port = edges.AtPort();
  const double processor_us = edges.AtProcessor();
  // Where memory is shared each sends its result to all at once.
  const double to_others = steps.SharesMemory() ? hop.us() : edges.Around(0);
  const double sums = std::max(edges.Around(combine), others * at_port);
  const double results = std::max({to_others, others * at_port, others * (processor_us + out)});
  const double both = std::max(sums, others * 2 * at_port);
  const double processor = others * (2 * processor_us + combine + out) + in + out;
  return {hop.Begin(in) + sums + results - hop.Saved(2 * others) + out, std::max(both, processor)};
}

}  // namespace brigade

#include "patterns/model/block_cost.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "patterns/model/cost_ports.h"

namespace brigade {

Subtrees SubtreesOf(const Steps& steps, const CostQuery& query) {
  return Subtrees(query.topology, query.ranks, query.root, steps.HostsToGoBy());
}

namespace {

// Sets what a further segment takes: the time of the busiest rank, or of the busiest port.
void SetSegmentTimes(const Steps& steps, const Ports& ports, double processor,
                     SegmentTimes* times) {
  const int link = ports.BusiestUs(1) > ports.BusiestUs(0) ? 1 : 0;
  const double port = ports.BusiestUs(link);
  times->segment_us = std::max(processor, port);
  times->spare_us = std::max(0.0, steps.Burst(link) - port);
  times->port_bound_us = std::max(0.0, port - processor);
}

// Along a ring, rank by rank as messages go, and message by message.
SegmentTimes RingBlocksTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  const bool gathers = query.pattern == Pattern::kGather;
  const Subtrees ring = SubtreesOf(steps, query);
  const int last = query.ranks - 1;
  const auto rank_at = [&](int place) { return ring.ToRank(gathers ? last - place : place); };
  const bool lands = segment.later && steps.LandsInPlace();
  const double in = steps.CrowdAtWork() * steps.CopyIn(ChunkRole::kBufferedSend, segment.bytes);
  const double copy_out = steps.CrowdAtWork() * steps.CopyOut(ChunkRole::kReceive, segment.bytes);
  const double out = lands ? 0 : copy_out;
  Ports ports(steps, query.ranks, Ports::Buckets::kFull);
  SegmentTimes result;
  double processor = 0;          // of the busiest rank
  std::vector<double> arrivals;  // at the present rank, in the order of the messages
  for (int place = 0; place <= last; ++place) {
    const int rank = rank_at(place);
    std::vector<double> sent;
    double now = 0;
    double busy = 0;
    const auto work = [&](double us) {
      now += us;
      busy += us;
    };
    const auto send = [&] {
      const int next = rank_at(place + 1);
      const Hop hop(steps, steps.LinkIndex(rank, next), segment, ChunkRole::kBufferedSend,
                    ChunkRole::kReceive, steps.Crowd());
      work(hop.send_us);
      sent.push_back(ports.Pass(rank, next, now, hop.wire_us) + hop.latency_us);
    };
    const int begins_here = !gathers ? (place == 0 ? last : 0) : place < last ? 1 : 0;
    for (int i = 0; i < begins_here; ++i) {
      work(in);
      send();
    }
    for (size_t i = 0; i < arrivals.size(); ++i) {
      now = std::max(now, arrivals[i]);
      const int link = steps.LinkIndex(rank_at(place - 1), rank);
      work(steps.Crowd() * steps.Receive(link, segment.wire_bytes()));
      const bool ends_here = gathers ? place == last : i + 1 == arrivals.size();
      if (ends_here) {
        work(out);
      } else {
        send();
      }
    }
    arrivals = std::move(sent);
    result.first_us = std::max(result.first_us, now);
    processor = std::max(processor, busy);
  }
  SetSegmentTimes(steps, ports, processor, &result);
  return result;
}

}  // namespace

SegmentTimes RootedBlocksTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  if (query.topology.shape == Shape::kIncreasingRings)
    return RingBlocksTimes(steps, query, segment);
  const bool gathers = query.pattern == Pattern::kGather;
  const Subtrees tree = SubtreesOf(steps, query);
  const auto link_to = [&](int relative, int other) {
    return steps.LinkIndex(tree.ToRank(relative), tree.ToRank(other));
  };
  const bool lands = segment.later && steps.LandsInPlace() && tree.is_flat();
  const double in = steps.CopyIn(ChunkRole::kBufferedSend, segment.bytes);
  const double out = lands ? 0 : steps.CopyOut(ChunkRole::kReceive, segment.bytes);
  const double crowd = steps.CrowdAtWork();
  Ports ports(steps, query.ranks, Ports::Buckets::kFull);
  std::vector<double> times(static_cast<size_t>(query.ranks));
  SegmentTimes result;
  double processor = 0;  // of the busiest rank
  for (int r = 0; r < query.ranks; ++r) {
    const TreeNode node = tree.NodeOf(r);
    double& time = times[static_cast<size_t>(r)];
    const double begun = time;
    if (r > 0) {
      const int link = link_to(node.parent, r);
      const Segment message{static_cast<size_t>(tree.RanksFrom(r)) * segment.bytes, segment.later};
      time += crowd * (gathers ? steps.Send(link, message.wire_bytes())
                               : steps.Receive(link, message.wire_bytes()));
    }
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
      const int link = link_to(r, *child);
      const int blocks = tree.RanksFrom(*child);
      const Segment message{static_cast<size_t>(blocks) * segment.bytes, segment.later};
      time += crowd * (gathers ? blocks * out + steps.Receive(link, message.wire_bytes())
                               : blocks * in + steps.Send(link, message.wire_bytes()));
      const double wire =
          steps.Wire(link, message.wire_bytes(), ChunkRole::kBufferedSend, ChunkRole::kReceive);
      times[static_cast<size_t>(*child)] =
          ports.Pass(tree.ToRank(r), tree.ToRank(*child), time, wire) + steps.Latency(link);
    }
    if (r > 0) time += crowd * (gathers ? in : out);
    result.first_us = std::max(result.first_us, time);
    processor = std::max(processor, time - begun);
  }
  SetSegmentTimes(steps, ports, processor, &result);
  return result;
}

SegmentTimes AllToAllTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  const bool lands = segment.later && steps.LandsInPlace();
  const double crowd = steps.CrowdAtWork();
  const double in = crowd * steps.CopyIn(ChunkRole::kBufferedSend, segment.bytes);
  const double out = lands ? 0 : crowd * steps.CopyOut(ChunkRole::kReceive, segment.bytes);
  SegmentTimes result;
  for (int r = 0; r < query.ranks; ++r) {
    int others[2] = {};  // by link
    for (int other = 0; other < query.ranks; ++other) {
      if (other != r) ++others[steps.LinkIndex(r, other)];
    }
    double sends = 0;
    double processor = in;  // of the block that stays
    double wires = 0;
    double burst = 0;
    double last = 0;  // of the last message, when it is sent, on the slower link
    for (const int link : {0, 1}) {
      if (others[link] == 0) continue;
      const Hop hop(steps, link, segment, ChunkRole::kBufferedSend, ChunkRole::kReceive,
                    steps.Crowd());
      const int at_port = steps.LinkAt(link).ports_of_host ? others[0] + 1 : 1;
      sends += others[link] * (in + hop.send_us);
      processor += others[link] * (in + hop.processor_us() + out);
      wires = std::max(wires, at_port * others[link] * hop.wire_us);
      burst = hop.burst_us;
      last = std::max(last, hop.latency_us + hop.receive_us + out);
    }
    const double begin = sends / (query.ranks - 1);
    const double at_ports = std::max(0.0, wires - burst);
    result.first_us = std::max({result.first_us, processor, sends + last, begin + at_ports + last});
    if (std::max(processor, wires) <= result.segment_us) continue;
    // The busiest rank so far.
    result.segment_us = std::max(processor, wires);
    result.spare_us = std::max(0.0, burst - wires);
    result.port_bound_us = std::max(0.0, wires - processor);
  }
  return result;
}

}  // namespace brigade

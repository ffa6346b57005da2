#include "patterns/model/tree_cost.h"

#include <utility>

namespace brigade {
namespace {

// The time of the busiest processor and of the busiest port for one segment. The ranks of a host
// may share either.
class Busiest {
 public:
  explicit Busiest(const Steps& steps)
      : shared_(steps.LinkAt(1).ports_of_host),
        crowd_(steps.Crowd()),
        burst_us_(std::max(steps.Burst(0), steps.Burst(1))) {}

  void Add(int host, const Load& load) {
    ++ranks_;
    all_processors_us_ += load.processor_us;
    own_processor_us_ = std::max(own_processor_us_, load.processor_us);
    port_us_ = std::max(port_us_, load.LongestPort());
    if (!shared_) return;
    if (static_cast<size_t>(host) >= hosts_.size()) hosts_.resize(static_cast<size_t>(host) + 1);
    auto& [out_us, in_us] = hosts_[static_cast<size_t>(host)];
    out_us += load.out_us[1];
    in_us += load.in_us[1];
    port_us_ = std::max({port_us_, out_us, in_us});
  }

  double segment_us() const { return std::max(processor_us(), port_us_); }
  // Of the busiest processor: of one rank, or of all that share it.
  double processor_us() const {
    return std::max(own_processor_us_, all_processors_us_ * crowd_ / std::max(ranks_, 1));
  }
  double port_bound_us() const { return std::max(0.0, port_us_ - processor_us()); }
  // Of a bucket that the first segment has not emptied.
  double spare_us() const { return std::max(0.0, burst_us_ - port_us_); }

 private:
  const bool shared_;
  const double crowd_;
  const double burst_us_;
  int ranks_ = 0;
  double own_processor_us_ = 0;
  double all_processors_us_ = 0;
  double port_us_ = 0;
  std::vector<std::pair<double, double>> hosts_;
};

CostQuery Half(const CostQuery& query, int half) {
  CostQuery other = query;
  other.topology = {Shape::kTwoTree, half};
  return other;
}

}  // namespace

TreeCost::TreeCost(const Steps& steps, const CostQuery& query)
    : steps_(steps),
      tree_(query.topology, query.ranks, /*root=*/0, steps.HostsToGoBy()),
      ring_(query.topology.shape != Shape::kTree && query.topology.shape != Shape::kExchange),
      size_(query.ranks),
      late_us_(query.late_us),
      first_(query.first) {}

ChunkRole TreeCost::RoleOf(const TreeNode& node) const {
  if (node.parent < 0) return ChunkRole::kBroadcastSource;
  if (node.children.empty()) return ChunkRole::kReceive;
  return ring_ ? ChunkRole::kPipelinedForward : ChunkRole::kForward;
}

ChunkRole TreeCost::RoleOfParent(const TreeNode& node) const {
  if (node.parent == 0) return ChunkRole::kBroadcastSource;
  return ring_ ? ChunkRole::kPipelinedForward : ChunkRole::kForward;
}

SegmentTimes TreeCost::Down(const Segment& segment, double begin_us,
                            const std::function<Load(int)>& more) const {
  const size_t wire_bytes = segment.wire_bytes();
  Busiest busiest(steps_);
  double first_us = 0;
  std::vector<std::pair<int, double>> visits = {{0, begin_us}};  // has the segment at that time
  while (!visits.empty()) {
    const auto [relative, ready_us] = visits.back();
    visits.pop_back();
    const TreeNode node = tree_.NodeOf(relative);
    const ChunkRole role = RoleOf(node);
    double processor_us = ready_us;
    Port ports[2] = {Port(steps_.Burst(0)), Port(steps_.Burst(1))};
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
      const int link = LinkBetween(relative, *child);
      const double send_us = steps_.Send(link, wire_bytes);
      const double wire_us = steps_.Wire(link, wire_bytes, role, RoleOf(tree_.NodeOf(*child)));
      processor_us += send_us;
      const double leaves_us =
          ports[link].Pass(std::max(processor_us, steps_.Grant(link, wire_bytes)), wire_us);
      visits.push_back({*child, std::max(leaves_us + steps_.Latency(link), StartUs(*child)) +
                                    steps_.Receive(link, wire_bytes)});
    }
    if (node.parent >= 0) processor_us += CopyOut(node, segment);
    busiest.Add(HostOf(relative), LoadDown(segment, relative) + more(relative));
    first_us = std::max(first_us, processor_us - StartUs(relative));
  }
  return {std::max(first_us, busiest.processor_us()), busiest.segment_us(), busiest.spare_us(),
          busiest.port_bound_us()};
}

double TreeCost::CopyOut(const TreeNode& node, const Segment& segment) const {
  const bool in_place = segment.later && node.children.empty() && steps_.LandsInPlace();
  return in_place ? 0 : steps_.CopyOut(RoleOf(node), segment.bytes);
}

Load TreeCost::LoadDown(const Segment& segment, int relative) const {
  const TreeNode node = tree_.NodeOf(relative);
  const ChunkRole role = RoleOf(node);
  const size_t wire_bytes = segment.wire_bytes();
  Load load;
  for (const int child : node.children) {
    const int link = LinkBetween(relative, child);
    load.processor_us += steps_.Send(link, wire_bytes);
    load.out_us[link] += steps_.Wire(link, wire_bytes, role, RoleOf(tree_.NodeOf(child)));
  }
  if (node.parent >= 0) {
    const int link = LinkBetween(relative, node.parent);
    load.processor_us += steps_.Receive(link, wire_bytes) + CopyOut(node, segment);
    load.in_us[link] += steps_.Wire(link, wire_bytes, RoleOfParent(node), role);
  }
  return load;
}

Load TreeCost::LoadUp(const Segment& segment, bool to_matrix, int relative) const {
  const TreeNode node = tree_.NodeOf(relative);
  const size_t wire_bytes = segment.wire_bytes();
  Load load;
  if (node.children.empty()) {
    load.processor_us += steps_.CopyIn(ChunkRole::kCombineTarget, segment.bytes);
  }
  for (const int child : node.children) {
    const int link = LinkBetween(relative, child);
    load.processor_us += steps_.Receive(link, wire_bytes) + CombineAt(node, to_matrix, segment);
    load.in_us[link] += WireUp(link, segment);
  }
  if (node.parent >= 0) {
    const int link = LinkBetween(relative, node.parent);
    load.processor_us += steps_.Send(link, wire_bytes);
    load.out_us[link] += WireUp(link, segment);
  }
  return load;
}

double TreeCost::ReadyUp(const TreeNode& node, int relative, const Segment& segment, bool to_matrix,
                         const std::vector<double>& ready_us) const {
  const size_t wire_bytes = segment.wire_bytes();
  // Messages pass the port as they come, and are combined in the order of their ranks.
  std::vector<std::pair<double, int>> coming;
  for (const int child : node.children) {
    const int link = LinkBetween(relative, child);
    const double sent_us = ready_us[static_cast<size_t>(child)] + steps_.Send(link, wire_bytes);
    coming.push_back({std::max(sent_us, steps_.Grant(link, wire_bytes)), child});
  }
  std::sort(coming.begin(), coming.end());
  std::vector<std::pair<int, double>> there;
  Port ports[2] = {Port(steps_.Burst(0)), Port(steps_.Burst(1))};
  for (const auto& [leaves_us, child] : coming) {
    const int link = LinkBetween(relative, child);
    there.push_back(
        {child, ports[link].Pass(leaves_us, WireUp(link, segment)) + steps_.Latency(link)});
  }
  std::sort(there.begin(), there.end());
  double processor_us = StartUs(relative);
  for (const auto& [child, arrival_us] : there) {
    const int link = LinkBetween(relative, child);
    processor_us = std::max(processor_us, arrival_us) + steps_.Receive(link, wire_bytes) +
                   CombineAt(node, to_matrix, segment);
  }
  return processor_us;
}

SegmentTimes TreeCost::Up(const Segment& segment, bool to_matrix,
                          const std::function<Load(int)>& more) const {
  std::vector<int> order = {0};  // parents first
  order.reserve(static_cast<size_t>(size_));
  for (size_t i = 0; i < order.size(); ++i) {
    for (const int child : tree_.NodeOf(order[i]).children) order.push_back(child);
  }
  std::vector<double> ready_us(static_cast<size_t>(size_));
  Busiest busiest(steps_);
  double longest_us = 0;
  for (auto relative = order.rbegin(); relative != order.rend(); ++relative) {
    const TreeNode node = tree_.NodeOf(*relative);
    double& ready = ready_us[static_cast<size_t>(*relative)];
    ready = node.children.empty()
                ? StartUs(*relative) + steps_.CopyIn(ChunkRole::kCombineTarget, segment.bytes)
                : ReadyUp(node, *relative, segment, to_matrix, ready_us);
    longest_us = std::max(longest_us, ready - StartUs(*relative));
    busiest.Add(HostOf(*relative), LoadUp(segment, to_matrix, *relative) + more(*relative));
  }
  return {std::max(to_matrix ? longest_us : ready_us[0], busiest.processor_us()),
          busiest.segment_us(), busiest.spare_us(), busiest.port_bound_us()};
}

SegmentTimes TreeBroadcastTimes(const Steps& steps, const CostQuery& query,
                                const Segment& segment) {
  const double copy = steps.CopyIn(ChunkRole::kBroadcastSource, segment.bytes);
  const TreeCost tree(steps, query);
  return tree.Down(segment, tree.StartUs(0) + copy, [&](int relative) {
    Load load;
    if (relative == 0) load.processor_us = copy;
    return load;
  });
}

SegmentTimes TreeReduceTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  return TreeCost(steps, query).Up(segment, /*to_matrix=*/true);
}

SegmentTimes TreeAllReduceTimes(const Steps& steps, const CostQuery& query,
                                const Segment& segment) {
  const TreeCost tree(steps, query);
  const SegmentTimes up = tree.Up(segment, /*to_matrix=*/false);
  const double out = steps.CopyOut(ChunkRole::kCombineTarget, segment.bytes);  // at the root
  return tree.Down(segment, up.first_us, [&](int relative) {
    Load load = tree.LoadUp(segment, /*to_matrix=*/false, relative);
    if (relative == 0) load.processor_us += out;
    return load;
  });
}

SegmentTimes TwoTreeTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  const CostQuery halves[] = {Half(query, 0), Half(query, 1)};
  const TreeCost trees[] = {TreeCost(steps, halves[0]), TreeCost(steps, halves[1])};
  SegmentTimes both;
  for (const int half : {0, 1}) {
    const TreeCost& tree = trees[half];
    const TreeCost& other = trees[1 - half];
    SegmentTimes one;
    if (query.pattern == Pattern::kBroadcast) {
      const double copy = steps.CopyIn(ChunkRole::kBroadcastSource, segment.bytes);
      one = tree.Down(segment, tree.StartUs(0) + copy, [&](int relative) {
        Load load = other.LoadDown(segment, relative);
        if (relative == 0) load.processor_us += 2 * copy;
        return load;
      });
    } else {
      one = tree.Up(segment, /*to_matrix=*/true, [&](int relative) {
        return other.LoadUp(segment, /*to_matrix=*/true, relative);
      });
    }
    both.first_us = std::max(both.first_us, one.first_us);
    both.segment_us = std::max(both.segment_us, one.segment_us);
    both.spare_us = one.spare_us;
    both.port_bound_us = one.port_bound_us;
  }
  return both;
}

}  // namespace brigade

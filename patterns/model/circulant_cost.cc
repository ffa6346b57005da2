#include "patterns/model/circulant_cost.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <utility>

#include "patterns/model/ring_cost.h"

namespace brigade {
namespace {

// A rank between two messages.
struct Progress {
  size_t sent = 0;  // messages
  double free_us = 0;
  std::vector<double> arrivals_us;  // of messages; negative: not yet
};

}  // namespace

CirculantCost::CirculantCost(const Steps& steps, const CostQuery& query)
    : steps_(steps),
      combines_(query.pattern == Pattern::kMultiReduce),
      to_all_(query.pattern == Pattern::kAllToAll),
      graph_(query.ranks) {}

std::vector<CirculantCost::Round> CirculantCost::RoundsOf(size_t bytes) const {
  if (to_all_) return RoundsToAll(bytes);
  const auto blocks = [&](int k) { return graph_.skip(k + 1) - graph_.skip(k); };
  std::vector<Round> rounds;
  if (combines_) {
    const double in = steps_.CopyIn(ChunkRole::kCombineTarget, bytes);
    const double combine = steps_.Combine(ChunkRole::kCombineTarget, bytes);
    const int last = graph_.rounds() - 1;
    rounds.push_back({graph_.skip(last), blocks(last), blocks(last) * in, 0});
    for (int k = last - 1; k >= 0; --k) {  // of what has come, first what goes on
      const int goes_on = blocks(k + 1) - graph_.skip(k);
      rounds.push_back({graph_.skip(k), blocks(k), goes_on * combine + (blocks(k) - goes_on) * in,
                        graph_.skip(k) * combine});
    }
    return rounds;
  }
  const double in = steps_.CopyIn(ChunkRole::kBufferedSend, bytes);
  const double out = steps_.CopyOut(ChunkRole::kReceive, bytes);
  for (int k = 0; k < graph_.rounds(); ++k) {
    const double done_us = k == 0 ? 0 : blocks(k - 1) * out;
    rounds.push_back({-graph_.skip(k), blocks(k), done_us + blocks(k) * in, 0});
  }
  return rounds;
}

// Of blocks, among which the one that stays is copied behind the first message.
std::vector<CirculantCost::Round> CirculantCost::RoundsToAll(size_t bytes) const {
  const double in = steps_.CopyIn(ChunkRole::kBufferedSend, bytes);
  const double out = steps_.CopyOut(ChunkRole::kReceive, bytes);
  std::vector<Round> rounds;
  double done_us = 0;  // of what the round before has brought
  for (int k = graph_.rounds() - 1; k >= 0; --k) {
    const auto blocks = static_cast<int>(graph_.DistancesOver(k).size());
    rounds.push_back({graph_.skip(k), blocks, done_us + blocks * in, rounds.empty() ? in : 0});
    done_us = blocks * out;
  }
  return rounds;
}

double CirculantCost::End(size_t bytes) const {
  if (combines_) return steps_.Combine(ChunkRole::kCombineTarget, bytes);
  const double out = steps_.CopyOut(ChunkRole::kReceive, bytes);
  if (to_all_) return static_cast<double>(graph_.DistancesOver(0).size()) * out;
  const int last = graph_.rounds() - 1;
  return (graph_.skip(last + 1) - graph_.skip(last)) * out;
}

SegmentTimes CirculantCost::TimesOf(const Segment& segment, bool alone) const {
  constexpr int kSegments = 4;  // by then it goes on as before
  const auto each_more = [](const std::vector<double>& ends_us) {
    return (ends_us[kSegments - 1] - ends_us[1]) / (kSegments - 2);
  };
  const double first_us = Finish(segment, 1, Ports::Buckets::kFull).back();
  if (alone) return {first_us};
  const std::vector<double> ends_us = Finish(segment, kSegments, Ports::Buckets::kEmpty);
  const double segment_us = each_more(ends_us);
  // The next segments begin before the first is through.
  const double early_us = std::max(0.0, ends_us[0] + (kSegments - 1) * segment_us - ends_us.back());
  const double burst_us = std::max(steps_.Burst(0), steps_.Burst(1));
  if (burst_us == 0) return {first_us, segment_us, early_us, segment_us};
  const double saved_us = ends_us[0] - first_us;
  return {
      first_us, segment_us, std::max(0.0, burst_us - saved_us) + early_us,
      std::max(0.0, segment_us - each_more(Finish(segment, kSegments, Ports::Buckets::kEndless)))};
}

std::vector<double> CirculantCost::Finish(const Segment& segment, int segments,
                                          Ports::Buckets buckets) const {
  std::vector<double> ends_us(static_cast<size_t>(segments));
  const std::vector<Round> rounds = RoundsOf(segment.bytes);
  const double end_us = End(segment.bytes);
  const size_t messages = rounds.size() * static_cast<size_t>(segments);
  const ChunkRole role = combines_ ? ChunkRole::kCombineTarget : ChunkRole::kBufferedSend;
  const auto bytes_of = [&](const Round& round) {
    return static_cast<size_t>(round.blocks) * segment.bytes +
           Segment{0, segment.later}.wire_bytes();
  };
  Ports ports(steps_, graph_.size(), buckets);
  std::vector<Progress> ranks(static_cast<size_t>(graph_.size()));
  using Ready = std::pair<double, int>;  // a message, and whose
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  const auto link_from = [&](int from, const Round& round) {
    return steps_.LinkIndex(from, graph_.RankAt(from, round.skip));
  };
  const auto send = [&](int from) {
    Progress& rank = ranks[static_cast<size_t>(from)];
    const Round& round = rounds[rank.sent % rounds.size()];
    const int link = link_from(from, round);
    rank.free_us += round.before_us + steps_.Crowd() * steps_.Send(link, bytes_of(round));
    ready.emplace(std::max(rank.free_us, steps_.Grant(link, bytes_of(round))), from);
    rank.free_us += round.after_us;
    ++rank.sent;
  };
  // On with what has come.
  const auto advance = [&](int to) {
    Progress& rank = ranks[static_cast<size_t>(to)];
    while (rank.arrivals_us[rank.sent - 1] >= 0) {
      const Round& round = rounds[(rank.sent - 1) % rounds.size()];
      const int link = link_from(to, {-round.skip, 0, 0, 0});
      rank.free_us = std::max(rank.free_us, rank.arrivals_us[rank.sent - 1]) +
                     steps_.Crowd() * steps_.Receive(link, bytes_of(round));
      if (rank.sent % rounds.size() == 0) {
        rank.free_us += end_us;
        double& last_us = ends_us[rank.sent / rounds.size() - 1];
        last_us = std::max(last_us, rank.free_us);
      }
      if (rank.sent == messages) return;
      send(to);
    }
  };
  for (int r = 0; r < graph_.size(); ++r) {
    ranks[static_cast<size_t>(r)].arrivals_us.assign(messages, -1);
    send(r);
  }
  std::vector<size_t> left(ranks.size());
  while (!ready.empty()) {
    const auto [ready_us, from] = ready.top();
    ready.pop();
    const size_t message = left[static_cast<size_t>(from)]++;
    const Round& round = rounds[message % rounds.size()];
    const int to = graph_.RankAt(from, round.skip);
    const int link = link_from(from, round);
    const double wire_us = steps_.Wire(link, bytes_of(round), role, ChunkRole::kReceive);
    ranks[static_cast<size_t>(to)].arrivals_us[message] =
        ports.Pass(from, to, ready_us, wire_us) + steps_.Latency(link);
    advance(to);
  }
  return ends_us;
}

SegmentTimes CirculantTimes(const Steps& steps, const CostQuery& query, const Segment& segment) {
  const Hop hop(steps, SlowestLink(steps, query), segment, ChunkRole::kForward, ChunkRole::kForward,
                1);
  const bool combines = query.pattern == Pattern::kReduce;
  const double in = steps.CopyIn(ChunkRole::kForward, segment.bytes);
  const double work = combines ? steps.Combine(ChunkRole::kCombineTarget, segment.bytes)
                               : steps.CopyOut(ChunkRole::kForward, segment.bytes);
  const int rounds = CirculantGraph(query.ranks).rounds();
  const double hop_us = hop.us() + (combines ? work : 0);
  const double processor = steps.Crowd() * (hop.processor_us() + work);
  return {hop.Begin(in) + rounds * hop_us - hop.Saved(rounds) + (combines ? 0 : work),
          std::max(hop.wire_us, processor), std::max(0.0, hop.burst_us - hop.wire_us),
          std::max(0.0, hop.wire_us - processor)};
}

}  // namespace brigade

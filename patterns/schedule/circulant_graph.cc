#include "patterns/schedule/circulant_graph.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "membuf/check.h"

namespace brigade {
namespace {

// Finds for each round k of a phase a path from the root that arrives then: skips of decreasing
// index whose sum is the rank (or the rank plus p), with a last one that no other round has.
class PathSearch {
 public:
  PathSearch(const std::vector<int>& skips, int relative, int base)
      : skips_(skips),
        rounds_(static_cast<int>(skips.size()) - 1),
        target_(int64_t{skips.back()} + relative),
        limit_(int64_t{2} * skips.back()) {
    for (int e = rounds_; e >= 0; --e) {
      next_.push_back(0);
      previous_.push_back(0);
    }
    int last = kEnd;
    for (int e = rounds_; e >= 0; --e) {
      if (e == base) continue;
      (last == kEnd ? first_ : next_[static_cast<size_t>(last)]) = e;
      previous_[static_cast<size_t>(e)] = last;
      last = e;
    }
    next_[static_cast<size_t>(last)] = kEnd;
  }

  // For each round the index of the last skip.
  std::vector<int> Run() {
    Search(0, first_);
    BRIGADE_CHECK(Done());
    return std::move(found_);
  }

 private:
  static constexpr int kEnd = -1;

  bool Done() const { return static_cast<int>(found_.size()) == rounds_; }
  int64_t Skip(int k) const { return skips_[static_cast<size_t>(k)]; }
  // The furthest a path may have come that takes the skip of round `found_.size() + ahead` next.
  int64_t Reach(int ahead) const { return target_ - Skip(static_cast<int>(found_.size()) + ahead); }

  // Extends the path that has come to `place` by skip `e`, or a later one of the list.
  void Search(int64_t place, int e) {
    for (; e != kEnd; e = next_[static_cast<size_t>(e)]) {
      const int64_t to = place + Skip(e);
      if (to > Reach(0) || to >= limit_) continue;
      if (to <= Reach(1)) {
        Search(to, e);
        if (Done()) return;
      }
      if (place > Reach(1)) return;
      limit_ = to;
      found_.push_back(e);
      Unlink(e);
      if (Done()) return;
    }
  }

  void Unlink(int e) {
    const int before = previous_[static_cast<size_t>(e)];
    const int after = next_[static_cast<size_t>(e)];
    (before == kEnd ? first_ : next_[static_cast<size_t>(before)]) = after;
    if (after != kEnd) previous_[static_cast<size_t>(after)] = before;
  }

  const std::vector<int>& skips_;
  const int rounds_;
  const int64_t target_;
  int64_t limit_;  // paths must end before it: each before the one found last
  int first_ = kEnd;
  std::vector<int> next_;
  std::vector<int> previous_;
  std::vector<int> found_;
};

}  // namespace

CirculantGraph::CirculantGraph(int size) {
  BRIGADE_CHECK(size >= 1);
  for (skips_ = {size}; skips_.back() > 1;) skips_.push_back(skips_.back() / 2 + skips_.back() % 2);
  std::reverse(skips_.begin(), skips_.end());
}

std::vector<int> CirculantGraph::DistancesOver(int k) const {
  std::vector<int> distances;
  for (int distance = skip(k); distance < size(); ++distance) {
    int left = distance;
    for (int j = rounds() - 1; j > k; --j) left -= left >= skip(j) ? skip(j) : 0;
    if (left >= skip(k)) distances.push_back(distance);
  }
  return distances;
}

int CirculantGraph::BaseSegment(int relative) const {
  if (relative == 0) return rounds();
  int k = rounds() - 1;
  for (; relative != skip(k); --k) {
    if (relative > skip(k)) relative -= skip(k);
  }
  return k;
}

std::vector<int> CirculantGraph::Receives(int relative) const {
  const int base = BaseSegment(relative);
  std::vector<int> segments = PathSearch(skips_, relative, base).Run();
  for (int& segment : segments) segment = segment == rounds() ? base : segment - rounds();
  return segments;
}

std::vector<int> CirculantGraph::Sends(int relative) const {
  std::vector<int> segments;
  for (int k = 0; k < rounds(); ++k) {
    segments.push_back(Receives(RankAt(relative, skip(k)))[static_cast<size_t>(k)]);
  }
  return segments;
}

CirculantNode::CirculantNode(const CirculantGraph& graph, int place)
    : receives(graph.Receives(place)), sends(graph.Sends(place)) {
  const int q = rounds();
  for (int k = 0; k < q; ++k) {
    int& sent = sends[static_cast<size_t>(k)];
    if (graph.RankAt(place, graph.skip(k)) == 0) sent = kNothing;
    if (sent >= 0) last_sent_on.push_back(k);
  }
  for (int k = 0; k < q; ++k) {
    const int segment = receives[static_cast<size_t>(k)];
    if (segment >= 0) base_round_ = k;
    sent_on.emplace_back();
    for (int later = k + 1; later < q; ++later) {
      if (sends[static_cast<size_t>(later)] == segment) sent_on.back().push_back(later);
    }
    for (int next = 0; segment >= 0 && next < q; ++next) {
      if (sends[static_cast<size_t>(next)] == segment - q) sent_on.back().push_back(q + next);
    }
  }
  AssignStreams();
}

void CirculantNode::AssignStreams() {
  const auto end_of = [&](int k) {
    const std::vector<int>& uses = sent_on[static_cast<size_t>(k)];
    return uses.empty() ? k : uses.back();
  };
  // Rounds after whose sends each stream is free. Stream 0 is free for others only between two base
  // segments.
  const int wait = end_of(base_round_) - rounds();
  base_awaited_ = std::max(base_round_, wait);
  std::vector<int> free_after = {wait};
  for (int k = 0; k < rounds(); ++k) {
    size_t stream = 0;
    if (k != base_round_) {
      const auto fits = [&](size_t s) {
        return s == free_after.size() ||
               (free_after[s] <= k && (s > 0 || (k < base_awaited_ && end_of(k) <= base_awaited_)));
      };
      while (!fits(stream)) ++stream;
      if (stream == free_after.size()) free_after.push_back(0);
      free_after[stream] = end_of(k);
    }
    streams.push_back(static_cast<int>(stream));
  }
  stream_count = static_cast<int>(free_after.size());
}

}  // namespace brigade

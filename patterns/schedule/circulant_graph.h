// CirculantGraph: who sends which segment to whom so that n segments reach p ranks in n - 1 + q
// rounds, q = ceil(log2 p), which is the fewest that ranks can do that send and receive one segment
// at once.
//
// Ranks are relative to the root. In round k of every q, rank r sends to r + skip(k) and receives
// from r - skip(k), mod p. Segments are numbered within a phase of q rounds: a schedule's entry of
// -q + d at k means that in phase j round k carries segment (j - 1) q + d, an entry of d that it
// carries segment j q + d, which is the first one of its kind that the rank receives: each rank but
// the root has one such entry, its base segment. In the last phase it carries the last segment
// instead.
//
// Source: J. L. Traeff, "Optimal, non-pipelined broadcast and reduction schedules on circulant
// graphs" (arXiv 2312.11236, 2407.18004).

#ifndef BRIGADE_PATTERNS_SCHEDULE_CIRCULANT_GRAPH_H_
#define BRIGADE_PATTERNS_SCHEDULE_CIRCULANT_GRAPH_H_

#include <cstddef>
#include <vector>

namespace brigade {

class CirculantGraph {
 public:
  // REQUIRES: size >= 1.
  explicit CirculantGraph(int size);

  int size() const { return skips_.back(); }
  // q: rounds of a phase.
  int rounds() const { return static_cast<int>(skips_.size()) - 1; }
  // 0 <= k <= rounds(); skip(rounds()) is the size.
  int skip(int k) const { return skips_[static_cast<size_t>(k)]; }
  // The rank `steps` further; |steps| <= size.
  int RankAt(int relative, int steps) const { return (relative + steps + size()) % size(); }
  // Every distance below the size is a sum of different skips, the greatest first. Returns the
  // distances that skip(k) is a part of, in increasing order. Cost: the size times the rounds.
  std::vector<int> DistancesOver(int k) const;

  // The base segment of a rank; rounds() for the root.
  int BaseSegment(int relative) const;
  // Returns the segment that a rank receives in each round of a phase; the root's entries mean
  // nothing. Cost: a few q.
  std::vector<int> Receives(int relative) const;
  // Returns the segment that a rank sends in each round, which is the one that its receiver
  // expects. To the root it sends nothing. Cost: q times the cost of Receives.
  std::vector<int> Sends(int relative) const;

 private:
  std::vector<int> skips_;
};

// A rank of the graph other than the root: what it receives and sends in each round of a phase, and
// where segments wait until they have been sent on.
//
// Each has a stream: within one, a segment may be awaited only when the one before has been sent
// for the last time. There are three at most (tested for all ranks of groups of up to 2500): one is
// the base segment's, which is sent on in the next phase, too, and is awaited once that is over.
class CirculantNode {
 public:
  // The entry of `sends` in a round whose message would go to the root.
  static constexpr int kNothing = -(1 << 20);

  // REQUIRES: place > 0.
  CirculantNode(const CirculantGraph& graph, int place);

  int rounds() const { return static_cast<int>(receives.size()); }
  // The kind of a schedule's entry.
  int KindOf(int segment) const { return segment < 0 ? segment + rounds() : segment; }
  // The round of the base segment; and after whose send it is awaited, in the same phase or later.
  int base_round() const { return base_round_; }
  int base_awaited() const { return base_awaited_; }

  std::vector<int> receives;
  std::vector<int> sends;
  // By the round in which a segment is received: the rounds, in the order in which they come, in
  // which it is sent on, of the next phase counted from rounds(); and its stream.
  std::vector<std::vector<int>> sent_on;
  std::vector<int> streams;
  int stream_count = 0;
  // The rounds in which the last segment is sent on.
  std::vector<int> last_sent_on;

 private:
  void AssignStreams();

  int base_round_ = 0;
  int base_awaited_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_CIRCULANT_GRAPH_H_

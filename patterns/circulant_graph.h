// CirculantGraph: who sends which block to whom so that n blocks reach p ranks in n - 1 + q rounds,
// q = ceil(log2 p), which is the fewest that ranks can do that send and receive one block at once.
//
// Ranks are relative to the root. In round k of every q, rank r sends to r + skip(k) and receives
// from r - skip(k), mod p. Blocks are numbered within a phase of q rounds: a schedule's entry of
// -q + d at k means that in phase j round k carries block (j - 1) q + d, an entry of d that it
// carries block j q + d, which is the first one of its kind that the rank hears of: each rank but
// the root has one such entry, its base block. In the last phase it carries the last block instead.
//
// Source: J. L. Traeff, "Optimal, non-pipelined broadcast and reduction schedules on circulant
// graphs" (arXiv 2312.11236, 2407.18004).

#ifndef BRIGADE_PATTERNS_CIRCULANT_GRAPH_H_
#define BRIGADE_PATTERNS_CIRCULANT_GRAPH_H_

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

  // The base block of a rank; rounds() for the root.
  int BaseBlock(int relative) const;
  // What a rank receives in each round of a phase; the root's entries mean nothing. Cost: a few q.
  std::vector<int> Receives(int relative) const;
  // What it sends, which is what its receivers expect; to the root it sends nothing. Cost: q times
  // that.
  std::vector<int> Sends(int relative) const;

 private:
  std::vector<int> skips_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CIRCULANT_GRAPH_H_

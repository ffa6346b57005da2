// Shares: how a schedule cuts the matrix, where each part of it takes a way of its own.
//
// Shares follow each other in packed order. Their bounds depend on numbers of elements and of ranks
// only, because the order of a combine depends on them; segments are cut from shares.

#ifndef BRIGADE_PATTERNS_SCHEDULE_SHARES_H_
#define BRIGADE_PATTERNS_SCHEDULE_SHARES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace brigade {

struct Shares {
  enum Cut : uint8_t {
    kNone,               // the matrix is not cut
    kEqual,              // sizes differ by one element at most
    kSegments,           // as below
    kSegmentsBackwards,  // the same, for a schedule that runs backwards
  };
  Cut cut = kNone;
  int count = 0;  // 0: not cut
  // Ranks in a row that a segment passes, or what costs as much, for the choice of its length.
  int row = 2;

  // One share each for the segments of every kind modulo `rounds`, and one for the last segment,
  // which has a way of its own (circulant_graph.h). The last share is at most rules::kUncutBytes
  // long, and no longer than the others. The segments of all kinds end in the same round, and then
  // comes the last; backwards, they begin in the same round, after the last.
  static Shares Segments(int rounds, bool backwards) {
    return {backwards ? kSegmentsBackwards : kSegments, rounds + 1, 2};
  }
  // One for each of two trees.
  static Shares Halves(int ranks) {
    Shares halves{kEqual, 2, 2};
    for (int below = ranks; below > 1; below /= 2) ++halves.row;
    return halves;
  }
};

// Where share `share` begins of `elems` elements that are distributed over `ranks`, and the one
// before ends.
inline size_t ShareBegin(size_t elems, int ranks, int share) {
  return elems * static_cast<size_t>(share) / static_cast<size_t>(ranks);
}

// The same for any shares; `elem_bytes`: of one element. REQUIRES: 0 <= share <= shares.count.
size_t ShareBegin(const Shares& shares, size_t elems, size_t elem_bytes, int share);

// Elements of the longest share; of all, if there are none.
size_t LongestShare(const Shares& shares, size_t elems, size_t elem_bytes);

// The round in which each share's first segment has its turn, given the number of segments of each.
std::vector<int64_t> FirstRounds(const Shares& shares, const std::vector<int64_t>& segments);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_SHARES_H_

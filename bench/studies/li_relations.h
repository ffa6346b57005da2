// The relations of the LI suites, measured or simulated: what each rank sends to which other rank
// in a superstep, and in which order.
//
// Source: the LI paper, sections 3 to 5.

#ifndef BRIGADE_BENCH_STUDIES_LI_RELATIONS_H_
#define BRIGADE_BENCH_STUDIES_LI_RELATIONS_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace brigade::bench {

// Calls use(other) for all other ranks, from the next one on.
template <typename Use>
void ForOthers(int rank, int ranks, const Use& use) {
  for (int j = 1; j < ranks; ++j) use((rank + j) % ranks);
}

// As: five short tests before a barrier, and the total exchange.
struct AsRelation {
  const char* name;
  bool (*sends)(int from, int to, int ranks);
  bool computes;
  bool meets;  // ends with a barrier of MPI, too, where messages alone do not
};

inline bool ToNobody(int /*from*/, int /*to*/, int /*ranks*/) { return false; }
inline bool ToEverybody(int /*from*/, int /*to*/, int /*ranks*/) { return true; }
inline bool ToTheLast(int from, int to, int ranks) { return from == 0 && to == ranks - 1; }
inline bool FromTheFirst(int from, int to, int /*ranks*/) { return from == 0 && to != 0; }

constexpr AsRelation kAsTests[] = {
    {"test 1, empty", ToNobody, false, true},       {"test 2, computation", ToNobody, true, true},
    {"test 3, full", ToEverybody, false, true},     {"test 4, simple", ToTheLast, false, true},
    {"test 5, scatter", FromTheFirst, false, true},
};
constexpr AsRelation kTotalExchange = {"total exchange", ToEverybody, false, false};

// Mult: a rank's place on a square grid, by columns. Ranks beyond the largest square do not work.
struct MultPlace {
  MultPlace(int rank, int ranks) {
    while ((side + 1) * (side + 1) <= ranks) ++side;
    row = rank % side;
    column = rank / side;
    works = column < side;
  }
  // The ranks to which this rank sends its blocks of A and B in a round, and whose blocks it
  // receives; or, where ranks get, those from which it gets.
  std::array<int, 2> Mates(int round, bool gets) const {
    const int k = ((gets ? row + column : 2 * side - row - column) + round) % side;
    return {k * side + row, k + column * side};
  }

  int side = 1;  // of the grid
  int row;
  int column;
  bool works;
};

// Rdx: a round, in which keys are sorted by one of their digits.
class RdxRound {
 public:
  static constexpr int kDigits = 256;

  // Keys that lie together in those of the sender, and where they go.
  struct Piece {
    int digit;
    int to;
    int64_t from_at;
    int64_t to_at;
    int64_t keys;
  };

  // `block`: keys of a rank, except for the last ranks.
  RdxRound(int ranks, int64_t block)
      : ranks_(ranks),
        block_(block),
        counts_(static_cast<size_t>(ranks) * kDigits),
        starts_(counts_.size()) {}

  // The keys of each digit, by rank, then digit. ForPieces needs SumCounts after a change.
  int64_t* counts() { return counts_.data(); }
  size_t count_bytes() const { return counts_.size() * sizeof(counts_[0]); }
  int64_t* CountsOf(int rank) { return counts() + ptrdiff_t{rank} * kDigits; }
  void SumCounts() {
    int64_t start = 0;
    for (int digit = 0; digit < kDigits; ++digit) {
      for (int rank = 0; rank < ranks_; ++rank) {
        starts_[static_cast<size_t>(rank * kDigits + digit)] = start;
        start += CountsOf(rank)[digit];
      }
    }
  }

  // The digit with which a rank begins: RDXSORTOPT.
  int FirstDigit(int rank) const { return rank * kDigits / ranks_; }
  // Calls `use` for the pieces that a rank sends, by digit, from `first` on and around.
  template <typename Use>
  void ForPieces(int from, int first, const Use& use) {
    int64_t begins[kDigits];
    int64_t sum = 0;
    for (int digit = 0; digit < kDigits; ++digit) {
      begins[digit] = sum;
      sum += CountsOf(from)[digit];
    }
    for (int i = 0; i < kDigits; ++i) {
      const int digit = (first + i) % kDigits;
      int64_t at = starts_[static_cast<size_t>(from * kDigits + digit)];
      const int64_t end = at + CountsOf(from)[digit];
      for (int64_t begin = begins[digit]; at < end;) {
        const int64_t to = at / block_;
        const int64_t keys = std::min(end, (to + 1) * block_) - at;
        use(Piece{digit, static_cast<int>(to), begin, at - to * block_, keys});
        at += keys;
        begin += keys;
      }
    }
  }

 private:
  const int ranks_;
  const int64_t block_;
  std::vector<int64_t> counts_;
  std::vector<int64_t> starts_;  // by rank, then digit: where these keys go, among all keys
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_LI_RELATIONS_H_

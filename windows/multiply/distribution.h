// Distribution: one dimension of a submatrix, whose indices are distributed in blocks over the rows
// or to the columns of a grid, in turn. All indices count from 0, and from the beginning of the
// submatrix.
//
// Source: the block-cyclic distribution of ScaLAPACK.

#ifndef BRIGADE_WINDOWS_MULTIPLY_DISTRIBUTION_H_
#define BRIGADE_WINDOWS_MULTIPLY_DISTRIBUTION_H_

#include <cstdint>
#include <vector>

namespace brigade {

struct Distribution {
  int64_t block = 1;
  int source = 0;     // who has the first block of the matrix
  int procs = 1;      // rows, or columns, of the grid
  int64_t first = 0;  // where the submatrix begins in the matrix
  // How much longer than the others the first block of the matrix is; above -block.
  int64_t more = 0;

  int OwnerOf(int64_t i) const {
    const int64_t at = first + i;
    if (at < block + more) return source;
    return static_cast<int>(((at - more) / block + source) % procs);
  }
  // Where its owner has it.
  int64_t LocalOf(int64_t i) const {
    const int64_t at = first + i;
    if (at < block + more) return at;
    const int64_t other = at - more;  // where it would be if all blocks were equal
    const int64_t local = other / block / procs * block + other % block;
    return OwnerOf(i) == source ? local + more : local;
  }
  // Behind the last of its block.
  int64_t BlockEnd(int64_t i) const {
    const int64_t at = first + i;
    if (at < block + more) return block + more - first;
    return i + block - (at - more) % block;
  }
  // How many of the first `n` of the matrix, not of the submatrix, `proc` has.
  int64_t CountOf(int64_t n, int proc) const;
};

// Indices, in rising order: those in [begin, end).
struct IndexRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end - begin; }
};

int64_t CountOf(const std::vector<IndexRange>& ranges);
// Returns the indices of [0, n) that a proc has. Adjacent indices are one range, here and below.
std::vector<IndexRange> OwnRanges(const Distribution& distribution, int64_t n, int proc);
// `count` of the indices in `ranges`, from number `from` on.
std::vector<IndexRange> Slice(const std::vector<IndexRange>& ranges, int64_t from, int64_t count);

// Indices that lie adjacent in the part of one owner.
struct IndexPiece {
  int owner = 0;
  int64_t local = 0;  // where the owner has the first
  int64_t place = 0;  // its number among all
  int64_t count = 0;
};

// Where owners have the indices in `ranges`, in their order.
std::vector<IndexPiece> PiecesOf(const Distribution& distribution,
                                 const std::vector<IndexRange>& ranges);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_DISTRIBUTION_H_

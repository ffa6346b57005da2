#include "windows/multiply/distribution.h"

#include <algorithm>

namespace brigade {

int64_t Distribution::CountOf(int64_t n, int proc) const {
  if (n <= block + more) return proc == source ? n : 0;
  n -= more;
  const int64_t whole = n / block;
  const int64_t number = (int64_t{proc} - source + procs) % procs;  // of the proc, in turn
  const int64_t rest = whole % procs;
  int64_t count = whole / procs * block;
  if (number < rest) count += block;
  if (number == rest) count += n % block;
  if (proc == source) count += more;
  return count;
}

int64_t CountOf(const std::vector<IndexRange>& ranges) {
  int64_t count = 0;
  for (const IndexRange& range : ranges) count += range.count();
  return count;
}

std::vector<IndexRange> OwnRanges(const Distribution& distribution, int64_t n, int proc) {
  std::vector<IndexRange> ranges;
  for (int64_t i = 0; i < n;) {
    const int64_t end = std::min(n, distribution.BlockEnd(i));
    if (distribution.OwnerOf(i) == proc) {
      if (!ranges.empty() && ranges.back().end == i) {
        ranges.back().end = end;
      } else {
        ranges.push_back({i, end});
      }
    }
    i = end;
  }
  return ranges;
}

std::vector<IndexRange> Slice(const std::vector<IndexRange>& ranges, int64_t from, int64_t count) {
  std::vector<IndexRange> slice;
  for (const IndexRange& range : ranges) {
    const int64_t begin = range.begin + std::min(from, range.count());
    const int64_t end = std::min(range.end, begin + count);
    from -= begin - range.begin;
    count -= end - begin;
    if (begin < end) slice.push_back({begin, end});
  }
  return slice;
}

std::vector<IndexPiece> PiecesOf(const Distribution& distribution,
                                 const std::vector<IndexRange>& ranges) {
  std::vector<IndexPiece> pieces;
  int64_t place = 0;
  for (const IndexRange& range : ranges) {
    for (int64_t i = range.begin; i < range.end;) {
      const int64_t count = std::min(range.end, distribution.BlockEnd(i)) - i;
      const IndexPiece piece{distribution.OwnerOf(i), distribution.LocalOf(i), place, count};
      if (!pieces.empty() && pieces.back().owner == piece.owner &&
          pieces.back().local + pieces.back().count == piece.local) {
        pieces.back().count += count;
      } else {
        pieces.push_back(piece);
      }
      place += count;
      i += count;
    }
  }
  return pieces;
}

}  // namespace brigade

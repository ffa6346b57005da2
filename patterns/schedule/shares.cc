#include "patterns/schedule/shares.h"

#include <algorithm>

#include "patterns/rules.h"

namespace brigade {

size_t ShareBegin(const Shares& shares, size_t elems, size_t elem_bytes, int share) {
  if (shares.cut == Shares::kEqual) return ShareBegin(elems, shares.count, share);
  const auto count = static_cast<size_t>(shares.count);
  const auto index = static_cast<size_t>(share);
  if (index == count) return elems;
  const size_t distributed = elems - std::min(rules::kUncutBytes / elem_bytes, elems / count);
  if (count == 1) return 0;
  // Longer ones last: in the first round some kinds have no segment.
  const size_t kinds = count - 1;
  const size_t shorter = kinds - distributed % kinds;
  return index * (distributed / kinds) + (index > shorter ? index - shorter : 0);
}

size_t LongestShare(const Shares& shares, size_t elems, size_t elem_bytes) {
  if (shares.count == 0) return elems;
  size_t longest = 0;
  for (int share = 0; share < shares.count; ++share) {
    longest = std::max(longest, ShareBegin(shares, elems, elem_bytes, share + 1) -
                                    ShareBegin(shares, elems, elem_bytes, share));
  }
  return longest;
}

std::vector<int64_t> FirstRounds(const Shares& shares, const std::vector<int64_t>& segments) {
  std::vector<int64_t> first(segments.size(), 0);
  if (shares.cut != Shares::kSegments && shares.cut != Shares::kSegmentsBackwards) return first;
  const size_t last = segments.size() - 1;
  const int64_t most = last == 0 ? 1 : *std::max_element(segments.begin(), segments.end() - 1);
  for (size_t kind = 0; kind < last; ++kind) {
    first[kind] = shares.cut == Shares::kSegments ? most - segments[kind] : segments[last] - 1;
  }
  if (shares.cut == Shares::kSegments) first[last] = most - 1;
  return first;
}

}  // namespace brigade

#include "patterns/schedule/cursor.h"

#include <algorithm>

namespace brigade {

void Turns::Set(const Shares& shares, const std::vector<int64_t>& segments) {
  turns_.assign(segments.size(), Turn());
  if (shares.cut == Shares::kSegments || shares.cut == Shares::kSegmentsBackwards) {
    const std::vector<int64_t> rounds = FirstRounds(shares, {segments.begin() + 1, segments.end()});
    for (size_t share = 0; share < rounds.size(); ++share) {
      turns_[1 + share].first_round = rounds[share];
    }
  }
  rounds_ = 0;
  for (size_t i = 0; i < segments.size(); ++i) {
    turns_[i].segments = segments[i];
    rounds_ = std::max(rounds_, turns_[i].first_round + segments[i]);
  }
}

}  // namespace brigade

#include "patterns/schedule/cursor.h"

#include <algorithm>

namespace brigade {

void Turns::Set(const Shares& shares, const std::vector<int64_t>& pieces) {
  turns_.assign(pieces.size(), Turn());
  if (shares.cut == Shares::kSegments || shares.cut == Shares::kSegmentsBackwards) {
    const std::vector<int64_t> rounds = FirstRounds(shares, {pieces.begin() + 1, pieces.end()});
    for (size_t share = 0; share < rounds.size(); ++share) {
      turns_[1 + share].first_round = rounds[share];
    }
  }
  rounds_ = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    turns_[i].pieces = pieces[i];
    rounds_ = std::max(rounds_, turns_[i].first_round + pieces[i]);
  }
}

}  // namespace brigade

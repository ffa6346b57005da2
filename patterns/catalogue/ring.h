// Ring: the ranks of a scope in a circle, as multi-broadcast and multi-reduce go around.

#ifndef BRIGADE_PATTERNS_CATALOGUE_RING_H_
#define BRIGADE_PATTERNS_CATALOGUE_RING_H_

#include "patterns/catalogue/compilers.h"
#include "patterns/schedule/geometry.h"

namespace brigade {

class Ring {
 public:
  explicit Ring(const ScheduleParameters& p)
      : order_({Shape::kIncreasingRings, 1}, p.size, /*root=*/0, p.hosts),
        size_(p.size),
        direction_(p.decreasing ? -1 : 1),
        place_(order_.ToRelative(p.rank)) {}

  // The rank `steps` behind this one, as messages go; before it if negative. |steps| <= size.
  int RankAt(int steps) const {
    return order_.ToRank((place_ + direction_ * steps + size_) % size_);
  }

 private:
  const RankTree order_;
  const int size_;
  const int direction_;
  const int place_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CATALOGUE_RING_H_

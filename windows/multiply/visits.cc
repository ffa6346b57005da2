#include "windows/multiply/visits.h"

#include <algorithm>
#include <numeric>

namespace brigade {

std::vector<int> VisitsOf(MultiplyOrder order, const std::vector<Panel>& panels,
                          const Starts& starts) {
  std::vector<int> visits(panels.size());
  std::iota(visits.begin(), visits.end(), 0);
  if (order == MultiplyOrder::kNatural) return visits;
  const auto class_of = [&](int i) { return panels[static_cast<size_t>(i)].class_number; };
  std::stable_partition(visits.begin(), visits.end(),
                        [&](int i) { return class_of(i) >= starts.diagonal; });
  if (order == MultiplyOrder::kOwnFirst) {
    std::stable_partition(visits.begin(), visits.end(),
                          [&](int i) { return class_of(i) == starts.own; });
  }
  return visits;
}

}  // namespace brigade

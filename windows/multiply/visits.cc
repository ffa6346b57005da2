#include "windows/multiply/visits.h"

#include <numeric>

namespace brigade {

std::vector<int> VisitsOf(MultiplyOrder order, const std::vector<Panel>& panels, int first_class) {
  std::vector<int> visits(panels.size());
  std::iota(visits.begin(), visits.end(), 0);
  if (order == MultiplyOrder::kNatural) return visits;
  std::stable_partition(visits.begin(), visits.end(), [&](int i) {
    return panels[static_cast<size_t>(i)].class_number >= first_class;
  });
  return visits;
}

}  // namespace brigade

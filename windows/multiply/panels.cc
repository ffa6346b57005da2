#include "windows/multiply/panels.h"

#include <algorithm>
#include <map>
#include <utility>

namespace brigade {

std::vector<Panel> CutIntoPanels(const Dealing& a, const Dealing& b, int64_t k, int64_t width) {
  std::vector<Panel> classes;
  std::map<std::pair<int, int>, size_t> numbers;
  for (int64_t i = 0; i < k;) {
    const int64_t end = std::min({k, a.BlockEnd(i), b.BlockEnd(i)});
    const std::pair<int, int> owners(a.OwnerOf(i), b.OwnerOf(i));
    const auto [found, is_new] = numbers.emplace(owners, classes.size());
    if (is_new) {
      classes.emplace_back();
      classes.back().class_number = static_cast<int>(found->second);
      classes.back().a_owner = owners.first;
      classes.back().b_owner = owners.second;
    }
    Panel& here = classes[found->second];
    if (!here.indices.empty() && here.indices.back().end == i) {
      here.indices.back().end = end;
    } else {
      here.indices.push_back({i, end});
    }
    here.width += end - i;
    i = end;
  }
  std::vector<Panel> panels;
  for (const Panel& all : classes) {
    size_t range = 0;
    int64_t at = 0;  // what of it is taken
    for (int64_t left = all.width; left > 0; left -= panels.back().width) {
      panels.push_back(all);
      Panel& panel = panels.back();
      panel.indices.clear();
      panel.width = std::min(left, width);
      for (int64_t open = panel.width; open > 0;) {
        const IndexRange& whole = all.indices[range];
        const int64_t begin = whole.begin + at;
        const int64_t count = std::min(open, whole.end - begin);
        panel.indices.push_back({begin, begin + count});
        open -= count;
        at += count;
        if (begin + count == whole.end) {
          ++range;
          at = 0;
        }
      }
    }
  }
  return panels;
}

Starts StartsOf(const std::vector<Panel>& panels, const OwnParts& own) {
  Starts starts;
  starts.diagonal = (own.row + own.col) % (panels.back().class_number + 1);
  int64_t most = -1;
  for (const Panel& panel : panels) {
    const bool has_a = panel.a_owner == own.along_a;
    const bool has_b = panel.b_owner == own.along_b;
    // Of equal ones that of A: others begin with that of B.
    const int64_t here = 2 * ((has_a ? own.of_a : 0) + (has_b ? own.of_b : 0)) + (has_a ? 1 : 0);
    if (here <= most) continue;
    most = here;
    starts.own = panel.class_number;
  }
  return starts;
}

int SumOf(int class_number, const Starts& starts) {
  if (class_number == starts.own) return 2;
  return class_number >= starts.diagonal ? 0 : 1;
}

}  // namespace brigade

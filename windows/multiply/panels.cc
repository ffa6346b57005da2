#include "windows/multiply/panels.h"

#include <algorithm>
#include <map>
#include <utility>

namespace brigade {

std::vector<Panel> CutIntoPanels(const Distribution& a, const Distribution& b, int64_t k,
                                 int64_t width) {
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

int FirstClassOf(const std::vector<Panel>& panels, int row, int col) {
  return (row + col) % (panels.back().class_number + 1);
}

int SumOf(int class_number, int first_class) { return class_number >= first_class ? 0 : 1; }

}  // namespace brigade

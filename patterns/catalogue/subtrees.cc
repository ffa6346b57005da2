#include "patterns/catalogue/subtrees.h"

#include <algorithm>

namespace brigade {

int Subtrees::RanksFrom(int relative) const {
  int last = relative;
  for (TreeNode node = NodeOf(last); !node.children.empty(); node = NodeOf(last)) {
    last = node.children.back();
  }
  return last - relative + 1;
}

int Subtrees::MostTogether() const {
  int most = 1;
  for (const int child : NodeOf(0).children) most = std::max(most, RanksFrom(child));
  return most;
}

}  // namespace brigade

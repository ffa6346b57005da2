#include "patterns/catalogue/subtrees.h"

#include <algorithm>
#include <utility>

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
  if (is_ring_) return most;
  for (const int child : NodeOf(0).children) most = std::max(most, RanksFrom(child));
  return most;
}

void OwnSubtree::SetRuns(ScheduleBuilder* b) const {
  b->SetMostTogether(MostTogether());
  if (p_.hosts.empty()) return;
  std::vector<int> order;
  for (int relative = 0; relative < p_.size; ++relative) order.push_back(ToRank(relative));
  b->SetOrder(std::move(order));
}

}  // namespace brigade

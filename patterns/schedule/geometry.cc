#include "patterns/schedule/geometry.h"

#include <algorithm>
#include <cstdint>

#include "membuf/check.h"

namespace brigade {
namespace {

TreeNode KNomial(int k, int size, int relative) {
  TreeNode node;
  // `place` runs over powers of k up to the lowest non-zero digit of `relative` (all of them at the
  // root).
  int64_t place = 1;
  std::vector<int64_t> places;
  while (place < size && (relative / place) % k == 0) {
    places.push_back(place);
    place *= k;
  }
  if (relative != 0) {
    const int64_t digit = (relative / place) % k;
    node.parent = static_cast<int>(relative - digit * place);
  }
  for (int64_t p : places) {
    const int64_t digits = std::min<int64_t>(k - 1, (size - 1 - relative) / p);
    for (int64_t digit = 1; digit <= digits; ++digit) {
      node.children.push_back(static_cast<int>(relative + digit * p));
    }
  }
  return node;
}

// Chains over 1..size-1: the first `longer` chains have one rank more.
TreeNode Chains(int chains, int size, int relative) {
  TreeNode node;
  if (size == 1) return node;
  chains = std::min(chains, size - 1);
  const int base = (size - 1) / chains;
  const int longer = (size - 1) % chains;
  const auto first = [&](int chain) { return 1 + chain * base + std::min(chain, longer); };
  if (relative == 0) {
    for (int c = 0; c < chains; ++c) node.children.push_back(first(c));
    return node;
  }
  const int in_longer = longer * (base + 1);
  const int chain = relative - 1 < in_longer ? (relative - 1) / (base + 1)
                                             : longer + (relative - 1 - in_longer) / base;
  node.parent = relative == first(chain) ? 0 : relative - 1;
  const int end = chain + 1 < chains ? first(chain + 1) : size;
  if (relative + 1 < end) node.children.push_back(relative + 1);
  return node;
}

TreeNode SplitRing(int size, int relative) {
  TreeNode node;
  const int up = size / 2;  // ranks 1..up rise, size-1..up+1 fall
  if (relative == 0) {
    if (size > 1) node.children.push_back(1);
    if (size > 2) node.children.push_back(size - 1);
  } else if (relative <= up) {
    node.parent = relative - 1;
    if (relative < up) node.children.push_back(relative + 1);
  } else {
    node.parent = relative == size - 1 ? 0 : relative + 1;
    if (relative > up + 1) node.children.push_back(relative - 1);
  }
  return node;
}

// Nodes 1..last in order: below x are those on either side that are less far from it than its
// lowest bit.
TreeNode InOrder(int last, int x) {
  const auto root_of = [](int first, int count) {  // of nodes first..first+count-1
    int bit = 1;
    while (2 * bit <= count) bit *= 2;
    return first - 1 + bit;
  };
  TreeNode node;
  const int bit = x & -x;
  if (bit > 1) node.children.push_back(x - bit / 2);
  const int behind = std::min(bit - 1, last - x);
  if (behind > 0) node.children.push_back(root_of(x + 1, behind));
  const int after = x + bit;
  const bool is_left = (after & -after) == 2 * bit && after <= last;
  node.parent = is_left ? after : x - bit;  // 0 at the root
  return node;
}

// Node x of tree t is relative rank x - t; node 1 of tree 1, a leaf, is left out.
TreeNode TwoTree(int tree, int size, int relative) {
  TreeNode node;
  if (size == 1) return node;
  const int last = size - 1 + tree;
  if (relative == 0) {
    int root = 1;
    while (2 * root <= last) root *= 2;
    node.children.push_back(root - tree);
    return node;
  }
  node = InOrder(last, relative + tree);
  if (tree == 0) return node;
  if (node.parent > 0) --node.parent;
  std::vector<int> children;
  for (const int child : node.children) {
    if (child > 1) children.push_back(child - 1);
  }
  node.children = children;
  return node;
}

}  // namespace

TreeNode TreeNodeOf(const Topology& topology, int size, int relative) {
  BRIGADE_CHECK(0 <= relative && relative < size);
  switch (topology.shape) {
    case Shape::kTree:
    case Shape::kExchange:
      return KNomial(topology.parameter, size, relative);
    case Shape::kIncreasingRings:
    case Shape::kDecreasingRings:
      return Chains(topology.parameter, size, relative);
    case Shape::kSplitRing:
      return SplitRing(size, relative);
    case Shape::kTwoTree:
      return TwoTree(topology.parameter, size, relative);
    case Shape::kHypercube:
    case Shape::kReduceScatterAllgather:
    case Shape::kCirculant:
    case Shape::kFree:
      break;
  }
  CheckFailed(__FILE__, __LINE__, "a shape that is not a tree");
}

int TreeHeight(const Topology& topology, int size) {
  if (size == 1) return 0;
  switch (topology.shape) {
    case Shape::kTree:
    case Shape::kExchange: {
      // A rank's depth is its number of non-zero base-k digits; the first of each depth has ones.
      int height = 0;
      for (int64_t ones = 1; ones < size; ones = ones * topology.parameter + 1) ++height;
      return height;
    }
    case Shape::kIncreasingRings:
    case Shape::kDecreasingRings: {
      const int chains = std::min(topology.parameter, size - 1);
      return (size - 1 + chains - 1) / chains;
    }
    case Shape::kSplitRing:
      return size / 2;
    case Shape::kTwoTree: {
      int height = 1;
      while ((1 << height) <= size) ++height;
      return height;
    }
    case Shape::kHypercube:
    case Shape::kReduceScatterAllgather:
    case Shape::kCirculant:
    case Shape::kFree:
      break;
  }
  CheckFailed(__FILE__, __LINE__, "a shape that is not a tree");
}

int ToRelative(const Topology& topology, int size, int root, int rank) {
  const int d = topology.shape == Shape::kDecreasingRings ? root - rank : rank - root;
  return (d % size + size) % size;
}

int FromRelative(const Topology& topology, int size, int root, int relative) {
  const int r = topology.shape == Shape::kDecreasingRings ? root - relative : root + relative;
  return (r % size + size) % size;
}

std::vector<std::vector<int>> RanksByHost(const std::vector<int>& hosts) {
  std::vector<std::vector<int>> ranks;
  std::vector<int> names;
  for (size_t rank = 0; rank < hosts.size(); ++rank) {
    const auto name = std::find(names.begin(), names.end(), hosts[rank]);
    const auto host = static_cast<size_t>(name - names.begin());
    if (name == names.end()) {
      names.push_back(hosts[rank]);
      ranks.emplace_back();
    }
    ranks[host].push_back(static_cast<int>(rank));
  }
  return ranks;
}

RankTree::RankTree(const Topology& topology, int size, int root, const std::vector<int>& hosts)
    : topology_(topology), size_(size), root_(root) {
  if (hosts.empty()) return;
  std::vector<std::vector<int>> members = RanksByHost(hosts);
  const int count = static_cast<int>(members.size());
  int root_host = 0;
  for (int host = 0; host < count; ++host) {
    std::vector<int>& ranks = members[static_cast<size_t>(host)];
    const auto found = std::find(ranks.begin(), ranks.end(), root);
    if (found == ranks.end()) continue;
    root_host = host;
    std::rotate(ranks.begin(), found, found + 1);
  }
  relatives_.resize(static_cast<size_t>(size));
  for (int relative = 0; relative < count; ++relative) {
    firsts_.push_back(static_cast<int>(ranks_.size()));
    const int host = FromRelative(topology, count, root_host, relative);
    for (const int rank : members[static_cast<size_t>(host)]) {
      relatives_[static_cast<size_t>(rank)] = static_cast<int>(ranks_.size());
      ranks_.push_back(rank);
    }
  }
  firsts_.push_back(size);
}

int RankTree::ToRelative(int rank) const {
  if (ranks_.empty()) return brigade::ToRelative(topology_, size_, root_, rank);
  return relatives_[static_cast<size_t>(rank)];
}

int RankTree::ToRank(int relative) const {
  if (ranks_.empty()) return FromRelative(topology_, size_, root_, relative);
  return ranks_[static_cast<size_t>(relative)];
}

int RankTree::PlaceOf(int relative) const {
  if (ranks_.empty()) return relative;
  const auto end = std::upper_bound(firsts_.begin(), firsts_.end(), relative);
  return static_cast<int>(end - firsts_.begin()) - 1;
}

TreeNode RankTree::NodeWithinPlace(int relative) const {
  if (ranks_.empty()) return TreeNode();
  const auto place = static_cast<size_t>(PlaceOf(relative));
  const int first = firsts_[place];
  TreeNode node = TreeNodeOf(kWithinHost, firsts_[place + 1] - first, relative - first);
  for (int& child : node.children) child += first;
  if (relative > first) node.parent += first;
  return node;
}

TreeNode RankTree::NodeOf(int relative) const {
  if (ranks_.empty()) return TreeNodeOf(topology_, size_, relative);
  TreeNode node = NodeWithinPlace(relative);
  if (node.parent >= 0) return node;
  const TreeNode host = TreeNodeOf(topology_, places(), PlaceOf(relative));
  if (host.parent >= 0) node.parent = firsts_[static_cast<size_t>(host.parent)];
  for (const int child : host.children) {
    node.children.push_back(firsts_[static_cast<size_t>(child)]);
  }
  std::sort(node.children.begin(), node.children.end());
  return node;
}

}  // namespace brigade

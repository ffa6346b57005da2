#include "blacs_shim/topology_letters.h"

#include <climits>

namespace brigade {
namespace blacs {
namespace {

char Upper(char letter) {
  return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - 'a' + 'A') : letter;
}

Topology Tree(int branches) {
  // Saturates: more branches than ranks are all the same tree.
  return Topology{Shape::kTree, branches < INT_MAX ? branches + 1 : branches};
}

Topology Rings(int rings) {
  if (rings > 0) return Topology{Shape::kIncreasingRings, rings};
  return Topology{Shape::kDecreasingRings, rings == INT_MIN ? INT_MAX : -rings};
}

// The letters that mean the same for broadcasts and combines.
bool CommonTopology(char upper, int branches, int rings, Topology* topology) {
  switch (upper) {
    case ' ':
      *topology = Topology{Shape::kFree, 0};
      return true;
    case 'T':
      *topology = Tree(branches);
      return true;
    case 'I':
      *topology = Rings(1);
      return true;
    case 'D':
      *topology = Rings(-1);
      return true;
    case 'M':
      *topology = Rings(rings);
      return true;
    case 'F':
      *topology = Rings(INT_MAX);
      return true;  // clipped to one per other rank
  }
  if (upper < '1' || upper > '9') return false;
  *topology = Tree(upper - '0');
  return true;
}

}  // namespace

bool BroadcastTopology(char letter, const TopologySettings& settings, Topology* topology) {
  const char upper = Upper(letter);
  switch (upper) {
    case 'S':
      *topology = Topology{Shape::kSplitRing, 2};
      return true;
    case 'H':
      *topology = Tree(1);
      return true;
  }
  return CommonTopology(upper, settings.broadcast_branches, settings.broadcast_rings, topology);
}

bool CombineTopology(char letter, const TopologySettings& settings, bool result_to_all,
                     Topology* topology) {
  const char upper = Upper(letter);
  switch (upper) {
    case 'S':
      *topology = Rings(2);
      return true;
    case 'H':
      *topology = result_to_all ? Topology{Shape::kHypercube, 2} : Tree(1);
      return true;
  }
  return CommonTopology(upper, settings.combine_branches, settings.combine_rings, topology);
}

}  // namespace blacs
}  // namespace brigade

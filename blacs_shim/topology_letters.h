// Topology letters: the letters of BLACS callers, as shapes of the catalogue.
//
// A broadcast's letter only decides which ranks forward. A combine's letter also fixes the
// association order of its result: this table, together with the order that the catalogue documents
// for each shape, defines that order completely, independently of measurements at run time.
//
//   letter    broadcast                    combine
//   ' '       free (free_topology.h)       free (free_topology.h)
//   1..9      tree, digit + 1 branches     tree, digit + 1 branches
//   T         tree, WHAT 12 + 1 branches   tree, WHAT 14 + 1 branches
//   I         increasing ring              increasing ring
//   D         decreasing ring              decreasing ring
//   S         split ring                   two increasing rings
//   M         WHAT 11 rings                WHAT 13 rings           (negative: decreasing)
//   F         a ring per other rank, that is, fully connected, for both
//   H         binomial tree                hypercube if the result goes to all, else binomial tree
//
// A hypercube broadcast is a binomial tree: each rank receives once, across its lowest differing
// dimension.

#ifndef BRIGADE_BLACS_SHIM_TOPOLOGY_LETTERS_H_
#define BRIGADE_BLACS_SHIM_TOPOLOGY_LETTERS_H_

#include "patterns/schedule/topology.h"

namespace brigade {
namespace blacs {

// A context's parameters for the letters T and M, as blacs_set and blacs_get number them.
struct TopologySettings {
  int broadcast_rings = 1;     // WHAT 11; not 0
  int broadcast_branches = 1;  // WHAT 12; at least 1
  int combine_rings = 1;       // WHAT 13; not 0
  int combine_branches = 1;    // WHAT 14; at least 1
};

// Translate letters of either case; false if there is no such topology.
bool BroadcastTopology(char letter, const TopologySettings& settings, Topology* topology);
bool CombineTopology(char letter, const TopologySettings& settings, bool result_to_all,
                     Topology* topology);

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_TOPOLOGY_LETTERS_H_

// The cells of the studies on simulated machines: what the ranks of a program bring each other in a
// superstep, by puts between fences, and by this library's own sends and receives.
//
// Sources: the LI paper, sections 3 to 5; MPI/SX, section 5.

#ifndef BRIGADE_BENCH_SIMULATED_SUPERSTEP_CELLS_H_
#define BRIGADE_BENCH_SIMULATED_SUPERSTEP_CELLS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {

// What one rank sends: to whom, and how long each is.
struct SuperstepPiece {
  int to;
  size_t bytes;
};

struct SuperstepCell {
  std::string name;
  // Of each rank: rows are ints, an order, keys or doubles; columns as in the suite.
  long rows = 0;
  long cols = 1;
  size_t bytes = 0;
  // By superstep, then by rank.
  std::vector<std::vector<std::vector<SuperstepPiece>>> pieces;
};

// The cases of a study on so many ranks: "as", "mult" (a square number of ranks), "rdx" or
// "exchange". Keys are uniform.
std::vector<SuperstepCell> SuperstepCells(const std::string& study, int ranks);

enum class Way { kPut, kSend };

// Virtual microseconds from when all have met until the last rank is done; what arrives is checked.
Status SimulateSupersteps(const MachineDescription& machine, const SuperstepCell& cell, Way way,
                          double* us);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_SUPERSTEP_CELLS_H_

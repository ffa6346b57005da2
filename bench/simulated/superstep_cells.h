// The cells of the studies on simulated machines: what the ranks of a program bring each other in a
// superstep, by puts or gets between fences, and by this library's own sends and receives.
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

// A piece that one rank sends, or that another rank gets from it: the other rank, and the length.
struct SuperstepPiece {
  int to;
  size_t bytes;
};

// By superstep, then by rank.
using Supersteps = std::vector<std::vector<std::vector<SuperstepPiece>>>;

struct SuperstepCell {
  std::string name;
  // Of each rank: rows are ints, an order, keys or doubles; columns as in the suite.
  long rows = 0;
  long cols = 1;
  size_t bytes = 0;
  Supersteps pieces;
  Supersteps gets;     // the same work where ranks get; empty if the study's program does not
  bool meets = false;  // messages end with a barrier; puts and gets have a fence
};

// The cases of a study on so many ranks: "as", "mult" (a square number of ranks), "rdx" or
// "exchange". `sizes`: ints to each rank, orders, keys, or doubles; empty: the study's own.
std::vector<SuperstepCell> SuperstepCells(const std::string& study, int ranks,
                                          std::vector<long> sizes = {});

// kGather: short puts to one rank go together, as those of LI over windows.
enum class SuperstepVariant { kPut, kGather, kGet, kSend };

// Virtual microseconds from when all have met until the last rank is done; what arrives is checked.
// SuperstepVariant::kGet is for cells that have gets.
Status SimulateSupersteps(const MachineDescription& machine, const SuperstepCell& cell,
                          SuperstepVariant variant, double* us);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_SUPERSTEP_CELLS_H_

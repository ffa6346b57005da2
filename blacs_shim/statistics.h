// Statistics: what BRIGADE_STATS counts and prints.

#ifndef BRIGADE_BLACS_SHIM_STATISTICS_H_
#define BRIGADE_BLACS_SHIM_STATISTICS_H_

#include <mpi.h>

#include <cstdint>
#include <string>
#include <vector>

#include "blacs_shim/routine.h"
#include "membuf/overflow_arena.h"
#include "membuf/staging_pool.h"
#include "membuf/status.h"

namespace brigade {
namespace blacs {

class Statistics {
 public:
  Statistics();

  // One finished call: its topology letter (' ' for the default and where there is none), the bytes
  // of this rank's matrix, how long it took and how much of that it waited. Cost: a few loads.
  void Add(const Routine& routine, char letter, uint64_t bytes, uint64_t elapsed_ns,
           uint64_t wait_ns);

  // What the memory under all calls saw; set before printing.
  void SetMemory(const StagingStatistics& staging, const OverflowStatistics& overflow);

  // Collective over `communicator`: adds every rank's figures up at its rank 0 (high waters:
  // maximum); meaningless elsewhere afterwards.
  Status SumOver(MPI_Comm communicator);

  // The table, each line beginning with "brigade"; `whose` completes its heading "statistics ...".
  std::string ToString(const std::string& whose) const;

 private:
  struct Counters {
    uint64_t calls;
    uint64_t bytes;
    uint64_t elapsed_ns;
    uint64_t wait_ns;
  };

  std::vector<Counters> counters_;  // [verb][type][letter]
  uint64_t overflow_blocks_ = 0;
  uint64_t staging_high_water_bytes_ = 0;
  uint64_t overflow_high_water_bytes_ = 0;
};

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_STATISTICS_H_

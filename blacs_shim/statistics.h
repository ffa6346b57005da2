// Statistics: the figures of BRIGADE_STATS and BRIGADE_STATS_FILE, as a table and as JSON.

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
#include "transport/mpi/mpi_time.h"

namespace brigade {
namespace blacs {

class Statistics {
 public:
  Statistics();

  // Adds a finished call: its topology letter (' ' for the default and if there is none), the bytes
  // of this rank's matrix, its time and the time of its waits. Cost: a few loads.
  void Add(const Routine& routine, char letter, uint64_t bytes, uint64_t elapsed_ns,
           uint64_t wait_ns);

  // Sets the figures of staging and overflow memory. Must be called before printing.
  void SetMemory(const StagingStatistics& staging, const OverflowStatistics& overflow);
  // Sets the time in MPI, if it was counted. Must be called before printing.
  void SetMpiTime(const MpiTime& time);
  // Marks this rank as ending the job with `contexts` contexts open. Must be called after
  // SetMemory.
  void SetAborted(size_t contexts);

  // Adds up the figures of all ranks at rank 0, and finds the least and the most of any rank; the
  // figures of other ranks are meaningless afterwards. Collective over `communicator`.
  Status SumOver(MPI_Comm communicator);

  // Returns the table, each line beginning with "brigade"; `whose` completes its heading
  // "statistics ...".
  std::string ToString(const std::string& whose) const;
  // Returns the text of a JSON file: the statistics, the number of calls of each size, and the
  // least and the most of any rank. Of `rank`, or, if that is -1, summed over `ranks` ranks.
  std::string ToJson(int rank, int ranks) const;

 private:
  // Of sizes 0, 1, 2 to 3, 4 to 7 and so on; the last one has what is longer, too.
  static constexpr int kSizes = 48;

  struct Counters {
    uint64_t calls;
    uint64_t bytes;
    uint64_t elapsed_ns;
    uint64_t wait_ns;
  };
  struct Memory {
    uint64_t overflow_blocks;
    uint64_t staging_high_water_bytes;
    uint64_t overflow_high_water_bytes;
  };
  // Contexts and memory in use on a rank that ends the job.
  struct Left {
    uint64_t contexts;
    uint64_t staging_bytes;
    uint64_t overflow_bytes;
  };
  // Of this rank; or the sum, the least and the most of any rank.
  struct Figures {
    std::vector<Counters> counters;  // [verb][type][letter]
    Memory memory = {};
    MpiTime mpi = {};
    Status Reduce(MPI_Op op, MPI_Comm communicator);
  };

  Figures figures_;
  bool has_mpi_time_ = false;
  bool is_aborted_ = false;
  Left left_ = {};
  std::vector<uint64_t> sizes_;  // [verb][type][letter][kSizes]
  // Once summed over ranks.
  Figures least_;
  Figures most_;
};

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_STATISTICS_H_

// Runtime: the state of this process between BLACS calls.
//
// The runtime is made by the first BLACS call that needs it: a preloaded library is also loaded by
// mpirun, shells and interpreters. MPI_Finalize ends it (transport/mpi/mpi_teardown.h), called by
// blacs_exit or by the program.
//
// One thread at a time may call the library, as with the reference; Entry detects a second one.

#ifndef BRIGADE_BLACS_SHIM_RUNTIME_H_
#define BRIGADE_BLACS_SHIM_RUNTIME_H_

#include <mpi.h>
#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "blacs_shim/errors.h"
#include "blacs_shim/process_grid.h"
#include "blacs_shim/statistics.h"
#include "blacs_shim/system_handles.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/shared_engine.h"
#include "patterns/settings/settings.h"

namespace brigade {
namespace blacs {

// Held by every routine that does more than read a value.
class Entry {
 public:
  // No locked instruction: it would wait for all earlier stores to other ranks' memory. Of two
  // threads that enter at one instant, one finds the other's entry in its place when it leaves.
  explicit Entry(const char* routine) {
    if (inside_.load(std::memory_order_acquire) != nullptr) FailConcurrent(routine);
    inside_.store(this, std::memory_order_relaxed);
    routine_.store(routine, std::memory_order_relaxed);
  }
  ~Entry() {
    if (inside_.load(std::memory_order_relaxed) != this) FailConcurrent("this call");
    inside_.store(nullptr, std::memory_order_release);
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  [[noreturn]] static void FailConcurrent(const char* routine);

  static std::atomic<const Entry*> inside_;  // of the thread that is, or null
  static std::atomic<const char*> routine_;  // the last one entered
};

class Runtime {
 public:
  // Returns the runtime, and starts it if necessary: initialises MPI if the program has not, and
  // reads the settings. Errors end the job in the name of `routine`.
  static Runtime& Start(const char* routine) {
    return current_ != nullptr ? *current_ : StartNow(routine);
  }
  // Null before the start and after the end.
  static Runtime* Current() { return current_; }

  int world_rank() const { return world_rank_; }
  int world_size() const { return world_size_; }
  SystemHandles& handles() { return handles_; }
  GridTable& grids() { return grids_; }
  const GridTable& grids() const { return grids_; }
  // Null unless statistics are enabled.
  Statistics* statistics() { return statistics_.get(); }
  // Reused by every call that needs an array of locations.
  std::vector<int32_t>& location_scratch() { return location_scratch_; }

  // Makes a grid (ProcessGrid::Create) and its context; `members` must include this process.
  int OpenGrid(const char* routine, MPI_Comm parent, const std::vector<int>& members, int rows,
               int cols);
  // Ends a context. Its grid ends when the caller destroys it. REQUIRES: the context exists.
  std::unique_ptr<ProcessGrid> CloseGrid(int context);
  // Waits until every returned send has left.
  void Drain(const char* routine);
  // Returns memory that is kept for reuse to the system.
  void Trim();
  // blacs_exit: frees all contexts and handles, and waits for pending sends; MPI and the engine
  // stay. Messages that this rank has not received are lost. REQUIRES: no Entry is held.
  void Reset(const char* routine);

 private:
  explicit Runtime(const Settings& settings);

  static Runtime& StartNow(const char* routine);
  static void OnMpiFinalize();

  void LogStart(const ProcessGrid& grid) const;
  void AgreeOnStatistics(const char* routine, const ProcessGrid& grid);
  // At the end of MPI; `aborted`: of this rank alone, which ends the job.
  void WriteStatistics(bool aborted);
  static void OnAbort();

  static Runtime* current_;

  const Settings settings_;
  const pid_t pid_;
  int world_rank_ = 0;
  int world_size_ = 0;
  SystemHandles handles_;
  std::shared_ptr<SharedEngine> shared_engine_;  // from the first grid on
  Engine* engine_ = nullptr;                     // in it
  GridTable grids_;
  std::vector<int32_t> location_scratch_;
  std::unique_ptr<Statistics> statistics_;
  // Whether the first grid with every rank of the world has been made.
  bool statistics_agreed_ = false;
  // Connects all ranks of the world, if a grid of all was made and sums are wanted.
  MPI_Comm statistics_communicator_ = MPI_COMM_NULL;
};

// For messages of `routine` about `context`, which need not exist.
Origin OriginOf(const char* routine, int64_t context);

// Ends the job in the name of `routine` if no int can hold `value`, its argument `what`.
void RequireInt(const char* routine, const char* what, int64_t value);

// Returns the grid of `context`; ends the job in the name of `routine` if there is none.
ProcessGrid& GridOf(const char* routine, int64_t context);

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_RUNTIME_H_

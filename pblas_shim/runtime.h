// Runtime: the state of this process between products.
//
// The runtime is made by the first product: a preloaded library is also loaded by mpirun, shells
// and interpreters. MPI_Finalize ends it (transport/mpi/mpi_teardown.h).

#ifndef BRIGADE_PBLAS_SHIM_RUNTIME_H_
#define BRIGADE_PBLAS_SHIM_RUNTIME_H_

#include <mpi.h>
#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/shared_engine.h"
#include "patterns/settings/settings.h"
#include "pblas_shim/grid.h"
#include "windows/message/window_space.h"

namespace brigade {
namespace pblas {

class Runtime {
 public:
  // Returns the runtime, and starts it if necessary. A bad setting ends the job in the name of
  // `routine`. REQUIRES: MPI is initialised, and not IsTornDown().
  static Runtime* Start(const char* routine) {
    return current_ != nullptr ? current_ : StartNow(routine);
  }

  const Settings& settings() const { return settings_; }
  // Returns the grid of a context, in which this rank has this place. Local.
  Grid* GridOf(const char* routine, int64_t context, const GridPlace& place);

  // Opens the engine, which is shared with the BLACS if they are Brigade's.
  Status OpenEngine();
  WindowSpace* space() const { return space_.get(); }

 private:
  explicit Runtime(const Settings& settings);

  static Runtime* StartNow(const char* routine);
  static void OnMpiFinalize();
  static int OnCommunicatorFree(MPI_Comm, int, void* grid, void*);
  // Destroys the grids that all their ranks have ended.
  void DestroyEnded();

  static Runtime* current_;

  const Settings settings_;
  const pid_t pid_;
  int keyval_ = MPI_KEYVAL_INVALID;  // of grids
  std::shared_ptr<SharedEngine> engine_;
  std::unique_ptr<WindowSpace> space_;
  std::vector<std::unique_ptr<Grid>> grids_;
  std::vector<std::unique_ptr<Grid>> ended_;  // by this rank, and not yet by all
};

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_RUNTIME_H_

// Grid: a BLACS context that multiplies, or the reason why it cannot. It lives as long as the
// context's communicator, which it hangs on as an attribute.

#ifndef BRIGADE_PBLAS_SHIM_GRID_H_
#define BRIGADE_PBLAS_SHIM_GRID_H_

#include <mpi.h>

#include <memory>

#include "membuf/status.h"
#include "patterns/settings/settings.h"
#include "windows/multiply/multiply.h"

namespace brigade {
namespace pblas {

class Runtime;

struct GridPlace {
  int rows = 0;
  int cols = 0;
  int row = 0;
  int col = 0;
};

class Grid {
 public:
  // Collective over `comm`, the context's communicator.
  static std::unique_ptr<Grid> Make(Runtime* runtime, MPI_Comm comm, const GridPlace& place);

  // What all of its ranks agree on: the least of what they ask for.
  Settings::When when() const { return when_; }
  // Whether ranks are in the order that a multiplier wants. The same on all of them.
  bool is_row_by_row() const { return is_row_by_row_; }
  // kOk, or why there is no multiplier where all would have it be: an error, since what a program
  // computes may not depend on what a machine has left. The same on all ranks.
  const Status& outcome() const { return outcome_; }
  // REQUIRES: when() is not kOff, is_row_by_row(), and the outcome is kOk.
  Multiplier* multiplier() const { return multiplier_.get(); }
  const GridPlace& place() const { return place_; }

  // Collective over it: returns when all have come. Whoever waits for ranks that are not in a
  // product yet waits here, where MPI goes on, and not in the product: others may need what the
  // BLACS have sent from here, and that may need calls of MPI by this rank. Over our BLACS nothing
  // does, so nobody waits.
  void AwaitAll() const;

  // Collective over it.
  void Free();

 private:
  Grid() = default;
  Status Open(Runtime* runtime, MPI_Comm comm);

  GridPlace place_;
  MPI_Comm comm_ = MPI_COMM_NULL;  // null: nobody is awaited
  double report_seconds_ = 0;      // of a wait
  Settings::When when_ = Settings::When::kOff;
  bool is_row_by_row_ = false;
  Status outcome_;
  std::unique_ptr<Multiplier> multiplier_;
};

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_GRID_H_

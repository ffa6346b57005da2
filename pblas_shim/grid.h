// Grid: a BLACS context that multiplies, or the reason why it cannot. It lives as long as the
// context's communicator, which it hangs on as an attribute.

#ifndef BRIGADE_PBLAS_SHIM_GRID_H_
#define BRIGADE_PBLAS_SHIM_GRID_H_

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

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

  // This process comes to the next product of the grid. If it takes that: collective over it, and
  // returns when all have come. Whoever waits for ranks that are not in a product yet waits here,
  // where MPI goes on, and not in the product: others may need what the BLACS have sent from here,
  // and that may need calls of MPI by this rank. Over our BLACS nothing does, so nobody waits.
  //
  // The job ends, in the name of `routine`, where a rank has left this product to the PBLAS, or is
  // in another, or at the end of the grid. Its arguments are others then, and the PBLAS do not look
  // for that. So each rank that has found its grid comes here, whatever else is wrong.
  void ComeToProduct(const char* routine, bool is_taken);

  // Collective over it. The job ends as in a product.
  void Free();

 private:
  // At the course of another.
  struct Look {
    int64_t course = 0;
    std::atomic<bool> over{true};
  };

  Grid() = default;
  Status Open(Runtime* runtime, MPI_Comm comm);
  // Does not return with MPI still at it: what fails ends the job.
  void AwaitAll(const char* routine);
  // Looks how far the others are, who need not call; and what of that is here.
  Status LookAtOthers();
  Status FindWhoHasLeft();

  GridPlace place_;
  // A duplicate, lest the program's communicator has to serve where it is about to go. Null: nobody
  // is awaited.
  MPI_Comm comm_ = MPI_COMM_NULL;
  double report_seconds_ = 0;  // of a wait
  // How far this process is: twice the products of the grid to which it has come, and one more
  // while it leaves the last of them to the PBLAS. Others read it.
  std::atomic<int64_t> course_{0};
  std::vector<uint64_t> courses_;  // where they are, by rank
  std::unique_ptr<Look[]> looks_;  // at these; null: at none yet
  Settings::When when_ = Settings::When::kOff;
  bool is_row_by_row_ = false;
  Status outcome_;
  std::unique_ptr<Multiplier> multiplier_;
};

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_GRID_H_

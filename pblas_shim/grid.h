// Grid: this library's state of a BLACS context: the number of products that this rank has come to,
// and, from the first taken one on, a multiplier.
//
// It is attached to the context's communicator, and ends with it. The end of a context is local: a
// grid with a multiplier is kept until all of its ranks have ended theirs (HasEnded).

#ifndef BRIGADE_PBLAS_SHIM_GRID_H_
#define BRIGADE_PBLAS_SHIM_GRID_H_

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "windows/multiply/multiply.h"

namespace brigade {
namespace pblas {

class LeftProduct;
class Runtime;

struct GridPlace {
  int rows = 0;
  int cols = 0;
  int row = 0;
  int col = 0;
};

class Grid {
 public:
  // Local. `runtime` must outlive the grid. `comm` is the context's communicator.
  Grid(Runtime* runtime, MPI_Comm comm, const GridPlace& place);
  ~Grid();

  // Leaves the next product of the grid to the PBLAS. Local. `left` is destroyed when the PBLAS
  // have computed it.
  void LeaveProduct(const char* routine, LeftProduct* left);
  // Takes the next product of the grid. Collective. Returns when all ranks have come to it; over
  // our BLACS this holds for the first one only: in later ones Multiply waits for them. The job
  // ends, in the name of `routine`, if another rank has left this product to the PBLAS, is in
  // another one, or has ended the grid.
  void TakeProduct(const char* routine);

  // Whether the ranks of the communicator are numbered as a multiplier needs. Known, and equal on
  // all ranks, from the first TakeProduct on; assumed before.
  bool is_row_by_row() const { return is_row_by_row_; }
  // Why the first TakeProduct has made no multiplier although the calls of all ranks match: an
  // error, since the results of a program must not depend on the free memory of a machine. Equal on
  // all ranks.
  const Status& outcome() const { return outcome_; }
  // Null before the first TakeProduct, if !is_row_by_row(), and if outcome() fails.
  Multiplier* multiplier() const { return multiplier_.get(); }
  const GridPlace& place() const { return place_; }

  // Local: this rank has ended the context, whose communicator is freed.
  void End();
  // Returns whether all ranks have ended the grid, without waiting. It can be destroyed then,
  // without a message. REQUIRES: End().
  bool HasEnded() { return multiplier_ == nullptr || multiplier_->HasEnded(); }
  // At the end of MPI: the destructor sends no message from here on.
  void Abandon();

 private:
  friend class LeftProduct;
  using Clock = std::chrono::steady_clock;

  // The course of another rank, as it was read last.
  struct Look {
    int64_t course = 0;
    std::atomic<bool> over{true};  // whether the read is
    int64_t ahead_of = -1;         // this rank's course when it was first seen in a later product
  };

  void Open(const char* routine);
  Status MakeMultiplier();
  // Waits over `comm` until all ranks are in this rank's product. MPI progresses meanwhile: other
  // ranks may need messages of foreign BLACS from here before they come.
  void AwaitAll(const char* routine, MPI_Comm comm);
  // Called about once a second while a rank waits for others to come to a product. Prints a report
  // if it is due, and fails if another rank will not come.
  Status LookAtOthers();
  // Checks the next rank before there is a multiplier to read courses with: whether it is in the
  // PBLAS' part of this product. It has posted a receive there (LeftProduct), which a synchronous
  // send matches.
  Status QueryNextRank();
  int64_t product() const { return *course_ / 2; }
  int TagOfProduct() const;
  std::string NameOf(int rank) const;

  Runtime* const runtime_;
  const MPI_Comm context_comm_;  // until End
  const GridPlace place_;
  int rank_ = 0;  // in the communicator
  int ranks_ = 0;
  // This rank's course: twice the number of products of the grid to which it has come, plus one
  // while it leaves the last of them to the PBLAS. Other ranks read it.
  std::unique_ptr<std::atomic<int64_t>> course_;
  std::vector<uint64_t> courses_;  // addresses of the ranks' courses
  std::unique_ptr<Look[]> looks_;  // at these; null: there was none yet
  bool is_open_ = false;           // TakeProduct has returned once
  bool is_row_by_row_ = true;
  Status outcome_;
  // A duplicate over which AwaitAll waits; null: over our BLACS.
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Request question_ = MPI_REQUEST_NULL;  // of QueryNextRank
  bool has_asked_ = false;
  Clock::time_point reported_;
  std::unique_ptr<Multiplier> multiplier_;
};

// A product that is left to the PBLAS, while they compute it.
//
// On a grid without a multiplier it keeps a receive posted, from the previous rank and with a tag
// of this product. A rank that takes the product, and waits long for others, sends to the next rank
// synchronously: the send completes only if that receive exists. Of the ranks that take a product
// that others leave, at least one has a next rank that leaves it.
class LeftProduct {
 public:
  LeftProduct() = default;
  // The job ends if a rank has taken the product.
  ~LeftProduct();
  LeftProduct(const LeftProduct&) = delete;
  LeftProduct& operator=(const LeftProduct&) = delete;

 private:
  friend class Grid;

  const Grid* grid_ = nullptr;
  const char* routine_ = nullptr;
  MPI_Request receive_ = MPI_REQUEST_NULL;
};

}  // namespace pblas
}  // namespace brigade

#endif  // BRIGADE_PBLAS_SHIM_GRID_H_

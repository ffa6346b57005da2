// SUMMA: the product of square matrices that are distributed in blocks over a grid of ranks. In
// each step a chunk of A's columns and one of B's rows are sent to the ranks that need them, and
// their product is added to C.
//
// Sources: van de Geijn and Watts, SUMMA; ARMCI, section 3.2.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_SUMMA_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_SUMMA_H_

#include <mpi.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/contenders/one_sided.h"
#include "bench/studies/putget/pauses.h"
#include "membuf/status.h"

namespace brigade::bench {

class Summa {
 public:
  // Empty if there is a product of order `n` on so many ranks, otherwise why not.
  static std::string WhyNot(int n, int ranks);
  // Collective over `comm`. Chunks are at most `width` wide: less where the rank
  // that has them changes.
  Summa(MPI_Comm comm, int n, int width, const Pauses& pauses);
  ~Summa();
  Summa(const Summa&) = delete;
  Summa& operator=(const Summa&) = delete;

  // The memory that each rank exposes, with its blocks of A and B.
  int64_t WindowDoubles() const { return 2 * block_; }
  void FillWindow(double* memory) const;

  // Collective: C = A B, by MPI_Bcast along rows and columns of the grid.
  Status RunByBroadcasts();
  // Collective: C = A B, by gets. `ahead`: the next chunk is on its way while this one's product is
  // computed.
  Status RunByGets(OneSided* window, bool ahead);
  void ClearResult() { c_.assign(c_.size(), -1.0); }
  // Empty if the last run gave this rank's block of C bit by bit.
  std::string Check() const;

 private:
  struct Chunk {
    int width;
    int a_column;              // of the grid, whose ranks have it of A
    int b_row;                 // likewise of B
    int64_t a_place, b_place;  // in their windows
  };
  // Places for a chunk of each matrix.
  struct Arriving {
    std::vector<double> a, b;
    std::array<std::unique_ptr<Pending>, 2> pending;
  };

  void Expect();
  // C += a b. Chunks of A go by columns and chunks of B by rows, so that each lies together.
  void Add(const double* a, const double* b, int width);
  Status StartGets(OneSided* window, const Chunk& chunk, Arriving* arriving);
  Status Await(Arriving* arriving);

  int rank_ = 0;
  int rows_ = 1, columns_ = 1;  // of the grid
  int row_ = 0, column_ = 0;    // of the rank
  MPI_Comm row_comm_ = MPI_COMM_NULL, column_comm_ = MPI_COMM_NULL;
  const int n_;
  int local_rows_ = 0, local_columns_ = 0;
  int64_t block_ = 0;  // doubles of a rank's block
  std::vector<Chunk> chunks_;
  std::array<Arriving, 2> arriving_;
  Pauses pauses_;
  std::vector<double> a_, b_, c_, wanted_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_SUMMA_H_

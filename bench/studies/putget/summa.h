// SUMMA: the product of matrices that are distributed in blocks over a grid of ranks. In each step
// a chunk of A's columns and one of B's rows are sent to the ranks that need them, and their
// product is added to C.
//
// Sources: van de Geijn and Watts, SUMMA; ARMCI, section 3.2.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_SUMMA_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_SUMMA_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "membuf/status.h"

namespace brigade::bench {

class Summa {
 public:
  // The part of a chunk that is of one matrix.
  struct Piece {
    size_t matrix;  // 0: A, which goes along rows of the grid; 1: B, along columns
    int owner;      // the column of the grid whose ranks have it of A, the row of B
    int rank;       // the owner in this rank's row or column
    bool is_own;
    int64_t place;  // in the owner's window
    int64_t doubles;
  };
  // How chunks get to the ranks that need them.
  class Source {
   public:
    virtual ~Source() = default;
    // Whether ranks may take chunks in different orders.
    virtual bool is_one_sided() const = 0;
    // Called for all pieces, also those that this rank has, at `data`. Chunks under way at the same
    // time differ in `turn`, 0 or 1.
    virtual Status Start(const Piece& piece, double* data, size_t turn) = 0;
    virtual Status Await(size_t turn) = 0;
    // In virtual time, takes the time of so many operations.
    virtual bool TakesTimeOf(double /*operations*/) { return false; }
  };
  // c += a b', all without gaps: m x n, of m x k and n x k.
  using Kernel = void (*)(int m, int n, int k, const double* a, const double* b, double* c);

  // Empty if there is a product of order `n` on so many ranks, otherwise why not.
  static std::string WhyNot(int n, int ranks);
  // A and C are m x n, B is n x n. Chunks are at most `width` wide: less where the rank that has
  // them changes. In virtual time `kernel` is null, and matrices have no values.
  Summa(int m, int n, int width, int rank, int ranks, Kernel kernel);

  // The memory that each rank exposes, with its blocks of A and B.
  int64_t WindowDoubles() const { return static_cast<int64_t>(own_.size()); }
  void FillWindow(double* memory) const;

  // Collective: C = A B. `ahead`: the next chunk is on its way while this one's product is
  // computed.
  Status Run(Source* source, bool ahead);
  void ClearResult() { c_.assign(c_.size(), -1.0); }
  // Empty if the last run gave this rank's block of C bit by bit.
  std::string Check() const;

 private:
  struct Chunk {
    int width;
    std::array<Piece, 2> pieces;
  };

  void Expect();
  double* DataOf(const Piece& piece, size_t turn);

  const Kernel kernel_;
  const int n_;
  int columns_ = 1;           // of the grid
  int row_ = 0, column_ = 0;  // of the rank
  int local_rows_ = 0, local_columns_ = 0;
  int rows_of_b_ = 0;
  int64_t block_ = 0;  // doubles of a rank's block of A or C
  std::vector<Chunk> chunks_;
  std::array<std::array<std::vector<double>, 2>, 2> arriving_;  // by turn and matrix
  std::vector<double> own_;                                     // A, then B
  std::vector<double> c_, wanted_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_SUMMA_H_

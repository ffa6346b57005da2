// NAS CG: the smallest eigenvalue of a sparse matrix, by inverse iteration with conjugate
// gradients.
//
// Ranks are a grid, as wide as high or twice as wide, and each has a block of the matrix. A vector
// that is multiplied is cut among the columns of the grid, and each rank of a column has the part.
// Partial products are summed along the rows of the grid by recursive doubling. Each rank then gets
// the part of the sum that its column needs from one other rank.
//
// Non-blocking, a product goes in halves: while one is on its way the other is computed, or summed.
//
// Sources: RNR-91-002, section 2.4; NPB 2; ARMCI.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_CG_SOLVER_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_CG_SOLVER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/studies/putget/cg_matrix.h"
#include "bench/studies/putget/pair_exchange.h"
#include "membuf/status.h"

namespace brigade::bench {

class CgSolver {
 public:
  // Empty if a class can be solved by so many ranks, otherwise why not. In virtual time any power
  // of two of ranks can: blocks that do not divide are rounded up.
  static std::string WhyNot(const CgClass& of, int ranks);
  // Local.
  CgSolver(const CgClass& of, int rank, int ranks);
  // Local. Not needed in virtual time.
  void MakeMatrix() { MakeCgBlock(class_, &block_); }

  // Returns the channels of Run.
  const std::vector<Channel>& channels() const { return channels_; }
  // Collective: the whole benchmark.
  Status Run(PairExchange* exchange, bool ahead);
  // Empty if the last run found what verification expects.
  std::string Check() const;

 private:
  using Vector = std::vector<double>;
  static constexpr size_t kNoChannel = SIZE_MAX;

  // *q = matrix p; valid until the next product but one.
  Status Multiply(const Vector& p, const double** q);
  Status MultiplyInHalves(const Vector& p, const double** q);
  // Rows `first` to `end` of this rank's part of a product.
  void MultiplyRows(const Vector& p, int first, int end, double* result) const;
  // sum[i - first] = row i of what this rank sent in a stage + that of its partner.
  void Add(size_t stage, int first, int end, double* sum) const;
  // The part of a product that this rank's column of the grid needs, from `kept_` on, goes to the
  // partner of `transpose_`, if there is one, where it becomes part of *q.
  double* Kept();
  Status Transpose(const double** q);
  // Sums of both values over the rank's row of the grid; equal on all ranks.
  Status Sum(double* values);
  Status Solve(double* residual);

  const CgClass class_;
  CgBlock block_;
  double entries_ = 0;  // of a block, about
  std::vector<Channel> channels_;
  size_t stages_ = 0;  // channels of vectors; as many follow for sums
  size_t transpose_ = kNoChannel;
  int kept_ = 0;
  PairExchange* exchange_ = nullptr;
  bool ahead_ = false;
  Vector own_, x_, z_, r_, p_;
  double zeta_ = 0;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_CG_SOLVER_H_

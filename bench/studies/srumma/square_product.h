// SquareProduct: C = A B with a square C, of matrices that are distributed in blocks over a grid,
// by this library's multiplier, and by whichever pdgemm the process has.

#ifndef BRIGADE_BENCH_STUDIES_SRUMMA_SQUARE_PRODUCT_H_
#define BRIGADE_BENCH_STUDIES_SRUMMA_SQUARE_PRODUCT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "windows/core/window.h"
#include "windows/message/window_space.h"
#include "windows/multiply/multiply.h"
#include "windows/multiply/multiply_call.h"

namespace brigade::bench {

// A grid of the BLACS that the process has.
class BlacsContext {
 public:
  // Collective over all ranks, which number themselves row by row.
  BlacsContext(int rows, int cols);
  ~BlacsContext();
  BlacsContext(const BlacsContext&) = delete;
  BlacsContext& operator=(const BlacsContext&) = delete;

  int context() const { return context_; }

 private:
  int context_ = 0;
};

class SquareProduct {
 public:
  struct Shape {
    int rows = 1;  // of the grid
    int cols = 1;
    int n = 1;      // rows of A and C, columns of B and C
    int k = 1;      // columns of A, rows of B
    int block = 1;  // rows and columns of each
  };

  // Collective. Matrices are in memory that their host shares. All must outlive it.
  static Status Create(WindowSpace* space, Bootstrap* bootstrap, const Shape& shape, int rank,
                       std::unique_ptr<SquareProduct>* product);
  Status Free() { return window_->Free(); }

  void ClearResult();
  // Collective.
  Status RunByMultiplier(Multiplier* multiplier, const MultiplyOptions& options);
  void RunByPdgemm(const BlacsContext& grid);
  // As much arithmetic as this rank's share, on memory of its own.
  void RunAlone();
  // Empty if the last product gave this rank's part of C bit by bit; and of RunAlone.
  std::string Check() const;
  std::string CheckAlone() const;

  // That a rank must get from others, at most.
  int64_t BytesToFetch() const;

  // Of A and of B, which are equal, and of C.
  static double Entry(int64_t i, int64_t j) { return RowTerm(i) + ColTerm(j); }
  double Expected(int64_t i, int64_t j) const;
  // Row and column numbers are so small that all sums are exact.
  static double RowTerm(int64_t i) { return static_cast<double>(i % 7) - 3; }
  static double ColTerm(int64_t j) { return static_cast<double>(j % 5) - 2; }

  // For other products of the same matrices. Of C, and of a matrix that is rows x cols.
  const Shape& shape() const { return shape_; }
  const std::vector<int64_t>& own_rows() const { return own_rows_; }
  const std::vector<int64_t>& own_cols() const { return own_cols_; }
  double* a() const;
  double* c() const;
  std::vector<int> DescriptorOf(const BlacsContext& grid, int rows, int cols) const;
  DistributedMatrix MatrixOf(double* data, int rows, int cols) const;

 private:
  SquareProduct(const Shape& shape, int rank);
  void Fill();
  // All of those that this rank has.
  std::vector<int64_t> OwnIndices(int count, int coord, int coords) const;
  // Of a part that has so many rows.
  static int64_t LdOf(const std::vector<int64_t>& own) {
    return own.empty() ? 1 : static_cast<int64_t>(own.size());
  }
  double* b() const;

  const Shape shape_;
  const int row_;
  const int col_;
  std::vector<int64_t> own_rows_;
  std::vector<int64_t> own_cols_;
  std::vector<int64_t> own_cols_of_a_;
  std::vector<int64_t> own_rows_of_b_;
  double row_terms_ = 0;  // sums over all of them
  double col_terms_ = 0;
  double crossed_ = 0;
  std::unique_ptr<Window> window_;
  std::vector<double> alone_a_, alone_b_, alone_c_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_SRUMMA_SQUARE_PRODUCT_H_

// Block-cyclic matrices of doubles on a process grid.

#ifndef BRIGADE_BENCH_SCALAPACK_MATRIX_H_
#define BRIGADE_BENCH_SCALAPACK_MATRIX_H_

#include <functional>
#include <vector>

namespace brigade::bench {

struct Grid {
  int context, rows, cols, row, col;
};

// A block-cyclic matrix of doubles.
class Matrix {
 public:
  Matrix(const Grid& grid, int rows, int cols, int block);

  // Sets every element from its global indices; no communication.
  void Set(const std::function<double(int i, int j)>& value);

  // Subtracts from every column that of `other`, of the same shape, times the column's factor.
  void SubtractScaled(const Matrix& other, const std::vector<double>& factors);

  double* data() { return local_.data(); }
  const int* desc() const { return desc_; }
  int local_rows() const { return local_rows_; }
  int local_cols() const { return local_cols_; }

 private:
  int Global(int local, int coord, int coords) const {
    return (local / block_ * coords + coord) * block_ + local % block_;
  }

  Grid grid_;
  int block_;
  int local_rows_, local_cols_;
  int desc_[9];
  std::vector<double> local_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SCALAPACK_MATRIX_H_

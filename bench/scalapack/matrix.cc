#include "bench/scalapack/matrix.h"

#include <algorithm>

extern "C" {
int numroc_(const int* n, const int* nb, const int* coord, const int* source, const int* coords);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* rsrc,
               const int* csrc, const int* context, const int* lld, int* info);
}

namespace brigade::bench {

namespace {

constexpr int kZero = 0;

}  // namespace

Matrix::Matrix(const Grid& grid, int rows, int cols, int block) : grid_(grid), block_(block) {
  local_rows_ = numroc_(&rows, &block, &grid.row, &kZero, &grid.rows);
  local_cols_ = numroc_(&cols, &block, &grid.col, &kZero, &grid.cols);
  const int ld = std::max(local_rows_, 1);
  int info;
  descinit_(desc_, &rows, &cols, &block, &block, &kZero, &kZero, &grid.context, &ld, &info);
  local_.resize(static_cast<size_t>(ld) * std::max(local_cols_, 1));
}

void Matrix::Set(const std::function<double(int i, int j)>& value) {
  for (int j = 0; j < local_cols_; ++j) {
    for (int i = 0; i < local_rows_; ++i) {
      local_[static_cast<size_t>(j) * std::max(local_rows_, 1) + i] =
          value(Global(i, grid_.row, grid_.rows), Global(j, grid_.col, grid_.cols));
    }
  }
}

void Matrix::SubtractScaled(const Matrix& other, const std::vector<double>& factors) {
  const size_t ld = std::max(local_rows_, 1);
  for (int j = 0; j < local_cols_; ++j) {
    const double factor = factors[Global(j, grid_.col, grid_.cols)];
    for (int i = 0; i < local_rows_; ++i) local_[j * ld + i] -= factor * other.local_[j * ld + i];
  }
}

}  // namespace brigade::bench

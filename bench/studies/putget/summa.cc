#include "bench/studies/putget/summa.h"

#include <algorithm>

#include "bench/studies/putget/grid_rows.h"

namespace brigade::bench {
namespace {

// Integers, so that no order of summation rounds: all variants must give the same bits.
double Element(int64_t row, int64_t column, int64_t which) {
  const auto x = static_cast<uint64_t>(row * 7919 + column * 104729 + which * 1299709);
  return static_cast<double>((x * 0x9e3779b97f4a7c15u) >> 54) - 512;
}

}  // namespace

std::string Summa::WhyNot(int n, int ranks) {
  const int rows = GridRows(ranks);
  if (n % rows == 0 && n % (ranks / rows) == 0) return "";
  return "SUMMA: order " + std::to_string(n) + " does not divide by the grid of " +
         std::to_string(rows) + " x " + std::to_string(ranks / rows) + " ranks";
}

Summa::Summa(int m, int n, int width, int rank, int ranks, Kernel kernel) : kernel_(kernel), n_(n) {
  const int rows = GridRows(ranks);
  columns_ = ranks / rows;
  row_ = rank / columns_;
  column_ = rank % columns_;
  local_rows_ = m / rows;
  local_columns_ = n / columns_;
  rows_of_b_ = n / rows;
  block_ = int64_t{local_rows_} * local_columns_;

  for (int first = 0; first < n;) {
    const int a_column = first / local_columns_;
    const int b_row = first / rows_of_b_;
    const int end =
        std::min({first + width, (a_column + 1) * local_columns_, (b_row + 1) * rows_of_b_});
    const int64_t own_width = end - first;
    const Piece of_a = {0,
                        a_column,
                        row_ * columns_ + a_column,
                        a_column == column_,
                        int64_t{first % local_columns_} * local_rows_,
                        own_width * local_rows_};
    const Piece of_b = {1,
                        b_row,
                        b_row * columns_ + column_,
                        b_row == row_,
                        block_ + int64_t{first % rows_of_b_} * local_columns_,
                        own_width * local_columns_};
    chunks_.push_back({end - first, {of_a, of_b}});
    first = end;
  }
  if (kernel == nullptr) return;
  for (auto& arriving : arriving_) {
    arriving[0].resize(static_cast<size_t>(local_rows_) * static_cast<size_t>(width));
    arriving[1].resize(static_cast<size_t>(local_columns_) * static_cast<size_t>(width));
  }
  own_.resize(static_cast<size_t>(block_ + int64_t{rows_of_b_} * local_columns_));
  c_.resize(static_cast<size_t>(block_));
  Expect();
}

// Makes this rank's A and B, and what its part of the product is.
void Summa::Expect() {
  const auto n = static_cast<size_t>(n_);
  const auto rows = static_cast<size_t>(local_rows_), columns = static_cast<size_t>(local_columns_);
  const int64_t first_row = int64_t{row_} * local_rows_;
  const int64_t first_column = int64_t{column_} * local_columns_;
  std::vector<double> a(rows * n), b(columns * n);
  for (size_t k = 0; k < n; ++k) {
    const auto at = static_cast<int64_t>(k);
    for (size_t i = 0; i < rows; ++i) {
      a[k * rows + i] = Element(first_row + static_cast<int64_t>(i), at, 0);
    }
    for (size_t j = 0; j < columns; ++j) {
      b[k * columns + j] = Element(at, first_column + static_cast<int64_t>(j), 1);
    }
  }
  const auto first_of_b = static_cast<size_t>(row_ * rows_of_b_) * columns;
  std::copy_n(&a[static_cast<size_t>(first_column) * rows], block_, own_.begin());
  std::copy_n(&b[first_of_b], WindowDoubles() - block_, own_.begin() + block_);
  kernel_(local_rows_, local_columns_, n_, a.data(), b.data(), c_.data());
  wanted_ = c_;
}

void Summa::FillWindow(double* memory) const { std::copy(own_.begin(), own_.end(), memory); }

double* Summa::DataOf(const Piece& piece, size_t turn) {
  if (kernel_ == nullptr) return nullptr;
  return piece.is_own ? own_.data() + piece.place : arriving_[turn][piece.matrix].data();
}

Status Summa::Run(Source* source, bool ahead) {
  c_.assign(c_.size(), 0.0);
  // Each begins elsewhere, so that not all get from the same rank at once.
  const size_t count = chunks_.size();
  const size_t shift = source->is_one_sided() ? count * static_cast<size_t>(row_ + column_) /
                                                    static_cast<size_t>(columns_)
                                              : 0;
  const auto chunk_of = [&](size_t step) -> const Chunk& {
    return chunks_[(step + shift) % count];
  };
  const auto start = [&](size_t step) {
    if (step >= count) return Status();
    for (const Piece& piece : chunk_of(step).pieces) {
      BRIGADE_RETURN_IF_ERROR(source->Start(piece, DataOf(piece, step % 2), step % 2));
    }
    return Status();
  };
  if (ahead) BRIGADE_RETURN_IF_ERROR(start(0));
  for (size_t step = 0; step < count; ++step) {
    BRIGADE_RETURN_IF_ERROR(start(ahead ? step + 1 : step));
    BRIGADE_RETURN_IF_ERROR(source->Await(step % 2));
    const auto& [width, pieces] = chunk_of(step);
    if (source->TakesTimeOf(2.0 * local_rows_ * local_columns_ * width)) continue;
    kernel_(local_rows_, local_columns_, width, DataOf(pieces[0], step % 2),
            DataOf(pieces[1], step % 2), c_.data());
  }
  return Status();
}

std::string Summa::Check() const {
  for (size_t i = 0; i < c_.size(); ++i) {
    if (c_[i] != wanted_[i]) {
      return "element " + std::to_string(i) + " is " + std::to_string(c_[i]) + ", not " +
             std::to_string(wanted_[i]);
    }
  }
  return "";
}

}  // namespace brigade::bench

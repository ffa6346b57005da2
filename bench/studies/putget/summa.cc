#include "bench/studies/putget/summa.h"

#include <algorithm>

#include "bench/studies/putget/grid_rows.h"

extern "C" void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n,
                       const int* k, const double* alpha, const double* a, const int* lda,
                       const double* b, const int* ldb, const double* beta, double* c,
                       const int* ldc);

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

Summa::Summa(MPI_Comm comm, int n, int width, const Pauses& pauses) : n_(n), pauses_(pauses) {
  int ranks;
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks);
  rows_ = GridRows(ranks);
  columns_ = ranks / rows_;
  row_ = rank_ / columns_;
  column_ = rank_ % columns_;
  MPI_Comm_split(comm, row_, column_, &row_comm_);
  MPI_Comm_split(comm, column_, row_, &column_comm_);
  local_rows_ = n / rows_;
  local_columns_ = n / columns_;
  block_ = int64_t{local_rows_} * local_columns_;

  for (int first = 0; first < n;) {
    Chunk chunk;
    chunk.a_column = first / local_columns_;
    chunk.b_row = first / local_rows_;
    const int end = std::min(
        {first + width, (chunk.a_column + 1) * local_columns_, (chunk.b_row + 1) * local_rows_});
    chunk.width = end - first;
    chunk.a_place = int64_t{first % local_columns_} * local_rows_;
    chunk.b_place = block_ + int64_t{first % local_rows_} * local_columns_;
    chunks_.push_back(chunk);
    first = end;
  }
  for (Arriving& arriving : arriving_) {
    arriving.a.resize(static_cast<size_t>(local_rows_) * static_cast<size_t>(width));
    arriving.b.resize(static_cast<size_t>(local_columns_) * static_cast<size_t>(width));
  }
  for (std::vector<double>* matrix : {&a_, &b_, &c_}) matrix->resize(static_cast<size_t>(block_));
  Expect();
}

Summa::~Summa() {
  MPI_Comm_free(&column_comm_);
  MPI_Comm_free(&row_comm_);
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
  std::copy_n(&a[static_cast<size_t>(first_column) * rows], a_.size(), a_.begin());
  std::copy_n(&b[static_cast<size_t>(first_row) * columns], b_.size(), b_.begin());
  c_.assign(c_.size(), 0.0);
  Add(a.data(), b.data(), n_);
  wanted_ = c_;
}

void Summa::FillWindow(double* memory) const {
  std::copy(b_.begin(), b_.end(), std::copy(a_.begin(), a_.end(), memory));
}

void Summa::Add(const double* a, const double* b, int width) {
  const double one = 1;
  dgemm_("N", "T", &local_rows_, &local_columns_, &width, &one, a, &local_rows_, b, &local_columns_,
         &one, c_.data(), &local_rows_);
}

Status Summa::RunByBroadcasts() {
  c_.assign(c_.size(), 0.0);
  for (const Chunk& chunk : chunks_) {
    double* a = arriving_[0].a.data();
    double* b = arriving_[0].b.data();
    if (chunk.a_column == column_) a = &a_[static_cast<size_t>(chunk.a_place)];
    if (chunk.b_row == row_) b = &b_[static_cast<size_t>(chunk.b_place - block_)];
    MPI_Bcast(a, local_rows_ * chunk.width, MPI_DOUBLE, chunk.a_column, row_comm_);
    MPI_Bcast(b, local_columns_ * chunk.width, MPI_DOUBLE, chunk.b_row, column_comm_);
    Add(a, b, chunk.width);
  }
  return Status();
}

Status Summa::StartGets(OneSided* window, const Chunk& chunk, Arriving* arriving) {
  pauses_.Take();
  const int a_rank = row_ * columns_ + chunk.a_column;
  const int b_rank = chunk.b_row * columns_ + column_;
  if (a_rank != rank_) {
    BRIGADE_RETURN_IF_ERROR(window->StartGet(arriving->a.data(), int64_t{local_rows_} * chunk.width,
                                             a_rank, chunk.a_place, &arriving->pending[0]));
  }
  if (b_rank != rank_) {
    BRIGADE_RETURN_IF_ERROR(window->StartGet(arriving->b.data(),
                                             int64_t{local_columns_} * chunk.width, b_rank,
                                             chunk.b_place, &arriving->pending[1]));
  }
  return Status();
}

Status Summa::Await(Arriving* arriving) {
  pauses_.Take();
  for (auto& pending : arriving->pending) {
    if (pending) BRIGADE_RETURN_IF_ERROR(pending->Wait());
    pending.reset();
  }
  return Status();
}

Status Summa::RunByGets(OneSided* window, bool ahead) {
  c_.assign(c_.size(), 0.0);
  // Each begins elsewhere, so that not all get from the same rank at once.
  const size_t count = chunks_.size();
  const size_t shift = count * static_cast<size_t>(row_ + column_) / static_cast<size_t>(columns_);
  const auto chunk_of = [&](size_t step) -> const Chunk& {
    return chunks_[(step + shift) % count];
  };
  if (ahead) BRIGADE_RETURN_IF_ERROR(StartGets(window, chunk_of(0), arriving_.data()));
  for (size_t step = 0; step < count; ++step) {
    Arriving* const arriving = &arriving_[step % 2];
    const Chunk& chunk = chunk_of(step);
    if (!ahead) {
      BRIGADE_RETURN_IF_ERROR(StartGets(window, chunk, arriving));
    } else if (step + 1 < count) {
      BRIGADE_RETURN_IF_ERROR(StartGets(window, chunk_of(step + 1), &arriving_[(step + 1) % 2]));
    }
    BRIGADE_RETURN_IF_ERROR(Await(arriving));
    Add(chunk.a_column == column_ ? &a_[static_cast<size_t>(chunk.a_place)] : arriving->a.data(),
        chunk.b_row == row_ ? &b_[static_cast<size_t>(chunk.b_place - block_)] : arriving->b.data(),
        chunk.width);
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

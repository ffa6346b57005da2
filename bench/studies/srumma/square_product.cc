#include "bench/studies/srumma/square_product.h"

#include <algorithm>
#include <utility>

extern "C" {
void blacs_get_(const int* context, const int* what, int* value);
void blacs_gridinit_(int* context, const char* order, const int* rows, const int* cols);
void blacs_gridexit_(const int* context);
void dgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb,
            const double* beta, double* c, const int* ldc);
void pdgemm_(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
             const double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
}

namespace brigade::bench {
namespace {

constexpr double kOne = 1;
constexpr double kZero = 0;
constexpr double kUnset = -1e9;

}  // namespace

BlacsContext::BlacsContext(int rows, int cols) {
  constexpr int kNoContext = -1;
  constexpr int kDefault = 0;
  blacs_get_(&kNoContext, &kDefault, &context_);
  blacs_gridinit_(&context_, "Row", &rows, &cols);
}

BlacsContext::~BlacsContext() { blacs_gridexit_(&context_); }

SquareProduct::SquareProduct(const Shape& shape, int rank)
    : shape_(shape),
      row_(rank / shape.cols),
      col_(rank % shape.cols),
      own_rows_(OwnIndices(shape.n, row_, shape.rows)),
      own_cols_(OwnIndices(shape.n, col_, shape.cols)),
      own_cols_of_a_(OwnIndices(shape.k, col_, shape.cols)),
      own_rows_of_b_(OwnIndices(shape.k, row_, shape.rows)) {
  for (int64_t i = 0; i < shape.k; ++i) {
    row_terms_ += RowTerm(i);
    col_terms_ += ColTerm(i);
    crossed_ += RowTerm(i) * ColTerm(i);
  }
}

Status SquareProduct::Create(WindowSpace* space, Bootstrap* bootstrap, const Shape& shape, int rank,
                             std::unique_ptr<SquareProduct>* product) {
  std::unique_ptr<SquareProduct> made(new SquareProduct(shape, rank));
  WindowOptions options;
  options.kind = WindowMemory::kShared;
  const size_t of_a = made->own_rows_.size() * made->own_cols_of_a_.size();
  const size_t of_b = made->own_rows_of_b_.size() * made->own_cols_.size();
  const size_t of_c = made->own_rows_.size() * made->own_cols_.size();
  options.bytes = (of_a + of_b + of_c) * sizeof(double);
  BRIGADE_RETURN_IF_ERROR(Window::Create(space, bootstrap, options, &made->window_));
  made->Fill();
  *product = std::move(made);
  return Status();
}

std::vector<int64_t> SquareProduct::OwnIndices(int count, int coord, int coords) const {
  std::vector<int64_t> own;
  for (int64_t i = 0; i < count; ++i) {
    if (i / shape_.block % coords == coord) own.push_back(i);
  }
  return own;
}

double* SquareProduct::a() const { return reinterpret_cast<double*>(window_->base()); }
double* SquareProduct::b() const { return a() + own_rows_.size() * own_cols_of_a_.size(); }
double* SquareProduct::c() const { return b() + own_rows_of_b_.size() * own_cols_.size(); }

// A(i, k) = r(i) + s(k), B(k, j) = r(k) + s(j).
void SquareProduct::Fill() {
  double* at = a();
  for (const int64_t k : own_cols_of_a_) {
    for (const int64_t i : own_rows_) *at++ = Entry(i, k);
  }
  at = b();
  for (const int64_t j : own_cols_) {
    for (const int64_t k : own_rows_of_b_) *at++ = Entry(k, j);
  }
}

double SquareProduct::Expected(int64_t i, int64_t j) const {
  return RowTerm(i) * row_terms_ + static_cast<double>(shape_.k) * RowTerm(i) * ColTerm(j) +
         crossed_ + ColTerm(j) * col_terms_;
}

void SquareProduct::ClearResult() {
  std::fill_n(c(), own_rows_.size() * own_cols_.size(), kUnset);
  std::fill(alone_c_.begin(), alone_c_.end(), kUnset);
}

std::string SquareProduct::Check() const {
  const double* at = c();
  for (const int64_t j : own_cols_) {
    for (const int64_t i : own_rows_) {
      if (*at++ == Expected(i, j)) continue;
      return "C(" + std::to_string(i) + ", " + std::to_string(j) + ") is " +
             std::to_string(*(at - 1)) + ", not " + std::to_string(Expected(i, j));
    }
  }
  return "";
}

DistributedMatrix SquareProduct::MatrixOf(double* data, int rows, int cols) const {
  DistributedMatrix matrix;
  matrix.data = reinterpret_cast<std::byte*>(data);
  matrix.rows = rows;
  matrix.cols = cols;
  matrix.row_block = matrix.col_block = shape_.block;
  matrix.ld = LdOf(rows == shape_.n ? own_rows_ : own_rows_of_b_);
  matrix.window = window_.get();
  return matrix;
}

std::vector<int> SquareProduct::DescriptorOf(const BlacsContext& grid, int rows, int cols) const {
  constexpr int kBlockCyclic = 1;
  const int64_t ld = LdOf(rows == shape_.n ? own_rows_ : own_rows_of_b_);
  return {kBlockCyclic,        grid.context(), rows, cols, shape_.block, shape_.block, 0, 0,
          static_cast<int>(ld)};
}

Status SquareProduct::RunByMultiplier(Multiplier* multiplier, const MultiplyOptions& options) {
  MultiplyCall call;
  call.m = call.n = shape_.n;
  call.k = shape_.k;
  call.alpha = &kOne;
  call.beta = &kZero;
  call.a = MatrixOf(a(), shape_.n, shape_.k);
  call.b = MatrixOf(b(), shape_.k, shape_.n);
  call.c = MatrixOf(c(), shape_.n, shape_.n);
  return multiplier->Multiply(call, options);
}

void SquareProduct::RunByPdgemm(const BlacsContext& grid) {
  constexpr int kFirst = 1;
  const int n = shape_.n;
  const int k = shape_.k;
  const std::vector<int> of_a = DescriptorOf(grid, n, k);
  const std::vector<int> of_b = DescriptorOf(grid, k, n);
  const std::vector<int> of_c = DescriptorOf(grid, n, n);
  pdgemm_("N", "N", &n, &n, &k, &kOne, a(), &kFirst, &kFirst, of_a.data(), b(), &kFirst, &kFirst,
          of_b.data(), &kZero, c(), &kFirst, &kFirst, of_c.data());
}

// A of ones and B of twos.
void SquareProduct::RunAlone() {
  const int m = static_cast<int>(own_rows_.size());
  const int n = static_cast<int>(own_cols_.size());
  const int k = shape_.k;
  if (m == 0 || n == 0) return;
  if (alone_c_.empty()) {
    alone_a_.assign(static_cast<size_t>(m) * static_cast<size_t>(k), 1);
    alone_b_.assign(static_cast<size_t>(n) * static_cast<size_t>(k), 2);
    alone_c_.assign(static_cast<size_t>(m) * static_cast<size_t>(n), kUnset);
  }
  dgemm_("N", "N", &m, &n, &k, &kOne, alone_a_.data(), &m, alone_b_.data(), &k, &kZero,
         alone_c_.data(), &m);
}

std::string SquareProduct::CheckAlone() const {
  const bool is_right = std::all_of(alone_c_.begin(), alone_c_.end(),
                                    [&](double value) { return value == 2.0 * shape_.k; });
  return is_right ? "" : "dgemm computes something else";
}

int64_t SquareProduct::BytesToFetch() const {
  const auto of_first = [this](int count, int coords) {
    return static_cast<int64_t>(OwnIndices(count, 0, coords).size());
  };
  const auto element = static_cast<int64_t>(sizeof(double));
  return element * (of_first(shape_.n, shape_.rows) * (shape_.k - of_first(shape_.k, shape_.cols)) +
                    of_first(shape_.n, shape_.cols) * (shape_.k - of_first(shape_.k, shape_.rows)));
}

}  // namespace brigade::bench

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
    : shape_(shape), row_(rank / shape.cols), col_(rank % shape.cols) {
  own_rows_ = OwnIndices(row_, shape.rows);
  own_cols_ = OwnIndices(col_, shape.cols);
  for (int64_t i = 0; i < shape.n; ++i) {
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
  options.bytes = 3 * static_cast<size_t>(made->ld()) * made->own_cols_.size() * sizeof(double);
  BRIGADE_RETURN_IF_ERROR(Window::Create(space, bootstrap, options, &made->window_));
  made->Fill();
  *product = std::move(made);
  return Status();
}

std::vector<int64_t> SquareProduct::OwnIndices(int coord, int coords) const {
  std::vector<int64_t> own;
  for (int64_t i = 0; i < shape_.n; ++i) {
    if (i / shape_.block % coords == coord) own.push_back(i);
  }
  return own;
}

int64_t SquareProduct::ld() const {
  return std::max<int64_t>(1, static_cast<int64_t>(own_rows_.size()));
}
double* SquareProduct::a() const { return reinterpret_cast<double*>(window_->base()); }
double* SquareProduct::b() const { return a() + ld() * static_cast<int64_t>(own_cols_.size()); }
double* SquareProduct::c() const { return b() + ld() * static_cast<int64_t>(own_cols_.size()); }

// A(i, k) = r(i) + s(k), B(k, j) = r(k) + s(j).
void SquareProduct::Fill() {
  double* a_at = a();
  double* b_at = b();
  for (const int64_t j : own_cols_) {
    for (const int64_t i : own_rows_) *a_at++ = *b_at++ = Entry(i, j);
  }
}

double SquareProduct::Expected(int64_t i, int64_t j) const {
  return RowTerm(i) * row_terms_ + static_cast<double>(shape_.n) * RowTerm(i) * ColTerm(j) +
         crossed_ + ColTerm(j) * col_terms_;
}

void SquareProduct::ClearResult() {
  std::fill(c(), c() + ld() * static_cast<int64_t>(own_cols_.size()), kUnset);
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

Status SquareProduct::RunByMultiplier(Multiplier* multiplier, const MultiplyOptions& options) {
  MultiplyCall call;
  call.m = call.n = call.k = shape_.n;
  call.alpha = &kOne;
  call.beta = &kZero;
  DistributedMatrix matrix;
  matrix.rows = matrix.cols = shape_.n;
  matrix.row_block = matrix.col_block = shape_.block;
  matrix.ld = ld();
  matrix.window = window_.get();
  call.a = call.b = call.c = matrix;
  call.a.data = reinterpret_cast<std::byte*>(a());
  call.b.data = reinterpret_cast<std::byte*>(b());
  call.c.data = reinterpret_cast<std::byte*>(c());
  return multiplier->Multiply(call, options);
}

void SquareProduct::RunByPdgemm(const BlacsContext& grid) {
  constexpr int kBlockCyclic = 1;
  constexpr int kFirst = 1;
  const int descriptor[] = {kBlockCyclic,          grid.context(), shape_.n, shape_.n,
                            shape_.block,          shape_.block,   0,        0,
                            static_cast<int>(ld())};
  pdgemm_("N", "N", &shape_.n, &shape_.n, &shape_.n, &kOne, a(), &kFirst, &kFirst, descriptor, b(),
          &kFirst, &kFirst, descriptor, &kZero, c(), &kFirst, &kFirst, descriptor);
}

// A of ones and B of twos.
void SquareProduct::RunAlone() {
  const int m = static_cast<int>(own_rows_.size());
  const int n = static_cast<int>(own_cols_.size());
  if (m == 0 || n == 0) return;
  if (alone_c_.empty()) {
    alone_a_.assign(static_cast<size_t>(m) * static_cast<size_t>(shape_.n), 1);
    alone_b_.assign(static_cast<size_t>(n) * static_cast<size_t>(shape_.n), 2);
    alone_c_.assign(static_cast<size_t>(m) * static_cast<size_t>(n), kUnset);
  }
  dgemm_("N", "N", &m, &n, &shape_.n, &kOne, alone_a_.data(), &m, alone_b_.data(), &shape_.n,
         &kZero, alone_c_.data(), &m);
}

std::string SquareProduct::CheckAlone() const {
  const bool is_right = std::all_of(alone_c_.begin(), alone_c_.end(),
                                    [&](double value) { return value == 2.0 * shape_.n; });
  return is_right ? "" : "dgemm computes something else";
}

int64_t SquareProduct::BytesToFetch() const {
  const auto rows = static_cast<int64_t>(OwnIndices(0, shape_.rows).size());
  const auto cols = static_cast<int64_t>(OwnIndices(0, shape_.cols).size());
  const auto element = static_cast<int64_t>(sizeof(double));
  return element * (rows * (shape_.n - cols) + cols * (shape_.n - rows));
}

}  // namespace brigade::bench

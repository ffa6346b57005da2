#include "bench/studies/srumma/half_product.h"

#include <algorithm>

#include "windows/multiply/multiply_call.h"

extern "C" {
void pdsyrk_(const char* half, const char* op, const int* n, const int* k, const double* alpha,
             const double* a, const int* ia, const int* ja, const int* desca, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
void pdtrmm_(const char* side, const char* half, const char* op, const char* diagonal, const int* m,
             const int* n, const double* alpha, const double* a, const int* ia, const int* ja,
             const int* desca, double* b, const int* ib, const int* jb, const int* descb);
}

namespace brigade::bench {
namespace {

constexpr double kOne = 1;
constexpr double kZero = 0;
constexpr int kFirst = 1;

}  // namespace

HalfProduct::HalfProduct(const SquareProduct* of) : of_(of), n_(of->shape().n) {
  double row = 0;
  double col = 0;
  double crossed = 0;
  double square = 0;
  for (int64_t i = 0; i < n_; ++i) {
    const double r = SquareProduct::RowTerm(i);
    const double s = SquareProduct::ColTerm(i);
    rows_.push_back(row += r);
    cols_.push_back(col += s);
    crossed_.push_back(crossed += r * s);
    squares_.push_back(square += s * s);
  }
}

void HalfProduct::Prepare() {
  double* at = of_->c();
  for (const int64_t j : of_->own_cols()) {
    for (const int64_t i : of_->own_rows()) *at++ = SquareProduct::Entry(i, j);
  }
}

void HalfProduct::Clear() {
  std::fill_n(of_->c(), of_->own_rows().size() * of_->own_cols().size(), 0);
}

Status HalfProduct::RunWhole(Multiplier* multiplier) const {
  MultiplyCall call;
  call.op_b = Transpose::kYes;
  call.m = call.n = call.k = n_;
  call.alpha = &kOne;
  call.beta = &kZero;
  call.a = call.b = of_->MatrixOf(of_->a(), n_, n_);
  call.c = of_->MatrixOf(of_->c(), n_, n_);
  return multiplier->Multiply(call);
}

void HalfProduct::RunSyrk(const BlacsContext& grid) const {
  const std::vector<int> descriptor = of_->DescriptorOf(grid, n_, n_);
  pdsyrk_("L", "N", &n_, &n_, &kOne, of_->a(), &kFirst, &kFirst, descriptor.data(), &kZero,
          of_->c(), &kFirst, &kFirst, descriptor.data());
}

void HalfProduct::RunTrmm(const BlacsContext& grid) const {
  const std::vector<int> descriptor = of_->DescriptorOf(grid, n_, n_);
  pdtrmm_("L", "L", "N", "N", &n_, &n_, &kOne, of_->a(), &kFirst, &kFirst, descriptor.data(),
          of_->c(), &kFirst, &kFirst, descriptor.data());
}

// The sum over k of (r(i) + s(k)) (r(j) + s(k)).
double HalfProduct::Symmetric(int64_t i, int64_t j) const {
  const double a = SquareProduct::RowTerm(i);
  const double b = SquareProduct::RowTerm(j);
  return n_ * a * b + (a + b) * cols_.back() + squares_.back();
}

// The sum over k up to i of (r(i) + s(k)) (r(k) + s(j)).
double HalfProduct::Triangular(int64_t i, int64_t j) const {
  const auto at = static_cast<size_t>(i);
  const double r = SquareProduct::RowTerm(i);
  const double s = SquareProduct::ColTerm(j);
  return r * rows_[at] + static_cast<double>(i + 1) * r * s + crossed_[at] + s * cols_[at];
}

std::string HalfProduct::Check(bool is_lower,
                               double (HalfProduct::*expected)(int64_t, int64_t) const) const {
  const double* at = of_->c();
  for (const int64_t j : of_->own_cols()) {
    for (const int64_t i : of_->own_rows()) {
      const double value = *at++;
      if ((is_lower && i < j) || value == (this->*expected)(i, j)) continue;
      return "C(" + std::to_string(i) + ", " + std::to_string(j) + ") is " + std::to_string(value) +
             ", not " + std::to_string((this->*expected)(i, j));
    }
  }
  return "";
}

}  // namespace brigade::bench

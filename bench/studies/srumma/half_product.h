// HalfProduct: what PBLAS compute with half of a product's arithmetic, P?SYRK and P?TRMM, and the
// whole product A Aᵀ by gets, which shows what one of them by gets could take.

#ifndef BRIGADE_BENCH_STUDIES_SRUMMA_HALF_PRODUCT_H_
#define BRIGADE_BENCH_STUDIES_SRUMMA_HALF_PRODUCT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "bench/studies/srumma/square_product.h"
#include "membuf/status.h"
#include "windows/multiply/multiply.h"

namespace brigade::bench {

class HalfProduct {
 public:
  // Of the A and the C of `of`, which has k = n and must outlive it.
  explicit HalfProduct(const SquareProduct* of);

  // C = A, which pdtrmm multiplies in place; or 0, which stays so however often it does.
  void Prepare();
  void Clear();
  // Collective.
  Status RunWhole(Multiplier* multiplier) const;  // C = A Aᵀ
  void RunSyrk(const BlacsContext& grid) const;   // its lower half
  void RunTrmm(const BlacsContext& grid) const;   // C = L C, L being A's lower half
  // Empty if this rank's part of C is right bit by bit.
  std::string CheckWhole() const { return Check(/*is_lower=*/false, &HalfProduct::Symmetric); }
  std::string CheckSyrk() const { return Check(/*is_lower=*/true, &HalfProduct::Symmetric); }
  std::string CheckTrmm() const { return Check(/*is_lower=*/false, &HalfProduct::Triangular); }

 private:
  double Symmetric(int64_t i, int64_t j) const;
  double Triangular(int64_t i, int64_t j) const;
  std::string Check(bool is_lower, double (HalfProduct::*expected)(int64_t, int64_t) const) const;

  const SquareProduct* const of_;
  const int n_;
  // Of row terms r and column terms s of the entries up to a place: sums of r, s, r s and s s.
  std::vector<double> rows_, cols_, crossed_, squares_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_SRUMMA_HALF_PRODUCT_H_

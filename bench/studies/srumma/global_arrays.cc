#include "bench/studies/srumma/global_arrays.h"

#include <ga.h>
#include <macdecls.h>

#include <algorithm>
#include <cstddef>

namespace brigade::bench {
namespace {

// Half as much again as this library's multiplier takes, which is eight buffers of 8 MiB.
constexpr Integer kScratchDoubles = Integer{12} << 20;
constexpr double kUnset = -1e9;

int MakeArray(int n) {
  int sides[] = {n, n};
  char name[] = "matrix";
  return NGA_Create(C_DBL, 2, sides, name, /*chunk=*/nullptr);
}

}  // namespace

GlobalArrays::GlobalArrays() {
  GA_Initialize();
  MA_init(MT_C_DBL, kScratchDoubles, kScratchDoubles);
}

GlobalArrays::~GlobalArrays() { GA_Terminate(); }

GlobalArraysProduct::GlobalArraysProduct(const SquareProduct* like, int n, int rank)
    : like_(like), n_(n), a_(MakeArray(n)), b_(MakeArray(n)), c_(MakeArray(n)) {
  NGA_Distribution(c_, rank, low_, high_);
  if (high_[0] >= low_[0] && high_[1] >= low_[1] && low_[0] >= 0) {
    part_.resize(static_cast<size_t>(high_[0] - low_[0] + 1) *
                 static_cast<size_t>(high_[1] - low_[1] + 1));
  }
  auto at = part_.begin();
  for (int i = low_[0]; has_any() && i <= high_[0]; ++i) {
    for (int j = low_[1]; j <= high_[1]; ++j) *at++ = SquareProduct::Entry(i, j);
  }
  PutPart(a_);
  PutPart(b_);
  GA_Sync();
}

GlobalArraysProduct::~GlobalArraysProduct() {
  for (const int array : {a_, b_, c_}) GA_Destroy(array);
}

void GlobalArraysProduct::PutPart(int array) {
  int ld = high_[1] - low_[1] + 1;
  if (has_any()) NGA_Put(array, low_, high_, part_.data(), &ld);
}

void GlobalArraysProduct::ClearResult() {
  std::fill(part_.begin(), part_.end(), kUnset);
  PutPart(c_);
  GA_Sync();
}

void GlobalArraysProduct::Run() const {
  GA_Dgemm('N', 'N', n_, n_, n_, /*alpha=*/1, a_, b_, /*beta=*/0, c_);
}

std::string GlobalArraysProduct::Check() {
  if (!has_any()) return "";
  int ld = high_[1] - low_[1] + 1;
  NGA_Get(c_, low_, high_, part_.data(), &ld);
  auto at = part_.begin();
  for (int i = low_[0]; i <= high_[0]; ++i) {
    for (int j = low_[1]; j <= high_[1]; ++j) {
      if (*at++ == like_->Expected(i, j)) continue;
      return "C(" + std::to_string(i) + ", " + std::to_string(j) + ") of Global Arrays is " +
             std::to_string(*(at - 1)) + ", not " + std::to_string(like_->Expected(i, j));
    }
  }
  return "";
}

}  // namespace brigade::bench

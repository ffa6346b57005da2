// GlobalArraysProduct: the product of a SquareProduct by Global Arrays' GA_Dgemm, a descendant of
// SRUMMA as well. Its matrices are distributed as that library does: a rank has one piece.

#ifndef BRIGADE_BENCH_STUDIES_SRUMMA_GLOBAL_ARRAYS_H_
#define BRIGADE_BENCH_STUDIES_SRUMMA_GLOBAL_ARRAYS_H_

#include <string>
#include <vector>

#include "bench/studies/srumma/square_product.h"

namespace brigade::bench {

// The library, between MPI's start and end.
class GlobalArrays {
 public:
  // Collective over all ranks.
  GlobalArrays();
  ~GlobalArrays();
  GlobalArrays(const GlobalArrays&) = delete;
  GlobalArrays& operator=(const GlobalArrays&) = delete;
};

class GlobalArraysProduct {
 public:
  // Collective, as are all but Check. `like` says what is multiplied, and must outlive it.
  GlobalArraysProduct(const SquareProduct* like, int n, int rank);
  ~GlobalArraysProduct();
  GlobalArraysProduct(const GlobalArraysProduct&) = delete;
  GlobalArraysProduct& operator=(const GlobalArraysProduct&) = delete;

  void ClearResult();
  void Run() const;
  // Empty if the last product gave this rank's part of C bit by bit.
  std::string Check();

 private:
  bool has_any() const { return !part_.empty(); }
  void PutPart(int array);

  const SquareProduct* const like_;
  const int n_;
  int a_ = 0;
  int b_ = 0;
  int c_ = 0;
  // This rank's part: the first and the last row and column.
  int low_[2] = {};
  int high_[2] = {};
  std::vector<double> part_;  // row by row
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_SRUMMA_GLOBAL_ARRAYS_H_

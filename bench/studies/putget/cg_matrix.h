// The matrix of NAS CG: sparse, symmetric, positive definite but for its shift, made of outer
// products of random sparse vectors.
//
// Source: The NAS Parallel Benchmarks, RNR-91-002, section 2.4, and its second version, NPB 2.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_CG_MATRIX_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_CG_MATRIX_H_

#include <cstddef>
#include <vector>

namespace brigade::bench {

struct CgClass {
  char name;
  int n;           // order of the matrix
  int nonzeros;    // of the vectors it is made of
  int iterations;  // outer ones
  double shift;
  double zeta;  // what verification expects
};

// Null if there is no such class.
const CgClass* FindCgClass(char name);

// Some rows and columns of a matrix, each from `first` on.
struct CgBlock {
  int first_row = 0;
  int rows = 0;
  int first_column = 0;
  int columns = 0;

  // Of row i, counted from first_row, the entries from starts[i] to starts[i + 1].
  std::vector<size_t> starts;
  std::vector<int> column;  // counted from first_column
  std::vector<double> value;
};

// Fills in the entries. Makes all random numbers of the matrix, on every rank.
void MakeCgBlock(const CgClass& of, CgBlock* block);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_CG_MATRIX_H_

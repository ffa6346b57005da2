// ScaLAPACK's routines that are timed, each on a problem of its own and with a check of its result.

#ifndef BRIGADE_BENCH_SCALAPACK_ROUTINES_H_
#define BRIGADE_BENCH_SCALAPACK_ROUTINES_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/scalapack/matrix.h"

namespace brigade::bench {

// One computation: `set` is not timed, `run` is, `residual` checks the last run.
struct Routine {
  std::string name;
  int n;  // order of its matrices
  double flops;
  std::function<void()> set;
  std::function<int()> run;  // returns ScaLAPACK's info
  std::function<double()> residual;
};

// Matrices of order `n` in blocks of `block`, shared by routines, which are run one after the
// other.
class Problems {
 public:
  Problems(const Grid& grid, int n, int block);
  ~Problems();

  // They may not outlive this.
  std::vector<Routine> Routines();
  Routine Eigenvalues();

 private:
  class Calls;
  std::unique_ptr<Calls> calls_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SCALAPACK_ROUTINES_H_

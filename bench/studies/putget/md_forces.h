// MdForces: the forces between atoms, of which each rank has some.
//
// A rank may compute each pair several times, as if its processor were slower than the others'.
//
// Source: ARMCI, section 3.3.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MD_FORCES_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MD_FORCES_H_

#include <vector>

#include "membuf/status.h"

namespace brigade::bench {

class MdForces {
 public:
  virtual ~MdForces() = default;
  // Collective. From the positions of this rank's atoms the forces on them. `*potential` is of the
  // pairs that this rank has computed.
  virtual Status Compute(const std::vector<double>& positions, std::vector<double>* forces,
                         double* potential) = 0;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MD_FORCES_H_

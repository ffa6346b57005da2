// MdMotion: moves a rank's atoms by velocity Verlet, from the crystal on, and checks where that
// led.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MD_MOTION_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MD_MOTION_H_

#include <mpi.h>

#include <string>
#include <vector>

#include "bench/studies/putget/md_forces.h"
#include "bench/studies/putget/md_system.h"
#include "membuf/status.h"

namespace brigade::bench {

class MdMotion {
 public:
  // Local.
  MdMotion(MPI_Comm comm, const MdSystem& system, int steps);
  // Collective.
  Status Run(MdForces* forces);
  // Collective. Empty if all forces are, at the end of the last run, those that one process
  // computes, and if energy was kept.
  std::string Check();
  // How far energy has been from where it began, relative to that, in all runs checked.
  double furthest_drift() const { return furthest_drift_; }

 private:
  double KineticEnergy() const;
  std::vector<double> SerialForces() const;

  const MPI_Comm comm_;
  const MdSystem& system_;
  const int steps_;
  int rank_, ranks_;
  MdRange owned_;
  std::vector<double> positions_, velocities_, forces_;
  std::vector<double> energies_;  // of this rank, after each step
  double furthest_drift_ = 0;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MD_MOTION_H_

// Launcher: what the program that started this job says about the processes of this host.

#ifndef BRIGADE_TRANSPORT_HOST_LAUNCHER_H_
#define BRIGADE_TRANSPORT_HOST_LAUNCHER_H_

#include <string>

namespace brigade {

// Read from what Open MPI's mpirun, Hydra (MPICH, Intel MPI), PALS or srun put into the
// environment.

// Processes of this job on this host; 1 if nobody says.
int LocalRanks();
// The number of this process among them, from 0; -1 if nobody says.
int LocalRank();
// What is odd if MPI has so many ranks in this job; empty if nothing is. Started by the mpirun of
// another MPI, each process is alone in a job of its own.
std::string WrongLauncher(int ranks);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_LAUNCHER_H_

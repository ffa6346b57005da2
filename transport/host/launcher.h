// Launcher: the processes of this job on this host, by environment variables.

#ifndef BRIGADE_TRANSPORT_HOST_LAUNCHER_H_
#define BRIGADE_TRANSPORT_HOST_LAUNCHER_H_

#include <string>

namespace brigade {

// Reads the environment variables of Open MPI's mpirun, Hydra (MPICH, Intel MPI), PALS and srun.

// Returns the number of processes of this job; 0 if unknown or if this process is alone.
int JobRanks();
// Returns the number of this process in its job, from 0; -1 if JobRanks() is 0 or it is unknown.
int JobRank();
// Returns the number of processes of this job on this host; 1 if unknown.
int LocalRanks();
// Returns the number of this process on this host, from 0; -1 if unknown.
int LocalRank();
// Describes a contradiction between the environment and an MPI with `ranks` ranks; empty: none. A
// process started by the mpirun of another MPI is alone in a job of its own.
std::string WrongLauncher(int ranks);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_LAUNCHER_H_

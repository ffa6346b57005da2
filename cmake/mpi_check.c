/* Is a part of every target that includes mpi.h. Fails to compile if the target finds the mpi.h of
   another family than its own, BRIGADE_FOR_openmpi or BRIGADE_FOR_mpich. */
#include <mpi.h>

#if defined(OPEN_MPI) ? !defined(BRIGADE_FOR_openmpi) : !defined(BRIGADE_FOR_mpich)
#error "mpi.h of another family: a flag, or the folder of another library, comes first"
#endif

// MpiWindow: windows of MPI itself.

#ifndef BRIGADE_BENCH_CONTENDERS_MPI_WINDOW_H_
#define BRIGADE_BENCH_CONTENDERS_MPI_WINDOW_H_

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <string>

#include "bench/contenders/one_sided.h"

namespace brigade::bench {

// Collective over `comm`: `doubles`, equal on all ranks, on each, zeroed, allocated by MPI if
// shared. Null where this MPI cannot make one, on all ranks.
std::unique_ptr<OneSided> MakeMpiWindow(MPI_Comm comm, const std::string& name, int64_t doubles,
                                        bool is_shared);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_MPI_WINDOW_H_

// Settings that must be equal on all processes of a job, as texts of any length.

#ifndef BRIGADE_TRANSPORT_MPI_JOB_SAME_SETTINGS_H_
#define BRIGADE_TRANSPORT_MPI_JOB_SAME_SETTINGS_H_

#include <cstddef>
#include <functional>
#include <string>

#include "membuf/status.h"

namespace brigade {

// Brings `bytes` of each process into `all` of every one, in their order. Collective over the job.
using GatherAll = std::function<Status(const void* mine, size_t bytes, void* all)>;

// kInvalidArgument, the same on all `processes`, if not all have the same: it says what process 0
// has, and the first that differs. Collective over the job.
Status CompareSettings(const std::string& mine, int processes, const GatherAll& gather);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_JOB_SAME_SETTINGS_H_

// MpiJob: the MPI job that a program of LI or BSPlib runs in: its start and its end.

#ifndef BRIGADE_TRANSPORT_MPI_JOB_MPI_JOB_H_
#define BRIGADE_TRANSPORT_MPI_JOB_MPI_JOB_H_

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "membuf/status.h"

namespace brigade {

class MpiJob {
 public:
  // Initialises MPI, unless that is done. Ends the process, in the name of `library`, where that is
  // no MPI that this was built for.
  explicit MpiJob(const char* library);

  int processes() const { return processes_; }
  int process() const { return process_; }

  // The first collective call over the job, the same in all libraries: `who` begins, and the
  // numbers of all processes, in `all`. kInvalidArgument, the same on all, if not all are `who`.
  // Sleeps while it waits: some may come much later.
  using Numbers = std::array<int64_t, 3>;
  Status Begin(const std::string& who, const Numbers& mine, std::vector<Numbers>* all) const;
  // Opens the communicator of the first `members` processes. Collective over the job.
  Status Open(int members);
  // Whether MPI is active because it was initialised here.
  static bool IsOurs();
  // Of our own; MPI_COMM_NULL on a process that is no member.
  MPI_Comm comm() const { return comm_; }
  // Frees it, and finalises MPI if it was initialised here, or if this process is no member: then
  // it ends. Collective over the job. kInvalidArgument: MPI is finalised already.
  Status Close();

  // Says `text` on stderr and ends the job.
  [[noreturn]] static void Abort(const std::string& text);

 private:
  static inline bool ends_mpi_ = false;  // it was initialised here
  int processes_ = 0;
  int process_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
  bool all_are_members_ = true;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_MPI_JOB_MPI_JOB_H_

// Program: a BSPlib program on this process. Checks arguments and the order of calls; numbers
// supersteps.

#ifndef BRIGADE_BSP_SHIM_PROGRAM_H_
#define BRIGADE_BSP_SHIM_PROGRAM_H_

#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "bsp_shim/registrations.h"
#include "bsp_shim/superstep.h"
#include "membuf/status.h"
#include "patterns/engine/shared_engine.h"
#include "patterns/group/group.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi_job/mpi_job.h"

namespace brigade {
namespace bsp {

// Computes the results of bsp_qsize. kInvalidArgument: an int cannot hold them.
Status QueueSize(size_t messages, size_t bytes, int* count, int* all_bytes);

// The functions of <brigade/bsp.h>. A failure is for Fail: the program ends.
class Program {
 public:
  Program() = default;

  // Says which call failed, where, and why, and ends the program on all processes.
  [[noreturn]] void Fail(const char* call, const std::string& why);
  // The program's own text.
  [[noreturn]] void Abort(const std::string& text);

  // Does not return where the program is over for this process.
  Status Init(void (*start)());
  Status Begin(int most_processes);
  Status End();
  // The process ends. A forked child has a copy of everything, and owns none of it.
  void Leave();
  int processes() const { return group_ != nullptr ? group_->cols() : processes_; }
  Status Process(int* process) const;
  Status Time(double* seconds) const;
  Status Sync();

  Status Push(const void* address, int bytes);
  Status Pop(const void* address);
  enum class Buffering { kBuffered, kUnbuffered };
  Status Put(Buffering buffering, int pid, const void* source, const void* address, int offset,
             int bytes);
  Status Get(Buffering buffering, int pid, const void* address, int offset, void* result,
             int bytes);

  Status SetTagSize(int* bytes);
  Status Send(int pid, const void* tag, const void* payload, int bytes);
  Status CountMessages(int* count, int* bytes) const;
  Status GetTag(int* status, void* tag) const;
  Status Move(void* payload, int most_bytes);
  Status MoveDirectly(void** tag, void** payload, int* bytes);

 private:
  enum class Phase { kNotBegun, kRunning, kEnded };

  Status CheckRunning() const;
  Status CheckProcess(int pid) const;
  Status CheckAccess(int pid, const void* address, int offset, int bytes, Superstep::Place* place);
  // All are about to begin, with so many processes, or the process leaves as all do: then none.
  Status AgreeToBegin(bool leaves, int most_processes, int* processes);
  Status Open();
  // All are in the same call.
  Status Meet(PacketHeader::Call call);
  // On the process of that number, an error; the others wait for the end of the program.
  Status FailOn(int process, const char* call, const std::string& why);
  bool has_messages() const { return next_message_ < messages_.size(); }

  const pid_t pid_ = getpid();
  MpiJob job_{"libbrigade_bsp.so"};
  int processes_ = job_.processes();
  Phase phase_ = Phase::kNotBegun;
  bool is_started_by_init_ = false;
  long superstep_ = 0;
  std::chrono::steady_clock::time_point begun_;

  std::unique_ptr<MpiBootstrap> bootstrap_;
  std::shared_ptr<SharedEngine> engine_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<Superstep> current_;
  Registrations registrations_;

  // Lengths of tags: of the messages that have come, of those that are sent, of those from the next
  // superstep on.
  size_t tag_bytes_here_ = 0;
  size_t tag_bytes_ = 0;
  size_t next_tag_bytes_ = 0;
  uint64_t tag_calls_ = 0;
  std::vector<Superstep::Message> messages_;
  size_t next_message_ = 0;
};

}  // namespace bsp
}  // namespace brigade

#endif  // BRIGADE_BSP_SHIM_PROGRAM_H_

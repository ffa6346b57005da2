// Program: an LI program on this process. Checks arguments and the order of calls, over any
// backend; numbers supersteps.

#ifndef BRIGADE_LI_SHIM_PROGRAM_H_
#define BRIGADE_LI_SHIM_PROGRAM_H_

#include <sys/types.h>
#include <unistd.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "li_shim/backend/backend.h"
#include "membuf/status.h"

namespace brigade {
namespace li {

// The functions of <brigade/li.h>. A failure is for Fail: the program ends.
class Program {
 public:
  explicit Program(std::unique_ptr<Backend> backend) : backend_(std::move(backend)) {}

  int processes() const { return backend_->processes(); }
  Status Begin(int processes);
  Status End();
  Status Process(int* process) const;
  // The process ends: an error if the program has not. A forked child has a copy of everything, and
  // owns none of it.
  void Leave();
  // Says which call failed, where, and why, and ends the program on all processes.
  [[noreturn]] void Fail(const char* call, const std::string& why);

  Status Register(void* address, size_t bytes);
  Status Deregister(const void* address);
  Status Commit();
  Status Put(int pid, const void* source, const void* address, size_t offset, size_t bytes);
  Status Get(int pid, const void* address, size_t offset, void* result, size_t bytes);
  Status Barrier();
  // Of all memory, and of one piece.
  Status InitAll();
  Status Init(const void* address);
  Status SyncAll();
  Status Sync(const void* address);

 private:
  enum class Phase { kNotBegun, kRunning, kEnded };
  // A slot for registered memory. Slots are the same on all processes, since all register and
  // deregister in the same order; addresses differ.
  struct Memory {
    const void* address = nullptr;  // of this process; null: the slot is free
    size_t bytes = 0;
    bool is_open = false;
    bool is_committed = false;
    // Put to or got from by this process: since it was synchronised, and in this superstep.
    bool is_under_way = false;
    bool is_used = false;
  };

  Status CheckRunning() const;
  // No put or get of this process is in the superstep.
  Status CheckUnused() const;
  // The slot of registered memory, by its address.
  Status Find(const void* address, int* slot) const;
  Status Open(int slot);
  Status SyncSlots(const std::vector<int>& slots);
  Status CheckAccess(int pid, const void* address, size_t offset, const void* local, size_t bytes,
                     int* slot);
  Memory& at(int slot) { return memory_[static_cast<size_t>(slot)]; }

  const pid_t pid_ = getpid();
  const std::unique_ptr<Backend> backend_;
  Phase phase_ = Phase::kNotBegun;
  long superstep_ = 0;
  std::vector<int> registered_;  // in this order
  Memory memory_[kProgramSlots];
  mutable int last_ = 0;  // the slot that was found last
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_PROGRAM_H_

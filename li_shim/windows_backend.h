// WindowsBackend: LI over Brigade's windows, the default. Each piece of memory is a window.
//
// A superstep costs one synchronisation: LISYNC waits until sources are the caller's again, which
// they are at once where memory is reached directly, and LIBARRIER is a fence or a barrier.
//
// Each put to memory that this process does not see costs a message or a system call. So short ones
// go by mailboxes, if all processes are of one host; others are gathered by process, and go
// together as one put of many blocks.

#ifndef BRIGADE_LI_SHIM_WINDOWS_BACKEND_H_
#define BRIGADE_LI_SHIM_WINDOWS_BACKEND_H_

#include <atomic>
#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "li_shim/gathered_puts.h"
#include "li_shim/mailboxes.h"
#include "li_shim/mpi/mpi_backend.h"
#include "membuf/status.h"
#include "patterns/engine/shared_engine.h"
#include "patterns/group/group.h"
#include "patterns/settings/settings.h"
#include "transport/bootstrap.h"
#include "windows/core/window.h"
#include "windows/message/rma_request.h"
#include "windows/message/window_space.h"

namespace brigade {
namespace li {

class WindowsBackend final : public MpiBackend {
 public:
  WindowsBackend(const Settings& engine, std::string settings)
      : MpiBackend(std::move(settings)), settings_(engine) {}

  Status Begin() override;
  Status End() override;
  Status Register(int slot, void* memory, size_t bytes) override;
  Status Init(int slot) override;
  Status Commit() override { return Barrier(); }
  Status Deregister(int slot) override;
  Status Sync(const std::vector<int>& slots) override;
  Status Barrier() override;
  size_t BytesOf(int slot, int process) const override;
  Status Put(int slot, int process, const void* source, size_t offset, size_t bytes) override;
  Status Get(int slot, int process, size_t offset, void* result, size_t bytes) override;

 private:
  struct Memory {
    std::unique_ptr<Window> window;
    std::vector<GatheredPuts> gathered;  // by process
    // Per put that goes by messages: whether its source is the caller's again.
    std::deque<std::atomic<bool>> sent;
    // Synchronised since the last barrier. The same on all processes.
    bool is_synced = false;
  };

  // All have met: writes what came by mail.
  void ReadMail();
  // Before the memory of a process is reached otherwise than by mail.
  Status AwaitReading(int process);
  Status PutNow(Memory* memory, int process, const OriginData& source, const TargetData& target,
                bool fence_follows);
  // `fence_follows`: the program calls LIBARRIER next.
  Status PutGathered(Memory* memory, int process, bool fence_follows);
  Memory& at(int slot) { return memory_[static_cast<size_t>(slot)]; }
  const Memory& at(int slot) const { return memory_[static_cast<size_t>(slot)]; }

  const Settings settings_;
  std::shared_ptr<SharedEngine> shared_engine_;
  std::unique_ptr<WindowSpace> space_;
  std::unique_ptr<Bootstrap> bootstrap_;
  std::unique_ptr<Group> group_;
  std::unique_ptr<Mailboxes> mailboxes_;  // null: there are none
  Memory memory_[kSlots];
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_WINDOWS_BACKEND_H_

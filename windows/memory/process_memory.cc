#include "windows/memory/process_memory.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstring>
#include <string>

namespace brigade {
namespace {

// Ranges of memory, in packed order; what is adjacent is one.
class Ranges {
 public:
  bool is_full() const { return count_ == IOV_MAX; }
  void Append(uint64_t address, int64_t bytes) {
    if (count_ > 0 && end_ == address) {
      ranges_[count_ - 1].iov_len += static_cast<size_t>(bytes);
    } else {
      ranges_[count_++] = {reinterpret_cast<void*>(address), static_cast<size_t>(bytes)};
    }
    end_ = address + static_cast<uint64_t>(bytes);
  }
  const iovec* data() const { return ranges_; }
  unsigned long count() const { return count_; }

 private:
  iovec ranges_[IOV_MAX];
  unsigned long count_ = 0;
  uint64_t end_ = 0;
};

using Call = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long,
                         unsigned long);

Status Transfer(Call call, const char* name, pid_t process, LayoutCursor* here,
                const std::byte* here_base, LayoutCursor* there, uint64_t there_base,
                int64_t bytes) {
  while (bytes > 0) {
    Ranges local;
    Ranges remote;
    const int64_t here_from = here->position();
    const int64_t there_from = there->position();
    for (int64_t left = bytes; left > 0 && !local.is_full() && !remote.is_full();) {
      const Runs run_here = here->Next();
      const Runs run_there = there->Next();
      const int64_t run = std::min({run_here.bytes, run_there.bytes, left});
      local.Append(reinterpret_cast<uint64_t>(here_base) + static_cast<uint64_t>(run_here.offset),
                   run);
      remote.Append(there_base + static_cast<uint64_t>(run_there.offset), run);
      here->Skip(run);
      there->Skip(run);
      left -= run;
    }
    const ssize_t moved =
        call(process, local.data(), local.count(), remote.data(), remote.count(), 0);
    if (moved <= 0) {
      const std::string who = "process " + std::to_string(process);
      if (moved < 0 && errno == ESRCH) return Status(StatusCode::kPeerLost, who + " is gone");
      return Status(StatusCode::kInternal, "the window's memory in " + who + ": " + name + ": " +
                                               (moved < 0 ? std::strerror(errno) : "no byte"));
    }
    here->Seek(here_from + moved);
    there->Seek(there_from + moved);
    bytes -= moved;
  }
  return Status();
}

}  // namespace

bool ProcessMemory::CanReach(uint64_t address) const {
  std::byte byte;
  const iovec local{&byte, 1};
  const iovec remote{reinterpret_cast<void*>(address), 1};
  return process_vm_readv(process_, &local, 1, &remote, 1, 0) == 1;
}

Status ProcessMemory::Read(LayoutCursor* from, uint64_t from_base, int64_t bytes, LayoutCursor* to,
                           std::byte* to_base) const {
  return Transfer(process_vm_readv, "process_vm_readv", process_, to, to_base, from, from_base,
                  bytes);
}

Status ProcessMemory::Write(LayoutCursor* from, const std::byte* from_base, int64_t bytes,
                            LayoutCursor* to, uint64_t to_base) const {
  return Transfer(process_vm_writev, "process_vm_writev", process_, from, from_base, to, to_base,
                  bytes);
}

}  // namespace brigade

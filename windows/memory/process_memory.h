// ProcessMemory: memory of another process of this host, read and written by the kernel on our
// behalf.

#ifndef BRIGADE_WINDOWS_MEMORY_PROCESS_MEMORY_H_
#define BRIGADE_WINDOWS_MEMORY_PROCESS_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "membuf/status.h"
#include "transport/host/process_watch.h"
#include "transport/host_memory/process_copy.h"
#include "windows/layout/layout_cursor.h"

namespace brigade {

class ProcessMemory {
 public:
  // REQUIRES: the process lives until this returns.
  explicit ProcessMemory(pid_t process) : process_(process), watch_(ProcessWatch::Of(process)) {}

  // Returns whether the byte at `address` can be read. The system grants reads and writes of a
  // process together, so one read tests both.
  bool CanReach(uint64_t address) const;

  // Between the memory of this process and that at an address of the other, as in layout_copy.h.
  // After a failure part of it may be done, and the cursors are somewhere. kPeerLost: the process
  // is gone. kInternal: memory is not what it was said to be.
  Status Read(LayoutCursor* from, uint64_t from_base, int64_t bytes, LayoutCursor* to,
              std::byte* to_base) const;
  Status Write(LayoutCursor* from, const std::byte* from_base, int64_t bytes, LayoutCursor* to,
               uint64_t to_base) const;

 private:
  Status Copy(ProcessCopy::Direction direction, LayoutCursor* here, const std::byte* here_base,
              LayoutCursor* there, uint64_t there_base, int64_t bytes) const;

  pid_t process_;
  std::shared_ptr<const ProcessWatch> watch_;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MEMORY_PROCESS_MEMORY_H_

// ProcessCopy: copies by the kernel between memory of this process and of another process of this
// host (process_vm_writev, process_vm_readv).
//
// The kernel looks up the pages of each range of the other's memory, which takes as long as copying
// a kilobyte. Reads therefore include short gaps between blocks in one range. Writes must not touch
// gaps.
//
// A process is identified by its number, which may be reused once it has ended. Each system call
// therefore follows a check of the process that is at most a millisecond old
// (ProcessWatch::RanLately). A call that has begun stays with the memory of the process that it
// found.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_PROCESS_COPY_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_PROCESS_COPY_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>

#include "transport/host/process_watch.h"
#include "transport/rules.h"

namespace brigade {

// Sets `log`, which is called once in this process, with the reason, if the system permits no
// copies, for example under Yama or a container's filter.
void LogIfCopiesAreRefused(void (*log)(const std::string& why));

class ProcessCopy {
 public:
  enum class Direction : uint8_t { kRead, kWrite };  // of the other's memory

  // `watch` watches the process, since a time when it was known to run; it watches nothing if the
  // process is this one. It must outlive the copy.
  ProcessCopy(pid_t process, const ProcessWatch* watch, Direction direction)
      : process_(process), watch_(*watch), direction_(direction) {}

  // Adds a range of `bytes` at an address of either side. Adjacent ranges are merged. If a system
  // call cannot take more ranges, the earlier ones are copied: returns 0, or the error of Finish.
  // REQUIRES: bytes > 0.
  int Add(uint64_t here, uint64_t there, size_t bytes);
  // Copies the added ranges. Returns 0, or the system's error: part may be copied then. ESRCH: the
  // process has ended.
  int Finish();
  // Ranges of the other's memory that are added and not copied yet.
  size_t ranges() const { return there_.count(); }

 private:
  // Per system call, whose cost is small beside the pages of this many ranges. The system accepts
  // eight times as many, but a ProcessCopy lies on the stack of the program's threads.
  static constexpr size_t kMostRanges = 128;
  static_assert(kMostRanges <= IOV_MAX);

  // The ranges of one side, in the order of the copy.
  class Ranges {
   public:
    // Room for a gap and a block.
    bool has_room() const { return count_ + 2 <= kMostRanges; }
    bool empty() const { return first_ == count_; }
    uint64_t end() const { return end_; }
    void Append(uint64_t address, size_t bytes);
    // Removes `bytes` copied bytes at the front.
    void Drop(size_t bytes);
    const iovec* data() const { return ranges_ + first_; }
    size_t count() const { return count_ - first_; }
    void Clear() { first_ = count_ = 0; }

   private:
    iovec ranges_[kMostRanges];
    size_t first_ = 0;
    size_t count_ = 0;
    uint64_t end_ = 0;  // of the last
  };

  // A gap lies on the pages of the adjacent blocks, so it can be read.
  static_assert(rules::kReadAcrossBytes < 4096);

  const pid_t process_;
  const ProcessWatch& watch_;
  const Direction direction_;
  Ranges here_;
  Ranges there_;
  std::byte nobodys_[rules::kReadAcrossBytes];  // receives the gaps
};

static_assert(sizeof(ProcessCopy) <= size_t{6} << 10);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_PROCESS_COPY_H_

// ProcessCopy: memory of this process to that of another of this host, or from there, by the kernel
// (process_vm_writev, process_vm_readv).
//
// The kernel looks up the pages of each range of the other's memory, which takes as long as a
// kilobyte's copy. So blocks that are read are read in one range with what lies between them, if
// that is little. What is written must not touch what lies between.
//
// A process is named by its number, which may become a stranger's once it has ended. So each system
// call comes behind a look at whether it has, at most a millisecond old (ProcessWatch::RanLately).
// A call that has begun stays with the memory of the process that it has found.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_PROCESS_COPY_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_PROCESS_COPY_H_

#include <sys/types.h>
#include <sys/uio.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <string>

#include "membuf/rules.h"
#include "transport/host/process_watch.h"

namespace brigade {

// From here on `tell` hears why, once in this process, if the system allows no copies, as under
// Yama or the filter of a container.
void TellIfCopiesAreRefused(void (*tell)(const std::string& why));

class ProcessCopy {
 public:
  enum class Direction : uint8_t { kRead, kWrite };  // of the other's memory

  // `watch`: of the process, begun when it was known to run; of none, if it is this one. It must
  // outlive the copy.
  ProcessCopy(pid_t process, const ProcessWatch* watch, Direction direction)
      : process_(process), watch_(*watch), direction_(direction) {}

  // One more range: so many bytes at an address of either side. What is adjacent to the one before
  // is one with it. Where no more fit into a system call, those before are copied; then 0, or what
  // Finish says. REQUIRES: some bytes.
  int Add(uint64_t here, uint64_t there, size_t bytes);
  // Copies what was added. 0, or the system's error: part of it may be done then. ESRCH: the
  // process is gone.
  int Finish();
  // Of the other's memory, that were added and are not copied.
  size_t ranges() const { return there_.count(); }

 private:
  // In one system call, which costs little beside the pages of so many: the system takes eight
  // times as many, but a copy lies on the stack of threads of the program.
  static constexpr size_t kMostRanges = 128;
  static_assert(kMostRanges <= IOV_MAX);

  // One side, in the order of the copy.
  class Ranges {
   public:
    // For a gap and a block.
    bool has_room() const { return count_ + 2 <= kMostRanges; }
    bool empty() const { return first_ == count_; }
    uint64_t end() const { return end_; }
    void Append(uint64_t address, size_t bytes);
    // So many bytes at the front are done.
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

  // A gap then lies on the pages of the blocks beside it, so it can be read.
  static_assert(rules::kReadAcrossBytes < 4096);

  const pid_t process_;
  const ProcessWatch& watch_;
  const Direction direction_;
  Ranges here_;
  Ranges there_;
  std::byte nobodys_[rules::kReadAcrossBytes];  // takes what lies between
};

static_assert(sizeof(ProcessCopy) <= size_t{6} << 10);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_PROCESS_COPY_H_

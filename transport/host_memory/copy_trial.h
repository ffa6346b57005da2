// CopyTrial: two processes of a host measure for which lengths a copy by the kernel is faster than
// two copies through shared memory. One process alone can only estimate: the main cost is reading
// memory that another processor has written.

#ifndef BRIGADE_TRANSPORT_HOST_MEMORY_COPY_TRIAL_H_
#define BRIGADE_TRANSPORT_HOST_MEMORY_COPY_TRIAL_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/host/process_watch.h"
#include "transport/host_memory/kernel_copy.h"

namespace brigade {

// Time until the receiver of a message of `bytes` bytes has it in its cache, or until both ranks of
// an exchange have theirs.
struct CopyTimes {
  size_t bytes;
  double by_kernel_us;
  double staged_us;
};

// Returns the first range of adjacent lengths for which the kernel is faster. A longer message that
// goes one way is faster if two processors copy it at once, through staging memory.
KernelCopyRange FasterByKernel(const std::vector<CopyTimes>& times);
// Returns the range of all lengths from one on for which the kernel is faster.
KernelCopyRange FasterByKernelFrom(const std::vector<CopyTimes>& times);

// Returns the estimate of one process alone, made once: it takes some milliseconds. Ranks with a
// processor each measure by a CopyTrial.
const KernelCopies& GuessedKernelCopies();

class CopyTrial {
 public:
  enum Side { kSender, kReceiver };  // of messages that go one way

  // The bytes of shared memory that both map, zeroed by its owner.
  static size_t Bytes();
  // `peer` and `watch`: the other process, as of CopyToProcess. REQUIRES: the object outlives the
  // Run() of the other process, for which the kernel writes to it.
  CopyTrial(std::byte* shared, Side side, pid_t peer, const ProcessWatch* watch);

  // Measures, in some 15 ms: each process calls it for its own side. Returns false if the trial is
  // not complete within `most`, with `*copies` unchanged. If the system refuses copies to one of
  // the processes, both ranges are empty. The receiver's result is not used.
  bool Run(std::chrono::milliseconds most, KernelCopies* copies);

 private:
  struct Half;
  template <typename Condition>
  bool Await(const Condition& holds) const;
  // Waits until the other has reached this meeting.
  bool Meet();
  // Returns the time of copy(bytes) between two meetings in us; negative if the other did not come.
  template <typename Copy>
  double Time(size_t bytes, const Copy& copy);
  template <typename ByKernel, typename Staged>
  bool Compare(size_t most_bytes, const ByKernel& by_kernel, const Staged& staged,
               std::vector<CopyTimes>* all);
  bool WriteByKernel(size_t bytes);
  bool ReadByKernel(size_t bytes);
  // Copies a message, or one each way, in segments through shared memory.
  bool CopyStaged(size_t bytes, bool sends, bool receives);
  bool SendSegment(size_t at, size_t bytes);
  bool ReceiveSegment(size_t at, size_t bytes);

  const Side side_;
  Half& mine_;
  Half& theirs_;
  const pid_t peer_;
  const ProcessWatch* const watch_;
  std::chrono::steady_clock::time_point end_;
  uint32_t meetings_ = 0;
  uint32_t sent_ = 0;      // segments
  uint32_t received_ = 0;  // segments
  std::vector<std::byte> from_;
  std::vector<std::byte> to_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_COPY_TRIAL_H_

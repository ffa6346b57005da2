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

// Time of a message of `bytes` bytes until the receiver has it in its cache.
struct CopyTimes {
  size_t bytes;
  double by_kernel_us;
  double staged_us;
};

// Returns the first range of adjacent lengths for which the kernel is faster.
KernelCopyRange FasterByKernel(const std::vector<CopyTimes>& times);

// Returns the estimate of one process alone, made once: it takes some milliseconds. Ranks with a
// processor each measure by a CopyTrial.
const KernelCopyRange& GuessedKernelCopyRange();

class CopyTrial {
 public:
  // The bytes of shared memory that both map, zeroed by its owner.
  static size_t Bytes();
  explicit CopyTrial(std::byte* shared);

  // Measures. Takes some 10 ms, or `most` if the other process does not come. `receiver` and
  // `watch` are as of CopyToProcess. Returns false if the other did not come in time, with `*range`
  // unchanged. If the system refuses copies, the range is empty.
  bool Send(pid_t receiver, const ProcessWatch* watch, std::chrono::milliseconds most,
            KernelCopyRange* range);
  void Receive(std::chrono::milliseconds most);

 private:
  struct Shared;
  template <typename Over>
  bool Await(const Over& over) const;
  // Returns the time of one message in us; negative if the other did not come.
  template <typename Move>
  double Time(const Move& move);
  bool SendStaged(size_t bytes);
  bool ReceiveStaged(size_t bytes);

  Shared* const shared_;
  std::chrono::steady_clock::time_point end_;
  uint32_t messages_ = 0;  // of either kind, that are over
  uint32_t segments_ = 0;
  std::vector<std::byte> data_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_COPY_TRIAL_H_

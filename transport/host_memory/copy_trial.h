// CopyTrial: two processes of a host find out for which lengths the kernel copies faster from one
// to the other than both do through shared memory. One process alone cannot: what costs most is
// that one processor reads what another has written.

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

// How long a message of so many bytes takes until its receiver has all of it in its cache.
struct CopyTimes {
  size_t bytes;
  double by_kernel_us;
  double staged_us;
};

// The first stretch of lengths, one behind the other, in which the kernel is faster.
KernelCopyRange FasterByKernel(const std::vector<CopyTimes>& times);

class CopyTrial {
 public:
  // Of shared memory that both map, zeroed by who makes it.
  static size_t Bytes();
  explicit CopyTrial(std::byte* shared);

  // Both take some 10 ms, and `most` at the most if the other does not come. `receiver` and `watch`
  // are as of CopyToProcess. False: the other did not come in time, and `*range` is as it was. A
  // refusal of the system is an empty range.
  bool Send(pid_t receiver, const ProcessWatch* watch, std::chrono::milliseconds most,
            KernelCopyRange* range);
  void Receive(std::chrono::milliseconds most);

 private:
  struct Shared;
  template <typename Over>
  bool Await(const Over& over) const;
  // What one message takes, in us; negative if the other did not come.
  template <typename Move>
  double Time(const Move& move);
  bool SendStaged(size_t bytes);
  bool ReceiveStaged(size_t bytes);

  Shared* const shared_;
  std::chrono::steady_clock::time_point end_;
  uint32_t messages_ = 0;  // of either kind, that are over
  uint32_t pieces_ = 0;
  std::vector<std::byte> data_;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_MEMORY_COPY_TRIAL_H_

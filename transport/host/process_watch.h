// ProcessWatch: whether a process of this host, in this process namespace, still runs.

#ifndef BRIGADE_TRANSPORT_HOST_PROCESS_WATCH_H_
#define BRIGADE_TRANSPORT_HOST_PROCESS_WATCH_H_

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace brigade {

class ProcessWatch {
 public:
  // Watches nothing.
  ProcessWatch() = default;
  // Watches by a pidfd; without one (an old kernel, a container's filter, no descriptors left) by
  // the start time of the process, which distinguishes it from a later one with its number.
  explicit ProcessWatch(pid_t process);
  ~ProcessWatch();
  ProcessWatch(ProcessWatch&& other) noexcept;
  ProcessWatch& operator=(ProcessWatch&& other) noexcept;
  // Returns the watch that all of this process share for `process`.
  static std::shared_ptr<const ProcessWatch> Of(pid_t process);

  // Whether the process has ended, by itself or not, waited for or not. Cost: a system call;
  // without a pidfd some microseconds.
  bool HasEnded() const;
  // Returns whether the process ran within the last millisecond: its number is not reused that
  // soon, since numbers are assigned in turn, and Linux has 32768 by default. Cost: mostly a look
  // at the clock.
  bool RanLately() const;
  bool has_pidfd() const { return pidfd_ >= 0; }

 private:
  pid_t process_ = 0;  // 0: none
  int pidfd_ = -1;
  std::string started_;                        // empty: not known
  mutable std::atomic<int64_t> ran_at_ns_{0};  // when it was last seen
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_PROCESS_WATCH_H_

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
  // By a pidfd; where there is none to be had (an old kernel, a container's filter, no descriptors
  // left), by the time that the process started, which tells it from a later one of the same
  // number.
  explicit ProcessWatch(pid_t process);
  ~ProcessWatch();
  ProcessWatch(ProcessWatch&& other) noexcept;
  ProcessWatch& operator=(ProcessWatch&& other) noexcept;
  // One for all in this process that watch the same other.
  static std::shared_ptr<const ProcessWatch> Of(pid_t process);

  // Whether the process has ended, by itself or not, waited for or not. Cost: a system call;
  // without a pidfd some microseconds.
  bool HasEnded() const;
  // Whether it ran a millisecond ago, or later: its number is not another's so soon, since numbers
  // are given in turn, and there are 32768 as Linux is set up. Cost: mostly a look at the clock.
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

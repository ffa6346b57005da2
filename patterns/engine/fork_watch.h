// ForkWatch: whether this process is a forked child of the process that made the object. Asking
// takes no system call.

#ifndef BRIGADE_PATTERNS_ENGINE_FORK_WATCH_H_
#define BRIGADE_PATTERNS_ENGINE_FORK_WATCH_H_

namespace brigade {

class ForkWatch {
 public:
  bool IsForked() const { return forks_ != forks_before_; }

 private:
  static unsigned forks_;  // of which this process is a child
  static const int fork_handlers_;
  const unsigned forks_before_ = forks_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_FORK_WATCH_H_

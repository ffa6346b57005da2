// EventDescriptor: a file descriptor that is readable from a signal until it is cleared, for the
// event loop of a program.

#ifndef BRIGADE_PATTERNS_ENGINE_EVENT_DESCRIPTOR_H_
#define BRIGADE_PATTERNS_ENGINE_EVENT_DESCRIPTOR_H_

#include "membuf/status.h"

namespace brigade {

class EventDescriptor {
 public:
  EventDescriptor() = default;
  ~EventDescriptor();
  EventDescriptor(const EventDescriptor&) = delete;
  EventDescriptor& operator=(const EventDescriptor&) = delete;

  // Opens it, once. kUnavailable: the process has no descriptor left.
  Status Open();
  bool is_open() const { return fd_ >= 0; }
  // REQUIRES: is_open().
  int fd() const { return fd_; }
  void Signal() const;
  void Clear() const;

 private:
  int fd_ = -1;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_EVENT_DESCRIPTOR_H_

#include "patterns/engine/event_descriptor.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace brigade {

EventDescriptor::~EventDescriptor() {
  if (is_open()) close(fd_);
}

Status EventDescriptor::Open() {
  if (is_open()) return Status();
  fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (is_open()) return Status();
  return Status(StatusCode::kUnavailable, std::string("eventfd: ") + std::strerror(errno));
}

// Neither waits: the descriptor does not block, and is readable or not afterwards in any case.
void EventDescriptor::Signal() const { (void)eventfd_write(fd_, 1); }

void EventDescriptor::Clear() const {
  eventfd_t signals = 0;
  (void)eventfd_read(fd_, &signals);
}

}  // namespace brigade

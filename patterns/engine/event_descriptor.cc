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

// Signal and Clear do not wait: the descriptor is non-blocking. A failure changes nothing, since
// the descriptor is then readable, or unreadable, already.
void EventDescriptor::Signal() const { (void)eventfd_write(fd_, 1); }

void EventDescriptor::Clear() const {
  eventfd_t signals = 0;
  (void)eventfd_read(fd_, &signals);
}

}  // namespace brigade

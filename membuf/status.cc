#include "membuf/status.h"

#include <sstream>
#include <utility>

namespace brigade {

const char* StatusCodeName(StatusCode code) {
  switch (code) {
    case StatusCode::kOk:
      return "ok";
    case StatusCode::kNoResource:
      return "no resource";
    case StatusCode::kInvalidArgument:
      return "invalid argument";
    case StatusCode::kOutOfMemory:
      return "out of memory";
    case StatusCode::kTimedOut:
      return "timed out";
    case StatusCode::kPeerLost:
      return "peer lost";
    case StatusCode::kMismatch:
      return "mismatch";
    case StatusCode::kUnavailable:
      return "unavailable";
    case StatusCode::kInternal:
      return "internal";
    case StatusCode::kAborted:
      return "aborted";
  }
  return "unknown";
}

Status::Status(StatusCode code, std::string message)
    : rep_(code == StatusCode::kOk ? nullptr : new Rep{code, std::move(message)}) {}

void Status::Release() {
  if (rep_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) delete rep_;
}

const std::string& Status::message() const {
  static const std::string& empty = *new std::string;
  return rep_ ? rep_->message : empty;
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  return std::string(StatusCodeName(code())) + ": " + message();
}

Status Status::WithContext(const std::string& context) const {
  if (ok()) return Status();
  return Status(code(), context + ": " + message());
}

std::string MemoryAt(const void* address) {
  std::ostringstream text;
  text << "the memory at " << address;
  return text.str();
}

}  // namespace brigade

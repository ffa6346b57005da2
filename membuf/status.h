// Status: the outcome of an operation, as a value.
//
// No exception crosses a folder of this project. A function that can fail returns a Status; one
// that cannot returns its result. An OK status is a null pointer and costs nothing; a failure
// carries a code and a text: what was wrong, where, and what to do. The function that first detects
// a failure writes the text. Copies share it, so they need no memory.

#ifndef BRIGADE_MEMBUF_STATUS_H_
#define BRIGADE_MEMBUF_STATUS_H_

#include <atomic>
#include <string>
#include <utility>

namespace brigade {

enum class StatusCode {
  kOk = 0,
  // No effect; progress, then try again. The only code that is not a failure.
  kNoResource,
  // An argument of the caller is wrong. No effect.
  kInvalidArgument,
  // Memory or another limit of the machine is used up. No effect, or, in the middle of an
  // operation, its group is broken.
  kOutOfMemory,
  // A documented waiting limit passed. The operation is broken; its group can only be closed.
  kTimedOut,
  // A peer is gone. The operation is broken; its group can only be closed.
  kPeerLost,
  // The calls of the ranks do not match. The operation is broken; its group can only be closed.
  kMismatch,
  // The request is not supported by this build or this machine. No effect.
  kUnavailable,
  // A bug in this library or in the transport under it.
  kInternal,
  // The program of a rank has aborted the group.
  kAborted,
};

// Returns a stable lower-case word for `code`, for messages and the C API.
const char* StatusCodeName(StatusCode code);

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(StatusCode code, std::string message);
  Status(const Status& other) : rep_(other.rep_) {
    if (rep_ != nullptr) rep_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  Status(Status&& other) noexcept : rep_(std::exchange(other.rep_, nullptr)) {}
  Status& operator=(Status other) noexcept {
    std::swap(rep_, other.rep_);
    return *this;
  }
  ~Status() {
    if (rep_ != nullptr) Release();
  }

  bool ok() const { return rep_ == nullptr; }
  StatusCode code() const { return rep_ ? rep_->code : StatusCode::kOk; }
  // Empty for an OK status.
  const std::string& message() const;
  // "ok", or "<code name>: <message>".
  std::string ToString() const;

  // Returns this failure with `context` in front of its text ("while doing X: ..."). OK stays OK.
  Status WithContext(const std::string& context) const;

 private:
  // Counts its owners itself, so that a Status is one word.
  struct Rep {
    const StatusCode code;
    const std::string message;
    std::atomic<int> owners{1};
  };
  void Release();

  Rep* rep_ = nullptr;
};

// kInvalidArgument, with this text.
inline Status Invalid(const std::string& what) { return {StatusCode::kInvalidArgument, what}; }

// Returns "the memory at 0x...", for such texts.
std::string MemoryAt(const void* address);

}  // namespace brigade

// Returns from the enclosing function if `expr` is a failure.
#define BRIGADE_RETURN_IF_ERROR(expr)                  \
  do {                                                 \
    ::brigade::Status brigade_status_ = (expr);        \
    if (!brigade_status_.ok()) return brigade_status_; \
  } while (0)

#endif  // BRIGADE_MEMBUF_STATUS_H_

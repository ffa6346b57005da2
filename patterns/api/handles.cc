#include "patterns/api/handles.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "patterns/engine/out_of_memory.h"

namespace brigade {
namespace {

Status& LastError() {
  thread_local Status status;
  return status;
}

Status CurrentException() {
  try {
    return CatchOutOfMemory([]() -> Status { throw; });
  } catch (const std::exception& exception) {
    return {StatusCode::kInternal, exception.what()};
  } catch (...) {
    return {StatusCode::kInternal, "an exception that is none of the standard library"};
  }
}

}  // namespace

const std::string& ErrorText() { return LastError().message(); }

Status NullPointer(const char* name) { return Invalid(std::string(name) + " is a null pointer"); }

brigade_status FailureToC(const Status& status) {
  LastError() = status;
  return CodeToC(status);
}

brigade_status ExceptionToC(brigade_group* group) noexcept {
  try {
    const Status status = CurrentException();
    if (group == nullptr) return FailureToC(status);
    group->group->Abort(status.message());
    return FailureToC(group->group->failure());
  } catch (...) {
    return FailureToC(NoMemoryLeft());
  }
}

brigade_status CodeToC(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return BRIGADE_OK;
    case StatusCode::kNoResource:
      return BRIGADE_NO_RESOURCE;
    case StatusCode::kInvalidArgument:
      return BRIGADE_INVALID_ARGUMENT;
    case StatusCode::kOutOfMemory:
      return BRIGADE_OUT_OF_MEMORY;
    case StatusCode::kTimedOut:
      return BRIGADE_TIMED_OUT;
    case StatusCode::kPeerLost:
      return BRIGADE_PEER_LOST;
    case StatusCode::kMismatch:
      return BRIGADE_MISMATCH;
    case StatusCode::kUnavailable:
      return BRIGADE_UNAVAILABLE;
    case StatusCode::kAborted:
      return BRIGADE_ABORTED;
    case StatusCode::kInternal:
      break;
  }
  return BRIGADE_INTERNAL;
}

}  // namespace brigade

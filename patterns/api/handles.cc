#include "patterns/api/handles.h"

#include <exception>
#include <new>
#include <string>

namespace brigade {
namespace {

std::string& LastError() {
  thread_local std::string text;
  return text;
}

}  // namespace

const std::string& ErrorText() { return LastError(); }

Status NullPointer(const char* name) { return Invalid(std::string(name) + " is a null pointer"); }

brigade_status FailureToC(const Status& status) {
  LastError() = status.message();
  return CodeToC(status);
}

brigade_status ExceptionToC(brigade_group* group) noexcept {
  StatusCode code = StatusCode::kInternal;
  std::string what = "an exception that is none of the standard library";
  try {
    throw;
  } catch (const std::bad_alloc&) {
    code = StatusCode::kOutOfMemory;
    what = "this process has no memory left";
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {
  }
  if (group == nullptr) return FailureToC(Status(code, what));
  group->group->Abort(what);
  return FailureToC(group->group->failure());
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

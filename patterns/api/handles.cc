#include "patterns/api/handles.h"

namespace brigade {
namespace {

std::string& LastError() {
  thread_local std::string text;
  return text;
}

}  // namespace

const std::string& ErrorText() { return LastError(); }

brigade_status FailureToC(const Status& status) {
  LastError() = status.message();
  switch (status.code()) {
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
    case StatusCode::kOk:
    case StatusCode::kInternal:
      break;
  }
  return BRIGADE_INTERNAL;
}

}  // namespace brigade

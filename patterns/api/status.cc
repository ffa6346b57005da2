// The C interface: version and status.

#include "brigade/status.h"

#include <cstddef>
#include <iterator>
#include <string_view>

#include "membuf/version.h"
#include "patterns/api/handles.h"

using brigade::StatusCode;

#define BRIGADE_TEXT_OF(x) #x
#define BRIGADE_DOTTED(a, b, c) BRIGADE_TEXT_OF(a) "." BRIGADE_TEXT_OF(b) "." BRIGADE_TEXT_OF(c)
static_assert(std::string_view(BRIGADE_VERSION) == BRIGADE_DOTTED(BRIGADE_VERSION_MAJOR,
                                                                  BRIGADE_VERSION_MINOR,
                                                                  BRIGADE_VERSION_PATCH),
              "the public headers have another version");

int brigade_version_number(void) { return BRIGADE_VERSION_NUMBER; }

const char* brigade_version(void) { return BRIGADE_VERSION; }

const char* brigade_status_name(brigade_status status) {
  constexpr StatusCode kCodes[] = {
      StatusCode::kOk,          StatusCode::kNoResource,  StatusCode::kInvalidArgument,
      StatusCode::kOutOfMemory, StatusCode::kTimedOut,    StatusCode::kPeerLost,
      StatusCode::kMismatch,    StatusCode::kUnavailable, StatusCode::kInternal,
      StatusCode::kAborted};
  const auto at = static_cast<size_t>(status);
  return at < std::size(kCodes) ? brigade::StatusCodeName(kCodes[at]) : "unknown";
}

const char* brigade_error_text(void) { return brigade::ErrorText().c_str(); }

// The handles of the C interface, and its error texts.

#ifndef BRIGADE_PATTERNS_API_HANDLES_H_
#define BRIGADE_PATTERNS_API_HANDLES_H_

#include <cstddef>
#include <memory>
#include <string>

#include "brigade/brigade.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "transport/endpoint.h"

struct brigade_engine {
  std::unique_ptr<brigade::Endpoint> endpoint;
  std::unique_ptr<brigade::Engine> engine;
  std::shared_ptr<void> window_space;  // of windows/api; goes before the engine
  bool traces = false;
  bool checks_windows = false;
};

struct brigade_group {
  brigade_engine* engine;
  std::unique_ptr<brigade::Group> group;
};

namespace brigade {

// The text of this thread's last failure.
const std::string& ErrorText();
brigade_status CodeToC(const Status& status);
// Makes `status` this thread's last failure. REQUIRES: it is one.
brigade_status FailureToC(const Status& status);
inline brigade_status ToC(const Status& status) {
  return status.ok() ? BRIGADE_OK : FailureToC(status);
}

class Bootstrap;
// Makes a group, collectively over the members of `bootstrap`.
Status MakeGroup(brigade_engine* engine, Bootstrap* bootstrap, int rows, int cols,
                 brigade_group** group);

Status NullPointer(const char* name);
inline Status CheckPointer(const char* name, const void* pointer) {
  return pointer != nullptr ? Status() : NullPointer(name);
}

// Makes an object of the C interface, which `make` fills in. On failure *place is null.
template <typename Object, typename Make>
Status MakeObject(const char* name, Object** place, const Make& make) {
  BRIGADE_RETURN_IF_ERROR(CheckPointer(name, place));
  *place = nullptr;
  auto made = std::make_unique<Object>();
  BRIGADE_RETURN_IF_ERROR(make(made.get()));
  *place = made.release();
  return Status();
}

// Runs the inside of a function of the C interface. An exception, such as that of an allocation,
// becomes a failure, which breaks `group` unless it is null: no exception leaves C.
brigade_status ExceptionToC(brigade_group* group) noexcept;
template <typename Inside>
brigade_status Enter(brigade_group* group, const Inside& inside) noexcept {
  try {
    return ToC(inside());
  } catch (...) {
    return ExceptionToC(group);
  }
}

// `value` as an enumerator of To, whose first `n` have the numbers of C's.
template <typename To>
Status Translate(const char* name, int value, int n, To* result) {
  if (value < 0 || value >= n) {
    return Invalid(std::string(name) + " has no value " + std::to_string(value));
  }
  *result = static_cast<To>(value);
  return Status();
}
// `value` as one of the enumerators of To, which C's are a permutation of.
template <typename To, size_t n>
Status Translate(const char* name, int value, const To (&table)[n], To* result) {
  int at = 0;
  BRIGADE_RETURN_IF_ERROR(Translate(name, value, static_cast<int>(n), &at));
  *result = table[at];
  return Status();
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_API_HANDLES_H_

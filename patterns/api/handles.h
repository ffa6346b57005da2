// What the C faces have in common: their engine, and how they tell errors.

#ifndef BRIGADE_PATTERNS_API_HANDLES_H_
#define BRIGADE_PATTERNS_API_HANDLES_H_

#include <cstddef>
#include <memory>
#include <string>

#include "brigade/brigade.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "transport/endpoint.h"

struct brigade_engine {
  std::unique_ptr<brigade::Endpoint> endpoint;
  std::unique_ptr<brigade::Engine> engine;
  std::shared_ptr<void> window_space;  // of windows/api; goes before the engine
  bool traces = false;
  bool checks_windows = false;
};

namespace brigade {

// The text of this thread's last failure.
const std::string& ErrorText();
// `status` becomes this thread's last failure. REQUIRES: it is one.
brigade_status FailureToC(const Status& status);
inline brigade_status ToC(const Status& status) {
  return status.ok() ? BRIGADE_OK : FailureToC(status);
}

inline Status Invalid(const std::string& what) { return {StatusCode::kInvalidArgument, what}; }

// `value` as one of the enumerators of To, which C's are a permutation of.
template <typename To, size_t n>
Status Translate(const char* name, int value, const To (&table)[n], To* result) {
  if (value < 0 || static_cast<size_t>(value) >= n) {
    return Invalid(std::string(name) + " has no value " + std::to_string(value));
  }
  *result = table[value];
  return Status();
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_API_HANDLES_H_

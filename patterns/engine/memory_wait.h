// MemoryWait: how long an operation that must not wait for receivers has waited for memory.

#ifndef BRIGADE_PATTERNS_ENGINE_MEMORY_WAIT_H_
#define BRIGADE_PATTERNS_ENGINE_MEMORY_WAIT_H_

#include <chrono>
#include <cstddef>

#include "membuf/status.h"

namespace brigade {

class MemoryWait {
 public:
  // From an operation that finds no memory. kTimedOut: it has done so for longer than
  // `most_seconds`. `overflow_bytes`: the limit of overflow memory, for the message.
  Status Check(double most_seconds, size_t overflow_bytes);
  // It has found some.
  void Reset() { since_ = {}; }

 private:
  std::chrono::steady_clock::time_point since_;  // of the first Check; zero before
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_MEMORY_WAIT_H_

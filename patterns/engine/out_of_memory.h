// CatchOutOfMemory: runs part of a call. If memory is used up meanwhile, that is a failure of the
// call, which then ends what it has begun: receives that are posted, messages that it holds, memory
// that other ranks read or write.

#ifndef BRIGADE_PATTERNS_ENGINE_OUT_OF_MEMORY_H_
#define BRIGADE_PATTERNS_ENGINE_OUT_OF_MEMORY_H_

#include <new>
#include <stdexcept>

#include "membuf/status.h"

namespace brigade {

// Needs no memory, but for its first call, which Engine::Create makes.
const Status& NoMemoryLeft();

// Returns what `part()` returns; NoMemoryLeft() if it throws std::bad_alloc or std::length_error,
// which a container throws of more elements than fit any memory.
template <typename Part>
Status CatchOutOfMemory(const Part& part) {
  try {
    return part();
  } catch (const std::bad_alloc&) {
    return NoMemoryLeft();
  } catch (const std::length_error&) {
    return NoMemoryLeft();
  }
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_OUT_OF_MEMORY_H_

#include "transport/core/completion_queue.h"

namespace brigade {

// Not a member: a library would export a member even if its list of exports does not have it.
bool& CompletionQueue::in_callback() {
  static thread_local bool in_callback = false;
  return in_callback;
}

}  // namespace brigade

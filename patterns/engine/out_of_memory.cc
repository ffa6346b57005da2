#include "patterns/engine/out_of_memory.h"

namespace brigade {

const Status& NoMemoryLeft() {
  static const Status& status =
      *new Status(StatusCode::kOutOfMemory, "this process has no memory left");
  return status;
}

}  // namespace brigade

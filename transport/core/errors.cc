#include "transport/core/errors.h"

#include <string>

namespace brigade {

Status SegmentTooLong(const char* transport, size_t segment_bytes, int peer,
                      size_t receive_buffer_bytes) {
  return Status(StatusCode::kMismatch,
                std::string(transport) + ": a segment of " + std::to_string(segment_bytes) +
                    " bytes from rank " + std::to_string(peer) + " of the group met a receive of " +
                    std::to_string(receive_buffer_bytes) + " bytes");
}

Status SegmentBeyondLimit(const char* transport, size_t segment_bytes, size_t most_bytes) {
  return Status(StatusCode::kInvalidArgument,
                std::string(transport) + ": a segment of " + std::to_string(segment_bytes) +
                    " bytes is longer than " + std::to_string(most_bytes));
}

Status GatherSizesDiffer(const char* transport, size_t bytes) {
  return Status(StatusCode::kMismatch, std::string(transport) +
                                           ": AllGather with different sizes, here " +
                                           std::to_string(bytes) + " bytes");
}

}  // namespace brigade

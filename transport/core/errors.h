// Error texts that all transports share.

#ifndef BRIGADE_TRANSPORT_CORE_ERRORS_H_
#define BRIGADE_TRANSPORT_CORE_ERRORS_H_

#include <cstddef>

#include "membuf/status.h"

namespace brigade {

// kMismatch: the next receive is shorter than the segment of `peer`.
Status SegmentTooLong(const char* transport, size_t segment_bytes, int peer,
                      size_t receive_buffer_bytes);

// kInvalidArgument: a segment is longer than one post permits.
Status SegmentBeyondLimit(const char* transport, size_t segment_bytes, size_t most_bytes);

// kMismatch: members called AllGather with different sizes.
Status GatherSizesDiffer(const char* transport, size_t bytes);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CORE_ERRORS_H_

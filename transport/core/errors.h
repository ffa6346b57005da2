// What every transport says of the same mistake.

#ifndef BRIGADE_TRANSPORT_CORE_ERRORS_H_
#define BRIGADE_TRANSPORT_CORE_ERRORS_H_

#include <cstddef>

#include "membuf/status.h"

namespace brigade {

// kMismatch: the receive that is next has less room than the piece takes. `peer`: who sent it.
Status PieceTooLong(const char* transport, size_t piece_bytes, int peer, size_t landing_bytes);

// kInvalidArgument: one post may not carry so much.
Status PieceBeyondLimit(const char* transport, size_t piece_bytes, size_t most_bytes);

// kMismatch: members gave an AllGather different sizes.
Status GatherSizesDiffer(const char* transport, size_t bytes);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CORE_ERRORS_H_

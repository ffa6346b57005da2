// Compares the headers of two ranks whose calls should match, and names the first difference.

#ifndef BRIGADE_PATTERNS_ENGINE_HEADER_DIFFERENCE_H_
#define BRIGADE_PATTERNS_ENGINE_HEADER_DIFFERENCE_H_

#include <optional>
#include <string>

#include "membuf/status.h"
#include "patterns/engine/wire_header.h"
#include "transport/completion.h"

namespace brigade {

// The first property in which two headers differ, with its value in each.
struct HeaderDifference {
  std::string what;  // "the root", "bytes"
  std::string ours;
  std::string theirs;
};
// REQUIRES: headers of collective calls.
std::optional<HeaderDifference> FindDifference(const WireHeader& ours, const WireHeader& theirs);

// The name of the call that a header belongs to: its pattern and number.
std::string CallName(const WireHeader& header);

// Reads the header at the start of a received first segment, and compares it with ours. kMismatch:
// it is too short, or the calls are incompatible, with the first difference as "ours here, theirs
// there". Point-to-point receives accept any total up to their own.
Status ReadHeader(const WireHeader& ours, const Lease& segment, WireHeader* theirs);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_HEADER_DIFFERENCE_H_

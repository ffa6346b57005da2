// Counters of an operation, as the C interface gives them.

#ifndef BRIGADE_PATTERNS_API_STATISTICS_H_
#define BRIGADE_PATTERNS_API_STATISTICS_H_

#include "brigade/calls.h"
#include "membuf/status.h"
#include "patterns/api/sized.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

inline Status ToC(const OperationStatistics& from, brigade_statistics* to) {
  brigade_statistics counters = brigade_statistics_init();
  counters.messages_sent = from.messages_sent;
  counters.bytes_sent = from.bytes_sent;
  counters.segments = from.segments;
  counters.copies = from.copies;
  counters.bytes_copied = from.bytes_copied;
  counters.combines = from.combines;
  counters.bytes_combined = from.bytes_combined;
  counters.overflow_segments = from.overflow_segments;
  counters.peak_staging_bytes = from.peak_staging_bytes;
  counters.wait_ns = from.wait_ns;
  return WriteSized("brigade_statistics", counters, to);
}

// Calls `run` with counters, and gives them to the program, if it wants them.
template <typename Run>
Status WithStatistics(brigade_statistics* statistics, const Run& run) {
  if (statistics == nullptr) return run(static_cast<OperationStatistics*>(nullptr));
  OperationStatistics did;
  BRIGADE_RETURN_IF_ERROR(ToC(did, statistics));  // or it was not initialised
  const Status status = run(&did);
  BRIGADE_RETURN_IF_ERROR(ToC(did, statistics));
  return status;
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_API_STATISTICS_H_

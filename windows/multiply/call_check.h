// Whether a call can be made: its arguments on this rank, and then those of all ranks together.

#ifndef BRIGADE_WINDOWS_MULTIPLY_CALL_CHECK_H_
#define BRIGADE_WINDOWS_MULTIPLY_CALL_CHECK_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "membuf/status.h"
#include "windows/multiply/multiply_call.h"
#include "windows/multiply/operand.h"

namespace brigade {

// kInvalidArgument: names the argument.
Status CheckCall(const MultiplyCall& call, const MultiplyOptions& options,
                 const MultiplierOptions& grid, int rank);

// A rank's record of its call, for all others.
struct CallRecord {
  static constexpr size_t kAgreed = 45;

  StatusCode code = StatusCode::kOk;  // of what it has found
  char text[200] = {};
  int64_t agreed[kAgreed] = {};  // what must be equal
  PartPlace a;
  PartPlace b;
};

// `found`: by this rank alone; after a failure the rest of the call need not make sense.
CallRecord RecordOf(const MultiplyCall& call, const Status& found);
// The same on all ranks: the first failure that a rank has found, or kMismatch.
Status CheckRecords(const std::vector<CallRecord>& records);

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_MULTIPLY_CALL_CHECK_H_

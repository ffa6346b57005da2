// CallHistory: the last collective calls of one scope on this rank, for ranks that compare theirs.

#ifndef BRIGADE_PATTERNS_ENGINE_CALL_HISTORY_H_
#define BRIGADE_PATTERNS_ENGINE_CALL_HISTORY_H_

#include <cstdint>

#include "patterns/engine/wire_header.h"

namespace brigade {

class CallHistory {
 public:
  CallHistory() {
    for (WireHeader& call : calls_) call.magic = 0;
  }

  // Keeps the header of a call in place of an older one.
  void Put(const WireHeader& call) { calls_[call.sequence % kKept] = call; }
  // Returns the call of that number; null if it was not made, or too long ago.
  const WireHeader* Find(uint32_t sequence) const {
    const WireHeader& call = calls_[sequence % kKept];
    return call.magic != 0 && call.sequence == sequence ? &call : nullptr;
  }

 private:
  // A rank that waits sends an enquiry after a second: more is needed where another rank makes many
  // calls meanwhile that wait for nobody.
  static constexpr uint32_t kKept = 8;

  WireHeader calls_[kKept];
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_CALL_HISTORY_H_

// Abort: what broke a group, as its members send it to each other by control messages.
//
// The first message says who broke the group, and in which call; why, in words, follows in further
// ones. The first byte of every control message is its kind.

#ifndef BRIGADE_PATTERNS_ENGINE_ABORT_H_
#define BRIGADE_PATTERNS_ENGINE_ABORT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/status.h"
#include "patterns/schedule/pattern.h"

namespace brigade {

struct Abort {
  // The longest text that travels.
  static constexpr size_t kMostTextBytes = 200;

  int rank = 0;  // of the group
  StatusCode code = StatusCode::kAborted;
  std::optional<Pattern> pattern;  // of the call that failed, if it was one
  uint64_t sequence = 0;           // the number of that call on its channel
  std::string text;                // why

  // Returns the status that calls on the other ranks return.
  Status ToStatus() const;
  // The messages that say it.
  std::vector<std::string> ToMessages() const;
};

// Puts the messages together again.
class AbortReader {
 public:
  // The next message from the same sender. True once all have come; false, too, for any other kind
  // of message.
  bool Take(ConstByteSpan message);
  // As far as it has come.
  const Abort& abort() const { return abort_; }

 private:
  Abort abort_;
  size_t text_bytes_ = 0;  // of all of it
  bool begun_ = false;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_ABORT_H_

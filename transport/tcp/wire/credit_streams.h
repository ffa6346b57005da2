// SendStream and ReceiveStream: the two ends of one stream (channel, peer, direction) over a
// connection that all streams of two ranks share. They keep its order and its credits: a segment
// leaves only when there is a place for it, so a connection can always be read and no stream ever
// waits for another.
//
// A place is a posted receive, which the receiver announces with a grant, or, for a short segment,
// part of an eager window of kEagerWindowBytes per stream. A grant has the number of receives ever
// posted. ShouldGrant selects the grants that are sent at once: those without which the sender may
// have to stop, because its window is used up, or because it has few places for long segments.
// Other grants are sent with a segment in the other direction, or when their rank is idle.

#ifndef BRIGADE_TRANSPORT_TCP_WIRE_CREDIT_STREAMS_H_
#define BRIGADE_TRANSPORT_TCP_WIRE_CREDIT_STREAMS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>

#include "membuf/byte_span.h"
#include "membuf/overflow_budget.h"
#include "transport/completion.h"
#include "transport/core/fifo.h"
#include "transport/rules.h"
#include "transport/tcp/wire/kept_segments.h"

namespace brigade {

// The longest eager segment.
inline constexpr size_t kEagerBytes = rules::kTcpEagerBytes;
// The part of the window that a segment takes: even an empty one costs the receiver memory.
inline constexpr size_t EagerCost(size_t segment_bytes) { return segment_bytes + 64; }
// Two of the longest eager segments.
inline constexpr size_t kEagerWindowBytes = 2 * EagerCost(kEagerBytes);

class SendStream {
 public:
  struct Segment {
    ConstByteSpan bytes;
    Completion* completion = nullptr;
  };

  void Push(const Segment& segment) {
    waiting_.push_back({segment});
    ++unended_;
  }
  // Copies the last waiting segment, if it is short and all others have ended or are copied, too.
  // Returns its completion, which is complete then; null if nothing was done. Of many short
  // segments all but the last thus take little memory, and the last one's completion says when all
  // have left.
  Completion* KeepLast(const std::shared_ptr<OverflowBudget>& budget);
  bool waiting() const { return !waiting_.empty(); }
  // Whether the first waiting segment has room at its receiver.
  bool MayTake() const { return !waiting_.empty() && MaySend(FirstBytes()); }
  // Returns the first waiting segment, even if MayTake is false; it counts as sent. Without a
  // completion it is a copy.
  Segment Take();
  // The oldest segment that was taken, with a completion or not, has left or never will.
  void End(const Completion* completion) {
    completion == nullptr ? kept_.EndOldest() : void(--unended_);
  }
  // Whether a segment that has not waited may be sent. REQUIRES: none waits.
  bool MaySend(size_t bytes) const;
  void CountSent(size_t bytes);
  void CountSentNow(size_t bytes) {
    CountSent(bytes);
    ++unended_;
  }

  // Handles a grant: the receiver has posted `posted` receives, modulo 2^32. Older counts are
  // ignored.
  void OnGrant(uint32_t posted);
  // The receiver accepts and discards everything from here on.
  void GrantAll() { all_granted_ = true; }
  bool all_granted() const { return all_granted_; }

 private:
  // A segment, or as many copies in a row.
  struct Waiting {
    Segment segment;
    uint64_t copies = 0;
  };
  size_t FirstBytes() const {
    const Waiting& first = waiting_.front();
    return first.copies > 0 ? kept_.next_bytes() : first.segment.bytes.bytes;
  }

  Fifo<Waiting> waiting_;
  KeptSegments kept_;
  size_t unended_ = 0;  // segments that have a completion
  uint32_t sent_ = 0;
  uint32_t granted_ = 0;
  bool all_granted_ = false;
  Fifo<size_t> eager_costs_;  // of segments granted_ .. sent_ - 1
  size_t eager_bytes_ = 0;    // their sum
};

class ReceiveStream {
 public:
  struct Receive {
    ByteSpan buffer;
    bool in_place = false;  // the lease has no data
    Completion* completion = nullptr;
  };
  // A segment that has come, and its receive.
  struct Arrival {
    Receive receive;
    size_t bytes = 0;  // more than the receive buffer has: it was too long
  };

  // Posts a receive. Returns true, with *arrival, if its segment has come already.
  bool Post(const Receive& receive, Arrival* arrival);
  bool posted() const { return !posted_.empty(); }
  // Whether the segment of the next posted receive has come already.
  bool has_unexpected() const { return !unexpected_.empty(); }
  // Copies the first bytes of the segment of the next posted receive; returns how many.
  size_t Peek(ByteSpan head) const;
  // Cancels the oldest receive. REQUIRES: posted(), and no segment is coming in for it.
  Receive Cancel();

  // Begins the arrival of a segment of `bytes`, and returns its place. False if it exceeds the
  // sender's credit.
  bool Begin(size_t bytes, ByteSpan* where);
  // Ends the arrival. Returns true, with *arrival, if a receive waits for the segment.
  bool End(Arrival* arrival);
  // Discards the rest of the arriving segment.
  void Abandon() { coming_ = Coming::kNothing; }

  // Whether there are receives that the sender does not know of; and whether they should be granted
  // at once.
  bool ungranted() const { return granted_ != count_; }
  bool ShouldGrant() const {
    return ungranted() && ((long_ungranted_ && RunsShort()) || MayBlockSender());
  }
  // Returns the number of posted receives.
  uint32_t count() const { return count_; }
  // Returns the number of posted receives, which count as granted then.
  uint32_t Grant();

 private:
  struct Unexpected {
    std::unique_ptr<std::byte[]> bytes;
    size_t size = 0;
  };

  Arrival Deliver(const Unexpected& segment);
  // Removes and returns the oldest posted receive, whose segment of `bytes` has come.
  Receive Use(size_t bytes);
  // Returns how many of the posted receives are granted.
  size_t granted_left() const {
    const uint32_t ungranted = count_ - granted_;
    return posted_.size() - std::min<size_t>(posted_.size(), ungranted);
  }
  // Whether a sender of long segments may use up its grants before the next one arrives. The first
  // of two places may be nearly full.
  bool RunsShort() const {
    return granted_left() < 2 || posted_.front().buffer.bytes < kEagerWindowBytes;
  }
  // Whether the sender may not send its next segment, if that is of kEagerBytes.
  bool MayBlockSender() const {
    return ungranted_bytes_ + EagerCost(kEagerBytes) > kEagerWindowBytes;
  }

  enum class Coming { kNothing, kReceiveBuffer, kUnexpected };
  Coming coming_ = Coming::kNothing;
  size_t coming_bytes_ = 0;
  Unexpected coming_unexpected_;
  Fifo<Receive> posted_;
  std::list<Unexpected> unexpected_;  // came before their receives
  size_t unexpected_bytes_ = 0;       // their EagerCost

  uint32_t count_ = 0;  // receives ever posted
  uint32_t granted_ = 0;
  bool long_ungranted_ = false;
  size_t ungranted_bytes_ = 0;  // EagerCost of segments that came before their grant was sent
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_TCP_WIRE_CREDIT_STREAMS_H_

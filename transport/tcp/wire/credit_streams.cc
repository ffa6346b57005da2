#include "transport/tcp/wire/credit_streams.h"

#include <algorithm>
#include <utility>

#include "membuf/check.h"
#include "membuf/copy_bytes.h"

namespace brigade {
namespace {

// Counts wrap around.
bool Before(uint32_t a, uint32_t b) { return static_cast<int32_t>(b - a) > 0; }

}  // namespace

// --- SendStream ---

bool SendStream::MaySend(size_t bytes) const {
  if (all_granted_ || Before(sent_, granted_)) return true;
  return bytes <= kEagerBytes && eager_bytes_ + EagerCost(bytes) <= kEagerWindowBytes;
}

void SendStream::CountSent(size_t bytes) {
  if (!Before(sent_, granted_)) {
    eager_costs_.push_back(EagerCost(bytes));
    eager_bytes_ += EagerCost(bytes);
  }
  ++sent_;
}

SendStream::Segment SendStream::Take() {
  Waiting& first = waiting_.front();
  const bool is_copy = first.copies > 0;
  const Segment segment = is_copy ? Segment{kept_.Next(), nullptr} : first.segment;
  if (!is_copy || --first.copies == 0) waiting_.pop_front();
  CountSent(segment.bytes.bytes);
  return segment;
}

Completion* SendStream::KeepLast(const std::shared_ptr<OverflowBudget>& budget) {
  if (waiting_.empty() || unended_ != 1) return nullptr;
  const auto last = waiting_.end() - 1;
  const Segment segment = last->segment;
  if (last->copies > 0 || segment.bytes.bytes > KeptSegments::kMostBytes ||
      !kept_.Keep(segment.bytes, budget)) {
    return nullptr;
  }
  *last = Waiting{{}, 1};
  if (waiting_.size() > 1) {
    ++(last - 1)->copies;  // nothing else waits there
    waiting_.pop_back();
  }
  unended_ = 0;
  return segment.completion;
}

void SendStream::OnGrant(uint32_t posted) {
  while (!eager_costs_.empty() && Before(granted_, posted)) {
    eager_bytes_ -= eager_costs_.front();
    eager_costs_.pop_front();
    ++granted_;
  }
  if (Before(granted_, posted)) granted_ = posted;
}

// --- ReceiveStream ---

ReceiveStream::Receive ReceiveStream::Use(size_t bytes) {
  // If the receive was granted already, the grant returned the segment's part of the window to the
  // sender.
  if (granted_left() == 0) ungranted_bytes_ += EagerCost(bytes);
  const Receive receive = posted_.front();
  posted_.pop_front();
  return receive;
}

ReceiveStream::Arrival ReceiveStream::Deliver(const Unexpected& segment) {
  const Receive receive = Use(segment.size);
  const size_t bytes = std::min(segment.size, receive.buffer.bytes);
  CopyBytes(receive.buffer.data, segment.bytes.get(), bytes);
  return Arrival{receive, segment.size};
}

bool ReceiveStream::Post(const Receive& receive, Arrival* arrival) {
  posted_.push_back(receive);
  ++count_;
  if (receive.buffer.bytes > kEagerBytes) long_ungranted_ = true;
  if (unexpected_.empty()) return false;
  *arrival = Deliver(unexpected_.front());
  unexpected_bytes_ -= EagerCost(unexpected_.front().size);
  unexpected_.pop_front();
  return true;
}

size_t ReceiveStream::Peek(ByteSpan head) const {
  if (unexpected_.empty()) return 0;
  const size_t bytes = std::min(head.bytes, unexpected_.front().size);
  CopyBytes(head.data, unexpected_.front().bytes.get(), bytes);
  return bytes;
}

ReceiveStream::Receive ReceiveStream::Cancel() {
  BRIGADE_CHECK(coming_ != Coming::kReceiveBuffer);
  const Receive receive = posted_.front();
  posted_.pop_front();
  return receive;
}

bool ReceiveStream::Begin(size_t bytes, ByteSpan* where) {
  // A peer with two connections that brings a segment on each.
  if (coming_ != Coming::kNothing) return false;
  coming_bytes_ = bytes;
  if (!posted_.empty()) {
    coming_ = Coming::kReceiveBuffer;
    *where = posted_.front().buffer;
    return true;
  }
  if (bytes > kEagerBytes || unexpected_bytes_ + EagerCost(bytes) > kEagerWindowBytes) return false;
  coming_ = Coming::kUnexpected;
  coming_unexpected_.bytes.reset(new std::byte[bytes]);
  coming_unexpected_.size = bytes;
  *where = ByteSpan{coming_unexpected_.bytes.get(), bytes};
  return true;
}

bool ReceiveStream::End(Arrival* arrival) {
  switch (std::exchange(coming_, Coming::kNothing)) {
    case Coming::kNothing:
      BRIGADE_CHECK(false);
      return false;
    case Coming::kReceiveBuffer:
      *arrival = Arrival{Use(coming_bytes_), coming_bytes_};
      return true;
    case Coming::kUnexpected:
      break;
  }
  if (posted_.empty()) {
    unexpected_bytes_ += EagerCost(coming_bytes_);
    unexpected_.push_back(std::move(coming_unexpected_));
    return false;
  }
  *arrival = Deliver(coming_unexpected_);
  coming_unexpected_.bytes.reset();
  return true;
}

uint32_t ReceiveStream::Grant() {
  granted_ = count_;
  ungranted_bytes_ = 0;
  long_ungranted_ = false;
  return count_;
}

}  // namespace brigade

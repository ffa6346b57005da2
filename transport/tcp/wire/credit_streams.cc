#include "transport/tcp/wire/credit_streams.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "membuf/check.h"

namespace brigade {
namespace {

// Counts wrap around.
bool Before(uint32_t a, uint32_t b) { return static_cast<int32_t>(b - a) > 0; }

}  // namespace

// --- SendStream ---

bool SendStream::MaySend(size_t bytes) const {
  if (all_granted_ || Before(sent_, granted_)) return true;
  return bytes <= kEagerBytes && ahead_bytes_ + AheadCost(bytes) <= kAheadBytes;
}

void SendStream::CountSent(size_t bytes) {
  if (!Before(sent_, granted_)) {
    ahead_.push_back(AheadCost(bytes));
    ahead_bytes_ += AheadCost(bytes);
  }
  ++sent_;
}

SendStream::Piece SendStream::Take() {
  const Piece piece = waiting_.front();
  waiting_.pop_front();
  CountSent(piece.bytes.bytes);
  return piece;
}

void SendStream::Grant(uint32_t posted) {
  while (!ahead_.empty() && Before(granted_, posted)) {
    ahead_bytes_ -= ahead_.front();
    ahead_.pop_front();
    ++granted_;
  }
  if (Before(granted_, posted)) granted_ = posted;
}

// --- ReceiveStream ---

ReceiveStream::Arrival ReceiveStream::Consume(const Stored& stored) {
  const Receive receive = posted_.front();
  posted_.pop_front();
  const size_t bytes = std::min(stored.size, receive.landing.bytes);
  if (bytes > 0) std::memcpy(receive.landing.data, stored.bytes.get(), bytes);
  return Arrival{receive, stored.size};
}

bool ReceiveStream::Post(const Receive& receive, Arrival* arrival) {
  posted_.push_back(receive);
  ++count_;
  if (receive.landing.bytes > kEagerBytes) long_untold_ = true;
  if (stored_.empty()) return false;
  *arrival = Consume(stored_.front());
  stored_bytes_ -= AheadCost(stored_.front().size);
  untold_bytes_ += AheadCost(stored_.front().size);
  stored_.pop_front();
  return true;
}

ReceiveStream::Receive ReceiveStream::TakeBack() {
  BRIGADE_CHECK(coming_ != Coming::kLanding);
  const Receive receive = posted_.front();
  posted_.pop_front();
  return receive;
}

bool ReceiveStream::Begin(size_t bytes, ByteSpan* where) {
  BRIGADE_CHECK(coming_ == Coming::kNothing);
  coming_bytes_ = bytes;
  if (!posted_.empty()) {
    coming_ = Coming::kLanding;
    *where = posted_.front().landing;
    return true;
  }
  if (bytes > kEagerBytes || stored_bytes_ + AheadCost(bytes) > kAheadBytes) return false;
  coming_ = Coming::kStore;
  coming_store_.bytes.reset(new std::byte[bytes]);
  coming_store_.size = bytes;
  *where = ByteSpan{coming_store_.bytes.get(), bytes};
  return true;
}

bool ReceiveStream::End(Arrival* arrival) {
  switch (std::exchange(coming_, Coming::kNothing)) {
    case Coming::kNothing:
      BRIGADE_CHECK(false);
      return false;
    case Coming::kLanding:
      *arrival = Arrival{posted_.front(), coming_bytes_};
      posted_.pop_front();
      untold_bytes_ += AheadCost(coming_bytes_);
      return true;
    case Coming::kStore:
      break;
  }
  if (posted_.empty()) {
    stored_bytes_ += AheadCost(coming_bytes_);
    stored_.push_back(std::move(coming_store_));
    return false;
  }
  *arrival = Consume(coming_store_);
  untold_bytes_ += AheadCost(coming_bytes_);
  coming_store_.bytes.reset();
  return true;
}

uint32_t ReceiveStream::Tell() {
  told_ = count_;
  untold_bytes_ = 0;
  long_untold_ = false;
  return count_;
}

}  // namespace brigade

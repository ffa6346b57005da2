#include "windows/sync/lock_queue.h"

#include <string>

#include "membuf/check.h"

namespace brigade {

size_t LockQueue::BytesFor(int members) {
  return sizeof(Front) + static_cast<size_t>(members) * sizeof(Entry);
}

LockQueue::LockQueue(std::byte* memory, int members) : memory_(memory), members_(members) {}

LockQueue::Entry& LockQueue::entry(int origin) const {
  BRIGADE_CHECK_LE(0, origin);
  BRIGADE_CHECK_LT(origin, members_);
  return reinterpret_cast<Entry*>(memory_ + sizeof(Front))[origin];
}

Status LockQueue::Request(int origin, LockKind kind, bool by_message, bool* granted) {
  Entry& asks = entry(origin);
  const State state = asks.state.load(std::memory_order_relaxed);
  if (state != State::kNone) {
    return {StatusCode::kMismatch,
            "rank " + std::to_string(origin) + " locks a window whose lock it " +
                (state == State::kHolds ? "holds" : "has requested") + " already"};
  }
  asks.kind = kind;
  asks.by_message = by_message;
  asks.behind = 0;
  *granted = front().first == 0 && MayEnter(kind);
  if (*granted) {
    Enter(origin);
    return Status();
  }
  asks.state.store(State::kWaits, std::memory_order_relaxed);
  (front().first == 0 ? front().first : entry(front().last - 1).behind) = origin + 1;
  front().last = origin + 1;
  return Status();
}

Status LockQueue::Release(int origin, std::vector<int>* granted_by_message) {
  if (entry(origin).state.load(std::memory_order_relaxed) != State::kHolds) {
    return {StatusCode::kMismatch,
            "rank " + std::to_string(origin) + " unlocks a window whose lock it does not hold"};
  }
  --front().holders;
  entry(origin).state.store(State::kNone, std::memory_order_relaxed);
  Grant(granted_by_message);
  return Status();
}

bool LockQueue::Holds(int origin) const {
  return entry(origin).state.load(std::memory_order_acquire) == State::kHolds;
}

void LockQueue::Enter(int origin) {
  ++front().holders;
  front().held = entry(origin).kind;
  entry(origin).state.store(State::kHolds, std::memory_order_release);
}

void LockQueue::Grant(std::vector<int>* granted_by_message) {
  granted_by_message->clear();
  while (front().first != 0 && MayEnter(entry(front().first - 1).kind)) {
    const int origin = front().first - 1;
    const Entry& waiter = entry(origin);
    front().first = waiter.behind;
    if (waiter.by_message) granted_by_message->push_back(origin);
    Enter(origin);
  }
}

}  // namespace brigade

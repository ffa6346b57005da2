#include "windows/sync/lock_queue.h"

#include <algorithm>
#include <string>

namespace brigade {

Status LockQueue::Request(int origin, LockKind kind, bool* granted) {
  const bool holds = std::find(holders_.begin(), holders_.end(), origin) != holders_.end();
  const bool waits = std::any_of(waiting_.begin(), waiting_.end(),
                                 [&](const Waiter& waiter) { return waiter.origin == origin; });
  if (holds || waits) {
    return {StatusCode::kMismatch, "rank " + std::to_string(origin) +
                                       " locks a window of which it " +
                                       (holds ? "has" : "has asked for") + " the lock already"};
  }
  *granted = waiting_.empty() && MayEnter(kind);
  if (*granted) {
    Enter({origin, kind});
  } else {
    waiting_.push_back({origin, kind});
  }
  return Status();
}

Status LockQueue::Release(int origin, std::vector<int>* granted) {
  const auto holder = std::find(holders_.begin(), holders_.end(), origin);
  if (holder == holders_.end()) {
    return {StatusCode::kMismatch,
            "rank " + std::to_string(origin) + " unlocks a window of which it has no lock"};
  }
  holders_.erase(holder);
  Grant(granted);
  return Status();
}

void LockQueue::Forget(int origin, std::vector<int>* granted) {
  holders_.erase(std::remove(holders_.begin(), holders_.end(), origin), holders_.end());
  waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(),
                                [&](const Waiter& waiter) { return waiter.origin == origin; }),
                 waiting_.end());
  Grant(granted);
}

void LockQueue::Enter(const Waiter& waiter) {
  held_ = waiter.kind;
  holders_.push_back(waiter.origin);
}

void LockQueue::Grant(std::vector<int>* granted) {
  granted->clear();
  while (!waiting_.empty() && MayEnter(waiting_.front().kind)) {
    Enter(waiting_.front());
    granted->push_back(waiting_.front().origin);
    waiting_.pop_front();
  }
}

}  // namespace brigade

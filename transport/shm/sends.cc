#include "transport/shm/sends.h"

#include <algorithm>
#include <cstdint>

#include "membuf/status.h"
#include "transport/rules.h"
#include "transport/shm/peers.h"

namespace brigade::shm {

void Sends::Add(OutStream* out, const OutEdge::Receipt& receipt, Completion* completion) {
  if (out->under_way.empty()) {
    sending_.push_back(out);
    out->edge.KeepReceiptsFrom(receipt.number);
  }
  out->under_way.push_back({receipt, completion});
}

size_t Sends::CountTaken() const {
  ptrdiff_t taken = 0;
  for (OutStream* out : sending_) {
    taken +=
        std::count_if(out->under_way.begin(), out->under_way.end(),
                      [&](const OutStream::Sent& sent) { return out->edge.IsTaken(sent.receipt); });
  }
  return static_cast<size_t>(taken);
}

bool Sends::Finish() {
  int left = rules::kShmMostSendsAtOnce;
  for (size_t i = 0; i < sending_.size() && left > 0;) {
    FinishStream(sending_[i], &left);
    if (sending_[i]->under_way.empty()) {
      sending_[i] = sending_.back();
      sending_.pop_back();
    } else {
      ++i;
    }
  }
  if (left > 0) return left < rules::kShmMostSendsAtOnce;
  // The next look begins with another.
  if (!sending_.empty()) std::rotate(sending_.begin(), sending_.begin() + 1, sending_.end());
  LookNext();
  return true;
}

void Sends::FinishStream(OutStream* out, int* left) {
  const uint64_t released = out->edge.released();
  const bool closed = out->edge.closed();
  if (released == out->released_seen && !closed) return;
  // Receivers mostly give back in order: the first ones are over, the rest is left alone.
  auto to_find = static_cast<int64_t>(released - out->released_seen);
  auto kept = out->under_way.begin();
  auto sent = out->under_way.begin();
  for (; sent != out->under_way.end() && (to_find > 0 || closed) && *left > 0; ++sent) {
    if (sent->receipt.given()) {
      --to_find;
    } else if (!out->edge.NeverTaken(sent->receipt)) {
      *kept++ = *sent;
      continue;
    }
    --*left;
    sent->completion->status = Status();
    completions_->Finish(sent->completion, CompletionQueue::kSend);
  }
  out->released_seen = released - static_cast<uint64_t>(to_find);
  out->under_way.erase(kept, sent);
  out->edge.KeepReceiptsFrom(out->under_way.empty() ? UINT64_MAX
                                                    : out->under_way.front().receipt.number);
}

void Sends::FailLost() {
  while (Finish()) {
  }
  for (OutStream* out : sending_) {
    if (!out->peer->lost) continue;
    for (const OutStream::Sent& sent : out->under_way) {
      sent.completion->status = Lost(*out->peer, out->rank);
      completions_->Finish(sent.completion, CompletionQueue::kSend);
    }
    out->under_way.clear();
  }
  const auto over = [](OutStream* out) { return out->under_way.empty(); };
  sending_.erase(std::remove_if(sending_.begin(), sending_.end(), over), sending_.end());
}

}  // namespace brigade::shm

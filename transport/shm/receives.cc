#include "transport/shm/receives.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "transport/core/errors.h"
#include "transport/shm/peers.h"

namespace brigade::shm {
namespace {

Status Broken(const InStream& in, const char* what) {
  return Status(StatusCode::kInternal, "shm: rank " + std::to_string(in.rank) +
                                           " of the group has written " + what +
                                           " into its shared memory");
}

// Where the message of the stream's next slot lies, or what of it is not in the posted buffer; no
// data if it is nowhere.
ConstByteSpan MessageIn(const InStream& in, const Slot& slot) {
  if (slot.kind == Slot::kSegment) return in.group->SegmentIn(slot);
  const bool in_slot =
      slot.kind == Slot::kInline || (slot.kind == Slot::kInPosted && in.has_posted);
  return in_slot ? in.edge.Inline(slot) : ConstByteSpan();
}

}  // namespace

Status Receives::Post(InStream* in, const InStream::Receive& receive) {
  if (in->receives.empty()) {
    if (const Slot* slot = in->edge.Peek()) {
      Match(in, slot, receive);
      return Status();
    }
    if (in->peer->lost) return Lost(*in->peer, in->rank);
    expecting_.push_back(in);
  }
  in->receives.push_back(receive);
  return Status();
}

size_t Receives::Peek(InStream* in, ByteSpan head) {
  const Slot* const slot = in->receives.empty() ? in->edge.Peek() : nullptr;
  if (slot == nullptr) return 0;
  const ConstByteSpan message = MessageIn(*in, *slot);
  if (message.data == nullptr) return 0;
  const size_t bytes = std::min(head.bytes, message.bytes);
  if (bytes > 0) std::memcpy(head.data, message.data, bytes);
  return bytes;
}

void Receives::Match(InStream* in, const Slot* slot, const InStream::Receive& receive) {
  Completion* const completion = receive.completion;
  completion->status = Status();
  completion->lease = Lease();
  const bool is_segment = slot->kind == Slot::kSegment;
  const ConstByteSpan message = MessageIn(*in, *slot);
  in->has_posted = false;
  if (message.data == nullptr) {
    completion->status = Broken(*in, "a message that is nowhere");
  } else if (message.bytes > receive.most_bytes) {
    completion->status = SegmentTooLong("shm", message.bytes, in->rank, receive.most_bytes);
  }
  const InEdge::Receipt receipt = in->edge.Take();
  if (!completion->status.ok()) {
    in->edge.GiveBack(receipt, is_segment);
  } else {
    completion->lease = Lease{message.data, message.bytes, AddLease({in, receipt, is_segment})};
  }
  completions_->Finish(completion, in->group->id);
}

uint64_t Receives::AddLease(const Leased& leased) {
  if (free_leases_.empty()) {
    free_leases_.push_back(leased_.size());
    leased_.emplace_back();
  }
  const uint64_t index = free_leases_.back();
  free_leases_.pop_back();
  leased_[index] = leased;
  ++leased.in->leased;
  return index + 1;
}

void Receives::Release(const Lease& lease) {
  if (lease.token == 0) return;
  Leased& leased = leased_[lease.token - 1];
  leased.in->edge.GiveBack(leased.receipt, leased.is_segment);
  if (leased.is_segment) leased.in->peer->shared->progress_doorbell.Signal();
  --leased.in->leased;
  leased.in = nullptr;
  free_leases_.push_back(lease.token - 1);
}

bool Receives::TakeArrivals() {
  bool moved = false;
  for (size_t i = 0; i < expecting_.size();) {
    InStream* const in = expecting_[i];
    while (!in->receives.empty()) {
      const Slot* slot = in->edge.Peek();
      if (slot == nullptr) break;
      const InStream::Receive receive = in->receives.front();
      in->receives.pop_front();
      Match(in, slot, receive);
      moved = true;
    }
    if (in->edge.broken() != nullptr) Fail(in, Broken(*in, in->edge.broken()));
    if (in->receives.empty()) {
      expecting_[i] = expecting_.back();
      expecting_.pop_back();
    } else {
      ++i;
    }
  }
  return moved;
}

void Receives::Fail(InStream* in, const Status& status) {
  for (const InStream::Receive& receive : in->receives) {
    receive.completion->status = status;
    receive.completion->lease = Lease();
    completions_->Finish(receive.completion, in->group->id);
  }
  in->receives.clear();
}

void Receives::Forget(const Group* group) {
  const auto of_group = [&](const InStream* in) { return in->group == group; };
  expecting_.erase(std::remove_if(expecting_.begin(), expecting_.end(), of_group),
                   expecting_.end());
}

void Receives::FailLost() {
  (void)TakeArrivals();
  for (InStream* in : expecting_) {
    if (in->peer->lost) Fail(in, Lost(*in->peer, in->rank));
  }
  const auto idle = [](const InStream* in) { return in->receives.empty(); };
  expecting_.erase(std::remove_if(expecting_.begin(), expecting_.end(), idle), expecting_.end());
}

}  // namespace brigade::shm

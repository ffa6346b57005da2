#include "windows/core/direct_access.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "membuf/accumulate.h"
#include "membuf/byte_span.h"
#include "membuf/copy_bytes.h"
#include "membuf/element.h"
#include "windows/core/fences.h"
#include "windows/layout/layout_copy.h"
#include "windows/layout/layout_cursor.h"
#include "windows/memory/attached_ranges.h"
#include "windows/memory/target_memory.h"
#include "windows/rules.h"

namespace brigade {
namespace {

LayoutCursor Along(const RmaRequest::Values& values) {
  return LayoutCursor(values.layout, values.count);
}

}  // namespace

void DirectAccess::OpenMailboxes() {
  std::vector<std::byte*> areas;
  for (int r = 0; r < router_.size(); ++r) areas.push_back(router_.direct(r)->mailboxes());
  mailboxes_.emplace(router_.rank(), areas);
}

void DirectAccess::MakeWantedMailboxes(ExposedMemory* exposed) {
  if (!mailboxes_.has_value() || !mailboxes_->are_wanted()) return;
  mailboxes_->OpenBoxes(exposed->MakeBoxes(ShortPutMailboxes::SizeOfArea(router_.size())).ok());
}

Status DirectAccess::CheckAttached(const RmaRequest& request) {
  const AttachedRanges attached = router_.direct(request.rank)->attached();
  BRIGADE_RETURN_IF_ERROR(TakeLock(&attached.changing()));
  const bool is_attached = attached.Hold(*request.target.layout, request.target.count,
                                         static_cast<int64_t>(kProcessAddress) + request.offset);
  attached.changing().Unlock();
  if (is_attached) return Status();
  return {StatusCode::kInvalidArgument,
          "the access at address " + std::to_string(request.displacement) + " of rank " +
              std::to_string(request.rank) +
              " reaches memory that the rank has not attached to the window"};
}

bool DirectAccess::LeaveInMailbox(const RmaRequest& request) {
  const int t = request.rank;
  if (epochs_.HasLock(t)) return false;
  const bool has_started = epochs_.HasStarted(t);
  if (request.kind == RmaKind::kGet) {
    return request.over == nullptr && !has_started && wait_.MeetsInOneRound() &&
           request.receive.layout->is_contiguous() && request.target.layout->is_contiguous() &&
           mailboxes_->GetFenced(t, request.offset, request.receive.bytes(), request.receive.data);
  }
  if (request.kind != RmaKind::kPut || request.end != AccessEnd::kEpoch) return false;
  LayoutCursor from = Along(request.send);
  LayoutCursor to = Along(request.target);
  const int64_t bytes = request.send.bytes();
  return has_started
             ? mailboxes_->PutStarted(counters_.posts_used(t), t, &from, request.send.data, bytes,
                                      &to, request.offset)
             : mailboxes_->PutFenced(t, &from, request.send.data, bytes, &to, request.offset);
}

Status DirectAccess::AwaitRead(int target) {
  const WindowWait::ProgressGuard guard(&wait_);
  return wait_.Until(/*by_message=*/false, "a target to leave a fence",
                     [&] { return mailboxes_->HasRead(target); });
}

Status DirectAccess::DeliverMailbox(int target) {
  if (!mailboxes_.has_value()) return Status();
  BRIGADE_RETURN_IF_ERROR(AwaitMailboxRead(target));  // or older puts would lie over these
  const TargetMemory& reached = *router_.direct(target);
  Status status;
  const auto deliver = [&](uint64_t offset, ConstByteSpan bytes) {
    LayoutCursor from = LayoutCursor::Packed(static_cast<int64_t>(bytes.bytes));
    LayoutCursor to = LayoutCursor::Packed(static_cast<int64_t>(bytes.bytes));
    if (!status.ok()) return;
    status = reached.Put(&from, bytes.data, from.size(), &to, static_cast<int64_t>(offset));
  };
  const auto fetch = [&](uint64_t offset, ByteSpan into) {
    LayoutCursor from = LayoutCursor::Packed(static_cast<int64_t>(into.bytes));
    LayoutCursor to = LayoutCursor::Packed(static_cast<int64_t>(into.bytes));
    if (!status.ok()) return;
    status = reached.Get(&from, static_cast<int64_t>(offset), from.size(), &to, into.data);
  };
  ProcessLock& combining = reached.page().combining();
  BRIGADE_RETURN_IF_ERROR(TakeLock(&combining));
  mailboxes_->Withdraw(counters_.posts_used(target), target, deliver, fetch);
  combining.Unlock();
  return Reached(target, status);
}

Status DirectAccess::Run(const RmaRequest& request) {
  if (request.combines()) return Combine(request);
  if (request.kind == RmaKind::kSwap) return Swap(request);
  const TargetMemory& reached = *router_.direct(request.rank);
  const bool is_put = request.kind == RmaKind::kPut;
  const RmaRequest::Values& own = is_put ? request.send : request.receive;
  const int64_t bytes = own.bytes();
  if (reached.mapped() != nullptr && own.layout->is_contiguous() &&
      request.target.layout->is_contiguous()) {
    std::byte* const there = reached.mapped() + request.offset;
    CopyBytes(is_put ? there : own.data, is_put ? own.data : there, static_cast<size_t>(bytes));
    if (!is_put) LoadFence();
    return Status();
  }
  LayoutCursor here = Along(own);
  LayoutCursor there = Along(request.target);
  if (is_put) {
    return Reached(request.rank, reached.Put(&here, own.data, bytes, &there, request.offset));
  }
  const Status status = reached.Get(&there, request.offset, bytes, &here, own.data);
  LoadFence();
  return Reached(request.rank, status);
}

Status DirectAccess::Combine(const RmaRequest& request) {
  const TargetMemory& reached = *router_.direct(request.rank);
  ProcessLock& combining = reached.page().combining();
  const bool fetches = request.kind == RmaKind::kFetch;
  const RmaRequest::Values& send = request.op == CombineOp::kNoOp ? request.target : request.send;
  const int64_t bytes = request.target.bytes();
  const auto each =
      static_cast<int64_t>(request.element == Element::kMixed ? 1 : ElementBytes(request.element));
  // Each element is atomic: values of others may be combined in between.
  const int64_t piece = fetches || request.element != Element::kMixed
                            ? std::min(bytes, rules::kMostCombinedBytes / each * each)
                            : bytes;
  if (request.element != Element::kMixed && reached.mapped() != nullptr &&
      send.layout->is_contiguous() && request.target.layout->is_contiguous()) {
    if (fetches && bytes == each && request.receive.layout->is_contiguous()) {
      return FetchOne(request, static_cast<size_t>(bytes));
    }
    if (!fetches) {
      if (request.op == CombineOp::kNoOp) return Status();  // has no data
      for (int64_t done = 0; done < bytes; done += piece) {
        BRIGADE_RETURN_IF_ERROR(TakeLock(&combining));
        Accumulate(request.op, request.element,
                   static_cast<size_t>(std::min(piece, bytes - done) / each),
                   reached.mapped() + request.offset + done, send.data + done);
        combining.Unlock();
      }
      return Status();
    }
  }
  LayoutCursor from = Along(send);
  LayoutCursor to = Along(request.target);
  LayoutCursor back = Along(fetches ? request.receive : send);
  std::vector<std::byte> fetched(fetches ? static_cast<size_t>(piece) : 0);
  for (int64_t done = 0; done < bytes; done += piece) {
    const int64_t now = std::min(piece, bytes - done);
    BRIGADE_RETURN_IF_ERROR(TakeLock(&combining));
    const Status status =
        reached.Accumulate(request.op, request.element, &from, send.data, now, &to, request.offset,
                           fetches ? fetched.data() : nullptr);
    combining.Unlock();
    BRIGADE_RETURN_IF_ERROR(Reached(request.rank, status));
    if (fetches) Scatter(fetched.data(), now, &back, request.receive.data);
  }
  if (fetches) LoadFence();
  return Status();
}

Status DirectAccess::FetchOne(const RmaRequest& request, size_t bytes) {
  const TargetMemory& reached = *router_.direct(request.rank);
  std::byte* const there = reached.mapped() + request.offset;
  std::byte old[kMostElementBytes];
  BRIGADE_RETURN_IF_ERROR(TakeLock(&reached.page().combining()));
  std::memcpy(old, there, bytes);
  if (request.op != CombineOp::kNoOp) {
    Accumulate(request.op, request.element, 1, there, request.send.data);
  }
  reached.page().combining().Unlock();
  LoadFence();
  std::memcpy(request.receive.data, old, bytes);
  return Status();
}

Status DirectAccess::Swap(const RmaRequest& request) {
  const TargetMemory& reached = *router_.direct(request.rank);
  const auto bytes = static_cast<size_t>(request.target.bytes());
  std::byte old[sizeof(uint64_t)];
  std::byte desired[sizeof(uint64_t)];
  std::memcpy(desired, request.send.data, bytes);
  LayoutCursor from = Along(request.target);
  LayoutCursor to = Along(request.target);
  BRIGADE_RETURN_IF_ERROR(TakeLock(&reached.page().combining()));
  Status status = reached.Get(&from, request.offset, from.size(), &to, old);
  if (status.ok() && std::memcmp(old, request.expected, bytes) == 0) {
    from.Seek(0);
    to.Seek(0);
    status = reached.Put(&from, desired, from.size(), &to, request.offset);
  }
  reached.page().combining().Unlock();
  LoadFence();
  BRIGADE_RETURN_IF_ERROR(Reached(request.rank, status));
  std::memcpy(request.receive.data, old, bytes);
  return Status();
}

Status DirectAccess::TakeLock(ProcessLock* lock) {
  constexpr int kLooks = 100;
  for (int looks = 0; looks < kLooks; ++looks) {
    if (lock->TryLock(router_.rank())) return Status();
  }
  const WindowWait::ProgressGuard guard(&wait_);
  return wait_.UntilLocked(lock);
}

Status DirectAccess::Reached(int target, const Status& outcome) {
  if (outcome.ok()) return outcome;
  return wait_.Break(outcome.WithContext("rank " + std::to_string(target) + " of a window"));
}

}  // namespace brigade

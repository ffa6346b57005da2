// The operations of a window.

#include <atomic>
#include <cstdint>
#include <string>

#include "windows/core/fences.h"
#include "windows/core/window.h"

namespace brigade {
namespace {

// Casts const away: RmaRequest::Values also describes results. Operations only read their sources.
std::byte* Writable(const void* memory) {
  return const_cast<std::byte*>(static_cast<const std::byte*>(memory));
}

}  // namespace

Status Window::Check(RmaRequest* request) {
  BRIGADE_RETURN_IF_ERROR(router_.Resolve(request));
  const bool is_dynamic = router_.member(request->rank).kind == WindowMemory::kDynamic;
  return is_dynamic && request->bytes() > 0 && reaches(request->rank)
             ? direct_access_->CheckAttached(*request)
             : Status();
}

Status Window::Run(RmaRequest* request) {
  if (fork_watch_.IsForked()) return Engine::ForkedFailure();
  BRIGADE_RETURN_IF_ERROR(Check(request));
  const int target = request->rank;
  const TargetMemory* const reached = router_.direct(target);
  if (request->is_fetching() && request->over != nullptr) request->end = AccessEnd::kAnswer;
  const bool notifies = request->end == AccessEnd::kNotification;
  if (!notifies) {
    BRIGADE_RETURN_IF_ERROR(epochs_.BeginAccess(target));
  } else if (reached != nullptr) {
    BRIGADE_RETURN_IF_ERROR(direct_access_->DeliverMailbox(target));
  }
  if (request->is_empty()) {
    request->End();
  } else if (reached == nullptr) {
    // The end of a put that notifies is its notification.
    return message_access_->Send(request);
  } else {
    BRIGADE_RETURN_IF_ERROR(RunDirectly(*request));
  }
  if (!notifies) return Status();
  if (reached == nullptr) {
    const WindowWait::ProgressGuard guard(&*wait_);
    return message_access_->Notify(target);
  }
  reached->page().notified(rank()).fetch_add(1, std::memory_order_release);
  return Status();
}

Status Window::RunDirectly(const RmaRequest& request) {
  if (served_.checked.has_value()) BRIGADE_RETURN_IF_ERROR(CheckOwn(request));
  Status status = router_.member(request.rank).kind == WindowMemory::kPrivate
                      ? RunOnPrivate(request)
                      : direct_access_->Run(request);
  request.End();
  return status;
}

Status Window::RunOnPrivate(const RmaRequest& request) {
  if (direct_access_->TryMailbox(request)) return Status();
  BRIGADE_RETURN_IF_ERROR(direct_access_->AwaitMailboxRead(request.rank));
  if (router_.IsScattered(request)) {
    bool is_done = false;
    BRIGADE_RETURN_IF_ERROR(message_access_->Delegate(request, &is_done));
    if (is_done) {
      LoadFence();
      return Status();
    }
  }
  return direct_access_->Run(request);
}

Status Window::CheckOwn(const RmaRequest& request) {
  Status status;
  {
    const WindowWait::ProgressGuard guard(&*wait_);
    status = served_.checked->Add(
        {AccessKindOf(request.kind), request.op, request.element, request.end, rank()},
        *request.target.layout, request.target.count, request.offset);
    // It is over before this rank can notify another.
    if (request.end != AccessEnd::kEpoch) served_.checked->EndBy(request.end, rank());
  }
  return status.ok() ? status : wait_->Break(status);
}

void Window::EndOwn(FlushedPart part) {
  if (!served_.checked.has_value()) return;
  const WindowWait::ProgressGuard guard(&*wait_);
  if (part == FlushedPart::kReads) {
    served_.checked->EndReads(rank());
  } else {
    served_.checked->EndAll(rank());
  }
}

Status Window::Put(const OriginData& origin, const TargetData& target, std::atomic<bool>* over,
                   bool fence_follows) {
  RmaRequest request = RmaRequest::To(RmaKind::kPut, target, over);
  request.send = RmaRequest::Of(origin);
  request.fence_follows = fence_follows;
  return Run(&request);
}

Status Window::PutNotify(const OriginData& origin, const TargetData& target,
                         std::atomic<bool>* over) {
  RmaRequest request = RmaRequest::To(RmaKind::kPut, target, over);
  request.send = RmaRequest::Of(origin);
  request.end = AccessEnd::kNotification;
  return Run(&request);
}

Status Window::Get(const OriginData& result, const TargetData& target, std::atomic<bool>* over) {
  RmaRequest request = RmaRequest::To(RmaKind::kGet, target, over);
  request.op = CombineOp::kNoOp;
  request.receive = RmaRequest::Of(result);
  return Run(&request);
}

Status Window::Accumulate(CombineOp op, const OriginData& origin, const TargetData& target,
                          std::atomic<bool>* over) {
  RmaRequest request = RmaRequest::To(RmaKind::kAccumulate, target, over);
  request.op = op;
  request.send = RmaRequest::Of(origin);
  return Run(&request);
}

Status Window::GetAccumulate(CombineOp op, const OriginData& origin, const OriginData& result,
                             const TargetData& target, std::atomic<bool>* over) {
  RmaRequest request = RmaRequest::To(RmaKind::kFetch, target, over);
  request.op = op;
  if (op != CombineOp::kNoOp) request.send = RmaRequest::Of(origin);
  request.receive = RmaRequest::Of(result);
  return Run(&request);
}

Status Window::FetchAndOp(CombineOp op, Element element, const void* value, void* result, int rank,
                          int64_t displacement, std::atomic<bool>* over) {
  if (element == Element::kMixed) {
    return {StatusCode::kInvalidArgument, "fetch-and-op of a layout of several element types"};
  }
  const TypedLayout& one = TypedLayout::One(element);
  RmaRequest request;
  request.kind = RmaKind::kFetch;
  request.op = op;
  request.rank = rank;
  request.displacement = displacement;
  request.target = {nullptr, &one, 1};
  if (op != CombineOp::kNoOp) request.send = {Writable(value), &one, 1};
  request.receive = {static_cast<std::byte*>(result), &one, 1};
  request.over = over;
  return Run(&request);
}

Status Window::CompareAndSwap(Element element, const void* expected, const void* desired,
                              void* result, int rank, int64_t displacement,
                              std::atomic<bool>* over) {
  if (element == Element::kMixed) {
    return {StatusCode::kInvalidArgument, "compare-and-swap of a layout of several element types"};
  }
  if (ElementBytes(element) > sizeof(uint64_t)) {
    return {StatusCode::kInvalidArgument, std::string("compare-and-swap of ") +
                                              ElementName(element) + ": must be at most 8 bytes"};
  }
  const TypedLayout& one = TypedLayout::One(element);
  RmaRequest request;
  request.kind = RmaKind::kSwap;
  request.element = element;
  request.rank = rank;
  request.displacement = displacement;
  request.target = {nullptr, &one, 1};
  request.send = {Writable(desired), &one, 1};
  request.receive = {static_cast<std::byte*>(result), &one, 1};
  request.expected = expected;
  request.over = over;
  return Run(&request);
}

}  // namespace brigade

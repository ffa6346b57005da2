#include "windows/core/message_access.h"

#include <algorithm>
#include <chrono>

#include "transport/polling.h"
#include "windows/sync/answering.h"

namespace brigade {

MessageAccess::MessageAccess(Engine* engine, GroupState* state, const Router* router,
                             WindowWait* wait, const ServedWindow* served)
    : engine_(engine),
      state_(state),
      router_(*router),
      wait_(*wait),
      served_(*served),
      requests_flushed_(state->members()) {}

Status MessageAccess::Send(RmaRequest* request) {
  const WindowWait::ProgressGuard guard(&wait_);
  BRIGADE_RETURN_IF_ERROR(SendGuarded(request));
  if (messages_->outbox().UnstagedLeft(request->rank) > 0) AwaitPlaces(request->rank);
  if (messages_->outbox().must_hurry()) engine_->HurryProgressThread();
  return state_->failure;
}

Status MessageAccess::SendGuarded(RmaRequest* request) {
  BRIGADE_RETURN_IF_ERROR(state_->failure);
  BRIGADE_RETURN_IF_ERROR(AwaitRoom(request->rank));
  // In virtual time there is no progress thread, and what is sent costs what it costs with one.
  const bool may_stay = has_progress_thread_ || engine_->processor() != nullptr;
  request->fence_follows = request->fence_follows && may_stay && sends_fences();
  // In virtual time only a control message that comes soon sends what is held.
  request->is_followed =
      request->end == AccessEnd::kEpoch && (has_progress_thread_ || request->fence_follows);
  // All of its target's memory is there, and nothing is refused.
  request->may_go_unstaged = request->kind == RmaKind::kPut && may_stay &&
                             !served_.checked.has_value() &&
                             router_.member(request->rank).kind != WindowMemory::kDynamic;
  return messages_->Send(*request);
}

// The target's answer comes sooner than a progress thread wakes, mostly. No other thread is let in:
// this takes no longer than a copy of what is put would. It never sleeps.
void MessageAccess::AwaitPlaces(int target) {
  using Clock = std::chrono::steady_clock;
  Polling* const polling = engine_->endpoint()->polling();
  const Clock::time_point end = Clock::now() + std::chrono::microseconds(rules::kPlaceUs);
  for (uint64_t idle_polls = 0; messages_->outbox().UnstagedLeft(target) > 0 &&
                                idle_polls < polling->PollsAwake() && Clock::now() < end;) {
    if (engine_->Move()) {
      idle_polls = 0;
    } else {
      polling->Pause(idle_polls++);
    }
  }
}

Status MessageAccess::Delegate(const RmaRequest& request, bool* is_done) {
  *is_done = false;
  Answering& there = router_.direct(request.rank)->page().answering();
  if (!there.BeginRequests()) return Status();
  const WindowWait::ProgressGuard guard(&wait_);
  RmaRequest asked = request;
  asked.end = AccessEnd::kEpoch;
  asked.over = nullptr;
  asked.fence_follows = false;
  Status status = SendGuarded(&asked);
  Flush flush;
  if (status.ok()) status = BeginFlush(request.rank, FlushedPart::kAll, &flush);
  if (status.ok()) {
    status = wait_.UntilAlone(/*by_message=*/true, "a target to complete requests", [&] {
      return IsFlushed(request.rank, flush) && messages_->outbox().under_way(request.rank) == 0;
    });
  }
  there.EndRequests();
  if (status.ok()) requests_flushed_[static_cast<size_t>(request.rank)] = flush.requests;
  *is_done = status.ok();
  return status;
}

Status MessageAccess::AddFrame(int target, RmaKind kind, uint32_t token, uint8_t op) {
  return messages_->AddFrame(target, RmaFrame(kind, token, op));
}

Status MessageAccess::Notify(int target) {
  BRIGADE_RETURN_IF_ERROR(AwaitRoom(target));
  return AddFrame(target, RmaKind::kNotify);
}

Status MessageAccess::AwaitRoom(int target) {
  // Where the transport keeps copies few are under way, however far the target is behind.
  if (requests(target) - requests_flushed_[static_cast<size_t>(target)] >= rules::kMostUnflushed) {
    Flush flush;
    BRIGADE_RETURN_IF_ERROR(BeginFlush(target, FlushedPart::kAll, &flush));
    BRIGADE_RETURN_IF_ERROR(AwaitFlush(target, flush));
  }
  const auto has_room = [&] { return messages_->outbox().under_way(target) < rules::kMostPending; };
  if (has_room()) return Status();
  return wait_.Until(/*by_message=*/true, "a target with the most requests that may be pending",
                     has_room);
}

MessageAccess::Flush MessageAccess::FlushAs(int target, uint32_t token) const {
  return {token, served_.flushed_by[static_cast<size_t>(target)], requests(target)};
}

Status MessageAccess::BeginFlush(int target, FlushedPart part, Flush* flush) {
  *flush = Flush();
  if (!HasUnflushed(target)) return Status();
  *flush = FlushAs(target, NextToken());
  if (part != FlushedPart::kAll) flush->requests = 0;
  return AddFrame(target, RmaKind::kFlush, flush->token, static_cast<uint8_t>(part));
}

Status MessageAccess::BeginUnlock(int target, Flush* flush) {
  const uint32_t token = NextToken();
  if (HasUnflushed(target)) *flush = FlushAs(target, token);
  return AddFrame(target, RmaKind::kUnlock, token);
}

Status MessageAccess::AwaitFlush(int target, const Flush& flush) {
  if (flush.token != 0) {
    BRIGADE_RETURN_IF_ERROR(wait_.Until(/*by_message=*/true, "a target to complete requests",
                                        [&] { return IsFlushed(target, flush); }));
    uint64_t& flushed = requests_flushed_[static_cast<size_t>(target)];
    flushed = std::max(flushed, flush.requests);
  }
  return AwaitLocally(target);
}

bool MessageAccess::IsFlushed(int target, const Flush& flush) const {
  // Tokens come in the order in which they were sent, and wrap; later ones will do.
  const uint32_t flushed = served_.flushed_by[static_cast<size_t>(target)];
  return flushed - flush.before >= flush.token - flush.before;
}

Status MessageAccess::AwaitLocally(int target) {
  const auto is_over = [&] { return messages_->outbox().under_way(target) == 0; };
  if (is_over()) return state_->failure;
  return wait_.Until(/*by_message=*/true, "data to be sent or received", is_over);
}

uint32_t MessageAccess::NextToken() {
  if (++last_token_ == 0) ++last_token_;  // which means none
  return last_token_;
}

}  // namespace brigade

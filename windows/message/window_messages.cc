#include "windows/message/window_messages.h"

#include <algorithm>
#include <cstring>

#include "patterns/engine/out_of_memory.h"
#include "windows/message/rma_frame.h"

namespace brigade {
namespace {

constexpr int kUnorderedPeer = -2;  // among the activities of its channel

// The tree along which leaving ranks are counted: the first child of a rank, and the end of its
// children.
constexpr int kChildren = 8;
int FirstChild(int rank, int ranks) { return std::min(ranks, kChildren * rank + 1); }
int EndOfChildren(int rank, int ranks) { return FirstChild(rank + 1, ranks); }
int ParentOf(int rank) { return (rank - 1) / kChildren; }

Status NotNext(int from) { return BadFrame(from, "reports out of order that a window was left"); }

}  // namespace

WindowMessages::WindowMessages(WindowSpace* space, GroupState* group, ServedWindow* window)
    : context_(space, group), window_(window), outbox_(&context_), inbox_(&context_, window) {
  group_ = group;
  channel_ = kRequestChannel;
  order_peer_ = kUnorderedPeer;
  group->control->SetOther(this);
}

WindowMessages::~WindowMessages() {
  if (listener_ != nullptr) context_.engine()->Ignore(listener_);
  context_.engine()->Deactivate(this);
  group_->control->SetOther(nullptr);
  // Posted sends and receives end with the group, which may be closed later than this window.
  if (group_->closed) {
    outbox_.Drop();
    inbox_.Drop();
  }
}

void WindowMessages::Listen(Engine::Listener* listener) {
  listener_ = listener;
  context_.engine()->Listen(listener);
}

Status WindowMessages::Send(const RmaRequest& request) {
  BRIGADE_RETURN_IF_ERROR(group_->failure);
  return OutcomeOf(outbox_.Send(request));
}

Status WindowMessages::AddFrame(int target, const RmaFrame& message) {
  BRIGADE_RETURN_IF_ERROR(group_->failure);
  return OutcomeOf(outbox_.AddFrame(target, message));
}

Status WindowMessages::SendFrame(int target, const RmaFrame& message) {
  BRIGADE_RETURN_IF_ERROR(group_->failure);
  return OutcomeOf(context_.frames()->Send(target, message, Urgency::kCanWait));
}

void WindowMessages::SendWake(int target) {
  if (!group_->failure.ok()) return;
  (void)context_.frames()->Try(target, RmaFrame(RmaKind::kWake), Urgency::kCanWait);
}

void WindowMessages::OnControl(int from, ConstByteSpan bytes) {
  if (!group_->failure.ok() || !outcome_.ok()) return;
  // The call that makes progress may be one on another group.
  const Status status = CatchOutOfMemory([&]() -> Status {
    if (bytes.bytes < sizeof(RmaHeader)) return BadFrame(from, "sends half a frame of a window");
    RmaFrame message;
    std::memcpy(&message, bytes.data, bytes.bytes);
    return bytes.bytes == message.span().bytes && message.header.inlined <= kMostInlined
               ? OnFrame(from, message)
               : BadFrame(from, "sends a frame of a wrong length");
  });
  if (!status.ok()) Fail(status);
  Wake();
}

Status WindowMessages::OnFrame(int from, const RmaFrame& message) {
  const auto rank = static_cast<size_t>(from);
  switch (message.header.kind) {
    case RmaKind::kReply:
      return outbox_.TakeReply(from, message);
    case RmaKind::kFlushed:
      window_->flushed_by[rank] = message.header.token;
      return Status();
    case RmaKind::kGranted:
      if (message.header.token >= window_->granted_by.size()) break;
      ++window_->granted_by[message.header.token];
      return Status();
    case RmaKind::kPost:
      ++window_->posted_by[rank];
      return Status();
    case RmaKind::kWake:
      return Status();
    case RmaKind::kLeft:
      return OnLeft(from);
    case RmaKind::kAllLeft:
      if (!left_ || all_left_ || group_->rank == 0 || from != ParentOf(group_->rank)) {
        return NotNext(from);
      }
      return EndLeft();
    default:
      return inbox_.Take(from, message);
  }
  return BadFrame(from, "grants the lock of a rank that does not exist");
}

Status WindowMessages::Leave() {
  BRIGADE_RETURN_IF_ERROR(group_->failure);
  left_ = true;
  return OutcomeOf(CountLeft());
}

Status WindowMessages::OnLeft(int child) {
  if (child == 0 || ParentOf(child) != group_->rank) return NotNext(child);
  const uint32_t bit = 1U << (child - (kChildren * group_->rank + 1));
  if ((children_left_ & bit) != 0) return NotNext(child);
  children_left_ |= bit;
  return CountLeft();
}

Status WindowMessages::CountLeft() {
  const auto ranks = static_cast<int>(group_->members());
  const int children = EndOfChildren(group_->rank, ranks) - FirstChild(group_->rank, ranks);
  if (!left_ || children_left_ + 1 != 1U << children) return Status();
  if (group_->rank == 0) return EndLeft();
  return context_.frames()->Send(ParentOf(group_->rank), RmaFrame(RmaKind::kLeft),
                                 Urgency::kCanWait);
}

Status WindowMessages::EndLeft() {
  all_left_ = true;
  const auto ranks = static_cast<int>(group_->members());
  for (int child = FirstChild(group_->rank, ranks); child < EndOfChildren(group_->rank, ranks);
       ++child) {
    BRIGADE_RETURN_IF_ERROR(
        context_.frames()->Send(child, RmaFrame(RmaKind::kAllLeft), Urgency::kCanWait));
  }
  return Status();
}

void WindowMessages::Wake() {
  if (outcome_.ok() && is_idle()) return;
  done_ = false;
  context_.engine()->ActivateOnce(this);
}

bool WindowMessages::Advance() {
  bool any = false;
  Status status = outcome_;
  if (status.ok()) status = context_.frames()->Advance(&any);
  if (status.ok()) status = inbox_.Advance(&any);
  if (status.ok()) status = outbox_.Advance(&any);
  if (!status.ok()) {
    outcome_ = status;
    cause_ = {group_->rank, status.code(), {}, 0, status.message()};
    done_ = true;
    return true;
  }
  done_ = is_idle();
  return any;
}

bool WindowMessages::is_idle() const {
  return !outbox_.has_work() && !inbox_.has_work() && !context_.has_kept_frames();
}

void WindowMessages::Fail(const Status& status) {
  if (outcome_.ok()) outcome_ = status;
}

Status WindowMessages::OutcomeOf(const Status& status) {
  if (!status.ok()) Fail(status);
  Wake();
  if (outcome_.ok()) return Status();
  context_.engine()->BreakGroup(group_, outcome_);
  return group_->failure;
}

std::string WindowMessages::Describe() const {
  return "a window of group rank " + std::to_string(group_->rank);
}

void WindowMessages::End(const Status& status) {
  if (outcome_.ok()) outcome_ = status;
  done_ = true;
  outbox_.Drop();
  inbox_.Drop();
}

}  // namespace brigade

// The operations of a window.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/copy_bytes.h"
#include "membuf/rules.h"
#include "windows/core/access_range.h"
#include "windows/core/fences.h"
#include "windows/core/window.h"
#include "windows/layout/layout_copy.h"
#include "windows/layout/layout_cursor.h"
#include "windows/memory/attached_ranges.h"
#include "windows/sync/answering.h"

namespace brigade {
namespace {

// Values that are fetched at once.
constexpr int64_t kFetchedBytes = int64_t{16} << 10;

Status Invalid(const std::string& what) { return {StatusCode::kInvalidArgument, what}; }

// Of operations that bring something back.
AccessEnd EndOf(const std::atomic<bool>* over) {
  return over == nullptr ? AccessEnd::kEpoch : AccessEnd::kAnswer;
}

void SetOver(std::atomic<bool>* over) {
  if (over != nullptr) over->store(true, std::memory_order_release);
}

// What `op` combines: the one element that both layouts consist of.
Status FindElement(AccumulateOp op, const TypedLayout& origin, const TypedLayout& target,
                   Element* element) {
  *element = target.element();
  if (op != AccumulateOp::kNoOp && origin.element() != target.element()) {
    return Invalid(std::string("accumulates ") + ElementName(origin.element()) + " into " +
                   ElementName(target.element()));
  }
  if (IsDefined(op, *element)) return Status();
  return Invalid(std::string(AccumulateOpName(op)) + " is not defined for " +
                 ElementName(*element));
}

}  // namespace

Status Window::CheckRank(int rank) const {
  if (rank >= 0 && rank < size()) return Status();
  return Invalid("rank " + std::to_string(rank) + " of a window of " + std::to_string(size()) +
                 " ranks");
}

Status Window::CheckAttached(const TargetData& target, int64_t offset) {
  const TargetMemory* const reached = direct(target.rank);
  if (reached == nullptr) return Status();
  const AttachedRanges attached = reached->attached();
  BRIGADE_RETURN_IF_ERROR(TakeLock(&attached.changing()));
  const bool is_attached =
      attached.Hold(target.layout, target.count, static_cast<int64_t>(kProcessAddress) + offset);
  attached.changing().Unlock();
  if (is_attached) return Status();
  return Invalid("the access at address " + std::to_string(target.displacement) + " of rank " +
                 std::to_string(target.rank) +
                 " reaches memory that the rank has not attached to the window");
}

Status Window::Check(const TargetData& target, int64_t origin_bytes, int64_t* offset) {
  BRIGADE_RETURN_IF_ERROR(CheckRank(target.rank));
  const MemberAttributes& member = this->member(target.rank);
  int64_t low = 0;
  int64_t high = 0;
  int64_t bytes = 0;
  if (target.count < 0 || !target.layout.Bounds(target.count, &low, &high, &bytes)) {
    return Invalid(std::to_string(target.count) + " values at rank " + std::to_string(target.rank));
  }
  if (bytes != origin_bytes) {
    return Invalid(std::to_string(origin_bytes) + " bytes here, and " + std::to_string(bytes) +
                   " at rank " + std::to_string(target.rank));
  }
  const auto memory = static_cast<int64_t>(member.bytes);
  const bool is_dynamic = member.kind == WindowMemory::kDynamic;
  const int64_t displacement =
      target.displacement - (is_dynamic ? static_cast<int64_t>(kProcessAddress) : 0);
  // Behind address 0 of a dynamic window a datatype has its addresses in itself.
  const bool is_inside = target.displacement >= 0 && displacement <= memory / member.unit &&
                         displacement * member.unit + low >= 0 &&
                         high <= memory - displacement * member.unit;
  if (bytes > 0 && !is_inside) {
    return Invalid(DescribeAccessOutside(member, target.rank, target.displacement, low, high));
  }
  *offset = displacement * member.unit;
  return bytes > 0 && is_dynamic ? CheckAttached(target, *offset) : Status();
}

Status Window::Ask(NoteKind kind, AccumulateOp op, Element element, const OriginData& send,
                   const OriginData& receive, const TargetData& target, int64_t offset,
                   AccessEnd end, std::atomic<bool>* over, bool fence_follows) {
  const WindowWait::Turn turn(&*wait_);
  BRIGADE_RETURN_IF_ERROR(
      AskInTurn(kind, op, element, send, receive, target, offset, end, over, fence_follows));
  if (messages_->outbox().StraightLeft(target.rank) > 0) LookForPlaces(target.rank);
  if (messages_->outbox().must_hurry()) engine()->HurryHelper();
  return state()->failure;
}

// The target's answer comes sooner than a helper, mostly. No other thread need be let in: nothing
// is waited for, and it takes no longer than a copy of what is put would. It never sleeps.
void Window::LookForPlaces(int target) {
  using Clock = std::chrono::steady_clock;
  Endpoint* const endpoint = engine()->endpoint();
  const Clock::time_point end = Clock::now() + std::chrono::microseconds(rules::kPlaceUs);
  for (uint64_t idle_polls = 0; messages_->outbox().StraightLeft(target) > 0 &&
                                idle_polls < endpoint->PollsAwake() && Clock::now() < end;) {
    if (engine()->Move()) {
      idle_polls = 0;
    } else {
      endpoint->Pause(idle_polls++);
    }
  }
}

Status Window::AskInTurn(NoteKind kind, AccumulateOp op, Element element, const OriginData& send,
                         const OriginData& receive, const TargetData& target, int64_t offset,
                         AccessEnd end, std::atomic<bool>* over, bool fence_follows) {
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  BRIGADE_RETURN_IF_ERROR(AwaitRoom(target.rank));
  Note note;
  note.kind = kind;
  note.op = static_cast<uint8_t>(op);
  note.element = element;
  note.end = end;
  note.offset = offset;
  note.bytes = target.layout.size() * target.count;
  if (!target.layout.is_contiguous()) {
    BRIGADE_RETURN_IF_ERROR(messages_->Name(target.rank, target.layout, &note));
  }
  auto request = std::make_unique<Outgoing>(target.rank, note, send, receive);
  request->over = over;
  if (IsSentLater()) {
    request->fence_follows = fence_follows && all_tell();
    // In virtual time nothing but a note that comes soon sends what is held.
    request->is_followed = end == AccessEnd::kEpoch && (is_helped_ || request->fence_follows);
    // All of its target's memory is there, and nothing is refused.
    request->may_go_straight = kind == NoteKind::kPut && !is_checked() &&
                               member(target.rank).kind != WindowMemory::kDynamic;
  }
  return messages_->Add(std::move(request));
}

// In virtual time there is no helper, and what is sent costs what it costs where there is one.
bool Window::IsSentLater() const { return is_helped_ || engine()->processor() != nullptr; }

// What comes first stands for all: as many blocks as there must be, as the kernel sees them.
bool Window::IsScattered(NoteKind kind, const TargetData& target) const {
  constexpr int64_t kMostBytes = rules::kLeastBlocksToAskFor * rules::kMostBlockBytesToAskFor;
  if (!has_short_blocks_ || !IsPrivate(target.rank) ||
      target.layout.size() * target.count < rules::kLeastBlocksToAskFor) {
    return false;
  }
  // Short gaps are read along.
  const int64_t across = kind == NoteKind::kGet ? int64_t{rules::kReadAcrossBytes} : 0;
  const auto is_apart = [&](int64_t gap) { return gap < 0 || gap > across; };
  int64_t blocks = 0;
  int64_t end = 0;  // of the last one
  LayoutCursor at(&target.layout, target.count);
  while (at.position() < std::min(at.size(), kMostBytes)) {
    const Runs runs = at.Next();
    if (blocks == 0 || is_apart(runs.offset - end)) ++blocks;
    if (is_apart(runs.stride - runs.bytes)) {
      const int64_t counted = (kMostBytes - at.position() + runs.bytes - 1) / runs.bytes;
      blocks += std::min(runs.count, counted) - 1;
    }
    if (blocks >= rules::kLeastBlocksToAskFor) return true;
    end = runs.offset + (runs.count - 1) * runs.stride + runs.bytes;
    at.Skip(runs.count * runs.bytes);
  }
  return false;
}

// The bytes of the window are all there, or its owner would not have offered them: in memory of
// kProcess and kDynamic a wrong address would end the target, and not this call.
Status Window::AskIfScattered(NoteKind kind, AccumulateOp op, Element element,
                              const OriginData& send, const OriginData& receive,
                              const TargetData& target, int64_t offset, bool* is_done) {
  *is_done = false;
  if (!IsScattered(kind, target)) return Status();
  Answering& there = direct(target.rank)->page().answering();
  if (!there.BeginAsk()) return Status();
  const WindowWait::Turn turn(&*wait_);
  Status status = AskInTurn(kind, op, element, send, receive, target, offset, AccessEnd::kEpoch,
                            nullptr, false);
  Asked asked;
  if (status.ok()) status = AskFlush(target.rank, FlushedPart::kAll, &asked);
  if (status.ok()) {
    status = wait_->UntilAlone(/*is_told=*/true, "a target to have done what was asked", [&] {
      return IsFlushed(target.rank, asked) && messages_->outbox().under_way(target.rank) == 0;
    });
  }
  there.EndAsk();
  if (status.ok()) requests_flushed_[static_cast<size_t>(target.rank)] = asked.requests;
  *is_done = status.ok();
  return status;
}

Status Window::CheckOwn(Access::Kind kind, AccumulateOp op, Element element,
                        const TargetData& target, int64_t offset, AccessEnd end) {
  Status status;
  {
    const WindowWait::Turn turn(&*wait_);
    status =
        served_.checked->Add({kind, op, element, end, rank()}, target.layout, target.count, offset);
    // It is done before this rank can tell anybody.
    if (end != AccessEnd::kEpoch) served_.checked->EndBy(end, rank());
  }
  return status.ok() ? status : Broken(status);
}

void Window::EndOwn(FlushedPart part) {
  if (!is_checked()) return;
  const WindowWait::Turn turn(&*wait_);
  if (part == FlushedPart::kReads) {
    served_.checked->EndReads(rank());
  } else {
    served_.checked->EndAll(rank());
  }
}

bool Window::PutByLetter(const OriginData& origin, const TargetData& target, int64_t offset) {
  const int t = target.rank;
  if (!letters_.has_value() || !IsPrivate(t) || epochs_.HasLock(t)) return false;
  LayoutCursor from(&origin.layout, origin.count);
  LayoutCursor to(&target.layout, target.count);
  if (epochs_.HasStarted(t)) {
    return letters_->PutStarted(posts_taken_[static_cast<size_t>(t)], t, &from, origin.data,
                                origin.bytes(), &to, offset);
  }
  return letters_->PutFenced(t, &from, origin.data, origin.bytes(), &to, offset);
}

bool Window::GetByLetter(const OriginData& result, const TargetData& target, int64_t offset) {
  const int t = target.rank;
  const bool meets_in_one_round = state()->scope(ChannelKind::kAll).shares_memory() &&
                                  size() <= rules::kMostRanksOnExchange && !state()->crowded;
  return letters_.has_value() && meets_in_one_round && IsPrivate(t) && !epochs_.HasLock(t) &&
         !epochs_.HasStarted(t) && result.layout.is_contiguous() && target.layout.is_contiguous() &&
         letters_->GetFenced(t, offset, result.bytes(), result.data);
}

Status Window::DeliverLetters(int target) {
  if (!letters_.has_value() || direct(target) == nullptr) return Status();
  BRIGADE_RETURN_IF_ERROR(AwaitLettersRead(target));  // or older ones would lie over them
  Status status;
  const TypedLayout& byte = TypedLayout::One(Element::kByte);
  const auto deliver = [&](uint64_t offset, ConstByteSpan bytes) {
    const auto count = static_cast<int64_t>(bytes.bytes);
    LayoutCursor from(&byte, count);
    LayoutCursor to(&byte, count);
    if (!status.ok()) return;
    status = direct(target)->Put(&from, bytes.data, count, &to, static_cast<int64_t>(offset));
  };
  const auto fetch = [&](uint64_t offset, ByteSpan into) {
    const auto count = static_cast<int64_t>(into.bytes);
    LayoutCursor from(&byte, count);
    LayoutCursor to(&byte, count);
    if (!status.ok()) return;
    status = direct(target)->Get(&from, static_cast<int64_t>(offset), count, &to, into.data);
  };
  ProcessLock& combining = direct(target)->page().combining();
  BRIGADE_RETURN_IF_ERROR(TakeLock(&combining));
  letters_->Withdraw(posts_taken_[static_cast<size_t>(target)], target, deliver, fetch);
  combining.Unlock();
  return Reached(target, status);
}

Status Window::AwaitLettersRead(int target) {
  const auto have_been_read = [&] { return !letters_.has_value() || letters_->HasRead(target); };
  if (have_been_read()) return Status();
  const WindowWait::Turn turn(&*wait_);
  return wait_->Until(/*is_told=*/false, "a target to leave a fence", have_been_read);
}

Status Window::PutAt(const OriginData& origin, const TargetData& target, int64_t offset,
                     AccessEnd end, std::atomic<bool>* over, bool fence_follows) {
  const int64_t bytes = origin.bytes();
  const TargetMemory* const reached = direct(target.rank);
  if (bytes == 0) {
    SetOver(over);
    return Status();
  }
  if (reached == nullptr) {
    return Ask(NoteKind::kPut, AccumulateOp::kReplace, Element::kByte, origin, OriginData(), target,
               offset, end, over, fence_follows);
  }
  if (is_checked()) {
    BRIGADE_RETURN_IF_ERROR(
        CheckOwn(Access::Kind::kPut, AccumulateOp::kReplace, Element::kByte, target, offset, end));
  }
  SetOver(over);
  if (end == AccessEnd::kEpoch && PutByLetter(origin, target, offset)) return Status();
  BRIGADE_RETURN_IF_ERROR(AwaitLettersRead(target.rank));
  if (reached->mapped() != nullptr && origin.layout.is_contiguous() &&
      target.layout.is_contiguous()) {
    CopyBytes(reached->mapped() + offset, origin.data, static_cast<size_t>(bytes));
    return Status();
  }
  bool is_done = false;
  BRIGADE_RETURN_IF_ERROR(AskIfScattered(NoteKind::kPut, AccumulateOp::kReplace, Element::kByte,
                                         origin, OriginData(), target, offset, &is_done));
  if (is_done) return Status();
  LayoutCursor from(&origin.layout, origin.count);
  LayoutCursor to(&target.layout, target.count);
  return Reached(target.rank, reached->Put(&from, origin.data, bytes, &to, offset));
}

Status Window::Put(const OriginData& origin, const TargetData& target, std::atomic<bool>* over,
                   bool fence_follows) {
  int64_t offset = 0;
  BRIGADE_RETURN_IF_ERROR(Check(target, origin.bytes(), &offset));
  BRIGADE_RETURN_IF_ERROR(epochs_.BeginAccess(target.rank));
  return PutAt(origin, target, offset, AccessEnd::kEpoch, over, fence_follows);
}

Status Window::Get(const OriginData& result, const TargetData& target, std::atomic<bool>* over) {
  int64_t offset = 0;
  const int64_t bytes = result.bytes();
  BRIGADE_RETURN_IF_ERROR(Check(target, bytes, &offset));
  BRIGADE_RETURN_IF_ERROR(epochs_.BeginAccess(target.rank));
  const TargetMemory* const reached = direct(target.rank);
  if (bytes > 0 && reached == nullptr) {
    return Ask(NoteKind::kGet, AccumulateOp::kNoOp, Element::kByte, OriginData(), result, target,
               offset, EndOf(over), over);
  }
  if (is_checked() && bytes > 0) {
    BRIGADE_RETURN_IF_ERROR(CheckOwn(Access::Kind::kGet, AccumulateOp::kNoOp, Element::kByte,
                                     target, offset, EndOf(over)));
  }
  if (bytes > 0 && over == nullptr && GetByLetter(result, target, offset)) return Status();
  SetOver(over);
  if (bytes == 0) return Status();
  BRIGADE_RETURN_IF_ERROR(AwaitLettersRead(target.rank));
  if (reached->mapped() != nullptr && result.layout.is_contiguous() &&
      target.layout.is_contiguous()) {
    CopyBytes(result.data, reached->mapped() + offset, static_cast<size_t>(bytes));
    LoadFence();
    return Status();
  }
  bool is_done = false;
  BRIGADE_RETURN_IF_ERROR(AskIfScattered(NoteKind::kGet, AccumulateOp::kNoOp, Element::kByte,
                                         OriginData(), result, target, offset, &is_done));
  if (is_done) {
    LoadFence();
    return Status();
  }
  LayoutCursor from(&target.layout, target.count);
  LayoutCursor to(&result.layout, result.count);
  const Status status = reached->Get(&from, offset, bytes, &to, result.data);
  LoadFence();
  return Reached(target.rank, status);
}

Status Window::Accumulate(AccumulateOp op, const OriginData& origin, const TargetData& target,
                          std::atomic<bool>* over) {
  return Combine(op, origin, nullptr, target, over);
}

Status Window::GetAccumulate(AccumulateOp op, const OriginData& origin, const OriginData& result,
                             const TargetData& target, std::atomic<bool>* over) {
  return Combine(op, origin, &result, target, over);
}

Status Window::Combine(AccumulateOp op, const OriginData& given, const OriginData* result,
                       const TargetData& target, std::atomic<bool>* over) {
  int64_t offset = 0;
  const OriginData origin = op == AccumulateOp::kNoOp ? OriginData() : given;
  const int64_t bytes = result != nullptr ? result->bytes() : given.bytes();
  BRIGADE_RETURN_IF_ERROR(Check(target, bytes, &offset));
  if (op != AccumulateOp::kNoOp && origin.bytes() != bytes) {
    return Invalid(std::to_string(origin.bytes()) + " bytes are accumulated, and " +
                   std::to_string(bytes) + " fetched");
  }
  Element element = Element::kByte;
  if (bytes > 0) {
    BRIGADE_RETURN_IF_ERROR(FindElement(op, origin.layout, target.layout, &element));
  }
  BRIGADE_RETURN_IF_ERROR(epochs_.BeginAccess(target.rank));
  const bool is_nothing = bytes == 0 || (result == nullptr && op == AccumulateOp::kNoOp);
  if (!is_nothing && direct(target.rank) == nullptr) {
    return result == nullptr ? Ask(NoteKind::kAccumulate, op, element, origin, OriginData(), target,
                                   offset, AccessEnd::kEpoch, over)
                             : Ask(NoteKind::kFetch, op, element, origin, *result, target, offset,
                                   EndOf(over), over);
  }
  if (is_checked() && !is_nothing) {
    const bool is_fetch = result != nullptr;
    BRIGADE_RETURN_IF_ERROR(CheckOwn(is_fetch ? Access::Kind::kFetch : Access::Kind::kAccumulate,
                                     op, element, target, offset,
                                     is_fetch ? EndOf(over) : AccessEnd::kEpoch));
  }
  SetOver(over);
  if (is_nothing) return Status();
  BRIGADE_RETURN_IF_ERROR(AwaitLettersRead(target.rank));
  return CombineDirectly(op, element, origin, result, target, offset);
}

Status Window::CombineDirectly(AccumulateOp op, Element element, const OriginData& origin,
                               const OriginData* result, const TargetData& target, int64_t offset) {
  const TargetMemory& reached = *direct(target.rank);
  const int64_t bytes = target.layout.size() * target.count;
  const auto each = static_cast<int64_t>(element == Element::kMixed ? 1 : ElementBytes(element));
  if (result == nullptr && element != Element::kMixed && reached.mapped() != nullptr &&
      origin.layout.is_contiguous() && target.layout.is_contiguous()) {
    BRIGADE_RETURN_IF_ERROR(TakeLock(&reached.page().combining()));
    brigade::Accumulate(op, element, static_cast<size_t>(bytes / each), reached.mapped() + offset,
                        origin.data);
    reached.page().combining().Unlock();
    return Status();
  }
  bool is_done = false;
  BRIGADE_RETURN_IF_ERROR(
      AskIfScattered(result == nullptr ? NoteKind::kAccumulate : NoteKind::kFetch, op, element,
                     origin, result == nullptr ? OriginData() : *result, target, offset, &is_done));
  if (is_done) {
    LoadFence();
    return Status();
  }
  LayoutCursor from(&origin.layout, origin.count);
  LayoutCursor to(&target.layout, target.count);
  LayoutCursor back(&(result == nullptr ? origin : *result).layout,
                    (result == nullptr ? origin : *result).count);
  // Atomic is each element: what others add comes in between.
  const int64_t piece = result == nullptr ? bytes : std::min(bytes, kFetchedBytes / each * each);
  std::vector<std::byte> fetched(result == nullptr ? 0 : static_cast<size_t>(piece));
  for (int64_t done = 0; done < bytes; done += piece) {
    const int64_t now = std::min(piece, bytes - done);
    BRIGADE_RETURN_IF_ERROR(TakeLock(&reached.page().combining()));
    const Status status = reached.Accumulate(op, element, &from, origin.data, now, &to, offset,
                                             result == nullptr ? nullptr : fetched.data());
    reached.page().combining().Unlock();
    BRIGADE_RETURN_IF_ERROR(Reached(target.rank, status));
    if (result != nullptr) Scatter(fetched.data(), now, &back, result->data);
  }
  if (result != nullptr) LoadFence();
  return Status();
}

Status Window::FetchAndOp(AccumulateOp op, Element element, const void* value, void* result,
                          int rank, int64_t displacement, std::atomic<bool>* over) {
  if (element == Element::kMixed) return Invalid("a fetch of a value of several kinds");
  const TargetData target{rank, displacement, TypedLayout::One(element), 1};
  if (rank >= 0 && rank < size() && direct(rank) != nullptr && direct(rank)->mapped() != nullptr &&
      IsDefined(op, element) && !is_checked()) {
    const size_t bytes = ElementBytes(element);
    int64_t offset = 0;
    BRIGADE_RETURN_IF_ERROR(Check(target, static_cast<int64_t>(bytes), &offset));
    BRIGADE_RETURN_IF_ERROR(epochs_.BeginAccess(rank));
    BRIGADE_RETURN_IF_ERROR(AwaitLettersRead(rank));
    std::byte* const there = direct(rank)->mapped() + offset;
    std::byte old[kMostElementBytes];
    BRIGADE_RETURN_IF_ERROR(TakeLock(&direct(rank)->page().combining()));
    std::memcpy(old, there, bytes);
    if (op != AccumulateOp::kNoOp) {
      brigade::Accumulate(op, element, 1, there, static_cast<const std::byte*>(value));
    }
    direct(rank)->page().combining().Unlock();
    LoadFence();
    std::memcpy(result, old, bytes);
    SetOver(over);
    return Status();
  }
  // What is read is not written.
  const OriginData given{const_cast<std::byte*>(static_cast<const std::byte*>(value)),
                         TypedLayout::One(element), 1};
  const OriginData fetched{static_cast<std::byte*>(result), TypedLayout::One(element), 1};
  return Combine(op, given, &fetched, target, over);
}

Status Window::CompareAndSwap(Element element, const void* expected, const void* desired,
                              void* result, int rank, int64_t displacement,
                              std::atomic<bool>* over) {
  if (element == Element::kMixed || ElementBytes(element) > sizeof(uint64_t)) {
    return Invalid(std::string("compare-and-swap of ") + ElementName(element));
  }
  const size_t bytes = ElementBytes(element);
  const TargetData target{rank, displacement, TypedLayout::One(element), 1};
  int64_t offset = 0;
  BRIGADE_RETURN_IF_ERROR(Check(target, static_cast<int64_t>(bytes), &offset));
  BRIGADE_RETURN_IF_ERROR(epochs_.BeginAccess(rank));
  if (direct(rank) == nullptr) {
    std::byte both[2 * sizeof(uint64_t)];
    std::memcpy(both, expected, bytes);
    std::memcpy(both + bytes, desired, bytes);
    const OriginData send{both, TypedLayout::Run(Element::kByte, static_cast<int64_t>(2 * bytes)),
                          1};
    const OriginData fetched{static_cast<std::byte*>(result), TypedLayout::One(element), 1};
    return Ask(NoteKind::kSwap, AccumulateOp::kReplace, element, send, fetched, target, offset,
               EndOf(over), over);
  }
  if (is_checked()) {
    BRIGADE_RETURN_IF_ERROR(CheckOwn(Access::Kind::kSwap, AccumulateOp::kReplace, element, target,
                                     offset, EndOf(over)));
  }
  SetOver(over);
  BRIGADE_RETURN_IF_ERROR(AwaitLettersRead(rank));
  const TargetMemory& reached = *direct(rank);
  const TypedLayout& layout = TypedLayout::One(element);
  std::byte old[sizeof(uint64_t)];
  std::byte now[sizeof(uint64_t)];
  std::memcpy(now, desired, bytes);
  LayoutCursor from(&layout, 1);
  LayoutCursor to(&layout, 1);
  BRIGADE_RETURN_IF_ERROR(TakeLock(&reached.page().combining()));
  Status status = reached.Get(&from, offset, static_cast<int64_t>(bytes), &to, old);
  if (status.ok() && std::memcmp(old, expected, bytes) == 0) {
    from.Seek(0);
    to.Seek(0);
    status = reached.Put(&from, now, static_cast<int64_t>(bytes), &to, offset);
  }
  reached.page().combining().Unlock();
  LoadFence();
  BRIGADE_RETURN_IF_ERROR(Reached(rank, status));
  std::memcpy(result, old, bytes);
  return Status();
}

Status Window::PutNotify(const OriginData& origin, const TargetData& target,
                         std::atomic<bool>* over) {
  int64_t offset = 0;
  BRIGADE_RETURN_IF_ERROR(Check(target, origin.bytes(), &offset));
  // What was put before is there, too.
  BRIGADE_RETURN_IF_ERROR(DeliverLetters(target.rank));
  BRIGADE_RETURN_IF_ERROR(PutAt(origin, target, offset, AccessEnd::kNotification, over, false));
  if (direct(target.rank) == nullptr) {
    if (origin.bytes() > 0) return Status();  // its end notifies
    const WindowWait::Turn turn(&*wait_);
    BRIGADE_RETURN_IF_ERROR(AwaitRoom(target.rank));
    return AddNote(target.rank, NoteKind::kNotify);
  }
  direct(target.rank)->page().notified(rank()).fetch_add(1, std::memory_order_release);
  return Status();
}

Status Window::Reached(int target, const Status& outcome) {
  if (outcome.ok()) return outcome;
  return Broken(outcome.WithContext("rank " + std::to_string(target) + " of a window"));
}

Status Window::Broken(const Status& status) {
  const WindowWait::Turn turn(&*wait_);
  // A member whose window is broken may have given its memory back: it has said why before.
  engine()->Move();
  BRIGADE_RETURN_IF_ERROR(state()->failure);
  engine()->BreakGroup(state(), status, {rank(), status.code(), {}, 0, status.message()});
  return state()->failure;
}

Status Window::AwaitRoom(int target) {
  // Where the transport keeps copies little is under way, however far the target is behind.
  const size_t asked = messages_->outbox().requests(target);
  if (asked - requests_flushed_[static_cast<size_t>(target)] >= kMostUnflushed) {
    Asked all;
    BRIGADE_RETURN_IF_ERROR(AskFlush(target, FlushedPart::kAll, &all));
    BRIGADE_RETURN_IF_ERROR(AwaitFlush(target, all));
  }
  const auto has_room = [&] { return messages_->outbox().under_way(target) < kMostUnderWay; };
  if (has_room()) return Status();
  return wait_->Until(/*is_told=*/true, "a target that is behind with what it was asked", has_room);
}

Status Window::TakeLock(ProcessLock* lock) {
  // Whoever holds it is at work, and gives it back soon.
  constexpr int kLooks = 100;
  for (int looks = 0; looks < kLooks; ++looks) {
    if (lock->TryLock(rank())) return Status();
  }
  const WindowWait::Turn turn(&*wait_);
  return AwaitProcessLock(lock);
}

Status Window::AwaitProcessLock(ProcessLock* lock) {
  return wait_->Until(/*is_told=*/false, "another rank at work",
                      [&] { return lock->TryLock(rank()); });
}

}  // namespace brigade

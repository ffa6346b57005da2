#include "windows/message/inbox.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "windows/layout/layout_copy.h"
#include "windows/sync/lock_queue.h"
#include "windows/sync/open_accesses.h"
#include "windows/sync/process_lock.h"

namespace brigade {
namespace {

// Pieces of one origin that may land while earlier ones are worked on.
constexpr size_t kMostAhead = 8;
constexpr int64_t kMostSwapBytes = kMostInlined / 2;

Status Nonsense(int from, const std::string& what) {
  return Status(StatusCode::kMismatch, "rank " + std::to_string(from) + " " + what);
}

bool CarriesData(const Note& note) {
  return note.kind == NoteKind::kPut || note.kind == NoteKind::kAccumulate ||
         note.kind == NoteKind::kLayout ||
         (note.kind == NoteKind::kFetch && note.accumulate_op() != AccumulateOp::kNoOp);
}

// Whether a target's layout consists of what is accumulated.
bool HoldsWhole(const Note& note, const TypedLayout& layout) {
  if (note.element == Element::kMixed) return true;
  if (note.layout_index != Note::kContiguous) return layout.element() == note.element;
  return note.bytes % static_cast<int64_t>(ElementBytes(note.element)) == 0;
}

// Whether it is all reply.
bool IsRead(const Note& note) {
  return note.kind == NoteKind::kGet ||
         (note.kind == NoteKind::kFetch && note.accumulate_op() == AccumulateOp::kNoOp);
}

bool IsAccumulate(const Note& note) {
  return note.kind == NoteKind::kAccumulate || note.kind == NoteKind::kFetch;
}

// REQUIRES: it is a request, and tells of no layout.
Access::Kind AccessKindOf(NoteKind kind) {
  switch (kind) {
    case NoteKind::kPut:
      return Access::Kind::kPut;
    case NoteKind::kGet:
      return Access::Kind::kGet;
    case NoteKind::kAccumulate:
      return Access::Kind::kAccumulate;
    case NoteKind::kFetch:
      return Access::Kind::kFetch;
    default:
      return Access::Kind::kSwap;
  }
}

}  // namespace

Inbox::Inbox(MessageContext* context, ServedWindow* window)
    : context_(context),
      window_(window),
      memory_(StridedLayout::Contiguous(static_cast<size_t>(window->bytes))),
      origins_(context->group()->members()) {}

Status Inbox::Take(int from, const NoteMessage& message) {
  Origin& origin = OriginOf(from);
  const Note& note = message.note;
  if (note.kind <= NoteKind::kLayout) {
    const bool is_swap = note.kind == NoteKind::kSwap;
    if (note.bytes < 0 || note.element > Element::kMixed || note.op >= kAccumulateOps ||
        (note.inlined > 0 && !is_swap && !(CarriesData(note) && note.inlined == note.bytes)) ||
        (IsAccumulate(note) && !IsDefined(note.accumulate_op(), note.element))) {
      return Nonsense(from, "asks for what does not exist");
    }
    origin.announced = note;
    origin.announced_bytes = CarriesData(note) ? note.inlined : note.bytes;
  }
  origin.entries.emplace_back();
  Entry& entry = origin.entries.back();
  entry.message = message;
  if (note.kind == NoteKind::kPiece) {
    const Status status = CheckPiece(from, &origin, &entry);
    if (!status.ok()) {
      origin.entries.pop_back();  // nothing is received for it
      return status;
    }
  }
  if (std::find(busy_.begin(), busy_.end(), from) == busy_.end()) busy_.push_back(from);
  // The piece itself may come next, and is best read to where it belongs.
  bool any = false;
  if (note.kind == NoteKind::kPiece) return PostLandings(from, &origin, &any);
  if (!CarriesData(note) || note.kind == NoteKind::kFetch || note.token == 0) return Status();
  NoteMessage piece;
  piece.note.kind = NoteKind::kPiece;
  piece.note.bytes = note.token;
  return Take(from, piece);
}

Status Inbox::CheckPiece(int from, Origin* origin, Entry* entry) {
  const Note& request = origin->announced;
  const int64_t bytes = entry->message.note.bytes;
  const bool is_whole = !IsAccumulate(request) || request.element == Element::kMixed ||
                        bytes % static_cast<int64_t>(ElementBytes(request.element)) == 0;
  if (!is_whole || bytes <= 0 || bytes > request.bytes - origin->announced_bytes) {
    return Nonsense(from, "announces a piece of " + std::to_string(bytes) +
                              " bytes, which belongs to nothing it has asked for");
  }
  entry->is_answered = request.kind == NoteKind::kFetch;
  entry->place = request.offset + origin->announced_bytes;
  origin->announced_bytes += bytes;
  // What is refused must not have landed: by the checking mode, or since it is not attached.
  entry->in_place = !window_->checked.has_value() && !window_->attached.has_value() &&
                    request.kind == NoteKind::kPut && request.layout_index == Note::kContiguous &&
                    entry->place >= 0 && bytes <= window_->bytes &&
                    entry->place <= window_->bytes - bytes &&
                    context_->endpoint()->LandsInPlace(
                        context_->channel(kRequestChannel), from,
                        {&memory_, window_->memory, static_cast<size_t>(entry->place),
                         static_cast<size_t>(bytes)});
  if (!entry->in_place && !FitsIntoBuffer(*entry)) {
    return Nonsense(from, "announces a piece of " + std::to_string(bytes) +
                              " bytes, for which there is no place");
  }
  return Status();
}

bool Inbox::FitsIntoBuffer(const Entry& entry) const {
  return entry.message.note.bytes <= static_cast<int64_t>(context_->space()->piece_bytes());
}

bool Inbox::IsEarly(const Note& note) const {
  // No origin is two fences ahead: the one in between waits for this rank.
  return note.kind <= NoteKind::kLayout &&
         note.fences == static_cast<uint8_t>(context_->fences() + 1);
}

bool Inbox::IsTaken(const Entry& entry) const {
  const int64_t end = entry.place + entry.message.note.bytes;
  return std::any_of(landings_.begin(), landings_.end(), [&](const auto& landing) {
    return landing.first < end && entry.place < landing.first + landing.second;
  });
}

Status Inbox::PostLandings(int from, Origin* origin, bool* any) {
  size_t looked = 0;
  for (Entry& entry : origin->entries) {
    // What is behind it must not hold the memory that it needs for its reply.
    if (IsRead(entry.message.note) || IsEarly(entry.message.note)) break;
    if (entry.message.note.kind != NoteKind::kPiece) continue;
    if (++looked > kMostAhead) break;
    if (entry.posted) continue;
    const int64_t bytes = entry.message.note.bytes;
    // The way back first, so that nothing that has landed waits for it.
    if (entry.is_answered && entry.reply == nullptr) {
      entry.reply = context_->space()->Take(WindowSpace::Use::kReply, context_->group(), from);
      if (entry.reply == nullptr) break;
    }
    // Landings of posted receives do not overlap, but puts to the same bytes may be under way.
    if (entry.in_place && IsTaken(entry)) {
      if (!FitsIntoBuffer(entry)) break;  // it waits for them
      entry.in_place = false;
    }
    Status status;
    if (entry.in_place) {
      status = context_->endpoint()->PostReceiveInPlace(
          context_->channel(kRequestChannel), from,
          {&memory_, window_->memory, static_cast<size_t>(entry.place), static_cast<size_t>(bytes)},
          &entry.slot);
      if (status.ok()) landings_.emplace_back(entry.place, bytes);
    } else {
      StagedBuffer* const buffer =
          context_->space()->Take(WindowSpace::Use::kRequestLanding, context_->group(), from);
      if (buffer == nullptr) break;
      status = context_->Land(kRequestChannel, from, bytes, buffer, &entry.slot);
      if (!status.ok()) context_->engine()->buffers()->Release(buffer);
    }
    if (status.code() == StatusCode::kNoResource) break;
    BRIGADE_RETURN_IF_ERROR(status);
    entry.posted = true;
    *any = true;
  }
  return Status();
}

Status Inbox::Advance(bool* any) {
  for (size_t i = 0; i < busy_.size();) {
    const int from = busy_[i];
    Origin& origin = OriginOf(from);
    BRIGADE_RETURN_IF_ERROR(PostLandings(from, &origin, any));
    Step step = Step::kDone;
    while (!origin.entries.empty()) {
      BRIGADE_RETURN_IF_ERROR(DoFirst(from, &origin, &step));
      *any = *any || step != Step::kMustWait;
      if (step != Step::kDone) break;
      origin.entries.pop_front();
    }
    if (origin.entries.empty()) {
      busy_.erase(busy_.begin() + static_cast<ptrdiff_t>(i));
    } else {
      ++i;
    }
  }
  return Status();
}

Status Inbox::DoFirst(int from, Origin* origin, Step* step) {
  Entry& entry = origin->entries.front();
  const Note& note = entry.message.note;
  *step = Step::kDone;
  switch (note.kind) {
    case NoteKind::kPut:
    case NoteKind::kGet:
    case NoteKind::kAccumulate:
    case NoteKind::kFetch:
    case NoteKind::kSwap:
    case NoteKind::kLayout:
      if (IsEarly(note)) {
        *step = Step::kMustWait;
        return Status();
      }
      return origin->is_begun ? Reply(from, &origin->request, step)
                              : BeginRequest(from, origin, entry.message, step);
    case NoteKind::kPiece:
      return DoPiece(from, origin, &entry, step);
    case NoteKind::kFlush:
      if (window_->checked.has_value()) {
        if (note.op == static_cast<uint8_t>(FlushedPart::kReads)) {
          window_->checked->EndReads(from);
        } else {
          window_->checked->EndAll(from);
        }
      }
      return Answer(from, NoteKind::kFlushed, note.token);
    case NoteKind::kLock:
    case NoteKind::kUnlock: {
      ProcessLock& queueing = window_->page.queueing();
      if (!queueing.TryLock(window_->rank)) {
        *step = Step::kMustWait;
        return Status();
      }
      const Status status = note.kind == NoteKind::kLock ? Lock(from, note) : Unlock(from, note);
      queueing.Unlock();
      return status;
    }
    case NoteKind::kComplete:
      ++window_->completed_by[static_cast<size_t>(from)];
      return Status();
    case NoteKind::kNotify:
      Notify(from);
      return Status();
    case NoteKind::kFence:
      ++window_->fenced_by[static_cast<size_t>(from)];
      return Status();
    case NoteKind::kReply:
    case NoteKind::kFlushed:
    case NoteKind::kGranted:
    case NoteKind::kPost:
    case NoteKind::kWake:
    case NoteKind::kLeft:
    case NoteKind::kAllLeft:
      break;
  }
  return Nonsense(from, "sends a note of an unknown kind");
}

Status Inbox::BeginRequest(int from, Origin* origin, const NoteMessage& message, Step* step) {
  const Note& note = message.note;
  Request& request = origin->request;
  request.note = note;
  request.serial.clear();
  request.at.reset();
  request.straight.reset();
  request.layout = TypedLayout::One(Element::kByte);
  int64_t count = note.bytes;
  if (note.kind != NoteKind::kLayout && note.layout_index != Note::kContiguous) {
    const TypedLayout* const known =
        layouts_.Find(from, {note.layout_index, note.layout_generation});
    if (known == nullptr || known->size() == 0 || note.bytes % known->size() != 0) {
      return Nonsense(from, "names a datatype that it has not described");
    }
    request.layout = *known;
    count = note.bytes / known->size();
  }
  int64_t low = 0;
  int64_t high = 0;
  int64_t bytes = 0;
  const bool is_known = request.layout->Bounds(count, &low, &high, &bytes);
  // Address 0 lies before the memory of a dynamic window; a datatype may have its addresses in
  // itself.
  const int64_t least = window_->attached.has_value() ? -1 : 0;
  if (note.kind != NoteKind::kLayout &&
      (!is_known || note.offset < least || note.offset > window_->bytes || note.offset + low < 0 ||
       high > window_->bytes - note.offset)) {
    return Nonsense(from, "asks for " + std::to_string(note.bytes) + " bytes at offset " +
                              std::to_string(note.offset) + " of a window of " +
                              std::to_string(window_->bytes));
  }
  if (note.kind != NoteKind::kLayout && window_->attached.has_value() &&
      !window_->attached->Hold(*request.layout, count,
                               reinterpret_cast<int64_t>(window_->memory) + note.offset)) {
    return Nonsense(from, "asks for " + std::to_string(note.bytes) +
                              " bytes of which some are not attached to the window");
  }
  request.at.emplace(&*request.layout, count);
  if (IsAccumulate(note) && !HoldsWhole(note, *request.layout)) {
    return Nonsense(
        from, std::string("accumulates ") + ElementName(note.element) + "s where there are none");
  }
  if (note.kind != NoteKind::kLayout) {
    BRIGADE_RETURN_IF_ERROR(CheckConflicts(from, request, count));
  }
  const bool is_combined_now =
      (IsAccumulate(note) && note.inlined > 0) || note.kind == NoteKind::kSwap;
  // Whoever has it gives it back soon.
  if (is_combined_now && !window_->page.combining().TryLock(window_->rank)) {
    *step = Step::kMustWait;
    return Status();
  }
  if (note.kind == NoteKind::kSwap) return Swap(from, message);
  if (IsRead(note)) {
    origin->is_begun = true;
    if (note.takes_straight()) {
      const StraightData data(context_, kReplyChannel, from, window_->memory + note.offset,
                              note.bytes, note.element);
      if (data.CanGo()) request.straight = data;
    }
    return Reply(from, &request, step);
  }
  if (note.inlined > 0) {
    std::byte old[kMostInlined];
    Combine(&request, message.data, note.inlined, old);
    if (IsAccumulate(note)) window_->page.combining().Unlock();
    if (note.kind == NoteKind::kFetch) {
      BRIGADE_RETURN_IF_ERROR(AnswerInline(from, note.token, old, note.bytes));
    }
  }
  if (note.inlined == note.bytes) {
    EndRequest(from, origin);
    if (note.kind == NoteKind::kLayout) return EndLayout(from, &request);
  }
  return Status();
}

void Inbox::Combine(Request* request, const std::byte* data, int64_t bytes, std::byte* old) {
  const Note& note = request->note;
  if (note.kind == NoteKind::kLayout) {
    request->serial.insert(request->serial.end(), data, data + bytes);
    return;
  }
  std::byte* const base = window_->memory + note.offset;
  const Mover mover(note.inlined > 0 ? nullptr : context_->engine()->processor());
  if (note.kind == NoteKind::kFetch) {
    const int64_t position = request->at->position();
    mover.Gather(&*request->at, base, bytes, old);
    request->at->Seek(position);
  }
  if (IsAccumulate(note)) {
    mover.AccumulateInto(note.accumulate_op(), note.element, data, bytes, &*request->at, base);
  } else {
    mover.Scatter(data, bytes, &*request->at, base);
  }
}

Status Inbox::DoPiece(int from, Origin* origin, Entry* entry, Step* step) {
  if (!entry->slot.arrived) {
    *step = Step::kMustWait;
    return Status();
  }
  BRIGADE_RETURN_IF_ERROR(entry->slot.status);
  Request& request = origin->request;
  const int64_t bytes = entry->message.note.bytes;
  if (static_cast<int64_t>(entry->slot.lease.bytes) != bytes) {
    return Nonsense(from, "sends a piece of another length than it said");
  }
  if (IsAccumulate(request.note)) {
    if (!window_->page.combining().TryLock(window_->rank)) {
      *step = Step::kMustWait;
      return Status();
    }
  }
  if (entry->in_place) {
    landings_.erase(std::find(landings_.begin(), landings_.end(),
                              std::pair<int64_t, int64_t>(entry->place, bytes)));
    request.at->Seek(request.at->position() + bytes);
  } else {
    Combine(&request, entry->slot.lease.data, bytes,
            entry->reply == nullptr ? nullptr : entry->reply->memory.data);
  }
  if (IsAccumulate(request.note)) window_->page.combining().Unlock();
  context_->engine()->buffers()->Drop(&entry->slot);
  if (entry->reply != nullptr) {
    NoteMessage message;
    message.note.kind = NoteKind::kReply;
    message.note.token = request.note.token;
    message.note.bytes = bytes;
    BRIGADE_RETURN_IF_ERROR(Tell(from, message, Urgency::kWithNext));
    BRIGADE_RETURN_IF_ERROR(
        context_->SendPiece(kReplyChannel, from, bytes, std::exchange(entry->reply, nullptr)));
  }
  const int64_t so_far = request.note.kind == NoteKind::kLayout
                             ? static_cast<int64_t>(request.serial.size())
                             : request.at->position();
  if (so_far == request.note.bytes) {
    EndRequest(from, origin);
    if (request.note.kind == NoteKind::kLayout) return EndLayout(from, &request);
  }
  return Status();
}

Status Inbox::CheckConflicts(int from, const Request& request, int64_t count) {
  if (!window_->checked.has_value()) return Status();
  const Note& note = request.note;
  const Access access{AccessKindOf(note.kind), note.accumulate_op(), note.element, note.end, from};
  return window_->checked->Add(access, *request.layout, count, note.offset);
}

void Inbox::EndRequest(int from, Origin* origin) {
  ++origin->done;
  const AccessEnd end = origin->request.note.end;
  if (end == AccessEnd::kNotification) Notify(from);
  if (end == AccessEnd::kAnswer && window_->checked.has_value()) {
    window_->checked->EndBy(AccessEnd::kAnswer, from);
  }
}

void Inbox::Notify(int from) {
  if (window_->checked.has_value()) window_->checked->EndBy(AccessEnd::kNotification, from);
  window_->page.notified(from).fetch_add(1, std::memory_order_release);
}

Status Inbox::Swap(int from, const NoteMessage& message) {
  const Note& note = message.note;
  const bool is_whole =
      note.bytes > 0 && note.bytes <= kMostSwapBytes && note.inlined == 2 * note.bytes;
  std::byte old[kMostInlined];
  if (is_whole) {
    std::byte* const value = window_->memory + note.offset;
    const auto bytes = static_cast<size_t>(note.bytes);
    std::memcpy(old, value, bytes);
    if (std::memcmp(value, message.data, bytes) == 0) {
      std::memcpy(value, message.data + bytes, bytes);
    }
  }
  window_->page.combining().Unlock();
  if (!is_whole) return Nonsense(from, "swaps values of a wrong length");
  EndRequest(from, &OriginOf(from));
  return AnswerInline(from, note.token, old, note.bytes);
}

Status Inbox::EndLayout(int from, Request* request) {
  TypedLayout layout;
  BRIGADE_RETURN_IF_ERROR(
      TypedLayout::Parse({request->serial.data(), request->serial.size()}, &layout)
          .WithContext("a datatype of rank " + std::to_string(from)));
  return layouts_.Learn(from, {request->note.layout_index, request->note.layout_generation},
                        layout);
}

Status Inbox::Lock(int from, const Note& note) {
  bool granted = false;
  const auto kind = note.op == 0 ? LockKind::kShared : LockKind::kExclusive;
  BRIGADE_RETURN_IF_ERROR(window_->page.locks().Request(from, kind, /*by_message=*/true, &granted));
  if (!granted) return Status();
  return Answer(from, NoteKind::kGranted, static_cast<uint32_t>(window_->rank));
}

Status Inbox::Unlock(int from, const Note& note) {
  std::vector<int> granted;
  if (window_->checked.has_value()) window_->checked->EndAll(from);
  BRIGADE_RETURN_IF_ERROR(window_->page.locks().Release(from, &granted));
  for (const int origin : granted) {
    BRIGADE_RETURN_IF_ERROR(
        Answer(origin, NoteKind::kGranted, static_cast<uint32_t>(window_->rank)));
  }
  return Answer(from, NoteKind::kFlushed, note.token);
}

Urgency Inbox::UrgencyBehind(const Origin& origin) const {
  if (origin.entries.size() < 2) return Urgency::kCanWait;
  const Note& next = origin.entries[1].message.note;
  const bool is_answered =
      next.kind == NoteKind::kFlush || (next.kind == NoteKind::kGet && next.bytes <= kMostInlined);
  return is_answered && !IsEarly(next) ? Urgency::kWithNext : Urgency::kCanWait;
}

Status Inbox::Tell(int origin, const NoteMessage& message, Urgency urgency) {
  context_->engine()->ExpectMore();
  return context_->notes()->Send(origin, message, urgency);
}

Status Inbox::Answer(int to, NoteKind kind, uint32_t token) {
  NoteMessage message;
  message.note.kind = kind;
  message.note.token = token;
  return Tell(to, message, Urgency::kCanWait);
}

Status Inbox::AnswerInline(int to, uint32_t token, const std::byte* data, int64_t bytes) {
  NoteMessage message;
  message.note.kind = NoteKind::kReply;
  message.note.token = token;
  message.note.bytes = bytes;
  message.note.inlined = static_cast<uint8_t>(bytes);
  std::memcpy(message.data, data, static_cast<size_t>(bytes));
  return Tell(to, message, UrgencyBehind(OriginOf(to)));
}

// Whatever its origin asks for next, such as the end of a lock, is done behind it.
Status Inbox::Reply(int from, Request* request, Step* step) {
  BRIGADE_RETURN_IF_ERROR(request->straight.has_value() ? ReplyStraight(request, step)
                                                        : ReplyThroughStaging(from, request, step));
  if (*step != Step::kDone) return Status();
  Origin& origin = OriginOf(from);
  origin.is_begun = false;
  EndRequest(from, &origin);
  return Status();
}

Status Inbox::ReplyStraight(Request* request, Step* step) {
  const bool is_atomic = request->note.kind == NoteKind::kFetch;
  *step = Step::kMustWait;
  Note reply;
  reply.kind = NoteKind::kReply;
  reply.token = request->note.token;
  bool any = false;
  const Status status =
      request->straight->Advance(reply, is_atomic ? &window_->page.combining() : nullptr, &any);
  if (!any) return status;
  context_->engine()->ExpectMore();
  *step = request->straight->left() > 0 ? Step::kHasMoved : Step::kDone;
  return status;
}

Status Inbox::ReplyThroughStaging(int from, Request* request, Step* step) {
  LayoutCursor& at = *request->at;
  const bool is_atomic = request->note.kind == NoteKind::kFetch;
  const bool is_short = at.size() <= kMostInlined;
  StagingBuffers* const buffers = context_->engine()->buffers();
  *step = Step::kMustWait;
  while (at.position() < at.size()) {
    NoteMessage message;
    message.note.kind = NoteKind::kReply;
    message.note.token = request->note.token;
    message.note.bytes =
        std::min(at.size() - at.position(), context_->PieceBytes(request->note.element));
    StagedBuffer* buffer = nullptr;
    if (!is_short) {
      buffer = context_->space()->Take(WindowSpace::Use::kReply, context_->group(), from);
      if (buffer == nullptr) return Status();
    }
    if (is_atomic && !window_->page.combining().TryLock(window_->rank)) {
      if (buffer != nullptr) buffers->Release(buffer);
      return Status();
    }
    std::byte* const base = window_->memory + request->note.offset;
    if (is_short) {
      Gather(&at, base, message.note.bytes, message.data);
    } else {
      context_->mover().Gather(&at, base, message.note.bytes, buffer->memory.data);
    }
    if (is_atomic) window_->page.combining().Unlock();
    if (is_short) message.note.inlined = static_cast<uint8_t>(message.note.bytes);
    const Urgency urgency = is_short ? UrgencyBehind(OriginOf(from)) : Urgency::kWithNext;
    BRIGADE_RETURN_IF_ERROR(Tell(from, message, urgency));
    if (!is_short) {
      BRIGADE_RETURN_IF_ERROR(context_->SendPiece(kReplyChannel, from, message.note.bytes, buffer));
    }
  }
  *step = Step::kDone;
  return Status();
}

void Inbox::Drop() {
  StagingBuffers* const buffers = context_->engine()->buffers();
  for (Origin& origin : origins_) {
    for (Entry& entry : origin.entries) {
      buffers->Drop(&entry.slot);
      if (entry.reply != nullptr) buffers->Release(std::exchange(entry.reply, nullptr));
    }
    origin.entries.clear();
  }
  busy_.clear();
  landings_.clear();
}

}  // namespace brigade

#include "windows/message/inbox.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "membuf/accumulate.h"
#include "windows/layout/layout_copy.h"
#include "windows/sync/lock_queue.h"
#include "windows/sync/open_accesses.h"
#include "windows/sync/process_lock.h"

namespace brigade {
namespace {

// Segments of one origin that may land while earlier ones are worked on.
constexpr size_t kMostAhead = 8;
constexpr int64_t kMostSwapBytes = kMostInlined / 2;

bool CarriesData(const RmaHeader& header) {
  return header.kind == RmaKind::kPut || header.kind == RmaKind::kAccumulate ||
         header.kind == RmaKind::kLayout ||
         (header.kind == RmaKind::kFetch && header.accumulate_op() != CombineOp::kNoOp);
}

// Whether a target's layout consists of what is accumulated.
bool HoldsWhole(const RmaHeader& header, const TypedLayout& layout) {
  if (header.element == Element::kMixed) return true;
  if (header.layout_index != RmaHeader::kContiguous) return layout.element() == header.element;
  return header.bytes % static_cast<int64_t>(ElementBytes(header.element)) == 0;
}

// Whether it is all reply.
bool IsRead(const RmaHeader& header) {
  return header.kind == RmaKind::kGet ||
         (header.kind == RmaKind::kFetch && header.accumulate_op() == CombineOp::kNoOp);
}

bool IsAccumulate(const RmaHeader& header) {
  return header.kind == RmaKind::kAccumulate || header.kind == RmaKind::kFetch;
}

}  // namespace

Inbox::Inbox(MessageContext* context, ServedWindow* window)
    : context_(context),
      window_(window),
      memory_(StridedLayout::Contiguous(static_cast<size_t>(window->bytes))),
      origins_(context->group()->members()) {}

Status Inbox::Take(int from, const RmaFrame& message) {
  Origin& origin = OriginOf(from);
  const RmaHeader& header = message.header;
  if (header.kind <= RmaKind::kLayout) {
    const bool is_swap = header.kind == RmaKind::kSwap;
    if (header.bytes < 0 || header.element > Element::kMixed || header.op >= kCombineOps ||
        (header.inlined > 0 && !is_swap &&
         !(CarriesData(header) && header.inlined == header.bytes)) ||
        (IsAccumulate(header) && !IsDefined(header.accumulate_op(), header.element))) {
      return BadFrame(from, "requests an operation that does not exist");
    }
    origin.announced = header;
    origin.announced_bytes = CarriesData(header) ? header.inlined : header.bytes;
  }
  origin.entries.emplace_back();
  Entry& entry = origin.entries.back();
  entry.message = message;
  if (header.kind == RmaKind::kSegment) {
    const Status status = CheckSegment(from, &origin, &entry);
    if (!status.ok()) {
      origin.entries.pop_back();  // nothing is received for it
      return status;
    }
  }
  if (std::find(busy_.begin(), busy_.end(), from) == busy_.end()) busy_.push_back(from);
  // The segment itself may come next, and is best read to where it belongs.
  bool any = false;
  if (header.kind == RmaKind::kSegment) return PostReceiveBuffers(from, &origin, &any);
  if (!CarriesData(header) || header.kind == RmaKind::kFetch || header.token == 0) return Status();
  RmaFrame segment(RmaKind::kSegment);
  segment.header.bytes = header.token;
  return Take(from, segment);
}

Status Inbox::CheckSegment(int from, Origin* origin, Entry* entry) {
  const RmaHeader& request = origin->announced;
  const int64_t bytes = entry->message.header.bytes;
  const bool is_whole = !IsAccumulate(request) || request.element == Element::kMixed ||
                        bytes % static_cast<int64_t>(ElementBytes(request.element)) == 0;
  int64_t end = 0;
  if (!is_whole || bytes <= 0 || bytes > request.bytes - origin->announced_bytes ||
      __builtin_add_overflow(request.offset, origin->announced_bytes + bytes, &end)) {
    return BadFrame(from, "announces a segment of " + std::to_string(bytes) +
                              " bytes, which belongs to no request");
  }
  entry->is_answered = request.kind == RmaKind::kFetch;
  entry->place = end - bytes;
  origin->announced_bytes += bytes;
  // A put that is refused must not have written to the window. The checking mode refuses puts that
  // conflict, and a dynamic window refuses puts to memory that is not attached.
  entry->in_place = !window_->checked.has_value() && !window_->attached.has_value() &&
                    request.kind == RmaKind::kPut &&
                    request.layout_index == RmaHeader::kContiguous && entry->place >= 0 &&
                    bytes <= window_->bytes && entry->place <= window_->bytes - bytes &&
                    context_->endpoint()->LandsInPlace(
                        context_->channel(kRequestChannel), from,
                        {&memory_, window_->memory, static_cast<size_t>(entry->place),
                         static_cast<size_t>(bytes)});
  if (!entry->in_place && !FitsIntoBuffer(*entry)) {
    return BadFrame(from, "announces a segment of " + std::to_string(bytes) +
                              " bytes, for which there is no place");
  }
  return Status();
}

bool Inbox::FitsIntoBuffer(const Entry& entry) const {
  return entry.message.header.bytes <= static_cast<int64_t>(context_->space()->segment_bytes());
}

bool Inbox::IsEarly(const RmaHeader& header) const {
  // No origin is two fences ahead: the one in between waits for this rank.
  return header.kind <= RmaKind::kLayout &&
         header.fences == static_cast<uint8_t>(context_->fences() + 1);
}

bool Inbox::IsTaken(const Entry& entry) const {
  const int64_t end = entry.place + entry.message.header.bytes;
  return std::any_of(arriving_.begin(), arriving_.end(), [&](const auto& other) {
    return other.first < end && entry.place < other.first + other.second;
  });
}

Status Inbox::PostReceiveBuffers(int from, Origin* origin, bool* any) {
  size_t looked = 0;
  for (Entry& entry : origin->entries) {
    // Segments behind this request must not hold the memory that it needs for its reply.
    if (IsRead(entry.message.header) || IsEarly(entry.message.header)) break;
    if (entry.message.header.kind != RmaKind::kSegment) continue;
    if (++looked > kMostAhead) break;
    if (entry.posted) continue;
    const int64_t bytes = entry.message.header.bytes;
    // The way back first, so that nothing that has landed waits for it.
    if (entry.is_answered && entry.reply == nullptr) {
      entry.reply = context_->space()->Take(WindowSpace::Use::kReply, context_->group(), from);
      if (entry.reply == nullptr) break;
    }
    // Memory of posted receives does not overlap, but puts to the same bytes may be under way.
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
      if (status.ok()) arriving_.emplace_back(entry.place, bytes);
    } else {
      StagedBuffer* const buffer =
          context_->space()->Take(WindowSpace::Use::kRequestReceiveBuffer, context_->group(), from);
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
    BRIGADE_RETURN_IF_ERROR(PostReceiveBuffers(from, &origin, any));
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
  const RmaHeader& header = entry.message.header;
  *step = Step::kDone;
  switch (header.kind) {
    case RmaKind::kPut:
    case RmaKind::kGet:
    case RmaKind::kAccumulate:
    case RmaKind::kFetch:
    case RmaKind::kSwap:
    case RmaKind::kLayout:
      if (IsEarly(header)) {
        *step = Step::kMustWait;
        return Status();
      }
      return origin->is_begun ? Reply(from, &origin->request, step)
                              : BeginRequest(from, origin, entry.message, step);
    case RmaKind::kSegment:
      return DoSegment(from, origin, &entry, step);
    case RmaKind::kFlush:
      if (window_->checked.has_value()) {
        if (header.op == static_cast<uint8_t>(FlushedPart::kReads)) {
          window_->checked->EndReads(from);
        } else {
          window_->checked->EndAll(from);
        }
      }
      return Answer(from, RmaKind::kFlushed, header.token);
    case RmaKind::kLock:
    case RmaKind::kUnlock: {
      ProcessLock& queueing = window_->page.queueing();
      if (!queueing.TryLock(window_->rank)) {
        *step = Step::kMustWait;
        return Status();
      }
      const Status status =
          header.kind == RmaKind::kLock ? Lock(from, header) : Unlock(from, header);
      queueing.Unlock();
      return status;
    }
    case RmaKind::kComplete:
      ++window_->completed_by[static_cast<size_t>(from)];
      return Status();
    case RmaKind::kNotify:
      Notify(from);
      return Status();
    case RmaKind::kFence:
      ++window_->fenced_by[static_cast<size_t>(from)];
      return Status();
    case RmaKind::kReply:
    case RmaKind::kFlushed:
    case RmaKind::kGranted:
    case RmaKind::kPost:
    case RmaKind::kWake:
    case RmaKind::kLeft:
    case RmaKind::kAllLeft:
      break;
  }
  return BadFrame(from, "sends a frame of an unknown kind");
}

Status Inbox::BeginRequest(int from, Origin* origin, const RmaFrame& message, Step* step) {
  const RmaHeader& header = message.header;
  Request& request = origin->request;
  request.header = header;
  request.serial.clear();
  request.at.reset();
  request.unstaged.reset();
  request.layout = TypedLayout::One(Element::kByte);
  int64_t count = header.bytes;
  if (header.kind != RmaKind::kLayout && header.layout_index != RmaHeader::kContiguous) {
    const TypedLayout* const known =
        layouts_.Find(from, {header.layout_index, header.layout_generation});
    if (known == nullptr || known->size() == 0 || header.bytes % known->size() != 0) {
      return BadFrame(from, "names a datatype that it has not described");
    }
    request.layout = *known;
    count = header.bytes / known->size();
  }
  int64_t low = 0;
  int64_t high = 0;
  int64_t bytes = 0;
  const bool is_known = request.layout->Bounds(count, &low, &high, &bytes);
  // Address 0 lies before the memory of a dynamic window; a datatype may have its addresses in
  // itself.
  const int64_t least = window_->attached.has_value() ? -1 : 0;
  if (header.kind != RmaKind::kLayout &&
      (!is_known || header.offset < least || high > window_->bytes - header.offset ||
       header.offset + low < 0)) {
    return BadFrame(from, "requests " + std::to_string(header.bytes) + " bytes at offset " +
                              std::to_string(header.offset) + " of a window of " +
                              std::to_string(window_->bytes));
  }
  if (header.kind != RmaKind::kLayout && window_->attached.has_value() &&
      !window_->attached->Hold(*request.layout, count,
                               reinterpret_cast<int64_t>(window_->memory) + header.offset)) {
    return BadFrame(from, "requests " + std::to_string(header.bytes) +
                              " bytes, and some are not attached to the window");
  }
  request.at.emplace(&*request.layout, count);
  if (IsAccumulate(header) && !HoldsWhole(header, *request.layout)) {
    return BadFrame(
        from, std::string("accumulates ") + ElementName(header.element) + "s where there are none");
  }
  if (header.kind != RmaKind::kLayout) {
    BRIGADE_RETURN_IF_ERROR(CheckConflicts(from, request, count));
  }
  const bool is_combined_now =
      (IsAccumulate(header) && header.inlined > 0) || header.kind == RmaKind::kSwap;
  // The rank that holds the lock gives it back soon.
  if (is_combined_now && !window_->page.combining().TryLock(window_->rank)) {
    *step = Step::kMustWait;
    return Status();
  }
  if (header.kind == RmaKind::kSwap) return Swap(from, message);
  if (IsRead(header)) {
    origin->is_begun = true;
    if (header.takes_unstaged()) {
      const UnstagedData data(context_, kReplyChannel, from, window_->memory + header.offset,
                              header.bytes, header.element);
      if (data.CanGo()) request.unstaged = data;
    }
    return Reply(from, &request, step);
  }
  if (header.inlined > 0) {
    std::byte old[kMostInlined];
    Combine(&request, message.data, header.inlined, old);
    if (IsAccumulate(header)) window_->page.combining().Unlock();
    if (header.kind == RmaKind::kFetch) {
      BRIGADE_RETURN_IF_ERROR(AnswerInline(from, header.token, old, header.bytes));
    }
  }
  if (header.inlined == header.bytes) {
    EndRequest(from, origin);
    if (header.kind == RmaKind::kLayout) return EndLayout(from, &request);
  }
  return Status();
}

void Inbox::Combine(Request* request, const std::byte* data, int64_t bytes, std::byte* old) {
  const RmaHeader& header = request->header;
  if (header.kind == RmaKind::kLayout) {
    request->serial.insert(request->serial.end(), data, data + bytes);
    return;
  }
  std::byte* const base = window_->memory + header.offset;
  const Mover mover(header.inlined > 0 ? nullptr : context_->engine()->processor());
  if (header.kind == RmaKind::kFetch) {
    const int64_t position = request->at->position();
    mover.Gather(&*request->at, base, bytes, old);
    request->at->Seek(position);
  }
  if (IsAccumulate(header)) {
    mover.AccumulateInto(header.accumulate_op(), header.element, data, bytes, &*request->at, base);
  } else {
    mover.Scatter(data, bytes, &*request->at, base);
  }
}

Status Inbox::DoSegment(int from, Origin* origin, Entry* entry, Step* step) {
  if (!entry->slot.arrived) {
    *step = Step::kMustWait;
    return Status();
  }
  BRIGADE_RETURN_IF_ERROR(entry->slot.status);
  Request& request = origin->request;
  const int64_t bytes = entry->message.header.bytes;
  if (static_cast<int64_t>(entry->slot.lease.bytes) != bytes) {
    return BadFrame(from, "sends a segment of another length than announced");
  }
  if (IsAccumulate(request.header)) {
    if (!window_->page.combining().TryLock(window_->rank)) {
      *step = Step::kMustWait;
      return Status();
    }
  }
  if (entry->in_place) {
    arriving_.erase(std::find(arriving_.begin(), arriving_.end(),
                              std::pair<int64_t, int64_t>(entry->place, bytes)));
    request.at->Seek(request.at->position() + bytes);
  } else {
    Combine(&request, entry->slot.lease.data, bytes,
            entry->reply == nullptr ? nullptr : entry->reply->memory.data);
  }
  if (IsAccumulate(request.header)) window_->page.combining().Unlock();
  context_->engine()->buffers()->Drop(&entry->slot);
  if (entry->reply != nullptr) {
    RmaFrame message(RmaKind::kReply, request.header.token);
    message.header.bytes = bytes;
    BRIGADE_RETURN_IF_ERROR(SendAnswer(from, message, Urgency::kWithNext));
    BRIGADE_RETURN_IF_ERROR(
        context_->SendSegment(kReplyChannel, from, bytes, std::exchange(entry->reply, nullptr)));
  }
  const int64_t so_far = request.header.kind == RmaKind::kLayout
                             ? static_cast<int64_t>(request.serial.size())
                             : request.at->position();
  if (so_far == request.header.bytes) {
    EndRequest(from, origin);
    if (request.header.kind == RmaKind::kLayout) return EndLayout(from, &request);
  }
  return Status();
}

Status Inbox::CheckConflicts(int from, const Request& request, int64_t count) {
  if (!window_->checked.has_value()) return Status();
  const RmaHeader& header = request.header;
  const Access access{AccessKindOf(header.kind), header.accumulate_op(), header.element, header.end,
                      from};
  return window_->checked->Add(access, *request.layout, count, header.offset);
}

void Inbox::EndRequest(int from, Origin* origin) {
  ++origin->done;
  const AccessEnd end = origin->request.header.end;
  if (end == AccessEnd::kNotification) Notify(from);
  if (end == AccessEnd::kAnswer && window_->checked.has_value()) {
    window_->checked->EndBy(AccessEnd::kAnswer, from);
  }
}

void Inbox::Notify(int from) {
  if (window_->checked.has_value()) window_->checked->EndBy(AccessEnd::kNotification, from);
  window_->page.notified(from).fetch_add(1, std::memory_order_release);
}

Status Inbox::Swap(int from, const RmaFrame& message) {
  const RmaHeader& header = message.header;
  const bool is_whole =
      header.bytes > 0 && header.bytes <= kMostSwapBytes && header.inlined == 2 * header.bytes;
  std::byte old[kMostInlined];
  if (is_whole) {
    std::byte* const value = window_->memory + header.offset;
    const auto bytes = static_cast<size_t>(header.bytes);
    std::memcpy(old, value, bytes);
    if (std::memcmp(value, message.data, bytes) == 0) {
      std::memcpy(value, message.data + bytes, bytes);
    }
  }
  window_->page.combining().Unlock();
  if (!is_whole) return BadFrame(from, "swaps values of a wrong length");
  EndRequest(from, &OriginOf(from));
  return AnswerInline(from, header.token, old, header.bytes);
}

Status Inbox::EndLayout(int from, Request* request) {
  TypedLayout layout;
  BRIGADE_RETURN_IF_ERROR(
      TypedLayout::Parse({request->serial.data(), request->serial.size()}, &layout)
          .WithContext("a datatype of rank " + std::to_string(from)));
  return layouts_.Learn(from, {request->header.layout_index, request->header.layout_generation},
                        layout);
}

Status Inbox::Lock(int from, const RmaHeader& header) {
  bool granted = false;
  const auto kind = header.op == 0 ? LockKind::kShared : LockKind::kExclusive;
  BRIGADE_RETURN_IF_ERROR(window_->page.locks().Request(from, kind, /*by_message=*/true, &granted));
  if (!granted) return Status();
  return Answer(from, RmaKind::kGranted, static_cast<uint32_t>(window_->rank));
}

Status Inbox::Unlock(int from, const RmaHeader& header) {
  std::vector<int> granted;
  if (window_->checked.has_value()) window_->checked->EndAll(from);
  BRIGADE_RETURN_IF_ERROR(window_->page.locks().Release(from, &granted));
  for (const int origin : granted) {
    BRIGADE_RETURN_IF_ERROR(
        Answer(origin, RmaKind::kGranted, static_cast<uint32_t>(window_->rank)));
  }
  return Answer(from, RmaKind::kFlushed, header.token);
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
  arriving_.clear();
}

}  // namespace brigade

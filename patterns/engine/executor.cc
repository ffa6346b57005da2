#include "patterns/engine/executor.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "membuf/check.h"
#include "patterns/engine/header_difference.h"
#include "patterns/rules.h"
#include "patterns/trace/trace.h"

namespace brigade {

std::unique_ptr<Executor> Executor::New(Engine* engine) {
  std::vector<std::unique_ptr<Activity>>* const idle = engine->idle_executors();
  idle->reserve(kMostIdle);  // Keep needs no memory
  if (idle->empty()) return std::unique_ptr<Executor>(new Executor(engine));
  std::unique_ptr<Executor> executor(static_cast<Executor*>(idle->back().release()));
  idle->pop_back();
  return executor;
}

void Executor::Keep(std::unique_ptr<Executor> executor) {
  std::vector<std::unique_ptr<Activity>>* const idle = executor->engine_->idle_executors();
  if (idle->size() < kMostIdle) idle->push_back(std::move(executor));
}

Executor::Executor(Engine* engine)
    : engine_(engine), mover_(engine->processor()), buffers_(engine) {}

Status Executor::Prepare(GroupState* group, const CatalogueEntry& entry,
                         std::shared_ptr<const Schedule> schedule, const PatternCall& call,
                         uint64_t sequence, bool blocking) {
  group_ = group;
  entry_ = &entry;
  schedule_ = std::move(schedule);
  call_ = call;
  blocking_ = blocking;
  FindChannel();
  mover_.Reset(entry, &call_, config_->capabilities->max_inline_bytes > 0);
  if (const Status cut = CutMessages(); !cut.ok()) return cut.WithContext(entry.name);
  posted_blocks_ =
      PostedBlocks(engine_, *group, channel_, !cut_.in_runs() && PostedBlocks::MayServe(call_));
  header_ = WireHeader();
  SetHeader(entry, call_, sequence, cut_.longest_bytes(), &header_);
  digest_of_blocks_ = DigestOfBlocks(call_, scope_.size);
  called_ = header_;
  called_.total_bytes = call_.matrix.layout.bytes();
  StartLanesAndStreams();
  const Status status = buffers_.Start(
      {entry_, schedule_.get(), config_, &call_, &cut_, &mover_.statistics, blocking},
      mover_.WireBytes(cut_.longest_bytes()));
  if (!status.ok()) return status.WithContext(entry.name);
  if (channel_ != ChannelKind::kPointToPoint) group->history(channel_)->Put(called_);
  limit_.Start(call.timeout_seconds);
  looks_ = 0;
  work_over_ = done_ = is_announced_ = false;
  outcome_ = Status();
  return Status();
}

void Executor::FindChannel() {
  const bool pair = IsPair(entry_->pattern);
  channel_ = pair ? ChannelKind::kPointToPoint : call_.scope;
  scope_ = group_->scope(channel_);
  config_ = &group_->EdgeConfigOf(channel_, call_.root);
  // Sends and receives of one pair are two orders; -1 is a scope's.
  order_peer_ = pair ? 2 * call_.root + (entry_->pattern == Pattern::kReceive ? 1 : 0) : -1;
}

Status Executor::CutMessages() {
  block_bytes_.clear();
  for (int q = 0; q < BlockCount(*entry_, scope_.size); ++q) {
    block_bytes_.push_back(BlockOf(call_, q, scope_.size).layout.bytes());
  }
  BRIGADE_RETURN_IF_ERROR(cut_.Cut(mover_.Rule(*entry_, config_->settings, scope_.size), *schedule_,
                                   call_.matrix.layout.bytes(), block_bytes_));
  if (entry_->pattern == Pattern::kReceive) cut_.AwaitPlan();
  mover_.SetSegmentBytes(cut_.segment_bytes());
  mover_.statistics.segments = static_cast<uint64_t>(cut_.segments());
  return Status();
}

void Executor::StartLanesAndStreams() {
  receives_.assign(schedule_->lanes.size(), Cursor::AtStartOf(*schedule_));
  work_ = receives_;
  size_t receives = 0;
  first_receive_.clear();
  for (const Lane& lane : schedule_->lanes) {
    first_receive_.push_back(receives);
    receives += lane.receives.size();
  }
  verified_.assign(receives, false);
  while (streams_.size() < schedule_->streams.size()) streams_.emplace_back();
  for (size_t s = 0; s < schedule_->streams.size(); ++s) {
    StreamState& stream = streams_[s];
    stream.opened = stream.awaited = stream.freed = 0;
    stream.current = nullptr;
    stream.sent = false;
  }
}

std::byte* Executor::PayloadAt(const Place& place, const BlockRun& run, int64_t segment) const {
  if (!place.in_stream()) return nullptr;
  const Slot& slot = *streams_[place.index].current;
  const BlockRun& all = schedule_->runs[static_cast<size_t>(slot.run)];
  const int before = all.Before(run, scope_.size);
  return slot.payload + cut_.RunBytes(all.first, before, segment);  // no locations go with blocks
}

bool Executor::Advance() {
  bool any = false;
  for (bool moved = true; moved && !done_;) {
    moved = false;
    for (size_t lane = 0; lane < schedule_->lanes.size() && !done_; ++lane) {
      while (!done_ && AdvanceReceives(lane)) moved = true;
      const bool knew_plan = cut_.plan_known();
      while (!done_ && AdvanceWork(lane)) {
        moved = true;
        if (cut_.plan_known() != knew_plan) break;  // first the receives that are due now
      }
    }
    any |= moved;
    if (!moved && !done_) FinishIfOver();
  }
  return any;
}

void Executor::FinishIfOver() {
  if (!work_over_) {
    for (size_t lane = 0; lane < schedule_->lanes.size(); ++lane) {
      if (receives_[lane].SkipToExisting(cut_.turns(), schedule_->lanes[lane].receives)) return;
      if (work_[lane].SkipToExisting(cut_.turns(), schedule_->lanes[lane].work)) return;
    }
    work_over_ = true;
    buffers_.ReleaseReserved();
  }
  if (entry_->locally_blocking && buffers_.waits()) {
    if (const Status status = buffers_.CheckWait(); !status.ok()) return Fail(status);
  }
  // Chunks of the core belong to the next operation, leases to ranks that wait for them: their
  // sends are waited for. All others may still be on their way.
  done_ = !buffers_.waits();
}

bool Executor::AdvanceReceives(size_t lane) {
  Cursor& at = receives_[lane];
  const std::vector<Step>& steps = schedule_->lanes[lane].receives;
  if (!at.SkipToExisting(cut_.turns(), steps)) return false;
  const int64_t segment = cut_.turns().SegmentOf(steps[at.step], at.round);
  if (RunReceive(lane, at.step, segment) == Outcome::kMustWait) return false;
  ++at.step;
  return true;
}

bool Executor::AdvanceWork(size_t lane) {
  Cursor& at = work_[lane];
  const std::vector<Step>& steps = schedule_->lanes[lane].work;
  if (!at.SkipToExisting(cut_.turns(), steps)) return false;
  const Step& step = steps[at.step];
  const int64_t segment = cut_.turns().SegmentOf(step, at.round);
  Outcome outcome = Outcome::kDone;
  switch (step.opcode) {
    case Opcode::kReceive:
      BRIGADE_CHECK(false);
      break;
    case Opcode::kAwait:
      outcome = RunAwait(lane, step, segment);
      break;
    case Opcode::kOpen:
    case Opcode::kCopy:
    case Opcode::kCombine:
      outcome = RunFill(step, segment);
      break;
    case Opcode::kSend:
      RunSend(step, segment);
      break;
    case Opcode::kFree:
      RunFree(step);
      break;
  }
  if (outcome == Outcome::kMustWait || done_) return false;
  ++at.step;
  return true;
}

Executor::Slot* Executor::OpenSlot(int stream, size_t wire_bytes, Memory memory) {
  StreamState& s = streams_[stream];
  if (s.opened - s.freed >= static_cast<int64_t>(kMostSlots)) return nullptr;
  Slot* slot = &s.slots[s.opened % kMostSlots];
  StagedBuffer* buffer = nullptr;
  if (memory != Memory::kNone) {
    Status failure;
    const bool receives = memory == Memory::kReceiveBuffer;
    buffer = buffers_.Try(stream, wire_bytes, {receives, engine_->IsAwaited(*this)}, &failure);
    if (buffer == nullptr) {
      // With a slot open it waits for who fills that one, not for memory.
      const bool lacks_memory = s.opened == s.freed && engine_->buffers()->OutOfPatience();
      if (failure.ok() && entry_->locally_blocking && lacks_memory) failure = buffers_.CheckWait();
      if (!failure.ok()) Fail(failure);
      return nullptr;
    }
  }
  ++s.opened;
  slot->buffer = buffer;
  slot->payload = buffer == nullptr ? nullptr : buffer->memory.data + kHeaderRoom;
  slot->arrived = slot->posted = false;
  slot->status = Status();
  return slot;
}

Executor::Outcome Executor::RunReceive(size_t lane, size_t index, int64_t segment) {
  const Step& step = schedule_->lanes[lane].receives[index];
  const SegmentPlan::Range range = cut_.RangeOf(step.block, segment);
  const size_t wire_bytes = mover_.WireBytes(range.bytes);
  const int peer = scope_.GroupRank(step.peer);
  const Channel channel{group_->id, channel_};
  // A transport that may write past a receive buffer too short for a wrong message gets later
  // receive buffers only once the first segment has shown that both sides mean the same.
  if (segment > 0 && !verified_[first_receive_[lane] + index] &&
      config_->capabilities->kept_receive_buffer_bytes < SIZE_MAX) {
    return Outcome::kMustWait;
  }
  if (HasPosted(step)) return Outcome::kMustWait;
  size_t room = wire_bytes;
  if (segment == 0) {
    // A shorter message than this receive would take may bring more in its first segment.
    const size_t most = std::min(cut_.TotalBytes(step.block), config_->settings.eager_bytes);
    room =
        std::min(config_->FirstRoom(cut_.plan_known() ? wire_bytes : most), buffers_.most_room());
  }
  // The first segment brings a header; later ones may go straight to where they are wanted.
  LayoutRange in_place;
  bool lands = false;
  if (segment > 0 && step.only_copied_out && call_.locations == nullptr) {
    const Matrix& target = mover_.MatrixAt(step.left);
    in_place = {&target.layout, target.data, range.offset, range.bytes};
    lands = engine_->endpoint()->LandsInPlace(channel, peer, in_place);
  }
  const bool in_buffer = !lands && config_->capabilities->needs_receive_buffer;
  Slot* slot = OpenSlot(step.stream(), room, in_buffer ? Memory::kReceiveBuffer : Memory::kNone);
  if (slot == nullptr) return Outcome::kMustWait;
  slot->run = step.block;
  Status status;
  if (lands) {
    status = engine_->endpoint()->PostReceiveInPlace(channel, peer, in_place, slot);
  } else {
    const size_t header_bytes = segment == 0 ? kHeaderBytes : 0;
    const ByteSpan where{in_buffer ? slot->payload - header_bytes : nullptr, room + header_bytes};
    status = engine_->endpoint()->PostReceive(channel, peer, where, slot);
  }
  if (status.ok()) {
    Trace::Mark(TraceKind::kPostReceive, room, peer);
    slot->posted = step.only_copied_out && posted_blocks_.Post(peer, mover_.MatrixAt(step.left));
    return Outcome::kDone;
  }
  if (status.code() != StatusCode::kNoResource) {
    FailReceive(status);
    return Outcome::kMustWait;
  }
  // Nothing happened: close the slot again.
  --streams_[step.stream()].opened;
  if (slot->buffer != nullptr) engine_->buffers()->Release(std::exchange(slot->buffer, nullptr));
  return Outcome::kMustWait;
}

bool Executor::HasPosted(const Step& receive) const {
  const StreamState& s = streams_[receive.stream()];
  for (int64_t i = s.awaited; i < s.opened; ++i) {
    const Slot& slot = s.slots[i % kMostSlots];
    if (slot.posted && slot.run == receive.block) return true;
  }
  return false;
}

Executor::Outcome Executor::RunAwait(size_t lane, const Step& step, int64_t segment) {
  StreamState& s = streams_[step.stream()];
  if (s.awaited >= s.opened) return Outcome::kMustWait;
  Slot* slot = &s.slots[s.awaited % kMostSlots];
  if (!slot->arrived) return Outcome::kMustWait;
  if (!slot->status.ok()) {
    FailReceive(slot->status);
    return Outcome::kMustWait;
  }
  const size_t header_bytes = segment == 0 ? kHeaderBytes : 0;
  const bool in_posted = slot->posted && slot->lease.bytes == header_bytes;
  if (slot->lease.data != nullptr) {
    slot->buffer = buffers_.TakeLease(slot->buffer, slot->lease);
    // Received slots are only read.
    slot->payload = const_cast<std::byte*>(slot->lease.data) + header_bytes;
  }
  // Nothing is to be copied out then, not even from a receive buffer.
  if (in_posted) slot->payload = nullptr;
  slot->arrived = false;  // the lease is the buffer's now
  if (segment == 0) {
    const Status agreed = Agree(step, slot->lease);
    if (!agreed.ok()) {
      Fail(agreed);
      return Outcome::kMustWait;
    }
    verified_[first_receive_[lane] + static_cast<size_t>(step.receive)] = true;
  }
  if (in_posted) cut_.EndAfter(step.block, segment + 1);
  const size_t expected =
      header_bytes + (in_posted ? 0 : mover_.WireBytes(cut_.RangeOf(step.block, segment).bytes));
  if (const Status status = CheckLength(expected, slot->lease.bytes); !status.ok()) {
    Fail(status);
    return Outcome::kMustWait;
  }
  Trace::Mark(TraceKind::kReceived, slot->lease.bytes, scope_.GroupRank(step.peer));
  ++s.awaited;
  s.current = slot;
  return Outcome::kDone;
}

Status Executor::Agree(const Step& step, const Lease& segment) {
  SetHeaderOf(step.block);
  WireHeader theirs;
  const Status agreed = ReadHeader(header_, segment, &theirs);
  if (!agreed.ok()) {
    WaitingCall call = Waiting();
    call.peer = scope_.GroupRank(step.peer);
    return ExplainMismatch(engine_->endpoint(), call, theirs, agreed)
        .WithContext("from rank " + std::to_string(call.peer));
  }
  if (cut_.plan_known()) return Status();
  cut_.SetPlan(PlanMessage(config_->settings, theirs.total_bytes));
  mover_.statistics.segments = static_cast<uint64_t>(cut_.segments());
  return Status();
}

Executor::Outcome Executor::RunFill(const Step& step, int64_t segment) {
  const SegmentPlan::Range range = cut_.RangeOf(step.block, segment);
  if (step.opcode == Opcode::kCopy && step.left.in_stream() &&
      streams_[step.left.index].current->payload == nullptr) {
    return Outcome::kDone;  // landed where it was wanted
  }
  if (step.only_sent_to >= 0) {
    const Outcome outcome = SendNow(step, segment, range);
    if (streams_[step.dst.index].sent || outcome == Outcome::kMustWait) return outcome;
  }
  // Operands first: opening the target's slot changes what is current.
  const std::byte* left = PayloadAt(step.left);
  const std::byte* right = PayloadAt(step.right);
  if (step.opens()) {
    Slot* slot = OpenSlot(step.dst.index, mover_.WireBytes(range.bytes), Memory::kAny);
    if (slot == nullptr) return Outcome::kMustWait;
    streams_[step.dst.index].current = slot;
    slot->run = step.block;
    const ConstByteSpan head = HeadOf(step.block, segment);
    if (head.bytes > 0) std::memcpy(slot->payload - head.bytes, head.data, head.bytes);
  }
  if (step.opcode == Opcode::kOpen) return Outcome::kDone;
  if (cut_.in_runs()) {
    FillRun(step, segment);
    return Outcome::kDone;
  }
  mover_.Apply(step, PayloadAt(step.dst), left, right, range);
  return Outcome::kDone;
}

void Executor::FillRun(const Step& step, int64_t segment) {
  const BlockRun& run = schedule_->runs[static_cast<size_t>(step.block)];
  std::byte* dst = PayloadAt(step.dst, run, segment);
  const std::byte* left = PayloadAt(step.left, run, segment);
  const std::byte* right = PayloadAt(step.right, run, segment);
  for (int i = 0; i < run.count; ++i) {
    const int block = schedule_->BlockAt(run, i, scope_.size);
    const SegmentPlan& plan = cut_.PlanInRun(block);
    if (segment >= plan.Count()) continue;
    const SegmentPlan::Range range = plan.RangeOf(segment);
    Step of_block = step;
    for (Place* place : {&of_block.dst, &of_block.left, &of_block.right}) {
      if (place->kind != Place::kBlock && place->kind != Place::kSent) continue;
      place->index = schedule_->BlockAt(schedule_->runs[place->index], i, scope_.size);
    }
    mover_.Apply(of_block, dst, left, right, range);
    for (const std::byte** operand : {&left, &right}) {
      if (*operand != nullptr) *operand += range.bytes;
    }
    if (dst != nullptr) dst += range.bytes;
  }
}

Executor::Outcome Executor::SendNow(const Step& copy, int64_t segment,
                                    const SegmentPlan::Range& range) {
  const int peer = scope_.GroupRank(copy.only_sent_to);
  const Matrix& matrix = mover_.MatrixAt(copy.left);
  const ConstByteSpan head = HeadOf(copy.block, segment);
  if (posted_blocks_.Send(peer, head, matrix, range.offset, &mover_.statistics)) {
    cut_.EndAfter(copy.block, segment + 1);
    streams_[copy.dst.index].sent = true;
    return Outcome::kDone;
  }
  // No other rank waits for this one; and the root of a gather posts as many buffers at once.
  const bool waits = scope_.size == 2 || (entry_->pattern == Pattern::kGather &&
                                          (scope_.rank - call_.root + scope_.size) % scope_.size <=
                                              rules::kWindowSlots);
  if (waits && segment == 0 && posted_blocks_.Expects(peer, matrix) && LookAgainForRoom()) {
    return Outcome::kMustWait;
  }
  const LayoutRange body{&matrix.layout, matrix.data, range.offset, range.bytes};
  if (call_.locations != nullptr ||
      !engine_->endpoint()->SendsInPlace({group_->id, channel_}, peer, body)) {
    return Outcome::kDone;
  }
  const SentNow sent =
      engine_->sends()->SendNow(group_, channel_, peer, head, body, &mover_.statistics);
  if (sent == SentNow::kNotYet && LookAgainForRoom()) return Outcome::kMustWait;
  if (sent == SentNow::kYes) {
    looks_ = 0;
    streams_[copy.dst.index].sent = true;
  }
  return Outcome::kDone;
}

// There may be room, or the receiver's answer, by the time it would be copied; but not if the wait
// comes to a sleep.
bool Executor::LookAgainForRoom() {
  if (!blocking_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (looks_ == 0) looking_since_ = now;
  return looks_++ < engine_->endpoint()->polling()->PollsAwake() &&
         now - looking_since_ < std::chrono::microseconds(rules::kPlaceUs);
}

void Executor::RunSend(const Step& step, int64_t segment) {
  if (streams_[step.stream()].sent) return;
  Slot* slot = streams_[step.stream()].current;
  const size_t header_bytes = segment == 0 ? kHeaderBytes : 0;
  const size_t wire_bytes = mover_.WireBytes(cut_.RangeOf(step.block, segment).bytes);
  const ConstByteSpan bytes(slot->payload - header_bytes, header_bytes + wire_bytes);
  ++mover_.statistics.messages_sent;
  mover_.statistics.bytes_sent += bytes.bytes;
  const Status status =
      engine_->sends()->Post(group_, channel_, scope_.GroupRank(step.peer), bytes, slot->buffer);
  if (!status.ok()) Fail(status);
}

void Executor::RunFree(const Step& step) {
  StreamState& s = streams_[step.stream()];
  if (std::exchange(s.sent, false)) return;
  Slot* const slot = std::exchange(s.current, nullptr);
  ++s.freed;
  if (slot->buffer != nullptr) engine_->buffers()->Release(std::exchange(slot->buffer, nullptr));
}

const std::vector<Step>* Executor::FirstWork(Cursor* at) const {
  for (size_t lane = 0; lane < work_.size(); ++lane) {
    *at = work_[lane];
    const std::vector<Step>& steps = schedule_->lanes[lane].work;
    if (at->SkipToExisting(cut_.turns(), steps)) return &steps;
  }
  return nullptr;
}

std::string Executor::Describe() const {
  std::string progress;
  Cursor at;
  if (const std::vector<Step>* const steps = FirstWork(&at)) {
    progress = ", segment " + std::to_string(cut_.turns().SegmentOf((*steps)[at.step], at.round)) +
               ", step " + std::to_string(at.step) + " of " + std::to_string(steps->size());
  }
  return engine_->Describe(*entry_, header_.sequence, *group_, channel_, progress, AwaitedPeer());
}

int Executor::AwaitedPeer() const {
  Cursor at;
  const std::vector<Step>* const steps = FirstWork(&at);
  if (steps == nullptr || (*steps)[at.step].opcode != Opcode::kAwait) return -1;
  return scope_.GroupRank((*steps)[at.step].peer);
}

void Executor::Fail(const Status& status) {
  if (done_) return;
  cause_ = {group_->rank, status.code(), entry_->pattern, header_.sequence, status.message()};
  outcome_ = status.WithContext(Describe());
  buffers_.ReleaseReserved();
  done_ = true;
}

void Executor::CheckMatch(bool is_awaited) {
  WaitingCall call = Waiting();
  if (call.peer < 0) call.AwaitReceiver(*engine_->sends());
  call.compares_only |= !is_awaited;
  if (const Status found = brigade::CheckMatch(engine_->endpoint(), call); !found.ok()) Fail(found);
}

void Executor::End(const Status& status) {
  if (done_ && outcome_.ok()) return;  // it was over before
  outcome_ = status;
  done_ = true;
  for (size_t i = 0; i < schedule_->streams.size(); ++i) {
    for (Slot& slot : streams_[i].slots) engine_->buffers()->Drop(&slot);
    streams_[i].current = nullptr;
  }
  buffers_.ReleaseReserved();
}

}  // namespace brigade

#include "patterns/eager/eager_executor.h"

#include <algorithm>
#include <string>

#include "membuf/check.h"
#include "patterns/engine/header_difference.h"
#include "patterns/engine/match_check.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/segment_plan.h"
#include "patterns/trace/trace.h"

namespace brigade {

template <typename Port>
bool EagerExecutor<Port>::Fits(const Schedule& schedule) {
  if (!this->engine_->IsIdle()) return false;
  // Messages are as long as the longest, and in one segment, until a plan says otherwise.
  this->mover_.Reset(this->entry_, &this->call_, this->config_.capabilities->max_inline_bytes > 0);
  this->range_.bytes = BytesOf(-1);
  for (int q = 0; q < BlockCount(this->entry_, this->scope_.size); ++q) {
    this->range_.bytes = std::max(this->range_.bytes, BytesOf(q));
  }
  total_bytes_ = this->range_.bytes;
  if (Port::SeesArrivals() && this->entry_.pattern == Pattern::kReceive) {
    return Port::HasFirstSegment();
  }
  return IsShort(schedule) && FitsCore(schedule, this->config_.settings) && this->TakeFirst();
}

template <typename Port>
bool EagerExecutor<Port>::IsShort(const Schedule& schedule) {
  const CutRule rule = this->mover_.Rule(this->entry_, this->config_.settings, this->scope_.size);
  const SegmentPlan plan = PlanLongest(rule, schedule.shares, this->range_.bytes);
  this->header_ahead_ = plan.header_ahead;
  if (plan.IsOneSegment()) return true;
  if (!Port::Cuts(plan) || !AreAlike()) return false;
  SetPlan(plan);
  return true;
}

template <typename Port>
bool EagerExecutor<Port>::AreAlike() {
  for (int q = 0; q < BlockCount(this->entry_, this->scope_.size); ++q) {
    if (BytesOf(q) != total_bytes_) return false;
  }
  return true;
}

template <typename Port>
void EagerExecutor<Port>::SetPlan(const SegmentPlan& plan) {
  plan_ = plan;
  is_cut_ = true;
  this->range_ = plan.RangeOf(0);
}

template <typename Port>
bool EagerExecutor<Port>::TurnToNextSegment() {
  if (!is_cut_ || this->segment_ + 1 >= plan_.Count()) return false;
  this->range_ = plan_.RangeOf(++this->segment_);
  return true;
}

template <typename Port>
Status EagerExecutor<Port>::Run(const Schedule& schedule, uint64_t sequence) {
  BRIGADE_CHECK_LE(schedule.streams.size(), kMostStreams);
  if (this->entry_.combines) this->mover_.SetSegmentBytes(this->range_.bytes);
  SetHeader(this->entry_, this->call_, sequence, total_bytes_, &this->header_);
  this->header_.lengths = DigestOfBlocks(this->call_, this->scope_.size);
  this->wait_.sequence = sequence;
  this->wait_.header = &this->header_;
  this->wait_.schedule = &schedule;
  if (!this->pair_) this->group_->history(this->kind_)->Put(this->header_);
  Status status = CatchOutOfMemory([&] { return RunSegments(schedule); });
  this->mover_.statistics.segments = static_cast<uint64_t>(this->segment_) + 1;
  if (!status.ok()) {
    // Slots of edges must be given back before the group is closed.
    for (Current& current : currents_) Port::Free(&current);
    status = this->Break(status);
    Port::DropReceives();
  }
  this->ReleaseFirst();
  return status;
}

template <typename Port>
Status EagerExecutor<Port>::RunSegments(const Schedule& schedule) {
  Status status;
  do {
    for (const Lane& lane : schedule.lanes) {
      // Of one segment what leads comes before what does not.
      for (int lead = schedule.max_lead; lead >= 0 && status.ok(); --lead) {
        status = RunLane(lane, lead);
      }
      if (!status.ok()) break;
    }
  } while (status.ok() && TurnToNextSegment());
  if (status.ok() && this->outstanding_ > 0) status = this->AwaitOutstanding();
  return status;
}

template <typename Port>
void EagerExecutor<Port>::TurnTo(int block) {
  if (!is_cut_) this->range_.bytes = BytesOf(block);
  this->header_.block = BlockInHeader(block, this->scope_);
  this->header_.total_bytes = BytesOf(block);
}

template <typename Port>
Status EagerExecutor<Port>::RunLane(const Lane& lane, int lead) {
  Port::StartReceives();
  for (const Step& step : lane.work) {
    if (step.lead != lead) continue;
    if (this->entry_.multi) TurnTo(step.block);
    switch (step.opcode) {
      case Opcode::kReceive:
      case Opcode::kOpen:
        BRIGADE_CHECK(false);
        break;
      case Opcode::kAwait:
        BRIGADE_RETURN_IF_ERROR(Await(lane, step));
        break;
      case Opcode::kCopy:
      case Opcode::kCombine:
        BRIGADE_RETURN_IF_ERROR(Fill(step));
        break;
      case Opcode::kSend:
        BRIGADE_RETURN_IF_ERROR(Send(step));
        break;
      case Opcode::kFree:
        Port::Free(&currents_[step.left.index]);
        break;
    }
  }
  return Status();
}

template <typename Port>
Status EagerExecutor<Port>::Await(const Lane& lane, const Step& step) {
  this->wait_.peer = this->scope_.GroupRank(step.peer);
  Current& current = currents_[step.left.index];
  ConstByteSpan message;
  const Status received = Port::Receive(lane, step, &current, &message);
  if (!received.ok()) return ExplainLoss(this->endpoint(), this->wait_.Waiting(), received);
  Trace::Mark(TraceKind::kReceived, message.bytes, this->wait_.peer);
  if (this->segment_ > 0) {
    current.payload = const_cast<std::byte*>(message.data);
    return CheckLength(this->WireBytes(), message.bytes);
  }
  WireHeader theirs;
  const Status agreed = ReadHeader(this->header_, {message.data, message.bytes, 0}, &theirs);
  if (!agreed.ok()) {
    return ExplainMismatch(this->endpoint(), this->wait_.Waiting(), theirs, agreed)
        .WithContext("from rank " + std::to_string(this->wait_.peer));
  }
  if (this->pair_) {
    this->range_.bytes = theirs.total_bytes;  // a receive may get less than its matrix holds
    if (Port::CutsMessages()) SetPlan(PlanMessage(this->config_.settings, theirs.total_bytes));
  }
  const bool ahead = this->pair_ && this->range_.bytes > this->config_.settings.eager_bytes;
  BRIGADE_RETURN_IF_ERROR(
      CheckLength(kHeaderBytes + (ahead ? 0 : this->WireBytes()), message.bytes));
  current.payload = const_cast<std::byte*>(message.data) + kHeaderBytes;
  return ahead ? Port::ReceiveData(&current) : Status();
}

template <typename Port>
Status EagerExecutor<Port>::Fill(const Step& step) {
  std::byte* const left = PayloadAt(step.left);
  if (left == nullptr && step.left.in_stream()) return Status();  // landed where it is wanted
  std::byte* const right = PayloadAt(step.right);
  if (step.dst.kind == Place::kNew) {
    Current& current = currents_[step.dst.index];
    current.sent = Port::SendInPlace(step);
    if (current.sent) return Status();
    BRIGADE_RETURN_IF_ERROR(Port::Open(&current));
  }
  this->mover_.Apply(step, PayloadAt(step.dst), left, right, this->range_);
  return Status();
}

template <typename Port>
Status EagerExecutor<Port>::Send(const Step& step) {
  const Current& current = currents_[step.left.index];
  if (current.sent) return Status();
  ++this->mover_.statistics.messages_sent;
  this->mover_.statistics.bytes_sent += this->HeaderBytes() + this->WireBytes();
  return Port::Send(this->scope_.GroupRank(step.peer), current);
}

template class EagerExecutor<PostPort>;
template class EagerExecutor<EdgePort>;

}  // namespace brigade

// Runs the flat program of a plan: each message lies beside its flag in a slot of an edge. A
// message that finds no slot goes through staging memory instead, and one that does not come soon
// is waited for with a posted receive. Other ranks see no difference.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "membuf/byte_span.h"
#include "membuf/combine.h"
#include "membuf/pack.h"
#include "membuf/strided_layout.h"
#include "patterns/eager/edge_port.h"
#include "patterns/eager/group_edges.h"
#include "patterns/engine/header_difference.h"
#include "patterns/engine/match_check.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/engine/wire_header.h"
#include "patterns/protocol/protocols.h"
#include "patterns/rules.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/trace/trace.h"
#include "transport/edge/edge.h"

namespace brigade {
namespace {

// A received message that is still in use.
struct Held {
  Held() {}      // NOLINT: nothing is read before it is written
  InEdge* edge;  // null: it lies in `buffer`
  InEdge::Receipt receipt;
  bool is_segment;
  StagedBuffer* buffer;
};

struct ResolvedCall {
  explicit ResolvedCall(const CallRun& run) : call(run.plan.Resolved(run.call, &copy)) {}
  std::optional<PatternCall> copy;
  const PatternCall& call;
};

// Messages that find no slot, or do not come soon.
class PostedMessages : private ResolvedCall, public EdgePort {
 public:
  explicit PostedMessages(CallRun* run)
      : ResolvedCall(*run), EdgePort(run->engine, run->group, *run->plan.entry, call) {
    mover_.Reset(entry_, &call_, /*shares_memory=*/true);
    wait_.sequence = *run->sequence - 1;
    wait_.limit = run->limit;
    wait_.header = &header_;
    wait_.schedule = run->plan.schedule.get();
  }
  void TurnTo(const WireHeader& header, size_t bytes) {
    header_ = header;
    range_.bytes = bytes;
  }
  // Sends the message of a step, which `write` writes, through staging memory. Steps in a row that
  // send one message to several ranks share that memory.
  template <typename Write>
  Status Send(const Step& step, const Write& write) {
    const bool is_next = last_ != nullptr && &step == last_ + 1 && step.left == last_->left &&
                         step.block == last_->block;
    if (!is_next) {
      ReleaseStaged();
      BRIGADE_RETURN_IF_ERROR(OpenInStaging(&staged_));
      write(staged_.payload);
    }
    last_ = &step;
    return PostSend(step.peer, staged_);
  }
  Status Receive(int peer, Held* held, ConstByteSpan* message) {
    wait_.peer = peer;
    Current current;
    const Status status = ReceivePosted(&current, message);
    held->buffer = current.buffer;
    return status.ok() ? status : ExplainLoss(endpoint(), wait_.Waiting(), status);
  }
  void Free(Held* held) { Release(&held->buffer); }
  // Returns why a message is not the one that this rank waits for.
  Status Mismatch(int peer, const ConstByteSpan& message) {
    wait_.peer = peer;
    WireHeader theirs;
    const Status agreed = ReadHeader(header_, {message.data, message.bytes, 0}, &theirs);
    if (agreed.ok()) return CheckLength(kHeaderBytes + WireBytes(), message.bytes);
    return ExplainMismatch(endpoint(), wait_.Waiting(), theirs, agreed)
        .WithContext("from rank " + std::to_string(peer));
  }
  Status Finish() {
    ReleaseStaged();
    return outstanding_ > 0 ? AwaitOutstanding() : Status();
  }
  Status Fail(const Status& status) {
    ReleaseStaged();
    const Status failure = Break(status);
    DropReceives();
    return failure;
  }

 private:
  void ReleaseStaged() {
    if (staged_.buffer != nullptr) Release(&staged_.buffer);
    last_ = nullptr;
  }

  PortBase::Current staged_;
  const Step* last_ = nullptr;  // whose message is in staged_
};

// The matrix of the steps' block `block`; -1: the call's.
const Matrix& MessageOf(const CallRun& run, int block) {
  return block < 0 ? run.call.matrix : BlockOf(run.call, block, run.plan.scope->size);
}

class InlineCollective {
 public:
  explicit InlineCollective(CallRun* run)
      : run_(*run),
        plan_(run->plan),
        kind_(plan_.kind),
        header_(plan_.header),
        has_locations_(plan_.wire_elem_bytes != plan_.elem_bytes) {
    header_.sequence = static_cast<uint32_t>((*run_.sequence)++);
    header_.lengths = DigestOfBlocks(run_.call, plan_.scope->size);
    if (plan_.entry->multi) {
      SetBytes(ByteCounts::Of(*plan_.entry, run_.call, plan_.scope->size).longest);
    } else {
      SetBytes(HasMatrix(plan_.entry->pattern) ? run_.call.matrix.layout.bytes() : 0);
    }
    if (plan_.entry->combines) packed_ = StridedLayout::Contiguous(bytes_);
    run_.group->history(kind_)->Put(header_);
  }

  template <bool kMulti>
  Status Run() {
    Status status = CatchOutOfMemory([&] { return RunSteps<kMulti>(); });
    if (!status.ok()) return Fail(status);
    return status;
  }

  // Returns the statistics of a call that has run.
  OperationStatistics Count() {
    OperationStatistics did;
    did.segments = 1;
    if (posted_) {
      did.overflow_segments = posted_->statistics().overflow_segments;
      did.peak_staging_bytes = posted_->statistics().peak_staging_bytes;
    }
    for (const int block : plan_.inline_program.copied_blocks) {
      if (plan_.entry->multi) TurnTo(block);
      did.CountCopy(bytes_);
    }
    for (const Step& step : plan_.inline_program.steps) {
      if (plan_.entry->multi) TurnTo(step.block);
      if (step.opcode == Opcode::kSend) {
        ++did.messages_sent;
        did.bytes_sent += kHeaderBytes + wire_bytes_;
      } else if (step.opcode == Opcode::kCopy) {
        did.CountCopy(bytes_);
      } else if (step.opcode == Opcode::kCombine) {
        ++did.combines;
        did.bytes_combined += bytes_;
      }
    }
    return did;
  }

 private:
  template <bool kMulti>
  Status RunSteps() {
    Status status;
    for (const Step& step : plan_.inline_program.steps) {
      if (kMulti) TurnTo(step.block);
      switch (step.opcode) {
        case Opcode::kSend:
          status = Send(step);
          break;
        case Opcode::kAwait:
          status = Await(step);
          break;
        case Opcode::kFree:
          Free(step.left.index);
          break;
        case Opcode::kCombine:
          Combine(step);
          break;
        default:
          Copy(step);
      }
      if (!status.ok()) return status;
    }
    return posted_ ? posted_->Finish() : Status();
  }

  PostedMessages& posted() {
    if (!posted_) posted_.emplace(&run_);
    posted_->TurnTo(header_, bytes_);
    return *posted_;
  }
  void SetBytes(size_t bytes) {
    bytes_ = wire_bytes_ = bytes;
    if (has_locations_) wire_bytes_ += bytes / plan_.elem_bytes * sizeof(int32_t);
    header_.total_bytes = bytes;
  }
  void TurnTo(int block) {
    header_.block = BlockInHeader(block, *plan_.scope);
    SetBytes(MessageOf(run_, block).layout.bytes());
  }
  const Matrix& MatrixAt(const Place& place) const {
    return SegmentMover::MatrixAt(run_.call, place);
  }

  Status Await(const Step& step) {
    const int stream = step.left.index;
    Held& held = held_[stream];
    InEdge* const edge = EdgeFrom(run_.group, kind_, step.peer);
    const Slot* const slot = edge == nullptr ? nullptr : Poll(run_.engine, edge, step.peer);
    ConstByteSpan message;
    if (slot != nullptr) {
      held.is_segment = slot->kind == Slot::kSegment;
      message = held.is_segment ? run_.group->edges->SegmentIn(run_.group->id, *slot)
                                : edge->Inline(*slot);
    }
    if (message.data != nullptr) {
      held.edge = edge;
      held.receipt = edge->Take();
    } else {
      held.edge = nullptr;
      BRIGADE_RETURN_IF_ERROR(posted().Receive(step.peer, &held, &message));
    }
    Trace::Mark(TraceKind::kReceived, message.bytes, step.peer);
    is_held_ |= 1u << stream;
    payloads_[stream] = const_cast<std::byte*>(message.data) + kHeaderBytes;
    const bool is_expected = message.bytes == kHeaderBytes + wire_bytes_ &&
                             std::memcmp(message.data, &header_, kHeaderBytes) == 0;
    return is_expected ? Status() : posted().Mismatch(step.peer, message);
  }

  Status Send(const Step& step) {
    const size_t bytes = kHeaderBytes + wire_bytes_;
    OutEdge* const edge = EdgeTo(run_.engine, run_.group, kind_, step.peer);
    Slot* const slot = edge == nullptr ? nullptr : edge->NextForInline(bytes);
    if (slot == nullptr) {
      return posted().Send(step, [&](std::byte* payload) { CopyPayload(payload, step.left); });
    }
    const ConstByteSpan head(reinterpret_cast<const std::byte*>(&header_), kHeaderBytes);
    WriteInline(slot, head, bytes, [&](std::byte* payload) { CopyPayload(payload, step.left); });
    edge->Publish(slot);
    Trace::Mark(TraceKind::kPostSend, bytes, step.peer);
    return Status();
  }

  // The bytes of a message, locations included.
  void CopyPayload(std::byte* to, const Place& from) {
    if (from.in_stream()) {
      std::memcpy(to, payloads_[from.index], wire_bytes_);
      return;
    }
    const Matrix& matrix = MatrixAt(from);
    if (bytes_ > 0) CopyIn(to, matrix.layout, matrix.data, 0, bytes_);
    if (has_locations_) std::memcpy(to + bytes_, run_.call.locations, wire_bytes_ - bytes_);
    Trace::Mark(TraceKind::kCopyIn, bytes_, -1);
  }

  void Copy(const Step& step) {
    if (step.dst.in_stream()) {
      CopyPayload(Open(step.dst), step.left);
    } else if (!step.left.in_stream()) {
      const Matrix& from = MatrixAt(step.left);
      const Matrix& to = MatrixAt(step.dst);
      if (bytes_ > 0) CopyAcross(from.layout, from.data, to.layout, to.data, 0, bytes_);
      Trace::Mark(TraceKind::kCopyOut, bytes_, -1);
    } else {
      const std::byte* const payload = payloads_[step.left.index];
      const Matrix& to = MatrixAt(step.dst);
      if (bytes_ > 0) CopyOut(to.layout, to.data, 0, bytes_, payload);
      if (has_locations_) std::memcpy(run_.call.locations, payload + bytes_, wire_bytes_ - bytes_);
      Trace::Mark(TraceKind::kCopyOut, bytes_, -1);
    }
  }

  void Combine(const Step& step) {
    const ConstOperand left = Operand(step.left);
    const ConstOperand right = Operand(step.right);
    std::byte* const made = step.opens()           ? Open(step.dst)
                            : step.dst.in_stream() ? payloads_[step.dst.index]
                                                   : nullptr;
    const MutableOperand target =
        made == nullptr
            ? MutableOperand{&MatrixAt(step.dst).layout, MatrixAt(step.dst).data, 0,
                             run_.call.locations}
            : MutableOperand{&packed_, made, 0,
                             has_locations_ ? reinterpret_cast<int32_t*>(made + bytes_) : nullptr};
    brigade::Combine(run_.call, bytes_ / plan_.elem_bytes, target, left, right);
    Trace::Mark(TraceKind::kCombine, bytes_, -1);
  }
  ConstOperand Operand(const Place& place) const {
    if (!place.in_stream()) {
      const Matrix& matrix = MatrixAt(place);
      return {&matrix.layout, matrix.data, 0, run_.call.locations};
    }
    const std::byte* const payload = payloads_[place.index];
    return {&packed_, payload, 0,
            has_locations_ ? reinterpret_cast<const int32_t*>(payload + bytes_) : nullptr};
  }
  std::byte* Open(const Place& place) { return payloads_[place.index] = made_[place.index]; }

  void Free(int stream) {
    if ((is_held_ >> stream & 1) == 0) return;
    is_held_ &= ~(1u << stream);
    Held& held = held_[stream];
    if (held.edge != nullptr) {
      held.edge->GiveBack(held.receipt, held.is_segment);
    } else {
      posted_->Free(&held);
    }
  }

  // Slots are given back before the group is closed.
  Status Fail(const Status& status) {
    for (int stream = 0; is_held_ != 0; ++stream) Free(stream);
    return posted().Fail(status);
  }

  CallRun& run_;
  const Plan& plan_;
  const ChannelKind kind_;
  WireHeader header_;
  const bool has_locations_;
  size_t bytes_ = 0;       // of the message, in user memory
  size_t wire_bytes_ = 0;  // the same with locations
  StridedLayout packed_;   // of what is combined
  // By stream: the current message, and what holds it if it was received.
  std::byte* payloads_[InlineProgram::kMostStreams];
  Held held_[InlineProgram::kMostStreams];
  uint32_t is_held_ = 0;
  std::optional<PostedMessages> posted_;
  alignas(64) std::byte made_[InlineProgram::kMostStreams]
                             [rules::kMostInlineCollectiveBytes];  // by steps that open a slot
};

bool Applies(const Plan& plan) {
  if (plan.inline_program.steps.empty() || plan.signature.segment_bytes > 0) return false;
  const size_t longest = plan.signature.Greatest(plan.config->settings).longest;
  const size_t wire_bytes = longest / plan.elem_bytes * plan.wire_elem_bytes;
  if (kHeaderBytes + wire_bytes <= Slot::kInlineBytes) return true;
  // Of an exchange each rank copies a short contribution for each other rank.
  const size_t most_bytes = plan.choice.topology.shape == Shape::kExchange
                                ? rules::kMostInlineCollectiveBytes
                                : plan.inline_program.most_bytes;
  if (wire_bytes > most_bytes) return false;
  const SegmentPlan segments = PlanLongest(plan.Rule(longest), Shares(), longest);
  return segments.IsOneSegment() && !segments.header_ahead;
}

// Nobody but this rank takes slots of an edge, so they stay free.
bool AllSlotsAreFree(const CallRun& run) {
  bool all = true;  // looks at all edges, so that all get wide rings at once
  for (const Step& step : run.plan.inline_program.steps) {
    if (step.opcode != Opcode::kSend) continue;
    const size_t bytes = kHeaderBytes + MessageOf(run, step.block).layout.bytes() /
                                            run.plan.elem_bytes * run.plan.wire_elem_bytes;
    OutEdge* const edge = EdgeTo(run.engine, run.group, run.plan.kind, step.peer);
    all &= edge != nullptr && edge->NextForInline(bytes) != nullptr;
  }
  return all;
}

Outcome RunCollective(CallRun* run) {
  if (!run->engine->IsIdle()) return Outcome::kNotNow;
  if (!run->plan.inline_program.fits_core && !AllSlotsAreFree(*run)) return Outcome::kNotNow;
  InlineCollective call(run);
  run->status = run->plan.entry->multi ? call.Run<true>() : call.Run<false>();
  if (run->did != nullptr) *run->did = run->status.ok() ? call.Count() : OperationStatistics();
  return Outcome::kDone;
}

}  // namespace

static_assert(rules::kMostInlineCollectiveBytes == size_t{4} << 10 &&
                  rules::kMostInlineBlockBytes == size_t{16} << 10,
              "the condition has these values");
const Protocol kInlineCollective = {"inline messages",
                                    "each message is one segment, and 4 KiB for all receivers "
                                    "together at most, or a block of 16 KiB at most",
                                    "sender 1 for each receiver, receiver 1 or a combine",
                                    /*over_edges=*/true,
                                    Applies,
                                    RunCollective};

}  // namespace brigade

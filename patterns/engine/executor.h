// Executor: one operation under way. It interprets a schedule over an endpoint, segment by segment,
// and never blocks: Advance does what can be done and returns.

#ifndef BRIGADE_PATTERNS_ENGINE_EXECUTOR_H_
#define BRIGADE_PATTERNS_ENGINE_EXECUTOR_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/activity.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/match_check.h"
#include "patterns/engine/operation_buffers.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/posted_blocks.h"
#include "patterns/engine/segment_mover.h"
#include "patterns/engine/staged_buffer.h"
#include "patterns/engine/time_limit.h"
#include "patterns/engine/wire_header.h"
#include "patterns/rules.h"
#include "patterns/schedule/cursor.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/segment_plan.h"

namespace brigade {

class Executor : public Activity {
 public:
  // One that was kept, or else a new one: a small operation allocates nothing.
  static std::unique_ptr<Executor> New(Engine* engine);
  // Keeps one that is done, or was never prepared, for another operation, unless there are enough
  // after a burst.
  static void Keep(std::unique_ptr<Executor> executor);
  static constexpr size_t kMostIdle = 256;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  // Makes this executor run `call`, which was validated. The group must outlive the operation. A
  // blocking operation may draw on the pool's core, a started send or receive on overflow memory.
  // Any other reserves what it needs from the surplus here, and fails with kNoResource and no
  // effect if it is not there.
  Status Prepare(GroupState* group, const CatalogueEntry& entry,
                 std::shared_ptr<const Schedule> schedule, const PatternCall& call,
                 uint64_t sequence, bool blocking);

  // The time of the call has begun before. REQUIRES: it was prepared, just now.
  void EndBy(const TimeLimit& limit) { limit_ = limit; }

  // Does what can be done now. True if anything was done.
  bool Advance() override;
  OperationStatistics* statistics() { return &mover_.statistics; }

  // Lets returned sends go on without this executor, which may then run another operation.
  // REQUIRES: done().
  void Detach() { buffers_.Detach(); }
  std::string Describe() const override;
  // Returns the peer for which the first unfinished lane waits.
  int AwaitedPeer() const override;
  void End(const Status& status) override;
  void CheckMatch(bool is_awaited) override;
  void TimeOut() override { Fail(TimeLimit::TooLate(call_.timeout_seconds)); }

 private:
  explicit Executor(Engine* engine);

  static constexpr size_t kMostSlots = rules::kWindowSlots;

  struct Slot : ReceiveSlot {      // its buffer is null if the segment landed in place
    std::byte* payload = nullptr;  // writable only in one's own buffer
    int run = -1;                  // of the schedule's, that it holds
    bool posted = false;           // a buffer: the rest of the block may be in it
  };

  struct StreamState {
    Slot slots[kMostSlots];
    int64_t opened = 0;
    int64_t awaited = 0;
    int64_t freed = 0;
    Slot* current = nullptr;
    bool sent = false;  // the current segment, straight from user memory: it has no slot
  };

  enum class Outcome { kDone, kMustWait };

  // Parts of Prepare.
  void FindChannel();
  Status CutMessages();
  void StartLanesAndStreams();

  bool AdvanceReceives(size_t lane);
  bool AdvanceWork(size_t lane);
  Outcome RunReceive(size_t lane, size_t index, int64_t segment);
  Outcome RunAwait(size_t lane, const Step& step, int64_t segment);
  Outcome RunFill(const Step& step, int64_t segment);
  // The same for segment `segment` of each block of the step's run that has one.
  void FillRun(const Step& step, int64_t segment);
  // Returns whether a receive of the step has a posted buffer, which may bring the rest of the
  // block.
  bool HasPosted(const Step& receive) const;
  // Sends what `copy` would copy straight from user memory; its stream then says so. kMustWait: it
  // may work soon. Otherwise it is to be copied.
  Outcome SendNow(const Step& copy, int64_t segment, const SegmentPlan::Range& range);
  bool LookAgainForRoom();
  void RunSend(const Step& step, int64_t segment);
  void RunFree(const Step& step);
  // Compares what the first segment says with what this rank does; a receive learns its length.
  Status Agree(const Step& step, const Lease& segment);

  void SetHeaderOf(int block) {
    header_.block = cut_.in_runs() ? schedule_->runs[static_cast<size_t>(block)].first
                                   : BlockInHeader(block, scope_);
    // In a reduce-scatter, ranks that disagree find out with the first share.
    header_.total_bytes = cut_.TotalBytes(entry_->multi ? block : -1);
    header_.lengths = static_cast<uint16_t>(cut_.Digest(block) ^ digest_of_blocks_);
  }
  // The header of a message of `block`, if this is its first segment.
  ConstByteSpan HeadOf(int block, int64_t segment) {
    if (segment > 0) return ConstByteSpan();
    SetHeaderOf(block);
    return {reinterpret_cast<const std::byte*>(&header_), sizeof(header_)};
  }
  // The bytes of a place in a stream; null for user memory.
  std::byte* PayloadAt(const Place& place) const {
    return place.in_stream() ? streams_[place.index].current->payload : nullptr;
  }
  // The same for those of a run in a slot that holds this run or a longer one.
  std::byte* PayloadAt(const Place& place, const BlockRun& run, int64_t segment) const;

  // The memory that a slot needs: none (the segment lands in place, or the transport needs no
  // receive buffer), room for a segment, or room that the transport can write to.
  enum class Memory { kNone, kAny, kReceiveBuffer };
  // The next slot of the stream with memory for a segment of `wire_bytes`; null if it must wait.
  Slot* OpenSlot(int stream, size_t wire_bytes, Memory memory);

  // Returns the steps of the first lane that is not over, and where it is; null: all are over.
  const std::vector<Step>* FirstWork(Cursor* at) const;
  void Fail(const Status& status);
  // Of a receive: if the peer is lost a mismatch may be the cause.
  void FailReceive(const Status& status) {
    Fail(ExplainLoss(engine_->endpoint(), Waiting(), status));
  }
  WaitingCall Waiting() const {
    return {group_, channel_, called_, schedule_.get(), AwaitedPeer()};
  }
  void FinishIfOver();

  Engine* const engine_;
  const CatalogueEntry* entry_ = nullptr;
  std::shared_ptr<const Schedule> schedule_;
  PatternCall call_;
  Scope scope_;
  const EdgeConfig* config_ = nullptr;
  bool blocking_ = true;
  PostedBlocks posted_blocks_;
  WireHeader header_;
  WireHeader called_;  // of the call, whatever message is sent
  uint16_t digest_of_blocks_ = 0;

  std::vector<size_t> block_bytes_;
  MessageCut cut_;
  // Per receive step, lane after lane: its first segment has come and agreed.
  std::vector<bool> verified_;
  std::vector<size_t> first_receive_;  // of each lane
  SegmentMover mover_;

  std::vector<Cursor> receives_;
  std::vector<Cursor> work_;
  std::vector<StreamState> streams_;
  OperationBuffers buffers_;
  // For a way out straight from user memory, since the last success.
  uint64_t looks_ = 0;
  std::chrono::steady_clock::time_point looking_since_;  // if there were any

  bool work_over_ = false;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_EXECUTOR_H_

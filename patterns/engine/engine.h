// Engine: what all operations of a process share. It owns the staging pool, the overflow memory,
// the order of operations, and every send that has returned to its caller and is still on its way.
//
// One per process and transport. Not thread-safe: an engine has one driver at a time. That is who
// calls it, its groups or their operations; and while nobody does, a thread of its own (helper.h),
// made when there is first something for it to do.

#ifndef BRIGADE_PATTERNS_ENGINE_ENGINE_H_
#define BRIGADE_PATTERNS_ENGINE_ENGINE_H_

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "membuf/overflow_arena.h"
#include "membuf/staging_pool.h"
#include "membuf/status.h"
#include "patterns/engine/engine_options.h"
#include "patterns/engine/helper.h"
#include "patterns/engine/memory_wait.h"
#include "patterns/engine/staged_buffer.h"
#include "patterns/engine/trace.h"
#include "patterns/schedule/piece_plan.h"
#include "transport/endpoint.h"

namespace brigade {

class Executor;
class SimulatedProcessor;
struct CatalogueEntry;
struct GroupState;
struct MachineDescription;
struct OperationStatistics;

class Engine {
 public:
  // kInvalidArgument, naming value and minimum, if the staging budget is below what the schedules
  // need; kOutOfMemory if the memory cannot be had. `endpoint` must outlive the engine.
  static Status Create(Endpoint* endpoint, const EngineOptions& options,
                       std::unique_ptr<Engine>* engine);
  // Waits for returned sends, as Drain; in a forked child, which has a copy of everything and owns
  // none of it, does nothing. REQUIRES: all groups are gone.
  ~Engine();

  // Moves everything that can move without waiting. True if anything did.
  bool Progress();
  // Waits until every returned send has left. kPeerLost if one never can. Where ranks share memory
  // that may take calls of the ranks that relay a broadcast, and not only of those that receive it.
  Status Drain();
  // Gives unused overflow memory back to the system.
  void Trim();

  Endpoint* endpoint() const { return endpoint_; }
  const EngineOptions& options() const { return options_; }
  const PieceSettings& piece_settings() const { return piece_settings_; }
  StagingStatistics staging();
  OverflowStatistics overflow();

 private:
  friend class Executor;
  friend class Group;
  friend class Operation;
  friend class ShortCall;

  // A caller's stay inside a public call, during which it is the driver and the helper is not. The
  // end of it may give the role away, so turns do not nest: calls made within use what is private.
  class Turn {
   public:
    explicit Turn(Engine* engine) : engine_(engine) {
      if (engine->helper_drives_) engine->TakeRoleBack();
    }
    ~Turn() {
      if (!engine_->active_.empty()) engine_->endpoint_->Flush();
      if (!engine_->helper_may_drive_) return;
      if (engine_->sends_in_flight_ > 0 || !engine_->active_.empty()) engine_->GiveRole();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    Engine* const engine_;
  };

  // A send on its way, or waiting for the transport to take it.
  struct Send : Completion {
    Send() : Completion(&Engine::OnSent) {}
    Engine* engine = nullptr;
    GroupState* group = nullptr;
    Channel channel;
    int peer = 0;
    ConstByteSpan piece;
    StagedBuffer* buffer = nullptr;  // null once over
    ChunkRun copy;  // the piece's place in registered memory, if it had to be moved there
  };

  Engine(Endpoint* endpoint, const EngineOptions& options, const PieceSettings& settings);

  // --- the driver's role ---
  void TakeRoleBack();
  // To the helper, if it still may drive and has something to do.
  void GiveRole();
  // The answer changes with the groups that are open.
  void AskWhetherHelperMayDrive() { helper_may_drive_ = endpoint_->HelperMayDrive(); }
  bool WorkIsLeft() const;
  Helper::Step StepOfHelper();
  bool IsForked() const;
  // Moves everything that can move without waiting. True if anything did.
  bool Move();
  // Waits until every returned send has left.
  void AwaitSends();

  // --- for executors ---
  StagedBuffer* NewBuffer();
  // Adjacent chunks of the surplus; none if there are none.
  ChunkRun TrySurplusRun(int placement, int chunks);
  // A buffer of at least so many; null if there are none.
  StagedBuffer* TrySurplus(int chunks);
  // Overflow memory, for an operation that must not wait for receivers and has found the pool empty
  // once more. Null: its patience has not ended (OutOfPatience), or the limit is reached.
  StagedBuffer* TryOverflow(size_t payload_bytes, OperationStatistics* statistics);
  // A buffer of the core, where every run of an operation is as long as its longest, so that one
  // fits where another was. `*owed` counts it while it lives.
  StagedBuffer* TryCore(int placement, int chunks, int* owed);
  // What holds the bytes of a piece received for `buffer` (null: for none): the buffer, or, if they
  // lie elsewhere, a new one for the lease (and `buffer` is given back).
  StagedBuffer* TakeLease(StagedBuffer* buffer, const Lease& lease);
  // Whatever `owed` counts is not waited for: its operation has failed.
  void Forgive(int* owed);
  // True if the buffer's chunks were taken out of use.
  bool RetireIfRead(const StagedBuffer& buffer);
  // The owner is done with the buffer.
  void Release(StagedBuffer* buffer) {
    buffer->freed = true;
    if (buffer->pending == 0) Recycle(buffer);
  }
  // Gives back what a slot holds, and what has arrived in it. REQUIRES: its receive is not posted.
  void Drop(ReceiveSlot* slot);
  // Ends a buffer that is freed and has no send pending.
  void Recycle(StagedBuffer* buffer);
  Send* TakeSend(GroupState* group, ChannelKind kind, int peer, ConstByteSpan piece,
                 StagedBuffer* buffer);
  // The endpoint's, unless something posted before waits for the transport; counts what it did.
  SentNow SendNow(GroupState* group, ChannelKind kind, int peer, ConstByteSpan head,
                  const LayoutRange& body, OperationStatistics* statistics);
  bool IsDeferred(const GroupState* group, ChannelKind kind, int peer) const;
  // Sends `piece`, which lies in `buffer`. Never fails for lack of resources: what the transport
  // does not take now is kept and taken later, in order.
  Status PostSend(GroupState* group, ChannelKind kind, int peer, ConstByteSpan piece,
                  StagedBuffer* buffer);

  // Executors are kept and used again: a small operation allocates nothing.
  std::unique_ptr<Executor> NewExecutor();
  void KeepExecutor(std::unique_ptr<Executor> executor);
  // Lets a prepared operation progress until it is done, in program order with the others.
  void Activate(Executor* executor) { active_.push_back(executor); }
  // A returned operation that finds the pool empty first looks again this often, while receivers
  // may be draining it: their chunks are warm, overflow memory is not. It never waits for a
  // receiver that does not come.
  int Patience() const;
  bool OutOfPatience() const { return stalled_ > Patience(); }
  // kTimedOut once an operation that must not wait for receivers has waited for too long.
  Status CheckWait(MemoryWait* wait) const {
    return wait->Check(options_.overflow_wait_seconds, options_.overflow_bytes);
  }
  // What an operation is doing, for messages. `detail` is how far it is, `awaited_peer` the group
  // rank that it waits for; -1: for none.
  std::string Describe(const CatalogueEntry& entry, uint64_t sequence, const GroupState& group,
                       ChannelKind kind, const std::string& detail, int awaited_peer) const;
  // Progresses until `executor` is done, and counts the time spent waiting.
  void RunToEnd(Executor* executor);
  // After an operation is done: takes it out of the order.
  void Finish(Executor* executor);
  // The first failure of a group: closes it, and ends all its operations.
  void BreakGroup(GroupState* group, const Status& status);
  void RemoveGroup(std::unique_ptr<GroupState> group);

  static void OnSent(Completion* completion);
  // Registered memory for a piece in overflow memory; none if there is none.
  void KeepWarm(ChunkRun run);
  ChunkRun TryDrain();
  void ReturnDrain(const ChunkRun& run);
  // Gives a send to the transport; kNoResource: not now.
  Status Hand(Send* send);
  bool HandDeferred();
  // The group rank of one that has not taken what was sent to it on a channel, or not given it
  // back; -1 if there is none.
  int SlowReceiver(const GroupState* group, ChannelKind kind) const;
  // Forgets the sends of a broken group that the transport has not taken.
  void DropDeferred(GroupState* group);
  bool AdvanceOperations();
  void CloseIdleGroups();
  // A wait of fewer idle polls, about a microsecond, is not worth two looks at the clock and counts
  // as none; in a longer one the clock is read once in so many polls, each of which may sleep.
  static constexpr uint64_t kPollsBeforeClock = 8;
  static constexpr uint64_t kPollsPerClock = 16;
  // Progresses until `over()`, pausing as the transport likes; every report interval it says that
  // `what()` still waits. `peer()`, for traces: the rank of the group it waits for, or -1.
  template <typename Over, typename What, typename Peer>
  void WaitUntil(const Over& over, const What& what, const Peer& peer);
  template <typename Over, typename What>
  void WaitUntil(const Over& over, const What& what) {
    WaitUntil(over, what, [] { return -1; });
  }

  Endpoint* const endpoint_;
  const EngineOptions options_;
  const PieceSettings piece_settings_;
  SimulatedProcessor* const processor_;  // null for processors that exist
  const pid_t process_;
  bool helper_drives_ = false;
  bool in_a_hurry_ = false;        // an operation was started in this turn
  bool helper_may_drive_ = false;  // when a group was last opened or removed
  std::unique_ptr<Helper> helper_;
  std::unique_ptr<StagingPool> pool_;
  std::unique_ptr<OverflowArena> overflow_;

  std::vector<Executor*> active_;  // in program order
  std::vector<std::unique_ptr<Executor>> idle_executors_;
  std::vector<std::unique_ptr<StagedBuffer>> buffers_;
  std::vector<StagedBuffer*> idle_buffers_;
  // One run of the surplus, kept from one small message to the next.
  ChunkRun warm_;
  // Where overflow has to drain through staging memory: a run of the surplus that nothing else
  // uses, unless it is in use. Receives of two ranks that wait for each other's overflow could
  // otherwise hold all there is.
  bool drains_overflow_ = false;
  ChunkRun drain_;
  std::vector<std::unique_ptr<Send>> sends_;
  std::vector<Send*> idle_sends_;
  std::deque<Send*> deferred_;  // not yet taken by the transport
  size_t sends_in_flight_ = 0;  // deferred ones included
  // How often in a row a locally blocking operation found the pool empty.
  int stalled_ = 0;
  std::vector<ChunkRun> core_run_;  // scratch of TryCore
  std::vector<std::unique_ptr<GroupState>> leaving_groups_;
  // By the hosts it was measured on.
  std::map<std::string, std::shared_ptr<const MachineDescription>> machines_;
  Status send_failure_;                         // the first
  uint64_t advances_ = 0;                       // of operations, as counted by Move
  std::chrono::steady_clock::duration idle_{};  // spent waiting, in all
};

template <typename Over, typename What, typename Peer>
void Engine::WaitUntil(const Over& over, const What& what, const Peer& peer) {
  using Clock = std::chrono::steady_clock;
  const std::chrono::duration<double> interval(options_.report_seconds);
  uint64_t idle_polls = 0;
  Clock::time_point since;     // the first of them
  Clock::time_point reported;  // or the same
  std::optional<TraceSpan> wait;
  while (!over()) {
    // A single poll may take long: MPI yields inside.
    if (!wait && Trace::current() != nullptr) wait.emplace(TraceKind::kWait, 0, peer());
    const uint64_t advances = advances_;
    if (Move()) {
      if (idle_polls > kPollsBeforeClock) idle_ += Clock::now() - since;
      idle_polls = 0;
      // Part of a piece may have moved, which ends no wait.
      if (advances_ != advances) wait.reset();
      continue;
    }
    if (idle_polls == kPollsBeforeClock) {
      reported = since = Clock::now();
    } else if (idle_polls > kPollsBeforeClock && idle_polls % kPollsPerClock == 0 &&
               interval.count() > 0 && Clock::now() - reported > interval) {
      reported = Clock::now();
      const auto waited = std::chrono::duration_cast<std::chrono::seconds>(reported - since);
      options_.report(what() + ": nothing has moved for " + std::to_string(waited.count()) +
                      " s, and it goes on waiting");
    }
    endpoint_->Pause(idle_polls++);
  }
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_ENGINE_H_

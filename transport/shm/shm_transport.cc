#include "transport/shm/shm_transport.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "membuf/copy_bytes.h"
#include "transport/core/completion_queue.h"
#include "transport/core/control_queue.h"
#include "transport/core/group_table.h"
#include "transport/core/wait_policy.h"
#include "transport/edge/doorbell.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_access.h"
#include "transport/edge/edge_memory.h"
#include "transport/host/host.h"
#include "transport/host_memory/shared_segment.h"
#include "transport/rules.h"
#include "transport/shm/group.h"
#include "transport/shm/meeting.h"
#include "transport/shm/peers.h"
#include "transport/shm/receives.h"
#include "transport/shm/sends.h"
#include "transport/shm/shm_domain.h"
#include "transport/shm/streams.h"

namespace brigade {
namespace {

using shm::Directory;
using shm::Group;
using shm::InStream;
using shm::Introduction;
using shm::OutStream;
using shm::Public;
using Step = WaitPolicy::Step;

// Less would leave no room for a pool and its overhead.
constexpr uint64_t kLeastReserveBytes = uint64_t{64} << 20;

constexpr WaitPolicy::Patience kAlone{rules::kShmSpins, std::chrono::microseconds(0),
                                      rules::kShmYields};
constexpr WaitPolicy::Patience kCrowded{rules::kShmSpinsIfCrowded, std::chrono::microseconds(0),
                                        rules::kShmYieldsIfCrowded};

void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class ShmEndpoint : public Endpoint, private EdgeAccess, private Polling {
 public:
  ShmEndpoint(const ShmOptions& options, std::shared_ptr<SharedSegment> segment)
      : segment_(std::move(segment)),
        domain_(segment_),
        edge_memory_(segment_.get()),
        options_(options),
        peers_(segment_.get()) {
    capabilities_.name = "shm";
    capabilities_.lands_in_peer_memory = true;
    capabilities_.needs_receive_buffer = false;
    capabilities_.needs_registered_memory = true;
    capabilities_.progresses_alone = true;
    capabilities_.max_inline_bytes = Slot::kInlineBytes;
    capabilities_.tuning.overlap_segment_bytes = rules::kShmOverlapBytes;
  }

  Status Init() {
    public_ = static_cast<Public*>(edge_memory_.Allocate(sizeof(Public)));
    if (public_ == nullptr) return Status(StatusCode::kOutOfMemory, "no shared memory");
    return Status();
  }

  ~ShmEndpoint() override {
    if (public_ != nullptr && !IsForked()) peers_.Depart(public_);
  }

  const Capabilities& capabilities() const override { return capabilities_; }
  MemoryDomain* domain() override { return &domain_; }
  void SetOverflowBudget(const std::shared_ptr<OverflowBudget>& budget) override {
    edge_memory_.SetBudget(budget);
  }
  bool IsCrowded(GroupId id) const override { return groups_.At(id).crowded; }
  int HostOf(GroupId id, int peer) const override {
    const std::vector<int>& hosts = groups_.At(id).hosts;
    return hosts.empty() ? 0 : hosts[peer];
  }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* id) override {
    const int ranks = bootstrap->size();
    void* const directory = edge_memory_.Allocate(Directory::Bytes(ranks));
    Introduction mine;
    mine.host = options_.host;
    mine.segment = segment_->address();
    mine.public_offset = edge_memory_.OffsetOf(public_);
    mine.directory_offset = directory == nullptr ? 0 : edge_memory_.OffsetOf(directory);
    mine.processors = RankProcessors::Here();
    mine.knows_kernel_copies = kernel_copies_.has_value();
    std::vector<Introduction> all(static_cast<size_t>(ranks));
    const auto give_up = [&](const Status& why) {
      if (directory != nullptr) edge_memory_.Free(directory, Directory::Bytes(ranks));
      return why;
    };
    const Status gathered = bootstrap->AllGather(&mine, sizeof(mine), all.data());
    if (!gathered.ok()) return give_up(gathered);

    auto group = std::make_unique<Group>();
    group->rank = bootstrap->rank();
    const Status mapped = shm::MapMembers(mine, all, options_.spans_hosts, &peers_, group.get());
    Status verdict;
    const Status agreed = shm::AgreeWhetherMapped(bootstrap, mapped, &verdict);
    // If this rank could map everyone, others may have opened the group, and use the directory.
    if (!agreed.ok()) return mapped.ok() ? agreed : give_up(agreed);
    if (!verdict.ok()) {
      const char* const hint = "; set BRIGADE_TRANSPORT=auto (brigade_options::transport)";
      return give_up({verdict.code(), verdict.message() + (options_.spans_hosts ? "" : hint)});
    }
    const Status measured = shm::MeasureKernelCopies(bootstrap, all, *group, &kernel_copies_);
    if (!measured.ok()) return measured;
    group->kernel_copies = kernel_copies_.value_or(KernelCopies());
    Group* const added = group.get();
    *id = added->id = groups_.Add(std::move(group));
    added->crowded = IsHostCrowded(options_.host, all);
    CountCrowded(added->crowded ? 1 : 0);
    return Status();
  }

  void CloseGroup(GroupId id) override {
    if (IsForked()) return;
    Group& group = groups_.At(id);
    control_.RemoveHandler(id);
    completions_.CancelReceives(id, [this](const Lease& lease) { ReleaseLease(lease); });
    group.CloseEdges();
    receives_.Forget(&group);
    CountCrowded(group.crowded ? -1 : 0);
    groups_.Close(id);
    leaving_.push_back(&group);
    FreeGroups();
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    Group& group = groups_.At(channel.group);
    OutStream* const out = group.Out(channel.kind, peer, &edge_memory_);
    // Nothing that progresses gives memory of this kind back.
    if (out == nullptr) {
      return edge_memory_.failure().WithContext("shm: the first message to rank " +
                                                std::to_string(peer) + " of the group");
    }
    if (out->peer->lost && !out->edge.closed()) return shm::Lost(*out->peer, peer);
    Slot* slot = out->edge.Next();
    // At the limit of overflow memory a segment stays in place: segments in place have a limit of
    // their own.
    const bool fits_slot =
        segment.bytes <= Slot::kInlineBytes && (slot != nullptr || segment.bytes == 0);
    if (slot == nullptr) slot = out->edge.NextForSegment();
    if (slot == nullptr) return Status(StatusCode::kNoResource, "no shared memory for a message");
    if (fits_slot) {
      slot->kind = Slot::kInline;
      slot->bytes = static_cast<uint16_t>(segment.bytes);
      CopyBytes(slot->payload, segment.data, segment.bytes);
      out->edge.Publish(slot);
      SignalBehindSegment(out->peer);
      completion->status = Status();
      completions_.Finish(completion, CompletionQueue::kSend);
      return Status();
    }
    const SegmentAt at = group.Locate(segment);
    slot->kind = Slot::kSegment;
    std::memcpy(slot->payload, &at, sizeof(at));
    sends_.Add(out, out->edge.Publish(slot), completion);
    SignalBehindSegment(out->peer);
    return Status();
  }

  Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                     Completion* completion) override {
    InStream* const in = groups_.At(channel.group).In(channel.kind, peer);
    return receives_.Post(in, {receive_buffer.bytes, completion});
  }

  size_t PeekUnexpected(const Channel& channel, int peer, ByteSpan head) override {
    return shm::Receives::Peek(groups_.At(channel.group).In(channel.kind, peer), head);
  }

  void ReleaseLease(const Lease& lease) override { receives_.Release(lease); }

  void SetControlHandler(GroupId id, ControlHandler* handler) override {
    control_.SetHandler(id, handler);
  }
  Status SendControl(GroupId id, int peer, ConstByteSpan message, Urgency urgency) override {
    Group& group = groups_.At(id);
    BRIGADE_CHECK_LT(static_cast<size_t>(peer), group.members.size());
    BRIGADE_CHECK_LE(message.bytes, kMostControlBytes);
    if (group.members[peer]->lost) return shm::Lost(*group.members[peer], peer);
    if (group.WriteControls(&edge_memory_) && group.Write(peer, message, urgency, &edge_memory_)) {
      return Status();
    }
    if (urgency != Urgency::kUrgent) {
      SignalBehindSegment(group.members[peer].get());  // others may have waited for this one
      return Status(StatusCode::kNoResource, "shm: control messages wait to be taken");
    }
    group.pending_controls.push_back({peer, ControlMessage(message)});
    has_controls_ = true;
    return Status();
  }

  bool HoldsControl() const override { return has_controls_; }

  EdgeAccess* edges() override { return this; }
  OutEdge* EdgeTo(const Channel& channel, int peer) override {
    OutStream* const out = groups_.At(channel.group).Out(channel.kind, peer, &edge_memory_);
    return out == nullptr ? nullptr : &out->edge;
  }
  InEdge* EdgeFrom(const Channel& channel, int peer) override {
    return &groups_.At(channel.group).In(channel.kind, peer)->edge;
  }
  bool PostBuffer(const Channel& channel, int peer, const StridedLayout& layout,
                  std::byte* base) override {
    return shm::Receives::PostBuffer(groups_.At(channel.group).In(channel.kind, peer), layout,
                                     base);
  }
  ConstByteSpan SegmentIn(GroupId id, const Slot& slot) override {
    return groups_.At(id).SegmentIn(slot);
  }

  size_t SendsTaken() override { return sends_.CountTaken(); }
  bool Progress() override {
    BRIGADE_CHECK(!completions_.running());
    bool moved = false;
    if (awaited_.load(std::memory_order_relaxed)) {
      awaited_.store(false, std::memory_order_relaxed);
      sends_.LookNext();
      LookForLosses();
    }
    if (!receives_.empty() || !sends_.empty()) {
      CompletionQueue::Hold hold(&completions_);
      moved = receives_.TakeArrivals();
      moved |= sends_.Progress(/*waits=*/!receives_.empty());
    }
    if (public_->control_count.load(std::memory_order_acquire) != controls_seen_ || has_controls_)
      MoveControls();
    if (loss_) FailLost();
    if (!leaving_.empty()) FreeGroups();
    moved |= control_.Deliver();
    moved |= completions_.Run();
    // For a progress owner that never pauses long enough to sleep.
    idle_ = moved ? 0 : idle_ + 1;
    if (idle_ == rules::kShmPollsPerLossLook) {
      idle_ = 0;
      LookForLosses();
    }
    return moved;
  }

  bool AllowsProgressThread() const override { return true; }
  Polling* polling() override { return this; }
  void Pause(uint64_t idle_polls) override {
    Doorbell* const doorbell = &public_->doorbell;
    if (idle_polls == 0 && doorbell->armed()) doorbell->Disarm();
    const Step step = waiting_.Pause(idle_polls);
    if (step == Step::kSpin) {
      if (idle_polls >= rules::kShmHotPolls) Relax();
      return;
    }
    sends_.LookNext();  // polls are slow now, and few
    if (step == Step::kYield) return;
    // The caller looks for messages between arming and sleeping.
    if (!doorbell->armed()) return doorbell->Arm();
    waiting_.SleepFor(LongestSleepUs(rules::kShmSleepUs), [&](int us) { doorbell->Sleep(us); });
    doorbell->Disarm();
    LookForLosses();
  }
  // Where a progress thread sleeps the first call only arms the doorbell: between that and the
  // sleep its caller looks for messages.
  void Await(int microseconds) override {
    Doorbell* const doorbell = &public_->progress_doorbell;
    if (doorbell->armed()) {
      doorbell->Sleep(LongestSleepUs(microseconds));
    } else {
      doorbell->Arm();
    }
    awaited_.store(true, std::memory_order_relaxed);
  }
  void Nudge() override { LookForLosses(); }
  uint64_t PollsAwake() const override {
    return waiting_.is_crowded() ? PollsBeforeSleep() : kAlone.spins;
  }
  uint64_t PollsBeforeSleep() const override { return waiting_.PollsBeforeSleep(); }

 private:
  // Limits a sleep, since signals of the doorbell may be missed.
  int LongestSleepUs(int us) const {
    return doorbells_reach_all_ ? us : std::min(us, rules::kShmSleepWithoutDoorbellUs);
  }

  // A forked child has all of this, and none of it is its own.
  bool IsForked() const { return segment_->address().process != getpid(); }

  // The control message that announced it has not signalled the doorbell.
  static void SignalBehindSegment(shm::Peer* peer) {
    if (std::exchange(peer->segment_follows, false)) peer->shared->progress_doorbell.Signal();
  }

  void CountCrowded(int groups) {
    crowded_groups_ += groups;
    waiting_.SetCrowded(crowded_groups_ > 0);
  }

  // Takes in the control messages that have come, and writes those for which there was no memory.
  void MoveControls() {
    controls_seen_ = public_->control_count.load(std::memory_order_acquire);
    bool has_controls = false;
    groups_.ForEach([&](GroupId id, Group* group) {
      has_controls |= !group->WriteControls(&edge_memory_);
      if (group->is_closed) return;
      group->TakeControls(
          [&](int from, ConstByteSpan message) { control_.Push(id, from, message); });
    });
    has_controls_ = has_controls;
  }

  void LookForLosses() { loss_ |= peers_.LookForLosses(); }

  void FailLost() {
    CompletionQueue::Hold hold(&completions_);
    loss_ = false;
    receives_.FailLost();
    sends_.FailLost();
    groups_.ForEach([](GroupId, const Group* group) {
      for (const auto& out : group->out) {
        if (out != nullptr && out->peer->lost) out->edge.SetLost();
      }
      for (const auto& in : group->in) {
        if (in != nullptr && in->peer->lost) in->edge.SetLost();
      }
    });
  }

  void FreeGroups() {
    const auto over = [&](Group* group) {
      if (!group->IsOver()) return false;
      group->Free(&edge_memory_);
      groups_.Erase(group->id);
      return true;
    };
    leaving_.erase(std::remove_if(leaving_.begin(), leaving_.end(), over), leaving_.end());
  }

  const std::shared_ptr<SharedSegment> segment_;
  ShmDomain domain_;
  EdgeMemory edge_memory_;
  Capabilities capabilities_;
  const ShmOptions options_;
  std::optional<KernelCopies> kernel_copies_ = options_.kernel_copies;
  Public* public_ = nullptr;
  const bool doorbells_reach_all_ = Doorbell::Prepare();
  WaitPolicy waiting_{kAlone, kCrowded};
  shm::Peers peers_;
  GroupTable<Group> groups_;
  int crowded_groups_ = 0;       // open
  std::vector<Group*> leaving_;  // closed
  ControlQueue control_;
  uint32_t controls_seen_ = 0;  // of control messages for this rank
  bool has_controls_ = false;   // of this rank, that wait for memory
  CompletionQueue completions_;
  shm::Receives receives_{&completions_};
  shm::Sends sends_{&completions_};
  bool loss_ = false;                 // a peer is lost, and its operations are not ended yet
  std::atomic<bool> awaited_{false};  // since the last Progress, so that polls are few
  uint64_t idle_ = 0;                 // calls of Progress in a row
};

}  // namespace

Status CreateShmEndpoint(const ShmOptions& options, std::unique_ptr<Endpoint>* endpoint) {
  std::shared_ptr<SharedSegment> segment;
  BRIGADE_RETURN_IF_ERROR(SharedSegment::Create(&segment).WithContext("shm"));
  if (segment->address().reserve_bytes < kLeastReserveBytes) {
    return Status(StatusCode::kUnavailable, "shm: a limit on file size or address space leaves " +
                                                std::to_string(segment->address().reserve_bytes) +
                                                " bytes of shared memory, of " +
                                                std::to_string(kLeastReserveBytes) +
                                                " that it takes");
  }
  auto created = std::make_unique<ShmEndpoint>(options, std::move(segment));
  BRIGADE_RETURN_IF_ERROR(created->Init().WithContext("shm"));
  *endpoint = std::move(created);
  return Status();
}

}  // namespace brigade

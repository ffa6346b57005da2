#include "transport/shm/shm_transport.h"

#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "transport/core/completion_queue.h"
#include "transport/core/errors.h"
#include "transport/core/fifo.h"
#include "transport/core/group_table.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_access.h"
#include "transport/edge/edge_memory.h"
#include "transport/edge/shared_segment.h"
#include "transport/host/host.h"
#include "transport/shm/shm_domain.h"
#include "transport/shm/shm_group.h"

namespace brigade {
namespace {

using shm::Directory;
using shm::Group;
using shm::InStream;
using shm::Introduction;
using shm::OutStream;
using shm::Peer;
using shm::Public;
using shm::Verdict;

// Waiting, in idle polls.
struct Patience {
  uint64_t spins;   // then the processor is offered to others
  uint64_t yields;  // then the rank sleeps
};
constexpr uint64_t kHotPolls = 200;     // before any of it
constexpr Patience kAlone{600, 20000};  // at most 20 us, then about 10 ms
constexpr Patience kCrowded{20, 100};   // somebody else could use the processor
constexpr int kLongestSleepUs = 20000;  // then it looks who has gone
constexpr int kLongestSleepUnpreparedUs = 500;
// With less there would be no room for a pool and what lies beside it.
constexpr uint64_t kLeastReserveBytes = uint64_t{64} << 20;
constexpr int kPollsPerReturns = 8;
constexpr uint64_t kPollsPerLook = 1 << 16;  // of one that does not sleep

// Short pieces are pushed out of the sender's cache to where the receiver gets them sooner; longer
// ones, whose lines it fetches ahead of need, are slowed down by it.
constexpr size_t kDemotedBytes = 1152;

void Relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

void Demote(ConstByteSpan piece) {
#if defined(__x86_64__)
  // CLDEMOTE; where it does not exist its code does nothing.
  const auto first = reinterpret_cast<uintptr_t>(piece.data) & ~uintptr_t{63};
  const auto end = reinterpret_cast<uintptr_t>(piece.data) + piece.bytes;
  for (uintptr_t line = first; line < end; line += 64) {
    asm volatile("cldemote %0" : : "m"(*reinterpret_cast<const char*>(line)));
  }
#endif
}

class ShmEndpoint : public Endpoint, private EdgeAccess {
 public:
  ShmEndpoint(const ShmOptions& options, std::shared_ptr<SharedSegment> segment)
      : segment_(std::move(segment)),
        domain_(segment_),
        edge_memory_(segment_.get()),
        options_(options) {
    capabilities_.name = "shm";
    capabilities_.lands_in_peer_memory = true;
    capabilities_.needs_landing = false;
    capabilities_.needs_registered_memory = true;
    capabilities_.progresses_alone = true;
    capabilities_.line_bytes = Slot::kLineBytes;
    capabilities_.tuning.overlap_piece_bytes = size_t{8} << 10;
    bells_reach_all_ = Bell::Prepare();
  }

  Status Init() {
    public_ = static_cast<Public*>(edge_memory_.Allocate(sizeof(Public)));
    if (public_ == nullptr) return Status(StatusCode::kOutOfMemory, "no shared memory");
    return Status();
  }

  ~ShmEndpoint() override {
    if (public_ == nullptr || IsForked()) return;
    public_->departed.store(1, std::memory_order_release);
    for (auto& [token, peer] : peers_) peer->shared->bell.Ring();
  }

  const Capabilities& capabilities() const override { return capabilities_; }
  MemoryDomain* domain() override { return &domain_; }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* id) override {
    const int ranks = bootstrap->size();
    auto* directory = static_cast<Directory*>(edge_memory_.Allocate(Directory::Bytes(ranks)));
    Introduction mine;
    mine.host = options_.host;
    mine.segment = segment_->address();
    mine.public_offset = edge_memory_.OffsetOf(public_);
    mine.directory_offset = directory == nullptr ? 0 : edge_memory_.OffsetOf(directory);
    mine.processors = AllowedProcessors();
    mine.processor_quota = processor_quota_;
    std::vector<Introduction> all(static_cast<size_t>(ranks));
    BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), all.data()));

    auto group = std::make_unique<Group>();
    group->rank = bootstrap->rank();
    const Status opened = Meet(mine, all, group.get());
    Verdict verdict;
    if (!opened.ok()) {
      verdict.failed = 1;
      opened.message().copy(verdict.reason, sizeof(verdict.reason) - 1);
    }
    std::vector<Verdict> verdicts(static_cast<size_t>(ranks));
    // Behind this, everyone has mapped everyone, and may exit.
    BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&verdict, sizeof(verdict), verdicts.data()));
    for (int r = 0; r < ranks; ++r) {
      if (verdicts[r].failed == 0) continue;
      if (directory != nullptr) edge_memory_.Free(directory, Directory::Bytes(ranks));
      return Status(StatusCode::kUnavailable, "shm: rank " + std::to_string(r) + " of the group: " +
                                                  std::string(verdicts[r].reason));
    }
    group->out.resize(static_cast<size_t>(kChannelKinds) * ranks);
    group->in.resize(group->out.size());
    Group* const added = group.get();
    *id = added->id = groups_.Add(std::move(group));
    JudgeCrowd(all);
    return Status();
  }

  void CloseGroup(GroupId id) override {
    if (IsForked()) return;
    Group& group = groups_.At(id);
    completions_.CancelReceives(id, [this](const Lease& lease) { ReleaseLease(lease); });
    for (int kind = 0; kind < kChannelKinds; ++kind) {
      for (int peer = 0; peer < group.size(); ++peer) {
        if (group.members[peer] == nullptr) continue;
        InStream& in = In(group, static_cast<ChannelKind>(kind), peer);
        in.receives.clear();
        in.edge.Close();
      }
    }
    const auto of_group = [&](InStream* in) { return in->group == id; };
    expecting_.erase(std::remove_if(expecting_.begin(), expecting_.end(), of_group),
                     expecting_.end());
    groups_.Close(id);
    leaving_.push_back(&group);
    FreeGroups();
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan piece,
                  Completion* completion) override {
    Group& group = groups_.At(channel.group);
    OutStream* const out = Out(group, channel.kind, peer);
    if (out == nullptr) return Status(StatusCode::kNoResource, "no shared memory for an edge");
    if (out->peer->lost) return Lost(*out->peer, peer);
    Slot* const slot = out->edge.Next();
    if (slot == nullptr) return Status(StatusCode::kNoResource, "no shared memory for a message");
    if (piece.bytes <= Slot::kLineBytes) {
      slot->kind = Slot::kLine;
      slot->bytes = static_cast<uint16_t>(piece.bytes);
      if (piece.bytes > 0) std::memcpy(slot->payload, piece.data, piece.bytes);
      out->edge.Publish(slot);
      completion->status = Status();
      completions_.Finish(completion, CompletionQueue::kSend);
      return Status();
    }
    if (piece.bytes <= kDemotedBytes) Demote(piece);
    const PieceAt at = Locate(group, piece);
    slot->kind = Slot::kPiece;
    std::memcpy(slot->payload, &at, sizeof(at));
    const OutEdge::Receipt receipt = out->edge.Publish(slot);
    if (out->under_way.empty()) {
      sending_.push_back(out);
      out->edge.KeepReceiptsFrom(receipt.number);
    }
    out->under_way.push_back({receipt, completion});
    return Status();
  }

  Status PostReceive(const Channel& channel, int peer, ByteSpan landing,
                     Completion* completion) override {
    Group& group = groups_.At(channel.group);
    InStream& in = In(group, channel.kind, peer);
    if (in.receives.empty()) {
      const Slot* slot = in.edge.Peek();
      if (slot != nullptr) {
        Match(&in, slot, {landing.bytes, completion});
        return Status();
      }
      if (in.peer->lost) return Lost(*in.peer, peer);
      expecting_.push_back(&in);
    }
    in.receives.push_back({landing.bytes, completion});
    return Status();
  }

  void ReleaseLease(const Lease& lease) override {
    if (lease.token == 0) return;
    Leased& leased = leased_[lease.token - 1];
    leased.in->edge.GiveBack(leased.receipt, leased.piece);
    --leased.in->leased;
    leased.in = nullptr;
    free_leases_.push_back(lease.token - 1);
  }

  bool Progress() override {
    BRIGADE_CHECK(!completions_.running());
    bool moved = false;
    if (!expecting_.empty() || !sending_.empty()) {
      CompletionQueue::Hold hold(&completions_);
      moved = TakeArrivals();
      // Reading what a receiver is about to write slows its writing down, and with it all that it
      // writes next: who also waits for something else looks at it now and then only.
      if (expecting_.empty() || ++polls_since_returns_ >= kPollsPerReturns) {
        polls_since_returns_ = 0;
        moved |= FinishSends();
      }
    }
    if (loss_) {
      CompletionQueue::Hold hold(&completions_);
      loss_ = false;
      FailLost();
    }
    if (!leaving_.empty()) FreeGroups();
    moved |= completions_.Run();
    // For a driver that never pauses long enough to sleep.
    idle_ = moved ? 0 : idle_ + 1;
    if (idle_ == kPollsPerLook) {
      idle_ = 0;
      LookForLosses();
    }
    return moved;
  }

  void Pause(uint64_t idle_polls) override {
    if (idle_polls == 0 && public_->bell.armed()) public_->bell.Disarm();
    const Patience& patience = crowded_ ? kCrowded : kAlone;
    if (idle_polls < patience.spins) {
      if (idle_polls >= kHotPolls) Relax();
      return;
    }
    polls_since_returns_ = kPollsPerReturns;  // polls are slow from here on, and few
    if (idle_polls < patience.spins + patience.yields) {
      sched_yield();
      return;
    }
    // The engine looks for messages between arming and sleeping.
    if (!public_->bell.armed()) {
      public_->bell.Arm();
      return;
    }
    public_->bell.Sleep(bells_reach_all_ ? kLongestSleepUs : kLongestSleepUnpreparedUs);
    LookForLosses();
  }

  void Nudge() override { LookForLosses(); }
  uint64_t PollsAwake() const override {
    return crowded_ ? kCrowded.spins + kCrowded.yields : kAlone.spins;
  }

  EdgeAccess* edges() override { return this; }
  OutEdge* EdgeTo(const Channel& channel, int peer) override {
    OutStream* const out = Out(groups_.At(channel.group), channel.kind, peer);
    return out == nullptr ? nullptr : &out->edge;
  }
  int HostOf(GroupId id, int peer) const override {
    const std::vector<int>& hosts = groups_.At(id).hosts;
    return hosts.empty() ? 0 : hosts[peer];
  }
  InEdge* EdgeFrom(const Channel& channel, int peer) override {
    return &In(groups_.At(channel.group), channel.kind, peer).edge;
  }
  ConstByteSpan PieceIn(GroupId id, const Slot& slot) override {
    if (slot.kind != Slot::kPiece) return ConstByteSpan();
    PieceAt at;
    std::memcpy(&at, slot.payload, sizeof(at));
    const Group& group = groups_.At(id);
    if (at.owner >= group.members.size() || group.members[at.owner] == nullptr) {
      return ConstByteSpan();
    }
    return {group.members[at.owner]->segment->At(at.offset, at.bytes), at.bytes};
  }

 private:
  struct Leased {
    InStream* in = nullptr;
    InEdge::Receipt receipt;
    bool piece = false;
  };

  // A forked child has all of this, and none of it is its own.
  bool IsForked() const { return segment_->address().process != getpid(); }

  static Status Lost(const Peer& peer, int rank) {
    return Status(StatusCode::kPeerLost,
                  "shm: rank " + std::to_string(rank) + " of the group (process " +
                      std::to_string(peer.segment->address().process) + ") is gone");
  }

  // Maps the segments of all members on this host. OK: the group is complete but for its streams.
  Status Meet(const Introduction& mine, const std::vector<Introduction>& all, Group* group) {
    std::vector<const Host*> hosts;
    for (const Introduction& their : all) {
      const auto known = std::find_if(hosts.begin(), hosts.end(),
                                      [&](const Host* host) { return *host == their.host; });
      group->hosts.push_back(static_cast<int>(known - hosts.begin()));
      if (known == hosts.end()) hosts.push_back(&their.host);
      if (!(their.host == mine.host)) {
        if (options_.spans_hosts) {
          group->members.push_back(nullptr);
          group->directories.push_back(nullptr);
          continue;
        }
        return Status(StatusCode::kUnavailable,
                      "on another host, in other namespaces or of another user than rank " +
                          std::to_string(&their - all.data()));
      }
      if (their.directory_offset == 0) {
        return Status(StatusCode::kOutOfMemory, "no shared memory for a group");
      }
      Peer* peer = nullptr;
      BRIGADE_RETURN_IF_ERROR(FindPeer(their, &peer));
      auto* const directory = Shared<Directory>(peer->segment.get(), their.directory_offset,
                                                Directory::Bytes(static_cast<int>(all.size())));
      if (directory == nullptr) return Misplaced();
      group->ranks[peer] = group->size();
      group->members.push_back(peer);
      group->directories.push_back(directory);
    }
    if (hosts.size() == 1) group->hosts.clear();
    return Status();
  }

  // The peer who says so of itself, mapped at the first meeting.
  Status FindPeer(const Introduction& their, Peer** peer) {
    const std::pair<uint64_t, uint64_t> token{their.segment.token[0], their.segment.token[1]};
    const auto known = peers_.find(token);
    if (known != peers_.end()) {
      *peer = known->second.get();
      return Status();
    }
    auto found = std::make_unique<Peer>();
    BRIGADE_RETURN_IF_ERROR(SharedSegment::Open(their.segment, &found->segment));
    found->shared = Shared<Public>(found->segment.get(), their.public_offset, sizeof(Public));
    if (found->shared == nullptr) return Misplaced();
    if (their.segment.process != getpid()) {
      found->handle = static_cast<int>(syscall(SYS_pidfd_open, their.segment.process, 0));
    }
    *peer = found.get();
    peers_[token] = std::move(found);
    return Status();
  }

  // What a peer says is at `offset` of its segment; null if it cannot be there.
  template <typename T>
  static T* Shared(SharedSegment* segment, uint64_t offset, size_t bytes) {
    if (offset % alignof(T) != 0) return nullptr;
    return reinterpret_cast<T*>(segment->At(offset, bytes));
  }
  static Status Misplaced() {
    return Status(StatusCode::kInternal, "was told of memory outside a segment");
  }

  // Whether ranks outnumber processors.
  void JudgeCrowd(const std::vector<Introduction>& all) {
    cpu_set_t together;
    CPU_ZERO(&together);
    int quota = 0;
    int ranks = 0;
    for (const Introduction& their : all) {
      if (!(their.host == options_.host)) continue;
      ++ranks;
      CPU_OR(&together, &together, &their.processors);
      quota = std::max(quota, their.processor_quota);
    }
    const int processors = std::min(CPU_COUNT(&together), quota);
    if (ranks > processors) crowded_ = true;
  }

  OutStream* Out(Group& group, ChannelKind kind, int peer) {
    const size_t index = group.IndexOf(kind, peer);
    if (group.out[index] != nullptr) return group.out[index].get();
    void* const memory = edge_memory_.Allocate(sizeof(EdgeRing));
    if (memory == nullptr) return nullptr;
    auto* const ring = static_cast<EdgeRing*>(memory);
    group.out[index] = std::make_unique<OutStream>(ring, &edge_memory_, group.members[peer], peer);
    std::atomic<uint64_t>& entry = group.directories[group.rank]->entries()[index];
    uint64_t unopened = 0;
    if (!entry.compare_exchange_strong(unopened, edge_memory_.OffsetOf(ring),
                                       std::memory_order_acq_rel)) {
      ring->returns.closed_at.store(1, std::memory_order_release);  // the peer closed it before
    }
    return group.out[index].get();
  }

  InStream& In(Group& group, ChannelKind kind, int peer) {
    std::unique_ptr<InStream>& in = group.in[group.IndexOf(kind, peer)];
    if (in == nullptr) {
      std::atomic<uint64_t>* const entry =
          group.directories[peer]->entries() + group.IndexOf(kind, group.rank);
      in = std::make_unique<InStream>(entry, group.members[peer], peer, group.id);
    }
    return *in;
  }

  PieceAt Locate(const Group& group, ConstByteSpan piece) const {
    PieceAt at;
    at.bytes = piece.bytes;
    if (segment_->Contains(piece.data, piece.bytes)) {
      at.owner = static_cast<uint32_t>(group.rank);
      at.offset = static_cast<uint64_t>(piece.data - segment_->base());
      return at;
    }
    // Leased from somebody.
    for (const auto& [peer, rank] : group.ranks) {
      if (!peer->segment->Contains(piece.data, piece.bytes)) continue;
      at.owner = static_cast<uint32_t>(rank);
      at.offset = static_cast<uint64_t>(piece.data - peer->segment->base());
      return at;
    }
    CheckFailed(__FILE__, __LINE__, "a piece outside shared memory");
  }

  // REQUIRES: `slot` is the next of the stream.
  void Match(InStream* in, const Slot* slot, const InStream::Receive& receive) {
    Completion* const completion = receive.completion;
    completion->status = Status();
    completion->lease = Lease();
    const bool piece = slot->kind == Slot::kPiece;
    Lease lease;
    if (piece) {
      const ConstByteSpan found = PieceIn(in->group, *slot);
      lease.data = found.data;
      lease.bytes = found.bytes;
    } else if (slot->kind == Slot::kLine) {
      lease.bytes = slot->bytes;
      if (lease.bytes <= Slot::kLineBytes) lease.data = slot->payload;
    }
    if (lease.data == nullptr) {
      completion->status = Broken(*in, "a message that is nowhere");
    } else if (lease.bytes > receive.most_bytes) {
      completion->status = PieceTooLong("shm", lease.bytes, in->rank, receive.most_bytes);
    }
    const InEdge::Receipt receipt = in->edge.Take();
    if (!completion->status.ok()) {
      in->edge.GiveBack(receipt, piece);
    } else {
      if (free_leases_.empty()) {
        free_leases_.push_back(leased_.size());
        leased_.emplace_back();
      }
      lease.token = free_leases_.back() + 1;
      free_leases_.pop_back();
      leased_[lease.token - 1] = {in, receipt, piece};
      ++in->leased;
      completion->lease = lease;
    }
    completions_.Finish(completion, in->group);
  }

  static Status Broken(const InStream& in, const char* what) {
    return Status(StatusCode::kInternal, "shm: rank " + std::to_string(in.rank) +
                                             " of the group has written " + what +
                                             " into its shared memory");
  }

  void FailReceives(InStream* in, const Status& status) {
    for (const InStream::Receive& receive : in->receives) {
      receive.completion->status = status;
      receive.completion->lease = Lease();
      completions_.Finish(receive.completion, in->group);
    }
    in->receives.clear();
  }

  bool TakeArrivals() {
    bool moved = false;
    for (size_t i = 0; i < expecting_.size();) {
      InStream* const in = expecting_[i];
      while (!in->receives.empty()) {
        const Slot* slot = in->edge.Peek();
        if (slot == nullptr) break;
        const InStream::Receive receive = in->receives.front();
        in->receives.pop_front();
        Match(in, slot, receive);
        moved = true;
      }
      if (in->edge.broken() != nullptr) FailReceives(in, Broken(*in, in->edge.broken()));
      if (in->receives.empty()) {
        expecting_[i] = expecting_.back();
        expecting_.pop_back();
      } else {
        ++i;
      }
    }
    return moved;
  }

  bool FinishSends() {
    bool moved = false;
    for (size_t i = 0; i < sending_.size();) {
      OutStream* const out = sending_[i];
      const uint64_t released = out->edge.released();
      if (released != out->released_seen || out->edge.closed()) {
        // Receivers mostly give back in order: the first ones are over, the rest is left alone.
        auto to_find = static_cast<int64_t>(released - out->released_seen);
        out->released_seen = released;
        const bool closed = out->edge.closed();
        auto kept = out->under_way.begin();
        auto sent = out->under_way.begin();
        for (; sent != out->under_way.end() && (to_find > 0 || closed); ++sent) {
          if (sent->receipt.given()) {
            --to_find;
          } else if (!out->edge.NeverTaken(sent->receipt)) {
            *kept++ = *sent;
            continue;
          }
          moved = true;
          sent->completion->status = Status();
          completions_.Finish(sent->completion, CompletionQueue::kSend);
        }
        out->under_way.erase(kept, sent);
        out->edge.KeepReceiptsFrom(out->under_way.empty() ? UINT64_MAX
                                                          : out->under_way.front().receipt.number);
      }
      if (out->under_way.empty()) {
        sending_[i] = sending_.back();
        sending_.pop_back();
      } else {
        ++i;
      }
    }
    return moved;
  }

  // A rank that has left for good, well or not.
  void LookForLosses() {
    for (auto& [token, peer] : peers_) {
      if (peer->lost || peer->segment == segment_) continue;
      bool gone = peer->shared->departed.load(std::memory_order_acquire) != 0;
      if (!gone && peer->handle >= 0) {
        pollfd end{peer->handle, POLLIN, 0};
        gone = poll(&end, 1, 0) > 0;
      }
      if (gone) peer->lost = loss_ = true;
    }
  }

  // What a lost rank had sent before was taken first.
  void FailLost() {
    (void)TakeArrivals();
    for (InStream* in : expecting_) {
      if (in->peer->lost) FailReceives(in, Lost(*in->peer, in->rank));
    }
    const auto idle = [](InStream* in) { return in->receives.empty(); };
    expecting_.erase(std::remove_if(expecting_.begin(), expecting_.end(), idle), expecting_.end());
    (void)FinishSends();
    for (OutStream* out : sending_) {
      if (!out->peer->lost) continue;
      for (const OutStream::Sent& sent : out->under_way) {
        sent.completion->status = Lost(*out->peer, out->rank);
        completions_.Finish(sent.completion, CompletionQueue::kSend);
      }
      out->under_way.clear();
    }
    const auto over = [](OutStream* out) { return out->under_way.empty(); };
    sending_.erase(std::remove_if(sending_.begin(), sending_.end(), over), sending_.end());
    groups_.ForEach([](GroupId, const Group* group) {
      for (const std::unique_ptr<OutStream>& out : group->out) {
        if (out != nullptr && out->peer->lost) out->edge.SetLost();
      }
    });
  }

  // A group's memory can be used again when no member can look at it any more.
  void FreeGroups() {
    const auto over = [&](Group* group) {
      if (!group->left) {
        for (const auto& in : group->in) {
          if (in != nullptr && in->leased > 0) return false;
        }
        for (const auto& [peer, rank] : group->ranks) {
          group->directories[rank]->closed_by.fetch_add(1, std::memory_order_acq_rel);
        }
        group->left = true;
      }
      Directory* const directory = group->directories[group->rank];
      if (directory->closed_by.load(std::memory_order_acquire) <
          static_cast<uint32_t>(group->ranks.size())) {
        return false;
      }
      for (const auto& out : group->out) {
        if (out != nullptr && !out->under_way.empty()) return false;
      }
      for (const auto& out : group->out) {
        if (out == nullptr) continue;
        out->edge.FreeExtensions();
        edge_memory_.Free(out->ring, sizeof(EdgeRing));
      }
      edge_memory_.Free(directory, Directory::Bytes(group->size()));
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
  const int processor_quota_ = ProcessorQuota();  // read once: that takes longer than the rest
  Public* public_ = nullptr;
  bool bells_reach_all_ = false;
  bool crowded_ = false;

  std::map<std::pair<uint64_t, uint64_t>, std::unique_ptr<Peer>> peers_;  // by token
  GroupTable<Group> groups_;
  std::vector<Group*> leaving_;       // closed
  std::vector<InStream*> expecting_;  // with receives posted
  std::vector<OutStream*> sending_;   // with pieces under way
  std::vector<Leased> leased_;
  std::vector<uint64_t> free_leases_;
  int polls_since_returns_ = 0;
  bool loss_ = false;
  uint64_t idle_ = 0;  // calls of Progress in a row
  CompletionQueue completions_;
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

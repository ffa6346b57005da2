#include "transport/inproc/inproc_transport.h"

#include <algorithm>
#include <atomic>
#include <climits>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "membuf/check.h"
#include "membuf/heap_domain.h"
#include "membuf/pack.h"
#include "transport/core/completion_queue.h"
#include "transport/core/control_queue.h"
#include "transport/core/errors.h"
#include "transport/core/group_table.h"
#include "transport/core/wire_ids.h"
#include "transport/inproc/mailbox.h"

namespace brigade {
namespace {

using inproc::ControlArrival;
using inproc::Mailbox;
using inproc::Parcel;
using inproc::ParcelPtr;

// One AllGather under way.
struct Gather {
  size_t bytes = 0;
  std::vector<std::byte> all;
  int arrived = 0;
  int left = 0;
  bool mismatch = false;
};

Status Lost(int world_rank) {
  return Status(StatusCode::kPeerLost,
                "inproc: rank " + std::to_string(world_rank) + " of the job is lost");
}

}  // namespace

struct InprocWorld::State {
  State(int ranks, const InprocOptions& o)
      : options(o), mailboxes(ranks), lost(ranks), has_endpoint(ranks) {}

  bool IsLost(int rank) const { return IsLost(rank, INT_MAX); }
  // Whether the rank is among the first losses.
  bool IsLost(int rank, int first_losses) const {
    const int number = lost[rank].load(std::memory_order_acquire);
    return number != 0 && number <= first_losses;
  }

  const InprocOptions options;
  std::vector<Mailbox> mailboxes;
  std::vector<std::atomic<int>> lost;  // by rank: its number among the losses, from 1; 0 if none
  std::atomic<int> losses{0};

  std::mutex mutex;
  std::condition_variable changed;
  std::vector<char> has_endpoint;
  // A gather is known by its members and its number among the gathers of these members.
  std::map<std::pair<std::vector<int>, uint64_t>, Gather> gathers;
  std::map<std::pair<std::vector<int>, int>, uint64_t> gathers_of_member;
};

class InprocBootstrap : public Bootstrap {
 public:
  InprocBootstrap(InprocWorld::State* world, std::vector<int> members, int rank)
      : world_(world), members_(std::move(members)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(members_.size()); }

  Status AllGather(const void* mine, size_t bytes, void* all) override {
    std::unique_lock<std::mutex> lock(world_->mutex);
    const auto key = std::make_pair(members_, world_->gathers_of_member[{members_, rank_}]++);
    Gather& gather = world_->gathers[key];
    if (gather.arrived == 0) {
      gather.bytes = bytes;
      gather.all.resize(bytes * members_.size());
    }
    if (gather.bytes != bytes) {
      gather.mismatch = true;
    } else if (bytes > 0) {
      std::memcpy(gather.all.data() + bytes * rank_, mine, bytes);
    }
    ++gather.arrived;
    world_->changed.notify_all();
    int lost = -1;
    world_->changed.wait(lock, [&] {
      lost = FirstLost();
      return gather.arrived == size() || lost >= 0;
    });
    if (gather.arrived < size()) return Lost(lost);  // the rest is left as it is, for the others
    const bool mismatch = gather.mismatch;
    if (!mismatch && bytes > 0) std::memcpy(all, gather.all.data(), gather.all.size());
    if (++gather.left == size()) world_->gathers.erase(key);
    return mismatch ? GatherSizesDiffer("inproc", bytes) : Status();
  }

  const std::vector<int>& members() const { return members_; }

 private:
  int FirstLost() const {
    for (int member : members_) {
      if (world_->IsLost(member)) return member;
    }
    return -1;
  }

  InprocWorld::State* const world_;
  const std::vector<int> members_;
  const int rank_;
};

class InprocEndpoint : public Endpoint, private Polling {
 public:
  InprocEndpoint(InprocWorld* world, int rank)
      : owner_(world), world_(world->state_.get()), rank_(rank) {
    capabilities_.name = "inproc";
    capabilities_.lands_in_peer_memory = world_->options.lands_in_peer_memory;
    capabilities_.progresses_alone = !world_->options.allows_progress_thread;
    capabilities_.eager_segment_bytes = world_->options.eager_segment_bytes;
  }

  // Whatever a peer still has under way with this rank can never end.
  ~InprocEndpoint() override { owner_->MarkLost(rank_); }

  const Capabilities& capabilities() const override { return capabilities_; }
  MemoryDomain* domain() override { return &domain_; }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* group) override {
    std::vector<int> members;
    if (const auto* const inproc = dynamic_cast<InprocBootstrap*>(bootstrap)) {
      members = inproc->members();
    } else if (const std::optional<Bootstrap::Parent> parent = bootstrap->parent()) {
      for (const int rank : *parent->ranks) {
        members.push_back(groups_.At(parent->group).WorldRankOf(rank));
      }
    } else {
      return Status(StatusCode::kUnavailable, "inproc: needs a bootstrap of its own world");
    }
    const uint64_t mine = wire_ids_.proposal();
    std::vector<uint64_t> proposals(members.size());
    BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), proposals.data()));
    const uint64_t wire_id = wire_ids_.Agree(proposals, [](uint64_t proposal) { return proposal; });
    *group =
        groups_.Add(std::make_unique<Group>(Group{wire_id, bootstrap->rank(), std::move(members)}));
    open_.emplace(wire_id, *group);
    return Status();
  }

  void CloseGroup(GroupId id) override {
    const uint64_t wire_id = groups_.At(id).wire_id;
    control_.RemoveHandler(id);
    completions_.CancelReceives(id, [this](const Lease& lease) { ReleaseLease(lease); });
    auto stream = streams_.lower_bound({wire_id, ChannelKind::kPointToPoint, 0});
    while (stream != streams_.end() && std::get<0>(stream->first) == wire_id) {
      for (ParcelPtr& parcel : stream->second.parcels) Drop(std::move(parcel));
      stream = streams_.erase(stream);
    }
    open_.erase(wire_id);
    groups_.Erase(id);
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    auto parcel = std::make_shared<Parcel>();
    parcel->segment = segment;
    return Send(channel, peer, std::move(parcel), completion);
  }

  bool SendsInPlace(const Channel&, int, const LayoutRange&) const override {
    return world_->options.sends_in_place && !world_->options.lands_in_peer_memory;
  }

  SentNow SendNow(const Channel& channel, int peer, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes) override {
    const Group& group = groups_.At(channel.group);
    const StreamKey stream{group.wire_id, channel.kind, group.WorldRankOf(peer)};
    if (keeps_for_.count(stream) > 0) return SentNow::kNotYet;
    auto parcel = std::make_shared<Parcel>();
    parcel->kept.resize(head.bytes + body.bytes);
    if (head.bytes > 0) std::memcpy(parcel->kept.data(), head.data, head.bytes);
    CopyIn(parcel->kept.data() + head.bytes, *body.layout, body.base, body.offset, body.bytes);
    parcel->segment = ConstByteSpan(parcel->kept.data(), parcel->kept.size());
    *kept_bytes = parcel->kept.size();
    if (!Send(channel, peer, std::move(parcel), completion).ok()) return SentNow::kNo;
    keeps_for_.insert(stream);
    return SentNow::kYes;
  }

  Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                     Completion* completion) override {
    return Post(channel, peer,
                {receive_buffer, /*in_place=*/false, channel.group, peer, completion});
  }

  bool LandsInPlace(const Channel&, int, const LayoutRange& range) const override {
    size_t memory_offset;
    return world_->options.lands_in_place && !world_->options.lands_in_peer_memory &&
           range.layout->ContiguousRange(range.offset, range.bytes, &memory_offset);
  }

  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    size_t memory_offset = 0;
    BRIGADE_CHECK(range.layout->ContiguousRange(range.offset, range.bytes, &memory_offset));
    const ByteSpan receive_buffer{range.base + memory_offset, range.bytes};
    return Post(channel, peer,
                {receive_buffer, /*in_place=*/true, channel.group, peer, completion});
  }

  size_t PeekUnexpected(const Channel& channel, int peer, ByteSpan head) override {
    const Group& group = groups_.At(channel.group);
    const auto stream = streams_.find({group.wire_id, channel.kind, group.WorldRankOf(peer)});
    if (stream == streams_.end() || stream->second.parcels.empty()) return 0;
    Parcel* const parcel = stream->second.parcels.front().get();
    // Its sender cannot take it back meanwhile.
    if (!parcel->MoveOn(Parcel::State::kLookedAt)) return 0;
    const size_t bytes = std::min(head.bytes, parcel->segment.bytes);
    if (bytes > 0) std::memcpy(head.data, parcel->segment.data, bytes);
    parcel->state.store(Parcel::State::kPosted, std::memory_order_release);
    return bytes;
  }

  void ReleaseLease(const Lease& lease) override {
    if (lease.token == 0) return;
    auto leased = leased_.find(lease.token);
    BRIGADE_CHECK(leased != leased_.end());
    Return(std::move(leased->second));
    leased_.erase(leased);
  }

  void SetControlHandler(GroupId id, ControlHandler* handler) override {
    control_.SetHandler(id, handler);
  }
  Status SendControl(GroupId id, int peer, ConstByteSpan message, Urgency urgency) override {
    const Group& group = groups_.At(id);
    const int to = group.WorldRankOf(peer);
    BRIGADE_RETURN_IF_ERROR(Reachable(to));
    const ControlArrival control{group.wire_id, group.rank, ControlMessage(message)};
    const size_t most = urgency == Urgency::kUrgent ? SIZE_MAX : kMostControls;
    if (world_->mailboxes[to].PutControl(control, most)) return Status();
    return Status(StatusCode::kNoResource, "inproc: control messages wait to be taken");
  }

  bool Progress() override {
    BRIGADE_CHECK(!completions_.running());
    // Read before the mailbox, see FailLost.
    const int losses = world_->losses.load(std::memory_order_acquire);
    std::vector<ParcelPtr> arrivals;
    std::vector<ParcelPtr> returned;
    std::vector<ControlArrival> controls;
    bool moved = false;
    {
      CompletionQueue::Hold hold(&completions_);
      moved = world_->mailboxes[rank_].Take(&arrivals, &returned, &controls);
      for (const ControlArrival& control : controls) {
        const auto group = open_.find(control.wire_id);
        if (group != open_.end())
          control_.Push(group->second, control.from, control.message.span());
      }
      for (ParcelPtr& parcel : returned) FinishSend(parcel.get(), Status());
      for (ParcelPtr& parcel : arrivals) {
        if (wire_ids_.IsPast(parcel->wire_id) && open_.count(parcel->wire_id) == 0) {
          Drop(std::move(parcel));
          continue;
        }
        Stream& stream = streams_[{parcel->wire_id, parcel->kind, parcel->from}];
        stream.parcels.push_back(std::move(parcel));
        Match(&stream);
      }
      if (losses != losses_seen_) {
        losses_seen_ = losses;
        FailLost();
      }
    }
    control_.Deliver();
    return completions_.Run() || moved;
  }

  bool AllowsProgressThread() const override { return world_->options.allows_progress_thread; }
  Polling* polling() override { return this; }
  // A mailbox wakes no sleeper: sleeps are short.
  void Await(int microseconds) override { Polling::Await(std::min(microseconds, kAwaitUs)); }

 private:
  static constexpr int kAwaitUs = 100;
  static constexpr size_t kMostControls = 16;  // in a mailbox, before one more has to wait

  struct Group {
    int WorldRankOf(int peer) const {
      BRIGADE_CHECK_LT(static_cast<size_t>(peer), members.size());
      return members[peer];
    }

    uint64_t wire_id;
    int rank;
    std::vector<int> members;  // world ranks
  };
  struct Receive {
    ByteSpan buffer;
    bool in_place;
    GroupId group;
    int peer;
    Completion* completion;
  };
  // Parcels without receives, or receives without parcels.
  struct Stream {
    std::deque<ParcelPtr> parcels;
    std::deque<Receive> receives;
  };
  using StreamKey = std::tuple<uint64_t, ChannelKind, int>;  // wire id, kind, other world rank

  // A rank that is itself marked lost reaches no peer.
  Status Reachable(int peer, int first_losses = INT_MAX) const {
    if (world_->IsLost(peer, first_losses)) return Lost(peer);
    return world_->IsLost(rank_, first_losses) ? Lost(rank_) : Status();
  }

  Status Send(const Channel& channel, int peer, ParcelPtr parcel, Completion* completion) {
    const Group& group = groups_.At(channel.group);
    const int to = group.WorldRankOf(peer);
    BRIGADE_RETURN_IF_ERROR(Reachable(to));
    parcel->wire_id = group.wire_id;
    parcel->kind = channel.kind;
    parcel->from = rank_;
    parcel->to = to;
    parcel->completion = completion;
    sent_.emplace(parcel.get(), parcel);
    world_->mailboxes[to].PutArrival(std::move(parcel));
    return Status();
  }

  Status Post(const Channel& channel, int peer, const Receive& receive) {
    const Group& group = groups_.At(channel.group);
    const int from = group.WorldRankOf(peer);
    BRIGADE_RETURN_IF_ERROR(Reachable(from));
    Stream& stream = streams_[{group.wire_id, channel.kind, from}];
    stream.receives.push_back(receive);
    Match(&stream);
    return Status();
  }

  void Match(Stream* stream) {
    if (stream->parcels.empty() || stream->receives.empty()) return;
    const ParcelPtr parcel = std::move(stream->parcels.front());
    stream->parcels.pop_front();
    // A loss that FailLost has not come to yet; the receive stays for it to fail.
    if (!Reachable(parcel->from).ok() || !parcel->MoveOn(Parcel::State::kTaken)) return;
    const Receive receive = stream->receives.front();
    stream->receives.pop_front();
    const ConstByteSpan segment = parcel->segment;
    Completion* completion = receive.completion;
    completion->status = Status();
    completion->lease = Lease{receive.in_place ? nullptr : receive.buffer.data, segment.bytes, 0};
    if (segment.bytes > receive.buffer.bytes) {
      completion->status =
          SegmentTooLong("inproc", segment.bytes, receive.peer, receive.buffer.bytes);
      Return(parcel);
    } else if (capabilities_.lands_in_peer_memory) {
      completion->lease = Lease{segment.data, segment.bytes, next_token_};
      leased_.emplace(next_token_++, parcel);
    } else {
      if (segment.bytes > 0) std::memcpy(receive.buffer.data, segment.data, segment.bytes);
      Return(parcel);
    }
    completions_.Finish(completion, receive.group);
  }

  // Drops a parcel of a closed group.
  void Drop(ParcelPtr parcel) {
    if (!world_->IsLost(rank_) && parcel->MoveOn(Parcel::State::kTaken)) Return(std::move(parcel));
  }

  void Return(ParcelPtr parcel) {
    Mailbox& mailbox = world_->mailboxes[parcel->from];
    mailbox.PutReturned(std::move(parcel));
  }

  void FinishSend(Parcel* parcel, const Status& status) {
    if (!parcel->kept.empty()) keeps_for_.erase({parcel->wire_id, parcel->kind, parcel->to});
    if (sent_.erase(parcel) == 0) return;  // had been given up
    parcel->completion->status = status;
    completions_.Finish(parcel->completion, CompletionQueue::kSend);
  }

  // Handles only losses from before the mailbox was read: parcels that a rank returned before it
  // left may be in the mailbox by now.
  void FailLost() {
    const auto reachable = [this](int peer) { return Reachable(peer, losses_seen_); };
    for (auto& [key, stream] : streams_) {
      const Status status = reachable(std::get<2>(key));
      if (status.ok()) continue;
      stream.parcels.clear();
      for (const Receive& receive : stream.receives) {
        receive.completion->status = status;
        receive.completion->lease = Lease();
        completions_.Finish(receive.completion, receive.group);
      }
      stream.receives.clear();
    }
    std::vector<ParcelPtr> given_up;
    for (auto& [pointer, parcel] : sent_) {
      if (reachable(parcel->to).ok()) continue;
      while (parcel->state.load(std::memory_order_acquire) == Parcel::State::kLookedAt) {
        std::this_thread::yield();
      }
      // One that is being copied this moment comes back; one that is leased does so unless its
      // reader is lost. If this rank is, its reader may still be at it.
      if (parcel->MoveOn(Parcel::State::kWithdrawn) ||
          (capabilities_.lands_in_peer_memory && world_->IsLost(parcel->to, losses_seen_))) {
        given_up.push_back(parcel);
      }
    }
    for (ParcelPtr& parcel : given_up) FinishSend(parcel.get(), reachable(parcel->to));
  }

  InprocWorld* const owner_;
  InprocWorld::State* const world_;
  const int rank_;
  Capabilities capabilities_;
  HeapDomain domain_;
  WireIds wire_ids_;
  GroupTable<Group> groups_;
  std::unordered_map<uint64_t, GroupId> open_;  // by wire id
  std::map<StreamKey, Stream> streams_;
  std::unordered_map<Parcel*, ParcelPtr> sent_;
  std::set<StreamKey> keeps_for_;  // those that a segment of user memory is kept for
  uint64_t next_token_ = 1;
  std::unordered_map<uint64_t, ParcelPtr> leased_;
  int losses_seen_ = 0;
  ControlQueue control_;
  CompletionQueue completions_;
};

InprocWorld::InprocWorld(int ranks, const InprocOptions& options)
    : state_(std::make_unique<State>(ranks, options)) {}

InprocWorld::~InprocWorld() = default;

int InprocWorld::ranks() const { return static_cast<int>(state_->mailboxes.size()); }

std::unique_ptr<Bootstrap> InprocWorld::MakeBootstrap(const std::vector<int>& members,
                                                      int my_rank) {
  return std::make_unique<InprocBootstrap>(state_.get(), members, my_rank);
}

std::unique_ptr<Bootstrap> InprocWorld::MakeBootstrap(int my_rank) {
  std::vector<int> members(ranks());
  std::iota(members.begin(), members.end(), 0);
  return MakeBootstrap(members, my_rank);
}

std::unique_ptr<Endpoint> InprocWorld::CreateEndpoint(int rank) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  BRIGADE_CHECK(!state_->has_endpoint[rank]);
  state_->has_endpoint[rank] = true;
  return std::make_unique<InprocEndpoint>(this, rank);
}

void InprocWorld::MarkLost(int rank) {
  std::lock_guard<std::mutex> lock(state_->mutex);
  if (state_->IsLost(rank)) return;
  const int number = state_->losses.load(std::memory_order_relaxed) + 1;
  state_->lost[rank].store(number, std::memory_order_release);
  state_->losses.store(number, std::memory_order_release);
  state_->changed.notify_all();
}

}  // namespace brigade

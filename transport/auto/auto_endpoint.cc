#include "transport/auto/auto_endpoint.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "transport/core/group_table.h"
#include "transport/edge/edge_access.h"

namespace brigade {
namespace {

// What an edge of either transport keeps. Where the two differ in what is fast, the far one counts:
// it is the slower.
Capabilities Both(const Capabilities& near, const Capabilities& far) {
  Capabilities both = far;
  both.lands_in_peer_memory |= near.lands_in_peer_memory;
  both.needs_landing |= near.needs_landing;
  both.needs_registered_memory |= near.needs_registered_memory;
  both.progresses_alone &= near.progresses_alone;
  both.keeps_to_landing &= near.keeps_to_landing;
  both.line_bytes = std::min(near.line_bytes, far.line_bytes);
  both.max_piece_bytes = std::min(near.max_piece_bytes, far.max_piece_bytes);
  both.eager_piece_bytes = std::min(near.eager_piece_bytes, far.eager_piece_bytes);
  both.tuning.lazy_credit_bytes =
      std::min(near.tuning.lazy_credit_bytes, far.tuning.lazy_credit_bytes);
  return both;
}

// The near transport's memory, of which the far one is told.
class SharedDomain : public MemoryDomain {
 public:
  SharedDomain(MemoryDomain* near, MemoryDomain* far) : near_(near), far_(far) {}

  const DomainLimits& limits() const override { return near_->limits(); }
  bool grows() const override { return near_->grows(); }
  Status Allocate(int placement, size_t bytes, ByteSpan* memory) override {
    return near_->Allocate(placement, bytes, memory);
  }
  void Free(ByteSpan memory) override { near_->Free(memory); }
  Status Register(ByteSpan memory, uint64_t* key) override {
    Keys keys{};
    BRIGADE_RETURN_IF_ERROR(near_->Register(memory, &keys.near));
    const Status status = far_->Register(memory, &keys.far);
    if (!status.ok()) {
      near_->Deregister(keys.near);
      return status;
    }
    *key = next_key_++;
    keys_[*key] = keys;
    return Status();
  }
  void Deregister(uint64_t key) override {
    const Keys keys = keys_.at(key);
    keys_.erase(key);
    far_->Deregister(keys.far);
    near_->Deregister(keys.near);
  }

 private:
  struct Keys {
    uint64_t near;
    uint64_t far;
  };
  MemoryDomain* const near_;
  MemoryDomain* const far_;
  std::map<uint64_t, Keys> keys_;
  uint64_t next_key_ = 0;
};

class AutoEndpoint : public Endpoint, private EdgeAccess {
 public:
  AutoEndpoint(std::unique_ptr<Endpoint> near, std::unique_ptr<Endpoint> tcp,
               std::unique_ptr<Endpoint> mpi)
      : near_(std::move(near)),
        mpi_(std::move(mpi), near_.get()),
        tcp_(std::move(tcp), near_.get()),
        capabilities_(mpi_.endpoint->capabilities()) {
    // What may be asked before a group is open: sizes, which must do for all.
    for (const Endpoint* other : {near_.get(), tcp_.endpoint.get()}) {
      if (other == nullptr) continue;
      const Capabilities& has = other->capabilities();
      capabilities_.max_piece_bytes = std::min(capabilities_.max_piece_bytes, has.max_piece_bytes);
      capabilities_.tuning.preferred_piece_bytes =
          std::max(capabilities_.tuning.preferred_piece_bytes, has.tuning.preferred_piece_bytes);
      capabilities_.needs_registered_memory |= has.needs_registered_memory;
    }
    capabilities_.name = "auto";
    if (near_ != nullptr && tcp_.endpoint != nullptr) {
      shared_domain_ = std::make_unique<SharedDomain>(near_->domain(), tcp_.endpoint->domain());
    }
  }

  const Capabilities& capabilities() const override { return capabilities_; }
  const Capabilities& CapabilitiesOf(GroupId id) const override {
    const Group& group = groups_.At(id);
    if (group.hosts.empty()) return group.endpoint->CapabilitiesOf(group.id);
    return (group.endpoint == mpi_.endpoint.get() ? mpi_ : tcp_).with_near;
  }
  const Capabilities& CapabilitiesTo(GroupId id, int peer) const override {
    const Route route = To({id, ChannelKind::kAll}, peer);
    return route.endpoint->CapabilitiesOf(route.channel.group);
  }
  int HostOf(GroupId id, int peer) const override {
    const Group& group = groups_.At(id);
    return group.hosts.empty() ? 0 : group.hosts[static_cast<size_t>(peer)];
  }
  MemoryDomain* domain() override {
    if (shared_domain_ != nullptr) return shared_domain_.get();
    if (near_ != nullptr) return near_->domain();
    return (tcp_.endpoint != nullptr ? tcp_ : mpi_).endpoint->domain();
  }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* id) override {
    struct Has {
      char near;
      char tcp;
    };
    const Has mine{near_ != nullptr, tcp_.endpoint != nullptr};
    std::vector<Has> all(static_cast<size_t>(bootstrap->size()));
    BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), all.data()));
    const auto all_have = [&](char Has::*what) {
      return std::all_of(all.begin(), all.end(), [&](const Has& has) { return has.*what; });
    };
    Group group;
    if (all_have(&Has::near)) {
      const Status status = near_->OpenGroup(bootstrap, &group.near_id);
      if (!status.ok() && status.code() != StatusCode::kUnavailable) return status;
    }
    if (group.near_id >= 0) FindHosts(bootstrap, &group);
    if (group.near_id >= 0 && group.hosts.empty()) {
      group.endpoint = near_.get();
      group.id = std::exchange(group.near_id, -1);
    } else {
      Far* far = all_have(&Has::tcp) ? &tcp_ : &mpi_;
      Status status = far->endpoint->OpenGroup(bootstrap, &group.id);
      if (far == &tcp_ && status.code() == StatusCode::kUnavailable) {  // on all ranks
        far = &mpi_;
        status = far->endpoint->OpenGroup(bootstrap, &group.id);
      }
      if (!status.ok()) {
        if (group.near_id >= 0) near_->CloseGroup(group.near_id);
        return status;
      }
      group.endpoint = far->endpoint.get();
      if (!far->is_used) far->is_used = true;  // a helper may be reading it
    }
    near_is_used_ |= group.near_id >= 0 || group.endpoint == near_.get();
    *id = groups_.Add(std::make_unique<Group>(std::move(group)));
    return Status();
  }
  void CloseGroup(GroupId id) override {
    const Group group = groups_.At(id);
    groups_.Erase(id);
    group.endpoint->CloseGroup(group.id);
    if (group.near_id >= 0) near_->CloseGroup(group.near_id);
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan piece,
                  Completion* completion) override {
    const Route route = To(channel, peer);
    return route.endpoint->PostSend(route.channel, peer, piece, completion);
  }
  bool SendsInPlace(const Channel& channel, int peer, const LayoutRange& range) const override {
    const Route route = To(channel, peer);
    return route.endpoint->SendsInPlace(route.channel, peer, range);
  }
  SentNow SendNow(const Channel& channel, int peer, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes) override {
    const Route route = To(channel, peer);
    return route.endpoint->SendNow(route.channel, peer, head, body, completion, kept_bytes);
  }
  Status PostReceive(const Channel& channel, int peer, ByteSpan landing,
                     Completion* completion) override {
    const Route route = To(channel, peer);
    return route.endpoint->PostReceive(route.channel, peer, landing, completion);
  }
  bool LandsInPlace(const Channel& channel, int peer, const LayoutRange& range) const override {
    const Route route = To(channel, peer);
    return route.endpoint->LandsInPlace(route.channel, peer, range);
  }
  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    const Route route = To(channel, peer);
    return route.endpoint->PostReceiveInPlace(route.channel, peer, range, completion);
  }
  EdgeAccess* edges() override {
    return near_ != nullptr && near_->edges() != nullptr ? this : nullptr;
  }
  OutEdge* EdgeTo(const Channel& channel, int peer) override {
    const Route route = To(channel, peer);
    EdgeAccess* const edges = route.endpoint->edges();
    return edges == nullptr ? nullptr : edges->EdgeTo(route.channel, peer);
  }
  InEdge* EdgeFrom(const Channel& channel, int peer) override {
    const Route route = To(channel, peer);
    EdgeAccess* const edges = route.endpoint->edges();
    return edges == nullptr ? nullptr : edges->EdgeFrom(route.channel, peer);
  }
  ConstByteSpan PieceIn(GroupId id, const Slot& slot) override {
    const Group& group = groups_.At(id);
    return near_->edges()->PieceIn(group.near_id >= 0 ? group.near_id : group.id, slot);
  }
  void ReleaseLease(const Lease& lease) override {
    if (lease.token != 0) near_->ReleaseLease(lease);
  }

  bool Progress() override {
    bool moved = near_ != nullptr && near_->Progress();
    if (tcp_.is_used && (!near_is_used_ || ++polls_ % kPollsPerFar == 0)) {
      moved |= tcp_.endpoint->Progress();
    }
    if (mpi_.is_used) moved |= mpi_.endpoint->Progress();
    return moved;
  }
  void Flush() override {
    if (tcp_.is_used) tcp_.endpoint->Flush();
  }
  // MPI is called by its owner only; and without TCP there is nothing to help.
  bool HelperMayDrive() const override {
    return tcp_.is_used && !mpi_.is_used && tcp_.endpoint->HelperMayDrive();
  }
  void Await(int microseconds) override { Sleeper().Await(microseconds); }
  void Pause(uint64_t idle_polls) override {
    if (near_is_used_ + tcp_.is_used + mpi_.is_used <= 1) {
      Sleeper().Pause(idle_polls);
    } else if (idle_polls < kPollsBeforeNap) {
      Endpoint::Pause(idle_polls);
    } else {
      // Nobody wakes a sleeper of one transport for a message of another.
      Sleeper().Await(kNapUs);
      if (idle_polls % kPollsPerLook == 0) {
        if (near_ != nullptr) near_->Nudge();
        if (tcp_.is_used) tcp_.endpoint->Nudge();
      }
    }
    // The rank that this one waits for may itself wait for a message that this one's program has
    // given to MPI, or for MPI to take in what comes here: with no request of its own, Progress
    // does not call it.
    if (idle_polls >= kPollsBeforeNudge && idle_polls % kPollsPerNudge == 0) {
      mpi_.endpoint->Nudge();
    }
  }
  uint64_t PollsAwake() const override {
    if (near_is_used_ + tcp_.is_used + mpi_.is_used <= 1) return Sleeper().PollsAwake();
    return Endpoint::PollsAwake();
  }

 private:
  struct Far {
    Far(std::unique_ptr<Endpoint> far, const Endpoint* near) : endpoint(std::move(far)) {
      if (endpoint == nullptr || near == nullptr) return;
      BRIGADE_CHECK(!endpoint->capabilities().lands_in_peer_memory);
      with_near = Both(near->capabilities(), endpoint->capabilities());
      name = std::string(near->capabilities().name) + "+" + endpoint->capabilities().name;
      with_near.name = name.c_str();
    }
    const std::unique_ptr<Endpoint> endpoint;
    bool is_used = false;
    Capabilities with_near;
    std::string name;
  };
  struct Group {
    Endpoint* endpoint = nullptr;  // for all peers but those of this host
    GroupId id = -1;               // there
    GroupId near_id = -1;          // for those, if there are others on this host and elsewhere
    std::vector<int> hosts;        // of the members; empty unless hosts make a difference
    int host = 0;                  // this rank's
  };
  struct Route {
    Endpoint* endpoint;
    Channel channel;
  };

  Route To(const Channel& channel, int peer) const {
    const Group& group = groups_.At(channel.group);
    if (group.near_id >= 0) {
      BRIGADE_CHECK_LT(static_cast<size_t>(peer), group.hosts.size());
      if (group.hosts[static_cast<size_t>(peer)] == group.host) {
        return {near_.get(), {group.near_id, channel.kind}};
      }
    }
    return {group.endpoint, {group.id, channel.kind}};
  }

  // Sets the hosts of the members, if there are several and one has several of them; a near group
  // that would have one member only is closed.
  void FindHosts(const Bootstrap* bootstrap, Group* group) {
    std::vector<int> members(static_cast<size_t>(bootstrap->size()));  // of each host
    for (int peer = 0; peer < bootstrap->size(); ++peer) {
      group->hosts.push_back(near_->HostOf(group->near_id, peer));
      ++members[static_cast<size_t>(group->hosts.back())];
    }
    group->host = group->hosts[static_cast<size_t>(bootstrap->rank())];
    const int most = *std::max_element(members.begin(), members.end());
    if (most < bootstrap->size() && members[static_cast<size_t>(group->host)] == 1) {
      near_->CloseGroup(std::exchange(group->near_id, -1));
    }
    if (most == bootstrap->size() || most == 1) group->hosts.clear();
  }

  // Of those in use, the one whose messages come last.
  Endpoint& Sleeper() const {
    if (tcp_.is_used) return *tcp_.endpoint;
    return mpi_.is_used || near_ == nullptr ? *mpi_.endpoint : *near_;
  }

  // Sockets are asked, which takes longer than a look at shared memory.
  static constexpr uint64_t kPollsPerFar = 4;
  static constexpr uint64_t kPollsBeforeNudge = 64;
  static constexpr uint64_t kPollsPerNudge = 8;
  static constexpr uint64_t kPollsBeforeNap = 20000;  // some 10 ms of yielding
  static constexpr uint64_t kPollsPerLook = 128;
  static constexpr int kNapUs = 50;

  const std::unique_ptr<Endpoint> near_;  // its memory is the far ones', too: destroyed last
  Far mpi_;
  Far tcp_;
  std::unique_ptr<SharedDomain> shared_domain_;
  Capabilities capabilities_;
  GroupTable<Group> groups_;
  bool near_is_used_ = false;
  uint64_t polls_ = 0;
};

}  // namespace

std::unique_ptr<Endpoint> MakeAutoEndpoint(std::unique_ptr<Endpoint> near,
                                           std::unique_ptr<Endpoint> tcp,
                                           std::unique_ptr<Endpoint> mpi) {
  return std::make_unique<AutoEndpoint>(std::move(near), std::move(tcp), std::move(mpi));
}

}  // namespace brigade

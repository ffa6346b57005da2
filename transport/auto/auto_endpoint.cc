#include "transport/auto/auto_endpoint.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "membuf/check.h"
#include "transport/auto/shared_domain.h"
#include "transport/core/group_table.h"
#include "transport/core/wait_policy.h"
#include "transport/edge/edge_access.h"
#include "transport/rules.h"

namespace brigade {
namespace {

constexpr WaitPolicy::Patience kPatience{rules::kSpins, std::chrono::microseconds(0),
                                         rules::kAutoPollsBeforeNap - rules::kSpins};

// The guarantees that edges of both transports meet. The tuning is that of the far transport, which
// is slower.
Capabilities Both(const Capabilities& near, const Capabilities& far) {
  Capabilities both = far;
  both.lands_in_peer_memory |= near.lands_in_peer_memory;
  both.needs_receive_buffer |= near.needs_receive_buffer;
  both.needs_registered_memory |= near.needs_registered_memory;
  both.progresses_alone &= near.progresses_alone;
  both.calls_mpi |= near.calls_mpi;
  both.reports_losses &= near.reports_losses;
  both.kept_receive_buffer_bytes =
      std::min(near.kept_receive_buffer_bytes, far.kept_receive_buffer_bytes);
  both.max_inline_bytes = std::min(near.max_inline_bytes, far.max_inline_bytes);
  both.max_segment_bytes = std::min(near.max_segment_bytes, far.max_segment_bytes);
  both.eager_segment_bytes = std::min(near.eager_segment_bytes, far.eager_segment_bytes);
  both.tuning.lazy_credit_bytes =
      std::min(near.tuning.lazy_credit_bytes, far.tuning.lazy_credit_bytes);
  return both;
}

// The bootstrap of a group as one of the transports sees it, which has an id of its own for the
// parent.
class TransportBootstrap : public Bootstrap {
 public:
  using FindParent = std::function<std::optional<Parent>()>;
  TransportBootstrap(Bootstrap* target, FindParent find_parent)
      : target_(target), find_parent_(std::move(find_parent)) {}

  int rank() const override { return target_->rank(); }
  int size() const override { return target_->size(); }
  std::optional<Parent> parent() const override { return find_parent_(); }
  Status AllGather(const void* mine, size_t bytes, void* all) override {
    return target_->AllGather(mine, bytes, all);
  }
  Status FindDifference(const void* mine, size_t bytes, int* rank, void* first,
                        void* other) override {
    return target_->FindDifference(mine, bytes, rank, first, other);
  }

 private:
  Bootstrap* const target_;
  const FindParent find_parent_;
};

class AutoEndpoint : public Endpoint, private EdgeAccess, private Polling {
 public:
  explicit AutoEndpoint(std::vector<AutoTransport> transports)
      : capabilities_(transports.back().endpoint->capabilities()) {
    std::vector<MemoryDomain*> domains;
    for (AutoTransport& transport : transports) {
      if (transport.endpoint == nullptr) continue;
      // Sizes that hold for all transports, for calls before a group is open.
      const Capabilities& has = transport.endpoint->capabilities();
      capabilities_.max_segment_bytes =
          std::min(capabilities_.max_segment_bytes, has.max_segment_bytes);
      capabilities_.tuning.preferred_segment_bytes = std::max(
          capabilities_.tuning.preferred_segment_bytes, has.tuning.preferred_segment_bytes);
      capabilities_.needs_registered_memory |= has.needs_registered_memory;
      domains.push_back(transport.endpoint->domain());
    }
    capabilities_.name = "auto";
    for (AutoTransport& transport : transports) {
      if (transport.reach != AutoTransport::Reach::kHost) continue;
      BRIGADE_CHECK(near_ == nullptr);  // leases with a token are its
      near_ = std::move(transport.endpoint);
      near_is_missed_ = std::move(transport.is_missed);
    }
    for (AutoTransport& transport : transports) {
      if (transport.reach == AutoTransport::Reach::kEverywhere) {
        fars_.emplace_back(std::move(transport), near_.get());
      }
    }
    MemoryDomain* const first = domains.front();
    domains.erase(domains.begin());
    domain_ = std::make_unique<SharedDomain>(first, std::move(domains));
    FindSleeper();
  }

  const Capabilities& capabilities() const override { return capabilities_; }
  const Capabilities& CapabilitiesOf(GroupId id) const override {
    const Group& group = groups_.At(id);
    return group.hosts.empty() ? group.endpoint->CapabilitiesOf(group.id) : *group.mixed;
  }
  const Capabilities& CapabilitiesTo(GroupId id, int peer) const override {
    const Route route = To({id, ChannelKind::kAll}, peer);
    return route.endpoint->CapabilitiesOf(route.channel.group);
  }
  int HostOf(GroupId id, int peer) const override {
    const Group& group = groups_.At(id);
    return group.hosts.empty() ? 0 : group.hosts[static_cast<size_t>(peer)];
  }
  bool IsCrowded(GroupId id) const override {
    const Group& group = groups_.At(id);
    return group.near_id >= 0 ? near_->IsCrowded(group.near_id)
                              : group.endpoint->IsCrowded(group.id);
  }
  MemoryDomain* domain() override { return domain_.get(); }
  void SetOverflowBudget(const std::shared_ptr<OverflowBudget>& budget) override {
    if (near_ != nullptr) near_->SetOverflowBudget(budget);
    for (Far& far : fars_) {
      if (far.endpoint != nullptr) far.endpoint->SetOverflowBudget(budget);
    }
  }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* id) override {
    std::vector<char> near = {near_ != nullptr};
    BRIGADE_RETURN_IF_ERROR(Gather(bootstrap, &near));
    auto group = std::make_unique<Group>();
    if (std::find(near.begin(), near.end(), 0) == near.end()) {
      BRIGADE_RETURN_IF_ERROR(OpenNear(bootstrap, group.get()));
    }
    if (group->near_id >= 0 && group->hosts.empty()) {
      group->endpoint = near_.get();
      group->id = std::exchange(group->near_id, -1);
    } else {
      const Status status = OpenFar(bootstrap, group.get());
      if (!status.ok()) {
        if (group->near_id >= 0) near_->CloseGroup(group->near_id);
        return status;
      }
    }
    if (group->near_id >= 0 || group->endpoint == near_.get()) near_is_used_ = true;
    FindSleeper();
    *id = groups_.Add(std::move(group));
    CountCrowded(IsCrowded(*id) ? 1 : 0);
    return Status();
  }
  void CloseGroup(GroupId id) override {
    CountCrowded(IsCrowded(id) ? -1 : 0);
    const Group group = groups_.At(id);
    groups_.Erase(id);
    group.endpoint->CloseGroup(group.id);
    if (group.near_id >= 0) near_->CloseGroup(group.near_id);
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    const Route route = To(channel, peer);
    return route.endpoint->PostSend(route.channel, peer, segment, completion);
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
  Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                     Completion* completion) override {
    const Route route = To(channel, peer);
    return route.endpoint->PostReceive(route.channel, peer, receive_buffer, completion);
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
  size_t PeekUnexpected(const Channel& channel, int peer, ByteSpan head) override {
    const Route route = To(channel, peer);
    return route.endpoint->PeekUnexpected(route.channel, peer, head);
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
  bool PostBuffer(const Channel& channel, int peer, const StridedLayout& layout,
                  std::byte* base) override {
    const Route route = To(channel, peer);
    EdgeAccess* const edges = route.endpoint->edges();
    return edges != nullptr && edges->PostBuffer(route.channel, peer, layout, base);
  }
  ConstByteSpan SegmentIn(GroupId id, const Slot& slot) override {
    const Group& group = groups_.At(id);
    return near_->edges()->SegmentIn(group.near_id >= 0 ? group.near_id : group.id, slot);
  }
  void ReleaseLease(const Lease& lease) override {
    if (lease.token != 0) near_->ReleaseLease(lease);
  }

  // Members keep their numbers on both.
  void SetControlHandler(GroupId id, ControlHandler* handler) override {
    const Group& group = groups_.At(id);
    group.endpoint->SetControlHandler(group.id, handler);
    if (group.near_id >= 0) near_->SetControlHandler(group.near_id, handler);
  }
  Status SendControl(GroupId id, int peer, ConstByteSpan message, Urgency urgency) override {
    const Route route = To({id, ChannelKind::kAll}, peer);
    return route.endpoint->SendControl(route.channel.group, peer, message, urgency);
  }

  bool HoldsControl() const override {
    const auto holds = [](const Far& far) { return far.is_used && far.endpoint->HoldsControl(); };
    return (near_ != nullptr && near_->HoldsControl()) ||
           std::any_of(fars_.begin(), fars_.end(), holds);
  }

  bool Progress() override {
    bool moved = near_ != nullptr && near_->Progress();
    ++polls_;
    for (Far& far : fars_) {
      if (!far.is_used || (near_is_used_ && polls_ % far.polls_per_look != 0)) continue;
      moved |= far.endpoint->Progress();
    }
    return moved;
  }
  size_t SendsTaken() override { return near_ != nullptr ? near_->SendsTaken() : 0; }
  bool AllowsProgressThread() const override {
    const auto forbids = [](const Far& far) {
      return far.is_used && !far.endpoint->AllowsProgressThread();
    };
    return CountUsed() > 0 && std::none_of(fars_.begin(), fars_.end(), forbids);
  }
  Polling* polling() override { return this; }
  void Flush() override {
    for (Far& far : fars_) {
      if (far.is_used) far.endpoint->polling()->Flush();
    }
  }
  // Nobody wakes a sleeper of one transport for a message of another.
  void Await(int microseconds) override {
    sleeper()->Await(uses_several_ ? std::min(microseconds, rules::kAutoLongestAwaitUs)
                                   : microseconds);
  }
  void Pause(uint64_t idle_polls) override {
    if (!uses_several_) {
      sleeper()->Pause(idle_polls);
    } else if (waiting_.Pause(idle_polls) == WaitPolicy::Step::kSleep) {
      sleeper()->Await(rules::kAutoNapUs);
      if (idle_polls % rules::kAutoPollsPerLook == 0) Nudge();
    }
    // The rank that this one waits for may itself wait for a message that this one's program has
    // given to the last transport (MPI), or for that to take in what comes here: with no request of
    // its own, Progress does not call it.
    if (idle_polls >= rules::kAutoPollsBeforeNudge && idle_polls % rules::kAutoPollsPerNudge == 0) {
      fars_.back().endpoint->polling()->Nudge();
    }
  }
  void Nudge() override {
    if (near_ != nullptr) near_->polling()->Nudge();
    for (Far& far : fars_) {
      if (far.is_used) far.endpoint->polling()->Nudge();
    }
  }
  uint64_t PollsAwake() const override {
    return uses_several_ ? std::min(Polling::PollsAwake(), PollsBeforeSleep())
                         : sleeper()->PollsAwake();
  }
  uint64_t PollsBeforeSleep() const override {
    if (!uses_several_) return sleeper()->PollsBeforeSleep();
    // Fewer where ranks share processors.
    const uint64_t most = near_ == nullptr ? UINT64_MAX : near_->polling()->PollsBeforeSleep();
    return std::min(waiting_.PollsBeforeSleep(), most);
  }

 private:
  struct Far {
    Far(AutoTransport transport, const Endpoint* near)
        : endpoint(std::move(transport.endpoint)),
          polls_per_look(static_cast<uint64_t>(transport.polls_per_look)),
          is_wanted(std::move(transport.is_wanted)),
          is_missed(std::move(transport.is_missed)) {
      if (is_wanted == nullptr) is_wanted = [] { return true; };
      if (endpoint == nullptr || near == nullptr) return;
      BRIGADE_CHECK(!endpoint->capabilities().lands_in_peer_memory);
      with_near = Both(near->capabilities(), endpoint->capabilities());
      name = std::string(near->capabilities().name) + "+" + endpoint->capabilities().name;
      with_near.name = name.c_str();
    }
    std::unique_ptr<Endpoint> endpoint;
    uint64_t polls_per_look;
    std::function<bool()> is_wanted;
    std::function<void(const Status& why)> is_missed;
    bool is_used = false;
    Capabilities with_near;
    std::string name;
  };
  struct Group {
    Endpoint* endpoint = nullptr;         // for all peers but those of this host
    GroupId id = -1;                      // there
    const Capabilities* mixed = nullptr;  // of both, if there are both
    GroupId near_id = -1;    // for those, if there are others on this host and elsewhere
    std::vector<int> hosts;  // of the members; empty unless hosts make a difference
    int host = 0;            // this rank's
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

  static bool IsUsed(const Far& far) { return far.is_used; }

  // Replaces this rank's value for each transport by those of all members.
  static Status Gather(Bootstrap* bootstrap, std::vector<char>* of_members) {
    const std::vector<char> mine = *of_members;
    of_members->resize(mine.size() * static_cast<size_t>(bootstrap->size()));
    return bootstrap->AllGather(mine.data(), mine.size(), of_members->data());
  }

  // Opens a group on one of the transports. A transport that does not carry the parent gets none.
  Status OpenOn(Endpoint* transport, Bootstrap* bootstrap, GroupId* id) {
    // Transports that need their own kind of bootstrap have no parent.
    if (!bootstrap->parent().has_value()) return transport->OpenGroup(bootstrap, id);
    TransportBootstrap there(bootstrap, [&] {
      std::optional<Bootstrap::Parent> parent = bootstrap->parent();
      if (!parent) return parent;
      const Group& group = groups_.At(parent->group);
      if (group.endpoint == transport) {
        parent->group = group.id;
      } else if (near_.get() == transport && group.near_id >= 0) {
        parent->group = group.near_id;
      } else {
        parent.reset();
      }
      return parent;
    });
    return transport->OpenGroup(&there, id);
  }

  // Opens the near group, if there can be one.
  Status OpenNear(Bootstrap* bootstrap, Group* group) {
    const Status status = OpenOn(near_.get(), bootstrap, &group->near_id);
    if (status.ok()) FindHosts(bootstrap, group);
    if (status.code() != StatusCode::kUnavailable) return status;
    if (near_is_missed_ != nullptr) near_is_missed_(status);
    return Status();
  }

  // Opens the far group, on the first of those that all members have and that works: it does on all
  // of them, or on none.
  Status OpenFar(Bootstrap* bootstrap, Group* group) {
    enum : char { kUnwanted, kHas, kMisses };
    std::vector<char> of_members;
    for (const Far& far : fars_) {
      of_members.push_back(!far.is_wanted() ? kUnwanted : far.endpoint != nullptr ? kHas : kMisses);
    }
    BRIGADE_RETURN_IF_ERROR(Gather(bootstrap, &of_members));
    // Of the members of a host that lack it, the first one reports it; if hosts are not known, all.
    const auto state_of = [&](int member, size_t i) {
      return of_members[member * fars_.size() + i];
    };
    std::vector<char> have(fars_.size(), 1);
    for (size_t i = 0; i < fars_.size(); ++i) {
      bool is_first = state_of(bootstrap->rank(), i) == kMisses;
      for (int peer = 0; peer < bootstrap->size(); ++peer) {
        have[i] &= state_of(peer, i) == kHas;
        const bool is_near = !group->hosts.empty() && group->hosts[peer] == group->host;
        if (is_near && peer < bootstrap->rank() && state_of(peer, i) == kMisses) is_first = false;
      }
      if (is_first && fars_[i].is_missed != nullptr) fars_[i].is_missed(Status());
    }
    const Far* preferred = nullptr;  // of those that do not work
    Status failure;                  // its
    for (size_t i = 0; i < fars_.size(); ++i) {
      if (!have[i]) continue;
      Far& far = fars_[i];
      const Status status = OpenOn(far.endpoint.get(), bootstrap, &group->id);
      if (status.code() == StatusCode::kUnavailable) {
        if (preferred == nullptr) {
          preferred = &far;
          failure = status;
        }
        continue;
      }
      BRIGADE_RETURN_IF_ERROR(status);
      if (preferred != nullptr && preferred->is_missed != nullptr) preferred->is_missed(failure);
      group->endpoint = far.endpoint.get();
      group->mixed = &far.with_near;
      far.is_used = true;
      return Status();
    }
    return failure;
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

  // So many more groups are open whose ranks on this host outnumber its processors.
  void CountCrowded(int groups) {
    crowded_groups_ += groups;
    waiting_.SetCrowded(crowded_groups_ > 0);
  }

  int CountUsed() const {
    return near_is_used_ + static_cast<int>(std::count_if(fars_.begin(), fars_.end(), IsUsed));
  }

  // The transport whose messages come last, of those in use. Each poll of a wait needs it, so it is
  // found only when a group opens.
  Polling* sleeper() const { return sleeper_; }
  void FindSleeper() {
    const auto far = std::find_if(fars_.begin(), fars_.end(), IsUsed);
    const auto& near = near_ != nullptr ? near_ : fars_.back().endpoint;
    sleeper_ = (far != fars_.end() ? far->endpoint : near)->polling();
    uses_several_ = CountUsed() > 1;
  }

  // Null: there is none. Its memory is the far ones', too: destroyed last.
  std::unique_ptr<Endpoint> near_;
  std::function<void(const Status& why)> near_is_missed_;
  std::deque<Far> fars_;  // their names stay where they are
  std::unique_ptr<SharedDomain> domain_;
  Capabilities capabilities_;
  GroupTable<Group> groups_;
  bool near_is_used_ = false;
  // The progress thread reads them where it sleeps.
  std::atomic<Polling*> sleeper_{nullptr};
  std::atomic<bool> uses_several_{false};
  // While several transports are in use; the last one polls MPI when it is nudged.
  WaitPolicy waiting_{kPatience, kPatience, /*polls_mpi=*/false};
  int crowded_groups_ = 0;  // open
  uint64_t polls_ = 0;
};

}  // namespace

std::unique_ptr<Endpoint> MakeAutoEndpoint(std::vector<AutoTransport> transports) {
  return std::make_unique<AutoEndpoint>(std::move(transports));
}

}  // namespace brigade

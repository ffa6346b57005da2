#include "transport/auto_endpoint.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "membuf/check.h"

namespace brigade {
namespace {

class AutoEndpoint : public Endpoint {
 public:
  AutoEndpoint(std::unique_ptr<Endpoint> near, std::unique_ptr<Endpoint> far)
      : far_(std::move(far)), near_(std::move(near)), capabilities_(far_->capabilities()) {
    capabilities_.name = "auto";
    if (near_ == nullptr) return;
    // What may be asked before a group is open: sizes, which must do for both.
    const Capabilities& near_has = near_->capabilities();
    capabilities_.max_piece_bytes =
        std::min(capabilities_.max_piece_bytes, near_has.max_piece_bytes);
    capabilities_.preferred_piece_bytes =
        std::max(capabilities_.preferred_piece_bytes, near_has.preferred_piece_bytes);
    capabilities_.needs_registered_memory = near_has.needs_registered_memory;
  }

  const Capabilities& capabilities() const override { return capabilities_; }
  const Capabilities& CapabilitiesOf(GroupId id) const override {
    const Group& group = groups_[static_cast<size_t>(id)];
    return group.endpoint->CapabilitiesOf(group.id);
  }
  MemoryDomain* domain() override { return (near_ != nullptr ? near_ : far_)->domain(); }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* id) override {
    const char mine = near_ != nullptr;
    std::vector<char> all(static_cast<size_t>(bootstrap->size()));
    BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), all.data()));
    Group group;
    Status status(StatusCode::kUnavailable, "not on all ranks");
    if (std::find(all.begin(), all.end(), 0) == all.end()) {
      group.endpoint = near_.get();
      status = near_->OpenGroup(bootstrap, &group.id);
    }
    if (status.code() == StatusCode::kUnavailable) {
      group.endpoint = far_.get();
      status = far_->OpenGroup(bootstrap, &group.id);
      far_is_used_ = true;
    }
    BRIGADE_RETURN_IF_ERROR(status);
    const auto unused = std::find_if(groups_.begin(), groups_.end(),
                                     [](const Group& g) { return g.endpoint == nullptr; });
    *id = static_cast<GroupId>(unused - groups_.begin());
    if (unused == groups_.end()) {
      groups_.push_back(group);
    } else {
      *unused = group;
    }
    return Status();
  }
  void CloseGroup(GroupId id) override {
    Group& group = groups_[static_cast<size_t>(id)];
    std::exchange(group.endpoint, nullptr)->CloseGroup(group.id);
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan piece,
                  Completion* completion) override {
    return Of(channel)->PostSend(Theirs(channel), peer, piece, completion);
  }
  Status PostReceive(const Channel& channel, int peer, ByteSpan landing,
                     Completion* completion) override {
    return Of(channel)->PostReceive(Theirs(channel), peer, landing, completion);
  }
  bool LandsInPlace(const Channel& channel, int peer, const LayoutRange& range) const override {
    return Of(channel)->LandsInPlace(Theirs(channel), peer, range);
  }
  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    return Of(channel)->PostReceiveInPlace(Theirs(channel), peer, range, completion);
  }
  OutEdge* LineTo(const Channel& channel, int peer) override {
    return Of(channel)->LineTo(Theirs(channel), peer);
  }
  InEdge* LineFrom(const Channel& channel, int peer) override {
    return Of(channel)->LineFrom(Theirs(channel), peer);
  }
  ConstByteSpan PieceIn(GroupId id, const Slot& slot) override {
    const Group& group = groups_[static_cast<size_t>(id)];
    return group.endpoint->PieceIn(group.id, slot);
  }
  void ReleaseLease(const Lease& lease) override {
    if (lease.token != 0) near_->ReleaseLease(lease);
  }

  bool Progress() override {
    bool moved = near_ != nullptr && near_->Progress();
    if (far_is_used_) moved |= far_->Progress();
    return moved;
  }
  void Pause(uint64_t idle_polls) override {
    // Nobody would wake a sleeper for a message of the far one.
    if (far_is_used_ || near_ == nullptr) return far_->Pause(idle_polls);
    near_->Pause(idle_polls);
    // The rank that this one waits for may itself wait for a message that this one's program has
    // given to the library under the far one.
    if (idle_polls >= kPollsBeforeNudge && idle_polls % kPollsPerNudge == 0) far_->Nudge();
  }
  uint64_t PollsAwake() const override {
    return (far_is_used_ || near_ == nullptr ? far_ : near_)->PollsAwake();
  }

 private:
  struct Group {
    Endpoint* endpoint = nullptr;  // null: of no group
    GroupId id = -1;               // there
  };

  Endpoint* Of(const Channel& channel) const {
    BRIGADE_CHECK_LT(static_cast<size_t>(channel.group), groups_.size());
    Endpoint* const endpoint = groups_[static_cast<size_t>(channel.group)].endpoint;
    BRIGADE_CHECK(endpoint != nullptr);
    return endpoint;
  }
  Channel Theirs(const Channel& channel) const {
    return {groups_[static_cast<size_t>(channel.group)].id, channel.kind};
  }

  static constexpr uint64_t kPollsBeforeNudge = 64;
  static constexpr uint64_t kPollsPerNudge = 8;

  const std::unique_ptr<Endpoint> far_;
  const std::unique_ptr<Endpoint> near_;  // its memory may be the far one's, too: destroyed first
  Capabilities capabilities_;
  std::vector<Group> groups_;
  bool far_is_used_ = false;
};

}  // namespace

std::unique_ptr<Endpoint> MakeAutoEndpoint(std::unique_ptr<Endpoint> near,
                                           std::unique_ptr<Endpoint> far) {
  return std::make_unique<AutoEndpoint>(std::move(near), std::move(far));
}

}  // namespace brigade

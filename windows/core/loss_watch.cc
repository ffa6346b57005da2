#include "windows/core/loss_watch.h"

#include <string>

namespace brigade {
namespace {

constexpr ChannelKind kUnused = ChannelKind::kRow;

}  // namespace

void LossWatch::Begin(Endpoint* endpoint, const GroupState& group) {
  if (watches_) return;
  watches_ = true;
  receives_.resize(group.members());
  for (int peer = static_cast<int>(receives_.size()) - 1; peer >= 0; --peer) {
    Receive& receive = receives_[static_cast<size_t>(peer)];
    if (receive.watch != nullptr || peer == group.rank ||
        !endpoint->CapabilitiesTo(group.id, peer).reports_losses)
      continue;
    receive.watch = this;
    receive.peer = peer;
    const Status posted = endpoint->PostReceive({group.id, kUnused}, peer, ByteSpan(), &receive);
    if (posted.ok()) continue;
    if (posted.code() == StatusCode::kNoResource) {  // the next look tries again
      receive.watch = nullptr;
      watches_ = false;
    } else if (loss_.ok()) {
      loss_ = posted;
    }
  }
}

void LossWatch::OnEnd(Completion* completion) {
  auto* const receive = static_cast<Receive*>(completion);
  if (receive->status.ok() || !receive->watch->loss_.ok()) return;
  receive->watch->loss_ =
      receive->status.WithContext("rank " + std::to_string(receive->peer) + " of a window");
}

}  // namespace brigade

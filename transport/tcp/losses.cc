#include "transport/tcp/losses.h"

#include <algorithm>
#include <string>
#include <utility>

#include "membuf/status.h"
#include "transport/tcp/io/tcp_socket.h"

namespace brigade::tcp {
namespace {

using Clock = std::chrono::steady_clock;

// Longest time between the end of one of two connections and a shutdown frame on the other.
constexpr std::chrono::seconds kShutdownTime(5);
// Time between two checks for silent peers.
constexpr std::chrono::seconds kLookTime(1);
// A rank without checks for this time has not waited: it reads arrived data first.
constexpr std::chrono::seconds kAwayTime(3);

}  // namespace

void Losses::HandleBroken() {
  for (Link* link : std::exchange(broken_, {})) {
    links_->Admit();  // the peer's other connection may have ended before it was seen, too
    links_->ReplaceUnestablished(link);
    LoseIfBroken(link);
  }
}

// A peer is lost when all its connections have ended, or one after its shutdown frame; until then
// the other may still bring something. One that breaks a rule is lost at once.
void Losses::LoseIfBroken(Link* link) {
  const Status why = link->WhyBroken();
  if (why.ok()) return;  // lost meanwhile, or replaced
  const bool is_gone = why.code() == StatusCode::kPeerLost;
  if (is_gone && link->shutdown_received()) {
    links_->Lose(link, Status(StatusCode::kPeerLost, "it has left"));
  } else if (!is_gone || !link->HasLiveConnection()) {
    links_->Lose(link, why);
  } else if (link->out()->broken()) {
    link->BecomeHalfBroken(Clock::now());
  }
}

void Losses::LoseUnanswered() {
  for (const auto& [id, link] : links_->all()) {
    const auto& connections = link->connections();
    const bool unanswered = std::any_of(
        connections.begin(), connections.end(),
        [&](const auto& connection) { return IsUnanswered(connection->socket(), silence_); });
    if (unanswered) {
      links_->Lose(link.get(),
                   Status(StatusCode::kPeerLost, "its system has not answered for " +
                                                     std::to_string(silence_.count()) + " s"));
    }
  }
}

// A peer that has closed the connection on which this rank sends, and stays alive on the other one
// without a shutdown frame, is lost: messages to it can never arrive.
void Losses::LoseHalfBroken() {
  for (const auto& [id, link] : links_->all()) {
    if (link->state() == Link::State::kHalfBroken &&
        Clock::now() - link->half_broken_since() > kShutdownTime) {
      links_->Lose(link.get(), Status(link->out()->failure()));
    }
  }
}

void Losses::Look(const Groups& groups) {
  const auto now = Clock::now();
  if (now - last_look_ < kLookTime) return;
  const bool was_away = now - last_look_ > kAwayTime;
  last_look_ = now;
  if (was_away) return;
  LoseUnanswered();
  LoseHalfBroken();
  for (Link* link : groups.IdleLinksAwaited()) links_->Connect(link);
}

}  // namespace brigade::tcp

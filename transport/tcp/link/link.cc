#include "transport/tcp/link/link.h"

#include <algorithm>
#include <utility>

#include "membuf/check.h"

namespace brigade::tcp {
namespace {

using State = Link::State;

bool IsLegal(State from, State to) {
  switch (from) {
    case State::kIdle:
      return to == State::kOpen || to == State::kUnreached || to == State::kLost;
    case State::kOpen:
      return to == State::kUnreached || to == State::kHalfBroken || to == State::kLost;
    case State::kUnreached:
      return to == State::kOpen || to == State::kHalfBroken || to == State::kLost;
    case State::kHalfBroken:  // another of several connections may end, too
      return to == State::kHalfBroken || to == State::kLost;
    case State::kLost:
      return false;
  }
  return false;
}

}  // namespace

void Link::Become(State next) {
  BRIGADE_CHECK(IsLegal(state_, next));
  state_ = next;
}

std::string Link::NameAs(int rank) const {
  return "rank " + std::to_string(rank) + " of the group (" + address_.ToString() + ")";
}

void Link::Add(std::unique_ptr<Connection> connection) {
  BRIGADE_CHECK(!lost());
  if (state_ == State::kIdle) Become(State::kOpen);
  connections_.push_back(std::move(connection));
  if (out_ == nullptr) out_ = connections_.back().get();
}

bool Link::RemoveUnestablished(SocketIo* io, Status* why) {
  for (auto at = connections_.begin(); at != connections_.end();) {
    Connection* const connection = at->get();
    if (connection->failure().code() != StatusCode::kUnavailable) {
      ++at;
      continue;
    }
    *why = connection->failure();
    if (out_ == connection) out_ = nullptr;
    io->Remove(connection);
    at = connections_.erase(at);
  }
  if (out_ != nullptr || why->ok()) return false;
  const auto live = std::find_if(connections_.begin(), connections_.end(),
                                 [](const auto& connection) { return !connection->broken(); });
  if (live != connections_.end()) out_ = live->get();
  return true;
}

Status Link::WhyBroken() const {
  Status why;
  for (const auto& connection : connections_) {
    if (connection->broken() && (why.ok() || why.code() == StatusCode::kPeerLost)) {
      why = connection->failure();
    }
  }
  return why;
}

bool Link::HasLiveConnection() const {
  return std::any_of(connections_.begin(), connections_.end(),
                     [](const auto& connection) { return !connection->broken(); });
}

void Link::BecomeUnreached(Time now) {
  BRIGADE_CHECK(out_ == nullptr);
  Become(State::kUnreached);
  since_ = now;
}

void Link::BecomeReached() {
  BRIGADE_CHECK(state_ == State::kUnreached && out_ != nullptr && out_->established());
  Become(State::kOpen);
}

void Link::BecomeHalfBroken(Time now) {
  BRIGADE_CHECK(out_ != nullptr && out_->broken());
  Become(State::kHalfBroken);
  since_ = now;
}

void Link::BecomeLost(const Status& why, SocketIo* io) {
  BRIGADE_CHECK(!why.ok());
  Become(State::kLost);
  why_lost_ = why;
  outbox_.Clear();
  out_ = nullptr;
  for (const auto& connection : connections_) io->Remove(connection.get());
}

void Link::DestroyConnections() {
  BRIGADE_CHECK(lost());
  for (const auto& connection : connections_) connection->FailUnsent(why_lost_);
  connections_.clear();
}

}  // namespace brigade::tcp

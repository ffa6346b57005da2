#include "transport/bootstrap/rank_gathering.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

namespace brigade {
namespace {

using Clock = std::chrono::steady_clock;

// For all of a handshake. A rank whose handshake takes longer connects again.
constexpr std::chrono::seconds kGuestTime(10);
// Connections that may be guests beyond the ranks that have not come.
constexpr size_t kMoreGuests = 64;
// Before a retry where the system has no descriptor for a connection.
constexpr std::chrono::milliseconds kRest(20);
// Named in a message.
constexpr int kMostNamed = 8;
// To tell the others of a failure.
constexpr std::chrono::milliseconds kTellTime(200);

}  // namespace

RankGathering::RankGathering(const JobIdentity& job, std::vector<StreamSocket> listeners,
                             Deadline deadline, const std::string& limit)
    : job_(job),
      listeners_(std::move(listeners)),
      deadline_(deadline),
      limit_(limit),
      ranks_(static_cast<size_t>(job.size)),
      from_(static_cast<size_t>(job.size)),
      missing_(job.size - 1) {}

Status RankGathering::Run(std::vector<StreamSocket>* ranks) {
  Status status = RunUntilAllHaveCome();
  const Deadline told = Clock::now() + kTellTime;
  for (const StreamSocket& socket : ranks_) {
    if (socket.fd() < 0) continue;
    const BootstrapFrame begin;
    if (!status.ok()) {
      SendFailure(socket, status, told);
    } else {
      // A rank that is lost now fails the first gather.
      (void)socket.Send(&begin, sizeof(begin), told);
    }
  }
  if (status.ok()) *ranks = std::move(ranks_);
  return status;
}

Status RankGathering::RunUntilAllHaveCome() {
  while (missing_ > 0) {
    if (MillisecondsUntil(deadline_) == 0) return Missing();
    std::vector<pollfd> polled;
    Deadline next = deadline_;
    for (const StreamSocket& listener : listeners_) polled.push_back({listener.fd(), POLLIN, 0});
    for (const StreamSocket& rank : ranks_) polled.push_back({rank.fd(), POLLIN, 0});  // -1: none
    for (const Guest& guest : guests_) {
      polled.push_back({guest.socket.fd(), POLLIN, 0});
      next = std::min(next, guest.deadline);
    }
    if (poll(polled.data(), polled.size(), MillisecondsUntil(next)) < 0) {
      if (errno == EINTR) continue;
      return Status(StatusCode::kUnavailable, std::string("rank 0: poll: ") + std::strerror(errno));
    }
    const pollfd* of_ranks = polled.data() + listeners_.size();
    for (int rank = 1; rank < job_.size; ++rank) {
      if (of_ranks[rank].revents == 0) continue;
      return Status(StatusCode::kPeerLost,
                    "rank " + std::to_string(rank) + " of " + std::to_string(job_.size) + " (" +
                        from_[static_cast<size_t>(rank)] + ") has ended during the bootstrap");
    }
    const pollfd* of_guest = of_ranks + job_.size;
    for (auto guest = guests_.begin(); guest != guests_.end(); ++of_guest) {
      bool stays = true;
      if (of_guest->revents != 0) {
        BRIGADE_RETURN_IF_ERROR(Serve(&*guest, &stays));
      } else if (MillisecondsUntil(guest->deadline) == 0) {
        // A rank that is closed without a reason connects again.
        refused_ = guest->from + ": its handshake has taken too long";
        stays = false;
      }
      guest = stays ? std::next(guest) : guests_.erase(guest);
    }
    for (size_t i = 0; i < listeners_.size(); ++i) {
      if (polled[i].revents != 0) Accept(listeners_[i]);
    }
  }
  return Status();
}

void RankGathering::Accept(const StreamSocket& listener) {
  SystemAddress from;
  from.bytes = sizeof(from.address);
  StreamSocket socket(accept4(listener.fd(), reinterpret_cast<sockaddr*>(&from.address),
                              &from.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.fd() < 0) {
    if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED) return;
    // The connection waits in the system until a descriptor or memory is free.
    refused_ = std::string("accept: ") + std::strerror(errno);
    std::this_thread::sleep_for(kRest);
    return;
  }
  if (guests_.size() >= static_cast<size_t>(missing_) + kMoreGuests) {
    // A stranger that only connects takes no place of a rank that has said hello.
    const auto silent = std::find_if(guests_.begin(), guests_.end(),
                                     [](const Guest& guest) { return guest.got < sizeof(Hello); });
    guests_.erase(silent != guests_.end() ? silent : guests_.begin());
  }
  Guest guest;
  guest.socket = std::move(socket);
  guest.from = from.ToString();
  guest.deadline = Clock::now() + kGuestTime;
  guests_.push_back(std::move(guest));
}

Status RankGathering::Serve(Guest* guest, bool* stays) {
  const bool greets = guest->got < sizeof(Hello);
  const size_t before = greets ? 0 : sizeof(Hello);
  const size_t whole = greets ? sizeof(Hello) : sizeof(Proof);
  auto* const into = greets ? reinterpret_cast<char*>(&guest->hello)
                            : reinterpret_cast<char*>(guest->proof.data());
  size_t got = 0;
  const Status received =
      guest->socket.ReceiveSome(into + (guest->got - before), whole - (guest->got - before), &got);
  guest->got += got;
  *stays = received.ok();
  if (!received.ok()) {
    const std::string claim =
        greets ? "" : ", as rank " + std::to_string(guest->hello.rank) + " and without a proof";
    refused_ = guest->from + claim + ": " + received.message();
    return Status();
  }
  if (guest->got < before + whole) return Status();
  if (greets) {
    *stays = AnswerHello(guest);
    return Status();
  }
  *stays = false;
  return Admit(guest);
}

bool RankGathering::AnswerHello(Guest* guest) {
  Challenge challenge;
  std::string untold;
  Status status = CheckHello(job_, guest->hello, &untold);
  if (status.ok()) status = MakeRandom(&challenge.nonce);
  if (!status.ok()) {
    Refuse(*guest, status);
    refused_ += untold;
    return false;
  }
  guest->nonce = challenge.nonce;
  challenge.proof = Prove(job_.key, Prover::kRankZero, guest->hello, challenge.nonce);
  struct {
    BootstrapFrame frame;
    Challenge challenge;
  } message;
  message.frame.bytes = sizeof(Challenge);
  message.challenge = challenge;
  // A new connection has room for it.
  return guest->socket.Send(&message, sizeof(message), Clock::now()).ok();
}

Status RankGathering::Admit(Guest* guest) {
  const Hello& hello = guest->hello;
  if (!IsProof(job_.key, Prover::kOtherRank, hello, guest->nonce, guest->proof)) {
    Refuse(*guest, Status(StatusCode::kMismatch, kOtherSecret));
    return Status();
  }
  const auto fail = [&](const std::string& what) {
    const Status failure(StatusCode::kMismatch, what);
    SendFailure(guest->socket, failure, Clock::now() + kTellTime);
    return failure;
  };
  const std::string name = "rank " + std::to_string(hello.rank);
  if (hello.size != job_.size) {
    return fail("the sizes of the job differ: rank 0 has " + std::to_string(job_.size) + ", " +
                name + " (" + guest->from + ") has " + std::to_string(hello.size));
  }
  if (hello.rank < 1 || hello.rank >= job_.size) {
    return fail(name + " of " + std::to_string(job_.size) + " (" + guest->from +
                ") has come to rank 0");
  }
  const auto rank = static_cast<size_t>(hello.rank);
  if (ranks_[rank].fd() >= 0) {
    return fail(name + " of " + std::to_string(job_.size) + " has come twice: from " + from_[rank] +
                " and from " + guest->from + "; give each process a rank of its own");
  }
  const BootstrapFrame welcome;
  // A rank that is lost now is found by the next look.
  (void)guest->socket.Send(&welcome, sizeof(welcome), Clock::now());
  ranks_[rank] = std::move(guest->socket);
  from_[rank] = guest->from;
  const Deadline its = Clock::now() + std::chrono::milliseconds(hello.left_ms);
  if (its < deadline_) {
    deadline_ = its;
    hasty_ = hello.rank;
  }
  --missing_;
  return Status();
}

void RankGathering::Refuse(const Guest& guest, const Status& why) {
  refused_ = guest.from + ": " + why.message();
  SendFailure(guest.socket, why, Clock::now());
}

Status RankGathering::Missing() const {
  std::string names;
  int named = 0;
  for (int rank = 1; rank < job_.size; ++rank) {
    if (ranks_[static_cast<size_t>(rank)].fd() >= 0) continue;
    if (++named <= kMostNamed) names += (named == 1 ? "" : ", ") + std::to_string(rank);
  }
  if (named > kMostNamed) names += " and " + std::to_string(named - kMostNamed) + " more";
  std::string text = (named == 1 ? "rank " : "ranks ") + names + " of " +
                     std::to_string(job_.size) + (named == 1 ? " has" : " have") +
                     " not come within ";
  if (hasty_ > 0) {
    text += "the time limit of rank " + std::to_string(hasty_) + ", which ended before the " +
            limit_ + " of rank 0";
  } else {
    text += limit_;
  }
  if (!refused_.empty()) text += "; the last connection that was refused: " + refused_;
  return Status(StatusCode::kTimedOut, text);
}

}  // namespace brigade

#include "transport/tcp/tcp_transport.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "transport/core/completion_queue.h"
#include "transport/core/control_queue.h"
#include "transport/core/wait_policy.h"
#include "transport/host/host.h"
#include "transport/host/launcher.h"
#include "transport/host/network_interface.h"
#include "transport/mpi_polls.h"
#include "transport/rules.h"
#include "transport/tcp/contact.h"
#include "transport/tcp/grants.h"
#include "transport/tcp/groups.h"
#include "transport/tcp/io/read_trial.h"
#include "transport/tcp/io/socket_io.h"
#include "transport/tcp/link/connection.h"
#include "transport/tcp/link/link.h"
#include "transport/tcp/link/stream.h"
#include "transport/tcp/links.h"
#include "transport/tcp/locked_domain.h"
#include "transport/tcp/losses.h"
#include "transport/tcp/operations.h"
#include "transport/tcp/wire/wire.h"

namespace brigade {
namespace {

using tcp::Contact;
using tcp::Group;
using tcp::Groups;
using tcp::kMaxSegmentBytes;
using tcp::KnownReads;
using tcp::Link;
using tcp::Reads;
using tcp::Stream;

using Clock = std::chrono::steady_clock;
using Hold = CompletionQueue::Hold;

// Control messages to one peer that the system has not taken in, before one more has to wait.
constexpr size_t kMostControls = 64;

// At the end: time for peers to receive pending data before a log line; 10 s of 150 s of silence.
constexpr int kLeavingFraction = 15;

constexpr WaitPolicy::Patience kAlone{0, std::chrono::microseconds(rules::kTcpSpinUs),
                                      rules::kTcpYields};
// One poll at least comes before a sleep, also after a long yield: a send that looks for staging
// memory once more would sleep between two looks.
constexpr WaitPolicy::Patience kCrowded{1, std::chrono::microseconds(0), rules::kTcpYieldsIfShared};

// Of ranges that a system call takes (IOV_MAX) without frame and header.
constexpr size_t kMostRunsSentInPlace = 1000;

void LogOnStderr(const std::string& line) { std::fprintf(stderr, "brigade: %s\n", line.c_str()); }

// Whether this rank prints the warnings that apply to all ranks of a host.
bool IsFirstOnHost() { return LocalRank() <= 0; }

Capabilities CapabilitiesOfTcp(bool plain_sockets, const char* choice) {
  Capabilities capabilities;
  // The requested transport: hosts with and without io_uring can communicate.
  capabilities.name = plain_sockets ? "sockets" : "tcp";
  capabilities.choice = choice;
  capabilities.max_segment_bytes = kMaxSegmentBytes;
  capabilities.eager_segment_bytes = kEagerBytes;
  capabilities.tuning.first_segment_bytes = rules::kTcpWriteUnitBytes - kFrameBytes;
  capabilities.tuning.write_unit_bytes = (rules::kTcpWriteUnitBytes - kFrameBytes) / 64 * 64;
  capabilities.tuning.lazy_credit_bytes = rules::kTcpLazyCreditBytes;
  capabilities.tuning.preferred_segment_bytes = rules::kTcpSegmentBytes;
  capabilities.tuning.segment_cost_bytes = rules::kTcpSegmentCostBytes;
  return capabilities;
}

KnownReads TryReadsHere(bool shares_processor) {
  ReadTimes times;
  const Status trial = TryReads(shares_processor, &times);
  return tcp::KnownBy(trial, times);
}

class TcpEndpoint : public Endpoint, private Polling, private tcp::LinkOwner {
 public:
  TcpEndpoint(const TcpOptions& options, const SocketAddress& address, const EndpointId& id,
              const AuthKey& key)
      : io_uring_(options.plain_sockets ? false : options.io_uring),
        address_(address),
        id_(id),
        key_(key),
        log_(options.log ? options.log : LogOnStderr),
        leaving_time_(std::chrono::milliseconds(options.silence) / kLeavingFraction),
        process_(getpid()),
        capabilities_(CapabilitiesOfTcp(options.plain_sockets, choice_)),
        links_(id, options.silence, log_, this),
        losses_(options.silence, &links_),
        groups_(&grants_) {}

  ~TcpEndpoint() override {
    // A forked child shares sockets, ring and epoll with their owner, and closes its copies only.
    if (process_ != getpid()) return;
    Leave();
    links_.RemoveFromIo();
  }

  const Capabilities& capabilities() const override { return capabilities_; }
  MemoryDomain* domain() override { return &domain_; }
  void SetOverflowBudget(const std::shared_ptr<OverflowBudget>& budget) override {
    operations_.SetOverflowBudget(budget);
  }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* id) override {
    const bool has_peers = bootstrap->size() > 1;
    const Status listens = has_peers ? Listen() : Status();
    const Contact mine = Introduce(listens.ok());
    std::vector<Contact> contacts;
    BRIGADE_RETURN_IF_ERROR(GatherContacts(bootstrap, mine, listens, &contacts));
    std::vector<Link*> links;
    for (const Contact& contact : contacts) {
      links.push_back(links_.Get(contact.id, contact.key, contact.address));
    }
    const std::vector<RankProcessors> neighbours = NeighboursOf(mine, contacts);
    const bool shares = RanksPerProcessor(neighbours) > 1;
    const bool tries = has_peers && ReadTrialRank(mine, contacts, shares) == bootstrap->rank();
    const KnownReads known = tries ? TryReadsHere(shares) : known_reads_[shares];
    // No member sends before every member knows the group.
    Group* const group = groups_.Add(contacts, std::move(links));
    std::vector<KnownReads> all_know(contacts.size());
    const Status status = bootstrap->AllGather(&known, sizeof(known), all_know.data());
    if (!status.ok()) {
      groups_.Discard(group);
      return status;
    }
    if (!io_uring_.has_value() && known.reads != Reads::kNoRing) {
      known_reads_[shares] = AgreedReads(mine, contacts, all_know);
    }
    group->shares_processor = shares;
    CountSharing(shares ? 1 : 0);
    if (has_peers) Lock(static_cast<int>(neighbours.size()));
    *id = group->id;
    return Status();
  }

  void CloseGroup(GroupId id) override {
    Group* const group = groups_.Find(id);
    CountSharing(group->shares_processor ? -1 : 0);
    control_.RemoveHandler(id);
    const Hold hold(&completions_);
    // The last send may end now, but the group does not go yet.
    const Groups::Pin pin(&groups_, group);
    // Taking a read back may bring in the start of another segment: from here on it is thrown away.
    groups_.Close(group);
    for (const auto& stream : group->streams) {
      if (stream != nullptr) operations_.CloseStream(stream.get());
    }
    // A peer that still sends to this group would wait for grants in vain. Peers that connect later
    // send a query.
    for (Link* link : group->links) {
      if (link != nullptr && link->out() != nullptr) NotifyClosed(link, group->wire_id);
    }
    completions_.CancelReceives(id, [](const Lease&) {});
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    return operations_.PostSend(channel, peer, segment, completion);
  }

  bool SendsInPlace(const Channel&, int, const LayoutRange& range) const override {
    size_t at = 0;
    if (range.layout->ContiguousRange(range.offset, range.bytes, &at)) return true;
    // The runs of a trapezoid differ in length.
    const size_t runs = range.layout->ColumnsOf(range.offset, range.bytes);
    return range.bytes / runs >= rules::kTcpRunInPlaceBytes && runs <= kMostRunsSentInPlace;
  }

  SentNow SendNow(const Channel& channel, int peer, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes) override {
    return operations_.SendNow(channel, peer, head, body, completion, kept_bytes);
  }

  Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                     Completion* completion) override {
    return operations_.Receive(channel, peer, {receive_buffer, /*in_place=*/false, completion});
  }

  bool LandsInPlace(const Channel&, int, const LayoutRange& range) const override {
    size_t at = 0;
    return range.bytes <= kMaxSegmentBytes &&
           range.layout->ContiguousRange(range.offset, range.bytes, &at);
  }

  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    size_t at = 0;
    BRIGADE_CHECK(range.layout->ContiguousRange(range.offset, range.bytes, &at));
    return operations_.Receive(
        channel, peer, {ByteSpan{range.base + at, range.bytes}, /*in_place=*/true, completion});
  }

  size_t PeekUnexpected(const Channel& channel, int peer, ByteSpan head) override {
    return groups_.StreamOf(groups_.Find(channel.group), channel.kind, peer)->in.Peek(head);
  }

  void ReleaseLease(const Lease&) override {}  // leases lie in the receive buffer

  void SetControlHandler(GroupId id, ControlHandler* handler) override {
    control_.SetHandler(id, handler);
  }
  Status SendControl(GroupId id, int peer, ConstByteSpan message, Urgency urgency) override {
    const Group* const group = groups_.Find(id);
    BRIGADE_CHECK_LT(static_cast<size_t>(peer), group->links.size());
    Link* const link = group->links[static_cast<size_t>(peer)];
    if (link == nullptr) {
      control_.Push(id, peer, message);
      return Status();
    }
    links_.Connect(link);
    if (link->lost()) return link->LostAs(peer);
    const Hold hold(&completions_);
    if (urgency != Urgency::kUrgent && link->outbox()->controls() >= kMostControls) {
      link->Pump();  // they may have waited for one more
      return Status(StatusCode::kNoResource, "tcp: control messages wait to be taken");
    }
    link->outbox()->AddControl(group->wire_id, ControlMessage(message));
    if (urgency != Urgency::kWithNext) link->Pump();
    return Status();
  }

  bool HoldsControl() const override { return links_.HoldControl(); }

  bool Progress() override {
    BRIGADE_CHECK(!completions_.running());
    bool any = false;
    if (io_ != nullptr) {
      const Hold hold(&completions_);
      grants_.SendQueued();
      in_progress_ = true;
      any = io_->Progress();
      in_progress_ = false;
      losses_.HandleBroken();
      if (links_.has_unreached()) links_.RetryDue();
    }
    any |= control_.Deliver();
    return completions_.Run() || any;
  }

  bool AllowsProgressThread() const override { return io_ != nullptr; }
  Polling* polling() override { return this; }
  void Flush() override {
    const Hold hold(&completions_);
    grants_.SendQueued();
  }
  void Await(int microseconds) override {
    // Without a group of several ranks there is nothing to wait for.
    io_ == nullptr ? Polling::Await(microseconds) : io_->Await(microseconds);
  }

  void Pause(uint64_t idle_polls) override {
    if (waiting_.Pause(idle_polls) != WaitPolicy::Step::kSleep) return;
    if (io_ == nullptr) return Polling::Pause(idle_polls);
    const bool is_first = waiting_.sleeps() == 1;
    if (!is_first) Nudge();
    waiting_.SleepFor(is_first ? rules::kTcpFirstSleepUs : rules::kTcpSleepUs,
                      [this](int us) { io_->Await(us); });
  }
  void Nudge() override {
    const Hold hold(&completions_);
    grants_.SendAll();
    losses_.Look(groups_);
  }
  uint64_t PollsAwake() const override { return waiting_.PollsBeforeSleep(); }

 private:
  // --- opening ---

  // Opens the sockets that a group with peers needs. No effect if they are open, or on failure.
  Status Listen() {
    if (io_ != nullptr) return Status();
    std::unique_ptr<SocketIo> io;
    Reads reads = Reads::kPlain;
    if (io_uring_.value_or(true)) {
      const Status status = CreateUringIo(&io);
      reads = !status.ok()            ? Reads::kNoRing
              : io_uring_.has_value() ? Reads::kByRing
                                      : Reads::kUntried;
      if (!status.ok() && IsFirstOnHost()) {
        log_("tcp: " + status.message() + "; plain sockets are used instead");
      }
    }
    if (io == nullptr) BRIGADE_RETURN_IF_ERROR(CreatePlainIo(&io));
    BRIGADE_RETURN_IF_ERROR(links_.Open(io.get(), address_, key_));
    io_ = std::move(io);
    for (KnownReads& known : known_reads_) known.reads = reads;
    return Status();
  }

  Contact Introduce(bool listens) const {
    Contact mine;
    std::memset(static_cast<void*>(&mine), 0, sizeof(mine));
    mine.id = id_;
    mine.key = key_;
    mine.listens = listens;
    if (io_ != nullptr) mine.address = links_.address();
    mine.host = Host::Here();
    mine.processors = RankProcessors::Here();
    for (const bool shares : {false, true}) mine.reads[shares] = known_reads_[shares].reads;
    mine.proposed_wire_id = groups_.wire_ids().proposal();
    return mine;
  }

  // Takes this rank's share of the memory that may be locked, for io_uring.
  void Lock(int ranks) {
    if (known_reads_[waiting_.is_crowded()].reads == Reads::kPlain) return;
    domain_.Lock(io_.get(), std::max(ranks, LocalRanks()), log_);
  }

  // So many more groups are open whose ranks on this machine outnumber its processors.
  void CountSharing(int groups) {
    sharing_groups_ += groups;
    const bool shares = sharing_groups_ > 0;
    waiting_.SetCrowded(shares);
    if (io_ == nullptr) return;
    const KnownReads& known = known_reads_[shares];
    io_->ShareProcessor(shares);
    io_->UseRing(known.reads != Reads::kPlain);
    std::snprintf(choice_, sizeof(choice_), "%s",
                  io_uring_.has_value() ? "" : Describe(known).c_str());
  }

  // --- closing ---

  static void NotifyClosed(Link* link, uint32_t wire_id) {
    for (uint8_t kind = 0; kind < kChannelKinds; ++kind) {
      link->outbox()->AddNotice(FrameKind::kClosed, kind, wire_id);
    }
    link->Pump();
  }

  // Sends shutdown frames, and waits until the peers' systems have all data: closing a socket with
  // unread data discards what has not arrived.
  void Leave() {
    const Hold hold(&completions_);
    if (io_ != nullptr) {
      // A peer whose data came before this rank knew the connection is notified, too, that they are
      // dropped.
      links_.Admit();
      io_->Progress();
    }
    links_.SendShutdown();
    const auto start = Clock::now();
    MpiPolls polls;
    polls.Begin();
    std::set<const Link*> logged;
    while (const Link* const slow = links_.FirstUnfinished()) {
      if (!io_->Progress()) {
        polls.SleepFor(rules::kTcpLeavingSleepUs, [this](int us) { io_->Await(us); });
      }
      losses_.LoseUnanswered();
      if (Clock::now() - start < leaving_time_ || !logged.insert(slow).second) continue;
      log_("tcp: this rank waits until " + slow->address().ToString() +
           " has received all data that were sent to it");
    }
  }

  // --- callbacks of connections and links ---

  Status FindStream(Link* link, const Frame& frame, Stream** stream) override {
    return groups_.FindStream(link, frame, stream);
  }

  void OnDropped(Stream* stream) override { operations_.OnDropped(stream); }
  void OnArrival(Stream* stream, const ReceiveStream::Arrival& arrival) override {
    operations_.OnArrival(stream, arrival);
  }
  void OnSent(Stream* stream, Completion* completion, const Status& status) override {
    operations_.OnSent(stream, completion, status);
  }

  Status OnControl(Link* link, const Frame& frame, ConstByteSpan message) override {
    Group* group = nullptr;
    int from = 0;
    BRIGADE_RETURN_IF_ERROR(groups_.FindGroup(link, frame, &group, &from));
    if (group == nullptr) return Status();
    control_.Push(group->id, from, message);
    // Now rather than later: the segment behind it then finds the receive that its handler posts.
    if (in_progress_) control_.Deliver();
    return Status();
  }

  void OnFrames(Link* link) override { link->Pump(); }
  void OnShutdown(Link* link) override { link->OnShutdown(); }
  void OnBroken(Link* link) override { losses_.OnBroken(link); }

  // The peer may have been kept from sending by receives that could not be granted.
  void OnConnected(Link*) override {
    const Hold hold(&completions_);
    grants_.SendAll();
  }

  void OnLost(Link* link) override {
    const Hold hold(&completions_);
    const std::vector<Groups::Pin> pins = groups_.PinAll();
    link->DestroyConnections();
    for (Stream* stream : groups_.StreamsWith(link)) operations_.Fail(stream);
  }

  const std::optional<bool> io_uring_;  // none: as a trial shows
  const SocketAddress address_;         // where to listen, at any port
  const EndpointId id_;
  const AuthKey key_;
  const std::function<void(const std::string&)> log_;
  const std::chrono::milliseconds leaving_time_;
  const pid_t process_;
  char choice_[128] = "";
  const Capabilities capabilities_;
  bool in_progress_ = false;  // handlers of control messages may run
  int sharing_groups_ = 0;
  WaitPolicy waiting_{kAlone, kCrowded};
  KnownReads known_reads_[2];  // as Contact::reads

  std::unique_ptr<SocketIo> io_;  // null before there is a group with peers
  LockedDomain domain_;
  tcp::Links links_;
  tcp::Losses losses_;
  tcp::Grants grants_;
  Groups groups_;
  ControlQueue control_;
  CompletionQueue completions_;
  tcp::Operations operations_{log_, &links_, &grants_, &groups_, &completions_};
};

}  // namespace

Status CreateTcpEndpoint(const TcpOptions& options, std::unique_ptr<Endpoint>* endpoint) {
  SocketAddress address;
  BRIGADE_RETURN_IF_ERROR(ChooseInterface(options.interface.c_str(), &address));
  EndpointId id;
  AuthKey key;
  BRIGADE_RETURN_IF_ERROR(MakeRandom(&id));
  BRIGADE_RETURN_IF_ERROR(MakeRandom(&key));
  *endpoint = std::make_unique<TcpEndpoint>(options, address, id, key);
  return Status();
}

}  // namespace brigade

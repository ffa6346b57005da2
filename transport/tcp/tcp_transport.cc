#include "transport/tcp/tcp_transport.h"

#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "transport/core/completion_queue.h"
#include "transport/host/host.h"
#include "transport/host/network_interface.h"
#include "transport/tcp/connection.h"
#include "transport/tcp/io/socket_io.h"
#include "transport/tcp/io/tcp_socket.h"
#include "transport/tcp/listener.h"
#include "transport/tcp/locked_domain.h"
#include "transport/tcp/wire/wire.h"

namespace brigade {
namespace {

using tcp::Connection;
using tcp::ConnectionOwner;
using tcp::kMaxPieceBytes;
using tcp::Link;
using tcp::Stream;

using Clock = std::chrono::steady_clock;

// What TCP hands to the network at once of a long message: 45 packets of 1448 bytes on Ethernet,
// a little more on loopback. A rest costs as much again as all of it.
constexpr size_t kSegmentBytes = 45 * 1448;
// Between the end of one of two connections and a goodbye on the other.
constexpr std::chrono::seconds kGoodbyeTime(5);
// Between attempts to connect to a peer.
constexpr std::chrono::milliseconds kRetryTime(100);
// At the end: how long peers may take to take in what is on its way before that is told.
constexpr std::chrono::seconds kLeavingTime(10);

// Where the runs of a matrix are shorter, they are copied by us rather than by the kernel, one by
// one.
constexpr size_t kMeanRunSentInPlace = 256;
// Of ranges that a system call takes (IOV_MAX) without frame and header.
constexpr size_t kMostRunsSentInPlace = 1000;

// What the members of a group tell each other about themselves.
struct Contact {
  EndpointId id;
  AuthKey key;
  bool listens = false;  // else it cannot be reached
  SocketAddress address;
  Host host;             // the limit on locked memory is a user's on a whole machine
  cpu_set_t processors;  // that it may use
  uint32_t next_wire_id = 0;
};
static_assert(std::is_trivially_copyable_v<Contact>, "contacts travel as bytes");

void LogOnStderr(const std::string& line) { std::fprintf(stderr, "brigade: %s\n", line.c_str()); }

// Processes of this job on this machine, as its launcher tells them; 1 if it does not.
int LocalRanks() {
  const char* ranks = std::getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
  return ranks == nullptr ? 1 : std::atoi(ranks);
}

// What holds for all ranks of a host, one of them says.
bool IsFirstOnHost() {
  const char* rank = std::getenv("OMPI_COMM_WORLD_LOCAL_RANK");
  return rank == nullptr || std::strcmp(rank, "0") == 0;
}

class TcpEndpoint : public Endpoint, private ConnectionOwner {
 public:
  TcpEndpoint(const TcpOptions& options, const SocketAddress& address, const EndpointId& id,
              const AuthKey& key)
      : plain_sockets_(options.plain_sockets),
        address_(address),
        id_(id),
        key_(key),
        silence_(options.silence),
        log_(options.log ? options.log : LogOnStderr),
        process_(getpid()) {
    // What was asked for: hosts with and without io_uring understand each other.
    capabilities_.name = plain_sockets_ ? "sockets" : "tcp";
    capabilities_.max_piece_bytes = kMaxPieceBytes;
    capabilities_.eager_piece_bytes = kEagerBytes;
    capabilities_.tuning.first_piece_bytes = kSegmentBytes - kFrameBytes;
    capabilities_.tuning.segment_bytes = (kSegmentBytes - kFrameBytes) / 64 * 64;
    capabilities_.tuning.lazy_credit_bytes = size_t{32} << 10;
    capabilities_.tuning.preferred_piece_bytes = size_t{256} << 10;
    capabilities_.tuning.piece_cost_bytes = 1000;
  }

  ~TcpEndpoint() override {
    // A forked child shares sockets, ring and epoll with their owner, and closes its copies only.
    if (process_ != getpid()) return;
    Leave();
    for (auto& [id, link] : links_) {
      for (auto& connection : link->connections) io_->Remove(connection.get());
    }
  }

  const Capabilities& capabilities() const override { return capabilities_; }
  MemoryDomain* domain() override { return &domain_; }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* id) override {
    const auto size = static_cast<size_t>(bootstrap->size());
    const Status listens = size > 1 ? Listen() : Status();
    Contact mine;
    mine.id = id_;
    mine.key = key_;
    mine.listens = listens.ok();
    if (listener_ != nullptr) mine.address = listener_->address();
    mine.host = Host::Here();
    mine.processors = AllowedProcessors();
    mine.next_wire_id = next_wire_id_;
    std::vector<Contact> contacts(size);
    BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), contacts.data()));
    BRIGADE_RETURN_IF_ERROR(listens);
    for (size_t rank = 0; rank < size; ++rank) {
      if (contacts[rank].listens) continue;
      return Status(StatusCode::kUnavailable,
                    "tcp: rank " + std::to_string(rank) + " of the group cannot use TCP");
    }
    auto group = std::make_unique<Group>();
    group->id = next_group_;
    group->wire_id = 0;
    int sharers = 0;
    cpu_set_t together;
    CPU_ZERO(&together);
    for (const Contact& contact : contacts) {
      group->wire_id = std::max(group->wire_id, contact.next_wire_id);
      group->links.push_back(LinkTo(contact));
      group->ranks.emplace(group->links.back(), static_cast<int>(group->links.size()) - 1);
      if (std::strcmp(contact.host.boot_id, mine.host.boot_id) != 0 ||
          contact.host.user != mine.host.user) {
        continue;
      }
      ++sharers;
      CPU_OR(&together, &together, &contact.processors);
    }
    group->streams.resize(size * kChannelKinds);
    // Nobody sends before every member knows the group.
    const char known = 0;
    std::vector<char> all_know(size);
    Group* const opened = group.get();
    next_wire_id_ = opened->wire_id + 1;
    groups_.emplace(opened->wire_id, std::move(group));
    const Status status = bootstrap->AllGather(&known, sizeof(known), all_know.data());
    if (!status.ok()) {
      groups_.erase(opened->wire_id);
      return status;
    }
    if (size > 1) domain_.Lock(io_.get(), std::max(sharers, LocalRanks()), log_);
    if (sharers > std::min(CPU_COUNT(&together), ProcessorQuota())) {
      shares_processor_ = true;
      io_->SpareProcessor();
    }
    open_.emplace(opened->id, opened);
    *id = next_group_++;
    return Status();
  }

  void CloseGroup(GroupId id) override {
    Group* const group = FindOpen(id);
    const CompletionQueue::Hold hold(&completions_);
    // Taking a read back may bring in the start of another piece: from here on it is thrown away.
    group->closed = true;
    ++group->sends;  // the last may end now, but the group does not go yet
    for (const auto& stream : group->streams) {
      if (stream == nullptr) continue;
      if (stream->link != nullptr) {
        for (const auto& connection : stream->link->connections) connection->Forget(stream.get());
      } else {
        DropAllToSelf(stream.get());
      }
      while (stream->in.posted()) stream->in.TakeBack();
      stream->closed = true;
    }
    // A peer that still sends here waits for grants in vain. One that connects later asks.
    for (Link* link : group->links) {
      if (link != nullptr && link->out != nullptr) TellClosed(link, group->wire_id);
    }
    completions_.CancelReceives(id, [](const Lease&) {});
    --group->sends;
    open_.erase(id);
    EraseIfDrained(group);
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan piece,
                  Completion* completion) override {
    Group* const group = FindOpen(channel.group);
    BRIGADE_RETURN_IF_ERROR(CheckLength(piece.bytes));
    Stream* const stream = StreamOf(group, channel.kind, peer);
    Link* const link = stream->link;
    if (link != nullptr) BRIGADE_RETURN_IF_ERROR(Reach(link, peer));
    {
      const CompletionQueue::Hold hold(&completions_);
      ++group->sends;
      stream->out.Push({piece, completion});
      if (link == nullptr) {
        MatchWithSelf(stream);
      } else {
        if (stream->out.all_granted()) OnDropped(stream);
        OnGrant(stream);
        if (!stream->ready) AskWhetherClosed(stream);
        if (link->out != nullptr) link->out->Pump();
      }
    }
    RunCompletions();
    return Status();
  }

  bool SendsInPlace(const Channel&, int, const LayoutRange& range) const override {
    size_t at = 0;
    if (range.layout->ContiguousRange(range.offset, range.bytes, &at)) return true;
    // Those of a trapezoid differ.
    const size_t runs = range.layout->ColumnsOf(range.offset, range.bytes);
    return range.bytes / runs >= kMeanRunSentInPlace && runs <= kMostRunsSentInPlace;
  }
  SentNow SendNow(const Channel& channel, int peer, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes) override {
    Group* const group = FindOpen(channel.group);
    Stream* const stream = StreamOf(group, channel.kind, peer);
    Link* const link = stream->link;
    if (link == nullptr || link->out == nullptr || head.bytes + body.bytes > kMaxPieceBytes) {
      return SentNow::kNo;
    }
    {
      const CompletionQueue::Hold hold(&completions_);
      ++group->sends;
      const SentNow sent = link->out->SendNow(stream, head, body, completion, kept_bytes);
      if (sent != SentNow::kYes) {
        --group->sends;
        return sent;
      }
      if (stream->out.all_granted()) OnDropped(stream);
    }
    RunCompletions();
    return SentNow::kYes;
  }

  Status PostReceive(const Channel& channel, int peer, ByteSpan landing,
                     Completion* completion) override {
    return Receive(channel, peer, {landing, /*in_place=*/false, completion});
  }

  bool LandsInPlace(const Channel&, int, const LayoutRange& range) const override {
    size_t at = 0;
    return range.bytes <= kMaxPieceBytes &&
           range.layout->ContiguousRange(range.offset, range.bytes, &at);
  }

  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    size_t at = 0;
    BRIGADE_CHECK(range.layout->ContiguousRange(range.offset, range.bytes, &at));
    return Receive(channel, peer,
                   {ByteSpan{range.base + at, range.bytes}, /*in_place=*/true, completion});
  }

  void ReleaseLease(const Lease&) override {}  // leases lie in the landing

  bool Progress() override {
    BRIGADE_CHECK(!completions_.running());
    bool any = false;
    if (io_ != nullptr) {
      const CompletionQueue::Hold hold(&completions_);
      if (!told_.empty()) TellRest();
      any = io_->Progress();
      if (!broken_.empty()) BuryBroken();
      if (!unreached_.empty()) TryAgain();
    }
    return completions_.Run() || any;
  }

  void Flush() override {
    const CompletionQueue::Hold hold(&completions_);
    TellRest();
  }

  bool HelperMayDrive() const override { return io_ != nullptr; }
  void Await(int microseconds) override {
    // Without a group of several ranks there is nothing to wait for.
    io_ == nullptr ? Endpoint::Await(microseconds) : io_->Await(microseconds);
  }

  void Pause(uint64_t idle_polls) override {
    if (idle_polls == 0) {
      idle_since_ = Clock::now();
      pauses_ = 0;
    }
    if (!shares_processor_ && Clock::now() - idle_since_ < kSpinTime) return;
    ++pauses_;
    const int yields = shares_processor_ ? kYieldsWhereShared : kYields;
    if (pauses_ <= yields) {
      sched_yield();
    } else if (io_ == nullptr) {
      Endpoint::Pause(idle_polls);
    } else if (pauses_ == yields + 1) {
      io_->Await(kFirstSleepMicroseconds);
    } else {
      Nudge();
      io_->Await(kSleepMicroseconds);
    }
  }
  void Nudge() override {
    TellAll();
    LookForSilent();
  }
  uint64_t PollsAwake() const override { return shares_processor_ ? kYieldsWhereShared : kYields; }

 private:
  struct Group {
    GroupId id = -1;
    uint32_t wire_id = 0;
    std::vector<Link*> links;  // by rank; null: oneself
    std::unordered_map<const Link*, int> ranks;
    std::vector<std::unique_ptr<Stream>> streams;  // rank, then kind; made when first used
    size_t sends = 0;  // not over; they outlive the closing of the group
    bool closed = false;
  };

  static constexpr std::chrono::microseconds kSpinTime{20};
  // Looks of a rank that waits, before it sleeps. Where ranks share processors each takes from what
  // others compute: 25 were the best of 5 to 100 for ScaLAPACK on 4 and 8 ranks of two processors.
  static constexpr int kYields = 100;
  static constexpr int kYieldsWhereShared = 25;
  static constexpr int kFirstSleepMicroseconds = 1000;
  static constexpr int kSleepMicroseconds = 20000;

  // Opens what it takes to have peers. Nothing happens if that is so, or if it fails.
  Status Listen() {
    if (io_ != nullptr) return Status();
    std::unique_ptr<SocketIo> io;
    if (!plain_sockets_) {
      const Status status = CreateUringIo(&io);
      if (!status.ok() && IsFirstOnHost()) {
        log_("tcp: " + status.message() + "; it goes on with plain sockets");
      }
    }
    if (io == nullptr) BRIGADE_RETURN_IF_ERROR(CreatePlainIo(&io));
    ListenerLimits limits;
    limits.hello_time = silence_;
    BRIGADE_RETURN_IF_ERROR(Listener::Create(address_, id_, key_, log_, &listener_, limits));
    io_ = std::move(io);
    io_->Watch(
        listener_->fd(), [](void* self) { static_cast<TcpEndpoint*>(self)->Admit(); }, this);
    return Status();
  }

  // --- groups and streams ---

  Group* FindOpen(GroupId id) {
    if (last_found_ == nullptr || last_found_->id != id || last_found_->closed) {
      const auto group = open_.find(id);
      BRIGADE_CHECK(group != open_.end());
      last_found_ = group->second;
    }
    return last_found_;
  }

  Stream* StreamOf(Group* group, ChannelKind kind, int peer) {
    BRIGADE_CHECK_LT(static_cast<size_t>(peer), group->links.size());
    std::unique_ptr<Stream>& stream =
        group->streams[static_cast<size_t>(peer) * kChannelKinds + static_cast<size_t>(kind)];
    if (stream == nullptr) {
      stream = std::make_unique<Stream>();
      stream->link = group->links[static_cast<size_t>(peer)];
      stream->wire_id = group->wire_id;
      stream->group = group->id;
      stream->peer = peer;
      stream->kind = kind;
    }
    return stream.get();
  }

  Status FindStream(Link* link, const Frame& frame, Stream** found) override {
    *found = nullptr;
    const auto group = groups_.find(frame.group);
    if (group == groups_.end()) {
      if (frame.group < next_wire_id_) return Status();  // closed
      return Status(StatusCode::kInternal,
                    "a frame for group " + std::to_string(frame.group) + ", which never was");
    }
    const auto rank = group->second->ranks.find(link);
    if (rank == group->second->ranks.end()) {
      return Status(StatusCode::kInternal, "a frame for a group that its sender is not in");
    }
    const bool sends = frame.kind == FrameKind::kPiece || frame.kind == FrameKind::kWaiting;
    if (sends && group->second->closed) return Status();
    *found = StreamOf(group->second.get(), static_cast<ChannelKind>(frame.channel), rank->second);
    return Status();
  }

  void EraseIfDrained(Group* group) {
    if (!group->closed || group->sends > 0) return;
    for (const auto& stream : group->streams) {
      if (stream == nullptr) continue;
      if (stream->telling) Erase(&stream->link->telling, stream.get());
      if (stream->untold) Erase(&untold_, stream.get());
    }
    if (last_found_ == group) last_found_ = nullptr;
    groups_.erase(group->wire_id);
  }

  static void Erase(Fifo<Stream*>* list, Stream* stream) {
    Fifo<Stream*> kept;
    for (Stream* other : *list) {
      if (other != stream) kept.push_back(other);
    }
    *list = std::move(kept);
  }

  static Status CheckLength(size_t bytes) {
    if (bytes <= kMaxPieceBytes) return Status();
    return Status(StatusCode::kInvalidArgument, "tcp: a piece of " + std::to_string(bytes) +
                                                    " bytes is longer than " +
                                                    std::to_string(kMaxPieceBytes));
  }

  // --- sending and receiving ---

  void OnGrant(Stream* stream) override {
    if (stream->ready || !stream->out.MayTake()) return;
    stream->ready = true;
    stream->link->ready.push_back(stream);
  }

  void OnDropped(Stream* stream) override {
    if (std::exchange(stream->dropped, true)) return;
    log_("tcp: " + NameOf(*stream->link, stream->peer) +
         " has closed it without receiving all that this rank sent");
  }

  void OnSent(Stream* stream, Completion* completion, const Status& status) override {
    const auto group = groups_.find(stream->wire_id);
    completion->status = status.ok() ? status : LostAs(*stream->link, stream->peer);
    completions_.Finish(completion, CompletionQueue::kSend);
    --group->second->sends;
    EraseIfDrained(group->second.get());
  }

  Status Receive(const Channel& channel, int peer, const ReceiveStream::Receive& receive) {
    Stream* const stream = StreamOf(FindOpen(channel.group), channel.kind, peer);
    BRIGADE_RETURN_IF_ERROR(CheckLength(receive.landing.bytes));
    Link* const link = stream->link;
    if (link != nullptr && !stream->in.stored() && !link->lost.ok()) return LostAs(*link, peer);
    {
      const CompletionQueue::Hold hold(&completions_);
      ReceiveStream::Arrival arrival;
      if (stream->in.Post(receive, &arrival)) OnArrival(stream, arrival);
      if (link == nullptr) {
        MatchWithSelf(stream);
      } else {
        TellIfDue(stream);
      }
    }
    RunCompletions();
    return Status();
  }

  void OnArrival(Stream* stream, const ReceiveStream::Arrival& arrival) override {
    const ReceiveStream::Receive& receive = arrival.receive;
    Completion* const completion = receive.completion;
    const size_t room = receive.landing.bytes;
    completion->status = Status();
    completion->lease =
        Lease{receive.in_place ? nullptr : receive.landing.data, std::min(arrival.bytes, room), 0};
    if (arrival.bytes > room) {
      completion->status =
          Status(StatusCode::kMismatch, "tcp: a piece of " + std::to_string(arrival.bytes) +
                                            " bytes from rank " + std::to_string(stream->peer) +
                                            " of the group met a receive of " +
                                            std::to_string(room) + " bytes");
    }
    completions_.Finish(completion, stream->group);
    if (stream->link != nullptr && stream->link->out != nullptr && stream->in.ShouldTell()) {
      Tell(stream);
    }
  }

  // Tells the peer of receives, where it should know at once; else remembers that it should some
  // time.
  void TellIfDue(Stream* stream) {
    if (stream->in.ShouldTell() && stream->link->out != nullptr) {
      Tell(stream);
      // A sender that was told of one place comes back; of more it is told then.
      if (std::exchange(stream->link->told, true)) return;
      told_.push_back(stream->link);
      stream->link->out->Pump();
    } else if (stream->in.untold() && !stream->untold) {
      stream->untold = true;
      untold_.push_back(stream);
    }
  }

  void TellRest() {
    for (Link* link : told_) {
      link->told = false;
      if (!link->telling.empty() && link->out != nullptr) link->out->Pump();
    }
    told_.clear();
  }

  static void Tell(Stream* stream) {
    if (std::exchange(stream->telling, true)) return;
    stream->link->telling.push_back(stream);
  }

  // Before this rank sleeps, nobody shall wait for a grant of it.
  void TellAll() {
    const CompletionQueue::Hold hold(&completions_);
    Fifo<Stream*> later;
    for (Stream* stream : std::exchange(untold_, {})) {
      stream->untold = false;
      if (!stream->in.untold() || stream->closed || !stream->link->lost.ok()) continue;
      if (stream->link->out == nullptr) {
        stream->untold = true;
        later.push_back(stream);
        continue;
      }
      Tell(stream);
      stream->link->out->Pump();
    }
    untold_ = std::move(later);
  }

  // Who closes a group tells the peers that it is connected with, and keeps nothing for others:
  // those ask when first something waits for them.
  static void AskWhetherClosed(Stream* stream) {
    if (std::exchange(stream->asked, true)) return;
    stream->link->Notify(FrameKind::kWaiting, static_cast<uint8_t>(stream->kind), stream->wire_id);
  }

  static void TellClosed(Link* link, uint32_t wire_id) {
    for (uint8_t kind = 0; kind < kChannelKinds; ++kind) {
      link->Notify(FrameKind::kClosed, kind, wire_id);
    }
    link->out->Pump();
  }

  void MatchWithSelf(Stream* stream) {
    while (stream->out.waiting() && stream->in.posted()) {
      const SendStream::Piece piece = stream->out.Take();
      ByteSpan where;
      ReceiveStream::Arrival arrival;
      BRIGADE_CHECK(stream->in.Begin(piece.bytes.bytes, &where));
      const size_t bytes = std::min(piece.bytes.bytes, where.bytes);
      if (bytes > 0) std::memcpy(where.data, piece.bytes.data, bytes);
      BRIGADE_CHECK(stream->in.End(&arrival));
      OnArrival(stream, arrival);
      OnSent(stream, piece.completion, Status());
    }
  }

  // Of what this rank sent to itself nothing is received any more.
  void DropAllToSelf(Stream* stream) {
    while (stream->out.waiting()) OnSent(stream, stream->out.Take().completion, Status());
  }

  void RunCompletions() {
    if (!completions_.running()) completions_.Run();
  }

  // --- links and connections ---

  Link* LinkTo(const Contact& contact) {
    if (contact.id == id_) return nullptr;
    std::unique_ptr<Link>& link = links_[contact.id];
    if (link == nullptr) {
      link = std::make_unique<Link>();
      link->id = contact.id;
      link->key = contact.key;
      link->address = contact.address;
    }
    return link.get();
  }

  static std::string NameOf(const Link& link, int peer) {
    return "rank " + std::to_string(peer) + " of the group (" + link.address.ToString() + ")";
  }
  static Status LostAs(const Link& link, int peer) {
    return link.lost.WithContext("tcp: " + NameOf(link, peer));
  }

  // Opens a connection if there is none; waits for nobody.
  Status Reach(Link* link, int peer) {
    if (IsToConnect(*link)) Connect(link);
    return link->lost.ok() ? Status() : LostAs(*link, peer);
  }

  static bool IsToConnect(const Link& link) {
    return link.lost.ok() && link.out == nullptr && link.unreached_since == Clock::time_point();
  }

  void Connect(Link* link) {
    const int socket =
        ::socket(link->address.family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0) return TryLater(link, SocketFailure("socket", errno));
    SetTcpOptions(socket, silence_);
    sockaddr_storage address{};
    const socklen_t length = link->address.ToSystem(&address);
    if (connect(socket, reinterpret_cast<const sockaddr*>(&address), length) != 0 &&
        errno != EINPROGRESS) {
      const int error = errno;
      close(socket);
      if (error != ECONNREFUSED) return TryLater(link, SocketFailure("connect", error));
      return Lose(link, Status(StatusCode::kPeerLost, std::strerror(error)));
    }
    std::vector<std::byte> hello(kHelloBytes);
    WriteHello(link->key, id_, link->id, link->opened++, hello.data());
    const Status status = Attach(link, socket, std::move(hello));
    if (!status.ok()) TryLater(link, status);
  }

  // What keeps a connection from coming about may pass: a cable that is out, or a limit.
  void TryLater(Link* link, const Status& why) {
    const auto now = Clock::now();
    if (link->unreached_since == Clock::time_point()) {
      link->unreached_since = now;
      unreached_.push_back(link);
    } else if (now - link->unreached_since > silence_) {
      return Lose(link, Status(StatusCode::kPeerLost, "no connection for " +
                                                          std::to_string(silence_.count()) +
                                                          " s: " + why.message()));
    }
    link->next_try = now + kRetryTime;
  }

  void TryAgain() {
    const auto now = Clock::now();
    for (Link* link : std::exchange(unreached_, {})) {
      if (!link->lost.ok()) continue;
      if (link->out != nullptr && link->out->spoken()) {
        link->unreached_since = Clock::time_point();
        continue;
      }
      unreached_.push_back(link);
      if (link->out == nullptr && now >= link->next_try) Connect(link);
    }
  }

  // Takes the socket.
  Status Attach(Link* link, int socket, std::vector<std::byte> hello) {
    link->connections.push_back(std::make_unique<Connection>(
        socket, link, std::move(hello), io_.get(), static_cast<ConnectionOwner*>(this)));
    Connection* const connection = link->connections.back().get();
    const Status status = io_->Add(connection);
    if (!status.ok()) {
      link->connections.pop_back();
      return status;
    }
    if (link->out == nullptr) SendOn(link, connection);
    if (leaving_) link->out->Leave();
    link->out->Pump();
    // The peer may have been kept from sending by receives that it could not be told of.
    TellAll();
    return Status();
  }

  static void SendOn(Link* link, Connection* connection) {
    link->out = connection;
    link->out_broken_since = Clock::time_point();
  }

  // Takes in connections of peers.
  void Admit() {
    listener_->Progress([this](int socket, const EndpointId& from, uint32_t serial) {
      const auto found = links_.find(from);
      if (found == links_.end() || !found->second->lost.ok()) return false;
      if (!found->second->serials.insert(serial).second) return false;
      SetTcpOptions(socket, silence_);
      // What cannot be taken in ends, and the peer is told by that.
      (void)Attach(found->second.get(), socket, {});
      return true;
    });
  }

  void OnBroken(Link* link) override { broken_.push_back(link); }

  // A peer is lost when all its connections have ended, or one after its goodbye; until then the
  // other may still bring something. One that breaks a rule is lost at once.
  void BuryBroken() {
    for (Link* link : std::exchange(broken_, {})) {
      Admit();  // it may have ended before it was seen, too
      DropUnspoken(link);
      const Status* why = nullptr;
      bool others_live = false;
      for (const auto& connection : link->connections) {
        if (!connection->broken()) {
          others_live = true;
        } else if (why == nullptr || why->code() == StatusCode::kPeerLost) {
          why = &connection->failure();
        }
      }
      if (why == nullptr) continue;  // lost meanwhile
      const bool is_gone = why->code() == StatusCode::kPeerLost;
      if (is_gone && link->left) {
        Lose(link, Status(StatusCode::kPeerLost, "it has left"));
      } else if (!is_gone || !others_live) {
        Lose(link, Status(*why));
      } else if (link->out->broken()) {
        link->out_broken_since = Clock::now();
      }
    }
  }

  // Gives up what never became a connection. Nothing was sent on it, so any other will do.
  void DropUnspoken(Link* link) {
    Status why;
    auto& connections = link->connections;
    for (auto at = connections.begin(); at != connections.end();) {
      const Connection* const connection = at->get();
      if (connection->failure().code() != StatusCode::kUnavailable) {
        ++at;
        continue;
      }
      why = connection->failure();
      if (link->out == connection) link->out = nullptr;
      io_->Remove(at->get());
      at = connections.erase(at);
    }
    if (link->out != nullptr || why.ok()) return;
    const auto live = std::find_if(connections.begin(), connections.end(),
                                   [](const auto& connection) { return !connection->broken(); });
    if (live == connections.end()) return TryLater(link, why);
    SendOn(link, live->get());
    link->out->Pump();
  }

  // A peer that has closed the connection this rank sends on and lives on, on the other, never says
  // goodbye: what is sent to it can never arrive.
  void LoseHalfBroken() {
    for (const auto& [id, link] : links_) {
      if (link->out != nullptr && link->out_broken_since != Clock::time_point() &&
          Clock::now() - link->out_broken_since > kGoodbyeTime) {
        Lose(link.get(), Status(link->out->failure()));
      }
    }
  }

  // Nothing can be sent to the peer any more, and nothing comes.
  void Lose(Link* link, const Status& why) {
    if (!link->lost.ok()) return;
    link->lost = why;
    if (why.code() != StatusCode::kPeerLost) {
      log_("tcp: " + link->address.ToString() + ": " + why.ToString());
    }
    const CompletionQueue::Hold hold(&completions_);
    link->ready.clear();
    link->telling.clear();
    link->notices.clear();
    link->out = nullptr;
    for (const auto& connection : link->connections) io_->Remove(connection.get());
    // A group may go with its last send, but not yet.
    std::vector<Group*> groups;
    for (const auto& [wire_id, group] : groups_) {
      groups.push_back(group.get());
      ++group->sends;
    }
    for (const auto& connection : link->connections) connection->FailParts(link->lost);
    link->connections.clear();
    for (Group* group : groups) {
      for (const auto& stream : group->streams) {
        if (stream != nullptr && stream->link == link) FailAll(stream.get());
      }
      --group->sends;
      EraseIfDrained(group);
    }
  }

  // Ends what is under way on a stream whose peer is lost.
  void FailAll(Stream* stream) {
    const Status status = LostAs(*stream->link, stream->peer);
    stream->ready = stream->telling = false;
    stream->in.Abandon();
    while (stream->in.posted()) {
      Completion* const completion = stream->in.TakeBack().completion;
      completion->status = status;
      completion->lease = Lease();
      completions_.Finish(completion, stream->group);
    }
    while (stream->out.waiting()) OnSent(stream, stream->out.Take().completion, stream->link->lost);
  }

  void LoseUnanswered() {
    const CompletionQueue::Hold hold(&completions_);
    for (const auto& [id, link] : links_) {
      const bool unanswered = std::any_of(
          link->connections.begin(), link->connections.end(),
          [&](const auto& connection) { return IsUnanswered(connection->socket(), silence_); });
      if (unanswered) {
        Lose(link.get(),
             Status(StatusCode::kPeerLost,
                    "its system has not answered for " + std::to_string(silence_.count()) + " s"));
      }
    }
  }

  // Peers that do not answer are lost. Somebody that this rank waits for and was never connected
  // with may be gone, too: a connection would tell.
  void LookForSilent() {
    const auto now = Clock::now();
    if (now - last_look_ < std::chrono::seconds(1)) return;
    const bool just_woken = now - last_look_ > std::chrono::seconds(3);
    last_look_ = now;
    if (just_woken) return;
    const CompletionQueue::Hold hold(&completions_);
    LoseUnanswered();
    LoseHalfBroken();
    std::vector<Link*> silent;
    for (const auto& [wire_id, group] : groups_) {
      for (const auto& stream : group->streams) {
        if (stream != nullptr && stream->link != nullptr && stream->in.posted() &&
            stream->link->lost.ok() && stream->link->out == nullptr) {
          silent.push_back(stream->link);
        }
      }
    }
    for (Link* link : silent) {
      if (IsToConnect(*link)) Connect(link);
    }
  }

  // Says goodbye, and waits until the peers' systems have everything: to close a socket that
  // something still comes to throws away what has not got there.
  void Leave() {
    const CompletionQueue::Hold hold(&completions_);
    leaving_ = true;
    for (auto& [id, link] : links_) {
      if (link->out == nullptr) continue;
      link->out->Leave();
      link->out->Pump();
    }
    const auto on_its_way = [](const auto& entry) {
      const Connection* const out = entry.second->out;
      if (out == nullptr || out->broken()) return false;
      return !out->idle() || !IsAcknowledged(out->socket());
    };
    const auto start = Clock::now();
    std::set<const Link*> told;
    for (;;) {
      const auto slow = std::find_if(links_.begin(), links_.end(), on_its_way);
      if (slow == links_.end()) return;
      if (!io_->Progress()) io_->Await(1000);
      LoseUnanswered();
      if (Clock::now() - start < kLeavingTime || !told.insert(slow->second.get()).second) continue;
      log_("tcp: this rank leaves when " + slow->second->address.ToString() +
           " has taken in what is on its way to it");
    }
  }

  const bool plain_sockets_;
  const SocketAddress address_;  // where to listen, at any port
  // Null before there is a group with peers.
  std::unique_ptr<SocketIo> io_;
  std::unique_ptr<Listener> listener_;
  LockedDomain domain_;
  const EndpointId id_;
  const AuthKey key_;
  const std::chrono::seconds silence_;
  const std::function<void(const std::string&)> log_;
  const pid_t process_;
  Capabilities capabilities_;
  bool shares_processor_ = false;  // with another rank: who spins delays it
  Clock::time_point idle_since_;
  int pauses_ = 0;  // of this wait, without the spins

  bool leaving_ = false;  // whoever connects is told so at once
  std::map<EndpointId, std::unique_ptr<Link>> links_;
  std::vector<Link*> broken_;     // a connection of theirs is, since the last look
  std::vector<Link*> unreached_;  // to which no connection has come about, since the first attempt
  GroupId next_group_ = 0;
  uint32_t next_wire_id_ = 0;  // above all that this rank has seen
  std::unordered_map<uint32_t, std::unique_ptr<Group>> groups_;  // by identity on the wire
  std::unordered_map<GroupId, Group*> open_;
  Group* last_found_ = nullptr;
  Fifo<Stream*> untold_;
  std::vector<Link*> told_;  // since the last Progress
  Clock::time_point last_look_;
  CompletionQueue completions_;
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

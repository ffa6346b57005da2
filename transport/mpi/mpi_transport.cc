#include "transport/mpi/mpi_transport.h"

#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <list>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "membuf/check.h"
#include "membuf/heap_domain.h"
#include "transport/core/completion_queue.h"
#include "transport/core/control_queue.h"
#include "transport/core/errors.h"
#include "transport/core/fifo.h"
#include "transport/core/group_table.h"
#include "transport/core/wire_ids.h"
#include "transport/host/host.h"
#include "transport/host/launcher.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi/mpi_time.h"
#include "transport/mpi/own_requests.h"
#include "transport/mpi/polled_mpi.h"
#include "transport/rules.h"

namespace brigade {
namespace {

// Carriers that no group uses are kept for the next group of the same members.
constexpr int kIdleCarriers = 8;

int ErrorClass(int error) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(error, &error_class);
  return error_class;
}

// `ranks`: of this host.
bool RanksShareProcessors(int ranks) {
  return ranks > std::min(static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), ProcessorQuota());
}

// Between two polls for control messages, in calls of Progress without other effect.
constexpr uint64_t kPollsPerLook = 64;
// Control messages pending in MPI before the next one has to wait.
constexpr size_t kMostNotes = 64;

// MPI's protocols for long messages may write past a landing before the length is known. A short
// landing is therefore posted to MPI only once a probe has found a message that fits. A long one is
// posted at once, since it may have to be filled at once.
constexpr size_t kShortLandingBytes = 1024;

// The memory of a range of a general layout as an MPI type, relative to the matrix' first element:
// the end of a column, whole columns, the beginning of a column.
Status MakeRangeType(const LayoutRange& range, MPI_Datatype* type) {
  const StridedLayout& layout = *range.layout;
  const size_t column = static_cast<size_t>(layout.rows()) * layout.elem_bytes();
  const size_t stride = static_cast<size_t>(layout.ld()) * layout.elem_bytes();
  size_t j = range.offset / column;
  const size_t into = range.offset % column;
  size_t left = range.bytes;
  int lengths[3];
  MPI_Aint places[3];
  MPI_Datatype parts[3];
  int count = 0;
  const auto add = [&](size_t place, int length, MPI_Datatype part) {
    lengths[count] = length;
    places[count] = static_cast<MPI_Aint>(place);
    parts[count++] = part;
  };
  if (into > 0) {
    const size_t bytes = std::min(left, column - into);
    add(j++ * stride + into, static_cast<int>(bytes), MPI_BYTE);
    left -= bytes;
  }
  MPI_Datatype columns = MPI_DATATYPE_NULL;
  if (left >= column) {
    BRIGADE_RETURN_IF_ERROR(
        MpiStatus(MPI_Type_create_hvector(static_cast<int>(left / column), static_cast<int>(column),
                                          static_cast<MPI_Aint>(stride), MPI_BYTE, &columns),
                  "MPI_Type_create_hvector"));
    add(j * stride, 1, columns);
    j += left / column;
    left %= column;
  }
  if (left > 0) add(j * stride, static_cast<int>(left), MPI_BYTE);
  Status status;
  if (count == 1 && columns != MPI_DATATYPE_NULL && places[0] == 0) {
    *type = std::exchange(columns, MPI_DATATYPE_NULL);
  } else {
    status = MpiStatus(MPI_Type_create_struct(count, lengths, places, parts, type),
                       "MPI_Type_create_struct");
  }
  if (columns != MPI_DATATYPE_NULL) MPI_Type_free(&columns);
  if (!status.ok()) return status;
  return MpiStatus(MPI_Type_commit(type), "MPI_Type_commit");
}

class MpiEndpoint : public Endpoint {
 public:
  explicit MpiEndpoint(int max_tag) : max_wire_ids_((uint64_t{1} + max_tag) / kChannelKinds) {
    capabilities_.name = "mpi";
    // Open MPI 4.1 reports a truncated message as it should, but over shared memory (CMA) and TCP
    // it has then written all of it.
    capabilities_.reports_losses = false;
    capabilities_.kept_landing_bytes = kShortLandingBytes;
    capabilities_.max_piece_bytes = INT_MAX;
    capabilities_.tuning.preferred_piece_bytes = rules::kMpiPieceBytes;
    capabilities_.eager_piece_bytes = rules::kMpiEagerBytes;
  }

  ~MpiEndpoint() override {
    groups_.ForEach([this](GroupId, Group* group) {
      CancelReceives(group);
      // Sends still under way are left to MPI; their memory must outlive MPI_Finalize.
      for (const auto& stream : group->streams) {
        if (stream == nullptr) continue;
        for (Pending& send : stream->pending) MPI_Request_free(&send.request);
      }
    });
    LeaveNotes();
    // An engine does not free memory of pending sends, which MPI still reads.
    if (domain_->registered_bytes() > 0) (void)domain_.release();
    while (!carriers_.empty()) FreeCarrier(carriers_.begin());
  }

  const Capabilities& capabilities() const override { return capabilities_; }
  MemoryDomain* domain() override { return domain_.get(); }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* id) override {
    auto group = std::make_unique<Group>();
    if (auto* const mpi = dynamic_cast<MpiBootstrap*>(bootstrap)) {
      BRIGADE_RETURN_IF_ERROR(Agree(mpi, group.get()));
      ++group->carrier->groups;
    } else if (const std::optional<Bootstrap::Parent> parent = bootstrap->parent()) {
      BRIGADE_RETURN_IF_ERROR(AgreeByParent(bootstrap, *parent, group.get()));
    } else {
      return Status(
          StatusCode::kUnavailable,
          "mpi: a group is opened with an MPI communicator, which this bootstrap has not");
    }
    group->rank = bootstrap->rank();
    group->streams.resize(size_t{2} * kChannelKinds * bootstrap->size());
    Group* const opened = group.get();
    *id = opened->id = groups_.Add(std::move(group));
    return Status();
  }

  void CloseGroup(GroupId id) override {
    Group& group = groups_.At(id);
    control_.RemoveHandler(id);
    CancelReceives(&group);
    completions_.CancelReceives(id, [](const Lease&) {});
    groups_.Close(id);
    group.closed = true;
    EraseIfDrained(&group);
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan piece,
                  Completion* completion) override {
    Group* const group = &groups_.At(channel.group);
    BRIGADE_RETURN_IF_ERROR(CheckLength(piece.bytes));
    MPI_Request request;
    BRIGADE_RETURN_IF_ERROR(MpiStatus(
        InMpi([&] {
          return MPI_Isend(piece.data, static_cast<int>(piece.bytes), MPI_BYTE, group->RankOf(peer),
                           group->TagOf(channel.kind), group->carrier->comm, &request);
        }),
        "MPI_Isend"));
    Stream* stream = group->StreamOf(channel.kind, peer, /*receives=*/false);
    if (piece.bytes <= rules::kMpiEagerBytes && stream->pending.empty()) {
      int done = 0;
      const int error = TestOwn(&request, &done, MPI_STATUS_IGNORE);
      if (done || error != MPI_SUCCESS) {
        completion->status = MpiStatus(error, "MPI_Isend");
        completions_.Finish(completion, CompletionQueue::kSend);
        return Status();
      }
    }
    ++group->sends;
    Append(stream, Pending{request, completion});
    return Status();
  }

  Status PostReceive(const Channel& channel, int peer, ByteSpan landing,
                     Completion* completion) override {
    return Receive(channel, peer, landing, /*lease_data=*/landing.data, completion);
  }

  bool LandsInPlace(const Channel&, int, const LayoutRange& range) const override {
    if (range.bytes > capabilities_.max_piece_bytes) return false;
    return range.layout->plain() ||
           (range.layout->part() == StridedLayout::Part::kGeneral &&
            range.layout->ld() <= INT_MAX / 16 && range.bytes >= rules::kMpiTypedBytes);
  }

  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    if (range.layout->plain()) {
      return Receive(channel, peer, ByteSpan{range.base + range.offset, range.bytes},
                     /*lease_data=*/nullptr, completion);
    }
    MPI_Datatype type;
    BRIGADE_RETURN_IF_ERROR(MakeRangeType(range, &type));
    return Receive(channel, peer, ByteSpan{range.base, range.bytes}, /*lease_data=*/nullptr,
                   completion, type);
  }

  // MPI has no way to read a message without receiving it: a short one is received and kept for its
  // receive.
  size_t PeekUnexpected(const Channel& channel, int peer, ByteSpan head) override {
    Group* const group = &groups_.At(channel.group);
    Stream* const stream = group->StreamOf(channel.kind, peer, /*receives=*/true);
    if (!stream->pending.empty()) return 0;
    if (!stream->early && !TakeEarly(stream)) return 0;
    const size_t bytes = std::min(head.bytes, stream->early->size());
    std::copy_n(stream->early->begin(), bytes, head.data);
    return bytes;
  }

  void ReleaseLease(const Lease&) override {}  // leases lie in the landing

  // Where every rank has a processor of its own, a peer's answer is worth a few microseconds of
  // polling; where ranks share processors, polling only delays it.
  void Pause(uint64_t idle_polls) override {
    if (idle_polls >= spins_) sched_yield();
  }

  void Nudge() override {
    PollMpi();
    idle_polls_ = kPollsPerLook - 1;  // the next Progress looks for control messages
  }

  void SetControlHandler(GroupId id, ControlHandler* handler) override {
    control_.SetHandler(id, handler);
  }
  Status SendControl(GroupId id, int peer, ConstByteSpan message, Urgency urgency) override {
    Group* const group = &groups_.At(id);
    const int to = group->RankOf(peer);
    if (peer == group->rank) {
      control_.Push(id, peer, message);
      return Status();
    }
    if (urgency != Urgency::kUrgent && notes_.size() >= kMostNotes) {
      return Status(StatusCode::kNoResource, "mpi: control messages wait to be taken");
    }
    notes_.push_back({MPI_REQUEST_NULL, ControlMessage(message)});
    Note& note = notes_.back();
    const Status status =
        MpiStatus(MPI_Isend(note.message.data, static_cast<int>(message.bytes), MPI_BYTE, to,
                            group->first_tag, group->carrier->control, &note.request),
                  "MPI_Isend");
    if (!status.ok()) notes_.pop_back();
    return status;
  }

  bool HoldsControl() const override { return !notes_.empty(); }

  bool Progress() override {
    BRIGADE_CHECK(!completions_.running());
    if (!requests_.empty()) TestWatched();
    if (!probed_.empty()) ProbeStreams();
    bool any = control_.Deliver();
    any |= completions_.Run();
    if (any || ++idle_polls_ % kPollsPerLook != 0) return any;
    MoveNotes();
    return control_.Deliver();
  }

 private:
  // A communicator of the library, for every group whose members it includes.
  struct Carrier {
    // Of the group it was made for: equal on all its members; no two carriers that share a rank
    // have the same.
    uint64_t first_wire_id;
    MPI_Comm comm = MPI_COMM_NULL;
    // For control messages, so that a probe finds no other messages; none if there is one member.
    MPI_Comm control = MPI_COMM_NULL;
    MPI_Group members = MPI_GROUP_NULL;
    size_t groups = 0;  // of this rank that use it
  };
  using Carriers = std::list<Carrier>;

  // A control message that is being sent.
  struct Note {
    MPI_Request request;
    ControlMessage message;
  };

  struct Pending {
    MPI_Request request = MPI_REQUEST_NULL;
    Completion* completion = nullptr;
    // Receives:
    ByteSpan landing{};
    std::byte* lease_data = nullptr;
    MPI_Datatype type = MPI_BYTE;   // until it is posted; else one element describes the landing
    std::byte* too_long = nullptr;  // the message, if it does not fit
  };

  struct Group;

  // The sends to, or the receives from, one peer on one channel. They complete in the order of
  // their posts, so only the first is tested: a long queue costs no more to poll than a short one.
  // From the first receive with a short landing on, receives are not posted to MPI, since they
  // could take its message.
  struct Stream {
    bool waits_for_probe() const { return unposted == pending.size(); }

    Group* group;
    ChannelKind kind;
    int peer;
    bool receives;
    size_t slot = 0;      // of the first in watched_, while there is one that is posted
    size_t unposted = 0;  // the last ones
    Fifo<Pending> pending{};
    // A message that MPI has delivered before its receive, for the next receive. None while there
    // are receives.
    std::optional<std::vector<std::byte>> early{};
  };

  struct Group {
    int RankOf(int peer) const {
      BRIGADE_CHECK_LT(static_cast<size_t>(peer), ranks.size());
      return ranks[peer];
    }
    int TagOf(ChannelKind kind) const { return first_tag + static_cast<int>(kind); }
    Stream* StreamOf(ChannelKind kind, int peer, bool receives) {
      std::unique_ptr<Stream>& stream =
          streams[(size_t{2} * peer + receives) * kChannelKinds + static_cast<size_t>(kind)];
      if (stream == nullptr) stream = std::make_unique<Stream>(Stream{this, kind, peer, receives});
      return stream.get();
    }

    GroupId id = -1;
    int rank = 0;
    Carriers::iterator carrier;
    int first_tag = 0;
    std::vector<int> ranks;                        // in the carrier
    std::vector<std::unique_ptr<Stream>> streams;  // made when first used
    size_t sends = 0;  // not over; they outlive the closing of the group
    bool closed = false;
  };

  void EraseIfDrained(Group* group) {
    if (!group->closed || group->sends > 0) return;
    LeaveCarrier(group->carrier);
    groups_.Erase(group->id);
  }

  // A group of this carrier is gone.
  void LeaveCarrier(Carriers::iterator carrier) {
    if (--carrier->groups > 0) return;
    carriers_.splice(carriers_.end(), carriers_, carrier);
    const auto is_idle = [](const Carrier& c) { return c.groups == 0; };
    if (std::count_if(carriers_.begin(), carriers_.end(), is_idle) > kIdleCarriers) {
      FreeCarrier(std::find_if(carriers_.begin(), carriers_.end(), is_idle));
    }
  }

  // Local, as in every MPI we know of: the other members free theirs when they have no more use for
  // it, or at the end.
  void FreeCarrier(Carriers::iterator carrier) {
    MPI_Group_free(&carrier->members);
    if (carrier->control != MPI_COMM_NULL) MPI_Comm_free(&carrier->control);
    MPI_Comm_free(&carrier->comm);
    carriers_.erase(carrier);
  }

  Status CheckLength(size_t bytes) const {
    if (bytes <= capabilities_.max_piece_bytes) return Status();
    return PieceBeyondLimit("mpi", bytes, capabilities_.max_piece_bytes);
  }

  // A member's contribution to the opening of a group.
  struct Proposal {
    uint64_t carrier;  // its first wire id
    uint64_t wire_id;
    Host host;
  };

  void SpinFor(const Proposal& mine, const std::vector<Proposal>& all) {
    const auto neighbours = std::count_if(
        all.begin(), all.end(), [&](const Proposal& their) { return their.host == mine.host; });
    if (spins_ != rules::kMpiSpinsIfShared && RanksShareProcessors(static_cast<int>(neighbours))) {
      spins_ = rules::kMpiSpinsIfShared;
    }
  }

  // The members agree on a wire id, larger than any that a member has seen, and on a carrier.
  // They make a new one unless each of them proposes the same and it has tags left.
  Status Agree(MpiBootstrap* bootstrap, Group* group) {
    const int size = bootstrap->size();
    Carriers::iterator carrier;
    BRIGADE_RETURN_IF_ERROR(FindCarrier(bootstrap, &carrier, &group->ranks));
    constexpr uint64_t kNone = UINT64_MAX;
    const Proposal mine{carrier != carriers_.end() ? carrier->first_wire_id : kNone,
                        wire_ids_.proposal(), Host::Here()};
    std::vector<Proposal> proposals(size);
    BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), proposals.data()));
    const uint64_t wire_id = wire_ids_.Agree(proposals, &Proposal::wire_id);
    SpinFor(mine, proposals);
    const bool agreed = mine.carrier != kNone &&
                        std::all_of(proposals.begin(), proposals.end(), [&](const Proposal& their) {
                          return their.carrier == mine.carrier;
                        });
    if (!agreed || wire_id - carrier->first_wire_id >= max_wire_ids_) {
      BRIGADE_RETURN_IF_ERROR(MakeCarrier(bootstrap->comm(), wire_id, &carrier));
      std::iota(group->ranks.begin(), group->ranks.end(), 0);
    }
    group->carrier = carrier;
    group->first_tag = static_cast<int>(wire_id % max_wire_ids_) * kChannelKinds;
    return Status();
  }

  // The same on the carrier of the parent, which all members use.
  Status AgreeByParent(Bootstrap* bootstrap, const Bootstrap::Parent& parent, Group* group) {
    const Group& of_parent = groups_.At(parent.group);
    for (const int rank : *parent.ranks) group->ranks.push_back(of_parent.RankOf(rank));
    group->carrier = of_parent.carrier;
    ++group->carrier->groups;  // the parent may end meanwhile
    const Proposal mine{group->carrier->first_wire_id, wire_ids_.proposal(), Host::Here()};
    std::vector<Proposal> proposals(group->ranks.size());
    Status status = bootstrap->AllGather(&mine, sizeof(mine), proposals.data());
    if (status.ok()) {
      const uint64_t wire_id = wire_ids_.Agree(proposals, &Proposal::wire_id);
      SpinFor(mine, proposals);
      group->first_tag = static_cast<int>(wire_id % max_wire_ids_) * kChannelKinds;
      if (wire_id - mine.carrier < max_wire_ids_) return Status();
      status =
          Status(StatusCode::kUnavailable, "mpi: no tag is left for groups of this group, after " +
                                               std::to_string(max_wire_ids_) +
                                               "; make the group of an MPI communicator");
    }
    LeaveCarrier(group->carrier);
    return status;
  }

  // The newest carrier that has all members, and their ranks in it; carriers_.end() if there is
  // none. Each member had it once, so all find the same one, unless some have freed it since. Then
  // they make one that is newer still, and find that the next time.
  Status FindCarrier(MpiBootstrap* bootstrap, Carriers::iterator* found, std::vector<int>* ranks) {
    const int size = bootstrap->size();
    std::vector<int> bootstrap_ranks(size);
    std::iota(bootstrap_ranks.begin(), bootstrap_ranks.end(), 0);
    ranks->resize(size);
    MPI_Group members;
    BRIGADE_RETURN_IF_ERROR(
        MpiStatus(MPI_Comm_group(bootstrap->comm(), &members), "MPI_Comm_group"));
    *found = carriers_.end();
    std::vector<int> candidate_ranks(size);
    for (auto candidate = carriers_.begin(); candidate != carriers_.end(); ++candidate) {
      if (*found != carriers_.end() && candidate->first_wire_id < (*found)->first_wire_id) continue;
      MPI_Group_translate_ranks(members, size, bootstrap_ranks.data(), candidate->members,
                                candidate_ranks.data());
      if (std::count(candidate_ranks.begin(), candidate_ranks.end(), MPI_UNDEFINED) == 0) {
        *found = candidate;
        ranks->swap(candidate_ranks);
      }
    }
    MPI_Group_free(&members);
    return Status();
  }

  Status MakeCarrier(MPI_Comm comm, uint64_t first_wire_id, Carriers::iterator* made) {
    Carrier carrier{first_wire_id};
    BRIGADE_RETURN_IF_ERROR(Duplicate(comm, &carrier.comm));
    MPI_Comm_group(carrier.comm, &carrier.members);
    int size = 0;
    MPI_Group_size(carrier.members, &size);
    if (size > 1) BRIGADE_RETURN_IF_ERROR(Duplicate(comm, &carrier.control));
    *made = carriers_.insert(carriers_.end(), carrier);
    return Status();
  }

  static Status Duplicate(MPI_Comm comm, MPI_Comm* copy) {
    MPI_Request request;
    BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_idup(comm, copy, &request), "MPI_Comm_idup"));
    BRIGADE_RETURN_IF_ERROR(MpiPoll(&request, "MPI_Comm_idup"));
    MPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN);
    return Status();
  }

  // Messages that MPI still reads are never freed.
  void LeaveNotes() {
    static auto& left = *new std::list<Note>;
    left.splice(left.end(), notes_);
  }

  // Receives the control messages that have come, and frees those that have left.
  void MoveNotes() {
    for (auto note = notes_.begin(); note != notes_.end();) {
      int done = 0;
      // Failures are ignored.
      (void)TestOwn(&note->request, &done, MPI_STATUS_IGNORE);
      note = done ? notes_.erase(note) : std::next(note);
    }
    for (const Carrier& carrier : carriers_) {
      if (carrier.groups > 0 && carrier.control != MPI_COMM_NULL) TakeNotes(carrier);
    }
  }

  void TakeNotes(const Carrier& carrier) {
    for (;;) {
      const MpiCall counted;
      int found = 0;
      MPI_Message arrival;
      MPI_Status status;
      MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, carrier.control, &found, &arrival, &status);
      if (!found) return;
      ControlMessage message;
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      // So short a message is all there once it is found.
      MPI_Mrecv(message.data, kMostControlBytes, MPI_BYTE, &arrival, MPI_STATUS_IGNORE);
      message.bytes = static_cast<size_t>(bytes);
      groups_.ForEach([&](GroupId id, const Group* group) {
        if (&*group->carrier != &carrier || group->first_tag != status.MPI_TAG) return;
        const auto from = std::find(group->ranks.begin(), group->ranks.end(), status.MPI_SOURCE);
        if (from == group->ranks.end()) return;
        control_.Push(id, static_cast<int>(from - group->ranks.begin()), message.span());
      });
    }
  }

  // `type`: one element of it describes the landing, unless it is plain bytes. It is freed.
  Status Receive(const Channel& channel, int peer, ByteSpan landing, std::byte* lease_data,
                 Completion* completion, MPI_Datatype type = MPI_BYTE) {
    Group* const group = &groups_.At(channel.group);
    BRIGADE_RETURN_IF_ERROR(CheckLength(landing.bytes));
    Stream* stream = group->StreamOf(channel.kind, peer, /*receives=*/true);
    if (stream->early) {
      BRIGADE_CHECK(lease_data != nullptr);  // a first piece lands in no user memory
      FinishEarly(stream, landing, completion);
      return Status();
    }
    Pending receive{MPI_REQUEST_NULL, completion, landing, lease_data, type};
    if (landing.bytes > kShortLandingBytes && stream->unposted == 0) {
      BRIGADE_RETURN_IF_ERROR(Post(*stream, &receive));
    } else {
      ++stream->unposted;
    }
    Append(stream, receive);
    return Status();
  }

  // Takes the next message of a stream without receives, if it has come and is short: all of it is
  // there then.
  static bool TakeEarly(Stream* stream) {
    const MpiCall counted;
    const Group& group = *stream->group;
    const int from = group.RankOf(stream->peer);
    const int tag = group.TagOf(stream->kind);
    int found = 0;
    MPI_Message arrival;
    MPI_Status status;
    int bytes = 0;
    MPI_Iprobe(from, tag, group.carrier->comm, &found, &status);
    if (!found) return false;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (static_cast<size_t>(bytes) > kShortLandingBytes) return false;
    MPI_Improbe(from, tag, group.carrier->comm, &found, &arrival, &status);
    if (!found) return false;
    stream->early.emplace(static_cast<size_t>(bytes));
    MPI_Mrecv(stream->early->data(), bytes, MPI_BYTE, &arrival, MPI_STATUS_IGNORE);
    return true;
  }

  void FinishEarly(Stream* stream, ByteSpan landing, Completion* completion) {
    const std::vector<std::byte> message = std::move(*stream->early);
    stream->early.reset();
    completion->status = Status();
    completion->lease = Lease{landing.data, message.size(), 0};
    if (message.size() > landing.bytes) {
      completion->status = PieceTooLong("mpi", message.size(), stream->peer, landing.bytes);
    } else {
      std::copy(message.begin(), message.end(), landing.data);
    }
    completions_.Finish(completion, stream->group->id);
  }

  Status Post(const Stream& stream, Pending* receive) {
    const Group& group = *stream.group;
    const bool plain = receive->type == MPI_BYTE;
    const MpiCall counted;
    const int error =
        MPI_Irecv(receive->landing.data, plain ? static_cast<int>(receive->landing.bytes) : 1,
                  receive->type, group.RankOf(stream.peer), group.TagOf(stream.kind),
                  group.carrier->comm, &receive->request);
    FreeType(receive);
    return MpiStatus(error, "MPI_Irecv");
  }

  static void FreeType(Pending* receive) {
    if (receive->type != MPI_BYTE) MPI_Type_free(&receive->type);  // once the receive is over
    receive->type = MPI_BYTE;
  }

  void Append(Stream* stream, const Pending& pending) {
    stream->pending.push_back(pending);
    if (stream->pending.size() == 1) Watch(stream);  // else it ends behind the others
  }

  // Asks for the first operation of the stream, which has one, from now on.
  void Watch(Stream* stream) {
    if (stream->waits_for_probe()) {
      probed_.push_back(stream);
      return;
    }
    stream->slot = watched_.size();
    watched_.push_back(stream);
    requests_.push_back(stream->pending.front().request);
  }

  void Unwatch(const Stream* stream) {
    watched_[stream->slot] = watched_.back();
    watched_[stream->slot]->slot = stream->slot;
    requests_[stream->slot] = requests_.back();
    watched_.pop_back();
    requests_.pop_back();
  }

  void TestWatched() {
    CompletionQueue::Hold hold(&completions_);
    if (watched_.size() == 1) {
      int done = 0;
      MPI_Status status;
      const int error = TestOwn(&requests_[0], &done, &status);
      if (done || error != MPI_SUCCESS) FinishWatched(watched_[0], error, status);
      return;
    }
    if (indices_.size() < requests_.size()) {
      indices_.resize(requests_.size());
      statuses_.resize(requests_.size());
    }
    int count = 0;
    const int error = TestSomeOwn(static_cast<int>(requests_.size()), requests_.data(), &count,
                                  indices_.data(), statuses_.data());
    BRIGADE_CHECK(error == MPI_SUCCESS || error == MPI_ERR_IN_STATUS);
    finished_.clear();
    for (int i = 0; i < count; ++i) finished_.push_back(watched_[indices_[i]]);
    for (int i = 0; i < count; ++i) {
      FinishWatched(finished_[i], error == MPI_SUCCESS ? MPI_SUCCESS : statuses_[i].MPI_ERROR,
                    statuses_[i]);
    }
  }

  // The first operation of the stream, which was watched, is over.
  void FinishWatched(Stream* stream, int error, const MPI_Status& status) {
    FinishFirst(stream, error, status);
    FinishReady(stream);
    if (!stream->waits_for_probe()) {
      requests_[stream->slot] = stream->pending.front().request;
      return;
    }
    Unwatch(stream);
    if (stream->pending.empty()) {
      EraseIfDrained(stream->group);
    } else {
      Watch(stream);
    }
  }

  void ProbeStreams() {
    CompletionQueue::Hold hold(&completions_);
    for (size_t i = probed_.size(); i-- > 0;) {
      Stream* const stream = probed_[i];
      if (!PostFirst(stream)) continue;
      probed_[i] = probed_.back();
      probed_.pop_back();
      FinishReady(stream);
      if (!stream->pending.empty()) Watch(stream);
    }
  }

  // The first receive of the stream is not posted: posts it, or takes its message if that has come.
  // True: it is, or has failed.
  bool PostFirst(Stream* stream) {
    Pending* const first = &stream->pending.front();
    bool found = true;
    const Status status = first->landing.bytes > kShortLandingBytes
                              ? Post(*stream, first)
                              : TakeMessage(*stream, first, &found);
    if (status.ok() && !found) return false;
    --stream->unposted;
    if (!status.ok()) {
      FreeType(first);
      first->completion->status = status;
      completions_.Finish(first->completion, stream->group->id);
      stream->pending.pop_front();
    }
    // Long ones behind it need not wait.
    for (auto next = stream->pending.end() - static_cast<std::ptrdiff_t>(stream->unposted);
         next != stream->pending.end() && next->landing.bytes > kShortLandingBytes; ++next) {
      if (!Post(*stream, &*next).ok()) break;  // reported when it is the first
      --stream->unposted;
    }
    return true;
  }

  static Status TakeMessage(const Stream& stream, Pending* receive, bool* found) {
    const MpiCall counted;
    const Group& group = *stream.group;
    int there = 0;
    MPI_Message message;
    MPI_Status status;
    BRIGADE_RETURN_IF_ERROR(
        MpiStatus(MPI_Improbe(group.RankOf(stream.peer), group.TagOf(stream.kind),
                              group.carrier->comm, &there, &message, &status),
                  "MPI_Improbe"));
    *found = there != 0;
    if (!*found) return Status();
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    std::byte* memory = receive->landing.data;
    if (static_cast<size_t>(bytes) > receive->landing.bytes) {
      memory = receive->too_long = new std::byte[static_cast<size_t>(bytes)];
    }
    return MpiStatus(MPI_Imrecv(memory, bytes, MPI_BYTE, &message, &receive->request),
                     "MPI_Imrecv");
  }

  // Completes finished operations at the head of the stream.
  void FinishReady(Stream* stream) {
    while (!stream->waits_for_probe()) {
      int done = 0;
      MPI_Status status;
      const int error = TestOwn(&stream->pending.front().request, &done, &status);
      if (!done && error == MPI_SUCCESS) return;
      FinishFirst(stream, error, status);
    }
  }

  void FinishFirst(Stream* stream, int error, const MPI_Status& status) {
    const Pending first = stream->pending.front();
    stream->pending.pop_front();
    first.completion->status = MpiStatus(error, stream->receives ? "MPI_Irecv" : "MPI_Isend");
    if (!stream->receives) {
      --stream->group->sends;
      completions_.Finish(first.completion, CompletionQueue::kSend);
      return;
    }
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    first.completion->lease = Lease{first.lease_data, static_cast<size_t>(bytes), 0};
    if (first.too_long != nullptr ||
        (error != MPI_SUCCESS && ErrorClass(error) == MPI_ERR_TRUNCATE)) {
      first.completion->status =
          PieceTooLong("mpi", static_cast<size_t>(bytes), stream->peer, first.landing.bytes);
    }
    delete[] first.too_long;
    completions_.Finish(first.completion, stream->group->id);
  }

  // No landing of the group is written after this. A piece that has begun to arrive is waited for.
  void CancelReceives(Group* group) {
    for (const auto& stream : group->streams) {
      if (stream == nullptr || !stream->receives || stream->pending.empty()) continue;
      if (stream->waits_for_probe()) {
        probed_.erase(std::find(probed_.begin(), probed_.end(), stream.get()));
      } else {
        Unwatch(stream.get());
      }
      for (Pending& receive : stream->pending) {
        if (receive.request != MPI_REQUEST_NULL) MPI_Cancel(&receive.request);
        FreeType(&receive);
      }
      for (Pending& receive : stream->pending) {
        // The failure of a receive that is cancelled is ignored.
        if (receive.request != MPI_REQUEST_NULL) (void)MpiPoll(&receive.request, "MPI_Cancel");
        delete[] receive.too_long;
      }
      stream->pending.clear();
      stream->unposted = 0;
    }
  }

  // Polls before the rank yields: some microseconds if no other rank needs the processor, by the
  // launcher's environment, and by the groups so far.
  uint64_t spins_ =
      RanksShareProcessors(LocalRanks()) ? rules::kMpiSpinsIfShared : rules::kMpiSpins;
  const std::shared_ptr<const void> polls_ = PollMpiInWaits();
  const uint64_t max_wire_ids_;  // per carrier
  Capabilities capabilities_;
  std::unique_ptr<HeapDomain> domain_ = std::make_unique<HeapDomain>();
  WireIds wire_ids_;
  Carriers carriers_;  // the idle ones in the order in which they fell idle
  GroupTable<Group> groups_;

  // The first operation of every stream that has one; the two vectors run in parallel.
  std::vector<Stream*> watched_;
  std::vector<MPI_Request> requests_;
  // Streams whose first operation is a receive that is not posted.
  std::vector<Stream*> probed_;
  // Scratch of TestWatched.
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Stream*> finished_;

  std::list<Note> notes_;
  ControlQueue control_;
  uint64_t idle_polls_ = 0;
  CompletionQueue completions_;
};

}  // namespace

Status CreateMpiEndpoint(std::unique_ptr<Endpoint>* endpoint) {
  int initialised = 0;
  MPI_Initialized(&initialised);
  if (!initialised) {
    return Status(StatusCode::kUnavailable, "mpi: MPI is not initialised");
  }
  int* max_tag = nullptr;
  int found = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &max_tag, &found);
  BRIGADE_CHECK(found);
  *endpoint = std::make_unique<MpiEndpoint>(*max_tag);
  return Status();
}

}  // namespace brigade

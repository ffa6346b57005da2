#include "transport/mpi/mpi_transport.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <list>
#include <optional>
#include <utility>

#include "membuf/check.h"
#include "membuf/heap_domain.h"
#include "transport/core/completion_queue.h"
#include "transport/core/control_queue.h"
#include "transport/core/wait_policy.h"
#include "transport/host/host.h"
#include "transport/host/launcher.h"
#include "transport/mpi/groups.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/mpi/mpi_environment.h"
#include "transport/mpi/mpi_time.h"
#include "transport/mpi/own_requests.h"
#include "transport/mpi/polled_mpi.h"
#include "transport/mpi/requests.h"
#include "transport/rules.h"

namespace brigade {
namespace {

using mpi::Carrier;
using mpi::Group;

// Whether the launcher names more ranks of this host than it has processors. It does not name what
// each rank is bound to.
bool JobOutnumbersProcessors() {
  return LocalRanks() > std::min(static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)), ProcessorQuota());
}

// Control messages pending in MPI before the next one has to wait.
constexpr size_t kMostControls = 64;

constexpr WaitPolicy::Patience kAlone{rules::kMpiSpins, std::chrono::microseconds(0),
                                      WaitPolicy::kForever};
constexpr WaitPolicy::Patience kCrowded{rules::kMpiSpinsIfShared, std::chrono::microseconds(0),
                                        WaitPolicy::kForever};

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

class MpiEndpoint : public Endpoint, private Polling {
 public:
  explicit MpiEndpoint(int max_tag) : groups_(max_tag) {
    // By the launcher's environment; groups may add to it.
    waiting_.SetCrowded(JobOutnumbersProcessors());
    capabilities_.name = "mpi";
    capabilities_.calls_mpi = true;
    // Open MPI 4.1 reports a truncated message as it should, but over shared memory (CMA) and TCP
    // it has then written all of it.
    capabilities_.reports_losses = false;
    capabilities_.kept_receive_buffer_bytes = mpi::kShortReceiveBufferBytes;
    capabilities_.max_segment_bytes = mpi::kMaxSegmentBytes;
    capabilities_.tuning.preferred_segment_bytes = rules::kMpiSegmentBytes;
    capabilities_.eager_segment_bytes = rules::kMpiEagerBytes;
  }

  ~MpiEndpoint() override {
    if (process_ == getpid()) {
      groups_.ForEach([this](GroupId, Group* group) { Leave(group); });
    } else {
      groups_.carriers.LeaveToParent();  // a forked child may not call MPI
    }
    LeaveControls();
    // An engine does not free memory of pending sends, which MPI still reads.
    if (domain_->registered_bytes() > 0) (void)domain_.release();
  }

  const Capabilities& capabilities() const override { return capabilities_; }
  MemoryDomain* domain() override { return domain_.get(); }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* id) override {
    auto group = std::make_unique<Group>();
    Status agreed;
    if (auto* const by_mpi = dynamic_cast<MpiBootstrap*>(bootstrap)) {
      agreed = groups_.carriers.Agree(by_mpi, group.get());
    } else if (const std::optional<Bootstrap::Parent> parent = bootstrap->parent()) {
      agreed = groups_.carriers.AgreeByParent(bootstrap, groups_.At(parent->group), *parent->ranks,
                                              group.get());
    } else {
      return Status(
          StatusCode::kUnavailable,
          "mpi: a group is opened with an MPI communicator, which this bootstrap has not");
    }
    if (group->shares_processors) waiting_.SetCrowded(true);
    BRIGADE_RETURN_IF_ERROR(agreed);
    group->rank = bootstrap->rank();
    group->streams.resize(size_t{2} * kChannelKinds * bootstrap->size());
    Group* const opened = group.get();
    *id = opened->id = groups_.Add(std::move(group));
    return Status();
  }

  void CloseGroup(GroupId id) override {
    Group& group = groups_.At(id);
    control_.RemoveHandler(id);
    requests_.CancelReceives(&group);
    completions_.CancelReceives(id, [](const Lease&) {});
    groups_.Close(id);
    group.closed = true;
    groups_.EraseIfDrained(&group);
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    return requests_.PostSend(channel, peer, segment, completion);
  }

  Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                     Completion* completion) override {
    return requests_.PostReceive(channel, peer, receive_buffer, /*lease_data=*/receive_buffer.data,
                                 completion);
  }

  bool LandsInPlace(const Channel&, int, const LayoutRange& range) const override {
    if (range.bytes > capabilities_.max_segment_bytes) return false;
    return range.layout->plain() || (range.layout->part() == StridedLayout::Part::kGeneral &&
                                     range.bytes >= rules::kMpiTypedBytes);
  }

  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    if (range.layout->plain()) {
      return requests_.PostReceive(channel, peer, ByteSpan{range.base + range.offset, range.bytes},
                                   /*lease_data=*/nullptr, completion);
    }
    MPI_Datatype type;
    BRIGADE_RETURN_IF_ERROR(MakeRangeType(range, &type));
    return requests_.PostReceive(channel, peer, ByteSpan{range.base, range.bytes},
                                 /*lease_data=*/nullptr, completion, type);
  }

  size_t PeekUnexpected(const Channel& channel, int peer, ByteSpan head) override {
    return requests_.PeekUnexpected(channel, peer, head);
  }

  void ReleaseLease(const Lease&) override {}  // leases lie in the receive buffer

  Polling* polling() override { return this; }
  // Where every rank has a processor of its own, a peer's answer is worth a few microseconds of
  // polling; where ranks share processors, polling only delays it.
  void Pause(uint64_t idle_polls) override { (void)waiting_.Pause(idle_polls); }

  void Nudge() override {
    PollMpi();
    polled_ = rules::kMpiPollsPerControlLook - 1;  // the next Progress looks for control messages
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
    if (urgency != Urgency::kUrgent && pending_controls_.size() >= kMostControls) {
      return Status(StatusCode::kNoResource, "mpi: control messages wait to be taken");
    }
    pending_controls_.push_back({MPI_REQUEST_NULL, ControlMessage(message)});
    PendingControl& control = pending_controls_.back();
    const Status status =
        MpiStatus(MPI_Isend(control.message.data, static_cast<int>(message.bytes), MPI_BYTE, to,
                            group->first_tag, group->carrier->control, &control.request),
                  "MPI_Isend");
    if (!status.ok()) pending_controls_.pop_back();
    return status;
  }

  bool HoldsControl() const override { return !pending_controls_.empty(); }

  bool Progress() override {
    BRIGADE_CHECK(!completions_.running());
    requests_.Progress();
    bool any = control_.Deliver();
    any |= completions_.Run();
    if (++polled_ % rules::kMpiPollsPerControlLook != 0) return any;
    MoveControls();
    return control_.Deliver() || any;
  }

 private:
  // A control message that is being sent.
  struct PendingControl {
    MPI_Request request;
    ControlMessage message;
  };

  void Leave(Group* group) {
    requests_.CancelReceives(group);
    // Sends still under way are left to MPI; their memory must outlive MPI_Finalize.
    for (const auto& stream : group->streams) {
      if (stream == nullptr) continue;
      for (mpi::Pending& send : stream->pending) MPI_Request_free(&send.request);
    }
  }
  // Messages that MPI still reads are never freed.
  void LeaveControls() {
    static auto& left = *new std::list<PendingControl>;
    left.splice(left.end(), pending_controls_);
  }

  // Receives the control messages that have come, and frees those that have left.
  void MoveControls() {
    for (auto control = pending_controls_.begin(); control != pending_controls_.end();) {
      int done = 0;
      // Failures are ignored.
      (void)TestOwn(&control->request, &done, MPI_STATUS_IGNORE);
      control = done ? pending_controls_.erase(control) : std::next(control);
    }
    for (const Carrier& carrier : groups_.carriers.all()) {
      if (carrier.groups > 0 && carrier.control != MPI_COMM_NULL) TakeControls(carrier);
    }
  }

  void TakeControls(const Carrier& carrier) {
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

  WaitPolicy waiting_{kAlone, kCrowded, /*polls_mpi=*/false};
  const std::shared_ptr<const void> polls_ = PollMpiInWaits();
  const pid_t process_ = getpid();
  Capabilities capabilities_;
  std::unique_ptr<HeapDomain> domain_ = std::make_unique<HeapDomain>();
  mpi::Groups groups_;
  std::list<PendingControl> pending_controls_;
  ControlQueue control_;
  uint64_t polled_ = 0;
  CompletionQueue completions_;
  mpi::Requests requests_{&groups_, &completions_};
};

}  // namespace

Status CreateMpiEndpoint(std::unique_ptr<Endpoint>* endpoint) {
  if (!MpiIsActive()) {
    return Status(StatusCode::kUnavailable, "mpi: MPI is not initialised, or has ended");
  }
  *endpoint = std::make_unique<MpiEndpoint>(LargestMpiTag());
  return Status();
}

}  // namespace brigade

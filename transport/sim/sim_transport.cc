#include "transport/sim/sim_transport.h"

#include <algorithm>
#include <utility>

#include "membuf/check.h"
#include "transport/core/control_queue.h"
#include "transport/core/fifo.h"
#include "transport/core/group_table.h"
#include "transport/sim/bus_work.h"
#include "transport/sim/event_queue.h"
#include "transport/sim/rank_scheduler.h"
#include "transport/sim/sim_bootstrap.h"
#include "transport/sim/sim_domain.h"
#include "transport/sim/sim_streams.h"
#include "transport/simulated_processor.h"

namespace brigade {

class SimEndpoint;

namespace {

using Gather = SimGathers::Gather;
using Members = SimGathers::Members;

// Of a segment, where only lengths count.
constexpr size_t kHeadBytes = 64;

}  // namespace

class SimWorld::State {
 public:
  State(const MachineDescription& machine_description, int ranks, const SimOptions& sim_options)
      : options(sim_options),
        machine(machine_description),
        bus_work(&queue, machine, machine.HostOf(ranks - 1) + 1),
        scheduler(&queue, ranks, options.stack_bytes),
        endpoints(static_cast<size_t>(ranks)),
        streams(
            &queue, &bus_work, machine, ranks, options.carries_payload ? SIZE_MAX : kHeadBytes,
            [this](int rank, const SimStreams::Ended& ended) { Tell(rank, ended); },
            [this](const SimStream& stream, ConstByteSpan message, bool joined_next) {
              TellControl(stream, message, joined_next);
            }),
        gathers(&scheduler, ranks) {}
  // Drops messages that are still on their way.
  ~State() {
    while (queue.RunNext()) {
    }
  }

  const SimOptions options;
  const MachineDescription machine;
  EventQueue queue;
  BusWork bus_work;
  RankScheduler scheduler;
  std::vector<SimEndpoint*> endpoints;  // of each rank; null if there is none
  SimStreams streams;
  SimGathers gathers;

 private:
  void Tell(int rank, const SimStreams::Ended& ended);
  void TellControl(const SimStream& stream, ConstByteSpan message, bool joined_next);
};

class SimEndpoint : public Endpoint, private Polling, private SimulatedProcessor {
 public:
  SimEndpoint(SimWorld::State* world, int rank)
      : world_(world), machine_(world->machine), rank_(rank), domain_(machine_) {
    world_->endpoints[static_cast<size_t>(rank)] = this;
    mixed_.name = "sim";
    mixed_.progresses_alone = true;
    mixed_.reports_losses = false;
    mixed_.needs_registered_memory = machine_.needs_staging;
    mixed_.tuning.preferred_segment_bytes = machine_.preferred_segment_bytes;
    mixed_.tuning.overlap_segment_bytes = machine_.overlap_segment_bytes;
    mixed_.tuning.segment_cost_bytes = machine_.segment_cost_bytes;
    near_ = far_ = mixed_;
    near_.eager_segment_bytes = machine_.within_host.eager_bytes;
    far_.eager_segment_bytes = machine_.between_hosts.eager_bytes;
    mixed_.eager_segment_bytes = std::min(near_.eager_segment_bytes, far_.eager_segment_bytes);
  }
  ~SimEndpoint() override {
    groups_.ForEach([this](GroupId id, const Group*) { CloseGroup(id); });
    world_->endpoints[static_cast<size_t>(rank_)] = nullptr;
  }

  const Capabilities& capabilities() const override { return mixed_; }
  const Capabilities& CapabilitiesOf(GroupId id) const override {
    const SimGroup& group = *groups_.At(id).shared;
    if (group.host_count == 1) return near_;
    return static_cast<size_t>(group.host_count) == group.members->size() ? far_ : mixed_;
  }
  const Capabilities& CapabilitiesTo(GroupId id, int peer) const override {
    const Group& group = groups_.At(id);
    const std::vector<int>& hosts = group.shared->hosts;
    return hosts[static_cast<size_t>(peer)] == hosts[static_cast<size_t>(group.rank)] ? near_
                                                                                      : far_;
  }
  int HostOf(GroupId id, int peer) const override {
    return groups_.At(id).shared->hosts[static_cast<size_t>(peer)];
  }
  int CountHosts(GroupId id, int first, int stride, int count) const override {
    const SimGroup& group = *groups_.At(id).shared;
    if (static_cast<size_t>(count) == group.members->size()) return group.host_count;
    return Endpoint::CountHosts(id, first, stride, count);
  }
  MemoryDomain* domain() override { return &domain_; }

  Status OpenGroup(Bootstrap* bootstrap, GroupId* id) override {
    const Members* members = nullptr;
    if (const auto* const sim = dynamic_cast<SimBootstrap*>(bootstrap)) {
      members = sim->members();
    } else if (const std::optional<Bootstrap::Parent> parent = bootstrap->parent()) {
      Members of_parent;
      for (const int rank : *parent->ranks) {
        of_parent.push_back(
            (*groups_.At(parent->group).shared->members)[static_cast<size_t>(rank)]);
      }
      members = world_->gathers.ListOf(of_parent);
    } else {
      return Status(StatusCode::kUnavailable, "sim: needs a bootstrap of its own world");
    }
    auto group = std::make_unique<Group>();
    group->rank = bootstrap->rank();
    world_->gathers.Meet(
        members, bootstrap->rank(),
        [&](Gather* gather) {
          if (gather->group != nullptr) return;
          gather->group = std::make_shared<SimGroup>(machine_, members);
        },
        [&](const Gather& gather) { group->shared = gather.group; });
    *id = groups_.Add(std::move(group));
    return Status();
  }

  void CloseGroup(GroupId id) override {
    world_->scheduler.CatchUp(rank_);  // until then messages arrive
    const Group& group = groups_.At(id);
    SendHeld([&](const SimStream& stream) { return stream.group == group.shared.get(); },
             /*joined=*/false);
    control_.RemoveHandler(id);
    Fifo<SimStreams::Ended> kept;
    for (const SimStreams::Ended& ended : ended_) {
      if (ended.receive_group != id) kept.push_back(ended);
    }
    ended_ = std::move(kept);
    world_->streams.Close(group.shared.get(), group.rank);
    groups_.Erase(id);
  }

  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    const Group& group = groups_.At(channel.group);
    SimStream* const stream =
        group.shared->StreamOf(channel.kind, group.rank, Checked(group, peer));
    idle_polls_ = 0;
    const Link& link = world_->streams.LinkOf(*stream);
    Spend(link.send_overhead.Microseconds(segment.bytes));
    SendHeldTo(*stream, /*joined=*/segment.bytes <= link.eager_bytes);
    world_->streams.Post(stream, SimStream::Send{segment, domain_.MemoryAt(segment.data),
                                                 world_->scheduler.clock(rank_), completion});
    return Status();
  }

  Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                     Completion* completion) override {
    Post(channel, peer, receive_buffer, /*in_place=*/false, completion);
    return Status();
  }

  bool LandsInPlace(const Channel&, int, const LayoutRange& range) const override {
    size_t memory_offset;
    return !machine_.needs_staging &&
           range.layout->ContiguousRange(range.offset, range.bytes, &memory_offset);
  }

  Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                            Completion* completion) override {
    size_t memory_offset = 0;
    BRIGADE_CHECK(range.layout->ContiguousRange(range.offset, range.bytes, &memory_offset));
    Post(channel, peer, {range.base + memory_offset, range.bytes}, /*in_place=*/true, completion);
    return Status();
  }

  void ReleaseLease(const Lease&) override {}

  void SetControlHandler(GroupId id, ControlHandler* handler) override {
    control_.SetHandler(id, handler);
  }
  Status SendControl(GroupId id, int peer, ConstByteSpan message, Urgency urgency) override {
    const Group& group = groups_.At(id);
    SimStream* const stream = group.shared->ControlTo(group.rank, Checked(group, peer));
    idle_polls_ = 0;
    if (urgency == Urgency::kWithNext && world_->streams.LinkOf(*stream).joins_control) {
      held_.push_back({stream, ControlMessage(message)});
      return Status();
    }
    SpendOnControl(*stream, message.bytes, /*joins_next=*/false);
    SendHeldTo(*stream, /*joined=*/true);
    PostControl({stream, ControlMessage(message)}, /*joins_next=*/false);
    return Status();
  }

  bool Progress() override {
    BRIGADE_CHECK(!in_callback_);
    world_->scheduler.CatchUp(rank_);
    if (TakeControls()) return true;
    // A second poll without other calls in between would be repeated until something happens:
    // sleeps instead.
    if (ended_.empty() && idle_polls_++ > 0) world_->scheduler.Sleep(rank_);
    if (ended_.empty()) return TakeControls();
    idle_polls_ = 0;
    while (!ended_.empty()) {
      const SimStreams::Ended ended = ended_.front();
      ended_.pop_front();
      world_->scheduler.Spend(rank_, ended.overhead);
      in_callback_ = true;
      ended.completion->callback(ended.completion);
      in_callback_ = false;
    }
    return true;
  }

  Polling* polling() override { return this; }
  // Virtual time has no polls: a waiting rank continues at once when something happens.
  void Pause(uint64_t) override {
    world_->scheduler.CatchUp(rank_);
    if (ended_.empty() && control_.empty()) world_->scheduler.Sleep(rank_);
  }
  uint64_t PollsAwake() const override { return 0; }
  SimulatedProcessor* simulated_processor() override { return this; }

  void Tell(const SimStreams::Ended& ended) {
    ended_.push_back(ended);
    world_->scheduler.Wake(rank_);
  }
  void TellControl(const SimStream& stream, ConstByteSpan message, bool joined_next) {
    const Overhead& overhead = world_->streams.LinkOf(stream).receive_overhead;
    groups_.ForEach([&](GroupId id, const Group* group) {
      if (group->shared.get() != stream.group) return;
      control_.Push(id, stream.from, message);
      control_overhead_us_ +=
          joined_next ? overhead.OfBytes(message.bytes) : overhead.Microseconds(message.bytes);
    });
    world_->scheduler.Wake(rank_);
  }

 private:
  struct Group {
    std::shared_ptr<SimGroup> shared;
    int rank = 0;
  };

  struct HeldControl {
    SimStream* stream;
    ControlMessage message;
  };

  void SpendOnControl(const SimStream& stream, size_t bytes, bool joins_next) {
    const Overhead& overhead = world_->streams.LinkOf(stream).send_overhead;
    Spend(joins_next ? overhead.OfBytes(bytes) : overhead.Microseconds(bytes));
  }
  void PostControl(const HeldControl& control, bool joins_next) {
    world_->streams.Post(control.stream, control.message,
                         machine_.memory_of_kind[static_cast<int>(MemoryKind::kHost)],
                         world_->scheduler.clock(rank_), joins_next);
  }
  // Sends the held control messages for whose stream `goes` is true. `joined`: together with the
  // message that follows.
  template <typename Goes>
  void SendHeld(const Goes& goes, bool joined) {
    std::vector<HeldControl> kept;
    for (const HeldControl& control : held_) {
      if (!goes(*control.stream)) {
        kept.push_back(control);
        continue;
      }
      SpendOnControl(*control.stream, control.message.bytes, joined);
      PostControl(control, joined);
    }
    held_ = std::move(kept);
  }
  // Sends the held control messages for the member of `stream`.
  void SendHeldTo(const SimStream& stream, bool joined) {
    if (held_.empty()) return;
    SendHeld(
        [&](const SimStream& held) { return held.group == stream.group && held.to == stream.to; },
        joined);
  }

  // Runs the handlers of the control messages that have come. True if there was one.
  bool TakeControls() {
    if (control_.empty()) return false;
    idle_polls_ = 0;
    Spend(std::exchange(control_overhead_us_, 0));
    in_callback_ = true;
    control_.Deliver();
    in_callback_ = false;
    return true;
  }

  static int Checked(const Group& group, int peer) {
    BRIGADE_CHECK_LT(static_cast<size_t>(peer), group.shared->members->size());
    return peer;
  }

  void Post(const Channel& channel, int peer, ByteSpan receive_buffer, bool in_place,
            Completion* completion) {
    const Group& group = groups_.At(channel.group);
    SimStream* const stream =
        group.shared->StreamOf(channel.kind, Checked(group, peer), group.rank);
    idle_polls_ = 0;
    world_->streams.Post(
        stream,
        SimStream::Receive{receive_buffer, domain_.MemoryAt(receive_buffer.data),
                           world_->scheduler.clock(rank_), completion, channel.group, in_place});
  }

  void Spend(double microseconds) { world_->scheduler.Spend(rank_, SimTimeOf(microseconds)); }

  // --- SimulatedProcessor ---

  bool Copy(const std::byte* to, const std::byte* from, size_t bytes, size_t run_bytes) override {
    Work(machine_.Copy(domain_.MemoryAt(from), domain_.MemoryAt(to)), bytes, run_bytes);
    return world_->options.carries_payload;
  }

  bool Combine(const std::byte* dst, const std::byte* left, const std::byte* right, size_t bytes,
               size_t run_bytes) override {
    // The slower one of the operands that are not the destination itself decides.
    const MemoryWork* slowest = nullptr;
    const auto run = static_cast<double>(run_bytes);
    for (const std::byte* operand : {left, right}) {
      if (operand == dst) continue;
      const MemoryWork& work = machine_.Add(domain_.MemoryAt(operand), domain_.MemoryAt(dst));
      if (slowest == nullptr || work.rate.RateAt(run) < slowest->rate.RateAt(run)) slowest = &work;
    }
    Work(*slowest, bytes, run_bytes);
    return world_->options.carries_payload;
  }

  void Compute(double microseconds) override {
    idle_polls_ = 0;
    Spend(microseconds);
  }

  void Work(const MemoryWork& work, size_t bytes, size_t run_bytes) {
    idle_polls_ = 0;
    if (bytes == 0) return;
    const double mb_s = work.rate.RateAt(static_cast<double>(std::min(run_bytes, bytes)));
    const double alone_us = static_cast<double>(bytes) / mb_s;
    if (work.buses.empty()) return Spend(alone_us);
    demands_.clear();
    for (const BusUse& use : work.buses) {
      demands_.push_back({machine_.HostOf(rank_), use.bus, use.weight * mb_s});
    }
    world_->scheduler.CatchUp(rank_);
    world_->bus_work.Start(SimTimeOf(alone_us), demands_, rank_, &world_->scheduler,
                           RankScheduler::ResumeAt(rank_));
    world_->scheduler.Await(rank_);
  }

  SimWorld::State* const world_;
  const MachineDescription& machine_;
  const int rank_;
  SimDomain domain_;
  // To peers on this host, to those on others, and of groups with both.
  Capabilities near_;
  Capabilities far_;
  Capabilities mixed_;
  GroupTable<Group> groups_;
  Fifo<SimStreams::Ended> ended_;
  ControlQueue control_;
  double control_overhead_us_ = 0;  // of those in it
  std::vector<HeldControl> held_;   // until something else is sent there
  int idle_polls_ = 0;              // in a row
  bool in_callback_ = false;
  std::vector<BusWork::Demand> demands_;  // scratch of Work
};

// The completion of a send is dropped if its rank is gone.
void SimWorld::State::Tell(int rank, const SimStreams::Ended& ended) {
  SimEndpoint* const endpoint = endpoints[static_cast<size_t>(rank)];
  if (endpoint != nullptr) endpoint->Tell(ended);
}

void SimWorld::State::TellControl(const SimStream& stream, ConstByteSpan message,
                                  bool joined_next) {
  SimEndpoint* const endpoint = endpoints[static_cast<size_t>(stream.to_rank)];
  if (endpoint != nullptr) endpoint->TellControl(stream, message, joined_next);
}

SimWorld::SimWorld(const MachineDescription& machine, int ranks, const SimOptions& options)
    : state_(std::make_unique<State>(machine, ranks, options)) {}

SimWorld::~SimWorld() = default;

int SimWorld::ranks() const { return static_cast<int>(state_->gathers.everyone()->size()); }

const MachineDescription& SimWorld::machine() const { return state_->machine; }

Status SimWorld::Run(const std::function<void(int rank)>& body) {
  return state_->scheduler.Run(body);
}

double SimWorld::Clock(int rank) const { return Microseconds(state_->scheduler.clock(rank)); }

std::unique_ptr<Bootstrap> SimWorld::MakeBootstrap(const std::vector<int>& members, int my_rank) {
  return std::make_unique<SimBootstrap>(&state_->gathers, state_->gathers.ListOf(members), my_rank);
}

std::unique_ptr<Bootstrap> SimWorld::MakeBootstrap(int my_rank) {
  return std::make_unique<SimBootstrap>(&state_->gathers, state_->gathers.everyone(), my_rank);
}

std::unique_ptr<Endpoint> SimWorld::CreateEndpoint(int rank) {
  BRIGADE_CHECK(state_->endpoints[static_cast<size_t>(rank)] == nullptr);
  return std::make_unique<SimEndpoint>(state_.get(), rank);
}

}  // namespace brigade

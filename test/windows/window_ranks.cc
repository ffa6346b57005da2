#include "test/windows/window_ranks.h"

#include <stdexcept>
#include <utility>

#include "test/support/endpoints/checked_endpoint.h"
#include "test/support/endpoints/fault_endpoint.h"
#include "test/support/run_ranks.h"
#include "transport/shm/shm_transport.h"
#include "transport/sim/sim_transport.h"
#include "transport/tcp/tcp_transport.h"

namespace brigade {
namespace {

TcpOptions Loopback() {
  TcpOptions options;
  options.interface = "lo";
  return options;
}

bool All(int) { return true; }
bool OddOnes(int rank) { return rank % 2 == 1; }

class Threads final : public WindowWorld {
 public:
  explicit Threads(InprocWorld* world) : world_(*world) {}
  int ranks() const override { return world_.ranks(); }
  std::unique_ptr<Bootstrap> MakeBootstrap(int rank) override { return world_.MakeBootstrap(rank); }
  std::unique_ptr<Endpoint> CreateEndpoint(int rank) override {
    return world_.CreateEndpoint(rank);
  }
  double Clock(int) const override { return 0; }

 private:
  InprocWorld& world_;
};

class Simulation final : public WindowWorld {
 public:
  explicit Simulation(SimWorld* world) : world_(*world) {}
  int ranks() const override { return world_.ranks(); }
  std::unique_ptr<Bootstrap> MakeBootstrap(int rank) override { return world_.MakeBootstrap(rank); }
  std::unique_ptr<Endpoint> CreateEndpoint(int rank) override {
    return world_.CreateEndpoint(rank);
  }
  double Clock(int rank) const override { return world_.Clock(rank); }

 private:
  SimWorld& world_;
};

WindowSetup SimulatedSetup(const std::string& machine, int ranks_per_host) {
  WindowSetup setup;
  setup.name = "simulated_" + machine;
  setup.transport = WindowSetup::Transport::kSim;
  setup.goes_directly = All;  // which it does not here
  Require(MachineDescription::Read("transport/machines/" + machine + ".json", &setup.machine));
  setup.machine.ranks_per_host = ranks_per_host;
  // Tests keep more under way than the memories of old.
  for (Memory& memory : setup.machine.memories) memory.bytes_per_rank = SIZE_MAX;
  return setup;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const WindowSetup& setup) { return out << setup.name; }

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

std::vector<WindowSetup> WindowSetups() {
  using Transport = WindowSetup::Transport;
  InprocOptions progress_thread;
  progress_thread.allows_progress_thread = true;
  InprocOptions peer = progress_thread;
  peer.lands_in_peer_memory = true;
  InprocOptions through_staging = progress_thread;
  through_staging.lands_in_place = false;
  InprocOptions unstaged = progress_thread;
  unstaged.sends_in_place = true;
  std::vector<WindowSetup> setups(12);
  setups[0].name = "messages";
  setups[1].name = "messages_through_staging";
  setups[1].inproc = through_staging;
  setups[2].name = "messages_in_peer_memory";
  setups[2].inproc = peer;
  setups[3].name = "messages_and_progress_thread";
  setups[3].inproc = progress_thread;
  setups[4].name = "disturbed_messages";
  setups[4].is_disturbed = true;
  setups[5].name = "shared_memory";
  setups[5].transport = Transport::kShm;
  setups[5].goes_directly = All;
  setups[5].kind = WindowMemory::kShared;
  setups[6].name = "messages_over_shm";
  setups[6].transport = Transport::kShm;
  // Some work on the memory that others reach by messages, at the same time.
  setups[7].name = "both_at_once";
  setups[7].goes_directly = OddOnes;
  setups[8].name = "messages_over_tcp";
  setups[8].transport = Transport::kTcp;
  setups[9].name = "checked";
  setups[9].goes_directly = All;
  setups[9].is_checked = All;
  setups[10].name = "messages_unstaged";
  setups[10].inproc = unstaged;
  setups[11].name = "disturbed_messages_unstaged";
  setups[11].inproc = unstaged;
  setups[11].is_disturbed = true;
  return setups;
}

std::vector<WindowSetup> SimulatedWindowSetups() {
  std::vector<WindowSetup> setups = {SimulatedSetup("ap3000", 1),
                                     SimulatedSetup("shaped_cluster", 1),
                                     SimulatedSetup("fat_nodes_100g", 2)};
  setups.push_back(setups.back());
  setups.back().name += "_disturbed";
  setups.back().is_disturbed = true;
  setups.push_back(setups[1]);
  setups.back().name += "_checked";
  setups.back().is_checked = All;
  return setups;
}

WindowRank::WindowRank(const WindowSetup& setup, WindowWorld* world, int rank)
    : setup_(setup), world_(world), rank_(rank) {
  switch (setup.transport) {
    case WindowSetup::Transport::kInproc:
    case WindowSetup::Transport::kSim:
      endpoint_ = world->CreateEndpoint(rank);
      break;
    case WindowSetup::Transport::kShm:
      Require(CreateShmEndpoint(&endpoint_));
      break;
    case WindowSetup::Transport::kTcp:
      Require(CreateTcpEndpoint(Loopback(), &endpoint_));
      break;
  }
  if (setup.is_disturbed) {
    FaultOptions faults;
    faults.seed = 1 + rank;
    faults.no_resource = 0.2;
    faults.max_delay = 5;
    endpoint_ = MakeFaultEndpoint(std::move(endpoint_), faults);
  }
  if (setup.wrap) endpoint_ = setup.wrap(rank, std::move(endpoint_));
  endpoint_ = MakeCheckedEndpoint(std::move(endpoint_));
  EngineOptions options;
  options.chunk_bytes = 1024;
  options.staging_bytes = size_t{64} << 10;
  Require(Engine::Create(endpoint_.get(), options, &engine_));
  Require(WindowSpace::Create(engine_.get(), &space_));
  Require(Group::Create(engine_.get(), world->MakeBootstrap(rank).get(), 1, size(), &group_));
}

std::unique_ptr<Window> WindowRank::Make(size_t bytes, int64_t unit) {
  WindowOptions options;
  options.kind = setup_.kind;
  options.bytes = bytes;
  options.unit = unit;
  if (setup_.kind == WindowMemory::kPrivate) {
    memory_.push_back(std::make_unique<std::vector<std::byte>>(bytes));
    options.memory = memory_.back()->data();
  }
  return Make(options);
}

std::unique_ptr<Window> WindowRank::MakeOf(std::byte* memory, size_t bytes) {
  WindowOptions options;
  options.memory = memory;
  options.bytes = bytes;
  return Make(options);
}

std::unique_ptr<Window> WindowRank::MakeInOnePiece(size_t bytes) {
  WindowOptions options;
  options.kind = WindowMemory::kShared;
  options.in_one_piece = true;
  options.bytes = bytes;
  return Make(options);
}

std::unique_ptr<Window> WindowRank::MakeDynamic() {
  WindowOptions options;
  options.kind = WindowMemory::kDynamic;
  return Make(options);
}

std::unique_ptr<Window> WindowRank::Make(WindowOptions options) {
  options.goes_directly = setup_.goes_directly(rank_);
  options.is_checked = setup_.is_checked(rank_);
  // Sends what a disturbed transport has refused: a rank that waits in the bootstrap makes no
  // progress.
  SendAll();
  std::unique_ptr<Window> window;
  Require(Window::Create(space_.get(), world_->MakeBootstrap(rank_).get(), options, &window));
  return window;
}

void WindowRank::SendAll() {
  const auto is_over = [this] {
    const Engine::ProgressGuard guard(engine_.get());
    return engine_->IsIdle() && !engine_->endpoint()->HoldsControl();
  };
  while (!is_over()) engine_->Progress();
}

void WindowRank::Meet() { Require(group_->Run(PatternCall())); }  // a barrier

void WindowRank::Leave() {
  Meet();
  // Messages that return buffers late must be sent, too.
  Require(engine_->Drain());
  while (endpoint_->HoldsControl()) engine_->Progress();
  char nothing = 0;
  std::vector<char> all(static_cast<size_t>(size()));
  Require(world_->MakeBootstrap(rank_)->AllGather(&nothing, 1, all.data()));
}

void WindowRank::Die(std::unique_ptr<Window> window) {
  // The objects of a process that has died. No thread calls their Progress any more.
  struct Remains {
    std::unique_ptr<Endpoint> endpoint;
    std::unique_ptr<Engine> engine;
    Engine::ProgressGuard guard;
    std::unique_ptr<WindowSpace> space;
    std::unique_ptr<Group> group;
    std::unique_ptr<Window> window;
  };
  static auto* const remains = new std::vector<Remains*>;
  Engine* const engine = engine_.get();
  remains->push_back(new Remains{std::move(endpoint_), std::move(engine_),
                                 Engine::ProgressGuard(engine), std::move(space_),
                                 std::move(group_), std::move(window)});
}

void OnWindowRanks(const WindowSetup& setup, int ranks,
                   const std::function<void(WindowRank&)>& body, bool leave_together) {
  const auto run = [&](WindowWorld* world, int rank) {
    WindowRank self(setup, world, rank);
    body(self);
    if (leave_together) self.Leave();
  };
  if (setup.transport == WindowSetup::Transport::kSim) {
    SimWorld world(setup.machine, ranks);
    Simulation simulation(&world);
    Require(world.Run([&](int rank) { run(&simulation, rank); }));
    return;
  }
  RunRanks(ranks, setup.inproc, [&](InprocWorld& world, int rank) {
    Threads threads(&world);
    run(&threads, rank);
  });
}

}  // namespace brigade

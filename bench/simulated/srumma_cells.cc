#include "bench/simulated/srumma_cells.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "membuf/check.h"
#include "transport/sim/bus_work.h"
#include "transport/sim/event_queue.h"
#include "transport/sim/sim_network.h"
#include "windows/multiply/contention.h"
#include "windows/multiply/distribution.h"
#include "windows/multiply/panels.h"
#include "windows/multiply/visits.h"

namespace brigade::bench {
namespace {

constexpr size_t kRequestBytes = 48;  // a control message

double MicrosecondsFor(const SrummaCell& cell, double width) {
  return 2.0 * cell.block * cell.block * width / (cell.gflops * 1e3);
}

// Ranks that wait for messages and compute, step by step.
class Simulation : public SimNetwork::Client, public EventHandler {
 public:
  Simulation(const MachineDescription& machine, const SrummaCell& cell, double step_us)
      : machine_(machine),
        cell_(cell),
        step_(SimTimeOf(step_us)),
        copied_(static_cast<size_t>(cell.ranks())),
        bus_work_(&queue_, machine, machine.HostOf(cell.ranks() - 1) + 1),
        network_(&queue_, &bus_work_, machine, cell.ranks(), this) {}

  // Until nothing more happens; microseconds until the last rank was done.
  double Run() {
    for (int rank = 0; rank < cell_.ranks(); ++rank) Go(rank);
    while (queue_.RunNext()) {
    }
    return Microseconds(queue_.now());
  }

  void OnEvent(uint64_t rank) final { OnComputed(static_cast<int>(rank)); }
  void OnLeft(uint64_t) final {}

 protected:
  ~Simulation() = default;
  // Whose turn it is goes as far as it can.
  virtual void Go(int rank) = 0;
  virtual void OnComputed(int rank) = 0;

  const SrummaCell& cell() const { return cell_; }
  int RankAt(int row, int col) const { return row * cell_.side + col; }
  bool AreOnOneHost(int one, int other) const {
    return machine_.HostOf(one) == machine_.HostOf(other);
  }
  void Send(int from, int to, size_t bytes, uint64_t argument) {
    SimNetwork::Message message;
    message.from = from;
    message.to = to;
    message.bytes = bytes;
    message.argument = argument;
    network_.Send(message, queue_.now());
  }
  // A rank copies `bytes`, and computes later by as long.
  void Copy(int rank, size_t bytes) {
    if (cell_.zero_copy) return;
    const double run = static_cast<double>(bytes);
    copied_[static_cast<size_t>(rank)] += SimTimeOf(run / machine_.Copy(0, 0).rate.RateAt(run));
  }
  void Compute(int rank) {
    const SimTime copied = std::exchange(copied_[static_cast<size_t>(rank)], SimTime{});
    queue_.Schedule(queue_.now() + step_ + copied, EventQueue::Phase::kRank, rank, this,
                    static_cast<uint64_t>(rank));
  }

 private:
  const MachineDescription& machine_;
  const SrummaCell& cell_;
  const SimTime step_;
  std::vector<SimTime> copied_;  // since the rank last began to compute
  EventQueue queue_;
  BusWork bus_work_;
  SimNetwork network_;
};

// The owners from which each rank gets its blocks of A and of B, step by step.
using Owners = std::vector<std::vector<std::vector<int>>>;

Owners OwnersOf(const SrummaCell& cell, MultiplyOrder order, int width) {
  const int64_t block = cell.block;
  const Distribution blocks{block, 0, cell.side, 0};
  const std::vector<Panel> panels = CutIntoPanels(blocks, blocks, block * cell.side, width);
  Owners owners;
  for (int row = 0; row < cell.side; ++row) {
    for (int col = 0; col < cell.side; ++col) {
      owners.emplace_back();
      for (const int visit : VisitsOf(order, panels, FirstClassOf(panels, row, col))) {
        const Panel& panel = panels[static_cast<size_t>(visit)];
        owners.back().push_back({row * cell.side + panel.a_owner, panel.b_owner * cell.side + col});
      }
    }
  }
  return owners;
}

class Gets final : public Simulation {
 public:
  Gets(const MachineDescription& machine, const SrummaCell& cell, const Owners& owners, int depth,
       int width)
      : Simulation(machine, cell, MicrosecondsFor(cell, width)),
        owners_(owners),
        depth_(depth),
        width_(width),
        ranks_(owners.size()) {
    for (Rank& rank : ranks_) rank.missing.resize(owners[0].size());
  }

  void OnArrived(uint64_t argument) override {
    const auto rank = static_cast<int>(argument >> 32);
    const size_t step = argument >> 2 & 0x3FFFFFFF;
    const size_t operand = argument >> 1 & 1;
    const size_t bytes =
        static_cast<size_t>(cell().block) * static_cast<size_t>(width_) * sizeof(double);
    if ((argument & 1) == 0) {
      const int owner = owners_[static_cast<size_t>(rank)][step][operand];
      Copy(owner, bytes);
      Send(owner, rank, bytes, argument | 1);
      return;
    }
    Copy(rank, bytes);
    --ranks_[static_cast<size_t>(rank)].missing[step];
    Go(rank);
  }

 private:
  struct Rank {
    size_t step = 0;
    size_t begun = 0;
    bool computes = false;
    std::vector<int> missing;  // by step
  };

  void Go(int number) override {
    Rank& rank = ranks_[static_cast<size_t>(number)];
    const auto& wanted = owners_[static_cast<size_t>(number)];
    if (rank.computes || rank.step == wanted.size()) return;
    const size_t end = std::min(rank.step + static_cast<size_t>(depth_) + 1, wanted.size());
    for (; rank.begun < end; ++rank.begun) {
      for (size_t operand = 0; operand < 2; ++operand) {
        const int owner = wanted[rank.begun][operand];
        if (AreOnOneHost(number, owner)) continue;
        ++rank.missing[rank.begun];
        Send(number, owner, kRequestBytes,
             static_cast<uint64_t>(number) << 32 | rank.begun << 2 | operand << 1);
      }
    }
    if (rank.missing[rank.step] > 0) return;
    rank.computes = true;
    Compute(number);
  }

  void OnComputed(int number) override {
    Rank& rank = ranks_[static_cast<size_t>(number)];
    rank.computes = false;
    ++rank.step;
    Go(number);
  }

  const Owners& owners_;
  const int depth_;
  const int width_;
  std::vector<Rank> ranks_;
};

class Broadcasts final : public Simulation {
 public:
  Broadcasts(const MachineDescription& machine, const SrummaCell& cell, int width)
      : Simulation(machine, cell, MicrosecondsFor(cell, width)),
        width_(width),
        steps_(static_cast<size_t>(cell.side * (cell.block / width))),
        ranks_(static_cast<size_t>(cell.ranks())) {
    for (Rank& rank : ranks_) {
      for (std::vector<bool>& of_operand : rank.has) of_operand.resize(steps_);
    }
  }

  void OnArrived(uint64_t argument) override {
    const auto rank = static_cast<int>(argument >> 32);
    Copy(rank, bytes());
    ranks_[static_cast<size_t>(rank)].has[argument & 1][argument >> 1 & 0x7FFFFFFF] = true;
    Go(rank);
  }

 private:
  struct Rank {
    size_t step = 0;
    bool computes = false;
    bool is_passed_on[2] = {};
    std::vector<bool> has[2];  // of A and B, by step
  };

  size_t bytes() const {
    return static_cast<size_t>(cell().block) * static_cast<size_t>(width_) * sizeof(double);
  }

  void Go(int number) override {
    Rank& rank = ranks_[static_cast<size_t>(number)];
    if (rank.computes || rank.step == steps_) return;
    const int side = cell().side;
    const int row = number / side;
    const int col = number % side;
    const int source = static_cast<int>(rank.step) / (cell().block / width_);
    for (const int operand : {0, 1}) {
      const int place = ((operand == 0 ? col : row) - source + side) % side;  // behind the source
      if (place != 0 && !rank.has[operand][rank.step]) continue;
      rank.has[operand][rank.step] = true;
      if (std::exchange(rank.is_passed_on[operand], true) || place == side - 1) continue;
      const int next = operand == 0 ? RankAt(row, (col + 1) % side) : RankAt((row + 1) % side, col);
      if (place == 0) Copy(number, bytes());
      Send(number, next, bytes(),
           static_cast<uint64_t>(next) << 32 | rank.step << 1 | static_cast<uint64_t>(operand));
    }
    if (!rank.has[0][rank.step] || !rank.has[1][rank.step]) return;
    rank.computes = true;
    Compute(number);
  }

  void OnComputed(int number) override {
    Rank& rank = ranks_[static_cast<size_t>(number)];
    rank.computes = false;
    rank.is_passed_on[0] = rank.is_passed_on[1] = false;
    ++rank.step;
    Go(number);
  }

  const int width_;
  const size_t steps_;
  std::vector<Rank> ranks_;
};

std::vector<int> HostsOf(const MachineDescription& machine, const SrummaCell& cell) {
  std::vector<int> hosts;
  for (int rank = 0; rank < cell.ranks(); ++rank) hosts.push_back(machine.HostOf(rank));
  return hosts;
}

}  // namespace

double SrummaCell::ComputeMicroseconds() const { return side * MicrosecondsFor(*this, block); }

SrummaOutcome SimulateSrumma(const MachineDescription& machine, const SrummaCell& cell,
                             MultiplyOrder order, int depth, int width) {
  BRIGADE_CHECK_EQ(cell.block % width, 0);
  const Owners owners = OwnersOf(cell, order, width);
  return {Gets(machine, cell, owners, depth, width).Run(),
          MostFetchesAtOnce(owners, HostsOf(machine, cell))};
}

SrummaOutcome SimulateSumma(const MachineDescription& machine, const SrummaCell& cell, int width) {
  BRIGADE_CHECK_EQ(cell.block % width, 0);
  // In one step every rank gets from the one before.
  Owners before;
  for (int row = 0; row < cell.side; ++row) {
    for (int col = 0; col < cell.side; ++col) {
      before.push_back({{row * cell.side + (col + cell.side - 1) % cell.side,
                         (row + cell.side - 1) % cell.side * cell.side + col}});
    }
  }
  return {Broadcasts(machine, cell, width).Run(),
          MostFetchesAtOnce(before, HostsOf(machine, cell))};
}

}  // namespace brigade::bench

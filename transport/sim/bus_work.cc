#include "transport/sim/bus_work.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace brigade {
namespace {

int64_t BytesPerMillisecond(double mb_s) { return std::llround(mb_s * 1000); }

}  // namespace

BusWork::BusWork(EventQueue* queue, const MachineDescription& machine, int hosts)
    : queue_(queue), buses_per_host_(static_cast<int>(machine.buses.size())) {
  buses_.resize(static_cast<size_t>(hosts) * machine.buses.size());
  for (size_t i = 0; i < buses_.size(); ++i) {
    buses_[i].capacity = BytesPerMillisecond(machine.buses[i % machine.buses.size()].mb_s);
  }
}

void BusWork::Start(SimTime alone, const std::vector<Demand>& demands, int rank,
                    EventHandler* handler, uint64_t argument) {
  if (demands.empty()) {
    queue_->Schedule(queue_->now() + alone, EventQueue::Phase::kMachine, rank, handler, argument);
    return;
  }
  if (idle_works_.empty()) {
    idle_works_.push_back(static_cast<uint32_t>(works_.size()));
    works_.emplace_back();
  }
  const uint32_t index = idle_works_.back();
  idle_works_.pop_back();
  Work& work = works_[index];
  work.left = static_cast<double>(alone);
  work.speed = 0;
  work.since = queue_->now();
  work.rank = rank;
  work.demands = demands;
  work.handler = handler;
  work.argument = argument;
  for (const Demand& demand : demands) {
    BusOf(demand).works.push_back(index);
    Ask(demand, 1);
  }
  Adjust(index);
}

void BusWork::Ask(const Demand& demand, int sign) {
  Bus& bus = BusOf(demand);
  const double before = bus.Speed();
  bus.asked += sign * BytesPerMillisecond(demand.mb_s);
  if (bus.Speed() == before) return;
  for (uint32_t index : bus.works) Adjust(index);
}

void BusWork::Adjust(uint32_t index) {
  Work& work = works_[index];
  double speed = 1;
  for (const Demand& demand : work.demands) speed = std::min(speed, BusOf(demand).Speed());
  if (speed == work.speed) return;
  work.left -= static_cast<double>(queue_->now() - work.since) * work.speed;
  work.since = queue_->now();
  work.speed = speed;
  const auto left = static_cast<SimTime>(std::llround(std::max(work.left, 0.0) / speed));
  queue_->Schedule(work.since + left, EventQueue::Phase::kMachine, work.rank, this,
                   static_cast<uint64_t>(index) << 32 | ++work.version);
}

void BusWork::OnEvent(uint64_t argument) {
  const auto index = static_cast<uint32_t>(argument >> 32);
  Work& work = works_[index];
  if (work.version != static_cast<uint32_t>(argument)) return;  // its end has moved
  const std::vector<Demand> demands = std::move(work.demands);
  for (const Demand& demand : demands) {
    std::vector<uint32_t>& works = BusOf(demand).works;
    works.erase(std::find(works.begin(), works.end(), index));
  }
  for (const Demand& demand : demands) Ask(demand, -1);
  idle_works_.push_back(index);
  work.handler->OnEvent(work.argument);
}

}  // namespace brigade

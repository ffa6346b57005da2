#include "transport/sim/sim_network.h"

#include <algorithm>
#include <cmath>

namespace brigade {

SimNetwork::SimNetwork(EventQueue* queue, BusWork* bus_work, const MachineDescription& machine,
                       int ranks, Client* client)
    : queue_(queue), bus_work_(bus_work), machine_(machine), client_(client) {
  const int hosts = machine.HostOf(ranks - 1) + 1;
  between_ = MakePorts(machine.between_hosts, ranks, hosts);
  within_ = MakePorts(machine.within_host, ranks, hosts);
}

SimNetwork::Ports SimNetwork::MakePorts(const Link& link, int ranks, int hosts) const {
  const auto owners = static_cast<size_t>(link.ports_of_host ? hosts : ranks);
  Ports ports;
  ports.send.resize(owners);
  for (Port& port : ports.send) port.free = link.send_ports;
  if (!link.half_duplex) ports.receive.resize(owners);
  for (Port& port : ports.receive) port.free = link.receive_ports;
  for (std::vector<Port>* side : {&ports.send, &ports.receive}) {
    for (Port& port : *side) port.bucket_bytes = static_cast<double>(link.burst_bytes);
  }
  return ports;
}

void SimNetwork::Send(const Message& message, SimTime ready) {
  if (idle_.empty()) {
    idle_.push_back(static_cast<uint32_t>(underway_.size()));
    underway_.emplace_back();
  }
  const uint32_t index = idle_.back();
  idle_.pop_back();
  Underway& underway = underway_[index];
  underway.message = message;
  const Link& link = LinkOf(message);
  Ports& ports = IsWithinHost(message) ? within_ : between_;
  const auto owner = [&](int rank) {
    return static_cast<size_t>(link.ports_of_host ? machine_.HostOf(rank) : rank);
  };
  underway.out = &ports.send[owner(message.from)];
  underway.in = &(link.half_duplex ? ports.send : ports.receive)[owner(message.to)];
  queue_->Schedule(ready, EventQueue::Phase::kMachine, message.from, this,
                   Argument(Event::kReady, index));
}

double SimNetwork::BucketNow(const Port& port, const Link& link) const {
  if (link.burst_bytes == 0) return 0;
  const double filled_us = Microseconds(queue_->now() - port.bucket_time);
  return std::min(static_cast<double>(link.burst_bytes),
                  port.bucket_bytes + std::max(filled_us, 0.0) * link.mb_s);
}

void SimNetwork::StartOrWait(uint32_t index) {
  const Underway& underway = underway_[index];
  for (Port* port : {underway.out, underway.in}) {
    if (port->free > 0) continue;
    port->waiting.emplace(underway.number, index);
    return;
  }
  Start(index);
}

void SimNetwork::Start(uint32_t index) {
  const Underway& underway = underway_[index];
  const Message& message = underway.message;
  --underway.out->free;
  if (underway.in != underway.out) --underway.in->free;
  const Link& link = LinkOf(message);
  const double mb_s = machine_.TransferRate(link, message.from_memory, message.to_memory);
  demands_.clear();
  if (message.bytes > 0 && !std::isinf(mb_s)) {
    const auto ask = [&](int rank, const Memory::Side& side) {
      for (const BusUse& use : side.buses) {
        demands_.push_back({machine_.HostOf(rank), use.bus, use.weight * mb_s});
      }
    };
    ask(message.from, machine_.memories[static_cast<size_t>(message.from_memory)].send);
    ask(message.to, machine_.memories[static_cast<size_t>(message.to_memory)].receive);
  }
  const auto bytes = static_cast<double>(message.bytes);
  const double out_bytes = BucketNow(*underway.out, link);
  const double in_bytes = BucketNow(*underway.in, link);
  const double at_once = std::min({bytes, out_bytes, in_bytes});
  const double message_us = message.joins_next ? 0 : link.message_us;
  const SimTime alone = SimTimeOf(message_us + (bytes - at_once) / mb_s);
  underway.out->bucket_bytes = std::max(out_bytes - bytes, 0.0);
  underway.in->bucket_bytes = std::max(in_bytes - bytes, 0.0);
  for (Port* port : {underway.out, underway.in}) {
    port->bucket_time = queue_->now() + alone;
  }
  bus_work_->Start(alone, demands_, message.from, this, Argument(Event::kLeft, index));
}

void SimNetwork::Serve(Port* port) {
  while (port->free > 0 && !port->waiting.empty()) {
    const uint32_t index = port->waiting.top().second;
    port->waiting.pop();
    StartOrWait(index);
  }
}

void SimNetwork::OnEvent(uint64_t argument) {
  const auto index = static_cast<uint32_t>(argument >> 2);
  switch (static_cast<Event>(argument & 3)) {
    case Event::kReady:
      underway_[index].number = readied_++;
      StartOrWait(index);
      break;
    case Event::kLeft: {
      const Underway left = underway_[index];
      ++left.out->free;
      if (left.in != left.out) ++left.in->free;
      queue_->Schedule(queue_->now() + SimTimeOf(LinkOf(left.message).latency_us),
                       EventQueue::Phase::kMachine, left.message.to, this,
                       Argument(Event::kArrived, index));
      client_->OnLeft(left.message.argument);
      Serve(left.out);
      Serve(left.in);
      break;
    }
    case Event::kArrived: {
      const uint64_t client_argument = underway_[index].message.argument;
      idle_.push_back(index);
      client_->OnArrived(client_argument);
      break;
    }
  }
}

}  // namespace brigade

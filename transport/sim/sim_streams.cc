#include "transport/sim/sim_streams.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "transport/core/errors.h"

namespace brigade {
namespace {

// Eager segments of one stream that may be on their way, or there, without a receive.
constexpr size_t kMostUnexpected = 16;

}  // namespace

SimGroup::SimGroup(const MachineDescription& machine, const std::vector<int>* group_members)
    : members(group_members), closed(members->size()), incoming(members->size()) {
  std::unordered_map<int, int> numbers;
  for (int rank : *members) {
    const auto next = static_cast<int>(numbers.size());
    hosts.push_back(numbers.emplace(machine.HostOf(rank), next).first->second);
  }
  host_count = static_cast<int>(numbers.size());
}

SimStream* SimGroup::StreamOf(ChannelKind kind, int from, int to) {
  const uint64_t key = static_cast<uint64_t>(kind) << 60 | static_cast<uint64_t>(from) << 30 |
                       static_cast<uint64_t>(to);
  const auto found = streams_.try_emplace(key);
  SimStream* const stream = &found.first->second;
  if (found.second) {
    stream->group = this;
    stream->from = from;
    stream->to = to;
    stream->from_rank = (*members)[static_cast<size_t>(from)];
    stream->to_rank = (*members)[static_cast<size_t>(to)];
    incoming[static_cast<size_t>(to)].push_back(stream);
  }
  return stream;
}

SimStream* SimGroup::ControlTo(int from, int to) {
  SimStream* const stream = StreamOf(static_cast<ChannelKind>(kChannelKinds), from, to);
  stream->control = true;
  return stream;
}

SimStreams::SimStreams(EventQueue* queue, BusWork* bus_work, const MachineDescription& machine,
                       int ranks, size_t carried_bytes, Tell tell, TellControl tell_control)
    : queue_(queue),
      machine_(machine),
      carried_bytes_(carried_bytes),
      tell_(std::move(tell)),
      tell_control_(std::move(tell_control)),
      network_(queue, bus_work, machine, ranks, this) {}

void SimStreams::Post(SimStream* stream, const SimStream::Send& send) {
  if (stream->keep == nullptr) stream->keep = stream->group->shared_from_this();
  stream->sends.push_back(send);
  Advance(stream);
}

void SimStreams::Post(SimStream* stream, const SimStream::Receive& receive) {
  stream->receives.push_back(receive);
  Deliver(stream);
  Advance(stream);
  LetGoIfOver(stream);
}

void SimStreams::Post(SimStream* stream, const ControlMessage& message, int memory, SimTime posted,
                      bool joins_next) {
  stream->kept.push_back(message);
  Post(stream, SimStream::Send{stream->kept.back().span(), memory, posted, nullptr, joins_next});
}

void SimStreams::Close(SimGroup* group, int member) {
  group->closed[static_cast<size_t>(member)] = true;
  for (SimStream* stream : group->incoming[static_cast<size_t>(member)]) {
    stream->receives.clear();
    Deliver(stream);
    Advance(stream);
    LetGoIfOver(stream);
  }
}

void SimStreams::Advance(SimStream* stream) {
  if (stream->on_link || stream->sends.empty()) return;
  const SimStream::Send& send = stream->sends.front();
  const Link& link = LinkOf(*stream);
  const size_t ahead = stream->segments.size();
  const bool eager = send.segment.bytes <= link.eager_bytes;
  SimNetwork::Message message;
  message.to_memory = machine_.memory_of_kind[static_cast<int>(MemoryKind::kHost)];
  SimTime ready = std::max(send.posted, queue_->now());
  if (ahead < stream->receives.size()) {
    const SimStream::Receive& receive = stream->receives.begin()[static_cast<ptrdiff_t>(ahead)];
    message.to_memory = receive.memory;
    if (!eager) ready = std::max(ready, receive.posted + SimTimeOf(link.grant_us));
  } else if (!stream->group->closed[static_cast<size_t>(stream->to)] && !stream->control &&
             (!eager || ahead >= kMostUnexpected)) {
    return;
  }
  message.from = stream->from_rank;
  message.to = stream->to_rank;
  message.bytes = send.segment.bytes;
  message.joins_next = send.joins_next;
  message.from_memory = send.memory;
  message.argument = reinterpret_cast<uint64_t>(stream);
  stream->on_link = true;
  network_.Send(message, ready);
}

void SimStreams::Land(const SimStream::Receive& receive, const std::byte* data,
                      size_t bytes) const {
  const bool lengths_only = carried_bytes_ != SIZE_MAX;
  if (bytes == 0 || (receive.in_place && lengths_only)) return;
  std::memcpy(receive.buffer.data, data, std::min(bytes, carried_bytes_));
}

// The sender may overwrite the segment from here on.
void SimStreams::OnLeft(uint64_t argument) {
  SimStream* const stream = reinterpret_cast<SimStream*>(argument);
  const SimStream::Send send = stream->sends.front();
  stream->sends.pop_front();
  stream->on_link = false;
  const size_t ahead = stream->segments.size();
  SimStream::Segment segment{send.segment.bytes, {}, send.joins_next};
  if (ahead < stream->receives.size()) {
    const SimStream::Receive& receive = stream->receives.begin()[static_cast<ptrdiff_t>(ahead)];
    if (segment.bytes <= receive.buffer.bytes) Land(receive, send.segment.data, segment.bytes);
  } else if (!stream->group->closed[static_cast<size_t>(stream->to)] && segment.bytes > 0) {
    segment.held.assign(send.segment.data,
                        send.segment.data + std::min(segment.bytes, carried_bytes_));
  }
  stream->segments.push_back(segment);
  if (stream->control) {
    stream->kept.pop_front();
  } else {
    send.completion->status = Status();
    tell_(stream->from_rank, {send.completion, Ended::kSend, 0});
  }
  Advance(stream);
}

void SimStreams::OnArrived(uint64_t argument) {
  SimStream* const stream = reinterpret_cast<SimStream*>(argument);
  ++stream->arrived;
  Deliver(stream);
  Advance(stream);
  LetGoIfOver(stream);
}

void SimStreams::LetGoIfOver(SimStream* stream) {
  if (!stream->sends.empty() || !stream->segments.empty()) return;
  // The stream may be destroyed with its group, so the reference to the group is moved away first.
  const std::shared_ptr<SimGroup> kept = std::move(stream->keep);
}

void SimStreams::Deliver(SimStream* stream) {
  const bool closed = stream->group->closed[static_cast<size_t>(stream->to)];
  while (stream->arrived > 0 && (closed || stream->control || !stream->receives.empty())) {
    --stream->arrived;
    const SimStream::Segment segment = std::move(stream->segments.front());
    stream->segments.pop_front();
    if (closed) continue;
    if (stream->control) {
      tell_control_(*stream, {segment.held.data(), segment.held.size()}, segment.joined_next);
      continue;
    }
    const SimStream::Receive receive = stream->receives.front();
    stream->receives.pop_front();
    Completion* const completion = receive.completion;
    completion->status = Status();
    completion->lease = Lease{receive.in_place ? nullptr : receive.buffer.data, segment.bytes, 0};
    if (segment.bytes > receive.buffer.bytes) {
      completion->status = SegmentTooLong("sim", segment.bytes, stream->from, receive.buffer.bytes);
    } else if (!segment.held.empty()) {
      Land(receive, segment.held.data(), segment.bytes);
    }
    const double overhead_us = LinkOf(*stream).receive_overhead.Microseconds(segment.bytes);
    tell_(stream->to_rank, {completion, receive.group, SimTimeOf(overhead_us)});
  }
}

}  // namespace brigade

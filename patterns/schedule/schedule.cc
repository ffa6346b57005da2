#include "patterns/schedule/schedule.h"

#include <algorithm>
#include <sstream>
#include <utility>

#include "membuf/check.h"

namespace brigade {
namespace {

const char* RoleName(ChunkRole role) {
  switch (role) {
    case ChunkRole::kBroadcastSource:
      return "broadcast source";
    case ChunkRole::kForward:
      return "forward";
    case ChunkRole::kCombineTarget:
      return "combine target";
    case ChunkRole::kBufferedSend:
      return "buffered send";
    case ChunkRole::kReceive:
      return "receive";
    case ChunkRole::kPipelinedForward:
      return "pipelined forward";
  }
  return "?";
}

const char* CutName(Shares::Cut cut) {
  switch (cut) {
    case Shares::kNone:
      return "";
    case Shares::kEqual:
      return ", equal";
    case Shares::kSegments:
      return ", in segments";
    case Shares::kSegmentsBackwards:
      return ", in segments, backwards";
  }
  return "?";
}

// Lists the streams, shares and runs that the steps refer to.
std::string HeadText(const Schedule& schedule) {
  std::ostringstream out;
  for (const Stream& stream : schedule.streams) {
    out << "  stream " << stream.name << ": " << RoleName(stream.role) << ", slots "
        << stream.least_slots << "\n";
  }
  if (schedule.shares.count > 0) {
    out << "  shares " << schedule.shares.count << CutName(schedule.shares.cut) << ", row "
        << schedule.shares.row << "\n";
  }
  for (size_t i = 0; i < schedule.runs.size(); ++i) {
    out << "  run " << i << ": blocks from " << schedule.runs[i].first << ", count "
        << schedule.runs[i].count << "\n";
  }
  if (!schedule.order.empty()) {
    out << "  order";
    for (const int block : schedule.order) out << " " << block;
    out << "\n";
  }
  return out.str();
}

std::string PlaceText(const Schedule& schedule, const Place& place) {
  switch (place.kind) {
    case Place::kNone:
      return "-";
    case Place::kMatrix:
      return "M";
    case Place::kBlock:
      return "P" + std::to_string(place.index);
    case Place::kSource:
      return "own";
    case Place::kSourceBlock:
      return "own" + std::to_string(place.index);
    case Place::kCurrent:
      return schedule.streams[place.index].name;
    case Place::kNew:
      return std::string("new ") + schedule.streams[place.index].name;
    case Place::kSent:
      return "sent " + std::to_string(place.index);
  }
  return "?";
}

std::string StepText(const Schedule& schedule, const Step& step) {
  std::ostringstream out;
  const auto place = [&](const Place& p) { return PlaceText(schedule, p); };
  switch (step.opcode) {
    case Opcode::kReceive:
      out << "receive " << place(step.dst) << " from " << step.peer;
      if (step.only_copied_out) out << " or land in " << place(step.left);
      break;
    case Opcode::kAwait:
      out << "await " << place(step.left);
      break;
    case Opcode::kOpen:
      out << "open " << place(step.dst);
      break;
    case Opcode::kCopy:
      out << place(step.dst) << " = " << place(step.left);
      if (step.only_sent_to >= 0) out << " [only for " << step.only_sent_to << "]";
      break;
    case Opcode::kCombine:
      out << place(step.dst) << " = " << place(step.left) << " op " << place(step.right);
      break;
    case Opcode::kSend:
      out << "send " << place(step.left) << " to " << step.peer;
      break;
    case Opcode::kFree:
      out << "free " << place(step.left);
      break;
  }
  if (step.lead != 0) out << " [segment +" << step.lead << "]";
  if (step.block >= 0) out << " [block " << step.block << "]";
  return out.str();
}

// Returns whether any step but `copy` uses user memory at `place`; then its bytes must not arrive
// early.
bool UsedElsewhere(const Schedule& schedule, const Place& place, const Step* copy) {
  for (const Lane& lane : schedule.lanes) {
    for (const Step& step : lane.work) {
      if (&step != copy && step.Uses(place)) return true;
    }
  }
  return false;
}

void MarkReceivesThatMayLandDirectly(Schedule* schedule) {
  for (Lane& lane : schedule->lanes) {
    const std::vector<Step>& work = lane.work;
    for (size_t i = 0; i + 2 < work.size(); ++i) {
      if (work[i].opcode != Opcode::kAwait) continue;
      const Place slot = work[i].left;
      const Step& copy = work[i + 1];
      const Step& free = work[i + 2];
      if (copy.opcode != Opcode::kCopy || !(copy.left == slot) || copy.dst.in_stream() ||
          free.opcode != Opcode::kFree || !(free.left == slot) ||
          UsedElsewhere(*schedule, copy.dst, &copy)) {
        continue;
      }
      Step& receive = lane.receives[work[i].receive];
      receive.only_copied_out = true;
      receive.left = copy.dst;
    }
  }
}

// Returns whether a step other than `copy`, `send` and its kFree uses the slot of `stream`.
bool SlotUsedElsewhere(const Lane& lane, int stream, const Step* copy, const Step* send) {
  const Step* const next = send + 1;
  if (next != lane.work.data() + lane.work.size() && next->opcode == Opcode::kFree &&
      next->stream() == stream && next->lead == copy->lead && next->block == copy->block) {
    return false;
  }
  for (const Step& step : lane.work) {
    if (&step == copy || &step == send || step.opcode == Opcode::kFree) continue;
    if (step.UsesStream(stream)) return true;
  }
  return false;
}

// Marks copies whose segment the next step sends: the order of messages to a peer is then the same
// whether the copy or the send posts them.
void MarkCopiesThatMayBeSentDirectly(Schedule* schedule) {
  for (Lane& lane : schedule->lanes) {
    for (size_t i = 0; i + 1 < lane.work.size(); ++i) {
      Step& copy = lane.work[i];
      const Step& send = lane.work[i + 1];
      if (copy.opcode == Opcode::kCopy && copy.opens() && !copy.left.in_stream() &&
          send.opcode == Opcode::kSend && send.stream() == copy.dst.index &&
          send.lead == copy.lead && send.block == copy.block &&
          !SlotUsedElsewhere(lane, copy.dst.index, &copy, &send)) {
        copy.only_sent_to = send.peer;
      }
    }
  }
}

}  // namespace

bool Step::UsesStream(int stream) const {
  const auto is_it = [&](const Place& place) { return place.in_stream() && place.index == stream; };
  return is_it(dst) || is_it(left) || is_it(right);
}

std::string Schedule::ToString() const {
  std::string text = HeadText(*this);
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (i > 0) text += "  --\n";
    for (const Step& step : lanes[i].receives) text += "  " + StepText(*this, step) + "\n";
    for (const Step& step : lanes[i].work) text += "  " + StepText(*this, step) + "\n";
  }
  return text;
}

int Schedule::LeastSlots() const {
  int slots = 0;
  for (const Stream& stream : streams) slots += stream.least_slots;
  return slots;
}

int ScheduleBuilder::AddStream(const char* name, ChunkRole role, int least_slots) {
  schedule_.streams.push_back(Stream{name, role, least_slots});
  return static_cast<int>(schedule_.streams.size()) - 1;
}

int ScheduleBuilder::AddRun(int first, int count) {
  schedule_.runs.push_back({first, count});
  return static_cast<int>(schedule_.runs.size()) - 1;
}

Step ScheduleBuilder::Base(Opcode opcode) const {
  Step step;
  step.opcode = opcode;
  step.lead = lead_;
  step.block = block_;
  return step;
}

void ScheduleBuilder::ReceiveAndAwait(int peer, int stream) {
  Step receive = Base(Opcode::kReceive);
  receive.peer = peer;
  receive.dst = Place::New(stream);
  schedule_.lanes.back().receives.push_back(receive);
  Step await = Base(Opcode::kAwait);
  await.peer = peer;
  await.left = Place::Current(stream);
  await.receive = static_cast<int32_t>(schedule_.lanes.back().receives.size()) - 1;
  schedule_.lanes.back().work.push_back(await);
}

void ScheduleBuilder::Open(int stream) {
  Step step = Base(Opcode::kOpen);
  step.dst = Place::New(stream);
  schedule_.lanes.back().work.push_back(step);
}

void ScheduleBuilder::Copy(Place dst, Place src) {
  Step step = Base(Opcode::kCopy);
  step.dst = dst;
  step.left = src;
  schedule_.lanes.back().work.push_back(step);
}

void ScheduleBuilder::Combine(Place dst, Place left, Place right) {
  Step step = Base(Opcode::kCombine);
  step.dst = dst;
  step.left = left;
  step.right = right;
  schedule_.lanes.back().work.push_back(step);
}

void ScheduleBuilder::Send(int stream, int peer) {
  Step step = Base(Opcode::kSend);
  step.left = Place::Current(stream);
  step.peer = peer;
  schedule_.lanes.back().work.push_back(step);
}

void ScheduleBuilder::Free(int stream) {
  Step step = Base(Opcode::kFree);
  step.left = Place::Current(stream);
  schedule_.lanes.back().work.push_back(step);
}

Schedule ScheduleBuilder::Build() {
  for (const Lane& lane : schedule_.lanes) {
    for (const Step& step : lane.work) {
      schedule_.max_lead = std::max(schedule_.max_lead, step.lead);
    }
  }
  if (schedule_.runs.empty()) {  // whose bytes may lie in several places
    MarkReceivesThatMayLandDirectly(&schedule_);
    MarkCopiesThatMayBeSentDirectly(&schedule_);
  }
  return std::move(schedule_);
}

}  // namespace brigade

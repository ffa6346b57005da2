#include "patterns/check/network.h"

#include <algorithm>

namespace brigade {

bool Network::Slot::IsFilled() const {
  return std::none_of(parts.begin(), parts.end(), [](const Value& v) { return v.is_nothing(); });
}

Network::Network(const CheckCase& c, const std::vector<Schedule>& schedules)
    : case_(c), ranks_(schedules.size()) {
  for (size_t r = 0; r < schedules.size(); ++r) {
    for (const brigade::Stream& stream : schedules[r].streams) {
      const int slots = c.slots == kMinSlots ? stream.least_slots : c.slots;
      ranks_[r].streams.emplace_back();
      ranks_[r].streams.back().slots.resize(static_cast<size_t>(slots));
    }
  }
}

Network::Slot* Network::Open(int rank, int stream) {
  Rank& mine = ranks_[static_cast<size_t>(rank)];
  Stream& s = StreamOf(rank, stream);
  const auto slots = static_cast<int64_t>(s.slots.size());
  if (s.opened - s.freed >= slots) return nullptr;
  Slot* slot = &s.slots[static_cast<size_t>(s.opened % slots)];
  // A lease occupies no memory here, so only what lies in the slot itself keeps it from being
  // opened again.
  if (slot->holding != nullptr && !slot->leased && slot->holding->pending_sends > 0) return nullptr;
  ++s.opened;
  holdings_.emplace_back();
  holdings_.back().rank = rank;
  *slot = Slot();
  slot->holding = &holdings_.back();
  mine.peak_slots = std::max(mine.peak_slots, ++mine.slots_in_use);
  return slot;
}

void Network::Free(int rank, int stream) {
  Stream& s = StreamOf(rank, stream);
  Holding* const holding = std::exchange(s.current, nullptr)->holding;
  holding->freed = true;
  Settle(holding);
  ++s.freed;
  --ranks_[static_cast<size_t>(rank)].slots_in_use;
}

bool Network::PostSend(int from, int to, Slot* slot, const BlockRun& blocks, int64_t segment) {
  slot->sent = true;
  ++slot->holding->pending_sends;
  EdgeOf(from, to).sends.push_back(
      {nullptr, slot->value, slot->parts, slot->holding, blocks, segment});
  return Match(from, to);
}

bool Network::PostReceive(int from, int to, Slot* slot, const BlockRun& blocks, int64_t segment) {
  slot->received = true;
  EdgeOf(from, to).receives.push_back({slot, Value(), {}, nullptr, blocks, segment});
  return Match(from, to);
}

bool Network::Match(int from, int to) {
  Edge& edge = EdgeOf(from, to);
  while (!edge.sends.empty() && !edge.receives.empty()) {
    const Posted send = edge.sends.pop_front();
    const Posted receive = edge.receives.pop_front();
    if (!(send.blocks == receive.blocks) || send.segment != receive.segment) return false;
    Slot* const slot = receive.slot;
    slot->value = send.value;
    slot->parts = send.parts;
    slot->arrived = true;
    Wake(to);
    if (case_.lands_in_peer_memory && case_.OnOneHost(from, to)) {
      slot->leased = true;
      slot->holding->lender = send.holding;
    } else {
      --send.holding->pending_sends;
      Settle(send.holding);
      Wake(from);
    }
  }
  return true;
}

void Network::Settle(Holding* holding) {
  while (holding->freed && holding->pending_sends == 0) {
    Wake(holding->rank);
    Holding* lender = holding->lender;
    if (lender == nullptr) return;
    holding->lender = nullptr;
    --lender->pending_sends;
    holding = lender;
  }
}

Network::Edge& Network::EdgeOf(int from, int to) {
  std::vector<std::pair<int, Edge>>& edges = ranks_[static_cast<size_t>(from)].edges;
  for (auto& [peer, edge] : edges) {
    if (peer == to) return edge;
  }
  return edges.emplace_back(to, Edge()).second;
}

void Network::Wake(int rank) {
  if (!std::exchange(ranks_[static_cast<size_t>(rank)].awake, true)) awake_.push_back(rank);
}

int Network::NextAwake() {
  if (awake_.empty()) return -1;
  const int rank = awake_.front();
  awake_.pop_front();
  ranks_[static_cast<size_t>(rank)].awake = false;
  return rank;
}

int Network::WithOpenSlot() const {
  for (size_t r = 0; r < ranks_.size(); ++r) {
    for (const Stream& s : ranks_[r].streams) {
      if (s.current != nullptr || s.opened != s.freed) return static_cast<int>(r);
    }
  }
  return -1;
}

int Network::WithUnmatchedMessage() const {
  for (const Rank& rank : ranks_) {
    for (const auto& [peer, edge] : rank.edges) {
      if (!edge.sends.empty() || !edge.receives.empty()) return peer;
    }
  }
  return -1;
}

}  // namespace brigade

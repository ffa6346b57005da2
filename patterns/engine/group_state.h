// GroupState: what an engine knows about one group. Outlives the Group while sends are on their
// way.

#ifndef BRIGADE_PATTERNS_ENGINE_GROUP_STATE_H_
#define BRIGADE_PATTERNS_ENGINE_GROUP_STATE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/model/model_choice.h"
#include "patterns/schedule/piece_plan.h"
#include "patterns/schedule/schedule.h"
#include "transport/endpoint.h"

namespace brigade {

// What the transport can do between the ranks of a scope, or between two ranks.
struct Reach {
  const Capabilities* capabilities = nullptr;
  bool of_pairs = false;  // for point-to-point messages
  PieceSettings settings;

  // The payload for which a first piece's landing has room: as much as any, so that a wrong
  // message's header can tell what is wrong, unless a long landing should be filled.
  size_t FirstRoom(size_t expected_bytes) const {
    const size_t most = MostPayload(settings);
    const size_t untold = capabilities->untold_landing_bytes;
    if (untold >= most + kHeaderBytes) return most;
    return std::min(most, std::max(expected_bytes, untold - kHeaderBytes));
  }
};

// The ranks of one scope: members `first`, `first + stride`, ... of the group.
struct Scope {
  int size = 1;
  int rank = 0;
  int first = 0;
  int stride = 1;
  int hosts = 1;                 // that its ranks are on
  const Reach* reach = nullptr;  // for its collective operations

  bool shares_memory() const { return hosts == 1 && reach->capabilities->lands_in_peer_memory; }
  bool some_share_memory() const { return hosts > 1 && reach->capabilities->lands_in_peer_memory; }
  int GroupRank(int scope_rank) const { return first + scope_rank * stride; }
};

struct GroupState {
  GroupId id = -1;
  int rows = 1;
  int cols = 1;
  int rank = 0;
  const Capabilities* capabilities = nullptr;  // to all
  std::deque<Reach> reaches;                   // by capabilities and use
  // Every peer, for messages from point to point; empty before the first.
  std::vector<const Reach*> reach_to;
  // The lines to and from every peer, by kind and rank, once used; empty where there are none.
  std::vector<OutEdge*> lines_to;
  std::vector<InEdge*> lines_from;
  OutEdge*& LineTo(ChannelKind kind, int peer) { return lines_to[LineIndex(kind, peer)]; }
  InEdge*& LineFrom(ChannelKind kind, int peer) { return lines_from[LineIndex(kind, peer)]; }
  size_t LineIndex(ChannelKind kind, int peer) const {
    return static_cast<size_t>(peer) * kChannelKinds + static_cast<size_t>(kind);
  }
  Scope scopes[kChannelKinds];

  // Operations begun so far: per scope, and, once there are any, per peer for point-to-point
  // messages.
  uint64_t scope_sequence[kChannelKinds] = {};
  std::vector<uint64_t> send_sequence;
  std::vector<uint64_t> receive_sequence;

  // Compiled schedules by everything they depend on, packed so that comparing is cheap.
  struct ScheduleKey {
    uint64_t kinds = 0;    // pattern, scope, shape, direction
    uint64_t numbers = 0;  // parameter, root

    static ScheduleKey Of(const PatternCall& call, ChannelKind kind, bool by_host) {
      const auto bits = [](auto value) {
        return static_cast<uint64_t>(static_cast<uint32_t>(value));
      };
      return {bits(call.pattern) | bits(kind) << 8 | bits(call.topology.shape) << 16 |
                  bits(call.decreasing) << 24 | bits(by_host) << 25,
              bits(call.topology.parameter) | bits(call.root) << 32};
    }
    bool operator==(const ScheduleKey& o) const { return kinds == o.kinds && numbers == o.numbers; }
  };
  struct HashKey {
    size_t operator()(const ScheduleKey& k) const {
      return static_cast<size_t>((k.numbers ^ k.kinds << 20) * 0x9E3779B97F4A7C15u >> 16);
    }
  };
  std::unordered_map<ScheduleKey, std::unique_ptr<const Schedule>, HashKey> schedules;
  // The last one of each pattern: most calls repeat the one before.
  struct LastSchedule {
    ScheduleKey key{};
    const Schedule* schedule = nullptr;
  };
  LastSchedule last_schedules[kPatterns];

  // All members share memory, and outnumber the processors that they may use; the same on all.
  bool crowded = false;
  // What the edges were measured to cost, the same on all members; null if they were not.
  std::shared_ptr<const MachineDescription> machine;
  std::vector<int> host_of;  // each member's, by the names of hosts; empty if nobody looked
  // What was chosen, or explained, by everything that it depends on.
  std::unordered_map<uint64_t, ModelChoice> choices;

  size_t sends_in_flight = 0;
  bool closed = false;  // on the endpoint
  Status failure;       // the first; from then on the group is broken

  size_t members() const { return static_cast<size_t>(rows) * static_cast<size_t>(cols); }
  const Scope& scope(ChannelKind kind) const { return scopes[static_cast<int>(kind)]; }
  // `peer`: of a message from point to point.
  const Reach& ReachOf(ChannelKind kind, int peer) const {
    return kind == ChannelKind::kPointToPoint ? *reach_to[static_cast<size_t>(peer)]
                                              : *scope(kind).reach;
  }
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_GROUP_STATE_H_

// GroupState: what an engine knows about one group. Outlives the Group while sends are on their
// way.

#ifndef BRIGADE_PATTERNS_GROUP_STATE_H_
#define BRIGADE_PATTERNS_GROUP_STATE_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "membuf/status.h"
#include "patterns/pattern_call.h"
#include "patterns/piece_plan.h"
#include "patterns/schedule.h"
#include "transport/endpoint.h"

namespace brigade {

// The ranks of one scope: members `first`, `first + stride`, ... of the group.
struct Scope {
  int size = 1;
  int rank = 0;
  int first = 0;
  int stride = 1;

  int GroupRank(int scope_rank) const { return first + scope_rank * stride; }
};

struct GroupState {
  GroupId id = -1;
  int rows = 1;
  int cols = 1;
  int rank = 0;
  const Capabilities* capabilities = nullptr;
  PieceSettings settings;
  Scope scopes[kChannelKinds];

  // Operations begun so far: per scope, and per peer for point-to-point messages.
  uint64_t scope_sequence[kChannelKinds] = {};
  std::vector<uint64_t> send_sequence;
  std::vector<uint64_t> receive_sequence;

  // Compiled schedules by everything they depend on.
  struct ScheduleKey {
    Pattern pattern;
    ChannelKind kind;
    Shape shape;
    int parameter;
    int root;
    bool decreasing;

    bool operator==(const ScheduleKey& o) const {
      return pattern == o.pattern && kind == o.kind && shape == o.shape &&
             parameter == o.parameter && root == o.root && decreasing == o.decreasing;
    }
  };
  struct HashKey {
    size_t operator()(const ScheduleKey& k) const {
      const uint64_t small = static_cast<uint64_t>(k.pattern) << 16 |
                             static_cast<uint64_t>(k.kind) << 8 | static_cast<uint64_t>(k.shape) |
                             static_cast<uint64_t>(k.decreasing) << 24;
      const uint64_t large = static_cast<uint64_t>(static_cast<uint32_t>(k.parameter)) << 32 |
                             static_cast<uint32_t>(k.root);
      return static_cast<size_t>((large ^ small << 20) * 0x9E3779B97F4A7C15u >> 16);
    }
  };
  std::unordered_map<ScheduleKey, std::unique_ptr<const Schedule>, HashKey> schedules;
  // The last one of each pattern: most calls repeat the one before.
  struct LastSchedule {
    ScheduleKey key{};
    const Schedule* schedule = nullptr;
  };
  LastSchedule last_schedules[kPatterns];

  size_t sends_in_flight = 0;
  bool closed = false;  // on the endpoint
  Status failure;       // the first; from then on the group is broken

  const Scope& scope(ChannelKind kind) const { return scopes[static_cast<int>(kind)]; }
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_STATE_H_

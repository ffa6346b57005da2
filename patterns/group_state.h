// GroupState: what an engine knows about one group. Outlives the Group while sends are on their
// way.

#ifndef BRIGADE_PATTERNS_GROUP_STATE_H_
#define BRIGADE_PATTERNS_GROUP_STATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "membuf/status.h"
#include "patterns/pattern_call.h"
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
  Scope scopes[kChannelKinds];

  // Operations begun so far: per scope, and per peer for point-to-point messages.
  uint64_t scope_sequence[kChannelKinds] = {};
  std::vector<uint64_t> send_sequence;
  std::vector<uint64_t> receive_sequence;

  // Compiled schedules by everything they depend on.
  using ScheduleKey = std::tuple<Pattern, ChannelKind, Shape, int, int, bool>;
  std::map<ScheduleKey, std::unique_ptr<const Schedule>> schedules;

  size_t sends_in_flight = 0;
  bool closed = false;  // on the endpoint
  Status failure;       // the first; from then on the group is broken

  const Scope& scope(ChannelKind kind) const { return scopes[static_cast<int>(kind)]; }
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_STATE_H_

// GroupState: what an engine knows about one group. Outlives the Group while sends are on their
// way.

#ifndef BRIGADE_PATTERNS_ENGINE_GROUP_STATE_H_
#define BRIGADE_PATTERNS_ENGINE_GROUP_STATE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/abort.h"
#include "patterns/engine/call_history.h"
#include "patterns/engine/group_control.h"
#include "patterns/engine/scope.h"
#include "patterns/engine/staged_buffer.h"
#include "transport/endpoint.h"

namespace brigade {

class EdgeAccess;
class InEdge;
class OutEdge;
class PlanCache;
struct MachineDescription;

// A call that has waited long for a message.
struct LongWait {
  ChannelKind kind = ChannelKind::kPointToPoint;
  uint32_t sequence = 0;  // of the call on its channel; of a receive, among those from `peer`
  int peer = -1;          // the group rank that has not sent it
};

struct GroupState {
  GroupId id = -1;
  int rows = 1;
  int cols = 1;
  int rank = 0;
  const Capabilities* capabilities = nullptr;  // to all
  std::deque<EdgeConfig> edge_configs;         // by capabilities and use
  // Every peer, for messages from point to point; empty before the first.
  std::vector<const EdgeConfig*> config_to;
  // Null where messages are posted only. Else the edges to and from every peer, by kind and rank,
  // once used.
  EdgeAccess* edges = nullptr;
  std::vector<OutEdge*> out_edges;
  std::vector<InEdge*> in_edges;
  OutEdge*& OutEdgeTo(ChannelKind kind, int peer) { return out_edges[EdgeIndex(kind, peer)]; }
  InEdge*& InEdgeFrom(ChannelKind kind, int peer) { return in_edges[EdgeIndex(kind, peer)]; }
  size_t EdgeIndex(ChannelKind kind, int peer) const {
    return static_cast<size_t>(peer) * kChannelKinds + static_cast<size_t>(kind);
  }
  Scope scopes[kChannelKinds];

  // Operations begun so far: per scope, and, once there are any, per peer for point-to-point
  // messages.
  uint64_t scope_sequence[kChannelKinds] = {};
  std::vector<uint64_t> send_sequence;
  std::vector<uint64_t> receive_sequence;
  // The last collective calls, for match_check.h; by scope, without point-to-point messages.
  CallHistory histories[kChannelKinds - 1];
  CallHistory* history(ChannelKind scope) { return &histories[static_cast<int>(scope) - 1]; }
  const CallHistory* history(ChannelKind scope) const {
    return &histories[static_cast<int>(scope) - 1];
  }
  std::optional<LongWait> long_wait;

  std::shared_ptr<PlanCache> plans;

  // All members share memory, and outnumber the processors that they may use; the same on all.
  bool crowded = false;
  // The measured costs of the edges, the same on all members; null if they were not measured.
  std::shared_ptr<const MachineDescription> machine;
  std::vector<int> host_of;  // each member's, numbered; empty if nobody looked

  size_t sends_in_flight = 0;
  bool closed = false;       // on the endpoint
  bool is_given_up = false;  // nobody counts on the end of these sends

  // The first; from then on the group is broken. As sent to others, and which rank sent it to this
  // rank; -1: this rank found it.
  Status failure;
  Abort cause;
  int abort_from = -1;
  std::optional<GroupControl> control;
  // A call waits that looks for a failure by itself, and must end its accesses to memory of others
  // before the group is closed.
  bool is_held = false;
  // Of a call over edges: a receive that it has posted.
  ReceiveSlot edge_slot;

  // Of what stands on the group: lives until nothing of the group is posted any more.
  std::shared_ptr<void> companion;

  size_t members() const { return static_cast<size_t>(rows) * static_cast<size_t>(cols); }
  const Scope& scope(ChannelKind kind) const { return scopes[static_cast<int>(kind)]; }
  // `peer`: of a message from point to point.
  const EdgeConfig& EdgeConfigOf(ChannelKind kind, int peer) const {
    return kind == ChannelKind::kPointToPoint ? *config_to[static_cast<size_t>(peer)]
                                              : *scope(kind).config;
  }
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_GROUP_STATE_H_

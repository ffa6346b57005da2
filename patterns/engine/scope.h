// Scope: ranks of a group that communicate with each other, and what the transport can do among
// them.

#ifndef BRIGADE_PATTERNS_ENGINE_SCOPE_H_
#define BRIGADE_PATTERNS_ENGINE_SCOPE_H_

#include <algorithm>
#include <cstddef>

#include "patterns/schedule/segment_plan.h"
#include "transport/endpoint.h"

namespace brigade {

// Edges of one kind, of the ranks of a scope or of two ranks: their capabilities, and the settings
// by which messages are cut for them.
struct EdgeConfig {
  const Capabilities* capabilities = nullptr;
  bool of_pairs = false;  // for point-to-point messages
  SegmentSettings settings;

  // The payload for which a first segment's receive buffer has room: as much as any, so that the
  // header of a wrong message can be read, unless a long receive buffer should be filled.
  size_t FirstRoom(size_t expected_bytes) const {
    const size_t most = MostPayload(settings);
    const size_t lazy = capabilities->tuning.lazy_credit_bytes;
    if (lazy >= most + kHeaderBytes) return most;
    return std::min(most, std::max(expected_bytes, lazy - kHeaderBytes));
  }
};

// The ranks of one scope: members `first`, `first + stride`, ... of the group.
struct Scope {
  int size = 1;
  int rank = 0;
  int first = 0;
  int stride = 1;
  int hosts = 1;                       // that its ranks are on
  const EdgeConfig* config = nullptr;  // for its collective operations

  bool shares_memory() const { return hosts == 1 && config->capabilities->lands_in_peer_memory; }
  bool some_share_memory() const { return hosts > 1 && config->capabilities->lands_in_peer_memory; }
  // Whether messages to several hosts can go host after host (Topology::by_host).
  bool goes_by_host() const { return hosts > 1 && hosts < size; }
  int GroupRank(int scope_rank) const { return first + scope_rank * stride; }
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_SCOPE_H_

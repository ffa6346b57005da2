// How the members of a new group find each other's memory.

#ifndef BRIGADE_TRANSPORT_SHM_MEETING_H_
#define BRIGADE_TRANSPORT_SHM_MEETING_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/host/host.h"
#include "transport/host/ranks_per_processor.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_segment.h"
#include "transport/shm/group.h"
#include "transport/shm/peers.h"

namespace brigade::shm {

// The values that each member sends to the others.
struct Introduction {
  Host host;
  SharedSegment::Address segment;
  uint64_t public_offset = 0;
  uint64_t directory_offset = 0;  // 0: there is no memory for one
  RankProcessors processors{};
  int32_t knows_kernel_copies = 0;  // not a bool, which has no value for most bytes
};

// Maps the shared segments of all members on the host of `mine`. `spans_hosts`: there may be
// members on other hosts. OK: the group is complete except for its streams.
Status MapMembers(const Introduction& mine, const std::vector<Introduction>& all, bool spans_hosts,
                  Peers* peers, Group* group);

// Sets *verdict to OK if `mine` is OK on all members, otherwise to kUnavailable with the member
// that failed, and the reason. Collective. Afterwards every member has mapped every other, and may
// exit.
Status AgreeWhetherMapped(Bootstrap* bootstrap, const Status& mine, Status* verdict);

// Finds what the kernel copies between ranks of a host, if `*known` is empty: from the first member
// that knows, by a trial of two members, or, without a processor for each, by an estimate of one.
// Collective. REQUIRES: all are mapped.
Status MeasureKernelCopies(Bootstrap* bootstrap, const std::vector<Introduction>& all,
                           const Group& group, std::optional<KernelCopies>* known);

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_MEETING_H_

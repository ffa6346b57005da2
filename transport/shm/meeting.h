// How the members of a new group find each other's memory.

#ifndef BRIGADE_TRANSPORT_SHM_MEETING_H_
#define BRIGADE_TRANSPORT_SHM_MEETING_H_

#include <sched.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/host/host.h"
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
  cpu_set_t processors{};
  int32_t processor_quota = 0;
  int32_t knows_kernel_copies = 0;  // not a bool, which has no value for most bytes
};

// Maps the segments of all members on the host of `mine`. `spans_hosts`: there may be others. OK:
// the group is complete but for its streams.
Status MapMembers(const Introduction& mine, const std::vector<Introduction>& all, bool spans_hosts,
                  Peers* peers, Group* group);

// Collective: *verdict is OK if `mine` is OK on all members, and else kUnavailable and says who
// could not, and why. Behind this everyone has mapped everyone, and may exit.
Status AgreeWhetherMapped(Bootstrap* bootstrap, const Status& mine, Status* verdict);

// Whether the ranks on this host outnumber the processors that they may use.
bool IsCrowded(const Host& host, const std::vector<Introduction>& all);

// Collective: what the kernel copies of the messages of a host, where `*known` does not say: what
// the first member that knows says, or two members find out, or, without a processor each, one
// guesses. REQUIRES: all are mapped.
Status MeasureKernelCopies(Bootstrap* bootstrap, const std::vector<Introduction>& all,
                           const Group& group, std::optional<KernelCopyRange>* known);

}  // namespace brigade::shm

#endif  // BRIGADE_TRANSPORT_SHM_MEETING_H_

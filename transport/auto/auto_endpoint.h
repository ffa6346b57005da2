// Auto: a transport per peer, from a list.

#ifndef BRIGADE_TRANSPORT_AUTO_AUTO_ENDPOINT_H_
#define BRIGADE_TRANSPORT_AUTO_AUTO_ENDPOINT_H_

#include <functional>
#include <memory>
#include <vector>

#include "transport/endpoint.h"

namespace brigade {

struct AutoTransport {
  enum class Reach {
    // The members of its groups that HostOf places on this rank's host. Other ranks may be members.
    kHost,
    // All members. Costs nothing before it has a group, sends from any memory, and returns leases
    // that lie in their receive buffer.
    kEverywhere,
  };

  // Null on ranks without this transport.
  std::unique_ptr<Endpoint> endpoint;
  Reach reach = Reach::kEverywhere;
  // If memory is shared, too: one of this many polls polls this transport, which takes longer than
  // memory.
  int polls_per_look = 1;
  // Whether this rank should use a transport with reach kEverywhere; null: it should. May take
  // long; called when a group first needs more than the near transport.
  std::function<bool()> is_wanted = nullptr;
  // Called each time that a group could have used this transport: (1) but for ranks without it, on
  // the first of these on each host, or on all if hosts are not known, with an OK status; (2) but
  // for the failure `why` to open it, on all ranks. With reach kHost only (2). May be null.
  std::function<void(const Status& why)> is_missed = nullptr;
};

// `transports`: in the order of preference; equal number and order on all ranks. At most one has
// reach kHost. The last one reaches everywhere and works on all ranks; while the rank waits, Nudge
// progresses the program's own messages on it.
//
// For each reach a group uses the first transport that all its members have.
std::unique_ptr<Endpoint> MakeAutoEndpoint(std::vector<AutoTransport> transports);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_AUTO_AUTO_ENDPOINT_H_

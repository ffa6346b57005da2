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
    // The members of its groups that HostOf says are on one's own host. Others may be members.
    kHost,
    // All. Costs nothing before it has a group, sends from any memory, and lends leases that lie in
    // their landing.
    kEverywhere,
  };

  // Null on ranks that have it not.
  std::unique_ptr<Endpoint> endpoint;
  Reach reach = Reach::kEverywhere;
  // Where memory is shared, too, only every so many polls ask it: that takes longer than a look at
  // memory.
  int polls_per_look = 1;
  // Whether this rank had better use it, of one that reaches everywhere; null: it had. That may
  // take long to tell, and is asked when a group first needs more than the near transport.
  std::function<bool()> is_wanted = nullptr;
  // Called each time a group could have used it, but for ranks that have it not, on the first of
  // them on each host, or on all where hosts are not known; null: nobody cares.
  std::function<void()> is_missed = nullptr;
};

// `transports`: in the order of preference; as many, in the same order, on all ranks. One of reach
// kHost at most; the last one reaches everywhere and works on all ranks, and what this rank's
// program does with it on its own account moves while the rank waits (Nudge).
//
// Of each reach a group uses the first transport that all its members have.
std::unique_ptr<Endpoint> MakeAutoEndpoint(std::vector<AutoTransport> transports);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_AUTO_AUTO_ENDPOINT_H_

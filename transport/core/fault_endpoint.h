// FaultEndpoint: makes a transport do, often and repeatably, what it may do but rarely does. For
// tests.

#ifndef BRIGADE_TRANSPORT_CORE_FAULT_ENDPOINT_H_
#define BRIGADE_TRANSPORT_CORE_FAULT_ENDPOINT_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "transport/endpoint.h"

namespace brigade {

struct FaultOptions {
  uint64_t seed = 1;
  // Share of posts that are refused with kNoResource, and of SendNow, with either no. Of those that
  // are not refused it keeps as large a share whole, and posts them. The same share of control
  // messages that may be refused, and of edges that are asked for.
  double no_resource = 0;
  // Every callback waits for 0 to `max_delay` calls of Progress, drawn anew for each. So callbacks
  // of different streams (channel, peer and direction) change places; those of one do not, but for
  // sends where leases point into the sender's memory. Control messages wait likewise.
  int max_delay = 0;
  // Called before the post number `lose_after_posts` (from 0). Is to make a peer vanish on the
  // transport below, as InprocWorld::MarkLost does.
  std::function<void()> lose;
  uint64_t lose_after_posts = 0;
};

std::unique_ptr<Endpoint> MakeFaultEndpoint(std::unique_ptr<Endpoint> target,
                                            const FaultOptions& options);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_CORE_FAULT_ENDPOINT_H_

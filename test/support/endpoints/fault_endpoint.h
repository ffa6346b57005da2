// FaultEndpoint: triggers, often and repeatably, permitted behaviour that a transport rarely shows.
// For tests.

#ifndef BRIGADE_TEST_SUPPORT_ENDPOINTS_FAULT_ENDPOINT_H_
#define BRIGADE_TEST_SUPPORT_ENDPOINTS_FAULT_ENDPOINT_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "transport/endpoint.h"

namespace brigade {

struct FaultOptions {
  uint64_t seed = 1;
  // Share of (1) posts that fail with kNoResource, (2) SendNow that return kNotYet or kNo, (3) of
  // the other SendNow, those that are posted whole from a copy, (4) control messages that may fail,
  // (5) requests for an edge that fail.
  double no_resource = 0;
  // Every callback is delayed by 0 to `max_delay` calls of Progress, drawn for each. Callbacks of
  // different streams (channel, peer and direction) are thus reordered; callbacks of one stream are
  // not, except for sends if leases point into the sender's memory. Control messages are delayed,
  // too.
  int max_delay = 0;
  // Called before post number `lose_after_posts` (from 0). Must make a peer vanish on the transport
  // below, like InprocWorld::MarkLost.
  std::function<void()> lose;
  uint64_t lose_after_posts = 0;
};

std::unique_ptr<Endpoint> MakeFaultEndpoint(std::unique_ptr<Endpoint> target,
                                            const FaultOptions& options);

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_ENDPOINTS_FAULT_ENDPOINT_H_

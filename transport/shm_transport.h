// shm: ranks of one host, through memory they share.
//
// Each rank has one segment that the ranks of its groups map. Pieces lie in it from the start: a
// send is a few words in the edge to its receiver, and a lease points into the sender's memory,
// whoever forwards it. One copy in thus serves any number of readers.
//
// What has been sent is received whatever becomes of its sender, and without its help.

#ifndef BRIGADE_TRANSPORT_SHM_TRANSPORT_H_
#define BRIGADE_TRANSPORT_SHM_TRANSPORT_H_

#include <memory>

#include "membuf/status.h"
#include "transport/endpoint.h"

namespace brigade {

// Local. Works with any bootstrap whose members are on one host (host.h); OpenGroup is kUnavailable
// on all of them if they are not, or cannot open each other's memory. kOutOfMemory, kUnavailable:
// no shared memory to be had here.
Status CreateShmEndpoint(std::unique_ptr<Endpoint>* endpoint);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SHM_TRANSPORT_H_

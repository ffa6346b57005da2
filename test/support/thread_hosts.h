// Several hosts on one machine, for ranks that are threads: shm ranks with a simulated host.

#ifndef BRIGADE_TEST_SUPPORT_THREAD_HOSTS_H_
#define BRIGADE_TEST_SUPPORT_THREAD_HOSTS_H_

#include <memory>

#include "transport/endpoint.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {

// The auto endpoint of rank `rank` on host number `host`: shm within a host, inproc between.
std::unique_ptr<Endpoint> AutoEndpointOn(int host, InprocWorld* world, int rank);

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_THREAD_HOSTS_H_

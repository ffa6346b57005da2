// Contact: the values that members of a new group exchange about themselves.

#ifndef BRIGADE_TRANSPORT_TCP_CONTACT_H_
#define BRIGADE_TRANSPORT_TCP_CONTACT_H_

#include <sched.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "membuf/status.h"
#include "transport/bootstrap.h"
#include "transport/host/host.h"
#include "transport/host/network_interface.h"
#include "transport/tcp/wire/wire.h"

namespace brigade::tcp {

struct Contact {
  EndpointId id;
  AuthKey key;
  bool listens = false;  // false: it cannot be reached
  SocketAddress address;
  Host host;                      // for the limit on locked memory, one per user
  cpu_set_t processors;           // that it may use
  uint64_t proposed_wire_id = 0;  // WireIds
};
static_assert(std::is_trivially_copyable_v<Contact>, "contacts travel as bytes");

// Gathers the contacts of all members, by rank. kUnavailable: a member cannot be reached; `listens`
// has the reason, if it is this rank.
Status GatherContacts(Bootstrap* bootstrap, const Contact& mine, const Status& listens,
                      std::vector<Contact>* contacts);

// Members on the machine of `mine` that belong to the same user.
struct Neighbours {
  int ranks = 0;
  cpu_set_t processors;  // that any of them may use
};
Neighbours NeighboursOf(const Contact& mine, const std::vector<Contact>& contacts);

}  // namespace brigade::tcp

#endif  // BRIGADE_TRANSPORT_TCP_CONTACT_H_

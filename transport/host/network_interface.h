// Which of this host's addresses peers connect to.

#ifndef BRIGADE_TRANSPORT_HOST_NETWORK_INTERFACE_H_
#define BRIGADE_TRANSPORT_HOST_NETWORK_INTERFACE_H_

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <type_traits>

#include "membuf/status.h"

namespace brigade {

// An IPv4 or IPv6 address and a port.
struct SocketAddress {
  uint16_t family = AF_UNSPEC;  // AF_INET or AF_INET6
  uint16_t port = 0;            // in the host's byte order; 0: none yet
  uint8_t bytes[16] = {};       // as in packets; an IPv4 address is the first four

  // `system` must be of one of the two families.
  static SocketAddress From(const sockaddr* system);
  // Fills in `*system` and returns its length.
  socklen_t ToSystem(sockaddr_storage* system) const;
  // "10.0.0.1:4000" or "[fd00::1]:4000"; the address alone without a port.
  std::string ToString() const;
};
static_assert(std::is_trivially_copyable_v<SocketAddress> && sizeof(SocketAddress) == 20,
              "addresses travel as bytes");
bool operator==(const SocketAddress& a, const SocketAddress& b);

// Chooses the address to listen on; its port is 0. Interfaces that are down, and IPv6 addresses
// that hold for one link only, do not count. Reads the environment; otherwise any thread.
//
// `setting` is the value of BRIGADE_IFACE: the name of an interface (eth0), the network an address
// is in (10.0.0.0/8, fd00::/8), or several of these with commas between, the first one that this
// host has. Without it (null or empty) the setting of Open MPI's TCP transport is followed, if
// there is one in OMPI_MCA_btl_tcp_if_include. Among the addresses that fit, and among all without
// any setting, the interface with the default route comes first, then the lowest index, with IPv4
// before IPv6. Loopback comes after all these, and IPv4's link-local addresses come last.
//
// kInvalidArgument: the setting matches no address; the text lists those of this host.
// kUnavailable: this host has no address at all.
Status ChooseInterface(const char* setting, SocketAddress* address);

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_HOST_NETWORK_INTERFACE_H_

#include "transport/host/network_interface.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <tuple>
#include <vector>

#include "membuf/check.h"

namespace brigade {
namespace {

constexpr char kOpenMpiSetting[] = "OMPI_MCA_btl_tcp_if_include";

struct Candidate {
  std::string interface;
  SocketAddress address;
  // The one that compares lowest is the best.
  std::tuple<bool, bool, bool, unsigned, bool> rank;
};

// The interface whose default route the kernel prefers; empty without any.
std::string DefaultRoute4() {
  std::ifstream table("/proc/net/route");
  std::string line;
  std::getline(table, line);  // titles
  std::string best;
  for (int64_t best_metric = INT64_MAX; std::getline(table, line);) {
    std::string interface, destination, gateway, flags, references, used, mask;
    int64_t metric = 0;
    std::istringstream(line) >> interface >> destination >> gateway >> flags >> references >>
        used >> metric >> mask;
    if (destination == "00000000" && mask == "00000000" && metric < best_metric) {
      best = interface;
      best_metric = metric;
    }
  }
  return best;
}

std::string DefaultRoute6() {
  std::ifstream table("/proc/net/ipv6_route");
  const std::string any(32, '0');
  std::string line;
  std::string best;
  for (std::string best_metric = "g"; std::getline(table, line);) {
    std::string destination, length, source, source_length, next, metric, references, used, flags,
        interface;
    std::istringstream(line) >> destination >> length >> source >> source_length >> next >>
        metric >> references >> used >> flags >> interface;
    // A host without a default route has one on "lo" that refuses everything. Metrics are eight
    // hexadecimal digits.
    if (destination == any && length == "00" && interface != "lo" && metric < best_metric) {
      best = interface;
      best_metric = metric;
    }
  }
  return best;
}

bool IsLinkLocal(const SocketAddress& address) {
  return address.family == AF_INET ? address.bytes[0] == 169 && address.bytes[1] == 254
                                   : address.bytes[0] == 0xfe && (address.bytes[1] & 0xc0) == 0x80;
}

// The best first.
Status FindCandidates(std::vector<Candidate>* candidates) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) {
    return Status(StatusCode::kUnavailable, std::string("getifaddrs: ") + std::strerror(errno) +
                                                " (it needs a netlink socket)");
  }
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owned(list, freeifaddrs);
  const std::string route4 = DefaultRoute4();
  const std::string route6 = DefaultRoute6();
  for (const ifaddrs* i = list; i != nullptr; i = i->ifa_next) {
    // Running is up, with a cable in it.
    if (i->ifa_addr == nullptr || (i->ifa_flags & IFF_RUNNING) == 0) continue;
    const bool v6 = i->ifa_addr->sa_family == AF_INET6;
    if (!v6 && i->ifa_addr->sa_family != AF_INET) continue;
    const SocketAddress address = SocketAddress::From(i->ifa_addr);
    // Means nothing without the name of an interface, which is each host's own.
    if (v6 && IsLinkLocal(address)) continue;
    // An alias (eth0:1) is its interface's.
    const std::string name = i->ifa_name;
    const bool default_route = name == (v6 ? route6 : route4);
    candidates->push_back(
        {name,
         address,
         {IsLinkLocal(address), (i->ifa_flags & IFF_LOOPBACK) != 0, !default_route,
          if_nametoindex(name.substr(0, name.find(':')).c_str()), v6}});
  }
  std::stable_sort(candidates->begin(), candidates->end(),
                   [](const Candidate& a, const Candidate& b) { return a.rank < b.rank; });
  return Status();
}

// Whether `network`, an address, a slash and how many of its bits count, has `address` in it.
bool InNetwork(const std::string& network, const SocketAddress& address) {
  const size_t slash = network.find('/');
  if (slash == std::string::npos) return false;
  uint8_t wanted[16] = {};
  if (inet_pton(address.family, network.substr(0, slash).c_str(), wanted) != 1) return false;
  const std::string length = network.substr(slash + 1);
  char* end = nullptr;
  const unsigned long bits = std::strtoul(length.c_str(), &end, 10);
  if (length.empty() || *end != '\0' || bits > (address.family == AF_INET ? 32 : 128)) return false;
  for (size_t bit = 0; bit < bits; ++bit) {
    if (((wanted[bit / 8] ^ address.bytes[bit / 8]) & (0x80 >> (bit % 8))) != 0) return false;
  }
  return true;
}

}  // namespace

SocketAddress SocketAddress::From(const sockaddr* system) {
  SocketAddress address;
  address.family = system->sa_family;
  if (address.family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, system, sizeof(in));
    address.port = ntohs(in.sin_port);
    std::memcpy(address.bytes, &in.sin_addr, sizeof(in.sin_addr));
  } else {
    BRIGADE_CHECK_EQ(address.family, AF_INET6);
    sockaddr_in6 in;
    std::memcpy(&in, system, sizeof(in));
    address.port = ntohs(in.sin6_port);
    std::memcpy(address.bytes, &in.sin6_addr, sizeof(in.sin6_addr));
  }
  return address;
}

socklen_t SocketAddress::ToSystem(sockaddr_storage* system) const {
  *system = sockaddr_storage();
  if (family == AF_INET) {
    sockaddr_in in = {};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, bytes, sizeof(in.sin_addr));
    std::memcpy(system, &in, sizeof(in));
    return sizeof(in);
  }
  BRIGADE_CHECK_EQ(family, AF_INET6);
  sockaddr_in6 in = {};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  std::memcpy(&in.sin6_addr, bytes, sizeof(in.sin6_addr));
  std::memcpy(system, &in, sizeof(in));
  return sizeof(in);
}

std::string SocketAddress::ToString() const {
  char text[INET6_ADDRSTRLEN] = "no address";
  inet_ntop(family, bytes, text, sizeof(text));
  if (port == 0) return text;
  const std::string port_text = ":" + std::to_string(port);
  return family == AF_INET ? text + port_text : "[" + std::string(text) + "]" + port_text;
}

bool operator==(const SocketAddress& a, const SocketAddress& b) {
  return std::memcmp(&a, &b, sizeof(a)) == 0;
}

Status ChooseInterface(const char* setting, SocketAddress* address) {
  const char* variable = "BRIGADE_IFACE";
  if (setting == nullptr || *setting == '\0') {
    variable = kOpenMpiSetting;
    setting = std::getenv(kOpenMpiSetting);
  }
  std::vector<Candidate> candidates;
  BRIGADE_RETURN_IF_ERROR(FindCandidates(&candidates));
  if (candidates.empty()) {
    return Status(StatusCode::kUnavailable, "no network interface is up and has an address");
  }
  if (setting == nullptr || *setting == '\0') {
    *address = candidates.front().address;
    return Status();
  }
  std::istringstream wanted_list(setting);
  for (std::string wanted; std::getline(wanted_list, wanted, ',');) {
    for (const Candidate& candidate : candidates) {
      if (candidate.interface == wanted || InNetwork(wanted, candidate.address)) {
        *address = candidate.address;
        return Status();
      }
    }
  }
  std::string text = std::string(variable) + "=" + setting +
                     " is neither the name of an interface of this host that is up nor a network "
                     "it is in (such as 10.0.0.0/8 or fd00::/8). There are:";
  for (const Candidate& candidate : candidates) {
    text += " " + candidate.interface + " " + candidate.address.ToString() + ",";
  }
  text.pop_back();
  return Status(StatusCode::kInvalidArgument, text);
}

}  // namespace brigade

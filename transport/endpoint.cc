#include "transport/endpoint.h"

#include <set>

namespace brigade {

int Endpoint::CountHosts(GroupId group, int first, int stride, int count) const {
  std::set<int> hosts;
  for (int i = 0; i < count; ++i) hosts.insert(HostOf(group, first + i * stride));
  return static_cast<int>(hosts.size());
}

}  // namespace brigade

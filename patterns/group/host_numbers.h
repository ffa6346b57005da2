// Host numbers: which members of a group share a host, and what their hosts are called.

#ifndef BRIGADE_PATTERNS_GROUP_HOST_NUMBERS_H_
#define BRIGADE_PATTERNS_GROUP_HOST_NUMBERS_H_

#include <string>
#include <type_traits>
#include <vector>

#include "transport/host/host.h"

namespace brigade {

// Where one rank is.
struct RankHost {
  static RankHost Here();

  Host host;
  char name[64] = {};  // for people and files: several hosts may have one
};
static_assert(std::is_trivially_copyable_v<RankHost>, "exchanged as bytes");

// Each rank's host, numbered in the order of their first ranks.
std::vector<int> NumberHosts(const std::vector<RankHost>& ranks);

// The names, and how many ranks in a row each host has: "a x2 b x1".
std::string DescribeHosts(const std::vector<RankHost>& ranks);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_HOST_NUMBERS_H_

#include "patterns/group/host_numbers.h"

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

namespace brigade {

RankHost RankHost::Here() {
  RankHost here;
  here.host = Host::Here();
  gethostname(here.name, sizeof(here.name) - 1);
  return here;
}

std::vector<int> NumberHosts(const std::vector<RankHost>& ranks) {
  // Two processes of a machine in different network namespaces stand for two hosts.
  std::map<std::pair<std::string, uint64_t>, int> hosts;
  std::vector<int> numbers;
  for (const RankHost& rank : ranks) {
    const std::pair<std::string, uint64_t> host(rank.host.boot_id, rank.host.network_namespace);
    numbers.push_back(hosts.emplace(host, hosts.size()).first->second);
  }
  return numbers;
}

std::string DescribeHosts(const std::vector<RankHost>& ranks) {
  const std::vector<int> numbers = NumberHosts(ranks);
  std::string text;
  size_t in_a_row = 0;
  for (size_t r = 0; r < ranks.size(); ++r) {
    ++in_a_row;
    if (r + 1 < ranks.size() && numbers[r] == numbers[r + 1]) continue;
    if (!text.empty()) text += " ";
    text += std::string(ranks[r].name) + " x" + std::to_string(in_a_row);
    in_a_row = 0;
  }
  return text;
}

}  // namespace brigade

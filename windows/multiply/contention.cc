#include "windows/multiply/contention.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>

namespace brigade {

int MostFetchesAtOnce(const std::vector<std::vector<std::vector<int>>>& asked,
                      const std::vector<int>& host_of) {
  std::map<std::tuple<size_t, int, int>, int>
      fetches;  // by step, host that fetches, host fetched from
  int most = 0;
  for (size_t rank = 0; rank < asked.size(); ++rank) {
    for (size_t step = 0; step < asked[rank].size(); ++step) {
      for (const int owner : asked[rank][step]) {
        const int here = host_of[rank];
        const int there = host_of[static_cast<size_t>(owner)];
        if (here != there) most = std::max(most, ++fetches[{step, here, there}]);
      }
    }
  }
  return most;
}

}  // namespace brigade

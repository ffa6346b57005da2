#include "transport/host/descriptors.h"

#include <sys/resource.h>

#include <algorithm>

namespace brigade {

void RaiseDescriptorLimit() {
  rlimit limit;
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = std::max(limit.rlim_cur, std::min(limit.rlim_max, kEnoughDescriptors));
  // Where this is refused the old limit stays, and a lack of descriptors has errors of its own.
  (void)setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace brigade

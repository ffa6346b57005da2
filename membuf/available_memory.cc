#include "membuf/available_memory.h"

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace brigade {
namespace {

// Returns the number after `name` in a file of lines NAME NUMBER; `otherwise` if there is none.
uint64_t NumberIn(const std::string& path, const std::string& name, uint64_t otherwise) {
  std::ifstream file(path);
  std::string found;
  uint64_t value = 0;
  for (std::string rest; file >> found >> value; std::getline(file, rest)) {
    if (found == name) return value;
  }
  return otherwise;
}

// "max", or no file, is no limit.
uint64_t NumberIn(const std::string& path, uint64_t otherwise) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? value : otherwise;
}

// How a version of control groups calls its files.
struct Names {
  const char* limit;
  const char* usage;
  const char* reclaimable;  // in memory.stat: cached files that are not in use
};
constexpr Names kVersion1 = {"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                             "total_inactive_file"};
constexpr Names kVersion2 = {"/memory.max", "/memory.current", "inactive_file"};

// Returns the least memory that the limits of `group` and its ancestors leave. In a container the
// group's path may be a path of the machine, of which only the top is mounted.
uint64_t LeftBy(const std::string& mount, std::string group, const Names& names) {
  uint64_t left = UINT64_MAX;
  for (;; group.resize(group.rfind('/'))) {
    const std::string folder = mount + group;
    const uint64_t limit = NumberIn(folder + names.limit, UINT64_MAX);
    if (limit != UINT64_MAX) {
      const uint64_t usage = NumberIn(folder + names.usage, 0);
      const uint64_t reclaimable = NumberIn(folder + "/memory.stat", names.reclaimable, 0);
      const uint64_t in_use = usage - std::min(usage, reclaimable);
      left = std::min(left, limit - std::min(limit, in_use));
    }
    if (group.find('/') == std::string::npos) return left;
  }
}

}  // namespace

size_t AvailableMemory(Swapping swapping, const std::string& proc, const std::string& cgroups) {
  const uint64_t kib = NumberIn(proc + "/meminfo", "MemAvailable:", UINT64_MAX);
  uint64_t available = kib;
  if (kib != UINT64_MAX) {
    const bool swaps = swapping == Swapping::kAllowed;
    available = (kib + (swaps ? NumberIn(proc + "/meminfo", "SwapFree:", 0) : 0)) << 10;
  }
  // Lines of number:controllers:group; version 2 names no controllers.
  std::ifstream groups(proc + "/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':');
    const size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") {
      available = std::min(available, LeftBy(cgroups, group, kVersion2));
    } else if (controllers.find(",memory,") != std::string::npos) {
      available = std::min(available, LeftBy(cgroups + "/memory", group, kVersion1));
    }
  }
  return available;
}

bool MayOvercommit(const std::string& proc) {
  return NumberIn(proc + "/sys/vm/overcommit_memory", 0) != 2;
}

bool AvailableShare::Take(size_t bytes) {
  if (bytes > until_look_) {
    ++looks_;
    const size_t left = AvailableMemory(Swapping::kAllowed);
    if (bytes > left) return false;
    until_look_ = std::max(bytes, left / parts_);
  }
  until_look_ -= bytes;
  return true;
}

}  // namespace brigade

#include "transport/host/host.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <fstream>
#include <string>

namespace brigade {
namespace {

std::string FirstLine(const char* path) {
  std::string line;
  std::getline(std::ifstream(path), line);
  return line;
}

uint64_t NamespaceOf(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 ? info.st_ino : 0;
}

}  // namespace

Host Host::Here() {
  // Never deleted: functions of atexit may still make groups.
  static const auto* const boot_id = new std::string(FirstLine("/proc/sys/kernel/random/boot_id"));
  // Reading a namespace costs as much as half of a small window. No lock, which a fork could leave
  // locked: threads that read at the same time store the same.
  static std::atomic<uint64_t> network_namespace;
  static std::atomic<uint64_t> process_namespace;
  static std::atomic<pid_t> process;
  if (process.load(std::memory_order_acquire) != getpid()) {
    network_namespace.store(NamespaceOf("/proc/self/ns/net"), std::memory_order_relaxed);
    process_namespace.store(NamespaceOf("/proc/self/ns/pid"), std::memory_order_relaxed);
    process.store(getpid(), std::memory_order_release);
  }
  Host host;
  boot_id->copy(host.boot_id, sizeof(host.boot_id) - 1);
  host.network_namespace = network_namespace.load(std::memory_order_relaxed);
  host.process_namespace = process_namespace.load(std::memory_order_relaxed);
  host.user = geteuid();
  return host;
}

bool Host::operator==(const Host& other) const {
  return std::memcmp(this, &other, sizeof(Host)) == 0;
}

cpu_set_t AllowedProcessors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails only where there are more processors than the set can name: then there are enough.
  if (sched_getaffinity(0, sizeof(set), &set) != 0) std::memset(&set, 0xff, sizeof(set));
  return set;
}

int ProcessorQuota() {
  // Version 2 of control groups. The limit of any group on the way up counts.
  std::string line;
  std::ifstream groups("/proc/self/cgroup");
  while (std::getline(groups, line) && line.compare(0, 3, "0::") != 0) {
  }
  if (line.compare(0, 3, "0::") != 0) return INT_MAX;
  int quota = INT_MAX;
  for (std::string group = line.substr(3);; group.resize(group.rfind('/'))) {
    std::ifstream file("/sys/fs/cgroup" + group + "/cpu.max");
    double limit = 0;  // stays so at "max"
    double period = 0;
    if (file >> limit >> period && limit > 0 && period > 0) {
      quota = std::min(quota, static_cast<int>((limit + period - 1) / period));
    }
    if (group.find('/') == std::string::npos) return quota;
  }
}

}  // namespace brigade

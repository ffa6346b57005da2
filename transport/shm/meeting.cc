#include "transport/shm/meeting.h"

#include <algorithm>
#include <string>

namespace brigade::shm {
namespace {

struct Verdict {
  int32_t failed = 0;
  char reason[252] = {};
};

Status MapMember(const Introduction& their, int peer, int size, Peers* peers, Group* group) {
  if (their.directory_offset == 0) {
    return Status(StatusCode::kOutOfMemory, "no shared memory for a group");
  }
  Peer* found = nullptr;
  BRIGADE_RETURN_IF_ERROR(peers->Find(their.segment, their.public_offset, &found));
  auto* const directory =
      Shared<Directory>(found->segment.get(), their.directory_offset, Directory::Bytes(size));
  if (directory == nullptr) return Misplaced();
  group->ranks[found] = peer;
  group->members[peer] = found;
  group->directories[peer] = directory;
  return Status();
}

}  // namespace

Status MapMembers(const Introduction& mine, const std::vector<Introduction>& all, bool spans_hosts,
                  Peers* peers, Group* group) {
  const int size = static_cast<int>(all.size());
  group->members.resize(all.size());
  group->directories.resize(all.size());
  group->out.resize(static_cast<size_t>(kEdgeKinds) * all.size());
  group->in.resize(group->out.size());
  std::vector<const Host*> hosts;
  for (int peer = 0; peer < size; ++peer) {
    const Introduction& their = all[peer];
    const auto known = std::find_if(hosts.begin(), hosts.end(),
                                    [&](const Host* host) { return *host == their.host; });
    group->hosts.push_back(static_cast<int>(known - hosts.begin()));
    if (known == hosts.end()) hosts.push_back(&their.host);
    if (their.host == mine.host) {
      BRIGADE_RETURN_IF_ERROR(MapMember(their, peer, size, peers, group));
    } else if (!spans_hosts) {
      return Status(StatusCode::kUnavailable,
                    "on another host, in other namespaces or of another user than rank " +
                        std::to_string(peer));
    }
  }
  if (hosts.size() == 1) group->hosts.clear();
  return Status();
}

Status AgreeWhetherMapped(Bootstrap* bootstrap, const Status& mine, Status* verdict) {
  Verdict say;
  if (!mine.ok()) {
    say.failed = 1;
    mine.message().copy(say.reason, sizeof(say.reason) - 1);
  }
  std::vector<Verdict> all(static_cast<size_t>(bootstrap->size()));
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&say, sizeof(say), all.data()));
  const auto no =
      std::find_if(all.begin(), all.end(), [](const Verdict& their) { return their.failed != 0; });
  *verdict = no == all.end() ? Status()
                             : Status(StatusCode::kUnavailable,
                                      "shm: rank " + std::to_string(no - all.begin()) +
                                          " of the group: " + std::string(no->reason));
  return Status();
}

bool IsCrowded(const Host& host, const std::vector<Introduction>& all) {
  cpu_set_t together;
  CPU_ZERO(&together);
  int quota = 0;
  int ranks = 0;
  for (const Introduction& their : all) {
    if (!(their.host == host)) continue;
    ++ranks;
    CPU_OR(&together, &together, &their.processors);
    quota = std::max(quota, their.processor_quota);
  }
  return ranks > std::min(CPU_COUNT(&together), quota);
}

}  // namespace brigade::shm

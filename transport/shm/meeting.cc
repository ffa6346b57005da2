#include "transport/shm/meeting.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "transport/host_memory/copy_trial.h"

namespace brigade::shm {
namespace {

Status MapMember(const Introduction& their, int peer, int size, Peers* peers, Group* group) {
  if (their.directory_offset == 0) {
    return Status(StatusCode::kOutOfMemory, "no shared memory for a group");
  }
  std::shared_ptr<Peer> found;
  BRIGADE_RETURN_IF_ERROR(peers->Find(their.segment, their.public_offset, &found));
  auto* const directory =
      Shared<Directory>(found->segment.get(), their.directory_offset, Directory::Bytes(size));
  if (directory == nullptr) return Misplaced();
  group->ranks[found.get()] = peer;
  group->members[peer] = found;
  group->directories[peer] = directory;
  return Status();
}

// Where two ranks try how fast they copy.
struct TrialMemory {
  SharedSegment::Address segment;
  uint64_t offset = 0;
};

// The next member on this host, from `peer` on.
int NextHere(const Group& group, int peer) {
  while (peer < group.size() && group.members[peer] == nullptr) ++peer;
  return peer;
}

// Returns the first member on this host that knows for which lengths the kernel copies.
int NextWithMeasurement(const std::vector<Introduction>& all, const Group& group) {
  int peer = NextHere(group, 0);
  while (peer < group.size() && !all[peer].knows_kernel_copies) peer = NextHere(group, peer + 1);
  return peer;
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
  BRIGADE_RETURN_IF_ERROR(GatherOutcome(bootstrap, mine, verdict));
  if (verdict->ok()) return Status();
  *verdict = Status(StatusCode::kUnavailable, "shm: " + verdict->message());
  return Status();
}

Status MeasureKernelCopies(Bootstrap* bootstrap, const std::vector<Introduction>& all,
                           const Group& group, std::optional<KernelCopies>* known) {
  const auto lacks = [&](const Introduction& their) {
    const auto is_there = [&](const Introduction& other) { return other.host == their.host; };
    return !their.knows_kernel_copies && std::count_if(all.begin(), all.end(), is_there) > 1;
  };
  if (std::none_of(all.begin(), all.end(), lacks)) return Status();

  constexpr std::chrono::milliseconds kMost(200);
  const int sender = NextHere(group, 0);
  const int receiver = NextHere(group, sender + 1);
  const bool sends = group.rank == sender && receiver < group.size();
  const int measured_by = NextWithMeasurement(all, group);
  std::shared_ptr<SharedSegment> segment;
  TrialMemory mine;
  const bool measures = sends && measured_by == group.size();
  if (measures && !IsHostCrowded(all[sender].host, all) &&
      SharedSegment::CreateFor(CopyTrial::Bytes(), &segment).ok()) {
    const bool is_made = segment->Allocate(CopyTrial::Bytes(), &mine.offset).ok();
    if (is_made) mine.segment = segment->address();
  }
  std::vector<TrialMemory> memory(all.size());
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), memory.data()));

  std::vector<KernelCopies> found(all.size());
  CopyTrial* trial = nullptr;
  KernelCopies copies = known->value_or(KernelCopies());
  const TrialMemory& there = memory[sender];
  const bool is_made = !(there.segment == SharedSegment::Address());
  const bool takes_part = sends || group.rank == receiver;
  if (takes_part && is_made && (sends || SharedSegment::Open(there.segment, &segment).ok())) {
    const Peer& peer = *group.members[sends ? receiver : sender];
    if (std::byte* const shared = segment->At(there.offset, CopyTrial::Bytes())) {
      trial = new CopyTrial(shared, sends ? CopyTrial::kSender : CopyTrial::kReceiver,
                            peer.segment->address().process, &peer.process);
    }
  }
  const bool is_tried = trial != nullptr && trial->Run(kMost, &copies);
  if (measures && !is_tried) copies = GuessedKernelCopies();
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&copies, sizeof(copies), found.data()));
  delete trial;  // not on failure: a sender that is late may write to it still
  if (!known->has_value() && receiver < group.size()) {
    *known = found[measured_by < group.size() ? measured_by : sender];
  }
  return Status();
}

}  // namespace brigade::shm

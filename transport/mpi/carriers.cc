#include "transport/mpi/carriers.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "transport/host/host.h"
#include "transport/host/ranks_per_processor.h"

namespace brigade::mpi {
namespace {

// Carriers that no group uses are kept for the next group of the same members.
constexpr int kIdleCarriers = 8;

// A member's contribution to the opening of a group.
struct Proposal {
  uint64_t carrier;  // its first wire id
  uint64_t wire_id;
  Host host;
  RankProcessors processors;
};

Status Duplicate(MPI_Comm comm, MPI_Comm* copy) {
  MPI_Request request;
  BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_idup(comm, copy, &request), "MPI_Comm_idup"));
  BRIGADE_RETURN_IF_ERROR(MpiPoll(&request, "MPI_Comm_idup"));
  MPI_Comm_set_errhandler(*copy, MPI_ERRORS_RETURN);
  return Status();
}

}  // namespace

Status Carriers::Agree(MpiBootstrap* bootstrap, CarrierUse* group) {
  const int size = bootstrap->size();
  iterator carrier;
  BRIGADE_RETURN_IF_ERROR(Find(bootstrap, &carrier, &group->ranks));
  constexpr uint64_t kNone = UINT64_MAX;
  const Proposal mine{carrier != carriers_.end() ? carrier->first_wire_id : kNone,
                      wire_ids_.proposal(), Host::Here(), RankProcessors::Here()};
  std::vector<Proposal> proposals(size);
  BRIGADE_RETURN_IF_ERROR(bootstrap->AllGather(&mine, sizeof(mine), proposals.data()));
  const uint64_t wire_id = wire_ids_.Agree(proposals, &Proposal::wire_id);
  group->shares_processors = IsHostCrowded(mine.host, proposals);
  const bool agreed = mine.carrier != kNone &&
                      std::all_of(proposals.begin(), proposals.end(), [&](const Proposal& their) {
                        return their.carrier == mine.carrier;
                      });
  if (!agreed || wire_id - carrier->first_wire_id >= max_wire_ids_) {
    BRIGADE_RETURN_IF_ERROR(Make(bootstrap->comm(), wire_id, &carrier));
    std::iota(group->ranks.begin(), group->ranks.end(), 0);
  }
  group->carrier = carrier;
  ++carrier->groups;
  group->first_tag = static_cast<int>(wire_id % max_wire_ids_) * kChannelKinds;
  return Status();
}

Status Carriers::AgreeByParent(Bootstrap* bootstrap, const CarrierUse& parent,
                               const std::vector<int>& members, CarrierUse* group) {
  for (const int rank : members) group->ranks.push_back(parent.RankOf(rank));
  group->carrier = parent.carrier;
  ++group->carrier->groups;  // the parent may end meanwhile
  const Proposal mine{group->carrier->first_wire_id, wire_ids_.proposal(), Host::Here(),
                      RankProcessors::Here()};
  std::vector<Proposal> proposals(group->ranks.size());
  Status status = bootstrap->AllGather(&mine, sizeof(mine), proposals.data());
  if (status.ok()) {
    const uint64_t wire_id = wire_ids_.Agree(proposals, &Proposal::wire_id);
    group->shares_processors = IsHostCrowded(mine.host, proposals);
    group->first_tag = static_cast<int>(wire_id % max_wire_ids_) * kChannelKinds;
    if (wire_id - mine.carrier < max_wire_ids_) return Status();
    status = Status(StatusCode::kUnavailable,
                    "mpi: no tag is left for groups of this group, after " +
                        std::to_string(max_wire_ids_) + "; make the group of an MPI communicator");
  }
  Leave(group->carrier);
  return status;
}

Status Carriers::Find(MpiBootstrap* bootstrap, iterator* found, std::vector<int>* ranks) {
  const int size = bootstrap->size();
  std::vector<int> bootstrap_ranks(size);
  std::iota(bootstrap_ranks.begin(), bootstrap_ranks.end(), 0);
  ranks->resize(size);
  MPI_Group members;
  BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Comm_group(bootstrap->comm(), &members), "MPI_Comm_group"));
  *found = carriers_.end();
  std::vector<int> candidate_ranks(size);
  for (auto candidate = carriers_.begin(); candidate != carriers_.end(); ++candidate) {
    if (*found != carriers_.end() && candidate->first_wire_id < (*found)->first_wire_id) continue;
    MPI_Group_translate_ranks(members, size, bootstrap_ranks.data(), candidate->members,
                              candidate_ranks.data());
    if (std::count(candidate_ranks.begin(), candidate_ranks.end(), MPI_UNDEFINED) == 0) {
      *found = candidate;
      ranks->swap(candidate_ranks);
    }
  }
  MPI_Group_free(&members);
  return Status();
}

Status Carriers::Make(MPI_Comm comm, uint64_t first_wire_id, iterator* made) {
  Carrier carrier{first_wire_id};
  BRIGADE_RETURN_IF_ERROR(Duplicate(comm, &carrier.comm));
  MPI_Comm_group(carrier.comm, &carrier.members);
  int size = 0;
  MPI_Group_size(carrier.members, &size);
  const Status status = size > 1 ? Duplicate(comm, &carrier.control) : Status();
  *made = carriers_.insert(carriers_.end(), carrier);
  if (!status.ok()) Free(*made);
  return status;
}

void Carriers::Leave(iterator carrier) {
  if (--carrier->groups > 0) return;
  carriers_.splice(carriers_.end(), carriers_, carrier);
  const auto is_idle = [](const Carrier& c) { return c.groups == 0; };
  if (std::count_if(carriers_.begin(), carriers_.end(), is_idle) > kIdleCarriers) {
    Free(std::find_if(carriers_.begin(), carriers_.end(), is_idle));
  }
}

void Carriers::Free(iterator carrier) {
  MPI_Group_free(&carrier->members);
  if (carrier->control != MPI_COMM_NULL) MPI_Comm_free(&carrier->control);
  MPI_Comm_free(&carrier->comm);
  carriers_.erase(carrier);
}

}  // namespace brigade::mpi

// The C interface: groups.

#include "brigade/group.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "patterns/api/call_arguments.h"
#include "patterns/api/handles.h"
#include "patterns/api/sized.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/abort.h"
#include "patterns/group/group.h"
#include "transport/bootstrap.h"
#include "transport/registry/registry.h"

using brigade::Bootstrap;
using brigade::CheckPointer;
using brigade::Enter;
using brigade::Group;
using brigade::Status;

namespace brigade {

Status MakeGroup(brigade_engine* engine, Bootstrap* bootstrap, int rows, int cols,
                 brigade_group** group) {
  return MakeObject("group", group, [&](brigade_group* made) -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("engine", engine));
    PollMpiInWaitsOf(engine->endpoint.get());
    made->engine = engine;
    return Group::Create(engine->engine.get(), bootstrap, rows, cols, &made->group);
  });
}

}  // namespace brigade

namespace {

// Returns a property of a scope; -1 if there is no such group or scope.
int OfScope(const brigade_group* group, brigade_scope scope,
            int (Group::*property)(brigade::ChannelKind) const) {
  int value = -1;
  (void)Enter(nullptr, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("group", group));
    brigade::ChannelKind kind;
    BRIGADE_RETURN_IF_ERROR(brigade::ToScope(scope, &kind));
    value = (group->group.get()->*property)(kind);
    return Status();
  });
  return value;
}

// Makes a group of ranks of another; none, where this rank is not a member.
template <typename Make>
brigade_status MakeFrom(brigade_group* group, brigade_group** members, const Make& make) {
  return Enter(group, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("the place for the new group", members));
    *members = nullptr;
    BRIGADE_RETURN_IF_ERROR(CheckPointer("group", group));
    auto made = std::make_unique<brigade_group>();
    BRIGADE_RETURN_IF_ERROR(make(&made->group));
    made->engine = group->engine;
    *members = made->group != nullptr ? made.release() : nullptr;
    return Status();
  });
}

// The name of a pattern's function in C, without `brigade_` and `v`.
const char* NameInC(brigade::Pattern pattern) {
  using brigade::Pattern;
  switch (pattern) {
    case Pattern::kReceive:
      return "recv";
    case Pattern::kBroadcast:
      return "bcast";
    case Pattern::kAllReduce:
      return "allreduce";
    case Pattern::kMultiBroadcast:
      return "allgather";
    case Pattern::kMultiReduce:
      return "reduce_scatter";
    case Pattern::kAllToAll:
      return "alltoall";
    default:
      return brigade::EntryOf(pattern).name;
  }
}

Status Describe(const Group& group, brigade_failure* failure) {
  brigade_failure is = brigade_failure_init();
  is.rank = -1;
  is.call = "";
  const Status status = group.failure();
  if (!status.ok()) {
    const brigade::Abort& cause = group.cause();
    is.status = brigade::CodeToC(status);
    is.rank = cause.rank;
    if (cause.pattern) is.call = NameInC(*cause.pattern);
    is.number = cause.sequence;
  }
  BRIGADE_RETURN_IF_ERROR(brigade::WriteSized("brigade_failure", is, failure));
  return status;
}

}  // namespace

brigade_status brigade_group_from_mpi(brigade_engine* engine, int mpi_comm, int rows, int cols,
                                      brigade_group** group) {
  return Enter(nullptr, [&]() -> Status {
    if (group != nullptr) *group = nullptr;
    std::unique_ptr<Bootstrap> bootstrap;
    BRIGADE_RETURN_IF_ERROR(brigade::CreateBootstrap(mpi_comm, &bootstrap));
    return brigade::MakeGroup(engine, bootstrap.get(), rows, cols, group);
  });
}

brigade_status brigade_group_split(brigade_group* group, int colour, int key,
                                   brigade_group** members) {
  return MakeFrom(group, members, [&](std::unique_ptr<Group>* made) {
    return group->group->Split(colour, key, made);
  });
}

brigade_status brigade_group_from_ranks(brigade_group* group, const int* ranks, int rows, int cols,
                                        brigade_group** members) {
  return MakeFrom(group, members, [&](std::unique_ptr<Group>* made) -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("ranks", ranks));
    // A shape beyond the group is refused by all ranks together, without a look at the list.
    const int64_t count = int64_t{std::max(rows, 0)} * std::max(cols, 0);
    const int most = group->group->ScopeSize(brigade::ChannelKind::kAll);
    return group->group->FromRanks(std::vector<int>(ranks, ranks + (count <= most ? count : 0)),
                                   rows, cols, made);
  });
}

brigade_status brigade_group_duplicate(brigade_group* group, brigade_group** duplicate) {
  return MakeFrom(group, duplicate,
                  [&](std::unique_ptr<Group>* made) { return group->group->Duplicate(made); });
}

void brigade_group_destroy(brigade_group* group) { delete group; }

brigade_status brigade_group_error(const brigade_group* group) {
  return Enter(nullptr, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("group", group));
    return group->group->failure();
  });
}

brigade_status brigade_group_failure(const brigade_group* group, brigade_failure* failure) {
  return Enter(nullptr, [&]() -> Status {
    BRIGADE_RETURN_IF_ERROR(CheckPointer("group", group));
    BRIGADE_RETURN_IF_ERROR(CheckPointer("failure", failure));
    return Describe(*group->group, failure);
  });
}

void brigade_group_abort(brigade_group* group, const char* text) {
  if (group == nullptr) return;
  (void)Enter(nullptr, [&] {
    group->group->Abort(text == nullptr ? "" : text);
    return Status();
  });
}

int brigade_scope_size(const brigade_group* group, brigade_scope scope) {
  return OfScope(group, scope, &Group::ScopeSize);
}

int brigade_scope_rank(const brigade_group* group, brigade_scope scope) {
  return OfScope(group, scope, &Group::ScopeRank);
}

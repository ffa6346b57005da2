// GroupMember: one rank of a group of all ranks, made without the rooms above the engine, whose
// engine and state are at hand.

#ifndef BRIGADE_TEST_SUPPORT_GROUP_MEMBER_H_
#define BRIGADE_TEST_SUPPORT_GROUP_MEMBER_H_

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/plan/plan_cache.h"
#include "patterns/schedule/segment_plan.h"
#include "transport/endpoint.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"

namespace brigade {

inline void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// All ranks have come here.
inline void Meet(InprocWorld& world, int rank) {
  std::vector<char> all(static_cast<size_t>(world.ranks()));
  Require(world.MakeBootstrap(rank)->AllGather("", 1, all.data()));
}

// All but what depends on timing: memory that was held, time that was waited.
inline void ExpectEqual(const OperationStatistics& one, const OperationStatistics& other) {
  EXPECT_EQ(one.messages_sent, other.messages_sent);
  EXPECT_EQ(one.bytes_sent, other.bytes_sent);
  EXPECT_EQ(one.segments, other.segments);
  EXPECT_EQ(one.copies, other.copies);
  EXPECT_EQ(one.bytes_copied, other.bytes_copied);
  EXPECT_EQ(one.combines, other.combines);
  EXPECT_EQ(one.bytes_combined, other.bytes_combined);
}

// Messages go along the channel of all.
struct GroupMember {
  GroupMember(InprocWorld& world, int rank, std::unique_ptr<Endpoint> with,
              const EngineOptions& options = Small())
      : endpoint(std::move(with)) {
    Require(Engine::Create(endpoint.get(), options, &engine));
    state.rank = rank;
    state.cols = world.ranks();
    Require(endpoint->OpenGroup(world.MakeBootstrap(rank).get(), &state.id));
    state.capabilities = &endpoint->CapabilitiesOf(state.id);
    EdgeConfig config;
    config.capabilities = state.capabilities;
    config.settings = SegmentSettingsFor(options.chunk_bytes, options.staging_bytes,
                                         state.capabilities->tuning.preferred_segment_bytes);
    state.edge_configs.push_back(config);
    for (Scope& scope : state.scopes) {
      scope = {state.cols, rank, 0, 1, 1, &state.edge_configs.front()};
    }
    state.edges = endpoint->edges();
    state.plans = std::make_shared<PlanCache>();
    state.out_edges.resize(state.members() * kChannelKinds);
    state.in_edges.resize(state.out_edges.size());
  }
  ~GroupMember() {
    if (!state.closed) {
      EXPECT_TRUE(engine->Drain().ok());
      endpoint->CloseGroup(state.id);
    }
  }
  GroupMember(const GroupMember&) = delete;
  GroupMember& operator=(const GroupMember&) = delete;

  static EngineOptions Small() {
    EngineOptions options;
    options.chunk_bytes = 1024;
    options.staging_bytes = 16 * 1024;
    return options;
  }
  static std::unique_ptr<Endpoint> OverShm(const ShmOptions& options = ShmOptions()) {
    std::unique_ptr<Endpoint> endpoint;
    Require(CreateShmEndpoint(options, &endpoint));
    return endpoint;
  }

  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  GroupState state;
};

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_GROUP_MEMBER_H_

// LineMember: a rank that runs calls of the channel of all as a group does, in lines or without.

#ifndef BRIGADE_TEST_SUPPORT_LINE_MEMBER_H_
#define BRIGADE_TEST_SUPPORT_LINE_MEMBER_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/direct/line_round.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/short_path/group_edges.h"
#include "patterns/short_path/short_path.h"
#include "test/support/group_member.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {

// `kRun`: RunExchangeLines or its like.
template <LineRound (*kRun)(Engine*, GroupState*, const PatternCall&, OperationStatistics*)>
struct LineMember : GroupMember {
  LineMember(InprocWorld& world, int rank, const EngineOptions& options = EngineOptions())
      : GroupMember(world, rank, OverShm(), options) {}

  uint64_t& sequence() { return state.scope_sequence[static_cast<int>(ChannelKind::kAll)]; }
  const Schedule& ScheduleOf(const PatternCall& call) {
    return *state.schedules.Find(EntryOf(call.pattern), call, state.scope(ChannelKind::kAll),
                                 *endpoint, state.id);
  }
  LineRound RunLines(const PatternCall& call, OperationStatistics* did = nullptr) {
    const Engine::Turn turn(engine.get());
    return kRun(engine.get(), &state, call, did);
  }
  Status Run(const PatternCall& call, bool by_lines, OperationStatistics* did) {
    const Engine::Turn turn(engine.get());
    const LineRound lines = by_lines ? kRun(engine.get(), &state, call, did) : LineRound::kUnusual;
    if (lines == LineRound::kDone) {
      ++sequence();
      return Status();
    }
    const Schedule& schedule = ScheduleOf(call);
    ShortPath<EdgePort> path(engine.get(), &state, EntryOf(call.pattern), call);
    Status status;
    if (lines == LineRound::kSent) {
      status = path.RunAfterSends(schedule, sequence()++);
    } else {
      while (!path.Fits(schedule)) engine->Move();
      status = path.Run(schedule, sequence()++);
    }
    *did = path.statistics();
    return status;
  }
  // None of `calls` goes in lines, nor does `usual` when it is time to look around. Nothing is sent
  // then, nothing is taken, no number is used up: `usual` runs afterwards.
  void ExpectLeftAsTheyAre(InprocWorld& world,
                           const std::vector<std::pair<std::string, PatternCall>>& calls,
                           const PatternCall& usual) {
    for (const auto& [what, call] : calls) {
      EXPECT_EQ(RunLines(call), LineRound::kUnusual) << what;
    }
    sequence() = kCallsPerLook - 1;
    EXPECT_EQ(RunLines(usual), LineRound::kUnusual) << "time to look around";
    sequence() = 0;
    for (int peer = 0; peer < world.ranks(); ++peer) {
      if (peer == state.rank) continue;
      EXPECT_EQ(state.edges->EdgeTo({state.id, ChannelKind::kAll}, peer)->sent(), 0);
    }
    Meet(world, state.rank);
    OperationStatistics did;
    Require(Run(usual, /*by_lines=*/true, &did));
  }
};

}  // namespace brigade

#endif  // BRIGADE_TEST_SUPPORT_LINE_MEMBER_H_

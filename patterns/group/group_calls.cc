#include "patterns/group/group_calls.h"

#include <cstdint>
#include <optional>
#include <utility>

#include "patterns/catalogue/catalogue.h"
#include "patterns/direct/broadcast_lines.h"
#include "patterns/direct/exchange_lines.h"
#include "patterns/direct/line_round.h"
#include "patterns/direct/mutual_reads.h"
#include "patterns/direct/pair_line.h"
#include "patterns/direct/portion_lines.h"
#include "patterns/engine/executor.h"
#include "patterns/engine/time_limit.h"
#include "patterns/group/call_check.h"
#include "patterns/group/call_topology.h"
#include "patterns/group/group_scopes.h"
#include "patterns/group/normal_form.h"
#include "patterns/schedule/topology.h"
#include "patterns/short_path/edge_port.h"
#include "patterns/short_path/group_edges.h"
#include "patterns/short_path/post_port.h"
#include "patterns/short_path/short_path.h"

namespace brigade {
namespace {

// What every way of running a valid call needs beside the call.
struct Beginning {
  const CatalogueEntry* entry = nullptr;
  const Schedule* schedule = nullptr;
  uint64_t* sequence = nullptr;  // its number on its channel, to be advanced when it starts
};

// The normal form of `call`, its free topology replaced: `call` itself or *copy.
const PatternCall& Normal(const EngineOptions& options, GroupState* group, const PatternCall& call,
                          std::optional<PatternCall>* copy) {
  const bool is_free = call.topology.shape == Shape::kFree;
  return NormalForm(is_free ? WithTopology(options, group, call, copy) : call, copy);
}

// REQUIRES: `call` is normal.
Status Begin(const Engine& engine, GroupState* group, const PatternCall& call,
             Beginning* beginning) {
  if (!group->failure.ok()) return group->failure;
  const ChannelKind kind = ChannelOf(call);
  const CatalogueEntry& entry = EntryOf(call.pattern);
  const Scope& scope = group->scope(kind);
  BRIGADE_RETURN_IF_ERROR(CheckCall(entry, call, scope.size, scope.rank));
  beginning->entry = &entry;
  beginning->schedule = group->schedules.Find(entry, call, scope, *engine.endpoint(), group->id);
  beginning->sequence = &group->scope_sequence[static_cast<int>(kind)];
  if (!IsPair(call.pattern)) return Status();
  if (group->config_to.empty()) PrepareForPairs(*engine.endpoint(), engine.options(), group);
  if (call.pattern == Pattern::kSend) beginning->sequence = &group->send_sequence[call.root];
  if (call.pattern == Pattern::kReceive) {
    beginning->sequence = &group->receive_sequence[call.root];
  }
  return Status();
}

Status RunByExecutor(Engine* engine, GroupState* group, const Beginning& beginning,
                     const PatternCall& call, const TimeLimit& limit,
                     OperationStatistics* did) {
  std::unique_ptr<Executor> executor = Executor::New(engine);
  Status status = executor->Prepare(group, *beginning.entry, beginning.schedule, call,
                                    *beginning.sequence, /*blocking=*/true);
  if (status.ok()) {
    ++*beginning.sequence;
    executor->EndBy(limit);
    engine->Activate(executor.get());
    engine->RunToEnd(executor.get());
    engine->Deactivate(executor.get());
    executor->Detach();
    status = executor->outcome();
    *did = executor->statistics();
  }
  Executor::Keep(std::move(executor));
  return status;
}

}  // namespace

Status LookAround(Engine* engine, const GroupState& group) {
  engine->Move();
  return group.failure;
}

Status RunCall(Engine* engine, GroupState* group, const PatternCall& given,
               OperationStatistics* statistics) {
  const Engine::Turn turn(engine);
  TimeLimit limit;  // whatever ways it tries
  limit.Start(given.timeout_seconds);
  engine->CountWaits(statistics != nullptr);
  const auto count_wait = [&] {
    if (statistics == nullptr) return;
    statistics->wait_ns = static_cast<uint64_t>(engine->waited().count());
  };
  const PairLine line = RunPairLine(engine, group, given, statistics);
  if (line == PairLine::kDone) {
    count_wait();
    return Status();
  }
  std::optional<PatternCall> copy;
  const PatternCall& call = Normal(engine->options(), group, given, &copy);
  const auto run_lines = call.pattern == Pattern::kBroadcast ? RunBroadcastLines
                         : call.portions != nullptr          ? RunPortionLines
                                                             : RunExchangeLines;
  const LineRound lines = run_lines(engine, group, call, statistics);
  if (lines == LineRound::kDone) {
    ++group->scope_sequence[static_cast<int>(call.scope)];
    count_wait();
    return Status();
  }
  const auto count = [&](const OperationStatistics& did) {
    if (statistics == nullptr) return;
    *statistics = did;
    count_wait();
  };
  Beginning beginning;
  BRIGADE_RETURN_IF_ERROR(Begin(*engine, group, call, &beginning));
  Status status;
  if (lines == LineRound::kSent) {
    ShortPath<EdgePort> path(engine, group, *beginning.entry, call);
    path.EndBy(limit);
    status = path.RunAfterSends(*beginning.schedule, (*beginning.sequence)++);
    count(path.statistics());
    return status;
  }
  // Over edges memory comes back whose bytes were taken: what was used last is still in the cache.
  if ((group->edges != nullptr && engine->sends()->in_flight() > 0) ||
      IsToLookAround(*beginning.sequence)) {
    BRIGADE_RETURN_IF_ERROR(LookAround(engine, *group));
  }
  if (RunMutualReads(engine, group, *beginning.entry, call, *beginning.sequence, &status,
                     statistics)) {
    ++*beginning.sequence;
    count_wait();
    return status;
  }
  const auto runs = [&](auto&& path) {
    path.EndBy(limit);
    if (!path.Fits(*beginning.schedule)) return false;
    status = path.Run(*beginning.schedule, (*beginning.sequence)++);
    count(path.statistics());
    return true;
  };
  if ((!group->lines_to.empty() && line != PairLine::kNothingCame &&
       runs(ShortPath<EdgePort>(engine, group, *beginning.entry, call))) ||
      runs(ShortPath<PostPort>(engine, group, *beginning.entry, call))) {
    return status;
  }
  OperationStatistics did;
  status = RunByExecutor(engine, group, beginning, call, limit, &did);
  count(did);
  return status;
}

Status StartCall(Engine* engine, GroupState* group, const PatternCall& given,
                 std::unique_ptr<Operation>* operation) {
  std::optional<PatternCall> copy;
  const PatternCall& call = Normal(engine->options(), group, given, &copy);
  const Engine::Turn turn(engine);
  Beginning beginning;
  BRIGADE_RETURN_IF_ERROR(Begin(*engine, group, call, &beginning));
  std::unique_ptr<Executor> executor = Executor::New(engine);
  const Status status = executor->Prepare(group, *beginning.entry, beginning.schedule, call,
                                          *beginning.sequence, /*blocking=*/false);
  if (!status.ok()) {
    Executor::Keep(std::move(executor));
    engine->Move();  // so that to try again is all that it takes
    return status;
  }
  ++*beginning.sequence;
  engine->Activate(executor.get());
  engine->HurryHelperOfOperations();
  engine->Move();
  *operation = std::make_unique<Operation>(engine, std::move(executor));
  return Status();
}

}  // namespace brigade

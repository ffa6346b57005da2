#include "patterns/group/group_calls.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "membuf/pack.h"
#include "patterns/eager/group_edges.h"
#include "patterns/engine/executor.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/engine/time_limit.h"
#include "patterns/group/group_scopes.h"
#include "patterns/group/persistent_call.h"
#include "patterns/plan/call_check.h"
#include "patterns/plan/plan.h"
#include "patterns/plan/plan_cache.h"
#include "patterns/plan/signature.h"
#include "patterns/protocol/describe_plan.h"
#include "patterns/protocol/protocols.h"

namespace brigade {
namespace {

Status NewPlan(const Engine& engine, GroupState* group, const PatternCall& call,
               const Signature& signature, const Plan** plan) {
  auto made = std::make_shared<Plan>();
  const bool is_pair = IsPair(call.pattern);
  if (is_pair && group->config_to.empty()) {
    PrepareForPairs(*engine.endpoint(), engine.options(), group);
  }
  const auto host_of = [&](int rank) { return engine.endpoint()->HostOf(group->id, rank); };
  BRIGADE_RETURN_IF_ERROR(MakePlan(engine.options(), host_of, *group, call, signature, made.get()));
  ListProtocols(group->edges != nullptr, made.get());
  if (engine.options().explain && made->scope->rank == 0) {
    engine.options().report(DescribePlan(*made));
  }
  *plan = is_pair ? group->plans->InsertPair(call, std::move(made))
                  : group->plans->Insert(std::move(made));
  return Status();
}

// The call's number on its channel.
uint64_t* SequenceOf(GroupState* group, const PatternCall& call) {
  switch (call.pattern) {
    case Pattern::kSend:
      return &group->send_sequence[static_cast<size_t>(call.root)];
    case Pattern::kReceive:
      return &group->receive_sequence[static_cast<size_t>(call.root)];
    default:
      return &group->scope_sequence[static_cast<int>(call.scope)];
  }
}

// Inline: a short call feels every instruction.
[[gnu::always_inline]] inline Status PlanOf(const Engine& engine, GroupState* group,
                                            const PatternCall& call, const Plan** plan) {
  if (IsPair(call.pattern)) {
    *plan = group->plans->FindPair(call);
    if (*plan != nullptr) return Status();
  }
  const Signature signature = Signature::Of(call, group->scope(ChannelOf(call)));
  if (!IsPair(call.pattern)) *plan = group->plans->Find(signature);
  return *plan != nullptr ? Status() : NewPlan(engine, group, call, signature, plan);
}

bool HasResult(const PatternCall& call, int rank) {
  return call.pattern == Pattern::kReduce ? rank == call.root
                                          : call.pattern != Pattern::kExscan || rank > 0;
}

// Whether the source is all that this rank has: it gets no result.
bool HasSourceOnly(const GroupState& group, const PatternCall& call) {
  return call.source && !HasResult(call, group.scope(call.scope).rank);
}

PatternCall OfSource(const PatternCall& call) {
  PatternCall own = call;
  own.matrix = *call.source;
  own.source.reset();
  return own;
}

// Copies the contribution where it is the result: on the only rank, and on the first of a scan.
// Counts the copy in `statistics` unless it is null.
void CopySource(const Plan& plan, const PatternCall& call, OperationStatistics* statistics) {
  const bool is_first_of_scan = call.pattern == Pattern::kScan && plan.scope->rank == 0;
  if ((plan.scope->size > 1 && !is_first_of_scan) || !HasSource(call)) return;
  const Matrix& to = call.matrix;
  const Matrix& from = *call.source;
  if (to.layout.bytes() == 0) return;
  CopyAcross(from.layout, from.data, to.layout, to.data, 0, to.layout.bytes());
  if (statistics != nullptr) statistics->CountCopy(to.layout.bytes());
}

Status CheckMemory(const Plan& plan, const PatternCall& call) {
  return CheckMemory(*plan.entry, call, plan.scope->size, plan.scope->rank);
}

// Runs a call by its plan: makes progress on everything else if that is due, and tries the
// protocols of the plan in turn.
[[gnu::always_inline]] inline Status RunPlanned(CallRun run) {
  if (IsProgressDue(*run.sequence)) BRIGADE_RETURN_IF_ERROR(ProgressAll(run.engine, *run.group));
  const Protocol* const* next = run.plan.protocols;
  for (; (*next)->run(&run) == Outcome::kNotNow; ++next) {
    if (!run.group->failure.ok()) return run.group->failure;
  }
  if (run.did != nullptr) {
    run.did->wait_ns = static_cast<uint64_t>(run.engine->waited().count());
    run.did->protocol = (*next)->name;
  }
  if (run.call.source && run.status.ok()) CopySource(run.plan, run.call, run.did);
  return std::move(run.status);
}

Status StartPlanned(Engine* engine, GroupState* group, const Plan& plan, const PatternCall& given,
                    uint64_t* sequence, std::unique_ptr<Operation>* operation) {
  std::optional<PatternCall> copy;
  const PatternCall& call = plan.Resolved(given, &copy);
  std::unique_ptr<Executor> executor = Executor::New(engine);
  const Status status = executor->Prepare(group, *plan.entry, plan.schedule, call, *sequence,
                                          /*blocking=*/false);
  if (!status.ok()) {
    Executor::Keep(std::move(executor));
    engine->MoveOnce();  // so that to try again is all that it takes
    return status;
  }
  ++*sequence;
  CopySource(plan, call, executor->statistics());
  Executor* const active = executor.get();
  *operation = std::make_unique<Operation>(engine, std::move(executor));
  const Status moved = CatchOutOfMemory([&] {
    engine->Activate(active);
    engine->HurryOperations();
    engine->Move();
    return Status();
  });
  if (!moved.ok()) {
    engine->BreakGroup(group, moved);
    active->End(group->failure);  // also if it was not activated
  }
  return Status();
}

}  // namespace

Status FindPlan(const Engine& engine, GroupState* group, const PatternCall& call,
                const Plan** plan) {
  if (HasSourceOnly(*group, call)) return FindPlan(engine, group, OfSource(call), plan);
  return PlanOf(engine, group, call, plan);
}

Status ProgressAll(Engine* engine, const GroupState& group) {
  if (engine->IsForked()) return group.failure;
  // A rank whose calls never wait checks for lost ranks here only.
  engine->endpoint()->polling()->Nudge();
  engine->Move();
  return group.failure;
}

Status RunCall(Engine* engine, GroupState* group, const PatternCall& call,
               OperationStatistics* statistics) {
  if (HasSourceOnly(*group, call)) return RunCall(engine, group, OfSource(call), statistics);
  const Engine::ProgressGuard guard(engine);
  TimeLimit limit;
  limit.Start(call.timeout_seconds);
  engine->CountWaits(statistics != nullptr);
  if (!group->failure.ok()) return group->failure;
  const Plan* plan = nullptr;
  BRIGADE_RETURN_IF_ERROR(PlanOf(*engine, group, call, &plan));
  if (!IsMemoryRight(*plan->entry, call)) BRIGADE_RETURN_IF_ERROR(CheckMemory(*plan, call));
  return RunPlanned({engine, group, *plan, call, SequenceOf(group, call), limit, statistics});
}

Status PrepareCall(Engine* engine, GroupState* group, const PatternCall& call,
                   std::unique_ptr<PersistentCall>* prepared) {
  if (HasSourceOnly(*group, call)) return PrepareCall(engine, group, OfSource(call), prepared);
  const Engine::ProgressGuard guard(engine);
  if (!group->failure.ok()) return group->failure;
  const Plan* plan = nullptr;
  BRIGADE_RETURN_IF_ERROR(PlanOf(*engine, group, call, &plan));
  BRIGADE_RETURN_IF_ERROR(CheckMemory(*plan, call));
  *prepared = std::make_unique<PersistentCall>(engine, group, call, plan->shared_from_this(),
                                               SequenceOf(group, call));
  return Status();
}

Status PersistentCall::Run(OperationStatistics* statistics) {
  const Engine::ProgressGuard guard(engine_);
  TimeLimit limit;
  limit.Start(call_.timeout_seconds);
  engine_->CountWaits(statistics != nullptr);
  if (!group_->failure.ok()) return group_->failure;
  return RunPlanned({engine_, group_, *plan_, call_, sequence_, limit, statistics});
}

Status StartCall(Engine* engine, GroupState* group, const PatternCall& call,
                 std::unique_ptr<Operation>* operation) {
  if (HasSourceOnly(*group, call)) return StartCall(engine, group, OfSource(call), operation);
  const Engine::ProgressGuard guard(engine);
  if (!group->failure.ok()) return group->failure;
  const Plan* plan = nullptr;
  BRIGADE_RETURN_IF_ERROR(PlanOf(*engine, group, call, &plan));
  BRIGADE_RETURN_IF_ERROR(CheckMemory(*plan, call));
  return StartPlanned(engine, group, *plan, call, SequenceOf(group, call), operation);
}

Status PersistentCall::Start(std::unique_ptr<Operation>* operation) {
  const Engine::ProgressGuard guard(engine_);
  if (!group_->failure.ok()) return group_->failure;
  return StartPlanned(engine_, group_, *plan_, call_, sequence_, operation);
}

}  // namespace brigade

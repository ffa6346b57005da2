#include "patterns/group/group.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "patterns/engine/group_state.h"
#include "patterns/engine/out_of_memory.h"
#include "patterns/group/group_agreement.h"
#include "patterns/group/group_calls.h"
#include "patterns/group/group_machine.h"
#include "patterns/group/group_scopes.h"
#include "patterns/plan/call_topology.h"
#include "patterns/plan/plan.h"
#include "patterns/plan/plan_cache.h"

namespace brigade {

Status Group::Create(Engine* engine, Bootstrap* bootstrap, int rows, int cols,
                     std::unique_ptr<Group>* group) {
  if (engine->IsForked()) return Engine::ForkedFailure();
  const AgreedSettings mine(engine->options(), engine->endpoint()->capabilities().name, rows, cols);
  BRIGADE_RETURN_IF_ERROR(CheckAgreement(bootstrap, mine));
  if (rows < 1 || cols < 1 || rows > bootstrap->size() / cols || rows * cols != bootstrap->size()) {
    return Status(StatusCode::kInvalidArgument,
                  "a grid of " + std::to_string(rows) + " x " + std::to_string(cols) +
                      " does not fit a group of " + std::to_string(bootstrap->size()) + " ranks");
  }

  auto state = std::make_unique<GroupState>();
  state->plans = std::make_shared<PlanCache>();
  SetScopes(rows, cols, bootstrap->rank(), state.get());
  Status opened;
  {
    // All members have come, so no rank waits for an earlier call of a member.
    const Engine::ProgressGuard guard(engine);
    const Engine::RoleKept kept(engine);  // the bootstrap may run calls of another group
    opened = engine->endpoint()->OpenGroup(bootstrap, &state->id);
    if (opened.ok()) {
      const GroupId id = state->id;
      opened = CatchOutOfMemory([&] {
        GroupState* const open = state.get();
        // First, so that an exception closes the group.
        group->reset(new Group(engine, std::move(state)));
        engine->ListenTo(open);
        engine->RecheckProgressThread();
        SetEdgeConfigs(*engine->endpoint(), engine->options(), open);
        open->edges = engine->endpoint()->edges();
        open->crowded = open->scope(ChannelKind::kAll).shares_memory() &&
                        engine->endpoint()->IsCrowded(open->id);
        return Status();
      });
      if (*group == nullptr) engine->endpoint()->CloseGroup(id);
    }
  }
  Status status = AgreeOnOutcome(bootstrap, opened);
  if (!status.ok()) group->reset();
  BRIGADE_RETURN_IF_ERROR(status);
  GroupState* const made = (*group)->state_.get();
  const auto calibrate = engine->options().calibrate;
  if (calibrate == EngineOptions::Calibrate::kNever || rows * cols == 1) return Status();
  if (calibrate == EngineOptions::Calibrate::kIfUnknown &&
      (*group)->state_->scope(ChannelKind::kAll).shares_memory()) {
    return Status();
  }
  status = FindMachine(engine, made, bootstrap);
  if (!status.ok()) group->reset();
  return status;
}

Group::Group(Engine* engine, std::unique_ptr<GroupState> state)
    : engine_(engine), state_(std::move(state)) {}

Group::~Group() {
  const PlanCache& plans = *state_->plans;
  if (engine_->options().explain && rank() == 0 && plans.lookups() > 0) {
    (void)CatchOutOfMemory([&] {
      engine_->options().report(std::to_string(plans.made()) + " plans for " +
                                std::to_string(plans.lookups()) + " calls");
      return Status();
    });
  }
  engine_->RemoveGroup(std::move(state_));
}

const char* Group::transport() const { return state_->capabilities->name; }
bool Group::goes_by_host() const { return state_->scope(ChannelKind::kAll).goes_by_host(); }
const Capabilities& Group::capabilities() const { return *state_->capabilities; }
const MachineDescription* Group::machine() const { return state_->machine.get(); }
int Group::rank() const { return state_->rank; }
int Group::rows() const { return state_->rows; }
int Group::cols() const { return state_->cols; }
int Group::ScopeSize(ChannelKind scope) const { return state_->scope(scope).size; }
int Group::ScopeRank(ChannelKind scope) const { return state_->scope(scope).rank; }
Status Group::failure() const {
  const Engine::ProgressGuard guard(engine_);
  return ProgressAll(engine_, *state_);
}
const brigade::Abort& Group::cause() const { return state_->cause; }
void Group::Abort(const std::string& text) {
  const Engine::ProgressGuard guard(engine_);
  const brigade::Abort cause{state_->rank, StatusCode::kAborted, {}, 0, text};
  engine_->BreakGroup(state_.get(), cause.ToStatus(), cause);
}

void Group::Abandon() {
  const Engine::ProgressGuard guard(engine_);
  engine_->AbandonGroup(state_.get());
}

Status Group::Choose(PatternCall* call) const {
  const Engine::ProgressGuard guard(engine_);
  const Plan* plan = nullptr;
  BRIGADE_RETURN_IF_ERROR(FindPlan(*engine_, state_.get(), *call, &plan));
  std::optional<PatternCall> copy;
  const PatternCall& resolved = plan->Resolved(*call, &copy);
  call->topology = resolved.topology;
  call->segment_bytes = resolved.segment_bytes;
  return Status();
}

std::vector<Candidate> Group::Candidates(const PatternCall& call, double late_us) const {
  return CandidatesOf(*state_, call, late_us);
}

Cost Group::Predict(const PatternCall& call) const { return PredictCall(*state_, call); }

Status Group::Run(const PatternCall& call, OperationStatistics* statistics) {
  return RunCall(engine_, state_.get(), call, statistics);
}

Status Group::Prepare(const PatternCall& call, std::unique_ptr<PersistentCall>* prepared) {
  return PrepareCall(engine_, state_.get(), call, prepared);
}

Status Group::Start(const PatternCall& call, std::unique_ptr<Operation>* operation) {
  return StartCall(engine_, state_.get(), call, operation);
}

}  // namespace brigade

#include "patterns/plan/plan.h"

#include <utility>

#include "membuf/rules.h"
#include "patterns/plan/call_check.h"
#include "patterns/plan/call_topology.h"
#include "patterns/plan/normal_form.h"
#include "patterns/plan/plan_cache.h"

namespace brigade {

const PatternCall& Plan::Resolved(const PatternCall& call, std::optional<PatternCall>* copy) const {
  const PatternCall& normal = NormalForm(*entry, call, choice.topology, copy);
  if (choice.piece_bytes == 0 || call.piece_bytes != 0) return normal;
  if (!copy->has_value()) *copy = call;
  (*copy)->piece_bytes = choice.PieceBytes(ByteCounts::Of(*entry, call, scope->size).longest);
  return **copy;
}

namespace {

ReadSchedule ReadsOf(const Plan& plan, const PatternCall& normal) {
  const Scope& scope = *plan.scope;
  const bool has_locations = plan.wire_elem_bytes != plan.elem_bytes;
  if (plan.entry->compile_reads == nullptr || has_locations || !scope.shares_memory() ||
      plan.config->capabilities->line_bytes == 0 || plan.signature.piece_bytes > 0 ||
      !plan.signature.Greatest(plan.config->settings).IsLongToExpose(scope.size) ||
      scope.size < 2 || scope.size > rules::kMostRanksOfZeroCopy ||
      !ReadsKeepOrder(plan.entry->pattern, plan.choice.topology, scope.size)) {
    return {};
  }
  ScheduleParameters parameters;
  parameters.size = scope.size;
  parameters.rank = scope.rank;
  parameters.decreasing = normal.decreasing;
  return plan.entry->compile_reads(parameters);
}

}  // namespace

Status MakePlan(const EngineOptions& options, const Endpoint& endpoint, const GroupState& group,
                const PatternCall& call, const Signature& signature, ScheduleCache* schedules,
                Plan* plan) {
  const CatalogueEntry& entry = EntryOf(call.pattern);
  plan->signature = signature;
  plan->entry = &entry;
  plan->kind = ChannelOf(call);
  plan->scope = &group.scope(plan->kind);
  PatternCall chosen = call;
  const bool is_pair = IsPair(call.pattern);
  const ByteCounts greatest =
      is_pair ? ByteCounts() : signature.Greatest(plan->scope->config->settings);
  if (!is_pair) {
    plan->choice = ChooseTopology(options, group, call,
                                  signature.Greatest(plan->scope->config->settings), &plan->reason);
    chosen.topology = plan->choice.topology;
  }
  plan->choice.topology = NormalTopology(entry, chosen, greatest.longest);
  std::optional<PatternCall> copy;
  const PatternCall& normal = NormalForm(entry, chosen, plan->choice.topology, &copy);
  BRIGADE_RETURN_IF_ERROR(CheckSignature(entry, normal, plan->scope->size));
  plan->config = &group.EdgeConfigOf(plan->kind, call.root);
  plan->schedule = schedules->Find(entry, normal, *plan->scope, endpoint, group.id);
  if (entry.combines) plan->elem_bytes = ElementBytes(call.type);
  plan->wire_elem_bytes = plan->elem_bytes + (call.locations == nullptr ? 0 : sizeof(int32_t));
  if (!is_pair && plan->scope->size > 1 && plan->config->capabilities->line_bytes > 0 &&
      greatest.longest <= rules::kMostInlineBytes) {
    plan->inline_program = CompileInline(*plan->schedule, *plan->scope);
  }
  plan->read_schedule = ReadsOf(*plan, normal);
  SetHeader(entry, normal, /*sequence=*/0, /*total_bytes=*/0, &plan->header);
  return Status();
}

}  // namespace brigade

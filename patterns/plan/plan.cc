#include "patterns/plan/plan.h"

#include "patterns/engine/segment_mover.h"
#include "patterns/plan/call_check.h"
#include "patterns/plan/call_topology.h"
#include "patterns/plan/normal_form.h"
#include "patterns/rules.h"
#include "patterns/schedule/segment_plan.h"
#include "patterns/schedule/topology.h"

namespace brigade {

const PatternCall& Plan::Resolved(const PatternCall& call, std::optional<PatternCall>* copy) const {
  const PatternCall& normal = NormalForm(*entry, call, choice.topology, copy);
  if (choice.segment_bytes == 0 || call.segment_bytes != 0) return normal;
  if (!copy->has_value()) *copy = call;
  (*copy)->segment_bytes = choice.SegmentBytes(ByteCounts::Of(*entry, call, scope->size).longest);
  return **copy;
}

CutRule Plan::Rule(size_t longest) const {
  return RuleOf(
      *entry, config->settings, elem_bytes, wire_elem_bytes, scope->size,
      signature.segment_bytes > 0 ? signature.segment_bytes : choice.SegmentBytes(longest));
}

namespace {

// Says why a call whose operands must stay in the order of ranks takes another topology than the
// one that was named or chosen, if it is for the order.
void ExplainOrder(const PatternCall& call, const Topology& taken, std::string* reason) {
  const Topology& chosen = call.topology;
  if (InRankOrder(call.pattern, chosen, call.root) == chosen) return;
  *reason = TopologyName(taken) + ": the operation is not commutative, and " +
            TopologyName(chosen) + " does not combine in the order of ranks";
}

ReadSchedule ReadsOf(const Plan& plan, const PatternCall& normal) {
  const Scope& scope = *plan.scope;
  const bool has_locations = plan.wire_elem_bytes != plan.elem_bytes;
  if (plan.entry->compile_reads == nullptr || has_locations ||
      plan.elem_bytes > rules::kPartialSumBytes || !scope.shares_memory() ||
      plan.config->capabilities->max_inline_bytes == 0 || plan.signature.segment_bytes > 0 ||
      !plan.signature.Greatest(plan.config->settings).IsLongToExpose(scope.size) ||
      scope.size < 2 || scope.size > rules::kMostRanksOfZeroCopy ||
      (plan.entry->combines && IsInRankOrder(normal)) ||
      !ReadsKeepOrder(plan.entry->pattern, plan.choice.topology, scope.size,
                      /*commutes=*/normal.op != CombineOp::kUser)) {
    return {};
  }
  ScheduleParameters parameters;
  parameters.size = scope.size;
  parameters.rank = scope.rank;
  parameters.decreasing = normal.decreasing;
  return plan.entry->compile_reads(parameters);
}

}  // namespace

Status MakePlan(const EngineOptions& options, const HostOfRank& host_of, const GroupState& group,
                const PatternCall& call, const Signature& signature, Plan* plan) {
  const CatalogueEntry& entry = EntryOf(call.pattern);
  plan->signature = signature;
  plan->entry = &entry;
  plan->kind = ChannelOf(call);
  plan->scope = &group.scope(plan->kind);
  PatternCall chosen = call;
  const bool is_pair = IsPair(call.pattern);
  const ByteCounts greatest =
      is_pair ? ByteCounts() : signature.Greatest(plan->scope->config->settings);
  if (greatest.total > kMostTotalBytes) {
    return Status(StatusCode::kInvalidArgument,
                  std::string(entry.name) + ": calls of up to " + std::to_string(greatest.total) +
                      " bytes are longer than " + std::to_string(kMostTotalBytes) +
                      "; make several shorter ones");
  }
  if (!is_pair) {
    plan->choice = ChooseTopology(options, group, call, greatest, &plan->reason);
    chosen.topology = plan->choice.topology;
  }
  const bool in_rank_order = entry.combines && IsInRankOrder(call);
  // Before the order of ranks replaces it; blocks may name any.
  if (in_rank_order && !entry.multi) {
    BRIGADE_RETURN_IF_ERROR(CheckTopology(call.pattern, chosen.topology));
  }
  plan->choice.topology = NormalTopology(entry, chosen, greatest.longest);
  if (in_rank_order) {
    ExplainOrder(chosen, plan->choice.topology, &plan->reason);
  }
  std::optional<PatternCall> copy;
  const PatternCall& normal = NormalForm(entry, chosen, plan->choice.topology, &copy);
  BRIGADE_RETURN_IF_ERROR(CheckSignature(entry, normal, plan->scope->size));
  plan->config = &group.EdgeConfigOf(plan->kind, call.root);
  plan->schedule =
      std::make_shared<const Schedule>(CompileSchedule(entry, normal, *plan->scope, host_of));
  if (entry.combines) plan->elem_bytes = ElementBytes(call);
  if (plan->scope->size > 1 && plan->elem_bytes > MostPayload(plan->config->settings)) {
    return Status(StatusCode::kInvalidArgument,
                  std::string(entry.name) + ": an element of " + std::to_string(plan->elem_bytes) +
                      " bytes is longer than a segment, which has " +
                      std::to_string(MostPayload(plan->config->settings)) +
                      "; raise the chunk bytes");
  }
  plan->wire_elem_bytes = plan->elem_bytes + (call.locations == nullptr ? 0 : sizeof(int32_t));
  if (!is_pair && plan->scope->size > 1 && plan->config->capabilities->max_inline_bytes > 0 &&
      greatest.longest <= rules::kMostInlineBlockBytes) {
    plan->inline_program = CompileInline(*plan->schedule, *plan->scope);
  }
  if (options.explain && plan->reason.empty() && !entry.topologies.empty()) {
    plan->reason = ExplainNamed(group, call, plan->choice.topology, greatest.longest);
  }
  plan->read_schedule = ReadsOf(*plan, normal);
  SetHeader(entry, normal, /*sequence=*/0, /*total_bytes=*/0, &plan->header);
  return Status();
}

}  // namespace brigade

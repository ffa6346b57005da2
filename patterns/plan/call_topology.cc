#include "patterns/plan/call_topology.h"

#include <cstddef>
#include <string>

#include "patterns/catalogue/catalogue.h"
#include "patterns/model/free_topology.h"
#include "patterns/model/model_choice.h"
#include "patterns/plan/normal_form.h"

namespace brigade {
namespace {

// Of the library's own types.
constexpr size_t kLongestOwnElement = 16;

// Returns the question to the model about a call on `bytes` bytes.
CostQuery QueryFor(const GroupState& group, const PatternCall& call, size_t bytes) {
  const Scope& scope = group.scope(call.scope);
  const CatalogueEntry& entry = EntryOf(call.pattern);
  CostQuery query;
  query.pattern = call.pattern;
  query.topology = call.topology;
  query.some_share_memory = scope.some_share_memory();
  query.ranks = scope.size;
  if (IsRootedBlocks(entry.pattern)) query.root = call.root;
  query.bytes = bytes;
  const bool may_go_by_host = HasDirection(entry.pattern) || IsRootedBlocks(entry.pattern);
  if (may_go_by_host && call.topology.shape == Shape::kFree) {
    query.topology.by_host =
        scope.goes_by_host() && (!entry.combines || IsOrderFree(call.op, call.type));
  }
  query.equal_blocks = call.equal_blocks;
  query.elem_bytes = entry.combines ? ElementBytes(call) : 1;
  for (int r = 0; group.machine != nullptr && r < scope.size; ++r) {
    query.hosts.push_back(group.host_of[static_cast<size_t>(scope.GroupRank(r))]);
  }
  return query;
}

// The same about exactly this call, of which a point-to-point one has two ranks only, both members.
CostQuery QueryAbout(const GroupState& group, const PatternCall& call) {
  const int ranks = group.scope(call.scope).size;
  CostQuery query =
      QueryFor(group, call, ByteCounts::Of(EntryOf(call.pattern), call, ranks).longest);
  if (IsPair(call.pattern)) {
    query.ranks = 2;
    query.hosts = {group.host_of[static_cast<size_t>(group.rank)],
                   group.host_of[static_cast<size_t>(call.root)]};
  }
  return query;
}

}  // namespace

std::string ExplainNamed(const GroupState& group, const PatternCall& call, const Topology& taken,
                         size_t longest) {
  std::string text = TopologyName(taken);
  const bool is_modelled = taken.shape != Shape::kCirculant || !taken.by_host;
  if (group.machine != nullptr && is_modelled) {
    PatternCall asked = call;
    asked.topology = taken;
    CostQuery query = QueryFor(group, asked, longest);
    query.segment_bytes = call.segment_bytes;
    const SegmentSettings& settings = group.scope(call.scope).config->settings;
    text = DescribePrediction(
        {taken, call.segment_bytes, PredictCost(*group.machine, settings, query)});
  }
  const std::string named = TopologyName(call.topology);
  return text + (named == TopologyName(taken)
                     ? ". The program has named this topology"
                     : ". It replaces " + named + ", which the program has named");
}

ModelChoice ChooseTopology(const EngineOptions& options, const GroupState& group,
                           const PatternCall& call, const ByteCounts& counts, std::string* reason) {
  const bool named = call.topology.shape != Shape::kFree;
  const CatalogueEntry& entry = EntryOf(call.pattern);
  ModelChoice choice{call.topology};
  if (entry.topologies.empty()) return choice;
  if (call.pattern == Pattern::kAllToAll && !call.equal_blocks) {  // lengths are not agreed on
    if (named) return choice;
    choice.topology = {Shape::kIncreasingRings, 1};
    *reason = TopologyName(choice.topology) + ". Chosen by rule: blocks may have any lengths";
    return choice;
  }
  const Scope& scope = group.scope(call.scope);
  const bool order_free = !entry.combines || IsOrderFree(call.op, call.type);
  const bool by_model = group.machine != nullptr && !scope.shares_memory();
  if (named) {
    const bool may_replace = options.topology_is_hint && call.topology_is_hint && by_model &&
                             order_free && CheckTopology(call.pattern, call.topology).ok();
    if (!may_replace) return choice;
  } else {
    const Ranks ranks{scope.size, scope.hosts, scope.config->capabilities, group.crowded};
    choice.topology = FreeTopology(call.pattern, ranks, counts.total, order_free);
    // Its messages must have room for an element of each of several blocks.
    if (choice.topology.shape == Shape::kCirculant && entry.combines &&
        ElementBytes(call) > kLongestOwnElement) {
      choice.topology = {Shape::kIncreasingRings, 1};
    }
  }
  const SegmentSettings& settings = scope.config->settings;
  PatternCall asked = call;
  asked.topology = choice.topology;
  CostQuery query = QueryFor(group, asked, counts.longest);
  if (by_model) {
    // The rule has long blocks go by rank.
    if (!named && IsRootedBlocks(call.pattern)) query.topology.by_host = scope.goes_by_host();
    const Latitude latitude = !order_free ? Latitude::kSegments
                              : named     ? Latitude::kHint
                                          : Latitude::kAll;
    choice = ChooseByModel(*group.machine, settings, query, latitude, reason);
    if (IsTooShortToCut(call.pattern, choice.topology, counts.longest)) {
      choice.topology = Topology();
    }
  } else if (options.explain) {
    *reason = group.machine == nullptr
                  ? ExplainRule(query)
                  : ExplainRule(*group.machine, settings, query, /*fixed=*/!order_free);
  }
  return choice;
}

std::vector<Candidate> CandidatesOf(const GroupState& group, const PatternCall& call,
                                    double late_us) {
  if (group.machine == nullptr) return {};
  const bool has_peer = call.root >= 0 && call.root < group.scope(ChannelKind::kPointToPoint).size;
  if (IsPair(call.pattern) && !has_peer) return {};
  CostQuery query = QueryAbout(group, call);
  query.late_us = late_us;
  return AllCandidates(*group.machine, group.scope(call.scope).config->settings, query);
}

Cost PredictCall(const GroupState& group, const PatternCall& call) {
  CostQuery query = QueryAbout(group, call);
  query.segment_bytes = call.segment_bytes;
  return PredictCost(*group.machine, group.scope(call.scope).config->settings, query);
}

}  // namespace brigade

#include "patterns/group/call_topology.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "patterns/catalogue/catalogue.h"
#include "patterns/group/normal_form.h"
#include "patterns/model/free_topology.h"
#include "patterns/model/model_choice.h"

namespace brigade {
namespace {

// Of the matrix, or of all portions together.
size_t BytesOf(const PatternCall& call, int ranks) {
  if (!EntryOf(call.pattern).multi) return call.matrix.layout.bytes();
  size_t bytes = 0;
  for (int q = 0; call.portions != nullptr && q < ranks; ++q) {
    bytes += call.portions[q].layout.bytes();
  }
  return bytes;
}

// What counts for the model: of the matrix, or of the longest portion, which all are cut like.
size_t LongestOf(const PatternCall& call, int ranks) {
  if (!EntryOf(call.pattern).multi) return call.matrix.layout.bytes();
  size_t bytes = 0;
  for (int q = 0; call.portions != nullptr && q < ranks; ++q) {
    bytes = std::max(bytes, call.portions[q].layout.bytes());
  }
  return bytes;
}

// What is asked of the model about a call on `bytes` bytes.
CostQuery QueryFor(const GroupState& group, const PatternCall& call, size_t bytes) {
  const Scope& scope = group.scope(call.scope);
  const CatalogueEntry& entry = EntryOf(call.pattern);
  CostQuery query;
  query.pattern = call.pattern;
  query.topology = call.topology;
  query.some_share_memory = scope.some_share_memory();
  query.ranks = scope.size;
  query.bytes = bytes;
  if (entry.multi && call.topology.shape == Shape::kFree) {  // they may go by host
    query.topology.by_host =
        scope.goes_by_host() && (!entry.combines || IsOrderFree(call.op, call.type));
  }
  query.elem_bytes = entry.combines ? ElementBytes(call.type) : 1;
  for (int r = 0; group.machine != nullptr && r < scope.size; ++r) {
    query.hosts.push_back(group.host_of[static_cast<size_t>(scope.GroupRank(r))]);
  }
  return query;
}

// The same about exactly this call, of which a point-to-point one has two ranks only, both members.
CostQuery QueryAbout(const GroupState& group, const PatternCall& call) {
  CostQuery query = QueryFor(group, call, LongestOf(call, group.scope(call.scope).size));
  if (IsPair(call.pattern)) {
    query.ranks = 2;
    query.hosts = {group.host_of[static_cast<size_t>(group.rank)],
                   group.host_of[static_cast<size_t>(call.root)]};
  }
  return query;
}

// All that a choice depends on.
uint64_t KeyOf(const PatternCall& call, Latitude latitude, int size_class) {
  const auto type = EntryOf(call.pattern).combines ? call.type : ElementType();
  return static_cast<uint64_t>(call.pattern) | static_cast<uint64_t>(call.scope) << 4 |
         static_cast<uint64_t>(latitude) << 6 | static_cast<uint64_t>(call.topology.shape) << 8 |
         static_cast<uint64_t>(call.topology.by_host) << 12 | static_cast<uint64_t>(type) << 13 |
         static_cast<uint64_t>(size_class) << 16 |
         static_cast<uint64_t>(call.topology.parameter) << 32;
}

// What the model says of a call, or if not `by_model` the rule.
ModelChoice Decide(const EngineOptions& options, const GroupState& group, const PatternCall& call,
                   bool by_model, Latitude latitude) {
  const Scope& scope = group.scope(call.scope);
  const PieceSettings& settings = scope.config->settings;
  const size_t bytes = LongestOf(call, scope.size);
  const CostQuery query =
      QueryFor(group, call, LongestOfClass(settings, SizeClassOf(settings, bytes)));
  std::string reason;
  ModelChoice choice;
  if (by_model) {
    choice = ChooseByModel(*group.machine, settings, query, latitude, &reason);
  } else {
    reason = group.machine == nullptr
                 ? ExplainRule(query)
                 : ExplainRule(*group.machine, settings, query, latitude == Latitude::kPieces);
  }
  if (options.explain && scope.rank == 0) options.report(DescribeCall(query) + ": " + reason);
  return choice;
}

}  // namespace

void ChooseTopology(const EngineOptions& options, GroupState* group, PatternCall* call) {
  const bool named = call->topology.shape != Shape::kFree;
  if (named && !options.topology_is_hint) return;
  const Scope& scope = group->scope(call->scope);
  const CatalogueEntry& entry = EntryOf(call->pattern);
  if (entry.topologies.empty()) return;
  const bool order_free = !entry.combines || IsOrderFree(call->op, call->type);
  const bool by_model = group->machine != nullptr && !scope.shares_memory();
  if (named && !(by_model && order_free && CheckTopology(call->pattern, call->topology).ok()))
    return;
  if (!named) {
    const Ranks ranks{scope.size, scope.hosts, scope.config->capabilities, group->crowded};
    call->topology = FreeTopology(call->pattern, ranks, BytesOf(*call, scope.size), order_free);
  }
  if (!by_model && !options.explain) return;
  const size_t bytes = LongestOf(*call, scope.size);
  const Latitude latitude = !order_free ? Latitude::kPieces
                            : named     ? Latitude::kHint
                                        : Latitude::kAll;
  const uint64_t key = KeyOf(*call, latitude, SizeClassOf(scope.config->settings, bytes));
  auto choice = group->choices.find(key);
  if (choice == group->choices.end()) {
    choice = group->choices.emplace(key, Decide(options, *group, *call, by_model, latitude)).first;
  }
  if (!by_model) return;
  call->topology = choice->second.topology;
  if (call->piece_bytes == 0) call->piece_bytes = choice->second.PieceBytes(bytes);
  if (IsTooShortToCut(*call)) call->topology = Topology();
}

const PatternCall& WithTopology(const EngineOptions& options, GroupState* group,
                                const PatternCall& call, std::optional<PatternCall>* copy) {
  ChooseTopology(options, group, &copy->emplace(call));
  return **copy;
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
  query.piece_bytes = call.piece_bytes;
  return PredictCost(*group.machine, group.scope(call.scope).config->settings, query);
}

}  // namespace brigade

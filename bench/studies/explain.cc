#include "bench/studies/explain.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "membuf/strided_layout.h"
#include "nlohmann/json.hpp"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine_options.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/model/candidates.h"
#include "patterns/model/cost_model.h"
#include "patterns/plan/plan.h"
#include "patterns/plan/signature.h"
#include "patterns/protocol/describe_plan.h"
#include "patterns/protocol/protocol.h"
#include "patterns/protocol/protocols.h"
#include "transport/endpoint.h"
#include "transport/machines/machine_description.h"

namespace brigade::bench {
namespace {

const CatalogueEntry& EntryNamed(const std::string& name) {
  for (const CatalogueEntry& entry : Catalogue()) {
    if (entry.name == name) return entry;
  }
  return Catalogue().front();  // the command line was checked
}

std::string Cut(const brigade::Cost& cost) {
  if (cost.segments == 1) return "one segment";
  return std::to_string(cost.segments) + " of " + std::to_string(cost.segment_bytes) + " B";
}

void PrintCandidates(const std::vector<Candidate>& candidates) {
  std::printf("%-41s %-20s %14s %14s %12s\n", "topology", "segments", "predicted us",
              "first segment", "each more");
  for (const Candidate& candidate : candidates) {
    const brigade::Cost& cost = candidate.cost;
    std::printf("%-41s %-20s %14.1f %14.1f %12.2f%s\n", TopologyName(candidate.topology).c_str(),
                Cut(cost).c_str(), cost.us, cost.first_us, cost.segment_us,
                cost.in_step ? "" : "  if rounds keep step");
  }
}

// The plan of a call on the described machine, as rank 0 of a group there makes it, and all that it
// points to.
struct Described {
  Capabilities transport;
  EdgeConfig config;
  GroupState group;
  std::vector<Matrix> blocks;
  PatternCall call;
  Plan plan;
};

Status MakeDescribedPlan(const Options& options, const MachineDescription& machine,
                         const CostQuery& query, const SegmentSettings& settings,
                         Described* described) {
  const int hosts = machine.HostOf(options.ranks - 1) + 1;
  const bool shares_memory = SharesMemory(machine, query);
  Capabilities& transport = described->transport;
  transport.lands_in_peer_memory = shares_memory || query.some_share_memory;
  transport.max_inline_bytes = shares_memory ? machine.shared_memory.max_inline_bytes : 0;
  transport.tuning.segment_cost_bytes = machine.segment_cost_bytes;
  described->config.capabilities = &transport;
  described->config.settings = settings;

  GroupState& group = described->group;
  group.cols = options.ranks;
  group.machine = std::make_shared<const MachineDescription>(machine);
  group.crowded = shares_memory && machine.ranks_per_processor > 1;
  group.config_to.assign(group.members(), &described->config);
  for (int rank = 0; rank < options.ranks; ++rank) group.host_of.push_back(machine.HostOf(rank));
  for (Scope& scope : group.scopes) scope = {options.ranks, 0, 0, 1, hosts, &described->config};

  PatternCall& call = described->call;
  call.pattern = query.pattern;
  call.topology = {Shape::kFree, 0};
  call.type = options.exact ? Element::kInt64 : Element::kDouble;
  call.equal_blocks = true;
  call.root = IsPair(call.pattern) ? options.ranks - 1 : 0;
  call.matrix.layout = StridedLayout::Contiguous(options.bytes);
  described->blocks.assign(group.members(), call.matrix);
  call.blocks = call.sent = described->blocks.data();

  EngineOptions engine;
  engine.explain = true;
  const auto host_of = [&](int rank) { return machine.HostOf(rank); };
  BRIGADE_RETURN_IF_ERROR(MakePlan(engine, host_of, group, call,
                                   Signature::Of(call, group.scope(ChannelOf(call))),
                                   &described->plan));
  ListProtocols(/*has_edges=*/true, &described->plan);
  return Status();
}

// Appends the line of a plan to the file of --json.
Status Record(const Options& options, const Plan& plan, const brigade::Cost& cost) {
  nlohmann::ordered_json line = {
      {"case", plan.entry->name},  {"ranks", options.ranks},
      {"bytes", options.bytes},    {"topology", TopologyName(plan.choice.topology)},
      {"segments", cost.segments}, {"predicted_us", cost.us}};
  for (int i = 0; i < plan.protocol_count; ++i) {
    line["protocols"].push_back(plan.protocols[i]->name);
  }
  std::ofstream file(options.json, std::ios::app);
  file << line << std::endl;
  if (file) return Status();
  return {StatusCode::kUnavailable, "cannot write " + options.json + ": " + std::strerror(errno)};
}

}  // namespace

Status RunExplain(const Options& options) {
  MachineDescription machine;
  BRIGADE_RETURN_IF_ERROR(MachineDescription::Read(options.machine, &machine));
  const CatalogueEntry& entry = EntryNamed(options.pattern);
  const int hosts = machine.HostOf(options.ranks - 1) + 1;
  const EngineOptions defaults;
  const SegmentSettings settings =
      SettingsOn(machine, hosts > 1 ? machine.between_hosts : machine.within_host,
                 defaults.chunk_bytes, defaults.staging_bytes);
  const bool order_free = options.exact || !entry.combines;
  CostQuery query;
  query.pattern = entry.pattern;
  query.ranks = options.ranks;
  query.bytes = options.bytes;
  if (options.contiguous_run > 0) query.run_bytes = options.contiguous_run;
  const bool has_shared_hosts = hosts > 1 && hosts < options.ranks;
  query.topology.by_host = order_free && has_shared_hosts;
  query.some_share_memory = machine.shared_memory.is_shared && has_shared_hosts;
  const std::vector<Candidate> candidates =
      RankCandidates(machine, settings, query, /*fixed=*/false);
  std::printf("%s of %zu bytes on %d ranks of %s, %d host%s\n", entry.name, options.bytes,
              options.ranks, machine.name.c_str(), hosts, hosts == 1 ? "" : "s");
  PrintCandidates(candidates);

  Described described;
  BRIGADE_RETURN_IF_ERROR(MakeDescribedPlan(options, machine, query, settings, &described));
  const Plan& plan = described.plan;
  std::printf("Choice: %s\n", DescribePlan(plan).c_str());
  if (options.json.empty()) return Status();
  query.topology = plan.choice.topology;
  query.segment_bytes = plan.choice.SegmentBytes(options.bytes);
  return Record(options, plan, PredictCost(machine, settings, query));
}

}  // namespace brigade::bench

#include "bench/studies/explain.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "nlohmann/json.hpp"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/model/candidates.h"
#include "patterns/model/free_topology.h"
#include "patterns/model/model_choice.h"
#include "patterns/protocol/describe_plan.h"
#include "patterns/protocol/protocols.h"
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
  if (cost.pieces == 1) return "one segment";
  return std::to_string(cost.pieces) + " of " + std::to_string(cost.piece_bytes) + " B";
}

void PrintCandidates(const std::vector<Candidate>& candidates) {
  std::printf("%-41s %-20s %14s %14s %12s\n", "topology", "segments", "predicted us",
              "first segment", "each more");
  for (const Candidate& candidate : candidates) {
    const brigade::Cost& cost = candidate.cost;
    std::printf("%-41s %-20s %14.1f %14.1f %12.2f%s\n", TopologyName(candidate.topology).c_str(),
                Cut(cost).c_str(), cost.us, cost.first_us, cost.piece_us,
                cost.in_step ? "" : "  if rounds keep step");
  }
}

// The candidate that the library takes, and the reason, for people.
struct Choice {
  Candidate candidate;
  std::string text;
};

Choice ChoiceOf(const MachineDescription& machine, const PieceSettings& settings, CostQuery query,
                const std::vector<Candidate>& candidates, const Options& options) {
  const CatalogueEntry& entry = EntryOf(query.pattern);
  const int hosts = machine.HostOf(options.ranks - 1) + 1;
  const bool order_free = options.exact || !entry.combines;
  const bool shares_memory = SharesMemory(machine, query);
  Capabilities transport;
  transport.lands_in_peer_memory = shares_memory;
  transport.tuning.piece_cost_bytes = machine.piece_cost_bytes;
  const size_t all_bytes = options.bytes * static_cast<size_t>(entry.multi ? options.ranks : 1);
  const bool crowded = shares_memory && machine.ranks_per_processor > 1;
  const Topology free = FreeTopology(entry.pattern, {options.ranks, hosts, &transport, crowded},
                                     all_bytes, order_free);
  const auto described = [](const Candidate& candidate, const char* reason) {
    char us[32];
    std::snprintf(us, sizeof(us), "%.1f", candidate.cost.us);
    return Choice{candidate, DescribeCandidate(candidate) + ", predicted " + us + " us. " + reason};
  };
  if (shares_memory && !entry.topologies.empty()) {
    query.topology = free;
    return {{free, 0, PredictCost(machine, settings, query)},
            ExplainRule(machine, settings, query, !order_free) + "."};
  }
  if (order_free || entry.topologies.empty()) {
    return described(candidates.front(),
                     "Chosen by the model: the fastest candidate, or one that is about as fast and "
                     "has fewer segments or messages.");
  }
  query.topology = free;
  return described(
      RankCandidates(machine, settings, query, /*fixed=*/true).front(),
      "The model has chosen the segments only. The topology gives a sum its order, which is part "
      "of the result, so a rule fixes the topology for all machines. --exact: the choice if any "
      "order gives the same bits.");
}

void PrintProtocols(const CatalogueEntry& entry, bool shares_memory) {
  std::printf("Protocols, the first one that can run a call:\n");
  for (const Protocol* const protocol : ProtocolsFor(entry, shares_memory)) {
    std::printf("  %s\n", DescribeProtocol(*protocol).c_str());
  }
}

// Appends the line of a choice to the file of --json.
Status Record(const Options& options, const CatalogueEntry& entry, const Choice& choice,
              bool shares_memory) {
  nlohmann::ordered_json line = {{"case", entry.name},
                                 {"ranks", options.ranks},
                                 {"bytes", options.bytes},
                                 {"topology", TopologyName(choice.candidate.topology)},
                                 {"segments", choice.candidate.cost.pieces},
                                 {"predicted_us", choice.candidate.cost.us}};
  for (const Protocol* const protocol : ProtocolsFor(entry, shares_memory)) {
    line["protocols"].push_back(protocol->name);
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
  const PieceSettings settings =
      SettingsOn(machine, hosts > 1 ? machine.between_hosts : machine.within_host,
                 defaults.chunk_bytes, defaults.staging_bytes);
  const bool order_free = options.exact || !entry.combines;
  CostQuery query;
  query.pattern = entry.pattern;
  query.ranks = options.ranks;
  query.bytes = options.bytes;
  if (options.contiguous_run > 0) query.run_bytes = options.contiguous_run;
  query.topology.by_host = order_free && hosts > 1 && hosts < options.ranks;
  const std::vector<Candidate> candidates =
      RankCandidates(machine, settings, query, /*fixed=*/false);
  std::printf("%s of %zu bytes on %d ranks of %s, %d host%s\n", entry.name, options.bytes,
              options.ranks, machine.name.c_str(), hosts, hosts == 1 ? "" : "s");
  PrintCandidates(candidates);

  const Choice choice = ChoiceOf(machine, settings, query, candidates, options);
  const bool shares_memory = SharesMemory(machine, query);
  std::printf("Choice: %s\n", choice.text.c_str());
  PrintProtocols(entry, shares_memory);
  return options.json.empty() ? Status() : Record(options, entry, choice, shares_memory);
}

}  // namespace brigade::bench

// scale_table: collectives on 8 to 65,536 simulated ranks, this library's and Open MPI's. README.md
// says what a cell is.

#include <iostream>
#include <string>
#include <utility>

#include "CLI/CLI.hpp"
#include "bench/simulated/scale_cells.h"
#include "nlohmann/json.hpp"
#include "patterns/model/candidates.h"
#include "tools/whole_output.h"

namespace brigade::bench {
namespace {

struct Options {
  std::string machine;
  std::string pattern;
  int most_ranks = 65536;
  int64_t most_messages = 0;
};

Pattern PatternNamed(const std::string& name) {
  for (const Pattern pattern :
       {Pattern::kReduce, Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    if (name == PatternName(pattern)) return pattern;
  }
  return Pattern::kBroadcast;
}

std::string NameOf(const ScaleCell& cell, const Topology& topology) {
  if (!cell.multi() || topology.shape == Shape::kCirculant) return TopologyName(topology);
  return topology.by_host ? "increasing ring by host" : "increasing ring";
}

Status AddChoice(const MachineDescription& machine, const Options& options, const ScaleCell& cell,
                 const ScaleChoice& choice, nlohmann::ordered_json* own) {
  *own = {{"algorithm", NameOf(cell, choice.topology)},
          {"segments", choice.cost.segments},
          {"predicted_us", choice.cost.us},
          {"simulated_us", nullptr}};
  if (choice.messages > options.most_messages) return Status();
  double us = 0;
  BRIGADE_RETURN_IF_ERROR(SimulateChoice(machine, cell, choice, &us));
  (*own)["simulated_us"] = us;
  return Status();
}

// One way that both take is simulated once.
Status AddOwn(const MachineDescription& machine, const Options& options, const ScaleCell& cell,
              nlohmann::ordered_json* line) {
  const ScaleChoice freely = ChooseFor(machine, cell, Chooser::kLibrary);
  const ScaleChoice named = ChooseFor(machine, cell, Chooser::kBestByName);
  nlohmann::ordered_json own;
  BRIGADE_RETURN_IF_ERROR(AddChoice(machine, options, cell, freely, &own));
  (*line)["brigade"] = own;
  if (!(named.topology == freely.topology && named.segment_bytes == freely.segment_bytes)) {
    BRIGADE_RETURN_IF_ERROR(AddChoice(machine, options, cell, named, &own));
  }
  (*line)["brigade_named"] = std::move(own);
  return Status();
}

Status AddPeer(const MachineDescription& machine, const ScaleCell& cell,
               nlohmann::ordered_json* line) {
  const PeerAlgorithm algorithm = PeerAlgorithmFor(cell.pattern, cell.ranks, cell.total_bytes());
  PeerResult peer;
  BRIGADE_RETURN_IF_ERROR(SimulatePeer(machine, cell, algorithm, &peer));
  (*line)["open_mpi"] = {{"algorithm", PeerAlgorithmName(algorithm)}, {"simulated_us", peer.us}};
  return Status();
}

Status Print(const MachineDescription& machine, const Options& options, const ScaleCell& cell) {
  nlohmann::ordered_json line = {{"machine", machine.name},
                                 {"pattern", options.pattern},
                                 {"ranks", cell.ranks},
                                 {"hosts", machine.HostOf(cell.ranks - 1) + 1},
                                 {"bytes", cell.total_bytes()}};
  BRIGADE_RETURN_IF_ERROR(AddOwn(machine, options, cell, &line));
  BRIGADE_RETURN_IF_ERROR(AddPeer(machine, cell, &line));
  std::cout << line.dump() << std::endl;
  return Status();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Simulates a collective on 8, 16, ... ranks, as this library runs it and as Open MPI does; "
      "JSON on standard output, a cell a line.");
  Options options;
  app.add_option("machine", options.machine, "description of a machine (transport/machines/)")
      ->required();
  app.add_option("pattern", options.pattern, "which one")
      ->required()
      ->check(CLI::IsMember({"broadcast", "reduce", "multi_broadcast", "multi_reduce"}));
  app.add_option("--ranks", options.most_ranks, "the most")
      ->check(CLI::Range(8, 65536))
      ->capture_default_str();
  app.add_option("--messages", options.most_messages,
                 "this library's way is simulated where it takes so many messages at most (a "
                 "million take 10 to 20 s), else predicted only")
      ->required()
      ->check(CLI::NonNegativeNumber);
  CLI11_PARSE(app, argc, argv);

  MachineDescription machine;
  Status status = MachineDescription::Read(options.machine, &machine);
  for (const ScaleCell& cell : ScaleCells(PatternNamed(options.pattern), options.most_ranks)) {
    if (!status.ok()) break;
    status = Print(machine, options, cell);
  }
  if (status.ok()) return 0;
  std::cerr << "scale_table: " << status.ToString() << "\n";
  return 1;
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) {
  return brigade::WholeOutput("scale_table", brigade::bench::Main(argc, argv));
}

// superstep_table: the supersteps of a study on simulated machines, by puts and gets between fences
// and by sends and receives.

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/simulated/superstep_cells.h"
#include "nlohmann/json.hpp"
#include "tools/whole_output.h"

namespace brigade::bench {
namespace {

Status Print(const MachineDescription& machine, int ranks, const SuperstepCell& cell) {
  nlohmann::ordered_json line = {{"machine", machine.name}, {"case", cell.name},
                                 {"ranks", ranks},          {"rows", cell.rows},
                                 {"cols", cell.cols},       {"bytes", cell.bytes}};
  for (const auto& [variant, name] : {std::pair(SuperstepVariant::kPut, "put_us"),
                                      std::pair(SuperstepVariant::kGather, "gather_us"),
                                      std::pair(SuperstepVariant::kGet, "get_us"),
                                      std::pair(SuperstepVariant::kSend, "send_us")}) {
    line[name] = nullptr;
    if (variant == SuperstepVariant::kGet && cell.gets.empty()) continue;
    double us = 0;
    BRIGADE_RETURN_IF_ERROR(SimulateSupersteps(machine, cell, variant, &us));
    line[name] = us;
  }
  std::cout << line.dump() << std::endl;
  return Status();
}

struct Parameters {
  std::string study;
  std::string cases;
  std::vector<int> ranks = {4, 16};
  std::vector<long> sizes;
  int per_host = 0;
};

Status PrintAll(const std::string& file, const Parameters& parameters) {
  MachineDescription machine;
  BRIGADE_RETURN_IF_ERROR(MachineDescription::Read(file, &machine));
  if (parameters.per_host > 0) machine.ranks_per_host = parameters.per_host;
  for (const int number : parameters.ranks) {
    for (const SuperstepCell& cell : SuperstepCells(parameters.study, number, parameters.sizes)) {
      if (cell.name.rfind(parameters.cases, 0) != 0) continue;
      BRIGADE_RETURN_IF_ERROR(Print(machine, number, cell));
    }
  }
  return Status();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Simulates what ranks bring each other in the supersteps of a study, by puts, gathered puts "
      "or gets "
      "between fences and by sends and receives; JSON on standard output, a case a line.");
  Parameters parameters;
  std::vector<std::string> machines;
  app.add_option("study", parameters.study, "which one")
      ->required()
      ->check(CLI::IsMember({"as", "mult", "rdx", "exchange"}));
  app.add_option("machines", machines, "descriptions of machines (transport/machines/)")
      ->required();
  app.add_option("--ranks", parameters.ranks, "how many")
      ->delimiter(',')
      ->check(CLI::Range(2, 256))
      ->capture_default_str();
  app.add_option("--sizes", parameters.sizes,
                 "instead of the study's own: ints to each rank, orders, keys, or doubles")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 30));
  app.add_option("--per-host", parameters.per_host, "ranks on each host; 0: as the machine has")
      ->check(CLI::Range(0, 1 << 14));
  app.add_option("--cases", parameters.cases, "only those whose names begin so");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& file : machines) {
    const Status status = PrintAll(file, parameters);
    if (status.ok()) continue;
    std::cerr << "superstep_table: " << file << ": " << status.ToString() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) {
  return brigade::WholeOutput("superstep_table", brigade::bench::Main(argc, argv));
}

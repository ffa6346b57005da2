// putget_table: the programs of the put/get study on simulated machines, each by messages, by puts
// or gets, and by early puts or gets.

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/simulated/putget/putget_cells.h"
#include "nlohmann/json.hpp"

namespace brigade::bench {
namespace {

Status Print(const MachineDescription& machine, const PutgetCell& cell) {
  nlohmann::ordered_json line = {{"machine", machine.name},
                                 {"case", cell.name},
                                 {"ranks", cell.ranks},
                                 {"gflops", cell.gflops}};
  for (const auto& [way, name] : {std::pair(ProgramWay::kMessages, "messages_us"),
                                  std::pair(ProgramWay::kBlocking, "blocking_us"),
                                  std::pair(ProgramWay::kAhead, "ahead_us")}) {
    double us = 0;
    BRIGADE_RETURN_IF_ERROR(SimulatePutget(machine, cell, way, &us));
    line[name] = us;
  }
  std::cout << line.dump() << std::endl;
  return Status();
}

Status PrintAll(const std::string& file, const std::string& study, const std::vector<int>& ranks) {
  MachineDescription machine;
  BRIGADE_RETURN_IF_ERROR(MachineDescription::Read(file, &machine));
  for (const int number : ranks) {
    for (const PutgetCell& cell : PutgetCells(study, number)) {
      BRIGADE_RETURN_IF_ERROR(Print(machine, cell));
    }
  }
  return Status();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Simulates an iteration of NAS MG or CG, or a product by SUMMA, by messages, by puts or "
      "gets, and with those ahead of time; JSON on standard output, a case a line.");
  std::string study;
  std::vector<std::string> machines;
  std::vector<int> ranks = {4, 16, 64, 256, 512};
  app.add_option("study", study, "which one")
      ->required()
      ->check(CLI::IsMember({"mg", "cg", "summa"}));
  app.add_option("machines", machines, "descriptions of machines (transport/machines/)")
      ->required();
  app.add_option("--ranks", ranks, "how many; those that a program cannot have are left out")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  for (const std::string& file : machines) {
    const Status status = PrintAll(file, study, ranks);
    if (status.ok()) continue;
    std::cerr << "putget_table: " << file << ": " << status.ToString() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }

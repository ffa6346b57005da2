// putget_table: the programs of the put/get study on simulated machines, each by messages, by puts
// or gets, and by early puts or gets.

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/simulated/putget/putget_cells.h"
#include "nlohmann/json.hpp"
#include "tools/whole_output.h"

namespace brigade::bench {
namespace {

Status Print(const MachineDescription& machine, const PutgetCell& cell) {
  nlohmann::ordered_json line = {{"machine", machine.name},
                                 {"case", cell.name},
                                 {"ranks", cell.ranks},
                                 {"gflops", cell.gflops}};
  for (const auto& [variant, name] : {std::pair(ProgramVariant::kMessages, "messages_us"),
                                      std::pair(ProgramVariant::kBlocking, "blocking_us"),
                                      std::pair(ProgramVariant::kAhead, "ahead_us")}) {
    double us = 0;
    BRIGADE_RETURN_IF_ERROR(SimulatePutget(machine, cell, variant, &us));
    line[name] = us;
  }
  std::cout << line.dump() << std::endl;
  return Status();
}

struct Parameters {
  std::string study;
  std::string cases;
  std::vector<int> ranks = {4, 16, 64, 256, 512};
  std::vector<int> orders;
  double gflops = 0;  // 0: that of the case
  int per_host = 0;
};

Status PrintAll(const std::string& file, const Parameters& parameters) {
  MachineDescription machine;
  BRIGADE_RETURN_IF_ERROR(MachineDescription::Read(file, &machine));
  if (parameters.per_host > 0) machine.ranks_per_host = parameters.per_host;
  for (const int number : parameters.ranks) {
    for (PutgetCell& cell : PutgetCells(parameters.study, number, parameters.orders)) {
      if (cell.name.rfind(parameters.cases, 0) != 0) continue;
      if (parameters.gflops > 0) cell.gflops = parameters.gflops;
      BRIGADE_RETURN_IF_ERROR(Print(machine, cell));
    }
  }
  return Status();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Simulates an iteration of NAS MG or CG, a product by SUMMA, or a step of molecular "
      "dynamics, by messages, by puts or gets, and with those ahead of time; JSON on standard "
      "output, a case a line.");
  Parameters parameters;
  std::vector<std::string> machines;
  app.add_option("study", parameters.study, "which one")
      ->required()
      ->check(CLI::IsMember({"mg", "cg", "summa", "md"}));
  app.add_option("machines", machines, "descriptions of machines (transport/machines/)")
      ->required();
  app.add_option("--per-host", parameters.per_host, "ranks on each host; 0: as the machine has")
      ->check(CLI::Range(0, 1 << 14));
  app.add_option("--cases", parameters.cases, "only those whose names begin so");
  app.add_option("--orders", parameters.orders,
                 "of SUMMA's square matrices, instead of square blocks")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 16));
  app.add_option("--gflops", parameters.gflops, "of a rank; without, those of a core of the 2020s")
      ->check(CLI::PositiveNumber);
  app.add_option("--ranks", parameters.ranks,
                 "how many; those that a program cannot have are left out")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  for (const std::string& file : machines) {
    const Status status = PrintAll(file, parameters);
    if (status.ok()) continue;
    std::cerr << "putget_table: " << file << ": " << status.ToString() << "\n";
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) {
  return brigade::WholeOutput("putget_table", brigade::bench::Main(argc, argv));
}

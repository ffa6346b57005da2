// exchange_table: Tables 1 to 4 of the MPI/SX paper on a simulated machine.

#include <iostream>
#include <string>

#include "CLI/CLI.hpp"
#include "bench/simulated/exchange_cells.h"
#include "nlohmann/json.hpp"
#include "tools/whole_output.h"

namespace brigade::bench {
namespace {

const char* NameOf(const ExchangeCell& cell) {
  if (cell.is_message) return "sendrecv";
  return cell.epoch == EpochKind::kFence       ? "fence"
         : cell.epoch == EpochKind::kPostStart ? "dedicated"
                                               : "lock";
}

Status PrintAll(const std::string& file, double cache_clear_us) {
  MachineDescription machine;
  BRIGADE_RETURN_IF_ERROR(MachineDescription::Read(file, &machine));
  for (const ExchangeCell& cell : ExchangeCells()) {
    double us = 0;
    // Descriptions of datatypes are payload.
    const bool carries_payload = !cell.datatype.empty();
    BRIGADE_RETURN_IF_ERROR(SimulateExchange(machine, cell, cache_clear_us, carries_payload, &us));
    std::cout << nlohmann::ordered_json{{"table", cell.table},
                                        {"ranks", cell.ranks},
                                        {"neighbours", cell.neighbours},
                                        {"memory", cell.is_shared ? "shared" : "private"},
                                        {"bytes", cell.bytes},
                                        {"operation", cell.puts ? "put" : "get"},
                                        {"epoch", NameOf(cell)},
                                        {"datatype", cell.datatype},
                                        {"forgets", cell.forgets},
                                        {"us", us}}
                     .dump()
              << std::endl;
  }
  return Status();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Simulates Tables 1 to 4 of the MPI/SX paper; JSON on standard output, a cell a "
      "line.");
  std::string machine;
  double cache_clear_us = 0;
  app.add_option("machine", machine, "description of a machine (transport/machines/)")->required();
  app.add_option("--cache-clear-us", cache_clear_us,
                 "time in which a processor clears its cache, once for each epoch of a window in "
                 "shared memory")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  const Status status = PrintAll(machine, cache_clear_us);
  if (!status.ok()) std::cerr << "exchange_table: " << machine << ": " << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) {
  return brigade::WholeOutput("exchange_table", brigade::bench::Main(argc, argv));
}

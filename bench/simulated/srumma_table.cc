// srumma_table: products on a simulated machine, by SRUMMA in each order and by SUMMA: gets of
// whole blocks and broadcasts of narrow chunks, and the other way round. With copies by the
// processors SUMMA is as ScaLAPACK's pdgemm.

#include <cmath>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/simulated/srumma_cells.h"
#include "membuf/status.h"
#include "nlohmann/json.hpp"
#include "tools/whole_output.h"

namespace brigade::bench {
namespace {

struct Parameters {
  std::string file;
  std::vector<int> ranks = {64, 256, 1024, 4096};
  std::vector<int> blocks = {256, 1024};
  int width = 128;
  double gflops = 40;
  int per_host = 0;
};

void Print(const MachineDescription& machine, const Parameters& parameters, int side, int block) {
  const SrummaCell cell{side, block, parameters.gflops};
  SrummaCell copying = cell;
  copying.zero_copy = false;
  const auto print = [&](const std::string& variant, const SrummaOutcome& outcome) {
    const nlohmann::ordered_json line = {{"machine", machine.name},
                                         {"case", variant},
                                         {"ranks", cell.ranks()},
                                         {"rows", side * block},
                                         {"block", block},
                                         {"gflops", parameters.gflops},
                                         {"compute_us", cell.ComputeMicroseconds()},
                                         {"us", outcome.us},
                                         {"contention", outcome.contention}};
    std::cout << line.dump() << std::endl;
  };
  for (const auto& [order, name] : {std::pair(MultiplyOrder::kNatural, "natural"),
                                    std::pair(MultiplyOrder::kDiagonal, "diagonal")}) {
    print(name, SimulateSrumma(machine, cell, order, 1, block));
  }
  print("diagonal, blocking", SimulateSrumma(machine, cell, MultiplyOrder::kDiagonal, 0, block));
  print("natural, blocking", SimulateSrumma(machine, cell, MultiplyOrder::kNatural, 0, block));
  print("diagonal, copied", SimulateSrumma(machine, copying, MultiplyOrder::kDiagonal, 1, block));
  print("diagonal, blocking, copied",
        SimulateSrumma(machine, copying, MultiplyOrder::kDiagonal, 0, block));
  print("pdgemm", SimulateSumma(machine, copying, parameters.width));
  print("diagonal, narrow",
        SimulateSrumma(machine, cell, MultiplyOrder::kDiagonal, 1, parameters.width));
  print("SUMMA", SimulateSumma(machine, cell, parameters.width));
  print("SUMMA, wide", SimulateSumma(machine, cell, block));
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Simulates products of matrices on a square grid of ranks, one block of each matrix on each, "
      "by SRUMMA in each order and by SUMMA; JSON on standard output, a way a line.");
  Parameters parameters;
  app.option_defaults()->always_capture_default();
  app.add_option("machine", parameters.file, "its description (transport/machines/)")->required();
  app.add_option("--ranks", parameters.ranks, "how many: square numbers")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  app.add_option("--blocks", parameters.blocks, "rows and columns of each rank's blocks")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  app.add_option("--width", parameters.width,
                 "of SUMMA's chunks, and of narrow panels of gets; must divide the blocks")
      ->check(CLI::Range(1, 1 << 14));
  app.add_option("--gflops", parameters.gflops, "of a rank; estimated: one core of the 2020s")
      ->check(CLI::PositiveNumber);
  app.add_option("--per-host", parameters.per_host, "ranks on each host; 0: as the machine has")
      ->check(CLI::Range(0, 1 << 14));
  CLI11_PARSE(app, argc, argv);
  MachineDescription machine;
  const Status status = MachineDescription::Read(parameters.file, &machine);
  if (!status.ok()) {
    std::cerr << "srumma_table: " << parameters.file << ": " << status.ToString() << "\n";
    return 1;
  }
  if (parameters.per_host > 0) machine.ranks_per_host = parameters.per_host;
  for (const int block : parameters.blocks) {
    for (const int ranks : parameters.ranks) {
      const int side = static_cast<int>(std::lround(std::sqrt(ranks)));
      if (side * side != ranks || block % parameters.width != 0) {
        std::cerr << "srumma_table: " << ranks << " ranks with blocks of " << block
                  << ": no square grid, or no whole chunks of " << parameters.width << "\n";
        return 1;
      }
      Print(machine, parameters, side, block);
    }
  }
  return 0;
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) {
  return brigade::WholeOutput("srumma_table", brigade::bench::Main(argc, argv));
}

// paper_table: Table 1 of the AP3000 paper, its messages and its broadcasts along a ring, simulated
// on described machines. docs/results/ap3000.md says what a cell is.

#include <iostream>
#include <string>

#include "CLI/CLI.hpp"
#include "bench/simulated/paper_cells.h"
#include "bench/simulated/paper_messages.h"
#include "nlohmann/json.hpp"
#include "tools/whole_output.h"

namespace brigade::bench {
namespace {

// The empty message of the paper's latency, 8 KB, 1 MB and more, and lengths in between.
constexpr size_t kMessageBytes[] = {0,      1024,   8192,    16384,   32768,   65536,  131072,
                                    262144, 524288, 1 << 20, 2 << 20, 4 << 20, 8 << 20};

constexpr size_t kSendBytes[] = {4000, 16000, 64000, 256000, 1024000};
constexpr size_t kSendRuns[] = {0, 256, 4000};
constexpr size_t kBroadcastBytes[] = {8 << 10, 64 << 10, 256 << 10, 1 << 20};

// In microseconds and MB/s, of the whole panel or of the message.
nlohmann::ordered_json Figures(nlohmann::ordered_json line, size_t bytes, double us) {
  line["bytes"] = bytes;
  line["us"] = us;
  line["mb_s"] = static_cast<double>(bytes) / us;
  return line;
}

Status Simulate(const MachineDescription& machine, bool carries_payload,
                nlohmann::ordered_json* result) {
  (*result)["machine"] = machine.name;
  for (const PaperCell& cell : PaperCells()) {
    double us = 0;
    BRIGADE_RETURN_IF_ERROR(SimulateCell(machine, cell, carries_payload, &us));
    nlohmann::ordered_json line = {{"pattern", cell.reduces ? "reduce" : "broadcast"},
                                   {"rows", cell.rows},
                                   {"cols", cell.cols},
                                   {"ranks", cell.ranks},
                                   {"algorithm", cell.ring ? "ring" : "tree"},
                                   {"column", cell.staged ? "B" : "A"}};
    (*result)["cells"].push_back(Figures(std::move(line), cell.bytes(), us));
  }
  for (const size_t bytes : kMessageBytes) {
    double us = 0;
    BRIGADE_RETURN_IF_ERROR(SimulateMessage(machine, bytes, &us));
    (*result)["messages"].push_back(Figures({}, bytes, us));
  }
  return Status();
}

// Section 5.2, and the end of section 5.1.
Status SimulateBesideBlacs(const MachineDescription& machine, nlohmann::ordered_json* result) {
  for (const Library library : {Library::kBrigade, Library::kBlacs}) {
    const char* const name = library == Library::kBrigade ? "brigade" : "blacs";
    double us = 0;
    for (const size_t run_bytes : kSendRuns) {
      for (const size_t bytes : kSendBytes) {
        const size_t whole = run_bytes == 0 ? bytes : bytes / run_bytes * run_bytes;
        BRIGADE_RETURN_IF_ERROR(SimulateSend(machine, library, whole, run_bytes, &us));
        (*result)["sends"].push_back(
            Figures({{"library", name}, {"run_bytes", run_bytes}}, whole, us));
      }
    }
    for (const int ranks : {2, 4, 8}) {
      for (const size_t bytes : kBroadcastBytes) {
        BRIGADE_RETURN_IF_ERROR(SimulateRingBroadcasts(machine, library, ranks, bytes, &us));
        (*result)["broadcasts"].push_back(
            Figures({{"library", name}, {"ranks", ranks}}, bytes, us));
      }
    }
  }
  return Status();
}

int Main(int argc, char** argv) {
  CLI::App app(
      "Simulates Table 1 of the AP3000 paper, its messages and broadcasts; JSON on standard "
      "output.");
  std::string file;
  app.add_option("machine", file,
                 "description of a machine (transport/machines/); -: one a line on standard input, "
                 "a result a line for each, lengths only")
      ->required();
  CLI11_PARSE(app, argc, argv);

  const auto report = [](const Status& status) {
    std::cerr << "paper_table: " << status.ToString() << "\n";
    return 1;
  };
  MachineDescription machine;
  if (file != "-") {
    nlohmann::ordered_json result;
    Status status = MachineDescription::Read(file, &machine);
    if (status.ok()) status = Simulate(machine, /*carries_payload=*/true, &result);
    if (status.ok()) status = SimulateBesideBlacs(machine, &result);
    if (!status.ok()) return report(status);
    std::cout << result.dump() << "\n";
    return 0;
  }
  for (std::string text; std::getline(std::cin, text);) {
    nlohmann::ordered_json result;
    Status status = MachineDescription::Parse(text, "standard input", &machine);
    if (status.ok()) status = Simulate(machine, /*carries_payload=*/false, &result);
    if (!status.ok()) return report(status);
    std::cout << result.dump() << std::endl;  // the reader waits for it
  }
  return 0;
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) {
  return brigade::WholeOutput("paper_table", brigade::bench::Main(argc, argv));
}

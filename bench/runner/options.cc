#include "bench/runner/options.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "membuf/version.h"
#include "patterns/catalogue/catalogue.h"
#include "transport/registry/registry.h"

namespace brigade::bench {
namespace {

SpreadSize ParseSize(const std::string& text) {
  static const std::regex kSize("([1-9][0-9]{0,7})x([1-9][0-9]{0,4})?(Q?)");
  std::smatch match;
  if (!std::regex_match(text, match, kSize) || (!match[2].matched && match[3].length() == 0)) {
    throw CLI::ValidationError("--sizes", text + " is no size such as 1000x32, 1000xQ or 1000x2Q");
  }
  SpreadSize size;
  size.text = text;
  size.rows = std::stoll(match[1]);
  size.cols = match[2].matched ? std::stoll(match[2]) : 1;
  size.cols_per_rank = match[3].length() != 0;
  return size;
}

// Checks numbers of bytes that are moved as doubles; an empty text accepts them.
uint64_t Number(const std::string& text) { return std::strtoull(text.c_str(), nullptr, 10); }
std::string HoldADouble(const std::string& bytes) {
  return Number(bytes) >= sizeof(double) ? "" : bytes + " bytes hold no double";
}
std::string AreDoubles(const std::string& bytes) {
  return Number(bytes) % sizeof(double) == 0 ? "" : bytes + " is no multiple of 8 bytes";
}

// Of a pattern's name: `spread` has hyphens in the names of its cases.
std::string WithUnderscores(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

// CLI::AsSizeValue does not refuse negative numbers.
std::string RefuseNegative(std::string& text) {
  return text.rfind('-', 0) == 0 ? text + " is negative" : "";
}

// Lengths of messages, also with K, M or G.
CLI::Option* TakeUnits(CLI::Option* option) {
  return option->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->transform(CLI::Validator(RefuseNegative, ""));
}
CLI::Option* AddLengths(CLI::App* command, const char* name, std::vector<size_t>* lengths,
                        const char* text) {
  return TakeUnits(command->add_option(name, *lengths, text)->delimiter(','));
}

// Options of the engine and its transport.
void AddEngineOptions(CLI::App* app, Options* options) {
  app->add_option("--transport", options->transport,
                  "Transport under Brigade: " + TransportNames());
  AddByMessages(app, options);
  app->add_flag("--explain", options->explained, "Print choices on stderr, with the reasons");
}

// Options that select subjects.
void AddSubjectOptions(CLI::App* app, Options* options) {
  app->add_option(
         "--peers", options->peers,
         "Peers beside Brigade: mpi (raw MPI), blacs (reference BLACS), plain (the patterns "
         "written naively over MPI), ring (two processes copying through shared memory), "
         "socket (two processes with a plain TCP connection), none")
      ->delimiter(',')
      ->check(CLI::IsMember({"mpi", "blacs", "plain", "ring", "socket", "none"}));
  app->add_option("--shim", options->shim, "The shim's file, or 'none' to leave it out");
  app->add_option("--stock", options->stock, "The library that has the reference BLACS");
}

CLI::App* AddPingPong(CLI::App* app, Options* options) {
  CLI::App* command = app->add_subcommand(
      "pingpong",
      "Sends a message from rank 0 to rank 1 and back, contiguous and in runs; prints the one-way "
      "time. "
      "Subjects: Brigade's send and receive, shim, reference BLACS, raw MPI, a bare ring of slots "
      "in shared memory, a bare socket");
  AddLengths(command, "--sizes", &options->message_bytes,
             "Messages, in bytes or with K, M or G; cut to whole runs")
      ->check(HoldADouble);
  command
      ->add_option("--runs", options->run_bytes,
                   "Bytes of a run; runs begin at twice this distance; 0: contiguous messages")
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber)
      ->check(AreDoubles);
  command->add_flag(
      "--alloc", options->allocated,
      "Allocate all messages with brigade_alloc, so that the ranks of a host map them; "
      "the shim, a separate library, does not use this");
  command->add_flag(
      "--touch", options->touched,
      "Write each message before it is sent, and read it when it has come, as programs "
      "do: otherwise caches still have the sender's data, and nobody loads the "
      "receiver's");
  command
      ->add_option("--idle-window", options->idle_window,
                   "Memory of a further window that Brigade keeps, unused, during the measurement")
      ->check(CLI::IsMember({"none", "shared", "private"}));
  return command;
}

// `sizes` are to be parsed.
CLI::App* AddSpread(CLI::App* app, Options* options, std::vector<std::string>* sizes) {
  std::vector<std::string> all_cases = options->cases;
  for (const char* name :
       {"gather", "scatter", "all-to-all", "scan", "exscan", "successive-broadcasts"}) {
    all_cases.emplace_back(name);
  }
  const std::vector<std::string> all_shapes = options->shapes;
  CLI::App* command = app->add_subcommand(
      "spread",
      "Broadcasts, reductions and blocks of M x N doubles on a 1 x Q grid, from every rank and "
      "from one, "
      "and a hand-written small broadcast. Subjects: Brigade's patterns, shim, reference BLACS "
      "with each topology, the patterns written plainly, MPI collectives");
  command->add_option("--cases", options->cases, "Which cases")
      ->delimiter(',')
      ->check(CLI::IsMember(all_cases));
  command->add_option("--sizes", *sizes, "M x N, where N may be a multiple of Q, the ranks")
      ->delimiter(',');
  AddLengths(command, "--bytes", &options->contiguous_bytes,
             "Instead of --sizes: contiguous panels of so many bytes, or with K or M, in Q columns")
      ->check(CLI::PositiveNumber);
  command->add_flag("--alloc", options->allocated,
                    "Allocate panels with brigade_alloc, so that the ranks of a host map them");
  command->add_option("--topologies", options->topologies, "BLACS topology letters to measure");
  command->add_option("--shapes", options->shapes, "Brigade's topologies to measure")
      ->delimiter(',')
      ->check(CLI::IsMember(all_shapes));
  return command;
}

CLI::App* AddCalls(CLI::App* app) {
  return app->add_subcommand(
      "calls",
      "The short BLACS calls ScaLAPACK makes most: 1 x 1 maxima, minima and sums to all ranks, "
      "small "
      "broadcasts, exchanges of matrix rows; on a grid as square as can be, by scope. Subjects: "
      "shim, reference BLACS");
}

CLI::App* AddOverlap(CLI::App* app, Options* options) {
  CLI::App* command = app->add_subcommand(
      "overlap",
      "A transfer started, as much computation as takes the same time, and the end of the "
      "transfer; "
      "beside transfer and computation alone. Sends from even ranks to odd ones, and a broadcast. "
      "Subjects: Brigade, MPI");
  AddLengths(command, "--sizes", &options->overlap_bytes, "Messages, in bytes or with K, M or G")
      ->check(HoldADouble);
  return command;
}

CLI::App* AddExchange(CLI::App* app, Options* options) {
  CLI::App* command = app->add_subcommand(
      "exchange",
      "Every rank puts a block to, or gets one from, one neighbour and all ranks, between fences, "
      "between start and complete, and within locks; windows of shared and of private memory. "
      "Subjects: Brigade, MPI's windows, MPI's sends and receives all at once and one by one "
      "(MPI_Sendrecv)");
  AddLengths(command, "--blocks", &options->block_bytes,
             "Bytes of a block, or with K or M; 0: synchronisation alone");
  return command;
}

CLI::App* AddOneSided(CLI::App* app, Options* options) {
  CLI::App* command = app->add_subcommand(
      "one-sided",
      "Puts, gets, sums and fetch-and-add of rank 0 on the memory of rank 1, one and many before a "
      "flush; puts with notification, in turn; lock, put and unlock while rank 1 computes. "
      "Subjects: Brigade, MPI's windows, MPI's sends and receives");
  AddLengths(command, "--sizes", &options->message_bytes, "Messages, in bytes or with K, M or G")
      ->check(CLI::PositiveNumber);
  return command;
}

CLI::App* AddContended(CLI::App* app) {
  return app->add_subcommand("contended",
                             "Fetch-and-add of all ranks on one double of rank 0. "
                             "Subjects: Brigade, MPI's windows");
}

CLI::App* AddExplain(CLI::App* app, Options* options) {
  std::vector<std::string> patterns;
  for (const CatalogueEntry& entry : Catalogue()) patterns.push_back(entry.name);
  CLI::App* command = app->add_subcommand(
      "explain",
      "Prints the algorithms that a pattern can use on a machine, each with the time that the cost "
      "model predicts, and the plan of a call. Sends no messages, and needs no mpirun");
  command->add_option("--pattern", options->pattern, "The pattern")
      ->transform(CLI::IsMember(patterns, WithUnderscores));
  command->add_option("--ranks", options->ranks, "The number of ranks")
      ->required()
      ->check(CLI::Range(1, 1 << 20));
  TakeUnits(command->add_option(
                "--bytes", options->bytes,
                "Bytes of the message, also with K, M or G; for multi-broadcast, multi-reduce, "
                "gather, scatter and all-to-all: bytes of each block"))
      ->required();
  command
      ->add_option("--run-bytes", options->contiguous_run,
                   "Bytes of a column of the matrix; 0: the matrix is contiguous. The list's "
                   "predictions depend on it, the choice does not: ranks may have other columns")
      ->check(CLI::NonNegativeNumber);
  command->add_flag("--exact", options->exact,
                    "Combines give equal bits in any order: integers, maxima, minima");
  command
      ->add_option("--machine", options->machine,
                   "A description of a machine: a file that calibrate has printed, or a file of "
                   "transport/machines/")
      ->required()
      ->check(CLI::ExistingFile);
  return command;
}

CLI::App* AddCalibrate(CLI::App* app) {
  return app->add_subcommand("calibrate",
                             "Measures the costs of messages between the ranks of this job, of "
                             "copies and of sums. Prints them as a description of the machine, for "
                             "explain --machine, and keeps them for jobs on the same hosts");
}

CLI::App* AddModel(CLI::App* app, Options* options) {
  for (const CatalogueEntry& entry : Catalogue()) {
    // Measured together with sends.
    if (entry.pattern != Pattern::kReceive) options->patterns.push_back(entry.name);
  }
  CLI::App* command =
      app->add_subcommand("model",
                          "Measures every algorithm of a pattern, and the algorithm that the "
                          "library selects ('free'), beside the times that the cost model "
                          "predicts. Measures the links first, and each case twice");
  command->add_option("--patterns", options->patterns, "Which patterns")
      ->delimiter(',')
      ->transform(CLI::IsMember(options->patterns, WithUnderscores));
  AddLengths(command, "--bytes", &options->contiguous_bytes,
             "Messages, in bytes or with K or M; of multi forms, all blocks together")
      ->required()
      ->check(CLI::PositiveNumber);
  command->add_option("--keep-machine", options->machine,
                      "Write the measured costs of edges to this file, as in transport/machines/");
  return command;
}

}  // namespace

bool Options::HasPeer(const std::string& name) const {
  return std::find(peers.begin(), peers.end(), name) != peers.end();
}

ParseOutcome ParseOptions(int argc, const char* const* argv, Options* options, std::string* text) {
  std::vector<std::string> sizes = {"1000xQ", "1000x2Q", "1000x32", "4000x32"};

  CLI::App app(
      "Measures Brigade beside its peers. Start it under mpirun: every rank of MPI_COMM_WORLD "
      "takes "
      "part.");
  app.option_defaults()->always_capture_default();
  // One help text with all options.
  app.set_help_flag();
  app.set_help_all_flag("-h,--help", "Print this help message and exit");
  app.set_version_flag("--version", "brigade_bench " BRIGADE_VERSION);
  app.require_subcommand(0, 1);
  app.fallthrough();

  AddEngineOptions(&app, options);
  AddSubjectOptions(&app, options);
  AddMeasuringOptions(&app, options);
  const std::pair<CLI::App*, Options::Command> commands[] = {
      {AddPingPong(&app, options), Options::Command::kPingPong},
      {AddSpread(&app, options, &sizes), Options::Command::kSpread},
      {AddCalls(&app), Options::Command::kCalls},
      {AddOverlap(&app, options), Options::Command::kOverlap},
      {AddExplain(&app, options), Options::Command::kExplain},
      {AddCalibrate(&app), Options::Command::kCalibrate},
      {AddModel(&app, options), Options::Command::kModel},
      {AddExchange(&app, options), Options::Command::kExchange},
      {AddOneSided(&app, options), Options::Command::kOneSided},
      {AddContended(&app), Options::Command::kContended},
  };

  try {
    app.parse(argc, argv);
    // Not by require_subcommand, which would not name one that is misspelt.
    if (app.get_subcommands().empty()) throw CLI::RequiredError("A subcommand");
    for (const std::string& size : sizes) options->sizes.push_back(ParseSize(size));
  } catch (const CLI::ParseError& error) {
    std::ostringstream out;
    const bool help = app.exit(error, out, out) == 0;
    *text = out.str();
    return help ? ParseOutcome::kHelp : ParseOutcome::kRefused;
  }
  for (const auto& [subcommand, command] : commands) {
    if (subcommand->parsed()) options->command = command;
  }
  return ParseOutcome::kRun;
}

}  // namespace brigade::bench

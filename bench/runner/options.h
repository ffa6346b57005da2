// The command line of brigade_bench.

#ifndef BRIGADE_BENCH_RUNNER_OPTIONS_H_
#define BRIGADE_BENCH_RUNNER_OPTIONS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "bench/runner/measuring_options.h"
#include "patterns/engine/engine.h"

namespace brigade::bench {

// M x N as the command line gives it: "1000x32", or with N in multiples of the ranks, "1000x2Q".
struct SpreadSize {
  std::string text;
  int64_t rows = 0;
  int64_t cols = 0;
  bool cols_per_rank = false;
};

struct Options : MeasuringOptions {
  enum class Command {
    kPingPong,
    kSpread,
    kCalls,
    kOverlap,
    kExplain,
    kCalibrate,
    kModel,
    kExchange,
    kOneSided,
    kContended
  };
  Command command = Command::kPingPong;

  EngineOptions::Calibrate calibrate = EngineOptions::Calibrate::kIfUnknown;
  bool explained = false;
  std::vector<std::string> peers = {"mpi", "blacs", "plain", "ring"};
  std::string shim = "libbrigade_blacs.so.1";  // for dlopen; or "none"
  // Debian's for the MPI of this program; that for another MPI would bring the other MPI.
#if defined(OPEN_MPI)
  std::string stock = "libscalapack-openmpi.so.2.2";
#else
  std::string stock = "libscalapack-mpich.so.2.2";
#endif

  // pingpong
  std::vector<size_t> message_bytes = {8,        64,        512,     1 << 10, 4 << 10, 16 << 10,
                                       64 << 10, 256 << 10, 1 << 20, 4 << 20, 8 << 20, 32 << 20};
  std::vector<size_t> run_bytes = {0, 256, 4000};  // 0: contiguous
  bool touched = false;                            // write what is sent, and read what is received
  bool allocated = false;            // panels in memory that the ranks of a host map; spread, too
  std::string idle_window = "none";  // beside which Brigade's messages go

  // spread
  std::vector<std::string> cases = {"multi-broadcast", "multi-reduce", "broadcast",      "reduce",
                                    "all-reduce",      "barrier",      "small-broadcast"};
  std::vector<SpreadSize> sizes;
  std::vector<size_t>
      contiguous_bytes;  // model, too; of spread these, if there are any, instead of the sizes
  std::string topologies = " IDSHF12";
  std::vector<std::string> shapes = {"free",
                                     "tree",
                                     "4-nomial tree",
                                     "ring",
                                     "fully connected",
                                     "hypercube",
                                     "reduce-scatter + allgather",
                                     "two trees",
                                     "circulant"};

  // overlap
  std::vector<size_t> overlap_bytes = {1 << 20};

  // exchange; 0: synchronisation alone
  std::vector<size_t> block_bytes = {0,        1 << 10,   4 << 10, 16 << 10,
                                     64 << 10, 256 << 10, 1 << 20, 4 << 20};

  // model
  std::vector<std::string> patterns;

  // explain
  std::string pattern = "broadcast";
  int ranks = 0;
  size_t bytes = 0;
  size_t contiguous_run = 0;  // bytes that lie together; 0: all
  bool exact = false;
  std::string machine;  // a file; model, too, which writes it

  bool HasPeer(const std::string& name) const;
};

enum class ParseOutcome { kRun, kHelp, kRefused };

// Parses the command line. For kHelp and kRefused sets `text` to the output; otherwise fills
// `options`. Makes no MPI call.
ParseOutcome ParseOptions(int argc, const char* const* argv, Options* options, std::string* text);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_OPTIONS_H_

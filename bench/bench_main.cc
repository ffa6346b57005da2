// brigade_bench: measures Brigade beside its peers. README.md explains what is timed, and how.

#include <mpi.h>

#include <cstdio>
#include <memory>
#include <string>

#include "bench/cases/calls.h"
#include "bench/cases/overlap.h"
#include "bench/cases/pingpong.h"
#include "bench/cases/session.h"
#include "bench/cases/spread.h"
#include "bench/runner/options.h"
#include "bench/studies/calibrate.h"
#include "bench/studies/contended.h"
#include "bench/studies/exchange.h"
#include "bench/studies/explain.h"
#include "bench/studies/model_study.h"
#include "bench/studies/one_sided.h"
#include "membuf/status.h"
#include "patterns/engine/out_of_memory.h"
#include "tools/whole_output.h"

namespace brigade::bench {
namespace {

void Run(const Options& options) {
  if (options.command == Options::Command::kExplain) return AbortUnlessOk(RunExplain(options));
  std::unique_ptr<Session> session;
  AbortUnlessOk(Session::Create(MPI_COMM_WORLD, options, &session));
  switch (options.command) {
    case Options::Command::kPingPong:
      return RunPingPong(session.get());
    case Options::Command::kSpread:
      return RunSpread(session.get());
    case Options::Command::kCalls:
      return RunCalls(session.get());
    case Options::Command::kOverlap:
      return RunOverlap(session.get());
    case Options::Command::kCalibrate:
      return RunCalibrate(session.get());
    case Options::Command::kModel:
      return RunModelStudy(session.get());
    case Options::Command::kExchange:
      return RunExchange(session.get());
    case Options::Command::kOneSided:
      return RunOneSided(session.get());
    case Options::Command::kContended:
      return RunContended(session.get());
    case Options::Command::kExplain:
      break;  // needs no session
  }
}

int Main(int argc, char** argv) {
  constexpr int kExitRefused = 2;
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  Options options;
  std::string text;
  const ParseOutcome outcome = ParseOptions(argc, argv, &options, &text);
  if (outcome != ParseOutcome::kRun) {
    const bool help = outcome == ParseOutcome::kHelp;
    if (rank == 0) std::fputs(text.c_str(), help ? stdout : stderr);
    MPI_Finalize();
    return help ? 0 : kExitRefused;
  }

  // Not every length that an option accepts fits the memory of this machine.
  AbortUnlessOk(CatchOutOfMemory([&] {
    Run(options);
    return Status();
  }));
  MPI_Finalize();
  return 0;
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) {
  return brigade::WholeOutput("brigade_bench", brigade::bench::Main(argc, argv));
}

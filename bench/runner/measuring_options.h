// The part of a command line that every program has that measures with the runner.

#ifndef BRIGADE_BENCH_RUNNER_MEASURING_OPTIONS_H_
#define BRIGADE_BENCH_RUNNER_MEASURING_OPTIONS_H_

#include <string>

#include "bench/runner/runner.h"
#include "membuf/version.h"

namespace CLI {
class App;
}

namespace brigade::bench {

struct MeasuringOptions : RunnerOptions {
  std::string transport = "auto";  // recorded with Brigade's figures
  bool by_messages = false;        // Brigade's windows, also within a host
  std::string json;                // empty: no file
  std::string label;  // put after the names of subjects that depend on the settings of MPI
  std::string brigade_version = BRIGADE_VERSION;
  bool pin = false;
};

// Adds all options except --by-messages to `app`, and the check for contradictions.
void AddMeasuringOptions(CLI::App* app, MeasuringOptions* options);
void AddByMessages(CLI::App* app, MeasuringOptions* options);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_MEASURING_OPTIONS_H_

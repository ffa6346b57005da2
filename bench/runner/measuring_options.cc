#include "bench/runner/measuring_options.h"

#include <cmath>
#include <cstdlib>
#include <string>

#include "CLI/CLI.hpp"

namespace brigade::bench {
namespace {

// An empty text accepts them. CLI::PositiveNumber accepts nan.
std::string AreSeconds(const std::string& text) {
  const double seconds = std::strtod(text.c_str(), nullptr);
  return seconds > 0 && std::isfinite(seconds) ? "" : text + " is no number of seconds";
}

}  // namespace

void AddMeasuringOptions(CLI::App* app, MeasuringOptions* options) {
  app->add_option("--json", options->json,
                  "Append one JSON line per case and subject to this file");
  app->add_option("--label", options->label,
                  "Appended to the names of subjects mpi and stock, to distinguish launches with "
                  "other MPI settings");
  app->add_option("--brigade-version", options->brigade_version, "Recorded with the figures");
  app->add_option("--seconds", options->seconds_per_case, "Time to spend per case, all subjects")
      ->check(AreSeconds);
  app->add_option("--min-iterations", options->min_iterations,
                  "Fewest timed runs of each subject, however long they take")
      ->check(CLI::PositiveNumber);
  app->add_option("--max-iterations", options->max_iterations,
                  "Most timed runs, however short they are; more than the fewest")
      ->check(CLI::PositiveNumber);
  app->add_flag("--asleep", options->asleep,
                "Ranks that have finished sleep, and all start by the clock: for ranks on one "
                "machine that outnumber its processors");
  app->add_flag("--pin", options->pin,
                "Pin each rank to one processor, round robin: ranks that migrate make figures "
                "differ from launch to launch");
  app->add_option("--seed", options->seed, "Seed of the random order of the subjects");
  app->parse_complete_callback([=] {
    if (options->max_iterations < options->min_iterations) {
      throw CLI::ValidationError("--max-iterations", "fewer than --min-iterations");
    }
  });
}

void AddByMessages(CLI::App* app, MeasuringOptions* options) {
  app->add_flag("--by-messages", options->by_messages,
                "Send puts, gets and accumulates of Brigade over the transport also within a host, "
                "instead of accessing memory directly");
}

}  // namespace brigade::bench

// md_study: molecular dynamics of a Lennard-Jones liquid. MdFolds and MdTasks compute forces,
// MdMotion moves atoms by them.

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/contenders/one_sided.h"
#include "bench/runner/case.h"
#include "bench/studies/putget/md_folds.h"
#include "bench/studies/putget/md_forces.h"
#include "bench/studies/putget/md_motion.h"
#include "bench/studies/putget/md_mpi_messages.h"
#include "bench/studies/putget/md_system.h"
#include "bench/studies/putget/md_tasks.h"
#include "bench/studies/putget/study.h"

namespace brigade::bench {
namespace {

constexpr int kUsualBlock = 128;

struct Dynamics {
  int steps;
  double run_seconds;  // that a run may take; 0: any
  int uneven;          // how often rank 0 computes each pair
};

// The same on all ranks: how many fit into the time that a run may take.
int StepsThatFit(MPI_Comm comm, const MdSystem& system, const Dynamics& asked, MdForces* forces) {
  constexpr int kLeast = 2;
  if (asked.run_seconds <= 0 || asked.steps <= kLeast) return asked.steps;
  MdMotion trial(comm, system, kLeast);
  const double start = MPI_Wtime();
  AbortUnlessOk(trial.Run(forces));
  // Forces are computed once more, before the first step.
  double step_seconds = (MPI_Wtime() - start) / (kLeast + 1);
  MPI_Bcast(&step_seconds, 1, MPI_DOUBLE, 0, comm);
  return static_cast<int>(
      std::clamp<double>(asked.run_seconds / step_seconds - 1, kLeast, asked.steps));
}

void Measure(Study* study, int atoms, int block, const Dynamics& asked) {
  const StudyOptions& options = study->options();
  Session* const session = study->session();
  const MdSystem system(atoms);
  const int times = study->rank() == 0 ? asked.uneven : 1;
  struct Variant {
    std::string name, variant;
    std::unique_ptr<MdForces> forces;
  };
  std::vector<Variant> variants;
  const auto add = [&](const std::string& name, const std::string& variant,
                       std::unique_ptr<MdForces> forces) {
    if (options.Wants(variant)) variants.push_back({name, variant, std::move(forces)});
  };
  std::vector<std::unique_ptr<OneSided>> windows;
  if (options.Wants("get") || options.Wants("nbget")) {
    windows = study->Windows(MdTasks::WindowDoubles(system, study->ranks()));
  }
  for (const auto& window : windows) {
    for (const bool ahead : {false, true}) {
      add(window->name(), ahead ? "nbget" : "get",
          std::make_unique<MdTasks>(system, window.get(), study->rank(), study->ranks(), block,
                                    ahead, study->pauses(), times));
    }
  }
  MdMpiMessages messages(session->comm());
  if (options.WantsMessagesOfMpi()) {
    add(session->PeerName("mpi"), "fold",
        std::make_unique<MdFolds>(system, &messages, study->rank(), study->ranks(), times));
  }
  const int steps = variants.empty() ? asked.steps
                                     : StepsThatFit(session->comm(), system, asked,
                                                    variants.front().forces.get());
  MdMotion motion(session->comm(), system, steps);
  Case dynamics;
  dynamics.name = "Lennard-Jones dynamics, " +
                  std::string(asked.run_seconds > 0 ? "at most " : "") +
                  std::to_string(asked.steps) + " steps";
  if (block != kUsualBlock) dynamics.name += ", blocks of " + std::to_string(block);
  if (asked.uneven > 1) {
    dynamics.name += ", rank 0 at 1/" + std::to_string(asked.uneven) + " of the speed";
  }
  dynamics.rows = dynamics.ld = atoms;
  dynamics.cols = asked.steps;
  dynamics.bytes = static_cast<size_t>(atoms) * 3 * sizeof(double);
  dynamics.roots = 1;
  dynamics.hops = steps;
  dynamics.prepare = [](int) {};  // a run begins from scratch
  for (const Variant& one : variants) {
    Subject subject;
    subject.name = one.name;
    subject.pattern = one.variant;
    subject.run = [&motion, how = one.forces.get()](int) { return motion.Run(how); };
    subject.check = [&motion](int) { return motion.Check(); };
    dynamics.subjects.push_back(std::move(subject));
  }
  session->Measure(dynamics);
  if (study->rank() == 0 && !variants.empty()) {
    std::printf("%d atoms, %d steps: energy drifts by at most %.1e of itself\n", atoms, steps,
                motion.furthest_drift());
  }
  for (const auto& window : windows) {
    AbortUnlessOk(window->UnlockAll());
    AbortUnlessOk(window->Free());
  }
}

int Main(int argc, char** argv) {
  std::vector<int> atoms = {256, 2048};
  std::vector<int> blocks = {kUsualBlock};
  Dynamics asked{10, 0, 1};
  CLI::App app(
      "Molecular dynamics of a Lennard-Jones liquid without cutoff. Start it under mpirun. Times "
      "are of a step.");
  app.option_defaults()->always_capture_default();
  app.add_option("--atoms", atoms, "How many, multiples of 4")
      ->delimiter(',')
      ->check(CLI::Range(32, 1 << 20))
      ->check([](const std::string& text) {
        return std::stol(text) % 4 == 0 ? "" : text + " is no multiple of 4";
      });
  app.add_option("--steps", asked.steps, "Of a run")->check(CLI::Range(1, 1000000));
  app.add_option("--run-seconds", asked.run_seconds,
                 "A run has fewer steps, but two at least, if they would take longer; 0: any time")
      ->check(CLI::Range(0.0, 86400.0));
  app.add_option("--block", blocks, "Atoms along each side of a task, at most")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 20));
  app.add_option(
         "--uneven", asked.uneven,
         "How often rank 0 computes each pair, to simulate a slower processor; 1: once, like "
         "other ranks")
      ->check(CLI::Range(1, 100));
  return StudyMain(argc, argv, &app, {"fold", "get", "nbget"}, [&](Study* study) {
    study->session()->StartTable("Lennard-Jones dynamics");
    for (const int number : atoms) {
      for (const int block : blocks) Measure(study, number, block, asked);
    }
  });
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }

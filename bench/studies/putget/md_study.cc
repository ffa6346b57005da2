// md_study: molecular dynamics of a Lennard-Jones liquid. MdForces says how forces are computed,
// MdMotion what is done with them.

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/contenders/one_sided.h"
#include "bench/runner/case.h"
#include "bench/studies/putget/md_forces.h"
#include "bench/studies/putget/md_motion.h"
#include "bench/studies/putget/md_system.h"
#include "bench/studies/putget/study.h"

namespace brigade::bench {
namespace {

void Measure(Study* study, int atoms, int steps, int block) {
  const StudyOptions& options = study->options();
  Session* const session = study->session();
  const MdSystem system(atoms);
  MdMotion motion(session->comm(), system, steps);
  Case dynamics;
  dynamics.name = "Lennard-Jones dynamics, " + std::to_string(steps) + " steps";
  dynamics.rows = dynamics.ld = atoms;
  dynamics.cols = steps;
  dynamics.bytes = static_cast<size_t>(atoms) * 3 * sizeof(double);
  dynamics.roots = 1;
  dynamics.hops = steps;
  dynamics.prepare = [](int) {};  // a run begins from scratch
  std::vector<std::unique_ptr<MdForces>> all;
  const auto add = [&](const std::string& name, const std::string& variant,
                       std::unique_ptr<MdForces> forces) {
    if (!options.Wants(variant)) return;
    Subject subject;
    subject.name = name;
    subject.pattern = variant;
    subject.run = [&motion, how = forces.get()](int) { return motion.Run(how); };
    subject.check = [&motion](int) { return motion.Check(); };
    dynamics.subjects.push_back(std::move(subject));
    all.push_back(std::move(forces));
  };
  std::vector<std::unique_ptr<OneSided>> windows;
  if (options.Wants("get") || options.Wants("nbget")) {
    windows = study->Windows(MdTasks::WindowDoubles(system, study->ranks()));
  }
  for (const auto& window : windows) {
    for (const bool ahead : {false, true}) {
      add(window->name(), ahead ? "nbget" : "get",
          std::make_unique<MdTasks>(system, window.get(), study->rank(), study->ranks(), block,
                                    ahead, study->pauses()));
    }
  }
  if (options.WantsMessagesOfMpi()) {
    add(session->PeerName("mpi"), "fold", std::make_unique<MdFolds>(session->comm(), system));
  }
  session->Measure(dynamics);
  for (const auto& window : windows) {
    AbortUnlessOk(window->UnlockAll());
    AbortUnlessOk(window->Free());
  }
}

int Main(int argc, char** argv) {
  std::vector<int> atoms = {256, 2048};
  int steps = 10, block = 128;
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
  app.add_option("--steps", steps, "Of a run")->check(CLI::Range(1, 1000000));
  app.add_option("--block", block, "Atoms along each side of a task, at most")
      ->check(CLI::Range(1, 1 << 20));
  return StudyMain(argc, argv, &app, {"fold", "get", "nbget"}, [&](Study* study) {
    study->session()->StartTable("Lennard-Jones dynamics");
    for (const int number : atoms) Measure(study, number, steps, block);
  });
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }

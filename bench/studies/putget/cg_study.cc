// cg_study: NAS CG. CgSolver describes it, PairSubjects has the subjects.

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/runner/case.h"
#include "bench/studies/putget/cg_solver.h"
#include "bench/studies/putget/pair_subjects.h"
#include "bench/studies/putget/study.h"

namespace brigade::bench {
namespace {

void Measure(Study* study, const CgClass& of) {
  const std::string why_not = CgSolver::WhyNot(of, study->ranks());
  if (!why_not.empty()) AbortUnlessOk(Status(StatusCode::kInvalidArgument, why_not));
  CgSolver solver(of, study->rank(), study->ranks());
  solver.MakeMatrix();
  PairSubjects subjects(study, solver.channels());
  Case benchmark;
  benchmark.name = std::string("NAS CG, class ") + of.name;
  benchmark.rows = benchmark.ld = of.n;
  benchmark.cols = of.iterations;
  benchmark.bytes = static_cast<size_t>(of.n) * sizeof(double);
  benchmark.roots = 1;
  benchmark.prepare = [](int) {};  // a run begins from scratch
  subjects.AddTo(
      &benchmark, [&](PairExchange* exchange, bool ahead) { return solver.Run(exchange, ahead); },
      [&] { return solver.Check(); });
  study->session()->Measure(benchmark);
  subjects.Free();
}

int Main(int argc, char** argv) {
  std::vector<std::string> classes = {"S", "A"};
  CLI::App app(
      "NAS CG: the smallest eigenvalue of a sparse matrix. Start it under mpirun, on a power of "
      "two of ranks.");
  app.option_defaults()->always_capture_default();
  app.add_option("--classes", classes, "Sizes, as NAS calls them")
      ->delimiter(',')
      ->check(CLI::IsMember({"S", "W", "A", "B", "C"}));
  return StudyMain(argc, argv, &app, kPairVariants, [&](Study* study) {
    study->session()->StartTable("NAS CG");
    for (const std::string& name : classes) Measure(study, *FindCgClass(name[0]));
  });
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }

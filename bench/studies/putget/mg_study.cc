// mg_study: NAS MG. MgSolver describes it, PairSubjects has the subjects.

#include <mpi.h>

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/runner/case.h"
#include "bench/studies/putget/mg_solver.h"
#include "bench/studies/putget/pair_subjects.h"
#include "bench/studies/putget/study.h"

namespace brigade::bench {
namespace {

void Measure(Study* study, const MgClass& of) {
  const std::string why_not = MgSolver::WhyNot(study->ranks());
  if (!why_not.empty()) AbortUnlessOk(Status(StatusCode::kInvalidArgument, why_not));
  MgSolver solver(of, study->rank(), study->ranks());
  PairSubjects subjects(study, solver.channels());
  const auto side = static_cast<size_t>(of.points);
  Case benchmark;
  benchmark.name = std::string("NAS MG, class ") + of.name;
  benchmark.rows = benchmark.ld = of.points;
  benchmark.cols = of.iterations;
  benchmark.bytes = side * side * side * sizeof(double);
  benchmark.roots = 1;
  benchmark.prepare = [](int) {};  // a run begins from scratch
  subjects.AddTo(
      &benchmark, [&](PairExchange* exchange, bool ahead) { return solver.Run(exchange, ahead); },
      [&] {
        double sum = solver.SumOfResidualSquares();
        MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_DOUBLE, MPI_SUM, study->session()->comm());
        return solver.Check(sum);
      });
  study->session()->Measure(benchmark);
  subjects.Free();
}

int Main(int argc, char** argv) {
  std::vector<std::string> classes = {"S", "A"};
  CLI::App app(
      "NAS MG: multigrid on a periodic cube. Start it under mpirun, on 1, 2, 4 or 8 ranks.");
  app.option_defaults()->always_capture_default();
  app.add_option("--classes", classes, "Sizes, as NAS calls them")
      ->delimiter(',')
      ->check(CLI::IsMember({"S", "W", "A", "B", "C"}));
  return StudyMain(argc, argv, &app, kPairVariants, [&](Study* study) {
    study->session()->StartTable("NAS MG");
    for (const std::string& name : classes) Measure(study, *FindMgClass(name[0]));
  });
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }

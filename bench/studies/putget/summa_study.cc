// summa_study: SUMMA by MPI's broadcasts, and by gets. Summa describes it.

#include <mpi.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/contenders/one_sided.h"
#include "bench/runner/case.h"
#include "bench/studies/putget/study.h"
#include "bench/studies/putget/summa.h"

namespace brigade::bench {
namespace {

void Measure(Study* study, int n, int width) {
  const StudyOptions& options = study->options();
  Session* const session = study->session();
  const std::string why_not = Summa::WhyNot(n, study->ranks());
  if (!why_not.empty()) AbortUnlessOk(Status(StatusCode::kInvalidArgument, why_not));
  Summa summa(session->comm(), n, width, study->pauses());
  Case product;
  product.name = "SUMMA, chunks of " + std::to_string(width);
  product.rows = product.cols = product.ld = n;
  product.bytes = static_cast<size_t>(n) * static_cast<size_t>(n) * sizeof(double);
  product.roots = 1;
  product.prepare = [&](int) { summa.ClearResult(); };
  const auto add = [&](const std::string& name, const std::string& variant,
                       const std::function<Status()>& run) {
    if (!options.Wants(variant)) return;
    Subject subject;
    subject.name = name;
    subject.pattern = variant;
    subject.run = [run](int) { return run(); };
    subject.check = [&summa](int) { return summa.Check(); };
    product.subjects.push_back(std::move(subject));
  };
  std::vector<std::unique_ptr<OneSided>> windows;
  if (options.Wants("get") || options.Wants("nbget")) {
    windows = study->Windows(summa.WindowDoubles());
    for (const auto& window : windows) summa.FillWindow(window->memory());
    MPI_Barrier(session->comm());
    for (const auto& window : windows) {
      add(window->name(), "get", [&] { return summa.RunByGets(window.get(), /*ahead=*/false); });
      add(window->name(), "nbget", [&] { return summa.RunByGets(window.get(), /*ahead=*/true); });
    }
  }
  if (options.WantsMessagesOfMpi()) {
    add(session->PeerName("mpi"), "broadcast", [&] { return summa.RunByBroadcasts(); });
  }
  session->Measure(product);
  for (const auto& window : windows) {
    AbortUnlessOk(window->UnlockAll());
    AbortUnlessOk(window->Free());
  }
}

int Main(int argc, char** argv) {
  std::vector<int> orders = {1024, 2048};
  std::vector<int> widths = {128, 256};
  CLI::App app("SUMMA: products of square matrices on a grid of ranks. Start it under mpirun.");
  app.option_defaults()->always_capture_default();
  app.add_option("-n", orders, "Orders of the matrices, multiples of the grid's rows and columns")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  app.add_option("--widths", widths, "Of chunks, in columns of A")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  return StudyMain(argc, argv, &app, {"broadcast", "get", "nbget"}, [&](Study* study) {
    study->session()->StartTable("SUMMA");
    for (const int n : orders) {
      for (const int width : widths) Measure(study, n, width);
    }
  });
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }

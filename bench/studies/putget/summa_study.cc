// summa_study: SUMMA by MPI's broadcasts, and by gets. Summa describes it.

#include <mpi.h>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/contenders/one_sided.h"
#include "bench/runner/case.h"
#include "bench/studies/putget/grid_rows.h"
#include "bench/studies/putget/pauses.h"
#include "bench/studies/putget/study.h"
#include "bench/studies/putget/summa.h"

extern "C" void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n,
                       const int* k, const double* alpha, const double* a, const int* lda,
                       const double* b, const int* ldb, const double* beta, double* c,
                       const int* ldc);

namespace brigade::bench {
namespace {

// Chunks of A go by columns and chunks of B by rows, so that each lies together.
void MultiplyAdd(int m, int n, int k, const double* a, const double* b, double* c) {
  const double one = 1;
  dgemm_("N", "T", &m, &n, &k, &one, a, &m, b, &n, &one, c, &m);
}

class Gets final : public Summa::Source {
 public:
  Gets(OneSided* window, const Pauses& pauses) : window_(window), pauses_(pauses) {}
  bool is_one_sided() const override { return true; }
  Status Start(const Summa::Piece& piece, double* data, size_t turn) override {
    pauses_.Take();
    if (piece.is_own) return Status();
    return window_->StartGet(data, piece.doubles, piece.rank, piece.place,
                             &pending_[turn][piece.matrix]);
  }
  Status Await(size_t turn) override {
    pauses_.Take();
    for (auto& pending : pending_[turn]) {
      if (pending) BRIGADE_RETURN_IF_ERROR(pending->Wait());
      pending.reset();
    }
    return Status();
  }

 private:
  OneSided* const window_;
  Pauses pauses_;
  std::array<std::array<std::unique_ptr<Pending>, 2>, 2> pending_;  // by turn and matrix
};

// Along rows and columns of the grid.
class Broadcasts final : public Summa::Source {
 public:
  // Collective.
  Broadcasts(MPI_Comm comm, int rank, int columns) {
    MPI_Comm_split(comm, rank / columns, rank % columns, &comms_[0]);
    MPI_Comm_split(comm, rank % columns, rank / columns, &comms_[1]);
  }
  ~Broadcasts() override {
    for (MPI_Comm& comm : comms_) MPI_Comm_free(&comm);
  }
  Broadcasts(const Broadcasts&) = delete;
  Broadcasts& operator=(const Broadcasts&) = delete;
  bool is_one_sided() const override { return false; }
  Status Start(const Summa::Piece& piece, double* data, size_t /*turn*/) override {
    MPI_Bcast(data, static_cast<int>(piece.doubles), MPI_DOUBLE, piece.owner, comms_[piece.matrix]);
    return Status();
  }
  Status Await(size_t /*turn*/) override { return Status(); }

 private:
  std::array<MPI_Comm, 2> comms_;
};

void Measure(Study* study, int n, int width) {
  const StudyOptions& options = study->options();
  Session* const session = study->session();
  const std::string why_not = Summa::WhyNot(n, study->ranks());
  if (!why_not.empty()) AbortUnlessOk(Status(StatusCode::kInvalidArgument, why_not));
  Summa summa(n, n, width, study->rank(), study->ranks(), MultiplyAdd);
  Case product;
  product.name = "SUMMA, chunks of " + std::to_string(width);
  product.rows = product.cols = product.ld = n;
  product.bytes = static_cast<size_t>(n) * static_cast<size_t>(n) * sizeof(double);
  product.roots = 1;
  product.prepare = [&](int) { summa.ClearResult(); };
  const auto add = [&](const std::string& name, const std::string& variant,
                       const std::shared_ptr<Summa::Source>& source, bool ahead) {
    if (!options.Wants(variant)) return;
    Subject subject;
    subject.name = name;
    subject.pattern = variant;
    subject.run = [&summa, source, ahead](int) { return summa.Run(source.get(), ahead); };
    subject.check = [&summa](int) { return summa.Check(); };
    product.subjects.push_back(std::move(subject));
  };
  std::vector<std::unique_ptr<OneSided>> windows;
  if (options.Wants("get") || options.Wants("nbget")) {
    windows = study->Windows(summa.WindowDoubles());
    for (const auto& window : windows) summa.FillWindow(window->memory());
    MPI_Barrier(session->comm());
    for (const auto& window : windows) {
      const auto gets = std::make_shared<Gets>(window.get(), study->pauses());
      add(window->name(), "get", gets, /*ahead=*/false);
      add(window->name(), "nbget", gets, /*ahead=*/true);
    }
  }
  if (options.WantsMessagesOfMpi()) {
    add(session->PeerName("mpi"), "broadcast",
        std::make_shared<Broadcasts>(session->comm(), study->rank(),
                                     study->ranks() / GridRows(study->ranks())),
        /*ahead=*/false);
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

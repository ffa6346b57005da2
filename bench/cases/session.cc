#include "bench/cases/session.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "bench/runner/machine.h"

namespace brigade::bench {
namespace {

// The others need no ScaLAPACK on their hosts.
bool MeasuresBlacs(Options::Command command) {
  using Command = Options::Command;
  return command == Command::kPingPong || command == Command::kSpread || command == Command::kCalls;
}

// Calls on whole rows and columns need both; everything else is at home on a 1 x ranks grid.
int GridRows(const Options& options, int ranks) {
  if (options.command != Options::Command::kCalls) return 1;
  int rows = static_cast<int>(std::sqrt(ranks));
  while (ranks % rows != 0) --rows;
  return rows;
}

}  // namespace

void AbortUnlessOk(const Status& status) {
  if (status.ok()) return;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  std::fprintf(stderr, "brigade_bench: rank %d: %s\n", rank, status.ToString().c_str());
  std::fflush(stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

Session::Session(MPI_Comm comm, const Options& options)
    : options_(options), comm_(comm), runner_(comm, options) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
}

Status Session::Create(MPI_Comm comm, const Options& options, std::unique_ptr<Session>* result) {
  if (options.asleep && !OnOneMachine(comm)) {
    return Status(StatusCode::kInvalidArgument,
                  "--asleep is for ranks on one machine: these have no clock in common");
  }
  std::unique_ptr<Session> session(new Session(comm, options));
  if (options.pin) RunOnProcessor(session->rank_);
  const int grid_rows = GridRows(options, session->ranks_);
  const bool measures_blacs = MeasuresBlacs(options.command);
  if (measures_blacs && options.shim != "none") {
    // As for any program that preloads the shim.
    setenv("BRIGADE_TRANSPORT", options.transport.c_str(), /*overwrite=*/1);
    Status status = BlacsGrid::Create(options.shim, grid_rows, &session->shim_);
    if (!status.ok()) return status.WithContext("opening the shim (see --shim)");
  }
  if (measures_blacs && options.HasPeer("blacs")) {
    Status status = BlacsGrid::Create(options.stock, grid_rows, &session->stock_);
    if (!status.ok())
      return status.WithContext("opening the reference BLACS (see --stock, --peers)");
  }

  const Machine machine = DescribeMachine(comm);
  int can_report = 1;
  Status status;
  if (session->rank_ == 0) {
    session->report_ = std::make_unique<Report>(options, machine, session->ranks_,
                                                session->stock_ ? session->stock_->path() : "");
    status = session->report_->Open();
    can_report = status.ok();
    // The output of calibrate is a machine file: no other line may be printed.
    const bool prints_file = options.command == Options::Command::kCalibrate;
    if (can_report && !prints_file) session->report_->PrintMachine();
  }
  MPI_Bcast(&can_report, 1, MPI_INT, 0, comm);
  if (!can_report) {
    return session->rank_ == 0 ? status : Status(StatusCode::kUnavailable, "rank 0 cannot report");
  }
  *result = std::move(session);
  return Status();
}

std::string Session::PeerName(const std::string& name) const {
  return options_.label.empty() ? name : name + " " + options_.label;
}

void Session::StartTable(const std::string& title) {
  if (report_) report_->StartTable(title);
}

void Session::Measure(const Case& the_case) {
  if (the_case.subjects.empty()) return;
  Add(the_case, Results(the_case));
}

void Session::Add(const Case& the_case, const std::vector<Result>& results) {
  if (report_) AbortUnlessOk(report_->Add(the_case, results));
}

std::vector<Result> Session::Results(const Case& the_case) {
  std::vector<Result> results;
  AbortUnlessOk(runner_.Measure(the_case, &results));
  return results;
}

}  // namespace brigade::bench

// Session: everything the cases of one launch share.

#ifndef BRIGADE_BENCH_CASES_SESSION_H_
#define BRIGADE_BENCH_CASES_SESSION_H_

#include <mpi.h>

#include <memory>
#include <vector>

#include "bench/contenders/blacs_grid.h"
#include "bench/runner/case.h"
#include "bench/runner/options.h"
#include "bench/runner/report.h"
#include "bench/runner/runner.h"
#include "membuf/status.h"

namespace brigade::bench {

// Returns if `status` is ok. Otherwise prints it and ends the whole job: other ranks may be waiting
// for this one.
void AbortUnlessOk(const Status& status);

class Session {
 public:
  // Collective over `comm`; `options` equal on all ranks, and outliving the session.
  static Status Create(MPI_Comm comm, const Options& options, std::unique_ptr<Session>* session);

  const Options& options() const { return options_; }
  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  // Null where left out.
  BlacsGrid* shim() const { return shim_.get(); }
  BlacsGrid* stock() const { return stock_.get(); }
  // "mpi" or "stock", with the label of this launch.
  std::string PeerName(const std::string& name) const;

  // Collective. Starts a table in the report.
  void StartTable(const std::string& title);
  // Collective. Measures and reports; nothing if the case has no subject. Data that come out wrong,
  // or a subject that fails, end the job.
  void Measure(const Case& the_case);
  // The two halves of Measure: the time of each subject, and the lines of the report.
  std::vector<Result> Results(const Case& the_case);
  void Add(const Case& the_case, const std::vector<Result>& results);

 private:
  Session(MPI_Comm comm, const Options& options);

  const Options& options_;
  const MPI_Comm comm_;
  int rank_;
  int ranks_;
  std::unique_ptr<BlacsGrid> shim_;
  std::unique_ptr<BlacsGrid> stock_;
  Runner runner_;
  std::unique_ptr<Report> report_;  // on rank 0
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_SESSION_H_

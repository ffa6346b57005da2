// Common parts of the suites of the LI paper: a program under mpirun over one backend of LI, which
// BRIGADE_LI_BACKEND selects, beside MPI's sends and receives. The subjects are LIPUT and LIGET.

#ifndef BRIGADE_BENCH_STUDIES_LI_SUITE_H_
#define BRIGADE_BENCH_STUDIES_LI_SUITE_H_

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/runner/case.h"
#include "bench/runner/measuring_options.h"
#include "bench/runner/report.h"
#include "bench/runner/runner.h"

namespace CLI {
class App;
}

namespace brigade::bench {

class LiSuite {
 public:
  // Runs a program from main() on: takes the command line, of which `app` has the suite's own
  // options, and calls `run` between LIBEGIN and LIEND. Returns the exit code.
  static int Main(int argc, char** argv, CLI::App* app, const std::function<void(LiSuite*)>& run);

  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

  // Adds who runs `run` to a case, if variant "put", "get" or "send" is wanted; "send" is MPI's
  // messages, "alone" what one process does without any.
  void Add(const std::string& variant, const std::string& pattern, const std::function<void()>& run,
           const std::function<std::string()>& check, Case* the_case) const;
  // Collective. Measures and reports; nothing if the case has no subject. Wrong data end the job.
  void Measure(const Case& the_case);

 private:
  LiSuite(const MeasuringOptions& options, const std::vector<std::string>& variants);

  const MeasuringOptions options_;
  const std::vector<std::string> variants_;
  int rank_;
  int ranks_;
  Runner runner_;
  std::unique_ptr<Report> report_;  // on rank 0
};

// Ends a superstep in which something was put or got.
void EndSuperstep();

// Exchanges blocks with MPI's messages, as the paper does: MPI_Irecv from everybody, then MPI_Send
// to everybody, beginning with the next rank.
class Messages {
 public:
  void Receive(void* data, size_t bytes, int from, int tag);
  void Send(const void* data, size_t bytes, int to, int tag);
  void Wait();

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_LI_SUITE_H_

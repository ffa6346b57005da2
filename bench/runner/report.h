// Report: results as tables on the terminal and as JSON lines in a file.

#ifndef BRIGADE_BENCH_RUNNER_REPORT_H_
#define BRIGADE_BENCH_RUNNER_REPORT_H_

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "bench/runner/case.h"
#include "bench/runner/machine.h"
#include "bench/runner/measuring_options.h"
#include "bench/runner/runner.h"
#include "membuf/status.h"

namespace brigade::bench {

class Report {
 public:
  // Made on one rank. `stock_path`: the file the reference BLACS came from, empty without.
  Report(const MeasuringOptions& options, const Machine& machine, int ranks,
         std::string stock_path);

  // Opens the JSON file if there is an option for it. kUnavailable, with the file.
  Status Open();
  // Prints machine, versions and, if necessary, the reason why figures are doubtful.
  void PrintMachine() const;
  // Prints the head of a table.
  void StartTable(const std::string& title) const;
  // Prints and records one case. kUnavailable naming the file.
  Status Add(const Case& the_case, const std::vector<Result>& results);

 private:
  Status CannotWrite() const;

  const MeasuringOptions& options_;
  const Machine machine_;
  const int ranks_;
  const std::string stock_path_;
  std::ofstream json_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_REPORT_H_

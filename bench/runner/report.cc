#include "bench/runner/report.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <utility>

#include "nlohmann/json.hpp"

namespace brigade::bench {
namespace {

using Json = nlohmann::ordered_json;

// Only Brigade's own subjects ride on the transport that is measured.
bool IsOurs(const std::string& subject) {
  return subject == "brigade" || subject == "direct" || subject == "shim";
}

double MegabytesPerSecond(const Case& the_case, const Result& result) {
  return static_cast<double>(the_case.bytes) / result.microseconds.median;
}

}  // namespace

Report::Report(const MeasuringOptions& options, const Machine& machine, int ranks,
               std::string stock_path)
    : options_(options), machine_(machine), ranks_(ranks), stock_path_(std::move(stock_path)) {}

Status Report::Open() {
  if (options_.json.empty()) return Status();
  json_.open(options_.json, std::ios::app);
  return json_ ? Status() : CannotWrite();
}

Status Report::CannotWrite() const {
  return {StatusCode::kUnavailable, "cannot write " + options_.json + ": " + std::strerror(errno)};
}

void Report::PrintMachine() const {
  std::printf("# %s, %d processors, %s\n", machine_.cpu.c_str(), machine_.cores,
              machine_.kernel.c_str());
  std::printf("# %s; reference BLACS: %s; Brigade %s over %s\n", machine_.mpi.c_str(),
              stock_path_.empty() ? "not measured" : stock_path_.c_str(),
              options_.brigade_version.c_str(), options_.transport.c_str());
  std::printf("# %d ranks, %s; single-copy mechanism of MPI: %s\n", ranks_,
              machine_.pinned ? "each pinned" : "not pinned", machine_.single_copy.c_str());
  if (machine_.together_over_alone > 0) {
    std::printf("# computing on two processors at once takes %.2f times as long as on one\n",
                machine_.together_over_alone);
  }
  if (machine_.together_over_alone >= kSharedCoreRatio) {
    std::printf(
        "# WARNING: two virtual processors run on one core, or the machine is busy. Figures of\n"
        "# several ranks are worse than they could be.\n");
  }
  std::fflush(stdout);
}

void Report::StartTable(const std::string& title) const {
  std::printf("\n# %s\n", title.c_str());
  std::printf("# %10s  %-8s %-24s %12s %12s %12s %10s %11s\n", "Bytes", "Subject", "Pattern",
              "Median(us)", "Low(us)", "High(us)", "MB/s", "Iterations");
  std::fflush(stdout);
}

Status Report::Add(const Case& the_case, const std::vector<Result>& results) {
  for (size_t s = 0; s < results.size(); ++s) {
    const Subject& subject = the_case.subjects[s];
    const Result& result = results[s];
    const MedianInterval& time = result.microseconds;
    std::printf("  %10zu  %-8s %-24s %12.2f %12.2f %12.2f %10.1f %11d", the_case.bytes,
                subject.name.c_str(), subject.pattern.c_str(), time.median, time.lo, time.hi,
                MegabytesPerSecond(the_case, result), result.iterations);
    const bool predicted = !std::isnan(subject.predicted_us);
    if (predicted) std::printf("  predicted %.2f", subject.predicted_us);
    std::printf("\n");

    if (!json_.is_open()) continue;
    Json line;
    line["case"] = the_case.name;
    line["pattern"] = subject.pattern;
    line["transport"] = IsOurs(subject.name) ? options_.transport : "mpi";
    line["ranks"] = ranks_;
    line["rows"] = the_case.rows;
    line["cols"] = the_case.cols;
    line["ld"] = the_case.ld;
    line["bytes"] = the_case.bytes;
    // Unknown costs are null.
    const bool knows_cost = !std::isnan(result.cost.copies_per_byte);
    line["chunk_bytes"] = knows_cost ? Json(result.cost.chunk_bytes) : Json();
    line["subject"] = subject.name;
    line["median_us"] = time.median;
    line["lo_us"] = time.lo;
    line["hi_us"] = time.hi;
    line["least_us"] = time.least;
    if (predicted) line["predicted_us"] = subject.predicted_us;
    if (subject.chosen) line["chosen"] = true;
    line["MBps"] = MegabytesPerSecond(the_case, result);
    line["copies_per_byte"] = knows_cost ? Json(result.cost.copies_per_byte) : Json();
    line["staging_peak_bytes"] = knows_cost ? Json(result.cost.staging_peak_bytes) : Json();
    line["overflow_segments"] = knows_cost ? Json(result.cost.overflow_segments) : Json();
    line["segments"] = knows_cost ? Json(result.cost.segments) : Json();
    if (!result.cost.protocol.empty()) line["protocol"] = result.cost.protocol;
    line["cpu_us"] = result.cpu_microseconds;
    line["iterations"] = result.iterations;
    line["label"] = options_.label;
    line["verified"] = true;  // nothing is timed that was not
    line["versions"] = {{"brigade", options_.brigade_version},
                        {"mpi", machine_.mpi},
                        {"stock", std::filesystem::path(stock_path_).filename().string()}};
    line["machine"] = {{"cpu", machine_.cpu},
                       {"cores", machine_.cores},
                       {"kernel", machine_.kernel},
                       {"pinned", machine_.pinned},
                       {"single_copy", machine_.single_copy},
                       {"together_over_alone", machine_.together_over_alone}};
    json_ << line << std::endl;  // flushed: a run that is interrupted keeps what it has
    if (!json_) return CannotWrite();
  }
  std::fflush(stdout);
  return Status();
}

}  // namespace brigade::bench

#include "bench/studies/li_suite.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "CLI/CLI.hpp"
#include "bench/runner/machine.h"
#include "brigade/li.h"
#include "membuf/status.h"
#include "patterns/engine/out_of_memory.h"

namespace brigade::bench {
namespace {

constexpr int kExitRefused = 2;

void EndUnlessOk(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "LI suite: rank %d: %s\n", LIPID(), status.ToString().c_str());
  std::fflush(stderr);
  LIABORT();
}

std::string Variable(const char* name, const char* otherwise) {
  const char* const value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

// As the report names it: what runs over Brigade's windows is Brigade.
std::string Backend() {
  const std::string name = Variable("BRIGADE_LI_BACKEND", "windows");
  return name == "windows" ? "brigade" : name;
}

std::string WithLabel(const std::string& name, const std::string& label) {
  return label.empty() ? name : name + " " + label;
}

}  // namespace

LiSuite::LiSuite(const MeasuringOptions& options, const std::vector<std::string>& variants)
    : options_(options),
      variants_(variants),
      rank_(LIPID()),
      ranks_(LINPROCS()),
      runner_(MPI_COMM_WORLD, options) {
  if (options.asleep && !OnOneMachine(MPI_COMM_WORLD)) {
    EndUnlessOk({StatusCode::kInvalidArgument,
                 "--asleep is for ranks on one machine: these have no clock in common"});
  }
  if (options.pin) RunOnProcessor(rank_);
  const Machine machine = DescribeMachine(MPI_COMM_WORLD);
  if (rank_ != 0) return;
  report_ = std::make_unique<Report>(options_, machine, ranks_, "");
  EndUnlessOk(report_->Open());
  report_->PrintMachine();
  report_->StartTable("LI over " + Backend());
}

int LiSuite::Main(int argc, char** argv, CLI::App* app, const std::function<void(LiSuite*)>& run) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);

  MeasuringOptions options;
  options.transport = Variable("BRIGADE_TRANSPORT", "auto");
  std::vector<std::string> variants = {"put", "get", "send"};
  app->option_defaults()->always_capture_default();
  app->add_option("--variants", variants,
                  "How data are sent: with LIPUT, LIGET, or messages of MPI")
      ->delimiter(',')
      ->check(CLI::IsMember(variants));
  AddMeasuringOptions(app, &options);
  try {
    app->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    const bool help = app->exit(error, text, text) == 0;
    if (rank == 0) std::fputs(text.str().c_str(), help ? stdout : stderr);
    MPI_Finalize();
    return help ? 0 : kExitRefused;
  }

  LIBEGIN(LINPROCS());
  EndUnlessOk(CatchOutOfMemory([&] {
    LiSuite suite(options, variants);
    run(&suite);
    return Status();
  }));
  LIEND();
  MPI_Finalize();
  return 0;
}

void LiSuite::Add(const std::string& variant, const std::string& pattern,
                  const std::function<void()>& run, const std::function<std::string()>& check,
                  Case* the_case) const {
  const bool is_wanted = variant == "alone" ||
                         std::find(variants_.begin(), variants_.end(), variant) != variants_.end();
  if (!is_wanted) return;
  Subject subject;
  if (variant == "alone") {
    subject.name = "alone";
  } else if (variant == "send") {
    subject.name = WithLabel("mpi", options_.label);
  } else {
    const std::string backend = Backend();
    subject.name = backend == "brigade" ? backend : WithLabel(backend, options_.label);
  }
  subject.pattern = pattern;
  subject.run = [run](int) {
    run();
    return Status();
  };
  subject.check = [check](int) { return check(); };
  the_case->subjects.push_back(std::move(subject));
}

void LiSuite::Measure(const Case& the_case) {
  if (the_case.subjects.empty()) return;
  std::vector<Result> results;
  EndUnlessOk(runner_.Measure(the_case, &results));
  if (report_) EndUnlessOk(report_->Add(the_case, results));
}

void EndSuperstep() {
  LISYNC();
  LIBARRIER();
}

void Messages::Receive(void* data, size_t bytes, int from, int tag) {
  MPI_Irecv(data, static_cast<int>(bytes), MPI_BYTE, from, tag, MPI_COMM_WORLD,
            &requests_.emplace_back());
}

void Messages::Send(const void* data, size_t bytes, int to, int tag) {
  MPI_Send(data, static_cast<int>(bytes), MPI_BYTE, to, tag, MPI_COMM_WORLD);
}

void Messages::Wait() {
  MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
  requests_.clear();
}

}  // namespace brigade::bench

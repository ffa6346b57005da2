// overlap_study: the part of a get that its origin can overlap with computation. Get, delay, wait:
// the delay grows, and only the origin is timed. The activity of the target is the other parameter:
// while it sleeps, a processor is free for its progress thread.
//
// Source: SRUMMA, section 2 and figure 2b.

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/contenders/brigade_window.h"
#include "bench/contenders/one_sided.h"
#include "bench/runner/barrier.h"
#include "bench/runner/case.h"
#include "bench/runner/compute.h"
#include "bench/runner/compute_rate.h"
#include "bench/runner/statistics.h"
#include "bench/runner/turns.h"
#include "bench/studies/putget/study.h"

namespace brigade::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kOrigin = 0;
constexpr int kTarget = 1;
// In per cent of what a get takes without one.
constexpr int kDelays[] = {0, 25, 50, 75, 90, 100, 125, 150};
constexpr int kTrials = 5;

double MicrosecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Gets as they go, and Brigade's by messages through staging memory even within a host: the
// target's progress thread takes part in those.
constexpr char kGet[] = "get";
constexpr char kStaged[] = "staged";

// Whether the target has a processor to itself, or leaves it to its progress thread.
enum class Target { kSleeps, kComputes };

struct NamedWindow {
  std::string name;
  std::unique_ptr<OneSided> window;
};

// Gets of one window, of so many doubles.
class Gets {
 public:
  Gets(Study* study, const NamedWindow& window, int64_t doubles, Target target, double steps_per_us)
      : study_(study),
        window_(window.window.get()),
        name_(window.name),
        target_(target),
        steps_per_us_(steps_per_us),
        barrier_(study->session()->comm()),
        here_(static_cast<size_t>(doubles)) {
    std::vector<double> trials;
    for (int i = 0; i < kTrials; ++i) {
      trials.push_back(Run(0));
      // So that a target that computes does so from the second trial on.
      once_us_ = MedianOf(trials).median;
      MPI_Bcast(&once_us_, 1, MPI_DOUBLE, kOrigin, study->session()->comm());
    }
  }

  const std::string& name() const { return name_; }
  double once_us() const { return once_us_; }

  // Returns the time of the origin; meaningless on other ranks. Collective.
  double Run(int delay_per_cent) {
    const double delay_us = once_us_ * delay_per_cent / 100;
    std::fill(here_.begin(), here_.end(), -1.0);
    barrier_.Wait();
    double us = 0;
    if (study_->rank() == kOrigin) {
      const auto steps = static_cast<uint64_t>(delay_us * steps_per_us_);
      std::unique_ptr<Pending> pending;
      const Clock::time_point start = Clock::now();
      AbortUnlessOk(window_->StartGet(here_.data(), static_cast<int64_t>(here_.size()), kTarget, 0,
                                      &pending));
      Compute(steps);
      AbortUnlessOk(pending->Wait());
      us = MicrosecondsSince(start);
      Check();
    } else if (study_->rank() == kTarget && target_ == Target::kComputes) {
      // Until after the get.
      Compute(static_cast<uint64_t>(2 * (once_us_ + delay_us) * steps_per_us_));
    }
    barrier_.WaitAsleep();
    return us;
  }

 private:
  void Check() const {
    for (size_t i = 0; i < here_.size(); ++i) {
      if (here_[i] == static_cast<double>(i + 1)) continue;
      AbortUnlessOk(Status(StatusCode::kInternal, "a get delivers wrong data"));
    }
  }

  Study* const study_;
  OneSided* const window_;
  const std::string name_;
  const Target target_;
  const double steps_per_us_;
  DisseminationBarrier barrier_;
  std::vector<double> here_;
  double once_us_ = 0;
};

// Collective.
std::vector<NamedWindow> WindowsOf(const Study& study, int64_t doubles) {
  std::vector<NamedWindow> windows;
  if (study.options().Wants(kGet)) {
    for (auto& window : study.Windows(doubles)) {
      windows.push_back({window->name(), std::move(window)});
    }
  }
  if (study.options().Wants(kStaged)) {
    windows.push_back({"brigade, by messages", nullptr});
    std::unique_ptr<OneSided>* const window = &windows.back().window;
    AbortUnlessOk(MakeBrigadeWindow(study.group(), study.space(), doubles, /*is_shared=*/true,
                                    window, /*goes_directly=*/false));
    AbortUnlessOk((*window)->LockAll());
    if (!study.group()->endpoint()->AllowsProgressThread()) {
      AbortUnlessOk(Status(
          StatusCode::kUnavailable,
          "no progress thread serves a target that is elsewhere: take --transport shm or tcp"));
    }
  }
  for (const auto& [name, window] : windows) {
    for (int64_t i = 0; i < doubles; ++i) window->memory()[i] = static_cast<double>(i + 1);
    AbortUnlessOk(window->Barrier());
  }
  return windows;
}

void Measure(Study* study, const std::vector<NamedWindow>& windows, int64_t doubles, Target target,
             double steps_per_us) {
  struct Delayed {
    Gets* gets;
    int delay;
  };
  std::vector<std::unique_ptr<Gets>> contenders;
  std::vector<Delayed> all;
  for (const auto& window : windows) {
    contenders.push_back(std::make_unique<Gets>(study, window, doubles, target, steps_per_us));
    for (const int delay : kDelays) all.push_back({contenders.back().get(), delay});
  }
  double round_us = 0;
  for (const auto& gets : contenders) {
    for (const int delay : kDelays) round_us += gets->once_us() * (1 + delay / 100.0);
  }
  const std::vector<Result> results =
      TakeTurns(study->options(), std::max(round_us, 1.0), all.size(),
                [&](size_t i) { return all[i].gets->Run(all[i].delay); });

  Case lines;
  lines.name = std::string("get, delay, wait; the target ") +
               (target == Target::kSleeps ? "sleeps" : "computes");
  lines.rows = lines.ld = doubles;
  lines.cols = 1;
  lines.bytes = static_cast<size_t>(doubles) * sizeof(double);
  for (const Delayed& one : all) {
    Subject subject;
    subject.name = one.gets->name();
    subject.pattern = "delay " + std::to_string(one.delay) + " %";
    lines.subjects.push_back(std::move(subject));
  }
  study->session()->Add(lines, results);
}

void MeasureAll(Study* study, const std::vector<int64_t>& sizes) {
  if (study->ranks() < 2) {
    AbortUnlessOk(Status(StatusCode::kInvalidArgument, "overlap needs two ranks"));
  }
  const double steps_per_us = StepsPerMicrosecond(study->session()->comm());
  for (const Target target : {Target::kSleeps, Target::kComputes}) {
    study->session()->StartTable(std::string("get, delay, wait; the target ") +
                                 (target == Target::kSleeps ? "sleeps" : "computes"));
    for (const int64_t bytes : sizes) {
      const int64_t doubles = std::max<int64_t>(1, bytes / static_cast<int64_t>(sizeof(double)));
      const std::vector<NamedWindow> windows = WindowsOf(*study, doubles);
      Measure(study, windows, doubles, target, steps_per_us);
      for (const auto& [name, window] : windows) {
        AbortUnlessOk(window->UnlockAll());
        AbortUnlessOk(window->Free());
      }
    }
  }
}

int Main(int argc, char** argv) {
  std::vector<int64_t> sizes = {8 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
  CLI::App app(
      "Get, delay, wait: how much of a get of rank 0 from rank 1 rank 0 can compute through. "
      "Start it under mpirun.");
  app.option_defaults()->always_capture_default();
  app.add_option("--bytes", sizes, "Of a get")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(/*kb_is_1000=*/false))
      ->check(CLI::Range(int64_t{8}, int64_t{1} << 30));
  return StudyMain(argc, argv, &app, {kGet}, [&](Study* study) { MeasureAll(study, sizes); },
                   {kStaged});
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }

#include "bench/studies/busy_target.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/runner/barrier.h"
#include "bench/runner/compute.h"
#include "bench/runner/compute_rate.h"
#include "bench/runner/turns.h"

namespace brigade::bench {
namespace {

using Clock = std::chrono::steady_clock;

// How long the target computes, and how long before the origin begins.
constexpr double kBusyUs = 20000;
constexpr double kAheadUs = 200;

// Puts to one window.
struct Contender {
  OneSided* window;
  bool computes;
};

class BusyTarget {
 public:
  BusyTarget(Session* session, int64_t doubles)
      : session_(session),
        steps_per_us_(StepsPerMicrosecond(session->comm())),
        barrier_(session->comm()),
        here_(static_cast<size_t>(doubles)) {
    Fill(ViewOf(here_.data(), doubles), 0);
  }

  // Returns the time of the origin; meaningless on other ranks. Collective.
  double Run(const Contender& contender) {
    OneSided* const window = contender.window;
    const auto doubles = static_cast<int64_t>(here_.size());
    std::fill(window->memory(), window->memory() + doubles, 0.0);
    barrier_.Wait();
    double us = 0;
    if (session_->rank() == 0) {
      ComputeFor(kAheadUs);
      const Clock::time_point start = Clock::now();
      AbortUnlessOk(window->Lock(1));
      AbortUnlessOk(window->Put(here_.data(), doubles, 1, 0));
      AbortUnlessOk(window->Unlock(1));
      us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
    } else if (session_->rank() == 1 && contender.computes) {
      ComputeFor(kBusyUs);
    }
    barrier_.WaitAsleep();
    if (session_->rank() == 1) {
      const std::string wrong = CheckSum(ViewOf(window->memory(), doubles), 0, 1);
      if (!wrong.empty()) AbortUnlessOk(Status(StatusCode::kInternal, "a put: " + wrong));
    }
    return us;
  }

 private:
  void ComputeFor(double us) const { Compute(static_cast<uint64_t>(us * steps_per_us_)); }

  Session* const session_;
  const double steps_per_us_;
  DisseminationBarrier barrier_;
  std::vector<double> here_;
};

}  // namespace

void MeasureBusyTarget(const WindowContenders& all, int64_t doubles) {
  const std::vector<std::shared_ptr<OneSided>> windows = all.Windows(doubles, /*is_shared=*/true);
  std::vector<Contender> contenders;
  for (const auto& window : windows) {
    for (const bool computes : {false, true}) contenders.push_back({window.get(), computes});
  }
  BusyTarget target(all.session, doubles);
  const double round_us = kBusyUs * static_cast<double>(contenders.size());
  const std::vector<Result> results =
      TakeTurns(all.session->options(), round_us, contenders.size(),
                [&](size_t i) { return target.Run(contenders[i]); });

  Case lines;
  lines.name = "one-sided lock, put, unlock";
  lines.rows = lines.ld = doubles;
  lines.cols = 1;
  lines.bytes = static_cast<size_t>(doubles) * sizeof(double);
  for (const Contender& contender : contenders) {
    Subject subject;
    subject.name = contender.window->name();
    subject.pattern = contender.computes ? "lock, put, unlock; the target computes"
                                         : "lock, put, unlock; the target sleeps";
    lines.subjects.push_back(std::move(subject));
  }
  all.session->Add(lines, results);
  for (const auto& window : windows) AbortUnlessOk(window->Free());
}

}  // namespace brigade::bench

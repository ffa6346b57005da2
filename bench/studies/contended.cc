#include "bench/studies/contended.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/studies/window_contenders.h"

namespace brigade::bench {
namespace {

// Adds of each rank in a run. With few, ranks that share processors would not contend; and the
// barrier at the end is part of the time.
constexpr int kAdds = 500;

}  // namespace

void RunContended(Session* session) {
  const WindowContenders all(session);
  const std::vector<std::shared_ptr<OneSided>> windows = all.Windows(1, /*is_shared=*/true);
  const int rank = session->rank();
  const int ranks = session->ranks();
  std::vector<double> before(kAdds);
  Case one;
  one.name = "one-sided fetch and add of all";
  one.rows = one.cols = one.ld = 1;
  one.bytes = sizeof(double);
  one.roots = 1;
  one.hops = kAdds;
  one.prepare = [&](int) {
    std::fill(before.begin(), before.end(), -1.0);
    for (const auto& window : windows) window->memory()[0] = 0;
  };
  for (const auto& window : windows) {
    OneSided* const w = window.get();
    AbortUnlessOk(w->LockAll());
    Subject subject;
    subject.name = w->name();
    subject.pattern = "fetch and add of all " + std::to_string(ranks) + " ranks";
    subject.run = [&before, w](int) {
      for (double& value : before) BRIGADE_RETURN_IF_ERROR(w->FetchAndAdd(1.0, &value, 0, 0));
      return w->Barrier();  // in it rank 0 serves the others, which calls of others need not do
    };
    subject.check = [&before, w, rank, ranks](int) -> std::string {
      if (before.front() < 0) return "nothing was fetched";
      if (std::adjacent_find(before.begin(), before.end(), std::greater_equal<>()) !=
          before.end()) {
        return "values did not rise";
      }
      const double sum = rank == 0 ? w->memory()[0] : 0;
      return rank != 0 || sum == double{kAdds} * ranks ? "" : "the sum is " + std::to_string(sum);
    };
    one.subjects.push_back(std::move(subject));
  }
  session->StartTable("all ranks fetch and add to a double of rank 0: each");
  session->Measure(one);
  all.EndEpochs(windows);
  for (const auto& window : windows) AbortUnlessOk(window->Free());
}

}  // namespace brigade::bench

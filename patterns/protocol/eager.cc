#include <optional>

#include "patterns/eager/eager_executor.h"
#include "patterns/eager/edge_port.h"
#include "patterns/eager/post_port.h"
#include "patterns/protocol/protocols.h"

namespace brigade {
namespace {

bool IsFewStreams(const Plan& plan) {
  return plan.schedule->streams.size() <= EagerExecutor<PostPort>::kMostStreams &&
         plan.schedule->shares.count == 0 && plan.schedule->runs.empty();
}

constexpr char kCopies[] = "sender 1, receiver 1 or a combine";

template <typename Port>
Outcome Run(CallRun* run) {
  std::optional<PatternCall> copy;
  EagerExecutor<Port> path(run->engine, run->group, *run->plan.entry,
                           run->plan.Resolved(run->call, &copy));
  path.EndBy(run->limit);
  if (!path.Fits(*run->plan.schedule)) return Outcome::kNotNow;
  run->status = path.Run(*run->plan.schedule, (*run->sequence)++);
  if (run->did != nullptr) *run->did = path.statistics();
  return Outcome::kDone;
}

Outcome RunShared(CallRun* run) {
  // Memory that receivers have given back is still in the cache.
  if (run->engine->sends()->in_flight() > 0) run->engine->Move();
  const bool may_run = !run->has_polled && run->group->failure.ok();
  return may_run ? Run<EdgePort>(run) : Outcome::kNotNow;
}

}  // namespace

const Protocol kEagerShared = {"eager segments through shared memory",
                               "each message is one segment; or a few, on two ranks or without "
                               "combines, if no rank posts a buffer",
                               kCopies,
                               /*over_edges=*/true,
                               IsFewStreams,
                               RunShared};
const Protocol kEager = {
    "eager segments", "each message is one segment", kCopies,
    /*over_edges=*/false,
    // Receives are posted ahead, before the lengths of their blocks are looked at.
    [](const Plan& plan) { return !plan.entry->multi && IsFewStreams(plan); }, Run<PostPort>};

}  // namespace brigade

#include <memory>
#include <optional>
#include <utility>

#include "patterns/engine/executor.h"
#include "patterns/protocol/protocols.h"

namespace brigade {
namespace {

Outcome Run(CallRun* run) {
  Engine* const engine = run->engine;
  std::unique_ptr<Executor> executor = Executor::New(engine);
  std::optional<PatternCall> copy;
  run->status =
      executor->Prepare(run->group, *run->plan.entry, run->plan.schedule,
                        run->plan.Resolved(run->call, &copy), *run->sequence, /*blocking=*/true);
  if (run->status.ok()) {
    ++*run->sequence;
    executor->EndBy(run->limit);
    engine->Activate(executor.get());
    engine->RunToEnd(executor.get());
    engine->Deactivate(executor.get());
    executor->Detach();
    run->status = executor->outcome();
    if (run->did != nullptr) *run->did = *executor->statistics();
  }
  Executor::Keep(std::move(executor));
  return Outcome::kDone;
}

}  // namespace

const Protocol kPipelined = {
    "pipelined",
    "no other does",
    "sender 1, receiver 1 or a combine; a block in a posted buffer: receiver 0",
    /*over_edges=*/false,
    [](const Plan&) { return true; },
    Run};

}  // namespace brigade

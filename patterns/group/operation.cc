#include "patterns/group/operation.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "patterns/engine/executor.h"
#include "patterns/engine/out_of_memory.h"

namespace brigade {

Operation::Operation(Engine* engine, std::unique_ptr<Executor> executor)
    : engine_(engine), executor_(std::move(executor)) {}

Operation::~Operation() {
  // The outcome is the group's failure too.
  (void)CatchOutOfMemory([this] { return Wait(); });
}

bool Operation::Test() {
  if (executor_ == nullptr) return true;
  const Engine::ProgressGuard guard(engine_);
  engine_->MoveOnce();
  if (!is_over()) return false;
  Finish();
  return true;
}

bool Operation::is_over() const {
  return executor_ == nullptr || executor_->done() || engine_->IsForked();
}

void Operation::Advance(const std::vector<Operation*>& operations, bool waits) {
  Engine* const engine = operations.front()->engine_;
  const Engine::ProgressGuard guard(engine);
  waits ? engine->Move() : engine->MoveOnce();
  Executor* const first = operations.front()->executor_.get();
  if (waits && operations.size() == 1) {
    engine->RunToEnd(first);
  } else if (waits) {
    engine->WaitUntil(
        [&] {
          return std::any_of(operations.begin(), operations.end(),
                             [](const Operation* o) { return o->is_over(); });
        },
        [&] { return "one of several operations: " + first->Describe(); }, [] { return -1; },
        [&] { engine->CheckMatches(); });
  }
  for (Operation* const operation : operations) {
    if (operation->is_over()) operation->Finish();
  }
}

Status Operation::Wait(OperationStatistics* statistics) {
  if (executor_ != nullptr) {
    const Engine::ProgressGuard guard(engine_);
    engine_->CountWaits(statistics != nullptr);
    engine_->RunToEnd(executor_.get());
    Finish();
    statistics_.wait_ns = static_cast<uint64_t>(engine_->waited().count());
  }
  if (statistics != nullptr) *statistics = statistics_;
  return outcome_;
}

void Operation::Finish() {
  if (engine_->IsForked()) {
    (void)executor_.release();  // it is the parent's
    outcome_ = Engine::ForkedFailure();
    return;
  }
  engine_->Deactivate(executor_.get());
  executor_->Detach();
  outcome_ = executor_->outcome();
  statistics_ = *executor_->statistics();
  Executor::Keep(std::move(executor_));
}

}  // namespace brigade

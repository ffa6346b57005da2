#include "windows/core/window_wait.h"

#include "patterns/group/operation.h"
#include "patterns/rules.h"

namespace brigade {

bool WindowWait::IsLost() {
  watch_->Begin(engine_->endpoint(), *group_);
  const Status& loss = watch_->loss();
  if (loss.ok()) return false;
  engine_->BreakGroup(group_, loss);
  return true;
}

Status WindowWait::UntilLocked(ProcessLock* lock) {
  return Until(/*by_message=*/false, "another rank to release a lock",
               [&] { return lock->TryLock(group_->rank); });
}

bool WindowWait::MeetsInOneRound() const {
  return group_->scope(ChannelKind::kAll).shares_memory() &&
         static_cast<int>(group_->members()) <= rules::kMostRanksOnExchange && !group_->crowded;
}

Status WindowWait::Break(const Status& status) {
  const ProgressGuard guard(this);
  // A member whose window is broken may have given its memory back: its reason has come before.
  engine_->Move();
  BRIGADE_RETURN_IF_ERROR(group_->failure);
  engine_->BreakGroup(group_, status);
  return group_->failure;
}

Status WindowWait::Run(Group* group, const PatternCall& call, const std::function<Status()>& look) {
  if (others_ == nullptr && !look) return group->Run(call);
  std::unique_ptr<Operation> operation;
  const Status started = group->Start(call, &operation);
  // Sends may hold all staging memory but the core until their receivers take them, possibly after
  // this call. A blocking call has the core, lets no thread in and does not look.
  if (started.code() == StatusCode::kNoResource) return group->Run(call);
  BRIGADE_RETURN_IF_ERROR(started);
  constexpr std::chrono::seconds kLookInterval(1);
  while (!operation->Test()) {
    {
      const ProgressGuard guard(this);
      const auto next = Engine::Clock::now() + kLookInterval;
      (void)Until(/*by_message=*/true, "other ranks to make the call",
                  [&] { return operation->is_over() || (look && Engine::Clock::now() >= next); });
    }
    if (!look || operation->Test()) break;
    const Status seen = look();
    if (!seen.ok()) (void)Break(seen);  // which ends the operation
  }
  return operation->Wait();
}

}  // namespace brigade

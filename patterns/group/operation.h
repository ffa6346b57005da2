// Operation: a call that was started and is under way.

#ifndef BRIGADE_PATTERNS_GROUP_OPERATION_H_
#define BRIGADE_PATTERNS_GROUP_OPERATION_H_

#include <memory>
#include <vector>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

class Executor;

// A started operation. Destroying one that is not done waits for it, except in a forked child.
class Operation {
 public:
  // `executor` is activated before the first call of this object.
  Operation(Engine* engine, std::unique_ptr<Executor> executor);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Progresses; true once done, well or not.
  bool Test();
  // Whether Test, Advance or Wait has found it done.
  bool is_complete() const { return executor_ == nullptr; }
  // Whether it is done. REQUIRES: the caller is the progress owner.
  bool is_over() const;
  // Progresses once; if `waits`, until one of the operations is done. is_complete() then holds for
  // all that are done. REQUIRES: at least one operation; all of one engine, none complete.
  static void Advance(const std::vector<Operation*>& operations, bool waits);
  // Waits until done. The outcome, as Group::Run returns it.
  Status Wait(OperationStatistics* statistics = nullptr);

 private:
  void Finish();

  Engine* const engine_;
  std::unique_ptr<Executor> executor_;  // null once done
  Status outcome_;
  OperationStatistics statistics_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_GROUP_OPERATION_H_

// Operation: a call that was started and is under way.

#ifndef BRIGADE_PATTERNS_GROUP_OPERATION_H_
#define BRIGADE_PATTERNS_GROUP_OPERATION_H_

#include <cstddef>
#include <memory>

#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/pattern_call.h"

namespace brigade {

class Executor;

// A started operation. Destroying one that is not done waits for it.
class Operation {
 public:
  // `executor` was activated.
  Operation(Engine* engine, std::unique_ptr<Executor> executor);
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  // Progresses; true once done, well or not.
  bool Test();
  // Whether it is done. REQUIRES: the caller is the driver.
  bool is_over() const;
  // Blocks until one of `count` operations of one engine is done. Null entries are skipped.
  // REQUIRES: one is not null.
  static void AwaitOne(Operation* const* operations, size_t count);
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

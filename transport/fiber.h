// Fiber: a function with a stack of its own, which runs until it suspends itself and goes on where
// it was when it is resumed. So a rank of a simulation can be in the middle of a blocking call
// while others run, all on one thread.

#ifndef BRIGADE_TRANSPORT_FIBER_H_
#define BRIGADE_TRANSPORT_FIBER_H_

#include <ucontext.h>

#include "membuf/byte_span.h"

namespace brigade {

class Fiber {
 public:
  // Will call entry(argument) on `stack`, which must outlive the fiber.
  Fiber(ByteSpan stack, void (*entry)(void*), void* argument);
  // Of a fiber that has not ended nothing is destroyed that is on its stack.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Runs it until it suspends itself or ends. Not from within a fiber. REQUIRES: not ended().
  void Resume();
  // Back to who resumed it. Only from within this fiber.
  void Suspend();
  bool ended() const { return ended_; }

 private:
  static void Main(unsigned high, unsigned low);
  // What sanitizers must be told before and after each switch.
  void BeforeEntering();
  void AfterEntering();
  void BeforeLeaving();
  void AfterLeaving();

  const ByteSpan stack_;
  void (*const entry_)(void*);
  void* const argument_;
  bool ended_ = false;
  ucontext_t inside_;
  ucontext_t outside_;
  // Of the sanitizer, if there is one.
  void* inside_state_ = nullptr;
  void* outside_state_ = nullptr;
  const void* outside_stack_ = nullptr;
  size_t outside_stack_bytes_ = 0;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_FIBER_H_

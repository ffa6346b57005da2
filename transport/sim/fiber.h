// Fiber: a flow of control with a stack of its own. A fiber switches to another one, and continues
// where it was when a fiber switches back. A rank of a simulation can therefore be inside a
// blocking call while others run, all on one thread.

#ifndef BRIGADE_TRANSPORT_SIM_FIBER_H_
#define BRIGADE_TRANSPORT_SIM_FIBER_H_

#include <ucontext.h>

#include "membuf/byte_span.h"

namespace brigade {

class Fiber {
 public:
  // The calling thread's own.
  Fiber();
  // Will call entry(argument), which must end with EndWith, on `stack`, which must outlive the
  // fiber.
  Fiber(ByteSpan stack, void (*entry)(void*), void* argument);
  // Of one that has not ended nothing is destroyed that is on its stack.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  // Both are called on this fiber: continue in `next`, until a fiber switches back, or for good.
  void SwitchTo(Fiber* next);
  [[noreturn]] void EndWith(Fiber* next);

 private:
  static void Main(unsigned high, unsigned low);
  // Calls of sanitizers before and after each switch.
  void BeforeLeaving(const Fiber& next, bool for_good);
  void AfterEntering();

  ByteSpan stack_;
  void (*const entry_)(void*) = nullptr;
  void* const argument_ = nullptr;
  ucontext_t context_;
  void* sanitizer_state_ = nullptr;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIM_FIBER_H_

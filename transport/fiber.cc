#include "transport/fiber.h"

#include <cstdint>

#include "membuf/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace brigade {

Fiber::Fiber(ByteSpan stack, void (*entry)(void*), void* argument)
    : stack_(stack), entry_(entry), argument_(argument) {
  BRIGADE_CHECK_EQ(getcontext(&inside_), 0);
  inside_.uc_stack.ss_sp = stack.data;
  inside_.uc_stack.ss_size = stack.bytes;
  inside_.uc_link = nullptr;
  // makecontext passes ints.
  const auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&inside_, reinterpret_cast<void (*)()>(&Fiber::Main), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
#if defined(__SANITIZE_THREAD__)
  inside_state_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
  __tsan_destroy_fiber(inside_state_);
#endif
}

void Fiber::Main(unsigned high, unsigned low) {
  Fiber* self = reinterpret_cast<Fiber*>(static_cast<uintptr_t>(high) << 32 | low);
  self->AfterEntering();
  self->entry_(self->argument_);
  self->ended_ = true;
  self->BeforeLeaving();
  setcontext(&self->outside_);
}

void Fiber::Resume() {
  BRIGADE_CHECK(!ended_);
  BeforeEntering();
  swapcontext(&outside_, &inside_);
  AfterLeaving();
}

void Fiber::Suspend() {
  BeforeLeaving();
  swapcontext(&inside_, &outside_);
  AfterEntering();
}

#if defined(__SANITIZE_ADDRESS__)

void Fiber::BeforeEntering() {
  __sanitizer_start_switch_fiber(&outside_state_, stack_.data, stack_.bytes);
}
void Fiber::AfterEntering() {
  __sanitizer_finish_switch_fiber(inside_state_, &outside_stack_, &outside_stack_bytes_);
}
void Fiber::BeforeLeaving() {
  __sanitizer_start_switch_fiber(ended_ ? nullptr : &inside_state_, outside_stack_,
                                 outside_stack_bytes_);
}
void Fiber::AfterLeaving() { __sanitizer_finish_switch_fiber(outside_state_, nullptr, nullptr); }

#elif defined(__SANITIZE_THREAD__)

void Fiber::BeforeEntering() {
  outside_state_ = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(inside_state_, 0);
}
void Fiber::AfterEntering() {}
void Fiber::BeforeLeaving() { __tsan_switch_to_fiber(outside_state_, 0); }
void Fiber::AfterLeaving() {}

#else

void Fiber::BeforeEntering() {}
void Fiber::AfterEntering() {}
void Fiber::BeforeLeaving() {}
void Fiber::AfterLeaving() {}

#endif

}  // namespace brigade

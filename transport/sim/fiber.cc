#include "transport/sim/fiber.h"

#include <cstdint>
#include <cstdlib>

#include "membuf/check.h"

#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#elif defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif

namespace brigade {

Fiber::Fiber() {
#if defined(__SANITIZE_ADDRESS__)
  pthread_attr_t attributes;
  void* data = nullptr;
  BRIGADE_CHECK_EQ(pthread_getattr_np(pthread_self(), &attributes), 0);
  BRIGADE_CHECK_EQ(pthread_attr_getstack(&attributes, &data, &stack_.bytes), 0);
  pthread_attr_destroy(&attributes);
  stack_.data = static_cast<std::byte*>(data);
#elif defined(__SANITIZE_THREAD__)
  sanitizer_state_ = __tsan_get_current_fiber();
#endif
}

Fiber::Fiber(ByteSpan stack, void (*entry)(void*), void* argument)
    : stack_(stack), entry_(entry), argument_(argument) {
  BRIGADE_CHECK_EQ(getcontext(&context_), 0);
  context_.uc_stack.ss_sp = stack.data;
  context_.uc_stack.ss_size = stack.bytes;
  context_.uc_link = nullptr;
  // makecontext passes ints only.
  const auto self = reinterpret_cast<uintptr_t>(this);
  makecontext(&context_, reinterpret_cast<void (*)()>(&Fiber::Main), 2,
              static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
#if defined(__SANITIZE_THREAD__)
  sanitizer_state_ = __tsan_create_fiber(0);
#endif
}

Fiber::~Fiber() {
#if defined(__SANITIZE_THREAD__)
  if (entry_ != nullptr) __tsan_destroy_fiber(sanitizer_state_);
#endif
}

void Fiber::Main(unsigned high, unsigned low) {
  Fiber* self = reinterpret_cast<Fiber*>(static_cast<uintptr_t>(high) << 32 | low);
  self->AfterEntering();
  self->entry_(self->argument_);
}

void Fiber::SwitchTo(Fiber* next) {
  BeforeLeaving(*next, /*for_good=*/false);
  swapcontext(&context_, &next->context_);
  AfterEntering();
}

void Fiber::EndWith(Fiber* next) {
  BeforeLeaving(*next, /*for_good=*/true);
  setcontext(&next->context_);
  std::abort();  // not reached
}

#if defined(__SANITIZE_ADDRESS__)

void Fiber::BeforeLeaving(const Fiber& next, bool for_good) {
  __sanitizer_start_switch_fiber(for_good ? nullptr : &sanitizer_state_, next.stack_.data,
                                 next.stack_.bytes);
}
void Fiber::AfterEntering() { __sanitizer_finish_switch_fiber(sanitizer_state_, nullptr, nullptr); }

#elif defined(__SANITIZE_THREAD__)

void Fiber::BeforeLeaving(const Fiber& next, bool) {
  __tsan_switch_to_fiber(next.sanitizer_state_, 0);
}
void Fiber::AfterEntering() {}

#else

void Fiber::BeforeLeaving(const Fiber&, bool) {}
void Fiber::AfterEntering() {}

#endif

}  // namespace brigade

#include "patterns/engine/fork_watch.h"

#include <pthread.h>

#include "membuf/check.h"

namespace brigade {

unsigned ForkWatch::forks_ = 0;

ForkWatch::ForkWatch() : forks_before_(forks_) {
  static const int handlers = pthread_atfork(nullptr, nullptr, [] { ++forks_; });
  BRIGADE_CHECK(handlers == 0);
}

}  // namespace brigade

#include "patterns/engine/fork_watch.h"

#include <pthread.h>

namespace brigade {

unsigned ForkWatch::forks_ = 0;
const int ForkWatch::fork_handlers_ = pthread_atfork(nullptr, nullptr, [] { ++forks_; });

}  // namespace brigade

#include "rma_shim/gate.h"

#include <chrono>
#include <thread>

namespace brigade {
namespace rma {

void Gate::Enter() {
  ++waiting_;
  mutex_.lock();
  --waiting_;
  ++entrances_;
  ++depth_;
}

void Gate::Leave() {
  --depth_;
  mutex_.unlock();
}

void Gate::LetIn() {
  constexpr std::chrono::microseconds kNap(50);
  // While a call is within another one, no other thread may enter.
  if (depth_ != 1) return std::this_thread::sleep_for(kNap);
  const uint64_t entrances = entrances_;
  Leave();
  if (waiting_ == 0) std::this_thread::sleep_for(kNap);
  // The mutex may go to the thread that has just released it.
  while (waiting_ > 0 && entrances_ == entrances) std::this_thread::yield();
  Enter();
}

}  // namespace rma
}  // namespace brigade

// Gate: only one thread of a process works on windows at a time; a waiting thread lets others in.

#ifndef BRIGADE_RMA_SHIM_GATE_H_
#define BRIGADE_RMA_SHIM_GATE_H_

#include <atomic>
#include <cstdint>
#include <mutex>

#include "windows/core/other_threads.h"

namespace brigade {
namespace rma {

class Gate : public OtherThreads {
 public:
  // A thread may enter more than once: our calls of MPI go through profiling tools, which may call
  // us.
  void Enter();
  void Leave();

  // Of the thread that is in.
  bool AnyWait() const override { return waiting_ > 0 && depth_ == 1; }
  void LetIn() override;

 private:
  std::recursive_mutex mutex_;
  int depth_ = 0;                // of the thread that is in
  std::atomic<int> waiting_{0};  // threads, to come in
  std::atomic<uint64_t> entrances_{0};
};

}  // namespace rma
}  // namespace brigade

#endif  // BRIGADE_RMA_SHIM_GATE_H_

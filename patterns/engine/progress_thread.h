// ProgressThread: a thread that makes progress while its owner is elsewhere: sends and started
// operations continue although no thread calls the library. It sleeps whenever there is nothing to
// do.
//
// There is one role, the progress owner's, and it is the owner's until given. The owner comes and
// goes by plain stores and looks: the thread claims the role before it steps, and pays for the
// fence that this takes. A process forks between two steps; its child has a copy of everything but
// the thread, and must not destroy it.

#ifndef BRIGADE_PATTERNS_ENGINE_PROGRESS_THREAD_H_
#define BRIGADE_PATTERNS_ENGINE_PROGRESS_THREAD_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "membuf/status.h"
#include "patterns/rules.h"
#include "transport/host/thread_fence.h"

namespace brigade {

class ProgressThread {
 public:
  enum class Step {
    kMoved,         // or would look again at once
    kNothingMoved,  // it may sleep before it tries again
    kNothingLeft,   // it may sleep until it is given the role again
  };

  // Starts the thread, with all signals blocked; the role stays the owner's. `step` does what can
  // be done without waiting. `await` is where the thread sleeps between steps, without the role:
  // until a step might move something, for so many microseconds at most. kUnavailable, with the
  // reason, if there is no thread to be had.
  static Status Create(std::function<Step()> step, std::function<void(int microseconds)> await,
                       std::unique_ptr<ProgressThread>* progress_thread);
  // Ends the thread. REQUIRES: the role is the owner's.
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // Gives the role away. `now`: to be used at once. Otherwise an owner that is back before the next
  // look finds it unused. An owner that has always come back is looked after less and less often.
  void Give(bool now) {
    now_.store(now, std::memory_order_relaxed);
    given_.store(true, std::memory_order_release);
    fence_.Light();
    if (now || parked_.load(std::memory_order_relaxed) || is_to_look_sooner()) Wake();
  }
  // Somebody may be waiting for what only a step can do: looks come at short intervals again. From
  // the progress owner.
  void LookSoon() { grace_us_.store(rules::kProgressThreadGraceUs, std::memory_order_relaxed); }
  // Takes the role back; waits for the end of a step, if one is being done.
  void Take() {
    given_.store(false, std::memory_order_relaxed);
    takes_.store(takes_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    fence_.Light();
    if (claimed_.load(std::memory_order_acquire)) AwaitStep();
  }

 private:
  ProgressThread(std::function<Step()> step, std::function<void(int microseconds)> await);

  // Around a fork.
  static void LockAll();
  static void UnlockAll();

  // Whether LookSoon was called in a sleep that is far too long for it. To end each would cost
  // more than it brings.
  bool is_to_look_sooner() const {
    return 4 * grace_us_.load(std::memory_order_relaxed) <
           sleep_us_.load(std::memory_order_relaxed);
  }
  void AwaitStep();
  void Wake();
  void Run();
  // Whether the thread may step: the owner is away and, should it come back, waits for that.
  bool Claim();
  void Unclaim() { claimed_.store(false, std::memory_order_release); }
  // REQUIRES: the role is claimed.
  Step DoStep();
  void MakeProgress(std::unique_lock<std::mutex>* lock);

  const std::function<Step()> step_;
  const std::function<void(int microseconds)> await_;
  ThreadFence fence_;
  std::mutex mutex_;  // held during a step
  std::condition_variable changed_;
  std::atomic<bool> given_{false};
  std::atomic<bool> claimed_{false};
  std::atomic<bool> now_{false};
  std::atomic<bool> parked_{false};  // sleeps until it is woken
  std::atomic<uint64_t> takes_{0};
  std::atomic<int> grace_us_{rules::kProgressThreadGraceUs};  // from one look to the next
  std::atomic<int> sleep_us_{0};                              // of the sleep under way; 0: none is
  bool over_ = false;
  std::thread thread_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_PROGRESS_THREAD_H_

// Bell: wakes a rank that sleeps until something is written to shared memory for it.
//
// Ringing is done after every message and nearly always finds nobody asleep, so it must cost next
// to nothing: the fence that has to stand between the message and the look at the bell is paid by
// the sleeper alone, who makes all ranks execute one (membarrier) before it looks for messages a
// last time. The sleeper owns the flag: it sets it, and clears it when it is awake for another
// reason.

#ifndef BRIGADE_TRANSPORT_EDGE_BELL_H_
#define BRIGADE_TRANSPORT_EDGE_BELL_H_

#include <atomic>
#include <cstdint>

namespace brigade {

// Lies in shared memory; zeros are a bell that nobody waits at.
class Bell {
 public:
  // After something was stored for the bell's owner.
  void Ring() {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler at least keeps the order
    if (asleep_.load(std::memory_order_relaxed) != 0) Wake();
  }

  // The owner is about to sleep. After this it must look for messages once more.
  void Arm();
  // Sleeps until the bell rings, for `longest_us` at most; at once if it rang since Arm. Leaves the
  // bell armed no more.
  void Sleep(int longest_us);
  // The same, but a bell that did not ring stays armed: one more look will do before the next
  // sleep.
  void StayArmed(int longest_us);
  void Disarm() { asleep_.store(0, std::memory_order_relaxed); }
  bool armed() const { return asleep_.load(std::memory_order_relaxed) != 0; }

  // Once per process, before it waits or rings: lets others' Arm reach it. False if the system
  // cannot do that; sleeps must then be short, for a ring may be missed.
  static bool Prepare();

 private:
  void Wake();

  std::atomic<uint32_t> asleep_{0};
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_BELL_H_

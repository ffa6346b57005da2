// Bell: wakes a rank that sleeps until something is written to shared memory for it.
//
// Between the message and the look at the bell has to stand a fence, and between setting the bell
// and the last look for messages another. Ringing is done after every message and nearly always
// finds nobody asleep, so it must cost next to nothing: the sleeper has all ranks execute a fence
// (membarrier) on behalf of both sides. Where ranks are so many that they sleep all the time, that
// takes longer than a fence of each ringer: the bell then says that who rings it has to fence.
//
// The sleeper owns the bell: it sets it, and clears it when it is awake for another reason.

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
    if (state_.load(std::memory_order_relaxed) != 0) RingWithCare();
  }

  // Who executes the ringers' fence. The owner may change its mind each time.
  enum class Fence { kBySleeper, kByRingers };
  // The owner is about to sleep. After this it must look for messages once more.
  void Arm(Fence fence = Fence::kBySleeper);
  // Sleeps until the bell rings, for `longest_us` at most; at once if it rang since Arm. Leaves the
  // bell armed no more.
  void Sleep(int longest_us);
  // The same, but a bell that did not ring stays armed: one more look will do before the next
  // sleep.
  void StayArmed(int longest_us);
  void Disarm() {
    state_.store(state_.load(std::memory_order_relaxed) & kRingersFence, std::memory_order_relaxed);
  }
  bool armed() const { return (state_.load(std::memory_order_relaxed) & kArmed) != 0; }
  bool ringers_fence() const {
    return (state_.load(std::memory_order_relaxed) & kRingersFence) != 0;
  }

  // Once per process, before it waits or rings: lets others' Arm reach it. False if the system
  // cannot do that; sleeps must then be short, for a ring may be missed.
  static bool Prepare();

 private:
  void RingWithCare();

  // A ringer clears kArmed; all else is done by the owner.
  static constexpr uint32_t kArmed = 1;
  static constexpr uint32_t kRingersFence = 2;
  std::atomic<uint32_t> state_{0};
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_BELL_H_

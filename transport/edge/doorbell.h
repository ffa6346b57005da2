// Doorbell: wakes a rank that sleeps until something is written to shared memory for it.
//
// The doorbell is signalled after every message, and nearly always finds no sleeper, so a signal
// must be nearly free. The fence between the message and the read of the doorbell is left to the
// sleeper, which makes all ranks execute one (membarrier) before it polls for messages a last time.
// The sleeper owns the flag: it sets it, and clears it when it wakes for another reason.

#ifndef BRIGADE_TRANSPORT_EDGE_DOORBELL_H_
#define BRIGADE_TRANSPORT_EDGE_DOORBELL_H_

#include <atomic>
#include <cstdint>

namespace brigade {

// Lies in shared memory; zeros are a doorbell without a sleeper.
class Doorbell {
 public:
  // Signals the doorbell. To be called after something was stored for its owner.
  void Signal() {
    std::atomic_signal_fence(std::memory_order_seq_cst);  // the compiler at least keeps the order
    if (asleep_.load(std::memory_order_relaxed) != 0) Wake();
  }

  // Announces that the owner is about to sleep. It must poll for messages once more afterwards.
  void Arm();
  // Sleeps until the doorbell is signalled, for `longest_us` at most; returns at once if it was
  // signalled since Arm. One that was not stays armed: one more poll is enough before the next
  // sleep.
  void Sleep(int longest_us);
  void Disarm() { asleep_.store(0, std::memory_order_relaxed); }
  bool armed() const { return asleep_.load(std::memory_order_relaxed) != 0; }

  // Makes Arm of other processes reach this one. Once per process, before it waits or signals.
  // False if the system cannot do that; sleeps must then be short, since signals may be missed.
  static bool Prepare();

 private:
  void Wake();

  std::atomic<uint32_t> asleep_{0};
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_EDGE_DOORBELL_H_

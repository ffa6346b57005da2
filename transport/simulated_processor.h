// SimulatedProcessor: the engine reports the work of its processor to a simulated rank. Real ranks
// have none: their work takes real time.

#ifndef BRIGADE_TRANSPORT_SIMULATED_PROCESSOR_H_
#define BRIGADE_TRANSPORT_SIMULATED_PROCESSOR_H_

#include <cstddef>

namespace brigade {

class SimulatedProcessor {
 public:
  // Advances the time by a copy of `bytes` bytes, in runs of `run_bytes`. Returns false if only
  // lengths are simulated: the bytes must not be touched then.
  virtual bool Copy(const std::byte* to, const std::byte* from, size_t bytes, size_t run_bytes) = 0;
  // Advances the time by dst = left (op) right, `bytes` each. Returns as Copy.
  virtual bool Combine(const std::byte* dst, const std::byte* left, const std::byte* right,
                       size_t bytes, size_t run_bytes) = 0;
  // Advances the time by a computation of the program.
  virtual void Compute(double microseconds) = 0;

 protected:
  ~SimulatedProcessor() = default;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIMULATED_PROCESSOR_H_

// SimulatedProcessor: how an engine tells a simulated rank what its processor does. Real ranks have
// none: their work takes the time that it takes.

#ifndef BRIGADE_TRANSPORT_SIMULATED_PROCESSOR_H_
#define BRIGADE_TRANSPORT_SIMULATED_PROCESSOR_H_

#include <cstddef>

namespace brigade {

class SimulatedProcessor {
 public:
  // The processor is about to copy `bytes` bytes, in runs of `run_bytes`. When this returns it has
  // taken the time for it. False: where there are lengths only, the bytes are not to be touched.
  virtual bool Copy(const std::byte* to, const std::byte* from, size_t bytes, size_t run_bytes) = 0;
  // The same of dst = left (op) right, `bytes` each.
  virtual bool Combine(const std::byte* dst, const std::byte* left, const std::byte* right,
                       size_t bytes, size_t run_bytes) = 0;
  // The program itself computes for so long.
  virtual void Compute(double microseconds) = 0;

 protected:
  ~SimulatedProcessor() = default;
};

}  // namespace brigade

#endif  // BRIGADE_TRANSPORT_SIMULATED_PROCESSOR_H_

#include "bench/cases/allocate.h"

#include <cstddef>

#include "bench/cases/session.h"
#include "transport/host_memory/shared_allocations.h"

namespace brigade::bench {

std::shared_ptr<double[]> AllocateIf(bool allocated, int64_t elements) {
  if (!allocated) return nullptr;
  void* memory = nullptr;
  AbortUnlessOk(
      SharedAllocations::Here().Allocate(static_cast<size_t>(elements) * sizeof(double), &memory));
  return {static_cast<double*>(memory), [](double* data) { SharedAllocations::Here().Free(data); }};
}

}  // namespace brigade::bench

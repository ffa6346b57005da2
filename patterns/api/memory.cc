// The C interface: memory that ranks of a host share.

#include "brigade/memory.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "patterns/api/handles.h"
#include "transport/host_memory/shared_allocations.h"

using brigade::Status;
using brigade::StatusCode;

namespace {

Status Allocate(size_t bytes, void** memory) {
  const Status status = brigade::SharedAllocations::Here().Allocate(bytes, memory);
  if (status.code() != StatusCode::kUnavailable) return status;
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const int failure = posix_memalign(memory, page, std::max(bytes, size_t{1}));
  return failure == 0 ? Status() : Status(StatusCode::kOutOfMemory, std::strerror(failure));
}

}  // namespace

void* brigade_alloc(size_t bytes) {
  void* memory = nullptr;
  const brigade_status status = brigade::Enter(nullptr, [&] { return Allocate(bytes, &memory); });
  return status == BRIGADE_OK ? memory : nullptr;
}

void brigade_free(void* memory) {
  (void)brigade::Enter(nullptr, [&] {
    if (!brigade::SharedAllocations::Here().Free(memory)) std::free(memory);
    return Status();
  });
}

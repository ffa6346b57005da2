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

void* brigade_alloc(size_t bytes) {
  void* memory = nullptr;
  Status status = brigade::SharedAllocations::Here().Allocate(bytes, &memory);
  if (status.code() == StatusCode::kUnavailable) {
    const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    const int failure = posix_memalign(&memory, page, std::max(bytes, size_t{1}));
    status = failure == 0 ? Status() : Status(StatusCode::kOutOfMemory, std::strerror(failure));
  }
  if (status.ok()) return memory;
  (void)brigade::ToC(status);
  return nullptr;
}

void brigade_free(void* memory) {
  if (!brigade::SharedAllocations::Here().Free(memory)) std::free(memory);
}

#include "li_shim/mpi/mpi_rma_backend.h"

#include <cstddef>

#include "li_shim/mpi/pieces.h"
#include "transport/mpi/mpi_bootstrap.h"

namespace brigade {
namespace li {

Status MpiRmaBackend::Register(int slot, void* memory, size_t bytes) {
  Memory& made = memory_[slot];
  BRIGADE_RETURN_IF_ERROR(GatherBytes(bytes, &made.bytes_of));
  BRIGADE_RETURN_IF_ERROR(MpiStatus(
      MPI_Win_create(memory, static_cast<MPI_Aint>(bytes), 1, MPI_INFO_NULL, comm(), &made.window),
      "MPI_Win_create"));
  return MpiStatus(MPI_Win_set_errhandler(made.window, MPI_ERRORS_RETURN),
                   "MPI_Win_set_errhandler");
}

Status MpiRmaBackend::Init(int slot) {
  return MpiStatus(MPI_Win_fence(0, memory_[slot].window), "MPI_Win_fence");
}

Status MpiRmaBackend::Deregister(int slot) {
  return MpiStatus(MPI_Win_free(&memory_[slot].window), "MPI_Win_free");
}

Status MpiRmaBackend::Sync(const std::vector<int>& slots) {
  for (const int slot : slots) {
    BRIGADE_RETURN_IF_ERROR(MpiStatus(MPI_Win_fence(0, memory_[slot].window), "MPI_Win_fence"));
  }
  return Status();
}

Status MpiRmaBackend::Barrier() { return MpiStatus(MPI_Barrier(comm()), "MPI_Barrier"); }

Status MpiRmaBackend::Put(int slot, int process, const void* source, size_t offset, size_t bytes) {
  return InPieces(bytes, [&](size_t done, int count) {
    return MpiStatus(
        MPI_Put(static_cast<const std::byte*>(source) + done, count, MPI_BYTE, process,
                static_cast<MPI_Aint>(offset + done), count, MPI_BYTE, memory_[slot].window),
        "MPI_Put");
  });
}

Status MpiRmaBackend::Get(int slot, int process, size_t offset, void* result, size_t bytes) {
  return InPieces(bytes, [&](size_t done, int count) {
    return MpiStatus(
        MPI_Get(static_cast<std::byte*>(result) + done, count, MPI_BYTE, process,
                static_cast<MPI_Aint>(offset + done), count, MPI_BYTE, memory_[slot].window),
        "MPI_Get");
  });
}

}  // namespace li
}  // namespace brigade

// MpiRmaBackend: LI over the one-sided calls of MPI, call by call as the paper has it. Each piece
// of memory is a window.

#ifndef BRIGADE_LI_SHIM_MPI_MPI_RMA_BACKEND_H_
#define BRIGADE_LI_SHIM_MPI_MPI_RMA_BACKEND_H_

#include <mpi.h>

#include <vector>

#include "li_shim/backend/backend.h"
#include "li_shim/mpi/mpi_backend.h"
#include "membuf/status.h"

namespace brigade {
namespace li {

class MpiRmaBackend final : public MpiBackend {
 public:
  using MpiBackend::MpiBackend;
  Status Register(int slot, void* memory, size_t bytes) override;
  Status Init(int slot) override;
  Status Commit() override { return Barrier(); }
  Status Deregister(int slot) override;
  Status Sync(const std::vector<int>& slots) override;
  Status Barrier() override;
  size_t BytesOf(int slot, int process) const override { return memory_[slot].bytes_of[process]; }
  Status Put(int slot, int process, const void* source, size_t offset, size_t bytes) override;
  Status Get(int slot, int process, size_t offset, void* result, size_t bytes) override;

 private:
  struct Memory {
    MPI_Win window = MPI_WIN_NULL;
    std::vector<size_t> bytes_of;  // by process
  };

  Memory memory_[kSlots];
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_MPI_MPI_RMA_BACKEND_H_

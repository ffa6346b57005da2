// BspBackend: LI over any library with BSPlib's interface, call by call as the paper has it.

#ifndef BRIGADE_LI_SHIM_BSP_BACKEND_H_
#define BRIGADE_LI_SHIM_BSP_BACKEND_H_

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "brigade/bsp.h"
#include "li_shim/backend/backend.h"
#include "membuf/status.h"

namespace brigade {
namespace li {

// The functions that LI needs.
struct BspLibrary {
  decltype(&bsp_begin) begin;
  decltype(&bsp_end) end;
  decltype(&bsp_abort) abort;
  decltype(&bsp_nprocs) nprocs;
  decltype(&bsp_pid) pid;
  decltype(&bsp_sync) sync;
  decltype(&bsp_push_reg) push_reg;
  decltype(&bsp_pop_reg) pop_reg;
  decltype(&bsp_put) put;
  decltype(&bsp_get) get;

  // `path` as dlopen has it. kInvalidArgument: there is none, or it lacks one of them.
  static Status Load(const std::string& path, BspLibrary* library);
};

class BspBackend final : public Backend {
 public:
  // `settings`, as they are read, must be equal on all processes: Begin says which differ.
  BspBackend(const BspLibrary& library, std::string settings)
      : library_(library), settings_(std::move(settings)) {}

  int processes() const override { return library_.nprocs(); }
  int process() const override { return library_.pid(); }
  Status Begin() override;
  Status End() override;
  Status Leave() override { return Status(); }  // BSPlib does it
  Status Register(int slot, void* memory, size_t bytes) override;
  Status Init(int) override { return Status(); }
  Status Commit() override { return Barrier(); }
  Status Deregister(int slot) override;
  // Sources are copied when something is put.
  Status Sync(const std::vector<int>&) override { return Status(); }
  Status Barrier() override;
  size_t BytesOf(int slot, int process) const override;
  Status Put(int slot, int process, const void* source, size_t offset, size_t bytes) override;
  Status Get(int slot, int process, size_t offset, void* result, size_t bytes) override;
  [[noreturn]] void Abort(const std::string& text) override;

 private:
  // Puts `bytes` of this process into a table that has so many of each, on all processes.
  void TellAll(const void* mine, void* table, size_t bytes);

  const BspLibrary library_;
  const std::string settings_;
  std::vector<void*> memory_ = std::vector<void*>(kSlots);  // by slot
  // By slot: what each process has registered, which no function of BSPlib returns.
  std::vector<std::vector<size_t>> bytes_of_;
};

}  // namespace li
}  // namespace brigade

#endif  // BRIGADE_LI_SHIM_BSP_BACKEND_H_

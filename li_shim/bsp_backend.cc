#include "li_shim/bsp_backend.h"

#include <dlfcn.h>

#include <climits>
#include <cstdlib>
#include <type_traits>

#include "transport/mpi_job/same_settings.h"

namespace brigade {
namespace li {

Status BspLibrary::Load(const std::string& path, BspLibrary* library) {
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (handle == nullptr) return {StatusCode::kInvalidArgument, dlerror()};
  Status status;
  const auto find = [&](const char* name, auto* function) {
    void* const found = dlsym(handle, name);
    if (found == nullptr && status.ok()) {
      status = {StatusCode::kInvalidArgument, path + " has no " + name};
    }
    *function = reinterpret_cast<std::remove_reference_t<decltype(*function)>>(found);
  };
  find("bsp_begin", &library->begin);
  find("bsp_end", &library->end);
  find("bsp_abort", &library->abort);
  find("bsp_nprocs", &library->nprocs);
  find("bsp_pid", &library->pid);
  find("bsp_sync", &library->sync);
  find("bsp_push_reg", &library->push_reg);
  find("bsp_pop_reg", &library->pop_reg);
  find("bsp_put", &library->put);
  find("bsp_get", &library->get);
  return status;
}

void BspBackend::TellAll(const void* mine, void* table, size_t bytes) {
  const auto count = static_cast<int>(bytes);
  for (int p = 0; p < processes(); ++p) library_.put(p, mine, table, process() * count, count);
}

Status BspBackend::Begin() {
  library_.begin(library_.nprocs());
  const auto gather = [this](const void* mine, size_t bytes, void* table) {
    library_.push_reg(table, processes() * static_cast<int>(bytes));
    library_.sync();
    TellAll(mine, table, bytes);
    library_.pop_reg(table);
    library_.sync();
    return Status();
  };
  BRIGADE_RETURN_IF_ERROR(CompareSettings(settings_, processes(), gather));
  bytes_of_.assign(kSlots, std::vector<size_t>(static_cast<size_t>(processes())));
  for (std::vector<size_t>& bytes : bytes_of_) {
    library_.push_reg(bytes.data(), processes() * static_cast<int>(sizeof(size_t)));
  }
  library_.sync();
  return Status();
}

Status BspBackend::End() {
  library_.end();
  return Status();
}

Status BspBackend::Register(int slot, void* memory, size_t bytes) {
  if (bytes > INT_MAX) {
    return {StatusCode::kInvalidArgument,
            std::to_string(bytes) + " bytes, which BSPlib counts in an int"};
  }
  memory_[static_cast<size_t>(slot)] = memory;
  library_.push_reg(memory, static_cast<int>(bytes));
  TellAll(&bytes, bytes_of_[static_cast<size_t>(slot)].data(), sizeof(bytes));
  return Status();
}

Status BspBackend::Deregister(int slot) {
  library_.pop_reg(memory_[static_cast<size_t>(slot)]);
  return Status();
}

Status BspBackend::Barrier() {
  library_.sync();
  return Status();
}

size_t BspBackend::BytesOf(int slot, int process) const {
  return bytes_of_[static_cast<size_t>(slot)][static_cast<size_t>(process)];
}

Status BspBackend::Put(int slot, int process, const void* source, size_t offset, size_t bytes) {
  library_.put(process, source, memory_[static_cast<size_t>(slot)], static_cast<int>(offset),
               static_cast<int>(bytes));
  return Status();
}

Status BspBackend::Get(int slot, int process, size_t offset, void* result, size_t bytes) {
  library_.get(process, memory_[static_cast<size_t>(slot)], static_cast<int>(offset), result,
               static_cast<int>(bytes));
  return Status();
}

void BspBackend::Abort(const std::string& text) {
  library_.abort("%s\n", text.c_str());
  std::abort();
}

}  // namespace li
}  // namespace brigade

#include "li_shim/program.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>

#include "transport/host/variable_names.h"

namespace brigade {
namespace li {

Status Program::CheckRunning() const {
  if (phase_ == Phase::kRunning) return Status();
  return Invalid(phase_ == Phase::kEnded ? "a call after LIEND" : "LIBEGIN must come first");
}

Status Program::CheckUnused() const {
  for (const int slot : registered_) {
    if (memory_[slot].is_used) {
      return Invalid(
          "memory was put to or got from in this superstep: call LISYNC and LIBARRIER first");
    }
  }
  return Status();
}

Status Program::Begin(int processes) {
  if (phase_ != Phase::kNotBegun) return Invalid("the program has begun already");
  if (processes != backend_->processes()) {
    return Invalid("its argument is " + std::to_string(processes) + ", but there are " +
                   std::to_string(backend_->processes()) + " processes: pass LINPROCS()");
  }
  BRIGADE_RETURN_IF_ERROR(backend_->Begin());
  phase_ = Phase::kRunning;
  if (backend_->process() == 0) PrintSettingWarnings();
  return Status();
}

Status Program::End() {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(CheckUnused());
  for (const int slot : registered_) BRIGADE_RETURN_IF_ERROR(backend_->Deregister(slot));
  registered_.clear();
  BRIGADE_RETURN_IF_ERROR(backend_->End());
  phase_ = Phase::kEnded;
  return Status();
}

Status Program::Process(int* process) const {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  *process = backend_->process();
  return Status();
}

void Program::Leave() {
  if (phase_ == Phase::kEnded || pid_ != getpid()) return;
  if (phase_ == Phase::kRunning) Fail("exit", "LIEND has not been called");
  if (const Status status = backend_->Leave(); !status.ok()) Fail("exit", status.message());
}

void Program::Fail(const char* call, const std::string& why) {
  std::string text = std::string("brigade: ") + call;
  if (phase_ == Phase::kRunning) {
    text += " on process " + std::to_string(backend_->process()) + ", superstep " +
            std::to_string(superstep_);
  }
  phase_ = Phase::kEnded;  // Leave has nothing to say
  backend_->Abort(text + ": " + why);
  std::abort();  // of a virtual function compilers do not believe it
}

Status Program::Find(const void* address, int* slot) const {
  if (address != memory_[last_].address || address == nullptr) {
    const auto found = std::find_if(registered_.begin(), registered_.end(),
                                    [&](int s) { return memory_[s].address == address; });
    if (found == registered_.end()) {
      return Invalid(MemoryAt(address) + " is not registered on this process");
    }
    last_ = *found;
  }
  *slot = last_;
  return Status();
}

Status Program::Register(void* address, size_t bytes) {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  if (address == nullptr) {
    return Invalid("memory at NULL; a process without any passes another address, and 0 bytes");
  }
  if (bytes > PTRDIFF_MAX) {
    return Invalid(std::to_string(bytes) +
                   " bytes, more than any memory: was the length negative?");
  }
  const auto distance = [](const void* from, const void* to) {  // huge if `to` is before `from`
    return reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from);
  };
  for (const int slot : registered_) {
    const Memory& other = at(slot);
    const size_t offset = distance(other.address, address);
    if (offset == 0 || offset < other.bytes) {
      return Invalid(MemoryAt(address) + " is registered already, at offset " +
                     std::to_string(offset) + " of " + MemoryAt(other.address) +
                     ": call LIDEREGISTER first");
    }
    if (distance(address, other.address) < bytes) {
      return Invalid(std::to_string(bytes) + " bytes from " + MemoryAt(address) + " on overlap " +
                     MemoryAt(other.address) +
                     ", which is registered already: call LIDEREGISTER first");
    }
  }
  // The lowest one, whatever this process alone has searched for.
  Memory* const free = std::find_if(std::begin(memory_), std::end(memory_),
                                    [](const Memory& memory) { return memory.address == nullptr; });
  if (free == std::end(memory_)) {
    return Invalid(std::to_string(kProgramSlots) +
                   " memory regions are registered, which is the limit");
  }
  const auto slot = static_cast<int>(free - memory_);
  BRIGADE_RETURN_IF_ERROR(backend_->Register(slot, address, bytes));
  registered_.push_back(slot);
  *free = Memory();
  free->address = address;
  free->bytes = bytes;
  return Status();
}

Status Program::Deregister(const void* address) {
  int slot = 0;
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(Find(address, &slot));
  if (at(slot).is_used) {
    return Invalid(MemoryAt(address) +
                   " was put to or got from in this superstep: call LISYNC and LIBARRIER first");
  }
  at(slot).address = nullptr;
  registered_.erase(std::find(registered_.begin(), registered_.end(), slot));
  return backend_->Deregister(slot);
}

Status Program::Open(int slot) {
  if (at(slot).is_open) return Status();
  at(slot).is_open = true;
  return backend_->Init(slot);
}

Status Program::InitAll() {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  for (const int slot : registered_) BRIGADE_RETURN_IF_ERROR(Open(slot));
  return Status();
}

Status Program::Init(const void* address) {
  int slot = 0;
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(Find(address, &slot));
  return Open(slot);
}

Status Program::Commit() {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(CheckUnused());
  BRIGADE_RETURN_IF_ERROR(backend_->Commit());
  for (const int slot : registered_) at(slot).is_committed = true;
  ++superstep_;
  return Status();
}

Status Program::CheckAccess(int pid, const void* address, size_t offset, const void* local,
                            size_t bytes, int* slot) {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(Find(address, slot));
  Memory& memory = at(*slot);
  if (!memory.is_open) return Invalid(MemoryAt(address) + " is not open: call LIINIT first");
  if (!memory.is_committed) {
    return Invalid("the registration of " + MemoryAt(address) +
                   " is not effective: call LICOMMIT first");
  }
  if (pid < 0 || pid >= processes()) {
    return Invalid("there is no process " + std::to_string(pid) + ": they are 0 to " +
                   std::to_string(processes() - 1));
  }
  const size_t there = backend_->BytesOf(*slot, pid);
  if (offset > there || bytes > there - offset) {
    const size_t beyond = offset > there ? offset - there : bytes - (there - offset);
    return Invalid(std::to_string(bytes) + " bytes at offset " + std::to_string(offset) +
                   (offset > there ? " begin " : " end ") + std::to_string(beyond) +
                   " bytes beyond the " + std::to_string(there) + " bytes that process " +
                   std::to_string(pid) + " has registered");
  }
  if (local == nullptr && bytes > 0) return Invalid("bytes of this process at NULL");
  memory.is_under_way = memory.is_used = true;
  return Status();
}

Status Program::Put(int pid, const void* source, const void* address, size_t offset, size_t bytes) {
  int slot = 0;
  BRIGADE_RETURN_IF_ERROR(CheckAccess(pid, address, offset, source, bytes, &slot));
  return backend_->Put(slot, pid, source, offset, bytes);
}

Status Program::Get(int pid, const void* address, size_t offset, void* result, size_t bytes) {
  int slot = 0;
  BRIGADE_RETURN_IF_ERROR(CheckAccess(pid, address, offset, result, bytes, &slot));
  return backend_->Get(slot, pid, offset, result, bytes);
}

Status Program::SyncSlots(const std::vector<int>& slots) {
  BRIGADE_RETURN_IF_ERROR(backend_->Sync(slots));
  for (const int slot : slots) at(slot).is_under_way = false;
  return Status();
}

Status Program::SyncAll() {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  std::vector<int> slots;
  std::copy_if(registered_.begin(), registered_.end(), std::back_inserter(slots),
               [&](int slot) { return at(slot).is_open; });
  return SyncSlots(slots);
}

Status Program::Sync(const void* address) {
  int slot = 0;
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  BRIGADE_RETURN_IF_ERROR(Find(address, &slot));
  if (!at(slot).is_open) return Invalid(MemoryAt(address) + " is not open: call LIINIT first");
  return SyncSlots({slot});
}

Status Program::Barrier() {
  BRIGADE_RETURN_IF_ERROR(CheckRunning());
  for (const int slot : registered_) {
    if (at(slot).is_under_way) {
      return Invalid("memory was put to or got from since LISYNC: call that first");
    }
  }
  BRIGADE_RETURN_IF_ERROR(backend_->Barrier());
  for (const int slot : registered_) at(slot).is_used = false;
  ++superstep_;
  return Status();
}

}  // namespace li
}  // namespace brigade

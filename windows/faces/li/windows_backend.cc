#include "windows/faces/li/windows_backend.h"

#include <cstdint>
#include <cstdlib>

#include "patterns/engine/pattern_call.h"
#include "transport/host/variables.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "windows/core/full_fence.h"
#include "windows/elements/element.h"
#include "windows/layout/typed_layout.h"
#include "windows/message/outgoing.h"

namespace brigade {
namespace li {
namespace {

OriginData Here(const void* data, size_t bytes) {
  // What is only read is not written.
  return {const_cast<std::byte*>(static_cast<const std::byte*>(data)),
          TypedLayout::One(Element::kByte), static_cast<int64_t>(bytes)};
}

TargetData There(int process, size_t offset, size_t bytes) {
  return {process, static_cast<int64_t>(offset), TypedLayout::One(Element::kByte),
          static_cast<int64_t>(bytes)};
}

}  // namespace

Status WindowsBackend::Begin() {
  BRIGADE_RETURN_IF_ERROR(MpiBackend::Begin());
  if (process() == 0) WarnOfUnknownVariables();
  BRIGADE_RETURN_IF_ERROR(
      SharedEngine::Acquire(settings_.transport, settings_.engine, &shared_engine_));
  Engine* const engine = shared_engine_->engine.get();
  BRIGADE_RETURN_IF_ERROR(WindowSpace::Create(engine, &space_));
  bootstrap_ = std::make_unique<MpiBootstrap>(comm());
  return Group::Create(engine, bootstrap_.get(), 1, processes(), &group_);
}

Status WindowsBackend::End() {
  group_.reset();
  bootstrap_.reset();
  space_.reset();
  shared_engine_.reset();
  return MpiBackend::End();
}

Status WindowsBackend::Register(int slot, void* memory, size_t bytes) {
  WindowOptions options;
  options.memory = static_cast<std::byte*>(memory);
  options.bytes = bytes;
  options.goes_directly = std::getenv("BRIGADE_TEST_BY_MESSAGES") == nullptr;
  return Window::Create(space_.get(), bootstrap_.get(), options, &at(slot).window);
}

Status WindowsBackend::Init(int slot) {
  return at(slot).window->Fence({/*nothing_precedes=*/true, /*nothing_succeeds=*/false});
}

Status WindowsBackend::Deregister(int slot) {
  BRIGADE_RETURN_IF_ERROR(at(slot).window->Free());
  at(slot).window.reset();
  at(slot).is_synced = false;
  return Status();
}

Status WindowsBackend::Sync(const std::vector<int>& slots) {
  for (const int slot : slots) {
    Memory& memory = at(slot);
    for (const auto& sent : memory.sent) BRIGADE_RETURN_IF_ERROR(memory.window->WaitFor(sent));
    memory.sent.clear();
    memory.is_synced = true;
  }
  return Status();
}

Status WindowsBackend::Barrier() {
  bool have_met = false;
  for (Memory& memory : memory_) {
    if (!memory.is_synced) continue;
    memory.is_synced = false;
    // Where all reach all memory by themselves, what was asked for is done.
    if (memory.window->is_direct()) continue;
    BRIGADE_RETURN_IF_ERROR(memory.window->Fence());
    have_met = true;
  }
  if (have_met) return Status();
  FullFence();
  BRIGADE_RETURN_IF_ERROR(group_->Run(PatternCall()));
  FullFence();
  return Status();
}

size_t WindowsBackend::BytesOf(int slot, int process) const {
  return static_cast<size_t>(at(slot).window->bytes_of(process));
}

Status WindowsBackend::Put(int slot, int process, const void* source, size_t offset, size_t bytes) {
  Memory& memory = at(slot);
  std::atomic<bool>* sent = nullptr;
  if (!memory.window->reaches(process)) sent = &memory.sent.emplace_back(false);
  return memory.window->Put(Here(source, bytes), There(process, offset, bytes), sent);
}

Status WindowsBackend::Get(int slot, int process, size_t offset, void* result, size_t bytes) {
  return at(slot).window->Get(Here(result, bytes), There(process, offset, bytes));
}

}  // namespace li
}  // namespace brigade

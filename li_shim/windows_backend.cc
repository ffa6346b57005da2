#include "li_shim/windows_backend.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/copy_bytes.h"
#include "membuf/element.h"
#include "patterns/engine/pattern_call.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "windows/core/fences.h"
#include "windows/layout/typed_layout.h"
#include "windows/message/rma_request.h"

namespace brigade {
namespace li {
namespace {

OriginData Here(const void* data, size_t bytes) {
  // Casts const away: OriginData also describes results. A put only reads its source.
  return {const_cast<std::byte*>(static_cast<const std::byte*>(data)),
          TypedLayout::One(Element::kByte), static_cast<int64_t>(bytes)};
}

TargetData There(int process, size_t offset, size_t bytes) {
  return {process, static_cast<int64_t>(offset), TypedLayout::One(Element::kByte),
          static_cast<int64_t>(bytes)};
}

// For tests: "memory" leaves mailboxes as they are.
const char* ByMessages() { return std::getenv("BRIGADE_TEST_BY_MESSAGES"); }

}  // namespace

Status WindowsBackend::Begin() {
  BRIGADE_RETURN_IF_ERROR(MpiBackend::Begin());
  BRIGADE_RETURN_IF_ERROR(
      SharedEngine::Acquire(settings_.transport, settings_.engine, &shared_engine_));
  Engine* const engine = shared_engine_->engine.get();
  BRIGADE_RETURN_IF_ERROR(WindowSpace::Create(engine, &space_));
  bootstrap_ = std::make_unique<MpiBootstrap>(comm());
  BRIGADE_RETURN_IF_ERROR(Group::Create(engine, bootstrap_.get(), 1, processes(), &group_));
  if (ByMessages() != nullptr && std::string_view(ByMessages()) != "memory") return Status();
  return Mailboxes::Create(space_.get(), bootstrap_.get(), &mailboxes_);
}

Status WindowsBackend::End() {
  if (mailboxes_ != nullptr) BRIGADE_RETURN_IF_ERROR(mailboxes_->Free());
  mailboxes_.reset();
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
  options.goes_directly = ByMessages() == nullptr;
  options.has_short_blocks = false;  // GatheredPuts have a few
  at(slot).gathered.assign(static_cast<size_t>(processes()), GatheredPuts(space_->segment_bytes()));
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
    for (int process = 0; process < processes(); ++process) {
      BRIGADE_RETURN_IF_ERROR(PutGathered(&memory, process, /*fence_follows=*/true));
    }
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
    // Where all reach all memory by themselves, all puts and gets are done.
    if (memory.window->is_direct()) continue;
    BRIGADE_RETURN_IF_ERROR(memory.window->Fence());
    have_met = true;
  }
  if (!have_met) {
    FullFence();
    BRIGADE_RETURN_IF_ERROR(group_->Run(PatternCall()));
    FullFence();
  }
  ReadMail();
  return Status();
}

void WindowsBackend::ReadMail() {
  if (mailboxes_ == nullptr) return;
  mailboxes_->Read([this](int slot, size_t offset, ConstByteSpan bytes) {
    CopyBytes(at(slot).window->base() + offset, bytes.data, bytes.bytes);
  });
}

Status WindowsBackend::AwaitReading(int process) {
  return mailboxes_ == nullptr ? Status() : mailboxes_->AwaitReading(process);
}

size_t WindowsBackend::BytesOf(int slot, int process) const {
  return static_cast<size_t>(at(slot).window->bytes_of(process));
}

Status WindowsBackend::Put(int slot, int process, const void* source, size_t offset, size_t bytes) {
  Memory& memory = at(slot);
  const OriginData here = Here(source, bytes);
  const bool is_dear = memory.window->PointerTo(process) == nullptr && bytes > 0;
  if (is_dear && mailboxes_ != nullptr &&
      mailboxes_->Put(process, slot, offset, here.data, bytes)) {
    return Status();
  }
  GatheredPuts& gathered = memory.gathered[static_cast<size_t>(process)];
  if (!is_dear || !gathered.Takes(bytes)) {
    return PutNow(&memory, process, here, There(process, offset, bytes), /*fence_follows=*/false);
  }
  gathered.Add(here.data, offset, bytes);
  return gathered.is_full() ? PutGathered(&memory, process, /*fence_follows=*/false) : Status();
}

Status WindowsBackend::PutNow(Memory* memory, int process, const OriginData& source,
                              const TargetData& target, bool fence_follows) {
  BRIGADE_RETURN_IF_ERROR(AwaitReading(process));
  std::atomic<bool>* sent = nullptr;
  if (!memory->window->reaches(process)) sent = &memory->sent.emplace_back(false);
  return memory->window->Put(source, target, sent, fence_follows);
}

Status WindowsBackend::PutGathered(Memory* memory, int process, bool fence_follows) {
  GatheredPuts& gathered = memory->gathered[static_cast<size_t>(process)];
  if (gathered.is_empty()) return Status();
  OriginData here;
  TargetData there;
  BRIGADE_RETURN_IF_ERROR(gathered.Take(process, &here, &there));
  return PutNow(memory, process, here, there, fence_follows);
}

Status WindowsBackend::Get(int slot, int process, size_t offset, void* result, size_t bytes) {
  BRIGADE_RETURN_IF_ERROR(AwaitReading(process));
  return at(slot).window->Get(Here(result, bytes), There(process, offset, bytes));
}

}  // namespace li
}  // namespace brigade

#include "windows/faces/li/windows_backend.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/copy_bytes.h"
#include "patterns/engine/pattern_call.h"
#include "transport/host/variables.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "windows/core/fences.h"
#include "windows/elements/element.h"
#include "windows/layout/typed_layout.h"
#include "windows/message/outgoing.h"

namespace brigade {
namespace li {
namespace {

// Targets keep the descriptions of some hundred puts of each origin.
constexpr size_t kMostGathered = 64;
// Of a piece of a message: what is as long goes at once, since its cost is that of its bytes.
constexpr size_t kShortPart = 4;

// In bytes; of different objects, too.
int64_t Distance(const std::byte* from, const std::byte* to) {
  return static_cast<int64_t>(reinterpret_cast<intptr_t>(to) - reinterpret_cast<intptr_t>(from));
}

OriginData Here(const void* data, size_t bytes) {
  // What is only read is not written.
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
  if (process() == 0) WarnOfUnknownVariables();
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
  at(slot).gathered.assign(static_cast<size_t>(processes()), Gathered());
  return Window::Create(space_.get(), bootstrap_.get(), options, &at(slot).window);
}

Status WindowsBackend::Init(int slot) {
  return at(slot).window->Fence({/*nothing_precedes=*/true, /*nothing_succeeds=*/false});
}

Status WindowsBackend::Deregister(int slot) {
  BRIGADE_RETURN_IF_ERROR(Sync({slot}));  // what nobody has waited for
  BRIGADE_RETURN_IF_ERROR(at(slot).window->Free());
  ReadMail();  // all have met
  at(slot).window.reset();
  at(slot).is_synced = false;
  return Status();
}

Status WindowsBackend::Sync(const std::vector<int>& slots) {
  for (const int slot : slots) {
    Memory& memory = at(slot);
    for (int process = 0; process < processes(); ++process) {
      BRIGADE_RETURN_IF_ERROR(PutGathered(&memory, process));
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
    // Where all reach all memory by themselves, what was asked for is done.
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
  if (!is_dear || bytes >= space_->piece_bytes() / kShortPart) {
    return PutNow(&memory, process, here, There(process, offset, bytes));
  }
  Gathered& gathered = memory.gathered[static_cast<size_t>(process)];
  gathered.blocks.push_back({here.data, offset, bytes});
  gathered.bytes += bytes;
  // What fills a piece of a message goes, so that the next is gathered while it is on its way.
  return gathered.bytes < space_->piece_bytes() && gathered.blocks.size() < kMostGathered
             ? Status()
             : PutGathered(&memory, process);
}

Status WindowsBackend::PutNow(Memory* memory, int process, const OriginData& source,
                              const TargetData& target) {
  BRIGADE_RETURN_IF_ERROR(AwaitReading(process));
  std::atomic<bool>* sent = nullptr;
  if (!memory->window->reaches(process)) sent = &memory->sent.emplace_back(false);
  return memory->window->Put(source, target, sent);
}

Status WindowsBackend::PutGathered(Memory* memory, int process) {
  Gathered& gathered = memory->gathered[static_cast<size_t>(process)];
  const std::vector<Block> blocks = std::move(gathered.blocks);
  gathered = Gathered();
  if (blocks.empty()) return Status();
  const Block& first = blocks.front();
  std::vector<TypedLayout> runs;
  for (const Block& block : blocks) {
    runs.push_back(TypedLayout::Run(Element::kByte, static_cast<int64_t>(block.bytes)));
  }
  std::vector<TypedLayout::Part> from, to;
  for (size_t i = 0; i < blocks.size(); ++i) {
    from.push_back({Distance(first.source, blocks[i].source), &runs[i]});
    to.push_back({static_cast<int64_t>(blocks[i].offset - first.offset), &runs[i]});
  }
  TypedLayout here, there;
  BRIGADE_RETURN_IF_ERROR(TypedLayout::List(from, &here));
  BRIGADE_RETURN_IF_ERROR(TypedLayout::List(to, &there));
  return PutNow(memory, process, {first.source, here, 1},
                {process, static_cast<int64_t>(first.offset), there, 1});
}

Status WindowsBackend::Get(int slot, int process, size_t offset, void* result, size_t bytes) {
  BRIGADE_RETURN_IF_ERROR(AwaitReading(process));
  return at(slot).window->Get(Here(result, bytes), There(process, offset, bytes));
}

}  // namespace li
}  // namespace brigade

#include "windows/message/window_space.h"

#include <algorithm>
#include <string>
#include <utility>

#include "patterns/engine/memory_wait.h"

namespace brigade {
namespace {

// A chunk of the surplus. Sends that have returned may have all of it: receivers give it back.
ChunkRun AwaitSurplus(Engine* engine) {
  ChunkRun run;
  MemoryWait wait;
  engine->WaitUntil(
      [&] {
        if (run) return true;
        const bool may_come =
            engine->sends()->in_flight() > 0 && engine->buffers()->CheckWait(&wait).ok();
        run = engine->buffers()->pool()->TryAcquireSurplus(0, 1);
        return run || !may_come;
      },
      [] { return std::string("windows, waiting for staging memory that sends have"); });
  return run;
}

}  // namespace

Status WindowSpace::Create(Engine* engine, std::unique_ptr<WindowSpace>* space) {
  std::unique_ptr<WindowSpace> made(new WindowSpace(engine));  // its destructor has a guard, too
  const Engine::ProgressGuard guard(engine);
  for (Share& share : made->shares_) {
    share.kept = AwaitSurplus(engine);
    if (!share.kept) {
      return Status(StatusCode::kOutOfMemory,
                    "windows need " + std::to_string(kUses) + " chunks of " +
                        std::to_string(engine->options().chunk_bytes) +
                        " bytes beside the core of staging memory, and there are fewer now; raise "
                        "BRIGADE_STAGING_BYTES (brigade_options::staging_bytes)");
    }
    share.is_free = true;
  }
  *space = std::move(made);
  return Status();
}

WindowSpace::~WindowSpace() {
  const Engine::ProgressGuard guard(engine_);
  for (const Lent& lent : lent_) lent.buffer->owner = nullptr;
  for (Share& share : shares_) {
    if (share.is_free) engine_->buffers()->pool()->Release(share.kept);
  }
}

StagedBuffer* WindowSpace::Take(Use use, const GroupState* group, int peer) {
  Share& share = shares_[static_cast<int>(use)];
  const auto is_theirs = [&](const Lent& lent) {
    return lent.buffer->stream == static_cast<int32_t>(use) && lent.group == group &&
           lent.peer == peer;
  };
  if (share.extra >= kMostExtra / 2 && std::any_of(lent_.begin(), lent_.end(), is_theirs)) {
    return nullptr;
  }
  if (!share.kept) {  // it went out of use
    share.kept = engine_->buffers()->pool()->TryAcquireSurplus(0, 1);
    share.is_free = static_cast<bool>(share.kept);
  }
  StagedBuffer* buffer = nullptr;
  if (std::exchange(share.is_free, false)) {
    buffer = engine_->buffers()->New(share.kept);
    buffer->origin = StagedBuffer::Origin::kReserved;
  } else if (share.extra < kMostExtra) {
    buffer = engine_->buffers()->TrySurplus(1);
    if (buffer != nullptr) ++share.extra;
  }
  if (buffer == nullptr) return nullptr;
  buffer->owner = this;
  buffer->owner_index = lent_.size();
  buffer->stream = static_cast<int32_t>(use);
  lent_.push_back({buffer, group, peer});
  return buffer;
}

bool WindowSpace::KeepReserved(const ChunkRun& run) {
  for (Share& share : shares_) {
    if (share.kept.memory.data == run.memory.data) share.is_free = true;
  }
  return true;
}

void WindowSpace::OnReclaimed(const StagedBuffer& buffer) {
  lent_[buffer.owner_index] = lent_.back();
  lent_[buffer.owner_index].buffer->owner_index = buffer.owner_index;
  lent_.pop_back();
  Share& share = shares_[buffer.stream];
  if (buffer.origin != StagedBuffer::Origin::kReserved) {
    --share.extra;
  } else if (buffer.read_by_others) {  // out of use for good
    share.kept = ChunkRun();
  }
}

}  // namespace brigade

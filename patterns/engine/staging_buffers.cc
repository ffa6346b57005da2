#include "patterns/engine/staging_buffers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "membuf/check.h"
#include "membuf/overflow_budget.h"
#include "patterns/rules.h"

namespace brigade {

StagingBuffers::StagingBuffers(Endpoint* endpoint, const EngineOptions& options)
    : endpoint_(endpoint), options_(options) {
  const auto budget = std::make_shared<OverflowBudget>(options.overflow_bytes);
  overflow_ = std::make_unique<OverflowArena>(
      budget, endpoint->domain()->grows() ? endpoint->domain() : nullptr);
  endpoint->SetOverflowBudget(budget);
}

StagingBuffers::~StagingBuffers() {
  if (drain_) pool_->Release(drain_);
}

Status StagingBuffers::Allocate(const SegmentSettings& settings) {
  StagingPoolOptions pool_options;
  pool_options.budget_bytes = options_.staging_bytes;
  pool_options.chunk_bytes = options_.chunk_bytes;
  pool_options.core_chunks = static_cast<size_t>(CoreChunks(settings));
  BRIGADE_RETURN_IF_ERROR(StagingPool::Create(endpoint_->domain(), pool_options, &pool_));
  drains_overflow_ =
      endpoint_->capabilities().needs_registered_memory && !endpoint_->domain()->grows();
  if (!drains_overflow_) return Status();
  drain_chunks_ = settings.pair_chunks;
  drain_ = pool_->TryAcquireSurplus(0, drain_chunks_);
  if (drain_) return Status();
  const size_t least = pool_options.core_chunks + static_cast<size_t>(drain_chunks_);
  return Status(StatusCode::kInvalidArgument,
                "staging memory of " + std::to_string(options_.staging_bytes) +
                    " bytes: where overflow drains through it, it must be at least " +
                    std::to_string(least * options_.chunk_bytes));
}

void StagingBuffers::LeaveToTransport() {
  (void)pool_.release();
  (void)overflow_.release();
  drain_ = ChunkRun();
}

StagedBuffer* StagingBuffers::TrySurplus(int chunks) {
  const ChunkRun run = pool_->TryAcquireSurplus(0, chunks);
  return run ? New(run) : nullptr;
}

StagedBuffer* StagingBuffers::TryOverflow(size_t payload_bytes, OperationStatistics* statistics) {
  CountLook();
  if (!OutOfPatience()) return nullptr;
  const ByteSpan memory = overflow_->TryAcquire(kHeaderRoom + payload_bytes);
  if (memory.data == nullptr) return nullptr;
  ++statistics->overflow_segments;
  // The next operation has to look again first: an operation that always finds overflow memory
  // never looks whether receivers have drained the pool meanwhile.
  stalled_ = Patience() - 1;
  StagedBuffer* buffer = buffers_.Take();
  buffer->origin = StagedBuffer::Origin::kOverflow;
  buffer->memory = memory;
  return buffer;
}

void StagingBuffers::CountLook() {
  // Beside other work a look may take long. The clock is read now and then.
  constexpr int kLooksPerClock = 16;
  constexpr std::chrono::microseconds kLongest(2 * rules::kPlaceUs);
  if (++stalled_ % kLooksPerClock != 1 || OutOfPatience()) return;
  const auto now = std::chrono::steady_clock::now();
  if (stalled_ == 1) {
    stalled_since_ = now;
  } else if (now - stalled_since_ > kLongest) {
    stalled_ = Patience() + 1;
  }
}

StagedBuffer* StagingBuffers::TryCore(int placement, int chunks, int* outstanding) {
  const ChunkRun run = pool_->TryAcquireCore(placement, chunks);
  if (!run) return nullptr;
  StagedBuffer* buffer = New(run);
  buffer->origin = StagedBuffer::Origin::kCore;
  buffer->outstanding = outstanding;
  ++*outstanding;
  return buffer;
}

StagedBuffer* StagingBuffers::TakeLease(StagedBuffer* buffer, const Lease& lease) {
  const std::byte* begin = buffer == nullptr ? nullptr : buffer->memory.data;
  if (buffer == nullptr || lease.data < begin || lease.data >= begin + buffer->memory.bytes) {
    StagedBuffer* leased = buffers_.Take();
    leased->origin = StagedBuffer::Origin::kLease;
    if (buffer != nullptr) Release(buffer);
    buffer = leased;
  }
  if (buffer->lease.token != 0) endpoint_->ReleaseLease(buffer->lease);
  buffer->lease = lease;
  return buffer;
}

void StagingBuffers::Retire(const ChunkRun& run) {
  const Status status = pool_->Retire(run);
  if (!status.ok() && shortage_.ok()) {
    shortage_ =
        status.WithContext("staging memory that a lost rank may still read cannot be reused");
  }
}

void StagingBuffers::StopCounting(int* outstanding) {
  buffers_.ForEach([&](StagedBuffer* buffer) {
    if (buffer->outstanding == outstanding) buffer->outstanding = nullptr;
  });
  *outstanding = 0;
}

void StagingBuffers::Drop(ReceiveSlot* slot) {
  if (std::exchange(slot->arrived, false) && slot->status.ok() && slot->lease.token != 0) {
    endpoint_->ReleaseLease(slot->lease);
  }
  if (slot->buffer != nullptr) Release(std::exchange(slot->buffer, nullptr));
}

void StagingBuffers::Reclaim(StagedBuffer* buffer) {
  BRIGADE_CHECK(buffer->freed && buffer->pending == 0);
  // A sent buffer that comes back shows that receivers are at work: an operation that waits for
  // memory waits on, so that they catch up with it. A lease of a received segment does not show
  // that.
  if (buffer->origin != StagedBuffer::Origin::kLease) stalled_ = 0;
  if (buffer->lease.token != 0) endpoint_->ReleaseLease(buffer->lease);
  switch (buffer->origin) {
    case StagedBuffer::Origin::kOverflow:
      if (buffer->read_by_others) {
        overflow_->Retire(buffer->memory);
        break;
      }
      overflow_->Release(buffer->memory);
      break;
    case StagedBuffer::Origin::kLease:
      break;
    case StagedBuffer::Origin::kReserved:
      if (RetireIfRead(*buffer)) break;
      if (buffer->owner != nullptr && buffer->owner->KeepReserved(buffer->run)) break;
      pool_->Release(buffer->run);
      break;
    case StagedBuffer::Origin::kSurplus:
    case StagedBuffer::Origin::kCore:
      if (RetireIfRead(*buffer)) break;
      pool_->Release(buffer->run);
      break;
  }
  if (buffer->outstanding != nullptr) --*buffer->outstanding;
  if (buffer->owner != nullptr) buffer->owner->OnReclaimed(*buffer);
  *buffer = StagedBuffer();
  buffers_.GiveBack(buffer);
}

ChunkRun StagingBuffers::TryDrainRun() {
  if (drain_) return std::exchange(drain_, ChunkRun());
  return pool_->TryAcquireSurplus(0, drain_chunks_);
}

void StagingBuffers::ReturnDrainRun(const ChunkRun& run) {
  if (drain_) {
    pool_->Release(run);
  } else {
    drain_ = run;
  }
}

int StagingBuffers::Patience() const {
  return static_cast<int>(
      std::min(rules::kLooksBeforeOverflow, endpoint_->polling()->PollsBeforeSleep()));
}

}  // namespace brigade

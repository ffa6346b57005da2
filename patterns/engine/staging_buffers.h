// StagingBuffers: memory for segments on their way, lent to the operations of an engine: staging
// memory from the pool, and overflow memory beyond it.

#ifndef BRIGADE_PATTERNS_ENGINE_STAGING_BUFFERS_H_
#define BRIGADE_PATTERNS_ENGINE_STAGING_BUFFERS_H_

#include <chrono>
#include <cstddef>
#include <memory>

#include "membuf/overflow_arena.h"
#include "membuf/staging_pool.h"
#include "membuf/status.h"
#include "patterns/engine/engine_options.h"
#include "patterns/engine/memory_wait.h"
#include "patterns/engine/object_pool.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/staged_buffer.h"
#include "patterns/schedule/segment_plan.h"
#include "transport/endpoint.h"

namespace brigade {

// Lending, giving back, waiting and draining share the pool and one stall.
class StagingBuffers {
 public:
  StagingBuffers(Endpoint* endpoint, const EngineOptions& options);
  ~StagingBuffers();
  StagingBuffers(const StagingBuffers&) = delete;
  StagingBuffers& operator=(const StagingBuffers&) = delete;
  // First of all. kInvalidArgument, naming value and minimum, if the budget is too small;
  // kOutOfMemory if the memory cannot be had.
  Status Allocate(const SegmentSettings& settings);
  // Frees nothing any more: the transport still reads what was lent, or this is a forked child,
  // which has a copy of everything and owns none of it.
  void LeaveToTransport();

  StagingPool* pool() { return pool_.get(); }
  OverflowArena* overflow() { return overflow_.get(); }

  // --- lending ---
  // A buffer of these chunks.
  StagedBuffer* New(const ChunkRun& run) {
    StagedBuffer* const buffer = buffers_.Take();
    buffer->run = run;
    buffer->memory = run.memory;
    return buffer;
  }
  // A buffer of so many adjacent chunks of the surplus; null if there are none.
  StagedBuffer* TrySurplus(int chunks);
  // Overflow memory, for an operation that must not wait for receivers and has found the pool empty
  // once more. Null: its patience has not ended (OutOfPatience), or the limit is reached.
  StagedBuffer* TryOverflow(size_t payload_bytes, OperationStatistics* statistics);
  // A buffer of the core, where every run of an operation is as long as its longest, so that one
  // fits where another was. `*outstanding` counts it while it lives.
  StagedBuffer* TryCore(int placement, int chunks, int* outstanding);
  // Returns the buffer that holds the bytes of a segment received for `buffer` (null: for none). If
  // the bytes lie elsewhere, this is a new buffer for the lease, and `buffer` is given back.
  StagedBuffer* TakeLease(StagedBuffer* buffer, const Lease& lease);

  // --- giving back ---
  // The owner is done with the buffer.
  void Release(StagedBuffer* buffer) {
    buffer->freed = true;
    if (buffer->pending == 0) Reclaim(buffer);
  }
  // Gives back what a slot holds, and what has arrived in it. REQUIRES: its receive is not posted.
  void Drop(ReceiveSlot* slot);
  // Ends a buffer that is freed and has no send pending.
  void Reclaim(StagedBuffer* buffer);
  // Ends the wait for the buffers that `*outstanding` counts: their operation has failed.
  void StopCounting(int* outstanding);

  // --- waiting ---
  // A returned operation that finds the pool empty first looks again this often, or for as long as
  // twice what a send looks for a place, while receivers may be draining it: their chunks are warm,
  // overflow memory is not. It never waits for a receiver that does not come.
  int Patience() const;
  bool OutOfPatience() const { return stalled_ > Patience(); }
  // How often in a row a locally blocking operation found the pool empty.
  int stalled() const { return stalled_; }
  // It found some.
  void EndStall() { stalled_ = 0; }
  // Not OK: some of the core is out of use, and nothing was there to take its place. An operation
  // that finds the core empty fails with this status.
  const Status& shortage() const { return shortage_; }
  // kTimedOut once an operation that must not wait for receivers has waited for too long.
  Status CheckWait(MemoryWait* wait) const {
    return wait->Check(options_.overflow_wait_seconds, options_.overflow_bytes);
  }

  // --- draining ---
  // Whether overflow has to drain through staging memory.
  bool drains_overflow() const { return drains_overflow_; }
  // Registered memory for a segment in overflow memory; none if there is none.
  ChunkRun TryDrainRun();
  void ReturnDrainRun(const ChunkRun& run);

 private:
  void CountLook();
  // True if the buffer's chunks were taken out of use.
  bool RetireIfRead(const StagedBuffer& buffer) {
    if (buffer.read_by_others) Retire(buffer.run);
    return buffer.read_by_others;
  }
  void Retire(const ChunkRun& run);

  Endpoint* const endpoint_;
  const EngineOptions& options_;  // the engine's
  std::unique_ptr<StagingPool> pool_;
  std::unique_ptr<OverflowArena> overflow_;
  ObjectPool<StagedBuffer> buffers_;
  // Where overflow has to drain through staging memory: a run of the surplus that nothing else
  // uses, unless it is in use. Receives of two ranks that wait for each other's overflow could
  // otherwise hold all there is.
  bool drains_overflow_ = false;
  int drain_chunks_ = 0;
  ChunkRun drain_;
  int stalled_ = 0;
  std::chrono::steady_clock::time_point stalled_since_;  // about
  Status shortage_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_STAGING_BUFFERS_H_

// StagedBuffer: memory that holds one segment on its way, and who still needs it.

#ifndef BRIGADE_PATTERNS_ENGINE_STAGED_BUFFER_H_
#define BRIGADE_PATTERNS_ENGINE_STAGED_BUFFER_H_

#include <cstddef>
#include <cstdint>

#include "membuf/byte_span.h"
#include "membuf/staging_pool.h"
#include "transport/completion.h"

namespace brigade {

struct StagedBuffer;

// An operation that holds buffers.
class BufferOwner {
 public:
  // It is offered a run of its reservation back: true if it will need it again.
  virtual bool KeepReserved(const ChunkRun& run) = 0;
  // A buffer of it has gone back to where its memory is from.
  virtual void OnReclaimed(const StagedBuffer& buffer) = 0;

 protected:
  ~BufferOwner() = default;
};

struct StagedBuffer {
  enum class Origin : uint8_t {
    kCore,      // the pool's core: must be back before its operation returns
    kReserved,  // taken from the surplus when a non-blocking operation started
    kSurplus,
    kOverflow,
    kLease,  // no memory of ours: bytes in a peer's chunk
  };

  Origin origin = Origin::kSurplus;
  ChunkRun run;                  // kCore, kReserved, kSurplus
  ByteSpan memory;               // kHeaderRoom, then the payload
  Lease lease;                   // of a received segment
  BufferOwner* owner = nullptr;  // null once its operation is done and only sends are pending
  size_t owner_index = 0;        // in the owner's list
  int32_t stream = 0;            // of the owner
  int32_t pending = 0;           // sends in flight
  int* outstanding =
      nullptr;  // of its operation: counts buffers that must be back before it returns
  // A lease that is forwarded: its sender may be waiting in its call for it to come back, and this
  // rank may never call again after this operation.
  void CountLease(int* counter) {
    if (origin != Origin::kLease || outstanding != nullptr) return;
    outstanding = counter;
    ++*counter;
  }
  bool read_by_others = false;  // at an unknown time: never to be used again
  bool freed = false;           // the owner is done with it; over once nothing is pending
};

// Where a posted receive puts a segment.
struct ReceiveSlot : Completion {
  ReceiveSlot() : Completion([](Completion* c) { static_cast<ReceiveSlot*>(c)->arrived = true; }) {}
  StagedBuffer* buffer = nullptr;  // null where no receive buffer is needed
  bool arrived = false;            // and not yet awaited
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_STAGED_BUFFER_H_

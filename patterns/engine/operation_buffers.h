// OperationBuffers: the staged buffers of one operation under way: what it has reserved, and what
// each of its streams holds.

#ifndef BRIGADE_PATTERNS_ENGINE_OPERATION_BUFFERS_H_
#define BRIGADE_PATTERNS_ENGINE_OPERATION_BUFFERS_H_

#include <cstddef>
#include <vector>

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/memory_wait.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/staged_buffer.h"
#include "patterns/schedule/message_cut.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

class OperationBuffers final : private BufferOwner {
 public:
  explicit OperationBuffers(Engine* engine) : engine_(engine) {}

  // The objects of an operation, which outlive it.
  struct Operation {
    const CatalogueEntry* entry = nullptr;
    const Schedule* schedule = nullptr;
    const EdgeConfig* config = nullptr;
    const PatternCall* call = nullptr;
    const MessageCut* cut = nullptr;
    OperationStatistics* statistics = nullptr;
    bool blocking = true;
  };
  // For the next operation, whose longest segment takes `wire_bytes`. One that does not block, and
  // may not overflow instead, reserves what its schedule cannot do without. kNoResource,
  // kOutOfMemory: nothing is reserved.
  Status Start(const Operation& operation, size_t wire_bytes);

  struct Want {
    bool for_receive = false;  // the transport writes into it
    bool is_awaited = false;   // a call waits for the operation, which may draw on the core
  };
  // A buffer for a segment of the stream. Null: it must wait, or `*failure` says what failed.
  StagedBuffer* Try(int stream, size_t wire_bytes, const Want& want, Status* failure);
  // Returns the buffer that holds a received segment's bytes from here on, wherever they lie.
  StagedBuffer* TakeLease(StagedBuffer* buffer, const Lease& lease);
  // The room of a first segment; SIZE_MAX: as much as it wants.
  size_t most_room() const { return part_bytes_ > 0 ? part_bytes_ - kHeaderRoom : SIZE_MAX; }
  // An operation at the limit of overflow memory waits for room, but not for ever. kTimedOut.
  Status CheckWait() { return engine_->buffers()->CheckWait(&memory_wait_); }

  // Buffers that must be back before the operation returns.
  bool waits() const { return outstanding_ > 0; }
  // It opens no more slots.
  void ReleaseReserved();
  // The buffers' sends go on without it.
  void Detach();

 private:
  // Of a stream.
  struct Share {
    int placement = 0;
    int buffers = 0;     // held or draining
    int guaranteed = 0;  // of these, from the core or the reservation
  };

  bool KeepReserved(const ChunkRun& run) override;
  void OnReclaimed(const StagedBuffer& buffer) override;

  size_t BytesOfParts(size_t wire_bytes) const;
  bool MayOverflow(bool for_receive) const;
  Status Reserve();
  ChunkRun TryRun(int placement, int chunks);
  StagedBuffer* TryGuaranteed(int stream, bool is_awaited, Status* failure);
  void Add(StagedBuffer* buffer);

  Engine* const engine_;
  Operation operation_;
  std::vector<Share> shares_;
  // Bytes of a slot if the operation is non-blocking and its messages are short enough for parts of
  // chunks; 0: slots take whole chunks.
  size_t part_bytes_ = 0;
  std::vector<ChunkRun> reserved_;  // not in use
  bool keeps_reserved_ = false;
  std::vector<StagedBuffer*> buffers_;  // held by streams, or freed with sends pending
  int outstanding_ = 0;
  size_t held_bytes_ = 0;   // of staging memory
  MemoryWait memory_wait_;  // at the limit of overflow memory
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_OPERATION_BUFFERS_H_

#include "patterns/engine/operation_buffers.h"

#include <algorithm>
#include <string>

#include "patterns/rules.h"

namespace brigade {

Status OperationBuffers::Start(const Operation& operation, size_t wire_bytes) {
  operation_ = operation;
  const Schedule& schedule = *operation.schedule;
  shares_.assign(schedule.streams.size(), Share());
  if (engine_->buffers()->pool()->placements() > 1) {
    for (size_t s = 0; s < shares_.size(); ++s) {
      shares_[s].placement = engine_->endpoint()->domain()->PlacementOf(
          KindFor(schedule.streams[s].role, operation.call->matrix.layout.run_bytes(),
                  operation.cut->longest_bytes(), operation.config->settings.chunk_bytes));
    }
  }
  held_bytes_ = 0;
  memory_wait_.Reset();
  part_bytes_ = operation.blocking ? 0 : BytesOfParts(wire_bytes);
  const bool for_receive = operation.entry->pattern == Pattern::kReceive;
  const bool reserves =
      !operation.blocking && !(IsPair(operation.entry->pattern) && MayOverflow(for_receive));
  return reserves ? Reserve() : Status();
}

// A started send or receive may end only after later calls of this rank. It must therefore not
// depend on staging memory, which earlier ones hold.
bool OperationBuffers::MayOverflow(bool for_receive) const {
  if (for_receive && engine_->buffers()->drains_overflow()) return false;
  return operation_.entry->locally_blocking ||
         (!operation_.blocking && IsPair(operation_.entry->pattern));
}

// A wrong message may be longer: a transport that writes past a receive buffer needs a long one.
size_t OperationBuffers::BytesOfParts(size_t wire_bytes) const {
  const Capabilities& has = *operation_.config->capabilities;
  const int most_together = operation_.schedule->most_together;
  if (operation_.cut->in_runs() && most_together == 0) return 0;
  const auto together = static_cast<size_t>(std::max(1, most_together));
  const size_t bytes = engine_->buffers()->pool()->PartBytes(kHeaderRoom + together * wire_bytes);
  return has.needs_receive_buffer && bytes > has.kept_receive_buffer_bytes ? 0 : bytes;
}

ChunkRun OperationBuffers::TryRun(int placement, int chunks) {
  StagingPool* const pool = engine_->buffers()->pool();
  return part_bytes_ > 0 ? pool->TryAcquirePart(placement, part_bytes_)
                         : pool->TryAcquireSurplus(placement, chunks);
}

// For every slot that the schedule cannot do without, whatever it will hold: a part, or a run of
// the longest length. Of pairs, only receives where memory does not grow come here.
Status OperationBuffers::Reserve() {
  const StagingPool* pool = engine_->buffers()->pool();
  const SegmentSettings& settings = operation_.config->settings;
  const Pattern pattern = operation_.entry->pattern;
  const int slots = operation_.schedule->LeastSlots();
  const int chunks = settings.most_chunks;
  // Either all ranks refuse a collective call for good, or none does. The check therefore counts
  // the chunks that the schedule of any rank needs. The ranks of an all-to-all need not know the
  // longest block.
  const bool pair = IsPair(pattern);
  int needed = pair ? slots * chunks : CoreChunks(settings);
  if (part_bytes_ > 0 && (pattern != Pattern::kAllToAll || operation_.call->equal_blocks)) {
    const auto parts = static_cast<int>(pool->chunk_bytes() / part_bytes_);
    needed = ((pair ? slots : needed / chunks) + parts - 1) / parts;
  }
  if (needed > pool->total_chunks() - pool->core_chunks()) {
    return Status(StatusCode::kOutOfMemory,
                  "a non-blocking start needs " + std::to_string(needed) + " chunks beside the " +
                      std::to_string(pool->core_chunks()) + " of the core, of " +
                      std::to_string(pool->total_chunks()) +
                      " in all; raise BRIGADE_STAGING_BYTES (brigade_options::staging_bytes)");
  }
  keeps_reserved_ = true;
  for (int i = 0; i < slots; ++i) {
    const ChunkRun run = TryRun(0, chunks);
    if (!run) {
      ReleaseReserved();
      BRIGADE_RETURN_IF_ERROR(engine_->buffers()->shortage());
      return Status(StatusCode::kNoResource,
                    "the staging memory it needs is in use; progress, then start again");
    }
    reserved_.push_back(run);
  }
  return Status();
}

void OperationBuffers::ReleaseReserved() {
  keeps_reserved_ = false;
  for (const ChunkRun& run : reserved_) engine_->buffers()->pool()->Release(run);
  reserved_.clear();
}

StagedBuffer* OperationBuffers::Try(int stream, size_t wire_bytes, const Want& want,
                                    Status* failure) {
  StagingBuffers* const lender = engine_->buffers();
  const EdgeConfig& config = *operation_.config;
  Share& share = shares_[static_cast<size_t>(stream)];
  StagedBuffer* buffer = nullptr;
  ChunkRun run;
  // Beyond its window a stream waits for its own sends, unless it must not wait for receivers.
  const bool in_window =
      operation_.entry->locally_blocking || share.buffers < static_cast<int>(rules::kWindowSlots);
  if (in_window) {
    run = TryRun(share.placement, ChunksFor(config.settings, wire_bytes));
  }
  if (run) {
    lender->EndStall();
    buffer = lender->New(run);
  } else if (in_window && MayOverflow(want.for_receive)) {
    buffer = lender->TryOverflow(wire_bytes, operation_.statistics);
    if (buffer == nullptr && !lender->OutOfPatience()) return nullptr;
  }
  if (buffer == nullptr) buffer = TryGuaranteed(stream, want.is_awaited, failure);
  if (buffer == nullptr) return nullptr;
  memory_wait_.Reset();
  buffer->stream = stream;
  Add(buffer);
  ++share.buffers;
  held_bytes_ += buffer->run.memory.bytes;
  operation_.statistics->peak_staging_bytes =
      std::max(operation_.statistics->peak_staging_bytes, held_bytes_);
  return buffer;
}

// Takes a buffer that no operation can be refused: from the reserved runs, or from the core for an
// operation that a call waits for.
StagedBuffer* OperationBuffers::TryGuaranteed(int stream, bool is_awaited, Status* failure) {
  Share& share = shares_[static_cast<size_t>(stream)];
  const int least_slots = operation_.schedule->streams[static_cast<size_t>(stream)].least_slots;
  if (share.guaranteed >= least_slots) return nullptr;
  StagingBuffers* const lender = engine_->buffers();
  StagedBuffer* buffer = nullptr;
  if (!reserved_.empty()) {
    buffer = lender->New(reserved_.back());
    buffer->origin = StagedBuffer::Origin::kReserved;
    reserved_.pop_back();
  } else if (operation_.blocking || is_awaited) {
    buffer =
        lender->TryCore(share.placement, operation_.config->settings.most_chunks, &outstanding_);
  }
  if (buffer == nullptr) {
    *failure = lender->shortage();
  } else {
    ++share.guaranteed;
  }
  return buffer;
}

StagedBuffer* OperationBuffers::TakeLease(StagedBuffer* buffer, const Lease& lease) {
  StagedBuffer* holder = engine_->buffers()->TakeLease(buffer, lease);
  if (holder != buffer) Add(holder);
  if (!operation_.entry->locally_blocking) holder->CountLease(&outstanding_);
  return holder;
}

void OperationBuffers::Add(StagedBuffer* buffer) {
  buffer->owner = this;
  buffer->owner_index = buffers_.size();
  buffers_.push_back(buffer);
}

bool OperationBuffers::KeepReserved(const ChunkRun& run) {
  if (keeps_reserved_) reserved_.push_back(run);
  return keeps_reserved_;
}

void OperationBuffers::OnReclaimed(const StagedBuffer& buffer) {
  buffers_[buffer.owner_index] = buffers_.back();
  buffers_[buffer.owner_index]->owner_index = buffer.owner_index;
  buffers_.pop_back();
  if (buffer.origin == StagedBuffer::Origin::kLease) return;
  Share& share = shares_[static_cast<size_t>(buffer.stream)];
  --share.buffers;
  held_bytes_ -= buffer.run.memory.bytes;
  if (buffer.origin == StagedBuffer::Origin::kCore ||
      buffer.origin == StagedBuffer::Origin::kReserved) {
    --share.guaranteed;
  }
}

void OperationBuffers::Detach() {
  for (StagedBuffer* buffer : buffers_) {
    buffer->owner = nullptr;
    buffer->outstanding = nullptr;  // nothing, unless it failed
  }
  outstanding_ = 0;
  buffers_.clear();
}

}  // namespace brigade

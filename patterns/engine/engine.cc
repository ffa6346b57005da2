#include "patterns/engine/engine.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

#include "membuf/check.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/executor.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/trace.h"
#include "transport/simulated_processor.h"

namespace brigade {
namespace {

void ReportOnStderr(const std::string& line) {
  std::fprintf(stderr, "brigade: %s\n", line.c_str());
}

EngineOptions WithDefaults(EngineOptions options) {
  if (!options.report) options.report = ReportOnStderr;
  return options;
}

}  // namespace

Status Engine::Create(Endpoint* endpoint, const EngineOptions& options,
                      std::unique_ptr<Engine>* engine) {
  if (options.chunk_bytes < kLeastChunkBytes || options.chunk_bytes % 64 != 0) {
    return Status(StatusCode::kInvalidArgument,
                  "chunks of " + std::to_string(options.chunk_bytes) +
                      " bytes: a chunk must be a multiple of 64 bytes, and at least " +
                      std::to_string(kLeastChunkBytes));
  }
  if (options.chunk_bytes > endpoint->capabilities().max_piece_bytes) {
    return Status(StatusCode::kInvalidArgument,
                  "chunks of " + std::to_string(options.chunk_bytes) + " bytes: transport " +
                      endpoint->capabilities().name + " moves at most " +
                      std::to_string(endpoint->capabilities().max_piece_bytes) + " at once");
  }
  const size_t preferred = std::min(endpoint->capabilities().tuning.preferred_piece_bytes,
                                    endpoint->capabilities().max_piece_bytes);
  const PieceSettings settings =
      PieceSettingsFor(options.chunk_bytes, options.staging_bytes, preferred);
  StagingPoolOptions pool_options;
  pool_options.budget_bytes = options.staging_bytes;
  pool_options.chunk_bytes = options.chunk_bytes;
  pool_options.core_chunks = static_cast<size_t>(CoreChunks(settings));
  std::unique_ptr<Engine> created(new Engine(endpoint, WithDefaults(options), settings));
  BRIGADE_RETURN_IF_ERROR(StagingPool::Create(endpoint->domain(), pool_options, &created->pool_));
  created->drains_overflow_ =
      endpoint->capabilities().needs_registered_memory && !endpoint->domain()->grows();
  if (created->drains_overflow_) {
    created->drain_ = created->pool_->TryAcquireSurplus(0, settings.pair_chunks);
    if (!created->drain_) {
      const size_t least = pool_options.core_chunks + static_cast<size_t>(settings.pair_chunks);
      return Status(StatusCode::kInvalidArgument,
                    "staging memory of " + std::to_string(options.staging_bytes) +
                        " bytes: where overflow drains through it, it must be at least " +
                        std::to_string(least * options.chunk_bytes));
    }
  }
  *engine = std::move(created);
  return Status();
}

Engine::Engine(Endpoint* endpoint, const EngineOptions& options, const PieceSettings& settings)
    : endpoint_(endpoint),
      options_(options),
      piece_settings_(settings),
      processor_(endpoint->simulated_processor()),
      process_(getpid()),
      overflow_(std::make_unique<OverflowArena>(
          options.overflow_bytes, endpoint->domain()->grows() ? endpoint->domain() : nullptr)) {}

Engine::~Engine() {
  if (IsForked()) {
    (void)helper_.release();
    (void)pool_.release();
    (void)overflow_.release();
    return;
  }
  if (helper_drives_) TakeRoleBack();
  helper_.reset();
  // A send that failed has been told, or its group would have been.
  AwaitSends();
  CloseIdleGroups();
  if (warm_) pool_->Release(warm_);
  if (drain_) pool_->Release(drain_);
}

// --- the driver's role ---

void Engine::TakeRoleBack() {
  helper_drives_ = false;
  helper_->Take();
}

void Engine::GiveRole() {
  const bool now = std::exchange(in_a_hurry_, false);
  if (!WorkIsLeft() || !endpoint_->HelperMayDrive() || IsForked()) return;
  if (helper_ == nullptr) {
    const Status made = Helper::Create([this] { return StepOfHelper(); },
                                       [this](int us) { endpoint_->Await(us); }, &helper_);
    if (!made.ok()) {
      helper_may_drive_ = false;  // not tried again before there is another group
      options_.report(made.message() + "; what is under way moves only during calls");
      return;
    }
  }
  helper_drives_ = true;
  helper_->Give(now);
}

bool Engine::WorkIsLeft() const {
  return sends_in_flight_ > 0 ||
         std::any_of(active_.begin(), active_.end(), [](const Executor* e) { return !e->done(); });
}

// It says nothing when nothing moves: nobody waits.
Helper::Step Engine::StepOfHelper() {
  const int stalled_before = stalled_;
  const bool moved = Move();
  if (!WorkIsLeft()) return Helper::Step::kNothingLeft;
  // Who counts how often it looks for memory is not to sleep in between.
  const bool looked = stalled_ != stalled_before && stalled_ <= Patience();
  return moved || looked ? Helper::Step::kMoved : Helper::Step::kNothingMoved;
}

bool Engine::IsForked() const { return process_ != getpid(); }

// --- buffers ---

StagedBuffer* Engine::NewBuffer() {
  if (idle_buffers_.empty()) {
    buffers_.push_back(std::make_unique<StagedBuffer>());
    return buffers_.back().get();
  }
  StagedBuffer* buffer = idle_buffers_.back();
  idle_buffers_.pop_back();
  return buffer;
}

ChunkRun Engine::TrySurplusRun(int placement, int chunks) {
  const ChunkRun run = pool_->TryAcquireSurplus(placement, chunks);
  if (run || !warm_) return run;
  pool_->Release(std::exchange(warm_, ChunkRun()));
  return pool_->TryAcquireSurplus(placement, chunks);
}

StagedBuffer* Engine::TrySurplus(int chunks) {
  const ChunkRun run =
      warm_.chunks >= chunks ? std::exchange(warm_, ChunkRun()) : TrySurplusRun(0, chunks);
  if (!run) return nullptr;
  StagedBuffer* buffer = NewBuffer();
  buffer->run = run;
  buffer->memory = run.memory;
  return buffer;
}

StagedBuffer* Engine::TryOverflow(size_t payload_bytes, OperationStatistics* statistics) {
  ++stalled_;
  if (!OutOfPatience()) return nullptr;
  const ByteSpan memory = overflow_->TryAcquire(kHeaderRoom + payload_bytes);
  if (memory.data == nullptr) return nullptr;
  ++statistics->overflow_pieces;
  // Who always finds some never looks whether receivers have drained the pool meanwhile.
  stalled_ = Patience() - 1;
  StagedBuffer* buffer = NewBuffer();
  buffer->origin = StagedBuffer::Origin::kOverflow;
  buffer->memory = memory;
  return buffer;
}

StagedBuffer* Engine::TryCore(int placement, int chunks, int* owed) {
  core_run_.clear();
  if (!pool_->ReserveCore(placement, 1, chunks, &core_run_)) return nullptr;
  StagedBuffer* buffer = NewBuffer();
  buffer->origin = StagedBuffer::Origin::kCore;
  buffer->run = core_run_[0];
  buffer->memory = buffer->run.memory;
  buffer->owed = owed;
  ++*owed;
  return buffer;
}

StagedBuffer* Engine::TakeLease(StagedBuffer* buffer, const Lease& lease) {
  const std::byte* begin = buffer == nullptr ? nullptr : buffer->memory.data;
  if (buffer == nullptr || lease.data < begin || lease.data >= begin + buffer->memory.bytes) {
    StagedBuffer* leased = NewBuffer();
    leased->origin = StagedBuffer::Origin::kLease;
    if (buffer != nullptr) Release(buffer);
    buffer = leased;
  }
  if (buffer->lease.token != 0) endpoint_->ReleaseLease(buffer->lease);
  buffer->lease = lease;
  return buffer;
}

bool Engine::RetireIfRead(const StagedBuffer& buffer) {
  if (buffer.read_by_others) pool_->Retire(buffer.run);
  return buffer.read_by_others;
}

void Engine::Forgive(int* owed) {
  for (const std::unique_ptr<StagedBuffer>& buffer : buffers_) {
    if (buffer->owed == owed) buffer->owed = nullptr;
  }
  *owed = 0;
}

void Engine::KeepWarm(ChunkRun run) {
  if (run.placement == 0 && run.chunks > warm_.chunks) std::swap(warm_, run);  // it serves more
  if (run) pool_->Release(run);
}

void Engine::Drop(ReceiveSlot* slot) {
  if (std::exchange(slot->arrived, false) && slot->status.ok() && slot->lease.token != 0) {
    endpoint_->ReleaseLease(slot->lease);
  }
  if (slot->buffer != nullptr) Release(std::exchange(slot->buffer, nullptr));
}

void Engine::Recycle(StagedBuffer* buffer) {
  BRIGADE_CHECK(buffer->freed && buffer->pending == 0);
  stalled_ = 0;
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
      if (RetireIfRead(*buffer)) break;
      KeepWarm(buffer->run);
      break;
    case StagedBuffer::Origin::kCore:
      if (RetireIfRead(*buffer)) break;
      pool_->Release(buffer->run);
      break;
  }
  if (buffer->owed != nullptr) --*buffer->owed;
  if (buffer->owner != nullptr) buffer->owner->OnRecycled(*buffer);
  *buffer = StagedBuffer();
  idle_buffers_.push_back(buffer);
}

// --- sends ---

bool Engine::IsDeferred(const GroupState* group, ChannelKind kind, int peer) const {
  return std::any_of(deferred_.begin(), deferred_.end(), [&](const Send* other) {
    return other->group == group && other->channel.kind == kind && other->peer == peer;
  });
}

Engine::Send* Engine::TakeSend(GroupState* group, ChannelKind kind, int peer, ConstByteSpan piece,
                               StagedBuffer* buffer) {
  if (idle_sends_.empty()) {
    sends_.push_back(std::make_unique<Send>());
    idle_sends_.push_back(sends_.back().get());
  }
  Send* send = idle_sends_.back();
  idle_sends_.pop_back();
  send->engine = this;
  send->group = group;
  send->channel = Channel{group->id, kind};
  send->peer = peer;
  send->piece = piece;
  send->buffer = buffer;
  ++group->sends_in_flight;
  ++sends_in_flight_;
  return send;
}

SentNow Engine::SendNow(GroupState* group, ChannelKind kind, int peer, ConstByteSpan head,
                        const LayoutRange& body, OperationStatistics* statistics) {
  if (IsDeferred(group, kind, peer)) return SentNow::kNo;
  Send* const send =
      TakeSend(group, kind, peer, ConstByteSpan(nullptr, head.bytes + body.bytes), nullptr);
  size_t kept_bytes = 0;
  const SentNow sent = endpoint_->SendNow(send->channel, peer, head, body, send, &kept_bytes);
  if (sent != SentNow::kYes) {
    --group->sends_in_flight;
    --sends_in_flight_;
    idle_sends_.push_back(send);
    return sent;
  }
  ++statistics->messages_sent;
  statistics->bytes_sent += head.bytes + body.bytes;
  if (kept_bytes > 0) {
    ++statistics->copies;
    statistics->bytes_copied += kept_bytes;
    ++statistics->overflow_pieces;
  }
  return SentNow::kYes;
}

Status Engine::PostSend(GroupState* group, ChannelKind kind, int peer, ConstByteSpan piece,
                        StagedBuffer* buffer) {
  Send* const send = TakeSend(group, kind, peer, piece, buffer);
  const TraceSpan span(TraceKind::kPostSend, piece.bytes, peer);
  ++buffer->pending;
  if (!IsDeferred(group, kind, peer)) {
    const Status status = Hand(send);
    if (status.code() != StatusCode::kNoResource) {
      if (status.ok()) return status;
      send->status = Status();  // told by the return value
      OnSent(send);
      return status;
    }
  }
  deferred_.push_back(send);
  return Status();
}

Status Engine::Hand(Send* send) {
  if (send->buffer->origin == StagedBuffer::Origin::kOverflow && !send->copy && drains_overflow_) {
    const ChunkRun run = TryDrain();
    if (!run) return Status(StatusCode::kNoResource, "no staging memory");
    const TraceSpan span(TraceKind::kCopyFromOverflow, send->piece.bytes, send->peer);
    size_t bytes = send->piece.bytes;
    if (processor_ != nullptr &&
        !processor_->Copy(run.memory.data, send->piece.data, bytes, bytes)) {
      bytes = std::min(bytes, kHeaderBytes);  // all there is of it
    }
    std::memcpy(run.memory.data, send->piece.data, bytes);
    send->copy = run;
    send->piece.data = run.memory.data;
  }
  return endpoint_->PostSend(send->channel, send->peer, send->piece, send);
}

ChunkRun Engine::TryDrain() {
  if (drain_) return std::exchange(drain_, ChunkRun());
  return TrySurplusRun(0, piece_settings_.pair_chunks);
}

void Engine::ReturnDrain(const ChunkRun& run) {
  if (drain_) {
    pool_->Release(run);
  } else {
    drain_ = run;
  }
}

void Engine::OnSent(Completion* completion) {
  Send* send = static_cast<Send*>(completion);
  Engine* engine = send->engine;
  GroupState* group = send->group;
  Trace::Mark(TraceKind::kSent, send->piece.bytes, send->peer);
  if (!send->status.ok() && group->failure.ok()) {
    group->failure = send->status.WithContext("a send to rank " + std::to_string(send->peer));
    if (engine->send_failure_.ok()) engine->send_failure_ = group->failure;
  }
  // A rank that is gone may have forwarded where the piece lies: others may read it at any time.
  if (send->status.code() == StatusCode::kPeerLost && send->buffer != nullptr &&
      group->capabilities->lands_in_peer_memory) {
    send->buffer->read_by_others = true;
  }
  send->status = Status();
  if (send->copy) engine->ReturnDrain(std::exchange(send->copy, ChunkRun()));
  --group->sends_in_flight;
  --engine->sends_in_flight_;
  StagedBuffer* buffer = std::exchange(send->buffer, nullptr);
  engine->idle_sends_.push_back(send);
  if (buffer == nullptr) return;  // it went from user memory
  if (--buffer->pending == 0 && buffer->freed) engine->Recycle(buffer);
}

int Engine::SlowReceiver(const GroupState* group, ChannelKind kind) const {
  for (const std::unique_ptr<Send>& send : sends_) {
    if (send->buffer != nullptr && send->group == group && send->channel.kind == kind) {
      return send->peer;
    }
  }
  return -1;
}

bool Engine::HandDeferred() {
  bool any = false;
  std::vector<const Send*> refused;
  for (auto it = deferred_.begin(); it != deferred_.end();) {
    Send* send = *it;
    const bool behind_another = std::any_of(refused.begin(), refused.end(), [&](const Send* other) {
      return other->group == send->group && other->channel.kind == send->channel.kind &&
             other->peer == send->peer;
    });
    const Status status = behind_another ? Status(StatusCode::kNoResource, "in order") : Hand(send);
    if (status.code() == StatusCode::kNoResource) {
      refused.push_back(send);
      ++it;
      continue;
    }
    any = true;
    it = deferred_.erase(it);
    if (!status.ok()) {
      send->status = status;
      OnSent(send);
    }
  }
  return any;
}

void Engine::DropDeferred(GroupState* group) {
  const auto kept = std::stable_partition(deferred_.begin(), deferred_.end(),
                                          [&](const Send* s) { return s->group != group; });
  const std::vector<Send*> dropped(kept, deferred_.end());
  deferred_.erase(kept, deferred_.end());
  for (Send* send : dropped) {
    send->status = group->failure;
    OnSent(send);
  }
}

// --- operations ---

std::unique_ptr<Executor> Engine::NewExecutor() {
  if (idle_executors_.empty()) return std::make_unique<Executor>(this);
  std::unique_ptr<Executor> executor = std::move(idle_executors_.back());
  idle_executors_.pop_back();
  return executor;
}

void Engine::KeepExecutor(std::unique_ptr<Executor> executor) {
  idle_executors_.push_back(std::move(executor));
}

bool Engine::AdvanceOperations() {
  bool any = false;
  for (size_t i = 0; i < active_.size(); ++i) {
    Executor* executor = active_[i];
    if (executor->done()) continue;
    const bool behind_another = std::any_of(
        active_.begin(), active_.begin() + static_cast<ptrdiff_t>(i),
        [&](const Executor* earlier) { return !earlier->done() && earlier->SameOrder(*executor); });
    if (behind_another) continue;
    any |= executor->Advance();
    if (executor->done() && !executor->outcome().ok()) {
      BreakGroup(executor->group(), executor->outcome());
    }
  }
  return any;
}

int Engine::Patience() const {
  return static_cast<int>(std::min<uint64_t>(200, endpoint_->PollsAwake()));
}

bool Engine::Progress() {
  const Turn turn(this);
  return Move();
}

bool Engine::Move() {
  bool any = endpoint_->Progress();
  if (!deferred_.empty()) any |= HandDeferred();
  if (AdvanceOperations()) {
    ++advances_;
    any = true;
  }
  if (!leaving_groups_.empty()) CloseIdleGroups();
  return any;
}

std::string Engine::Describe(const CatalogueEntry& entry, uint64_t sequence,
                             const GroupState& group, ChannelKind kind, const std::string& detail,
                             int awaited_peer) const {
  const std::string text = std::string(entry.name) + " number " + std::to_string(sequence) +
                           " of group rank " + std::to_string(group.rank) + detail;
  if (awaited_peer >= 0) return text + ", waiting for rank " + std::to_string(awaited_peer);
  const int receiver = SlowReceiver(&group, kind);
  if (receiver < 0) return text;
  return text + ", waiting for rank " + std::to_string(receiver) + " to take what was sent to it";
}

void Engine::RunToEnd(Executor* executor) {
  AdvanceOperations();
  const auto idle_before = idle_;
  WaitUntil([&] { return executor->done(); }, [&] { return executor->Describe(); },
            [&] { return executor->AwaitedPeer(); });
  executor->mutable_statistics()->wait_ns = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(idle_ - idle_before).count());
}

void Engine::Finish(Executor* executor) {
  active_.erase(std::find(active_.begin(), active_.end(), executor));
  executor->Disown();
}

void Engine::BreakGroup(GroupState* group, const Status& status) {
  if (group->failure.ok()) group->failure = status;
  if (group->closed) return;
  group->closed = true;
  DropDeferred(group);
  endpoint_->CloseGroup(group->id);
  for (Executor* executor : active_) {
    if (executor->group() == group) executor->Abandon(group->failure);
  }
}

// --- groups ---

void Engine::RemoveGroup(std::unique_ptr<GroupState> group) {
  leaving_groups_.push_back(std::move(group));
  CloseIdleGroups();
}

void Engine::CloseIdleGroups() {
  const auto over = [&](const std::unique_ptr<GroupState>& group) {
    const bool is_needed = std::any_of(deferred_.begin(), deferred_.end(), [&](const Send* send) {
      return send->group == group.get();
    });
    // At once, so that nobody waits for receives that will never be posted: two ranks that did for
    // each other would wait for ever.
    if (!is_needed && !std::exchange(group->closed, true)) endpoint_->CloseGroup(group->id);
    return group->sends_in_flight == 0;
  };
  leaving_groups_.erase(std::remove_if(leaving_groups_.begin(), leaving_groups_.end(), over),
                        leaving_groups_.end());
  AskWhetherHelperMayDrive();
}

void Engine::AwaitSends() {
  WaitUntil([&] { return sends_in_flight_ == 0; },
            [&] { return std::to_string(sends_in_flight_) + " returned sends"; });
}

Status Engine::Drain() {
  const Turn turn(this);
  AwaitSends();
  return send_failure_;
}

void Engine::Trim() {
  const Turn turn(this);
  overflow_->Trim();
}

StagingStatistics Engine::staging() {
  const Turn turn(this);
  return pool_->statistics();
}

OverflowStatistics Engine::overflow() {
  const Turn turn(this);
  return overflow_->statistics();
}

}  // namespace brigade

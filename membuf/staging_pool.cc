#include "membuf/staging_pool.h"

#include <algorithm>
#include <climits>
#include <string>

#include "membuf/check.h"

namespace brigade {

StagingPool::StagingPool(MemoryDomain* domain, const StagingPoolOptions& options)
    : domain_(domain),
      options_(options),
      total_chunks_(static_cast<int>(options.budget_bytes / options.chunk_bytes)) {}

Status StagingPool::Create(MemoryDomain* domain, const StagingPoolOptions& options,
                           std::unique_ptr<StagingPool>* pool) {
  const std::string chunk_text = std::to_string(options.chunk_bytes);
  if (options.chunk_bytes == 0 || options.chunk_bytes % 64 != 0) {
    return Status(StatusCode::kInvalidArgument,
                  "staging memory in chunks of " + chunk_text +
                      " bytes: a chunk must be a positive multiple of 64 bytes");
  }
  const size_t chunks = options.budget_bytes / options.chunk_bytes;
  const size_t needed = std::max<size_t>(options.core_chunks, 1);
  if (chunks < needed) {
    return Status(StatusCode::kInvalidArgument,
                  "staging memory of " + std::to_string(options.budget_bytes) +
                      " bytes is too small: " + std::to_string(needed) + " chunks of " +
                      chunk_text + " bytes need at least " +
                      std::to_string(needed * options.chunk_bytes) + " bytes");
  }
  if (chunks > INT_MAX) {
    return Status(StatusCode::kInvalidArgument,
                  "staging memory of " + std::to_string(options.budget_bytes) +
                      " bytes is more than 2^31 - 1 chunks of " + chunk_text + " bytes");
  }
  std::unique_ptr<StagingPool> created(new StagingPool(domain, options));
  created->current_.resize(static_cast<size_t>(domain->placements()));
  for (int placement = 0; placement < domain->placements(); ++placement) {
    BRIGADE_RETURN_IF_ERROR(created->AddArena(placement));
    created->statistics_.budget_bytes += created->arenas_.back().region.memory().bytes;
  }
  *pool = std::move(created);
  return Status();
}

Status StagingPool::AddArena(int placement) {
  const auto chunks = static_cast<size_t>(total_chunks_);
  Arena arena;
  arena.placement = placement;
  BRIGADE_RETURN_IF_ERROR(
      RegisteredRegion::Create(domain_, placement, chunks * chunk_bytes(), &arena.region));
  arena.lent.resize(chunks);
  current_[static_cast<size_t>(placement)] = static_cast<int32_t>(arenas_.size());
  arenas_.push_back(std::move(arena));
  return Status();
}

StagingPool::~StagingPool() { BRIGADE_CHECK_EQ(statistics_.in_use_bytes, size_t{0}); }

ChunkRun StagingPool::Take(int placement, int begin, int end, int chunks) {
  BRIGADE_CHECK_LE(0, placement);
  BRIGADE_CHECK_LT(placement, placements());
  BRIGADE_CHECK_LT(0, chunks);
  const int32_t current = current_[static_cast<size_t>(placement)];
  Arena& arena = arenas_[static_cast<size_t>(current)];
  const auto from = arena.lent.begin() + begin;
  const auto to = arena.lent.begin() + end;
  const auto first = std::search_n(from, to, chunks, 0);
  if (first == to) return ChunkRun();

  std::fill_n(first, chunks, kInsideRun);
  *first = chunks;
  ChunkRun run;
  run.placement = placement;
  run.first = static_cast<int32_t>(first - arena.lent.begin());
  run.chunks = chunks;
  run.arena = current;
  run.memory = RunMemory(arena, run);
  statistics_.in_use_bytes += run.memory.bytes;
  return run;
}

ByteSpan StagingPool::RunMemory(const Arena& arena, const ChunkRun& run) const {
  return ByteSpan{arena.region.memory().data + static_cast<size_t>(run.first) * chunk_bytes(),
                  static_cast<size_t>(run.chunks) * chunk_bytes()};
}

ChunkRun StagingPool::TryAcquireCore(int placement, int chunks) {
  const ChunkRun run = Take(placement, 0, core_chunks(), chunks);
  if (run) NoteHighWater();
  return run;
}

ChunkRun StagingPool::TryAcquireSurplus(int placement, int chunks) {
  ChunkRun run = Take(placement, core_chunks(), total_chunks_, chunks);
  if (!run && ReleaseIdleChunks()) run = Take(placement, core_chunks(), total_chunks_, chunks);
  if (run) NoteHighWater();
  return run;
}

size_t StagingPool::PartBytes(size_t bytes) const {
  size_t part_bytes = 64;
  while (part_bytes < bytes) part_bytes *= 2;
  return part_bytes <= chunk_bytes() / 2 ? part_bytes : 0;
}

ChunkRun StagingPool::TryAcquirePart(int placement, size_t bytes) {
  const size_t part_bytes = PartBytes(bytes);
  if (part_bytes == 0) return ChunkRun();
  auto chunk = std::find_if(divided_.begin(), divided_.end(), [&](const Divided& d) {
    return d.chunk.placement == placement && d.part_bytes == part_bytes && !d.free.empty() &&
           !d.retired && d.chunk.arena == current_[static_cast<size_t>(placement)];
  });
  if (chunk == divided_.end()) {
    Divided divided;
    divided.chunk = TryAcquireSurplus(placement, 1);
    if (!divided.chunk) return ChunkRun();
    divided.part_bytes = part_bytes;
    // The first one is taken first.
    const ByteSpan memory = divided.chunk.memory;
    for (size_t i = memory.bytes / part_bytes; i > 0; --i) {
      divided.free.push_back(memory.data + (i - 1) * part_bytes);
    }
    chunk = divided_.insert(divided_.end(), std::move(divided));
  } else if (chunk->lent == 0) {
    statistics_.in_use_bytes += chunk_bytes();
    NoteHighWater();
  }
  ChunkRun part = chunk->chunk;
  part.memory = ByteSpan{chunk->free.back(), part_bytes};
  part.chunks = 0;
  chunk->free.pop_back();
  ++chunk->lent;
  return part;
}

Status StagingPool::EndPart(const ChunkRun& part, bool retire) {
  const auto chunk = std::find_if(divided_.begin(), divided_.end(), [&](const Divided& d) {
    return d.chunk.arena == part.arena && d.chunk.first == part.first &&
           d.chunk.placement == part.placement;
  });
  BRIGADE_CHECK(chunk != divided_.end());
  BRIGADE_CHECK_EQ(part.memory.bytes, chunk->part_bytes);
  BRIGADE_CHECK_LT(size_t{0}, chunk->lent);
  chunk->retired |= retire;
  chunk->free.push_back(part.memory.data);
  if (--chunk->lent > 0) return Status();
  if (chunk->retired) {
    const ChunkRun whole = chunk->chunk;
    divided_.erase(chunk);
    return Retire(whole);
  }
  // It stays divided, for the next, until a whole chunk is wanted.
  statistics_.in_use_bytes -= chunk_bytes();
  return Status();
}

bool StagingPool::ReleaseIdleChunks() {
  const auto idle =
      std::partition(divided_.begin(), divided_.end(), [](const Divided& d) { return d.lent > 0; });
  const bool any = idle != divided_.end();
  for (auto chunk = idle; chunk != divided_.end(); ++chunk) {
    statistics_.in_use_bytes += chunk_bytes();  // Release subtracts it
    Release(chunk->chunk);
  }
  divided_.erase(idle, divided_.end());
  return any;
}

StagingPool::Arena& StagingPool::ArenaOf(const ChunkRun& run) {
  BRIGADE_CHECK_LE(0, run.arena);
  BRIGADE_CHECK_LT(static_cast<size_t>(run.arena), arenas_.size());
  Arena& arena = arenas_[static_cast<size_t>(run.arena)];
  BRIGADE_CHECK_EQ(run.placement, arena.placement);
  BRIGADE_CHECK_LE(0, run.first);
  BRIGADE_CHECK_LT(run.first, total_chunks_);
  BRIGADE_CHECK_LT(0, run.chunks);
  BRIGADE_CHECK_EQ(arena.lent[static_cast<size_t>(run.first)], run.chunks);
  BRIGADE_CHECK(run.memory.data == RunMemory(arena, run).data);
  return arena;
}

void StagingPool::Release(const ChunkRun& run) {
  if (run.chunks == 0 && run) {
    (void)EndPart(run, /*retire=*/false);
    return;
  }
  std::fill_n(ArenaOf(run).lent.begin() + run.first, run.chunks, 0);
  statistics_.in_use_bytes -= run.memory.bytes;
}

Status StagingPool::Retire(const ChunkRun& run) {
  if (run.chunks == 0 && run) return EndPart(run, /*retire=*/true);
  Arena& arena = ArenaOf(run);
  arena.lent[static_cast<size_t>(run.first)] = kInsideRun;
  statistics_.in_use_bytes -= run.memory.bytes;
  const bool is_current = run.arena == current_[static_cast<size_t>(run.placement)];
  return is_current ? AddArena(run.placement) : Status();
}

void StagingPool::NoteHighWater() {
  statistics_.high_water_bytes = std::max(statistics_.high_water_bytes, statistics_.in_use_bytes);
}

}  // namespace brigade

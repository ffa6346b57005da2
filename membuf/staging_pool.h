// StagingPool: one rank's fixed budget of special memory, cut into equal chunks and lent out in
// runs of adjacent chunks.
//
// The budget is taken from the domain once, at creation, and never grows, because the memory is
// scarce. It is split in two:
//
// - The core serves the blocking operation. It has room for every run that a schedule cannot do
//   without, so the operation cannot fail for lack of special memory.
// - The surplus serves all else: sends that have returned to their caller, non-blocking operations,
//   which reserve every run that they cannot do without (LPF's rule: reserve, then start), and more
//   segments of the blocking operation. A chunk of it may be lent in parts, to operations whose
//   messages are short.
//
// Returned sends can therefore never take the last chunks from a schedule that needs them.
//
// This also holds if chunks have to be retired: the pool then continues in fresh memory, a second
// budget, and keeps the first until its end.
//
// Not thread-safe: the progress owner of the engine uses the pool.

#ifndef BRIGADE_MEMBUF_STAGING_POOL_H_
#define BRIGADE_MEMBUF_STAGING_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/memory_domain.h"
#include "membuf/registered_region.h"
#include "membuf/status.h"

namespace brigade {

struct StagingPoolOptions {
  size_t budget_bytes = size_t{2} << 20;  // all chunks together, per rank and placement
  size_t chunk_bytes = size_t{32} << 10;  // the allocation unit; a multiple of 64
  size_t core_chunks = 0;                 // kept for the blocking operation
};

// Adjacent chunks, or a part of one, lent out.
struct ChunkRun {
  ByteSpan memory;
  int32_t placement = 0;
  int32_t first = -1;  // chunk index in its memory; -1: not a run
  int32_t chunks = 0;  // 0: a part
  int32_t arena = 0;   // the pool's number of that memory

  explicit operator bool() const { return first >= 0; }
};

// All placements together.
struct StagingStatistics {
  size_t budget_bytes = 0;
  size_t in_use_bytes = 0;
  size_t high_water_bytes = 0;  // since creation
};

class StagingPool {
 public:
  // kInvalidArgument, naming the value and the minimum, if the budget holds fewer than core_chunks
  // chunks or no chunk at all, or if chunk_bytes is not a positive multiple of 64; kOutOfMemory if
  // the domain refuses. `domain` must outlive the pool.
  static Status Create(MemoryDomain* domain, const StagingPoolOptions& options,
                       std::unique_ptr<StagingPool>* pool);
  // REQUIRES: every run was released.
  ~StagingPool();

  // Takes one run of the core; an empty run if none is free. Runs of equal length that together
  // have at most core_chunks chunks always fit in an idle core.
  ChunkRun TryAcquireCore(int placement, int chunks);
  // Takes one run from the surplus; an empty run if none is free.
  ChunkRun TryAcquireSurplus(int placement, int chunks);
  // Takes part of a chunk of the surplus, aligned to 64 bytes; an empty run if none is free, or if
  // the part would be more than half a chunk. Parts of one chunk are equally long, a power of two
  // times 64.
  ChunkRun TryAcquirePart(int placement, size_t bytes);
  // Returns the length of the part that holds `bytes`; 0: no part is long enough.
  size_t PartBytes(size_t bytes) const;

  // REQUIRES: `run` came from this pool and was not released since.
  void Release(const ChunkRun& run);
  // Like Release, but the chunks are never lent again: a peer may still read them. The pool
  // replaces its memory by as much from its domain, all of it free; runs that are lent stay valid.
  // The old memory is freed with the pool. If the domain has no memory, its error is returned, and
  // the pool continues without the chunks: the core may then be too small for its purpose.
  Status Retire(const ChunkRun& run);

  size_t chunk_bytes() const { return options_.chunk_bytes; }
  int core_chunks() const { return static_cast<int>(options_.core_chunks); }
  int total_chunks() const { return total_chunks_; }
  int placements() const { return static_cast<int>(current_.size()); }

  const StagingStatistics& statistics() const { return statistics_; }

 private:
  struct Arena {
    int32_t placement = 0;
    RegisteredRegion region;
    // Per chunk: 0 if free, the length of the run that starts here, or kInsideRun. Lengths instead
    // of flags, so that Release detects a run that was not lent.
    std::vector<int32_t> lent;
  };
  static constexpr int32_t kInsideRun = -1;
  // A chunk that is lent in parts.
  struct Divided {
    ChunkRun chunk;
    size_t part_bytes = 0;
    std::vector<std::byte*> free;
    size_t lent = 0;
    bool retired = false;  // a part was retired: no other part is lent
  };

  StagingPool(MemoryDomain* domain, const StagingPoolOptions& options);
  // Takes memory for a placement from the domain, to lend from.
  Status AddArena(int placement);
  // Returns the memory of a run, which must be lent.
  Arena& ArenaOf(const ChunkRun& run);
  Status EndPart(const ChunkRun& part, bool retire);
  // Releases divided chunks without lent parts. Returns whether there were any.
  bool ReleaseIdleChunks();
  // Takes the first free run in [begin, end); an empty run if there is none.
  ChunkRun Take(int placement, int begin, int end, int chunks);
  ByteSpan RunMemory(const Arena& arena, const ChunkRun& run) const;
  void NoteHighWater();

  MemoryDomain* const domain_;
  const StagingPoolOptions options_;
  int total_chunks_ = 0;          // per placement
  std::vector<Arena> arenas_;     // including those that are not lent from any more
  std::vector<int32_t> current_;  // of each placement
  std::vector<Divided> divided_;
  StagingStatistics statistics_;
};

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_STAGING_POOL_H_

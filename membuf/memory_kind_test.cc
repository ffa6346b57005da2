#include "membuf/memory_kind.h"

#include "gtest/gtest.h"

namespace brigade {
namespace {

// The AP3000 paper's rules, one row each, with the paper's 32 KiB chunks.
struct Row {
  const char* rule;
  ChunkRole role;
  size_t run_bytes;
  size_t message_bytes;
  MemoryKind kind;
};

constexpr size_t kChunkBytes = 32768;
constexpr Row kRows[] = {
    {"large message: send from the controller", ChunkRole::kBufferedSend, 1 << 20, 1 << 20,
     MemoryKind::kController},
    {"large message: receive into host memory", ChunkRole::kReceive, 1 << 20, 1 << 20,
     MemoryKind::kHost},
    {"contiguous send below a chunk: host", ChunkRole::kBufferedSend, 32767, 32767,
     MemoryKind::kHost},
    {"contiguous send of a whole chunk: controller", ChunkRole::kBufferedSend, 32768, 32768,
     MemoryKind::kController},
    {"strided send below a chunk, long runs: controller", ChunkRole::kBufferedSend, 4000, 32000,
     MemoryKind::kController},
    {"buffered send, runs below 2400: host", ChunkRole::kBufferedSend, 2399, 1 << 20,
     MemoryKind::kHost},
    {"buffered send, runs of 2400: controller", ChunkRole::kBufferedSend, 2400, 1 << 20,
     MemoryKind::kController},
    {"runs below 400 are only good with host memory", ChunkRole::kBufferedSend, 399, 1 << 20,
     MemoryKind::kHost},
    {"receive of short runs: host", ChunkRole::kReceive, 8, 1 << 20, MemoryKind::kHost},
    {"tree broadcast, root: controller", ChunkRole::kBroadcastSource, 1 << 20, 1 << 20,
     MemoryKind::kController},
    {"tree broadcast, root, small and contiguous: still controller", ChunkRole::kBroadcastSource,
     64, 64, MemoryKind::kController},
    {"tree broadcast, root, short runs: still controller", ChunkRole::kBroadcastSource, 8, 1 << 20,
     MemoryKind::kController},
    {"tree broadcast, received and forwarded: host", ChunkRole::kForward, 1 << 20, 1 << 20,
     MemoryKind::kHost},
    {"destination of an add: host, even if sent next", ChunkRole::kCombineTarget, 1 << 20, 1 << 20,
     MemoryKind::kHost},
    {"destination of an add, short runs: host", ChunkRole::kCombineTarget, 8, 64,
     MemoryKind::kHost},
    {"pipelined broadcast, middle rank: controller", ChunkRole::kPipelinedForward, 1 << 20, 1 << 20,
     MemoryKind::kController},
    {"pipelined broadcast, middle rank, short runs: controller", ChunkRole::kPipelinedForward, 8,
     1 << 20, MemoryKind::kController},
};

TEST(MemoryKind, FollowsThePaper) {
  for (const Row& row : kRows) {
    EXPECT_EQ(KindFor(row.role, row.run_bytes, row.message_bytes, kChunkBytes), row.kind)
        << row.rule;
  }
}

TEST(MemoryKind, EveryRoleHasARule) {
  for (int role = 0; role <= static_cast<int>(ChunkRole::kPipelinedForward); ++role) {
    for (const size_t run : {size_t{0}, size_t{8}, size_t{4000}, size_t{1} << 40}) {
      KindFor(static_cast<ChunkRole>(role), run, run, kChunkBytes);
    }
  }
}

}  // namespace
}  // namespace brigade

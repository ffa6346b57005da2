// The uses of a staging chunk, and the kind of special memory for each.
//
// The AP3000 had two special memories, SDRAM on the network controller and reserved host memory
// (KMEM), good at different things; the choice is a table (AP3000 paper, section 4.1 and 4.2), kept
// as data so that it can be tested and so that a machine with one kind of memory, which is most of
// them, maps all kinds to the one it has.

#ifndef BRIGADE_MEMBUF_MEMORY_KIND_H_
#define BRIGADE_MEMBUF_MEMORY_KIND_H_

#include <cstddef>
#include <cstdint>

namespace brigade {

// The role of a chunk in its schedule.
enum class ChunkRole : uint8_t {
  kBroadcastSource,   // filled by copy, sent to several
  kForward,           // received, forwarded and copied out
  kCombineTarget,     // destination of an add, even if sent next
  kBufferedSend,      // filled by copy, sent once
  kReceive,           // received and copied out
  kPipelinedForward,  // received and forwarded by a middle rank of a ring
};

// Special memories of the model machine.
enum class MemoryKind : uint8_t { kController, kHost };
inline constexpr int kMemoryKinds = 2;

// The table. `run_bytes`: longest contiguous run of the user data; `message_bytes`: the whole
// message; `chunk_bytes`: chunk size of the pool.
MemoryKind KindFor(ChunkRole role, size_t run_bytes, size_t message_bytes, size_t chunk_bytes);

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_MEMORY_KIND_H_

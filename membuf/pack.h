// The only copy between user memory and staging memory, in both directions, and between matrices.
//
// Resumable: a call moves any byte range of a layout's packed order, so a message of any size
// streams through chunks of any size, in any order, without state between calls. This copy itself
// gathers and scatters strided data. Two functions pack first: PushIn, into a block that stays in
// the first-level cache, and CopyAcross with short runs. Source: AP3000 paper, sections 3 and 4.1.

#ifndef BRIGADE_MEMBUF_PACK_H_
#define BRIGADE_MEMBUF_PACK_H_

#include <cstddef>

#include "membuf/copy_bytes.h"
#include "membuf/strided_layout.h"

namespace brigade {

// The three below, of any layout.
void CopyRunsIn(std::byte* chunk, const StridedLayout& layout, const std::byte* base, size_t offset,
                size_t bytes);
void PushRunsIn(std::byte* chunk, const StridedLayout& layout, const std::byte* base, size_t offset,
                size_t bytes);
void CopyRunsOut(const StridedLayout& layout, std::byte* base, size_t offset, size_t bytes,
                 const std::byte* chunk);

// Copies packed bytes [offset, offset + bytes) of the matrix at `base` into `chunk`.
// REQUIRES: offset + bytes <= layout.bytes(); chunk has room for `bytes`; no overlap.
// Cost: one pass over the range; the copy routine is chosen by run length (copy_routine.h).
inline void CopyIn(std::byte* chunk, const StridedLayout& layout, const std::byte* base,
                   size_t offset, size_t bytes) {
  if (layout.plain()) return CopyBytes(chunk, base + offset, bytes);
  CopyRunsIn(chunk, layout, base, offset, bytes);
}

// Packs into a chunk that another processor reads, and read last: through a block
// (rules::kPushedBlockBytes), so that its lines are overwritten without being fetched first.
inline void PushIn(std::byte* chunk, const StridedLayout& layout, const std::byte* base,
                   size_t offset, size_t bytes) {
  if (layout.plain()) return CopyBytes(chunk, base + offset, bytes);
  PushRunsIn(chunk, layout, base, offset, bytes);
}

// Scatters `chunk` into packed bytes [offset, offset + bytes) of the matrix at `base`. Touches no
// other byte of the matrix.
inline void CopyOut(const StridedLayout& layout, std::byte* base, size_t offset, size_t bytes,
                    const std::byte* chunk) {
  if (layout.plain()) return CopyBytes(base + offset, chunk, bytes);
  CopyRunsOut(layout, base, offset, bytes, chunk);
}

// Copies packed bytes [offset, offset + bytes) of one matrix to those of another. REQUIRES: both
// have them; no overlap, unless both are the same matrix, of which nothing is copied. Cost: one
// pass, and a second one over short runs of `to_layout` whose length differs from that of the other
// layout's runs.
void CopyAcross(const StridedLayout& from_layout, const std::byte* from,
                const StridedLayout& to_layout, std::byte* to, size_t offset, size_t bytes);
// Returns whether all runs of both have equal lengths, so that one routine copies many of them.
bool HaveEqualRuns(const StridedLayout& a, const StridedLayout& b);

// CopyIn and CopyOut from `cursor` on, which moves past the copied bytes: for callers that iterate.
void CopyIn(std::byte* chunk, StridedLayout::Cursor* cursor, const std::byte* base, size_t bytes);
void CopyOut(StridedLayout::Cursor* cursor, std::byte* base, size_t bytes, const std::byte* chunk);

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_PACK_H_

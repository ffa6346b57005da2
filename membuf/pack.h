// The one copy between user memory and staging memory, in both directions.
//
// Resumable: a call moves any byte range of a layout's packed order, so a message of any size
// streams through chunks of any size, in any order, without state kept between calls. Strided data
// are gathered and scattered by this copy itself; nothing is ever packed first, but by PushIn, and
// there no more than stays in the first-level cache. Source: AP3000 paper, sections 3 and 4.1.

#ifndef BRIGADE_MEMBUF_PACK_H_
#define BRIGADE_MEMBUF_PACK_H_

#include <cstddef>

#include "membuf/strided_layout.h"

namespace brigade {

// Copies packed bytes [offset, offset + bytes) of the matrix at `base` into `chunk`.
// REQUIRES: offset + bytes <= layout.bytes(); chunk has room for `bytes`; no overlap.
// Cost: one pass over the range; the copy routine is chosen by run length (copy_routine.h).
void CopyIn(std::byte* chunk, const StridedLayout& layout, const std::byte* base, size_t offset,
            size_t bytes);

// The same for a chunk that another processor reads, and read last: through a block
// (rules::kPushedBlockBytes), so that its lines are overwritten and not fetched first.
void PushIn(std::byte* chunk, const StridedLayout& layout, const std::byte* base, size_t offset,
            size_t bytes);

// The reverse: scatters `chunk` into packed bytes [offset, offset + bytes) of the matrix at `base`.
// Touches no other byte of the matrix.
void CopyOut(const StridedLayout& layout, std::byte* base, size_t offset, size_t bytes,
             const std::byte* chunk);

// The same from where `cursor` stands, which moves past the bytes copied: for callers that walk.
void CopyIn(std::byte* chunk, StridedLayout::Cursor* cursor, const std::byte* base, size_t bytes);
void CopyOut(StridedLayout::Cursor* cursor, std::byte* base, size_t bytes, const std::byte* chunk);

}  // namespace brigade

#endif  // BRIGADE_MEMBUF_PACK_H_

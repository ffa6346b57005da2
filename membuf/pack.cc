#include "membuf/pack.h"

#include <algorithm>

#include "membuf/copy_bytes.h"
#include "membuf/copy_routine.h"
#include "membuf/rules.h"

namespace brigade {

void CopyIn(std::byte* chunk, StridedLayout::Cursor* cursor, const std::byte* base, size_t bytes) {
  while (bytes > 0) {
    const StridedLayout::RunBlock block = cursor->TakeBlock(bytes);
    CopyRowFor(block.run_bytes)
        .routine({chunk, block.run_bytes}, {base + block.memory_offset, block.stride_bytes},
                 block.run_bytes, block.runs);
    chunk += block.run_bytes * block.runs;
    bytes -= block.run_bytes * block.runs;
  }
}

void CopyOut(StridedLayout::Cursor* cursor, std::byte* base, size_t bytes, const std::byte* chunk) {
  while (bytes > 0) {
    const StridedLayout::RunBlock block = cursor->TakeBlock(bytes);
    CopyRowFor(block.run_bytes)
        .routine({base + block.memory_offset, block.stride_bytes}, {chunk, block.run_bytes},
                 block.run_bytes, block.runs);
    chunk += block.run_bytes * block.runs;
    bytes -= block.run_bytes * block.runs;
  }
}

void CopyIn(std::byte* chunk, const StridedLayout& layout, const std::byte* base, size_t offset,
            size_t bytes) {
  if (layout.plain()) {
    CopyBytes(chunk, base + offset, bytes);
    return;
  }
  StridedLayout::Cursor cursor(layout, offset);
  CopyIn(chunk, &cursor, base, bytes);
}

void PushIn(std::byte* chunk, const StridedLayout& layout, const std::byte* base, size_t offset,
            size_t bytes) {
  if (layout.plain() || layout.run_bytes() >= rules::kLeastPushedBytes) {
    CopyIn(chunk, layout, base, offset, bytes);
    return;
  }
  StridedLayout::Cursor cursor(layout, offset);
  alignas(64) std::byte block[rules::kPushedBlockBytes];
  while (bytes >= rules::kLeastPushedBytes) {
    const size_t now = std::min(bytes, sizeof(block));
    CopyIn(block, &cursor, base, now);
    CopyBytes(chunk, block, now);
    chunk += now;
    bytes -= now;
  }
  CopyIn(chunk, &cursor, base, bytes);
}

void CopyOut(const StridedLayout& layout, std::byte* base, size_t offset, size_t bytes,
             const std::byte* chunk) {
  if (layout.plain()) {
    CopyBytes(base + offset, chunk, bytes);
    return;
  }
  StridedLayout::Cursor cursor(layout, offset);
  CopyOut(&cursor, base, bytes, chunk);
}

}  // namespace brigade

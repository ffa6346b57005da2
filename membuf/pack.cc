#include "membuf/pack.h"

#include <algorithm>

#include "membuf/copy_bytes.h"
#include "membuf/copy_routine.h"
#include "membuf/rules.h"

namespace brigade {
namespace {

// REQUIRES: they HaveEqualRuns, so that a block of one is one of the other.
void CopyEqualRuns(StridedLayout::Cursor* source, const std::byte* from,
                   StridedLayout::Cursor* target, std::byte* to, size_t bytes) {
  while (bytes > 0) {
    const StridedLayout::RunBlock read = source->TakeBlock(bytes);
    const StridedLayout::RunBlock written = target->TakeBlock(bytes);
    CopyRowFor(read.run_bytes)
        .routine({to + written.memory_offset, written.stride_bytes},
                 {from + read.memory_offset, read.stride_bytes}, read.run_bytes, read.runs);
    bytes -= read.run_bytes * read.runs;
  }
}

// A step along both sides for each short run costs more than to pass them through a block.
void CopyUnequalRuns(StridedLayout::Cursor* source, const std::byte* from,
                     StridedLayout::Cursor* target, std::byte* to, size_t bytes) {
  alignas(64) std::byte block[rules::kCombineBlockBytes];
  while (bytes > 0) {
    const StridedLayout::Run run = target->Next();
    size_t now = std::min(run.bytes, bytes);
    if (now >= rules::kLeastUnequalRunBytes) {
      CopyIn(to + run.memory_offset, source, from, now);
      target->Advance(now);
    } else {
      now = std::min(sizeof(block), bytes);
      CopyIn(block, source, from, now);
      CopyOut(target, to, now, block);
    }
    bytes -= now;
  }
}

}  // namespace

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

void CopyRunsIn(std::byte* chunk, const StridedLayout& layout, const std::byte* base, size_t offset,
                size_t bytes) {
  StridedLayout::Cursor cursor(layout, offset);
  CopyIn(chunk, &cursor, base, bytes);
}

void PushRunsIn(std::byte* chunk, const StridedLayout& layout, const std::byte* base, size_t offset,
                size_t bytes) {
  if (layout.run_bytes() >= rules::kLeastPushedBytes) {
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

void CopyRunsOut(const StridedLayout& layout, std::byte* base, size_t offset, size_t bytes,
                 const std::byte* chunk) {
  StridedLayout::Cursor cursor(layout, offset);
  CopyOut(&cursor, base, bytes, chunk);
}

bool HaveEqualRuns(const StridedLayout& a, const StridedLayout& b) {
  return a.part() == StridedLayout::Part::kGeneral && b.part() == StridedLayout::Part::kGeneral &&
         !a.plain() && !b.plain() && a.run_bytes() == b.run_bytes();
}

namespace {

// Returns whether two layouts name the same bytes in the same order.
bool AreAlike(const StridedLayout& a, const StridedLayout& b) {
  if (a.bytes() != b.bytes()) return false;
  if (a.plain() && b.plain()) return true;
  return a.rows() == b.rows() && a.cols() == b.cols() && a.ld() == b.ld() && a.part() == b.part();
}

}  // namespace

void CopyAcross(const StridedLayout& from_layout, const std::byte* from,
                const StridedLayout& to_layout, std::byte* to, size_t offset, size_t bytes) {
  if (from == to && AreAlike(from_layout, to_layout)) return;
  if (to_layout.plain()) return CopyIn(to + offset, from_layout, from, offset, bytes);
  if (from_layout.plain()) return CopyOut(to_layout, to, offset, bytes, from + offset);
  StridedLayout::Cursor source(from_layout, offset);
  StridedLayout::Cursor target(to_layout, offset);
  const auto copy = HaveEqualRuns(from_layout, to_layout) ? CopyEqualRuns : CopyUnequalRuns;
  copy(&source, from, &target, to, bytes);
}

}  // namespace brigade

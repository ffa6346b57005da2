#include "membuf/combine.h"

#include <algorithm>
#include <vector>

#include "membuf/check.h"
#include "membuf/combine_kernels.h"
#include "membuf/pack.h"
#include "membuf/rules.h"

namespace brigade {
namespace {

constexpr size_t kMostAlignment = 64;

// Returns the next `bytes` of an operand, contiguous: where they lie, or gathered into `block`.
const std::byte* Fetch(StridedLayout::Cursor* cursor, const std::byte* base, size_t bytes,
                       bool is_aligned, std::byte* block) {
  const StridedLayout::Run run = cursor->Next();
  if (is_aligned && run.bytes >= bytes) {
    cursor->Advance(bytes);
    return base + run.memory_offset;
  }
  CopyIn(block, cursor, base, bytes);
  return block;
}

// Two blocks for gathered elements.
struct Blocks {
  std::byte* left;
  std::byte* right;
  size_t bytes;  // of each
};

// Calls `kernel(piece, elems)` for pieces of the operands, contiguous ones of at least `alignment`,
// which divides `elem_bytes`.
template <typename Kernel>
void ForPieces(size_t elem_bytes, size_t alignment, size_t elems, const Blocks& blocks,
               const MutableOperand& dst, const ConstOperand& left, const ConstOperand& right,
               const Kernel& kernel) {
  // All runs of an operand begin at a multiple of elem_bytes from its base.
  const auto is_aligned = [alignment](const std::byte* base) {
    return reinterpret_cast<uintptr_t>(base) % alignment == 0;
  };
  const bool dst_aligned = is_aligned(dst.base + dst.offset);
  const bool left_aligned = is_aligned(left.base + left.offset);
  const bool right_aligned = is_aligned(right.base + right.offset);
  const bool all_aligned = dst_aligned && left_aligned && right_aligned;
  StridedLayout::Cursor dst_cursor(*dst.layout, dst.offset);
  StridedLayout::Cursor left_cursor(*left.layout, left.offset);
  StridedLayout::Cursor right_cursor(*right.layout, right.offset);
  for (size_t done = 0; done < elems;) {
    const size_t bytes_left = (elems - done) * elem_bytes;
    const StridedLayout::Run dst_run = dst_cursor.Next();
    const size_t direct_bytes =
        std::min({bytes_left, dst_run.bytes, left_cursor.Next().bytes, right_cursor.Next().bytes});
    const size_t bytes = all_aligned && direct_bytes >= rules::kCombinedInPlaceBytes
                             ? direct_bytes
                             : std::min(bytes_left, blocks.bytes);

    CombinePiece piece;
    piece.left = Fetch(&left_cursor, left.base, bytes, left_aligned, blocks.left);
    piece.right = Fetch(&right_cursor, right.base, bytes, right_aligned, blocks.right);
    // A block that is not an operand's by now is free, and one that is may be overwritten in place.
    const bool lands = dst_aligned && dst_run.bytes >= bytes;
    piece.dst = lands ? dst.base + dst_run.memory_offset : blocks.left;
    const bool locations = dst.locations != nullptr;
    piece.dst_locations = locations ? dst.locations + done : nullptr;
    piece.left_locations = locations ? left.locations + done : nullptr;
    piece.right_locations = locations ? right.locations + done : nullptr;
    kernel(piece, bytes / elem_bytes);
    if (lands) {
      dst_cursor.Advance(bytes);
    } else {
      CopyOut(&dst_cursor, dst.base, bytes, blocks.left);
    }
    done += bytes / elem_bytes;
  }
}

}  // namespace

void Combine(CombineOp op, Element type, size_t elems, const MutableOperand& dst,
             const ConstOperand& left, const ConstOperand& right) {
  if (elems == 0) return;  // nothing has an address then, locations included
  const bool locations = dst.locations != nullptr;
  BRIGADE_CHECK_EQ(left.locations != nullptr, locations);
  BRIGADE_CHECK_EQ(right.locations != nullptr, locations);
  const CombineKernel kernel = CombineKernelFor(op, type, locations);
  BRIGADE_CHECK(kernel != nullptr);

  if (dst.layout->plain() && left.layout->plain() && right.layout->plain()) {
    CombinePiece piece;
    piece.left = left.base + left.offset;
    piece.right = right.base + right.offset;
    piece.dst = dst.base + dst.offset;
    piece.left_locations = left.locations;
    piece.right_locations = right.locations;
    piece.dst_locations = dst.locations;
    kernel(piece, elems);
    return;
  }
  alignas(kMostAlignment) std::byte left_block[rules::kCombineBlockBytes];
  alignas(kMostAlignment) std::byte right_block[rules::kCombineBlockBytes];
  ForPieces(ElementBytes(type), /*alignment=*/1, elems,
            {left_block, right_block, rules::kCombineBlockBytes}, dst, left, right, kernel);
}

void Combine(const UserOp& op, size_t elems, const MutableOperand& dst, const ConstOperand& left,
             const ConstOperand& right) {
  const size_t elem_bytes = op.element_bytes;
  const size_t alignment = std::min(elem_bytes & (~elem_bytes + 1), kMostAlignment);
  const auto combine = [&op](const CombinePiece& piece, size_t count) {
    op.combine(piece.dst, piece.left, piece.right, static_cast<int64_t>(count), op.context);
  };
  if (elem_bytes <= rules::kCombineBlockBytes) {
    alignas(kMostAlignment) std::byte left_block[rules::kCombineBlockBytes];
    alignas(kMostAlignment) std::byte right_block[rules::kCombineBlockBytes];
    const size_t block_bytes = rules::kCombineBlockBytes / elem_bytes * elem_bytes;
    return ForPieces(elem_bytes, alignment, elems, {left_block, right_block, block_bytes}, dst,
                     left, right, combine);
  }
  // One element at a time. The blocks stay with the thread: it will need them again.
  struct alignas(kMostAlignment) Line {
    std::byte bytes[kMostAlignment];
  };
  thread_local std::vector<Line> lines;
  const size_t room = (elem_bytes + sizeof(Line) - 1) / sizeof(Line);
  if (lines.size() < 2 * room) lines.resize(2 * room);
  ForPieces(elem_bytes, alignment, elems, {lines[0].bytes, lines[room].bytes, elem_bytes}, dst,
            left, right, combine);
}

}  // namespace brigade

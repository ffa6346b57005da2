// Gather and Scatter. A cursor steps from run to run, which takes longer than the copy of a short
// one; here whole parts of the tree are copied in loops of their own.

#include <algorithm>

#include "membuf/copy_bytes.h"
#include "windows/layout/layout_copy.h"
#include "windows/layout/run_length.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace {

using Node = TypedLayout::Node;
using Entry = TypedLayout::Entry;

struct Gathering {
  using Memory = const std::byte*;
  using Packed = std::byte*;
  static void Copy(Memory memory, Packed packed, size_t bytes) { CopyBytes(packed, memory, bytes); }
};
struct Scattering {
  using Memory = std::byte*;
  using Packed = const std::byte*;
  static void Copy(Memory memory, Packed packed, size_t bytes) { CopyBytes(memory, packed, bytes); }
};

// Copies nodes in packed order: of a node at offset `at`, or of equal nodes a stride apart.
template <typename Direction>
class Packing {
 public:
  using Memory = typename Direction::Memory;
  using Packed = typename Direction::Packed;

  Packing(const TypedLayout& layout, Memory memory, Packed packed)
      : layout_(layout), memory_(memory), packed_(packed) {}

  // Bytes [begin, end) of a row of nodes. REQUIRES: the node has bytes.
  void PartOfRow(const Node& node, int64_t stride, int64_t at, int64_t begin, int64_t end) {
    const int64_t before = begin / node.size;
    at += before * stride;
    begin -= before * node.size;
    end -= before * node.size;
    if (begin > 0) {
      Part(node, at, begin, std::min(end, node.size));
      at += stride;
      end -= node.size;
    }
    if (end >= node.size) {
      const int64_t whole = end / node.size;
      Row(node, stride, at, whole);
      at += whole * stride;
      end -= whole * node.size;
    }
    if (end > 0) Part(node, at, 0, end);
  }

 private:
  // Bytes [begin, end) of a node.
  void Part(const Node& node, int64_t at, int64_t begin, int64_t end) {
    switch (node.kind) {
      case Node::Kind::kRun:
        return CopyRuns(end - begin, at + begin, 1, 0, 1, 0);
      case Node::Kind::kRepeat:
        return PartOfRow(layout_.node(node.child), node.stride, at, begin, end);
      case Node::Kind::kList:
        return PartOfList(node, at, begin, end);
    }
  }

  void PartOfList(const Node& node, int64_t at, int64_t begin, int64_t end) {
    const Entry* const first = &layout_.entry(node.child);
    const auto entry_of = [&](int64_t offset) {
      const auto is_before = [](int64_t o, const Entry& entry) { return o < entry.before; };
      return std::upper_bound(first, first + node.count, offset, is_before) - 1;
    };
    const Entry* entry = entry_of(begin);
    if (begin > entry->before) {
      const Node& child = layout_.node(entry->child);
      Part(child, at + entry->offset, begin - entry->before,
           std::min(end - entry->before, child.size));
      ++entry;
    }
    const Entry* const last = entry_of(end);
    if (last < entry) return;
    Entries(node, entry, last, at);
    if (end > last->before) {
      Part(layout_.node(last->child), at + last->offset, 0, end - last->before);
    }
  }

  // `count` nodes.
  void Row(const Node& node, int64_t stride, int64_t at, int64_t count) {
    switch (node.kind) {
      case Node::Kind::kRun:
        return CopyRuns(node.size, at, 1, 0, count, stride);
      case Node::Kind::kRepeat: {
        const Node& child = layout_.node(node.child);
        if (child.kind == Node::Kind::kRun) {
          return CopyRuns(child.size, at, count, stride, node.count, node.stride);
        }
        for (int64_t i = 0; i < count; ++i) Row(child, node.stride, at + i * stride, node.count);
        return;
      }
      case Node::Kind::kList: {
        const Entry* const first = &layout_.entry(node.child);
        for (int64_t i = 0; i < count; ++i) {
          Entries(node, first, first + node.count, at + i * stride);
        }
        return;
      }
    }
  }

  // Entries of a list.
  void Entries(const Node& list, const Entry* first, const Entry* last, int64_t at) {
    if (list.run == 0) {
      for (; first < last; ++first) Row(layout_.node(first->child), 0, at + first->offset, 1);
      return;
    }
    // By value: for all that the compiler knows, what is copied might be what these refer to.
    WithRunLength(static_cast<size_t>(list.run), [=](auto length) {
      const Memory memory = memory_;
      Packed packed = packed_;
      for (const Entry* entry = first; entry < last; ++entry) {
        Direction::Copy(memory + (at + entry->offset), packed, length);
        packed += length;
      }
      packed_ = packed;
    });
  }

  // `rows` of as many runs.
  void CopyRuns(int64_t bytes, int64_t at, int64_t rows, int64_t row_stride, int64_t runs,
                int64_t stride) {
    WithRunLength(static_cast<size_t>(bytes), [=](auto length) {
      const Memory memory = memory_;
      Packed packed = packed_;
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t run = 0; run < runs; ++run) {
          Direction::Copy(memory + (at + row * row_stride + run * stride), packed, length);
          packed += length;
        }
      }
      packed_ = packed;
    });
  }

  const TypedLayout& layout_;
  const Memory memory_;
  Packed packed_;
};

template <typename Direction>
void Pack(LayoutCursor* at, typename Direction::Memory memory, int64_t bytes,
          typename Direction::Packed packed) {
  if (bytes == 0) return;
  const Runs next = at->Next();
  if (next.bytes >= bytes) {
    Direction::Copy(memory + next.offset, packed, static_cast<size_t>(bytes));
    return at->Skip(bytes);
  }
  const TypedLayout& layout = at->layout();
  const int64_t end = at->position() + bytes;
  Packing<Direction>(layout, memory, packed)
      .PartOfRow(layout.root(), layout.extent(), 0, at->position(), end);
  at->Seek(end);
}

}  // namespace

void Gather(LayoutCursor* from, const std::byte* base, int64_t bytes, std::byte* packed) {
  Pack<Gathering>(from, base, bytes, packed);
}

void Scatter(const std::byte* packed, int64_t bytes, LayoutCursor* to, std::byte* base) {
  Pack<Scattering>(to, base, bytes, packed);
}

}  // namespace brigade

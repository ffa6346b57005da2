// LayoutCursor: a walk along values of a typed layout, in packed order.

#ifndef BRIGADE_WINDOWS_LAYOUT_LAYOUT_CURSOR_H_
#define BRIGADE_WINDOWS_LAYOUT_LAYOUT_CURSOR_H_

#include <cstdint>

#include "windows/layout/typed_layout.h"

namespace brigade {

// Equal runs of adjacent bytes, a stride apart.
struct Runs {
  int64_t offset = 0;  // of the first, from the address of the first value
  int64_t bytes = 0;   // of each
  int64_t stride = 0;
  int64_t count = 0;
};

class LayoutCursor {
 public:
  // Along `count` values in a row, from the first byte on. `layout` must outlive the cursor.
  // REQUIRES: Bounds() of so many are known.
  LayoutCursor(const TypedLayout* layout, int64_t count);
  // Along adjacent bytes.
  static LayoutCursor Packed(int64_t bytes) { return {&TypedLayout::One(Element::kByte), bytes}; }
  // Where the other is. A walk points into its own cursor, so it is not copied.
  LayoutCursor(const LayoutCursor& other) : LayoutCursor(&other.layout_, other.values_.count) {
    Seek(other.position_);
  }
  LayoutCursor& operator=(const LayoutCursor&) = delete;

  const TypedLayout& layout() const { return layout_; }
  // Bytes in all, and those before the place where the cursor is.
  int64_t size() const { return size_; }
  int64_t position() const { return position_; }
  // Goes to a packed offset, at most size(). Cost: the depth of the tree, and in a list the
  // logarithm of its length.
  void Seek(int64_t position);
  // Returns the next bytes in packed order, at most up to the first run of another length or
  // stride. REQUIRES: position() < size().
  Runs Next() const;
  // Steps over so many bytes of Next(), or all of them.
  void Skip(int64_t bytes);

 private:
  // Where the walk is within a node.
  struct Level {
    const TypedLayout::Node* node;
    int64_t base;   // of the node
    int64_t index;  // of the child
  };

  // Down to the run that holds byte `within` of a node at `base`.
  void Descend(const TypedLayout::Node* node, int64_t base, int64_t within);
  // To the next run.
  void Step();
  const TypedLayout::Node& Child(const Level& level) const;
  int64_t BaseOfChild(const Level& level) const;

  const TypedLayout& layout_;
  TypedLayout::Node values_;  // a repetition of the root
  int64_t size_ = 0;
  int64_t position_ = 0;
  int depth_ = 0;
  Level levels_[TypedLayout::kMostDepth + 1];
  int64_t run_ = 0;   // offset of what is left of the run
  int64_t left_ = 0;  // bytes of it
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_LAYOUT_LAYOUT_CURSOR_H_

#include "windows/layout/layout_cursor.h"

#include <algorithm>

#include "membuf/check.h"

namespace brigade {

using Node = TypedLayout::Node;

LayoutCursor::LayoutCursor(const TypedLayout* layout, int64_t count) : layout_(*layout) {
  values_.kind = Node::Kind::kRepeat;
  values_.count = count;
  values_.stride = layout->extent();
  size_ = count * layout->size();
  Seek(0);
}

void LayoutCursor::Seek(int64_t position) {
  BRIGADE_CHECK_LE(position, size_);
  position_ = position;
  depth_ = 0;
  if (position < size_) Descend(&values_, 0, position);
}

const Node& LayoutCursor::Child(const Level& level) const {
  if (level.node == &values_) return layout_.root();
  if (level.node->kind == Node::Kind::kRepeat) return layout_.node(level.node->child);
  return layout_.node(layout_.entry(level.node->child + static_cast<uint32_t>(level.index)).child);
}

int64_t LayoutCursor::BaseOfChild(const Level& level) const {
  if (level.node->kind == Node::Kind::kRepeat) return level.base + level.index * level.node->stride;
  return level.base + layout_.entry(level.node->child + static_cast<uint32_t>(level.index)).offset;
}

void LayoutCursor::Descend(const Node* node, int64_t base, int64_t within) {
  while (node->kind != Node::Kind::kRun) {
    Level& level = levels_[depth_++];
    level = {node, base, 0};
    if (node->kind == Node::Kind::kRepeat) {
      const int64_t bytes = Child(level).size;
      level.index = within / bytes;
      within -= level.index * bytes;
    } else {
      const TypedLayout::Entry* const first = &layout_.entry(node->child);
      const TypedLayout::Entry* const behind = std::upper_bound(
          first, first + node->count, within,
          [](int64_t offset, const TypedLayout::Entry& entry) { return offset < entry.before; });
      level.index = behind - first - 1;
      within -= behind[-1].before;
    }
    base = BaseOfChild(level);
    node = &Child(level);
  }
  run_ = base + within;
  left_ = node->size - within;
}

void LayoutCursor::Step() {
  while (depth_ > 0) {
    Level& level = levels_[depth_ - 1];
    if (++level.index < level.node->count) {
      Descend(&Child(level), BaseOfChild(level), 0);
      return;
    }
    --depth_;
  }
}

Runs LayoutCursor::Next() const {
  const Level& level = levels_[depth_ - 1];
  if (level.node->kind == Node::Kind::kRepeat) {
    const int64_t bytes = Child(level).size;
    const int64_t runs = level.node->count - level.index;
    // Values in a row without a gap.
    if (level.node->stride == bytes) return {run_, left_ + (runs - 1) * bytes, 0, 1};
    if (left_ == bytes) return {run_, left_, level.node->stride, runs};
  }
  return {run_, left_, 0, 1};
}

void LayoutCursor::Skip(int64_t bytes) {
  position_ += bytes;
  while (bytes > 0) {
    if (bytes < left_) {
      run_ += bytes;
      left_ -= bytes;
      return;
    }
    // All runs but the last of them at once.
    Level& level = levels_[depth_ - 1];
    const Node& child = Child(level);
    bytes -= left_;
    if (level.node->kind == Node::Kind::kRepeat && bytes >= child.size) {
      const int64_t whole = std::min(bytes / child.size, level.node->count - level.index - 1);
      level.index += whole;
      bytes -= whole * child.size;
    }
    Step();
  }
}

}  // namespace brigade

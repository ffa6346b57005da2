// TypedLayout: where the bytes of one value of a datatype lie, in compact form.
//
// A tree of three kinds of nodes: a run of adjacent bytes; equal children a stride apart; a list of
// children, each at its offset. Equal subtrees are kept once, and what is adjacent is one run, so
// that a vector of a million blocks is two nodes. Packed order is the order of the tree: "packed
// offset" k is the k-th byte in it. Offsets count from the address of the value and may be
// negative.
//
// The serial form is sent to another rank, once. Parse accepts only forms that can be walked.
//
// Source: the light-weight form of derived datatypes of MPI/SX, section 4.

#ifndef BRIGADE_WINDOWS_LAYOUT_TYPED_LAYOUT_H_
#define BRIGADE_WINDOWS_LAYOUT_TYPED_LAYOUT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/element.h"
#include "membuf/status.h"

namespace brigade {

class TypedLayout {
 public:
  // No tree is deeper.
  static constexpr int kMostDepth = 48;
  // Sizes, offsets and extents stay below, so that sums of two of them stay within 64 bits.
  static constexpr int64_t kMostBytes = int64_t{1} << 62;
  static bool IsInRange(int64_t bytes) { return -kMostBytes < bytes && bytes < kMostBytes; }

  struct Node {
    enum class Kind : uint8_t { kRun, kRepeat, kList };
    Kind kind = Kind::kRun;
    int64_t size = 0;   // bytes in it
    int64_t count = 0;  // children; of a run: 1
    int64_t stride = 0;
    uint32_t child = 0;  // kRepeat: a node; kList: its first entry
    int64_t low = 0;     // its bytes lie in [low, high)
    int64_t high = 0;
    int depth = 1;
    int64_t run = 0;  // kList: the length of each child, if they are equal runs; else 0
  };
  struct Entry {
    int64_t offset = 0;
    int64_t before = 0;  // bytes of the entries before it
    uint32_t child = 0;
  };
  struct Part {
    int64_t offset;
    const TypedLayout* layout;
  };

  // No bytes.
  TypedLayout();
  // One element. The same object every time.
  static const TypedLayout& One(Element element);
  // `count` adjacent elements. REQUIRES: count >= 0, and fewer than 2^62 bytes.
  static TypedLayout Run(Element element, int64_t count);
  // `count` children, `stride` bytes apart. kInvalidArgument: a negative count, 2^62 bytes or more,
  // here or below, or a tree that is too deep.
  static Status Repeat(int64_t count, int64_t stride, const TypedLayout& child,
                       TypedLayout* layout);
  // Children, in this order. As Repeat.
  static Status List(const std::vector<Part>& parts, TypedLayout* layout);

  // The same bytes, but values of it in a row begin `extent` bytes apart. As made, they do so where
  // the last byte of one ends. REQUIRES: IsInRange(extent).
  TypedLayout Resized(int64_t extent) const;
  // The same bytes, of which an element is made of several runs, or which have no meaning as such.
  TypedLayout WithElement(Element element) const;

  // Bytes of one value.
  int64_t size() const { return root().size; }
  int64_t extent() const { return extent_; }
  // One value's bytes lie in [low, high).
  int64_t low() const { return root().low; }
  int64_t high() const { return root().high; }
  // Where the bytes of `count` values in a row lie, and how many they are. False, if that exceeds
  // 2^62. REQUIRES: count >= 0.
  bool Bounds(int64_t count, int64_t* low, int64_t* high, int64_t* bytes) const {
    if (count != 1 || size() == 0) return BoundsOfMany(count, low, high, bytes);
    *low = this->low();
    *high = this->high();
    *bytes = size();
    return true;
  }
  // The kind of all its elements; kMixed if there are several kinds.
  Element element() const { return element_; }
  // Values in a row are one run of bytes from offset 0 on.
  bool is_contiguous() const {
    return size() == 0 || (root().kind == Node::Kind::kRun && extent_ == size());
  }

  // The same object, or a copy of it: found out without a look at its form.
  bool IsSameAs(const TypedLayout& other) const {
    return tree_ == other.tree_ && extent_ == other.extent_ && element_ == other.element_;
  }

  // Two of the same form walk alike.
  std::string ToBytes() const;
  // kMismatch: no such form.
  static Status Parse(ConstByteSpan bytes, TypedLayout* layout);

  // For those who walk it.
  const Node& root() const { return tree_->nodes.back(); }
  const Node& node(uint32_t i) const { return tree_->nodes[i]; }
  const Entry& entry(uint32_t i) const { return tree_->entries[i]; }

 private:
  // Children before their parents; the root is the last.
  struct Tree {
    std::vector<Node> nodes;
    std::vector<Entry> entries;
  };
  class Builder;
  friend class Builder;

  TypedLayout(std::shared_ptr<const Tree> tree, Element element);
  bool BoundsOfMany(int64_t count, int64_t* low, int64_t* high, int64_t* bytes) const;
  // A run whose tree is never freed, and so has no count of those who share it. To copy a layout
  // with a count takes an atomic operation, and a one-sided call copies several.
  static TypedLayout KeptForGood(Element element, int64_t count);

  std::shared_ptr<const Tree> tree_;
  int64_t extent_ = 0;
  Element element_ = Element::kByte;
};

}  // namespace brigade

#endif  // BRIGADE_WINDOWS_LAYOUT_TYPED_LAYOUT_H_

#include "windows/layout/typed_layout.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "membuf/check.h"

namespace brigade {
namespace {

bool Multiply(int64_t a, int64_t b, int64_t* product) {
  return !__builtin_mul_overflow(a, b, product) && TypedLayout::IsInRange(*product);
}

bool Add(int64_t a, int64_t b, int64_t* sum) {
  return !__builtin_add_overflow(a, b, sum) && TypedLayout::IsInRange(*sum);
}

Status TooLarge() { return {StatusCode::kInvalidArgument, "a layout of 2^62 bytes or more"}; }

}  // namespace

// Adds nodes to a tree, each at most once.
class TypedLayout::Builder {
 public:
  uint32_t AddRun(int64_t bytes) {
    Node node;
    node.size = node.high = bytes;
    node.count = 1;
    return Add(node);
  }

  Status AddRepeat(int64_t count, int64_t stride, uint32_t child, uint32_t* made) {
    if (count < 0) return {StatusCode::kInvalidArgument, "a negative count"};
    const Node below = tree_.nodes[child];
    if (count == 0 || below.size == 0) return *made = AddRun(0), Status();
    if (count == 1) return *made = child, Status();
    Node node;
    int64_t span = 0;
    if (!Multiply(count, below.size, &node.size) || !Multiply(count - 1, stride, &span)) {
      return TooLarge();
    }
    if (below.kind == Node::Kind::kRun && stride == below.size) {
      return *made = AddRun(node.size), Status();
    }
    // Repeated runs, repeated without a break.
    if (below.kind == Node::Kind::kRepeat && stride == below.count * below.stride) {
      return AddRepeat(count * below.count, below.stride, below.child, made);
    }
    node.kind = Node::Kind::kRepeat;
    node.count = count;
    node.stride = stride;
    node.child = child;
    if (!brigade::Add(below.low, std::min<int64_t>(span, 0), &node.low) ||
        !brigade::Add(below.high, std::max<int64_t>(span, 0), &node.high)) {
      return TooLarge();
    }
    return AddBelow(node, below.depth, made);
  }

  // `entries` have offsets and children.
  Status AddList(std::vector<Entry> entries, uint32_t* made) {
    for (const Entry& entry : entries) {
      if (!IsInRange(entry.offset)) return TooLarge();
    }
    Join(&entries);
    if (entries.empty()) return *made = AddRun(0), Status();
    if (entries.size() == 1 && entries[0].offset == 0) return *made = entries[0].child, Status();
    if (entries.size() > 1 && IsEven(entries)) {
      uint32_t repeated = 0;
      BRIGADE_RETURN_IF_ERROR(AddRepeat(static_cast<int64_t>(entries.size()),
                                        entries[1].offset - entries[0].offset, entries[0].child,
                                        &repeated));
      Entry all;
      all.offset = entries[0].offset;
      all.child = repeated;
      return AddList({all}, made);
    }
    Node node;
    node.kind = Node::Kind::kList;
    node.count = static_cast<int64_t>(entries.size());
    node.low = kMostBytes;
    node.high = -kMostBytes;
    const Node& first = tree_.nodes[entries[0].child];
    if (first.kind == Node::Kind::kRun) node.run = first.size;
    int depth = 0;
    for (Entry& entry : entries) {
      const Node& below = tree_.nodes[entry.child];
      if (entry.child != entries[0].child) node.run = 0;
      entry.before = node.size;
      int64_t low = 0;
      int64_t high = 0;
      if (!brigade::Add(node.size, below.size, &node.size) ||
          !brigade::Add(entry.offset, below.low, &low) ||
          !brigade::Add(entry.offset, below.high, &high)) {
        return TooLarge();
      }
      node.low = std::min(node.low, low);
      node.high = std::max(node.high, high);
      depth = std::max(depth, below.depth);
    }
    node.child = static_cast<uint32_t>(tree_.entries.size());
    tree_.entries.insert(tree_.entries.end(), entries.begin(), entries.end());
    return AddBelow(node, depth, made);
  }

  // A copy of another tree; its root.
  uint32_t AddTree(const Tree& tree) {
    std::vector<uint32_t> here(tree.nodes.size());
    for (uint32_t i = 0; i < tree.nodes.size(); ++i) {
      here[i] = static_cast<uint32_t>(tree_.nodes.size());
      Move(tree, i, here, &tree_);
      if (tree_.nodes.back().kind == Node::Kind::kList) continue;
      const auto known = known_.emplace(KeyOf(tree_.nodes.back()), here[i]);
      if (known.second) continue;
      tree_.nodes.pop_back();
      here[i] = known.first->second;
    }
    return here.back();
  }

  // Returns a tree of the nodes that `root` needs, and of no others.
  std::shared_ptr<const Tree> Take(uint32_t root) const {
    std::vector<bool> needed(root + 1);
    needed[root] = true;
    for (uint32_t i = root + 1; i-- > 0;) {
      if (needed[i]) ForEachChild(tree_.nodes[i], [&](uint32_t child) { needed[child] = true; });
    }
    auto taken = std::make_shared<Tree>();
    std::vector<uint32_t> there(root + 1);
    for (uint32_t i = 0; i <= root; ++i) {
      if (!needed[i]) continue;
      there[i] = static_cast<uint32_t>(taken->nodes.size());
      Move(tree_, i, there, taken.get());
    }
    return taken;
  }

 private:
  // Adjacent runs become one, unless it would be too large; what is empty goes.
  void Join(std::vector<Entry>* entries) {
    std::vector<Entry> joined;
    for (const Entry& entry : *entries) {
      const Node& node = tree_.nodes[entry.child];
      if (node.size == 0) continue;
      if (!joined.empty() && node.kind == Node::Kind::kRun) {
        Entry& last = joined.back();
        const Node& before = tree_.nodes[last.child];
        if (before.kind == Node::Kind::kRun && last.offset + before.size == entry.offset &&
            IsInRange(before.size + node.size)) {
          last.child = AddRun(before.size + node.size);
          continue;
        }
      }
      joined.push_back(entry);
    }
    entries->swap(joined);
  }

  static bool IsEven(const std::vector<Entry>& entries) {
    const int64_t stride = entries[1].offset - entries[0].offset;
    for (size_t i = 1; i < entries.size(); ++i) {
      if (entries[i].child != entries[0].child ||
          entries[i].offset - entries[i - 1].offset != stride) {
        return false;
      }
    }
    return true;
  }

  template <typename Visit>
  void ForEachChild(const Node& node, const Visit& visit) const {
    if (node.kind == Node::Kind::kRepeat) visit(node.child);
    if (node.kind != Node::Kind::kList) return;
    for (int64_t i = 0; i < node.count; ++i) {
      visit(tree_.entries[node.child + static_cast<size_t>(i)].child);
    }
  }

  // Appends a node, whose children have moved already.
  static void Move(const Tree& from, uint32_t i, const std::vector<uint32_t>& moved, Tree* to) {
    Node node = from.nodes[i];
    if (node.kind == Node::Kind::kRepeat) node.child = moved[node.child];
    if (node.kind == Node::Kind::kList) {
      const auto first = from.entries.begin() + node.child;
      node.child = static_cast<uint32_t>(to->entries.size());
      for (auto entry = first; entry != first + node.count; ++entry) {
        to->entries.push_back(*entry);
        to->entries.back().child = moved[entry->child];
      }
    }
    to->nodes.push_back(node);
  }

  Status AddBelow(Node node, int depth, uint32_t* made) {
    node.depth = depth + 1;
    if (node.depth > kMostDepth) {
      return {StatusCode::kInvalidArgument,
              "a layout of more than " + std::to_string(kMostDepth) + " levels"};
    }
    *made = Add(node);
    return Status();
  }

  uint32_t Add(const Node& node) {
    const auto index = static_cast<uint32_t>(tree_.nodes.size());
    if (node.kind != Node::Kind::kList) {
      const auto known = known_.emplace(KeyOf(node), index);
      if (!known.second) return known.first->second;
    }
    tree_.nodes.push_back(node);
    return index;
  }

  using Key = std::tuple<int64_t, int64_t, int64_t, uint32_t>;
  static Key KeyOf(const Node& node) { return {node.size, node.count, node.stride, node.child}; }

  Tree tree_;
  std::map<Key, uint32_t> known_;
};

TypedLayout::TypedLayout() {
  static const TypedLayout& nothing = *new TypedLayout(KeptForGood(Element::kByte, 0));
  *this = nothing;
}

const TypedLayout& TypedLayout::One(Element element) {
  static const std::vector<TypedLayout>& each = *[] {
    auto* const layouts = new std::vector<TypedLayout>;
    for (int i = 0; i < kElements; ++i) {
      layouts->push_back(KeptForGood(static_cast<Element>(i), 1));
    }
    return layouts;
  }();
  return each[static_cast<size_t>(element)];
}

TypedLayout TypedLayout::KeptForGood(Element element, int64_t count) {
  Builder builder;
  const uint32_t run = builder.AddRun(count * static_cast<int64_t>(ElementBytes(element)));
  const Tree* const tree = new Tree(*builder.Take(run));
  return {std::shared_ptr<const Tree>(std::shared_ptr<const Tree>(), tree), element};
}

TypedLayout::TypedLayout(std::shared_ptr<const Tree> tree, Element element)
    : tree_(std::move(tree)), extent_(root().high), element_(element) {}

TypedLayout TypedLayout::Run(Element element, int64_t count) {
  int64_t bytes = 0;
  BRIGADE_CHECK(count >= 0 && Multiply(count, static_cast<int64_t>(ElementBytes(element)), &bytes));
  if (count == 1) return One(element);
  Builder builder;
  const uint32_t run = builder.AddRun(bytes);
  return {builder.Take(run), element};
}

Status TypedLayout::Repeat(int64_t count, int64_t stride, const TypedLayout& child,
                           TypedLayout* layout) {
  Builder builder;
  uint32_t made = 0;
  BRIGADE_RETURN_IF_ERROR(builder.AddRepeat(count, stride, builder.AddTree(*child.tree_), &made));
  *layout = TypedLayout(builder.Take(made), child.element_);
  return Status();
}

Status TypedLayout::List(const std::vector<Part>& parts, TypedLayout* layout) {
  Builder builder;
  std::map<const Tree*, uint32_t> added;
  std::vector<Entry> entries;
  Element element = parts.empty() ? Element::kByte : parts[0].layout->element_;
  for (const Part& part : parts) {
    const Tree* const tree = part.layout->tree_.get();
    auto known = added.find(tree);
    if (known == added.end()) known = added.emplace(tree, builder.AddTree(*tree)).first;
    Entry entry;
    entry.offset = part.offset;
    entry.child = known->second;
    entries.push_back(entry);
    if (part.layout->element_ != element) element = Element::kMixed;
  }
  uint32_t made = 0;
  BRIGADE_RETURN_IF_ERROR(builder.AddList(std::move(entries), &made));
  *layout = TypedLayout(builder.Take(made), element);
  return Status();
}

bool TypedLayout::BoundsOfMany(int64_t count, int64_t* low, int64_t* high, int64_t* bytes) const {
  *low = *high = *bytes = 0;
  if (count == 0 || size() == 0) return true;
  int64_t span = 0;
  return Multiply(count, size(), bytes) && Multiply(count - 1, extent_, &span) &&
         Add(this->low(), std::min<int64_t>(span, 0), low) &&
         Add(this->high(), std::max<int64_t>(span, 0), high);
}

TypedLayout TypedLayout::Resized(int64_t extent) const {
  BRIGADE_CHECK(IsInRange(extent));
  TypedLayout resized = *this;
  resized.extent_ = extent;
  return resized;
}

TypedLayout TypedLayout::WithElement(Element element) const {
  TypedLayout other = *this;
  other.element_ = element;
  return other;
}

// --- the serial form: numbers of seven bits a byte, the last one below 128 ---

namespace {

void Put(int64_t value, std::string* out) {
  // Small ones of either sign are short.
  uint64_t bits = (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
  for (; bits >= 128; bits >>= 7) out->push_back(static_cast<char>(bits | 128));
  out->push_back(static_cast<char>(bits));
}

class Reader {
 public:
  explicit Reader(ConstByteSpan bytes) : bytes_(bytes) {}

  // 0 once something was wrong.
  int64_t Get() {
    uint64_t bits = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.bytes) break;
      const auto byte = static_cast<uint64_t>(bytes_.data[at_++]);
      bits |= (byte & 127) << shift;
      if (byte < 128) return static_cast<int64_t>((bits >> 1) ^ (0 - (bits & 1)));
    }
    ok_ = false;
    return 0;
  }
  // A number in [0, limit).
  uint32_t GetBelow(size_t limit) {
    const int64_t value = Get();
    if (value < 0 || static_cast<uint64_t>(value) >= limit) ok_ = false;
    return ok_ ? static_cast<uint32_t>(value) : 0;
  }
  size_t left() const { return bytes_.bytes - at_; }
  bool ok() const { return ok_; }

 private:
  const ConstByteSpan bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

std::string TypedLayout::ToBytes() const {
  std::string out;
  Put(static_cast<int64_t>(element_), &out);
  Put(extent_, &out);
  Put(static_cast<int64_t>(tree_->nodes.size()), &out);
  for (const Node& node : tree_->nodes) {
    Put(static_cast<int64_t>(node.kind), &out);
    switch (node.kind) {
      case Node::Kind::kRun:
        Put(node.size, &out);
        break;
      case Node::Kind::kRepeat:
        Put(node.count, &out);
        Put(node.stride, &out);
        Put(node.child, &out);
        break;
      case Node::Kind::kList: {
        Put(node.count, &out);
        int64_t last = 0;
        for (int64_t i = 0; i < node.count; ++i) {
          const Entry& one = entry(node.child + static_cast<uint32_t>(i));
          Put(one.offset - last, &out);
          Put(one.child, &out);
          last = one.offset;
        }
        break;
      }
    }
  }
  return out;
}

Status TypedLayout::Parse(ConstByteSpan bytes, TypedLayout* layout) {
  const Status wrong(StatusCode::kMismatch, "the layout of a datatype cannot be read");
  Reader reader(bytes);
  const auto element = static_cast<Element>(reader.GetBelow(kElements + 1));
  const int64_t extent = reader.Get();
  // Every node and entry takes a byte at least, so nothing here is larger than what was sent.
  const uint32_t nodes = reader.GetBelow(bytes.bytes + 1);
  Builder builder;
  std::vector<uint32_t> made(nodes);
  for (uint32_t i = 0; i < nodes && reader.ok(); ++i) {
    const auto kind = static_cast<Node::Kind>(reader.GetBelow(3));
    Status status;
    if (kind == Node::Kind::kRun) {
      const int64_t size = reader.Get();
      if (size < 0 || size >= kMostBytes) return wrong;
      made[i] = builder.AddRun(size);
    } else if (kind == Node::Kind::kRepeat) {
      const int64_t count = reader.Get();
      const int64_t stride = reader.Get();
      const uint32_t child = reader.GetBelow(i);
      if (!reader.ok()) return wrong;
      status = builder.AddRepeat(count, stride, made[child], &made[i]);
    } else {
      const uint32_t count = reader.GetBelow(reader.left() + 1);
      std::vector<Entry> entries(count);
      int64_t last = 0;
      for (Entry& one : entries) {
        if (!Add(last, reader.Get(), &one.offset)) return wrong;
        last = one.offset;
        const uint32_t child = reader.GetBelow(i);
        if (!reader.ok()) return wrong;
        one.child = made[child];
      }
      status = builder.AddList(std::move(entries), &made[i]);
    }
    if (!status.ok()) return wrong;
  }
  if (!reader.ok() || reader.left() > 0 || nodes == 0) return wrong;
  if (!IsInRange(extent)) return wrong;
  *layout = TypedLayout(builder.Take(made.back()), element).Resized(extent);
  return Status();
}

}  // namespace brigade

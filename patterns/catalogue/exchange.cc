#include "patterns/catalogue/exchange.h"

#include "patterns/schedule/geometry.h"

namespace brigade {
namespace {

// Combines the contributions of all ranks into the matrix, as the tree would.
class WholeTree {
 public:
  // `self`: this rank, relative to the root. `top`: a stream for the partial of the whole tree,
  // which the root does without: it combines in the matrix.
  WholeTree(ScheduleBuilder* builder, const RankTree& tree, int self, int top)
      : b_(*builder),
        tree_(tree),
        self_(self),
        inner_(b_.AddStream("R", ChunkRole::kReceive)),
        leaf_(b_.AddStream("Q", ChunkRole::kReceive)),
        top_(top) {}

  void Combine() { (void)Partial(0, 0); }

 private:
  Place Contribution(int relative, int stream) {
    if (relative == self_) return Place::Matrix();
    b_.ReceiveAndAwait(tree_.ToRank(relative), stream);
    return Place::Current(stream);
  }
  void Free(const Place& place) {
    if (place.in_stream()) b_.Free(place.index);
  }
  // Where the partial at a depth is kept.
  int StreamAt(int depth) {
    if (depth == 0) return top_;
    if (below_ < 0) below_ = b_.AddStream("P", ChunkRole::kCombineTarget, 1);
    return below_;
  }
  // The result of the subtree at `relative`, and where it lies. That of the whole tree comes into
  // the matrix; nothing of it does before this rank's own contribution is used.
  Place Partial(int relative, int depth) {
    const TreeNode node = tree_.NodeOf(relative);
    if (node.children.empty()) return Contribution(relative, leaf_);
    Place left = Contribution(relative, inner_);
    for (const int child : node.children) {
      const Place right = Partial(child, depth + 1);
      const bool last = child == node.children.back();
      const bool in_matrix = depth == 0 && (last || relative == self_);
      const bool begins = left == Place::Matrix() || left == Place::Current(inner_);
      const Place target = in_matrix ? Place::Matrix()
                           : begins  ? Place::New(StreamAt(depth))
                                     : left;
      b_.Combine(target, left, right);
      Free(right);
      if (begins || in_matrix) Free(left);
      left = in_matrix ? Place::Matrix() : Place::Current(StreamAt(depth));
    }
    return left;
  }

  ScheduleBuilder& b_;
  const RankTree& tree_;
  const int self_;
  // Of one that has children, and of one that has none: the first child of any has none, so both
  // are held at once.
  const int inner_;
  const int leaf_;
  const int top_;
  int below_ = -1;  // for partials of subtrees, once there is one
};

}  // namespace

bool Exchanges(const ScheduleParameters& p, int most_levels) {
  return p.topology.shape == Shape::kExchange && p.shares_memory &&
         TreeHeight(p.topology, p.size) <= most_levels;
}

Schedule ExchangeReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const RankTree tree(p.topology, p.size, p.root, p.hosts);
  if (p.rank == p.root) {
    WholeTree(&b, tree, /*self=*/0, /*top=*/-1).Combine();
    return b.Build();
  }
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  b.Copy(Place::New(out), Place::Matrix());
  b.Send(out, p.root);
  b.Free(out);
  return b.Build();
}

Schedule ExchangeAllReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const RankTree tree(p.topology, p.size, /*root=*/0, p.hosts);
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  b.Copy(Place::New(out), Place::Matrix());
  for (int distance = 1; distance < p.size; ++distance) {
    b.Send(out, (p.rank + distance) % p.size);
  }
  b.Free(out);
  WholeTree(&b, tree, tree.ToRelative(p.rank), out).Combine();
  return b.Build();
}

}  // namespace brigade

#include "patterns/catalogue/exchange.h"

#include <cstddef>
#include <functional>
#include <vector>

#include "patterns/schedule/circulant_graph.h"
#include "patterns/schedule/geometry.h"

namespace brigade {
namespace {

// The order in which ranks are combined, counted from the root: a rank's own contribution, and
// then, one after the other, the partials of its children.
struct Tree {
  std::function<std::vector<int>(int relative)> children;
  std::function<int(int relative)> rank;
};

Tree TreeOf(const RankTree& ranks) {
  return {[&ranks](int relative) { return ranks.NodeOf(relative).children; },
          [&ranks](int relative) { return ranks.ToRank(relative); }};
}

// How a multi-reduce on a circulant graph combines block `block`, by the distance of ranks
// before its own: in the round of a skip, those so much further and more are added to those nearer.
Tree TreeOfBlock(const CirculantGraph& graph, int block) {
  const auto children = [&graph](int distance) {
    std::vector<int> added;
    for (int k = graph.rounds() - 1; k >= 0 && distance < graph.skip(k); --k) {
      const int further = distance + graph.skip(k);
      if (further < graph.skip(k + 1)) added.push_back(further);
    }
    return added;
  };
  return {children, [&graph, block](int distance) { return graph.RankAt(block, -distance); }};
}

// The order in which the root needs what others send.
void ListNeeds(const Tree& tree, int relative, std::vector<int>* needs) {
  for (const int child : tree.children(relative)) {
    needs->push_back(child);
    ListNeeds(tree, child, needs);
  }
}

// Combines the contributions of all ranks into the matrix, as the tree would.
class WholeTree {
 public:
  // `self`: this rank, relative to the root; `own`: where its contribution is. `top`: a stream for
  // the partial of the whole tree, which the root does without: it combines in the matrix.
  WholeTree(ScheduleBuilder* builder, const Tree& tree, int self, const Place& own, int top,
            int received_slots = kMinSlots)
      : b_(*builder),
        tree_(tree),
        self_(self),
        own_(own),
        inner_(b_.AddStream("R", ChunkRole::kReceive, received_slots)),
        leaf_(b_.AddStream("Q", ChunkRole::kReceive, received_slots)),
        partials_({top}) {}

  void Combine() { (void)Partial(0, 0); }

 private:
  Place Contribution(int relative, int stream) {
    if (relative == self_) return own_;
    b_.ReceiveAndAwait(tree_.rank(relative), stream);
    return Place::Current(stream);
  }
  void Free(const Place& place) {
    if (place.in_stream()) b_.Free(place.index);
  }
  // Where the partial at a depth is kept.
  int StreamAt(size_t depth) {
    while (partials_.size() <= depth) {
      partials_.push_back(b_.AddStream("P", ChunkRole::kCombineTarget, 1));
    }
    return partials_[depth];
  }
  // Combines the subtree at `relative`, and returns where its result lies. The result of the whole
  // tree comes into the matrix, but not before this rank's own contribution is used.
  Place Partial(int relative, size_t depth) {
    const std::vector<int> children = tree_.children(relative);
    if (children.empty()) return Contribution(relative, leaf_);
    Place left = Contribution(relative, inner_);
    for (const int child : children) {
      const Place right = Partial(child, depth + 1);
      const bool last = child == children.back();
      const bool in_matrix = depth == 0 && (last || relative == self_);
      const bool begins = left == own_ || left == Place::Current(inner_);
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
  const Tree tree_;
  const int self_;
  const Place own_;
  // Of one that has children, and of one that has none: the first child of any has none, so both
  // are held at once.
  const int inner_;
  const int leaf_;
  std::vector<int> partials_;  // streams, by depth
};

}  // namespace

bool Exchanges(const ScheduleParameters& p, int most_levels) {
  return p.topology.shape == Shape::kExchange && p.shares_memory &&
         TreeHeight(p.topology, p.size) <= most_levels;
}

Schedule ExchangeReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const RankTree tree(p.topology, p.size, p.in_rank_order ? 0 : p.root, p.hosts);
  if (p.rank == p.root) {
    const int self = tree.ToRelative(p.rank);
    const int top = self == 0 ? -1 : b.AddStream("S", ChunkRole::kCombineTarget);
    WholeTree(&b, TreeOf(tree), self, Place::Source(), top).Combine();
    return b.Build();
  }
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  b.Copy(Place::New(out), Place::Source());
  b.Send(out, p.root);
  b.Free(out);
  return b.Build();
}

Schedule ExchangeAllReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const RankTree tree(p.topology, p.size, /*root=*/0, p.hosts);
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  b.Copy(Place::New(out), Place::Source());
  for (int distance = 1; distance < p.size; ++distance) {
    b.Send(out, (p.rank + distance) % p.size);
  }
  b.Free(out);
  WholeTree(&b, TreeOf(tree), tree.ToRelative(p.rank), Place::Source(), out).Combine();
  return b.Build();
}

// Each rank sends its contributions in the order in which the other ranks need them, so that no two
// slots of all ranks wait for each other.
Schedule ExchangeMultiReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const CirculantGraph graph(p.size);
  const Tree tree = TreeOfBlock(graph, p.rank);
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  std::vector<int> needs;
  ListNeeds(tree, 0, &needs);
  for (const int distance : needs) {
    const int block = graph.RankAt(p.rank, distance);
    b.SetBlock(block);
    b.Copy(Place::New(out), Place::Block(block));
    b.Send(out, block);
    b.Free(out);
  }
  b.StartLane();
  b.SetBlock(p.rank);
  WholeTree(&b, tree, /*self=*/0, Place::Block(p.rank), /*top=*/-1, /*received_slots=*/1).Combine();
  return b.Build();
}

}  // namespace brigade

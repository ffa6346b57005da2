#include "patterns/catalogue/circulant.h"
#include "patterns/catalogue/compilers.h"
#include "patterns/catalogue/exchange.h"
#include "patterns/catalogue/reduce_steps.h"
#include "patterns/schedule/geometry.h"

namespace brigade {
namespace {

// Adds what the children send to this rank's contribution, or one share of it, at the root.
template <typename ToRank>
void AddToMatrix(ScheduleBuilder* b, const TreeNode& node, const ToRank& to_rank, Place source) {
  const int in = b->AddStream("R", ChunkRole::kReceive);
  Place own = source;
  for (int child : node.children) {
    b->ReceiveAndAwait(to_rank(child), in);
    b->Combine(InPlace(source), own, Place::Current(in));
    b->Free(in);
    own = InPlace(source);
  }
}

template <typename ToRank>
void AddReduce(ScheduleBuilder* b, const TreeNode& node, int relative, const ToRank& to_rank,
               Place source) {
  if (relative == 0) {
    AddToMatrix(b, node, to_rank, source);
  } else {
    const int out = AddPartial(b, node, relative, to_rank, source);
    b->Send(out, to_rank(node.parent));
    b->Free(out);
  }
}

Schedule TwoTreeReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const RankTree ranks(p.topology, p.size, p.root, {});
  const int relative = ranks.ToRelative(p.rank);
  b.SetShares(Shares::Halves(p.size));
  for (const int half : {0, 1}) {
    const TreeNode node = TreeNodeOf({Shape::kTwoTree, half}, p.size, relative);
    if (half == 1 && p.size > 2) b.StartLane();  // of two ranks, one has one order
    b.SetBlock(half);
    AddReduce(
        &b, node, relative, [&](int r) { return ranks.ToRank(r); }, Place::SourceBlock(half));
  }
  return b.Build();
}

// Along the tree of root 0, whose order is that of ranks; rank 0 sends the result to the root.
Schedule ReduceByWayOfRank0(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const RankTree tree(p.topology, p.size, /*root=*/0, {});
  const TreeNode node = tree.NodeOf(p.rank);
  const int out = AddPartial(&b, node, p.rank, [](int r) { return r; });
  b.Send(out, p.rank == 0 ? p.root : node.parent);
  b.Free(out);
  if (p.rank == p.root) {
    b.StartLane();
    const int in = b.AddStream("B", ChunkRole::kReceive);
    b.ReceiveAndAwait(0, in);
    b.Copy(Place::Matrix(), Place::Current(in));
    b.Free(in);
  }
  return b.Build();
}

}  // namespace

Schedule CompileReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.size == 1) return b.Build();
  if (p.topology.shape == Shape::kTwoTree) return TwoTreeReduce(p);
  if (p.topology.shape == Shape::kCirculant) return CirculantReduce(p);
  const bool by_way = p.in_rank_order && p.root != 0;
  if (Exchanges(p, by_way ? kMostLevelsToAll : kMostLevelsToOne)) return ExchangeReduce(p);
  if (by_way) return ReduceByWayOfRank0(p);
  const RankTree tree(p.topology, p.size, p.root, p.hosts);
  const int relative = tree.ToRelative(p.rank);
  AddReduce(
      &b, tree.NodeOf(relative), relative, [&](int r) { return tree.ToRank(r); }, Place::Source());
  return b.Build();
}

}  // namespace brigade

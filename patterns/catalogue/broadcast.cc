#include "patterns/catalogue/circulant.h"
#include "patterns/catalogue/compilers.h"
#include "patterns/schedule/geometry.h"

namespace brigade {
namespace {

// Passes the matrix, or one share of it, on from the node's parent to its children; the largest
// subtree is the last child and has the longest way to go.
void AddBroadcast(ScheduleBuilder* b, const RankTree& tree, const TreeNode& node, Place matrix,
                  int stream) {
  if (node.parent < 0) {
    b->Copy(Place::New(stream), matrix);
  } else {
    b->ReceiveAndAwait(tree.ToRank(node.parent), stream);
  }
  for (auto c = node.children.rbegin(); c != node.children.rend(); ++c) {
    b->Send(stream, tree.ToRank(*c));
  }
  if (node.parent >= 0) b->Copy(matrix, Place::Current(stream));
  b->Free(stream);
}

Schedule TwoTreeBroadcast(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const RankTree ranks(p.topology, p.size, p.root, {});
  const int relative = ranks.ToRelative(p.rank);
  b.SetShares(Shares::Halves(p.size));
  int stream = -1;
  for (const int half : {0, 1}) {
    const TreeNode node = TreeNodeOf({Shape::kTwoTree, half}, p.size, relative);
    // The root sends to both trees in turn; of two ranks, one has one order.
    const bool one_lane = relative == 0 || p.size == 2;
    if (half == 1 && !one_lane) b.StartLane();
    if (half == 0 || !one_lane) {
      stream = b.AddStream(half == 0 ? "R" : "Q", relative == 0 ? ChunkRole::kBroadcastSource
                                                  : node.children.empty() ? ChunkRole::kReceive
                                                                          : ChunkRole::kForward);
    }
    b.SetBlock(half);
    AddBroadcast(&b, ranks, node, Place::Block(half), stream);
  }
  return b.Build();
}

Schedule TreeBroadcast(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const RankTree tree(p.topology, p.size, p.root, p.hosts);
  const int relative = tree.ToRelative(p.rank);
  const TreeNode node = tree.NodeOf(relative);
  const bool ring = p.topology.shape != Shape::kTree;
  const int stream =
      b.AddStream(relative == 0 ? "S" : "R", relative == 0           ? ChunkRole::kBroadcastSource
                                             : node.children.empty() ? ChunkRole::kReceive
                                             : ring                  ? ChunkRole::kPipelinedForward
                                                                     : ChunkRole::kForward);
  AddBroadcast(&b, tree, node, Place::Matrix(), stream);
  return b.Build();
}

}  // namespace

Schedule CompileBroadcast(const ScheduleParameters& p) {
  if (p.size == 1) return ScheduleBuilder().Build();
  if (p.topology.shape == Shape::kTwoTree) return TwoTreeBroadcast(p);
  if (p.topology.shape == Shape::kCirculant) return CirculantBroadcast(p);
  return TreeBroadcast(p);
}

}  // namespace brigade

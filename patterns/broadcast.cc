#include "patterns/compilers.h"
#include "patterns/geometry.h"

namespace brigade {

Schedule CompileBroadcast(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const RankTree tree(p.topology, p.size, p.root, p.hosts);
  const auto to_rank = [&](int r) { return tree.ToRank(r); };
  const int relative = tree.ToRelative(p.rank);
  const TreeNode node = tree.NodeOf(relative);
  if (p.size == 1) return b.Build();
  if (relative == 0) {
    const int out = b.AddStream("S", ChunkRole::kBroadcastSource);
    b.Copy(Place::New(out), Place::Matrix());
    // The largest subtree is the last child and has the longest way to go.
    for (auto c = node.children.rbegin(); c != node.children.rend(); ++c) b.Send(out, to_rank(*c));
    b.Free(out);
  } else {
    const bool ring = p.topology.shape != Shape::kTree;
    const int in = b.AddStream("R", node.children.empty() ? ChunkRole::kReceive
                                    : ring                ? ChunkRole::kPipelinedForward
                                                          : ChunkRole::kForward);
    b.ReceiveAndAwait(to_rank(node.parent), in);
    for (auto c = node.children.rbegin(); c != node.children.rend(); ++c) b.Send(in, to_rank(*c));
    b.Copy(Place::Matrix(), Place::Current(in));
    b.Free(in);
  }
  return b.Build();
}

}  // namespace brigade

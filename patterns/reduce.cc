#include "patterns/compilers.h"
#include "patterns/geometry.h"
#include "patterns/reduce_steps.h"

namespace brigade {

Schedule CompileReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.size == 1) return b.Build();
  const RankTree tree(p.topology, p.size, p.root, p.hosts);
  const auto to_rank = [&](int r) { return tree.ToRank(r); };
  const int relative = tree.ToRelative(p.rank);
  const TreeNode node = tree.NodeOf(relative);
  if (relative == 0) {
    const int in = b.AddStream("R", ChunkRole::kReceive);
    for (int child : node.children) {
      b.ReceiveAndAwait(to_rank(child), in);
      b.Combine(Place::Matrix(), Place::Matrix(), Place::Current(in));
      b.Free(in);
    }
  } else {
    const int out = AddPartial(&b, node, relative, to_rank);
    b.Send(out, to_rank(node.parent));
    b.Free(out);
  }
  return b.Build();
}

}  // namespace brigade

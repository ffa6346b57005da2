#include "patterns/compilers.h"
#include "patterns/geometry.h"
#include "patterns/reduce_steps.h"

namespace brigade {

Schedule CompileReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.size == 1) return b.Build();
  const auto to_rank = [&](int r) { return FromRelative(p.topology, p.size, p.root, r); };
  const int relative = ToRelative(p.topology, p.size, p.root, p.rank);
  const TreeNode node = TreeNodeOf(p.topology, p.size, relative);
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

#include "patterns/catalogue/compilers.h"
#include "patterns/catalogue/subtrees.h"

namespace brigade {
namespace {

// The root sends every rank its block.
Schedule FlatScatter(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.rank != p.root) {
    const int in = b.AddStream("R", ChunkRole::kReceive);
    b.SetBlock(p.rank);
    b.ReceiveAndAwait(p.root, in);
    b.Copy(Place::Block(p.rank), Place::Current(in));
    b.Free(in);
    return b.Build();
  }
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  for (int distance = 1; distance < p.size; ++distance) {
    const int rank = (p.root + distance) % p.size;
    b.SetBlock(rank);
    b.Copy(Place::New(out), Place::Block(rank));
    b.Send(out, rank);
    b.Free(out);
  }
  return b.Build();
}

}  // namespace

// A relay copies the blocks of a child and of all below it out of the message that it got. The
// largest subtree is the last child's and has the longest way to go.
Schedule CompileScatter(const ScheduleParameters& p) {
  if (p.size == 1) return ScheduleBuilder().Build();
  const OwnSubtree tree(p);
  if (tree.is_flat()) return FlatScatter(p);
  ScheduleBuilder b;
  tree.SetRuns(&b);
  int in = -1;
  int all = -1;
  if (!tree.is_root()) {
    in = b.AddStream("R", ChunkRole::kReceive);
    all = tree.AddOwnRunFrom(&b);
    b.SetBlock(all);
    b.ReceiveAndAwait(tree.parent(), in);
  }
  const int out = tree.children().empty() ? -1 : b.AddStream("S", ChunkRole::kBufferedSend);
  for (auto child = tree.children().rbegin(); child != tree.children().rend(); ++child) {
    const int below = tree.AddRunFrom(*child, &b);
    b.SetBlock(below);
    b.Copy(Place::New(out), tree.is_root() ? Place::Block(below) : Place::Current(in));
    b.Send(out, tree.ToRank(*child));
    b.Free(out);
  }
  if (tree.is_root()) return b.Build();
  const int own = tree.AddOwnBlock(&b);
  b.SetBlock(own);
  b.Copy(Place::Block(own), Place::Current(in));
  b.SetBlock(all);
  b.Free(in);
  return b.Build();
}

}  // namespace brigade

#include "patterns/catalogue/compilers.h"
#include "patterns/catalogue/subtrees.h"

namespace brigade {
namespace {

// Every rank sends its block to the root.
Schedule FlatGather(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.rank != p.root) {
    const int out = b.AddStream("S", ChunkRole::kBufferedSend);
    b.SetBlock(p.rank);
    b.Copy(Place::New(out), Place::Block(p.rank));
    b.Send(out, p.root);
    b.Free(out);
    return b.Build();
  }
  const int in = b.AddStream("R", ChunkRole::kReceive);
  for (int distance = 1; distance < p.size; ++distance) {
    const int rank = (p.root + distance) % p.size;
    b.SetBlock(rank);
    b.ReceiveAndAwait(rank, in);
    b.Copy(Place::Block(rank), Place::Current(in));
    b.Free(in);
  }
  return b.Build();
}

}  // namespace

// A relay puts the blocks that come from below behind its own, into one message.
Schedule CompileGather(const ScheduleParameters& p) {
  if (p.size == 1) return ScheduleBuilder().Build();
  const OwnSubtree tree(p);
  if (tree.is_flat()) return FlatGather(p);
  ScheduleBuilder b;
  tree.SetRuns(&b);
  int out = -1;
  int all = -1;
  if (!tree.is_root()) {
    out = b.AddStream("S", ChunkRole::kBufferedSend);
    all = tree.AddOwnRunFrom(&b);
    b.SetBlock(all);
    b.Open(out);
    const int own = tree.AddOwnBlock(&b);
    b.SetBlock(own);
    b.Copy(Place::Current(out), Place::Block(own));
  }
  const int in = tree.children().empty() ? -1 : b.AddStream("R", ChunkRole::kReceive);
  for (const int child : tree.children()) {
    const int below = tree.AddRunFrom(child, &b);
    b.SetBlock(below);
    b.ReceiveAndAwait(tree.ToRank(child), in);
    b.Copy(tree.is_root() ? Place::Block(below) : Place::Current(out), Place::Current(in));
    b.Free(in);
  }
  if (tree.is_root()) return b.Build();
  b.SetBlock(all);
  b.Send(out, tree.parent());
  b.Free(out);
  return b.Build();
}

}  // namespace brigade

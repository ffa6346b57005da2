#include "patterns/catalogue/compilers.h"
#include "patterns/catalogue/subtrees.h"

namespace brigade {
namespace {

// Each message has one block. On a flat tree every rank sends its own to the root. Along a ring it
// sends it to the rank before, counted from the root, and then, from the slots in which they
// arrived, the blocks of all ranks behind.
Schedule GatherOneByOne(const ScheduleParameters& p) {
  const bool is_ring = p.topology.shape == Shape::kIncreasingRings;
  const int here = (p.rank - p.root + p.size) % p.size;  // from the root
  const auto rank_at = [&](int distance) { return (p.root + distance) % p.size; };
  const int parent = is_ring && here > 0 ? rank_at(here - 1) : p.root;
  ScheduleBuilder b;
  if (here > 0) {
    const int out = b.AddStream("S", ChunkRole::kBufferedSend);
    b.SetBlock(p.rank);
    b.Copy(Place::New(out), Place::Block(p.rank));
    b.Send(out, parent);
    b.Free(out);
    if (!is_ring || here + 1 == p.size) return b.Build();
  }
  const int in = b.AddStream("R", here > 0 ? ChunkRole::kPipelinedForward : ChunkRole::kReceive);
  for (int distance = here + 1; distance < p.size; ++distance) {
    const int block = rank_at(distance);
    b.SetBlock(block);
    b.ReceiveAndAwait(is_ring ? rank_at(here + 1) : block, in);
    if (here > 0) {
      b.Send(in, parent);
    } else {
      b.Copy(Place::Block(block), Place::Current(in));
    }
    b.Free(in);
  }
  return b.Build();
}

}  // namespace

// A relay puts the blocks that come from below behind its own, into one message.
Schedule CompileGather(const ScheduleParameters& p) {
  if (p.size == 1) return ScheduleBuilder().Build();
  const OwnSubtree tree(p);
  if (tree.MostTogether() == 1) return GatherOneByOne(p);
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

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

// The root sends all blocks to the next rank, the last rank's first. Each rank sends on those of
// the ranks behind it, from the slots in which they arrived.
Schedule RingScatter(const ScheduleParameters& p) {
  const int here = (p.rank - p.root + p.size) % p.size;  // from the root
  const auto rank_at = [&](int distance) { return (p.root + distance) % p.size; };
  ScheduleBuilder b;
  if (here == 0) {
    const int out = b.AddStream("S", ChunkRole::kBufferedSend);
    for (int distance = p.size - 1; distance > 0; --distance) {
      const int block = rank_at(distance);
      b.SetBlock(block);
      b.Copy(Place::New(out), Place::Block(block));
      b.Send(out, rank_at(1));
      b.Free(out);
    }
    return b.Build();
  }
  const bool is_last = here + 1 == p.size;
  const int in = b.AddStream("R", is_last ? ChunkRole::kReceive : ChunkRole::kPipelinedForward);
  for (int distance = p.size - 1; distance >= here; --distance) {
    const int block = rank_at(distance);
    b.SetBlock(block);
    b.ReceiveAndAwait(rank_at(here - 1), in);
    if (distance > here) {
      b.Send(in, rank_at(here + 1));
    } else {
      b.Copy(Place::Block(block), Place::Current(in));
    }
    b.Free(in);
  }
  return b.Build();
}

}  // namespace

// A relay copies the blocks of a child and of all below it out of the message that it got. The
// largest subtree is the last child's and has the longest way to go.
Schedule CompileScatter(const ScheduleParameters& p) {
  if (p.size == 1) return ScheduleBuilder().Build();
  if (p.topology.shape == Shape::kIncreasingRings) return RingScatter(p);
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

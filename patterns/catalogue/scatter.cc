#include "patterns/catalogue/compilers.h"
#include "patterns/catalogue/subtrees.h"

namespace brigade {
namespace {

// The root sends every rank its block.
Schedule FlatScatter(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.rank != p.root) {
    const int in = b.AddStream("R", ChunkRole::kReceive);
    b.SetPortion(p.rank);
    b.ReceiveAndAwait(p.root, in);
    b.Copy(Place::Portion(p.rank), Place::Current(in));
    b.Free(in);
    return b.Build();
  }
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  for (int distance = 1; distance < p.size; ++distance) {
    const int rank = (p.root + distance) % p.size;
    b.SetPortion(rank);
    b.Copy(Place::New(out), Place::Portion(rank));
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
  b.SetMostTogether(tree.MostTogether());
  int in = -1;
  int all = -1;
  if (!tree.is_root()) {
    in = b.AddStream("R", ChunkRole::kReceive);
    all = tree.AddOwnRunFrom(&b);
    b.SetPortion(all);
    b.ReceiveAndAwait(tree.parent(), in);
  }
  const int out = tree.children().empty() ? -1 : b.AddStream("S", ChunkRole::kBufferedSend);
  for (auto child = tree.children().rbegin(); child != tree.children().rend(); ++child) {
    const int below = tree.AddRunFrom(*child, &b);
    b.SetPortion(below);
    b.Copy(Place::New(out), tree.is_root() ? Place::Portion(below) : Place::Current(in));
    b.Send(out, tree.ToRank(*child));
    b.Free(out);
  }
  if (tree.is_root()) return b.Build();
  const int own = tree.AddOwnBlock(&b);
  b.SetPortion(own);
  b.Copy(Place::Portion(own), Place::Current(in));
  b.SetPortion(all);
  b.Free(in);
  return b.Build();
}

}  // namespace brigade

#include "patterns/catalogue/compilers.h"
#include "patterns/catalogue/exchange.h"
#include "patterns/catalogue/reduce_steps.h"
#include "patterns/catalogue/ring.h"
#include "patterns/schedule/geometry.h"

namespace brigade {
namespace {

// Reduction and broadcast are lanes of their own, so that segments go up the tree while results
// come down.
Schedule TreeAllReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const RankTree tree(p.topology, p.size, /*root=*/0, p.hosts);
  const auto to_rank = [&](int r) { return tree.ToRank(r); };
  const int relative = tree.ToRelative(p.rank);
  const TreeNode node = tree.NodeOf(relative);
  const int out = AddPartial(&b, node, relative, to_rank);
  if (relative == 0) {
    for (auto c = node.children.rbegin(); c != node.children.rend(); ++c) b.Send(out, to_rank(*c));
    b.Copy(Place::Matrix(), Place::Current(out));
    b.Free(out);
    return b.Build();
  }
  b.Send(out, to_rank(node.parent));
  b.Free(out);
  b.StartLane();
  const int in =
      b.AddStream("B", node.children.empty() ? ChunkRole::kReceive : ChunkRole::kForward);
  b.ReceiveAndAwait(to_rank(node.parent), in);
  for (auto c = node.children.rbegin(); c != node.children.rend(); ++c) b.Send(in, to_rank(*c));
  b.Copy(Place::Matrix(), Place::Current(in));
  b.Free(in);
  return b.Build();
}

// The hypercube of two ranks. Own segments go out one ahead, and are combined where they lie.
Schedule HypercubeOfTwo(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const int other = 1 - p.rank;
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  b.SetLead(1);
  b.Copy(Place::New(out), Place::Source());
  b.Send(out, other);
  b.Free(out);
  b.SetLead(0);
  b.ReceiveAndAwait(other, in);
  if (p.rank < other) {
    b.Combine(Place::Matrix(), Place::Source(), Place::Current(in));
  } else {
    b.Combine(Place::Matrix(), Place::Current(in), Place::Source());
  }
  b.Free(in);
  return b.Build();
}

Schedule HypercubeAllReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const Hypercube cube(p.size);
  const bool paired = cube.IsPaired(p.rank);

  if (paired && p.rank % 2 == 1) {
    const int out = b.AddStream("S", ChunkRole::kBufferedSend);
    const int in = b.AddStream("R", ChunkRole::kReceive);
    b.Copy(Place::New(out), Place::Source());
    b.Send(out, p.rank - 1);
    b.Free(out);
    b.StartLane();
    b.ReceiveAndAwait(p.rank - 1, in);
    b.Copy(Place::Matrix(), Place::Current(in));
    b.Free(in);
    return b.Build();
  }

  // Partial results alternate between two streams: one is being sent while the next is computed
  // from it.
  const int partial[2] = {b.AddStream("X", ChunkRole::kCombineTarget),
                          b.AddStream("Y", ChunkRole::kCombineTarget)};
  const int in = b.AddStream("R", ChunkRole::kReceive);
  if (paired) {
    b.ReceiveAndAwait(p.rank + 1, in);
    b.Combine(Place::New(partial[0]), Place::Source(), Place::Current(in));
    b.Free(in);
  } else {
    b.Copy(Place::New(partial[0]), Place::Source());
  }
  const int self = cube.CornerOf(p.rank);
  for (int d = 0; d < cube.dimensions; ++d) {
    const int other = self ^ (1 << d);
    const int partner = cube.RankAt(other);
    const int now = partial[d % 2];
    const int next = partial[(d + 1) % 2];
    b.Send(now, partner);
    b.ReceiveAndAwait(partner, in);
    // The last result goes where it is wanted, unless it is to be sent on.
    const Place target = d + 1 == cube.dimensions && !paired ? Place::Matrix() : Place::New(next);
    if (self < other) {
      b.Combine(target, Place::Current(now), Place::Current(in));
    } else {
      b.Combine(target, Place::Current(in), Place::Current(now));
    }
    b.Free(in);
    b.Free(now);
  }
  if (!paired) return b.Build();
  const int result = partial[cube.dimensions % 2];
  b.Send(result, p.rank + 1);
  b.Copy(Place::Matrix(), Place::Current(result));
  b.Free(result);
  return b.Build();
}

// Share q is block q of the matrix. Its partial starts at the rank after q and ends at q, as in
// multi-reduce, and its result goes on from there, as in multi-broadcast. The two take turns, with
// partials one segment ahead: so two messages are on their way at any time, and one of them crosses
// the link while the other is worked on.
//
// Where all share memory, every rank sends its results to all. Else they go around in the slots
// they come in; where some share memory in copies, because a slot in another rank's memory would be
// kept until the ring is through, for which that rank may have to wait (multi_broadcast.cc).
Schedule ReduceScatterAllgather(const ScheduleParameters& p) {
  ScheduleBuilder b;
  b.SetShares({Shares::kEqual, p.size, 2});
  const Ring ring(p);
  const int next = ring.RankAt(1);
  const int previous = ring.RankAt(-1);
  const bool relays = !p.shares_memory;
  const bool forwards = relays && !p.some_share_memory;  // or copies
  const int partial = b.AddStream("T", ChunkRole::kCombineTarget);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  // Partials must not wait for results that others still read.
  const int result = forwards ? partial : b.AddStream("S", ChunkRole::kCombineTarget);
  const int results = forwards ? b.AddStream("F", ChunkRole::kForward) : in;
  const auto send_copy = [&](int stream, Place share) {
    b.Copy(Place::New(stream), share);
    b.Send(stream, next);
    b.Free(stream);
  };

  b.SetLead(1);
  b.SetBlock(previous);
  send_copy(partial, Place::SourceBlock(previous));
  for (int s = 1; s < p.size; ++s) {
    const int known = ring.RankAt(-s);
    const bool last = s + 1 == p.size;
    b.SetLead(0);
    b.SetBlock(known);
    b.ReceiveAndAwait(relays ? previous : known, results);
    if (forwards && !last) b.Send(results, next);
    b.Copy(Place::Block(known), Place::Current(results));
    b.Free(results);
    if (relays && !forwards && !last) send_copy(result, Place::Block(known));

    const int summed = ring.RankAt(-s - 1);  // this rank's own at last
    const int out = last ? result : partial;
    b.SetLead(1);
    b.SetBlock(summed);
    b.ReceiveAndAwait(previous, in);
    b.Combine(Place::New(out), Place::Current(in), Place::SourceBlock(summed));
    b.Free(in);
    b.Send(out, next);
    if (last) {
      for (int d = 2; !relays && d < p.size; ++d) b.Send(out, ring.RankAt(d));
      b.Copy(Place::Block(summed), Place::Current(out));
    }
    b.Free(out);
  }
  return b.Build();
}

}  // namespace

Schedule CompileAllReduce(const ScheduleParameters& p) {
  if (p.size == 1) return ScheduleBuilder().Build();
  if (p.topology.shape == Shape::kReduceScatterAllgather) return ReduceScatterAllgather(p);
  if (Exchanges(p, kMostLevelsToAll)) return ExchangeAllReduce(p);
  if (p.topology.shape != Shape::kHypercube) return TreeAllReduce(p);
  return p.size == 2 ? HypercubeOfTwo(p) : HypercubeAllReduce(p);
}

}  // namespace brigade

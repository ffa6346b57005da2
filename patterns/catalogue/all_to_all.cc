#include <vector>

#include "patterns/catalogue/compilers.h"
#include "patterns/schedule/circulant_graph.h"

namespace brigade {
namespace {

// In the round of distance d every rank sends to the rank d further and receives from the rank d
// before, segment by segment. The two are lanes of their own: no send waits for a receive of this
// rank.
Schedule PairwiseAllToAll(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.size > 1) {
    const int out = b.AddStream("S", ChunkRole::kBufferedSend);
    for (int distance = 1; distance < p.size; ++distance) {
      const int to = (p.rank + distance) % p.size;
      b.SetBlock(p.size + to);
      b.Copy(Place::New(out), Place::Sent(to));
      b.Send(out, to);
      b.Free(out);
    }
  }
  b.SetBlock(p.rank);
  b.Copy(Place::Block(p.rank), Place::Sent(p.rank));
  if (p.size == 1) return b.Build();
  b.StartLane();
  const int in = b.AddStream("R", ChunkRole::kReceive);
  for (int distance = 1; distance < p.size; ++distance) {
    const int from = (p.rank + p.size - distance) % p.size;
    b.SetBlock(from);
    b.ReceiveAndAwait(from, in);
    b.Copy(Place::Block(from), Place::Current(in));
    b.Free(in);
  }
  return b.Build();
}

// A block goes from rank to rank by the skips that its distance is a sum of, the greatest first.
// The block of distance d rests on rank r in the block of rank r - d, which on the last of its
// ranks is its own, so no message waits in staging memory. That block is free: no rank has two
// blocks of one distance at a time.
Schedule CirculantAllToAll(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const CirculantGraph graph(p.size);
  for (int q = 0; q < p.size; ++q) b.AddRun(q, 1);  // run q: a block, or place q in a message
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  const auto rests = [&](int distance) { return Place::Block(graph.RankAt(p.rank, -distance)); };
  for (int k = graph.rounds() - 1; k >= 0; --k) {
    const std::vector<int> distances = graph.DistancesOver(k);
    const int blocks = static_cast<int>(distances.size());
    const int all = b.AddRun(0, blocks);
    b.SetBlock(all);
    b.Open(out);
    const int unmoved = graph.skip(k + 1) - graph.skip(k);  // whose first skip this is: the nearest
    b.SetBlock(b.AddRun(0, unmoved));
    b.Copy(Place::Current(out),
           Place::Sent(b.AddRun(graph.RankAt(p.rank, graph.skip(k)), unmoved)));
    for (int i = unmoved; i < blocks; ++i) {
      b.SetBlock(i);
      b.Copy(Place::Current(out), rests(distances[static_cast<size_t>(i)]));
    }
    b.SetBlock(all);
    b.Send(out, graph.RankAt(p.rank, graph.skip(k)));
    b.Free(out);
    if (k + 1 == graph.rounds()) {  // while the first message is on its way
      b.SetBlock(p.rank);
      b.Copy(Place::Block(p.rank), Place::Sent(p.rank));
      b.SetBlock(all);
    }
    b.ReceiveAndAwait(graph.RankAt(p.rank, -graph.skip(k)), in);
    for (int i = 0; i < blocks; ++i) {
      b.SetBlock(i);
      b.Copy(rests(distances[static_cast<size_t>(i)]), Place::Current(in));
    }
    b.SetBlock(all);
    b.Free(in);
  }
  return b.Build();
}

}  // namespace

Schedule CompileAllToAll(const ScheduleParameters& p) {
  const bool relays = p.topology.shape == Shape::kCirculant && !p.shares_memory && p.size > 1;
  return relays ? CirculantAllToAll(p) : PairwiseAllToAll(p);
}

}  // namespace brigade

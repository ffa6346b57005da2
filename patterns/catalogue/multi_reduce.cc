#include "patterns/catalogue/compilers.h"
#include "patterns/catalogue/exchange.h"
#include "patterns/catalogue/own_block.h"
#include "patterns/catalogue/ring.h"
#include "patterns/schedule/circulant_graph.h"

namespace brigade {
namespace {

Schedule OneRank() {
  ScheduleBuilder b;
  b.SetBlock(0);
  b.Copy(Place::Matrix(), Place::Block(0));
  return b.Build();
}

Schedule RingMultiReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const Ring ring(p);
  const int next = ring.RankAt(1);
  const int previous = ring.RankAt(-1);

  SendOwnBlock(&b, previous, {next}, /*at_once=*/p.size == 2 && p.shares_memory);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  const int partial = b.AddStream("T", ChunkRole::kCombineTarget);
  for (int s = 2; s <= p.size; ++s) {
    const int block = ring.RankAt(-s);
    b.SetBlock(block);
    b.ReceiveAndAwait(previous, in);
    if (block == p.rank) {
      b.Combine(Place::Matrix(), Place::Current(in), Place::Block(block));
      b.Free(in);
    } else {
      b.Combine(Place::New(partial), Place::Current(in), Place::Block(block));
      b.Free(in);
      b.Send(partial, next);
      b.Free(partial);
    }
  }
  return b.Build();
}

// Multi-broadcast backwards: in round k, from the last to 0, partials of the blocks of the ranks
// that are skip(k) to skip(k + 1) - 1 further go to the rank skip(k) further, which adds them to
// its own, so that those of skip(k) ranks are left, its own first. Of these, what goes in the next
// round is combined straight into that round's message, and what stays into one slot for all of
// them, in place: it is never sent. Every message brings all blocks that stay. Of the blocks that
// go, it does not bring the last one where skip(k + 1) is odd: that block is copied.
Schedule CirculantMultiReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const CirculantGraph graph(p.size);
  const int last = graph.rounds() - 1;
  const int out = b.AddStream("S", ChunkRole::kCombineTarget);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  const int sums = b.AddStream("T", ChunkRole::kCombineTarget, /*least_slots=*/1);
  // Blocks of the ranks `begin` to `end` - 1 further: what the next steps work on.
  const auto turn_to = [&](int begin, int end) {
    const int run = b.AddRun(graph.RankAt(p.rank, begin), end - begin);
    b.SetBlock(run);
    return run;
  };
  // Returns where this rank's partials of the blocks of `run` are before round k.
  const auto mine = [&](int k, int run) {
    return k == last ? Place::Block(run) : Place::Current(sums);
  };
  const auto send = [&](int k) {
    b.Send(out, graph.RankAt(p.rank, graph.skip(k)));
    b.Free(out);
  };

  const int away = turn_to(graph.skip(last), p.size);
  b.Copy(Place::New(out), Place::Block(away));
  send(last);
  int stays = -1;
  for (int k = last; k > 0; --k) {
    const int left = graph.skip(k);
    const int brought = graph.skip(k + 1) - left;
    const int kept = graph.skip(k - 1);
    const int theirs = turn_to(0, brought);
    b.ReceiveAndAwait(graph.RankAt(p.rank, -left), in);

    const int next = turn_to(kept, left);
    b.Open(out);
    if (brought > kept) {
      const int run = turn_to(kept, brought);
      b.Combine(Place::Current(out), mine(k, run), Place::Current(in));
    }
    if (left > brought) {
      const int run = turn_to(brought, left);
      b.Copy(Place::Current(out), mine(k, run));
    }
    b.SetBlock(next);
    send(k - 1);

    const int run = turn_to(0, kept);
    b.Combine(k == last ? Place::New(sums) : Place::Current(sums), mine(k, run),
              Place::Current(in));
    if (k == last) stays = run;
    b.SetBlock(theirs);
    b.Free(in);
  }
  const int own = turn_to(0, 1);
  b.ReceiveAndAwait(graph.RankAt(p.rank, -1), in);
  b.Combine(Place::Matrix(), mine(0, own), Place::Current(in));
  b.Free(in);
  if (last > 0) {
    b.SetBlock(stays);
    b.Free(sums);
  }
  return b.Build();
}

// All blocks pass ranks 0, 1, 2, ..., and the last rank sends each to its own.
Schedule MultiReduceInRankOrder(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const int last = p.size - 1;
  const int partial = b.AddStream("T", ChunkRole::kCombineTarget);
  const int in = p.rank == 0 ? -1 : b.AddStream("R", ChunkRole::kReceive);
  for (int block = 0; block < p.size; ++block) {
    b.SetBlock(block);
    if (p.rank == 0) {
      b.Copy(Place::New(partial), Place::Block(block));
    } else {
      const bool is_own = p.rank == last && block == last;
      b.ReceiveAndAwait(p.rank - 1, in);
      b.Combine(is_own ? Place::Matrix() : Place::New(partial), Place::Current(in),
                Place::Block(block));
      b.Free(in);
      if (is_own) continue;
    }
    b.Send(partial, p.rank == last ? block : p.rank + 1);
    b.Free(partial);
  }
  if (p.rank < last) {
    b.StartLane();
    const int result = b.AddStream("B", ChunkRole::kReceive);
    b.SetBlock(p.rank);
    b.ReceiveAndAwait(last, result);
    b.Copy(Place::Matrix(), Place::Current(result));
    b.Free(result);
  }
  return b.Build();
}

}  // namespace

Schedule CompileMultiReduce(const ScheduleParameters& p) {
  if (p.size == 1) return OneRank();
  if (p.in_rank_order) return MultiReduceInRankOrder(p);
  if (ExchangesBlocks(p.topology, p.size, p.shares_memory)) return ExchangeMultiReduce(p);
  return p.topology.shape == Shape::kCirculant ? CirculantMultiReduce(p) : RingMultiReduce(p);
}

}  // namespace brigade

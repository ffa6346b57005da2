#include <algorithm>
#include <vector>

#include "patterns/catalogue/compilers.h"
#include "patterns/catalogue/own_block.h"
#include "patterns/catalogue/ring.h"
#include "patterns/schedule/circulant_graph.h"

namespace brigade {
namespace {

// All read where the owner put it.
Schedule DirectMultiBroadcast(const ScheduleParameters& p) {
  ScheduleBuilder b;
  std::vector<int> others;
  for (int d = 1; d < p.size; ++d) others.push_back((p.rank + d) % p.size);
  SendOwnBlock(&b, p.rank, others, /*at_once=*/p.size == 2);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  for (int d = 1; d < p.size; ++d) {
    const int block = (p.rank + p.size - d) % p.size;
    b.SetBlock(block);
    b.ReceiveAndAwait(block, in);
    b.Copy(Place::Block(block), Place::Current(in));
    b.Free(in);
  }
  return b.Build();
}

// Within a host as above. The first rank of each host is its gate: it receives the blocks of
// other hosts, those of the one before from their owners and all others from the gate there, passes
// them on to the next gate unless that is home, and to the ranks of its own host. So a block
// enters each host once, and no rank of a host waits for another to pass on what lies in a third
// one's chunk, which on a ring would close to a circle.
Schedule MultiBroadcastByHost(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const std::vector<std::vector<int>> ranks = RanksByHost(p.hosts);
  const int hosts = static_cast<int>(ranks.size());
  int here = 0;
  while (p.hosts[static_cast<size_t>(ranks[static_cast<size_t>(here)][0])] !=
         p.hosts[static_cast<size_t>(p.rank)]) {
    ++here;
  }
  const auto host_at = [&](int distance) -> const std::vector<int>& {
    const int steps = p.decreasing ? hosts - distance : hosts + distance;
    return ranks[static_cast<size_t>((here + steps) % hosts)];
  };
  const int gate = host_at(0)[0];
  const int next_gate = host_at(1)[0];
  std::vector<int> others;  // on this host
  std::vector<int> peers = {next_gate};
  for (const int rank : host_at(0)) {
    if (rank == p.rank) continue;
    others.push_back(rank);
    peers.push_back(rank);
  }

  // First the first block of each host, then the second of each, and so on: as many rings as the
  // largest host has ranks, one after the other. `receive(block, from, passes_on)` for each.
  const auto for_blocks_of_others = [&](const auto& receive) {
    size_t most = 0;
    for (const std::vector<int>& host : ranks) most = std::max(most, host.size());
    for (size_t i = 0; i < most; ++i) {
      for (int distance = 1; distance < hosts; ++distance) {
        const std::vector<int>& home = host_at(-distance);
        if (i >= home.size()) continue;
        receive(home[i], distance == 1 ? home[i] : host_at(-1)[0], distance + 1 < hosts);
      }
    }
  };
  const auto copy_out = [&](int block, int in) {
    b.Copy(Place::Block(block), Place::Current(in));
    b.Free(in);
  };

  SendOwnBlock(&b, p.rank, peers, /*at_once=*/false);
  if (p.rank == gate) {
    const int in = b.AddStream("R", ChunkRole::kForward);
    for_blocks_of_others([&](int block, int from, bool passes_on) {
      b.SetBlock(block);
      b.ReceiveAndAwait(from, in);
      if (passes_on) b.Send(in, next_gate);
      for (const int rank : others) b.Send(in, rank);
      copy_out(block, in);
    });
  } else {
    b.StartLane();
    const int in = b.AddStream("R", ChunkRole::kReceive);
    b.SetBlock(gate);
    b.ReceiveAndAwait(gate, in);
    copy_out(gate, in);
    for_blocks_of_others([&](int block, int, bool) {
      b.SetBlock(block);
      b.ReceiveAndAwait(gate, in);
      copy_out(block, in);
    });
  }
  b.StartLane();
  const int in = b.AddStream("L", ChunkRole::kReceive);
  for (const int rank : others) {
    if (rank == gate) continue;
    b.SetBlock(rank);
    b.ReceiveAndAwait(rank, in);
    copy_out(rank, in);
  }
  return b.Build();
}

Schedule RingMultiBroadcast(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const Ring ring(p);
  const int next = ring.RankAt(1);
  const int previous = ring.RankAt(-1);
  SendOwnBlock(&b, p.rank, {next}, /*at_once=*/false);
  const int in = b.AddStream("R", ChunkRole::kForward);
  for (int s = 1; s < p.size; ++s) {
    const int block = ring.RankAt(-s);
    b.SetBlock(block);
    b.ReceiveAndAwait(previous, in);
    if (s + 1 < p.size) b.Send(in, next);
    b.Copy(Place::Block(block), Place::Current(in));
    b.Free(in);
  }
  return b.Build();
}

// After round k every rank has the blocks of the skip(k + 1) ranks from itself on: those it had
// go to the rank skip(k) before, as far as that one lacks them. A block that is passed on is copied
// in again from the matrix, to which it was copied out, so no message waits in staging memory.
Schedule CirculantMultiBroadcast(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const CirculantGraph graph(p.size);
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  for (int k = 0; k < graph.rounds(); ++k) {
    const int skip = graph.skip(k);
    const int count = graph.skip(k + 1) - skip;
    const int from = graph.RankAt(p.rank, skip);
    const int mine = b.AddRun(p.rank, count);
    b.SetBlock(mine);
    b.Copy(Place::New(out), Place::Block(mine));
    b.Send(out, graph.RankAt(p.rank, -skip));
    b.Free(out);
    const int theirs = b.AddRun(from, count);
    b.SetBlock(theirs);
    b.ReceiveAndAwait(from, in);
    b.Copy(Place::Block(theirs), Place::Current(in));
    b.Free(in);
  }
  return b.Build();
}

}  // namespace

Schedule CompileMultiBroadcast(const ScheduleParameters& p) {
  if (p.size == 1) return ScheduleBuilder().Build();
  if (p.topology.shape == Shape::kCirculant && !p.shares_memory) return CirculantMultiBroadcast(p);
  if (!p.hosts.empty()) return MultiBroadcastByHost(p);
  return p.shares_memory ? DirectMultiBroadcast(p) : RingMultiBroadcast(p);
}

}  // namespace brigade

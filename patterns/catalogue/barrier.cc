#include "patterns/catalogue/compilers.h"
#include "patterns/rules.h"
#include "patterns/schedule/geometry.h"

namespace brigade {
namespace {

void SendEmpty(ScheduleBuilder* b, int stream, int peer) {
  b->Copy(Place::New(stream), Place::Matrix());  // no bytes
  b->Send(stream, peer);
  b->Free(stream);
}

void ReceiveEmpty(ScheduleBuilder* b, int stream, int peer) {
  b->ReceiveAndAwait(peer, stream);
  b->Free(stream);
}

Schedule DisseminationBarrier(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  for (int distance = 1; distance < p.size; distance *= 2) {
    SendEmpty(&b, out, (p.rank + distance) % p.size);
    ReceiveEmpty(&b, in, (p.rank + p.size - distance) % p.size);
  }
  return b.Build();
}

// Up a tree of eight branches and down again: nearly all ranks wait once only.
Schedule TreeBarrier(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const TreeNode node = TreeNodeOf({Shape::kTree, 8}, p.size, p.rank);
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  for (const int child : node.children) ReceiveEmpty(&b, in, child);
  if (node.parent >= 0) {
    SendEmpty(&b, out, node.parent);
    ReceiveEmpty(&b, in, node.parent);
  }
  for (const int child : node.children) SendEmpty(&b, out, child);
  return b.Build();
}

// Each rank sends to all others, and waits once only.
Schedule ExchangeBarrier(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  b.Copy(Place::New(out), Place::Matrix());  // no bytes
  for (int distance = 1; distance < p.size; ++distance) {
    b.Send(out, (p.rank + distance) % p.size);
  }
  b.Free(out);
  for (int distance = 1; distance < p.size; ++distance) {
    ReceiveEmpty(&b, in, (p.rank + distance) % p.size);
  }
  return b.Build();
}

}  // namespace

Schedule CompileBarrier(const ScheduleParameters& p) {
  if (p.size == 1) return ScheduleBuilder().Build();
  if (!p.shares_memory || p.size == 2) return DisseminationBarrier(p);
  return p.size <= rules::kMostRanksOnExchange ? ExchangeBarrier(p) : TreeBarrier(p);
}

}  // namespace brigade

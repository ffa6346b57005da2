#include <vector>

#include "patterns/compilers.h"
#include "patterns/ring.h"

namespace brigade {
namespace {

// Own pieces go out one ahead: the next one is copied in while this one flies.
void SendOwn(ScheduleBuilder* b, int rank, const std::vector<int>& peers) {
  const int own = b->AddStream("S", ChunkRole::kBufferedSend);
  b->SetPortion(rank);
  for (const int peer : peers) b->Send(own, peer);
  b->Free(own);
  b->SetLead(1);
  b->Copy(Place::New(own), Place::Portion(rank));
  b->SetLead(0);
}

// All read where the owner put it.
Schedule DirectMultiBroadcast(const ScheduleParameters& p) {
  ScheduleBuilder b;
  std::vector<int> others;
  for (int d = 1; d < p.size; ++d) others.push_back((p.rank + d) % p.size);
  SendOwn(&b, p.rank, others);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  for (int d = 1; d < p.size; ++d) {
    const int portion = (p.rank + p.size - d) % p.size;
    b.SetPortion(portion);
    b.ReceiveAndAwait(portion, in);
    b.Copy(Place::Portion(portion), Place::Current(in));
    b.Free(in);
  }
  return b.Build();
}

Schedule RingMultiBroadcast(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const Ring ring(p);
  const int next = ring.RankAt(1);
  const int previous = ring.RankAt(-1);
  SendOwn(&b, p.rank, {next});
  const int in = b.AddStream("R", ChunkRole::kForward);
  for (int s = 1; s < p.size; ++s) {
    const int portion = ring.RankAt(-s);
    b.SetPortion(portion);
    b.ReceiveAndAwait(previous, in);
    if (s + 1 < p.size) b.Send(in, next);
    b.Copy(Place::Portion(portion), Place::Current(in));
    b.Free(in);
  }
  return b.Build();
}

}  // namespace

Schedule CompileMultiBroadcast(const ScheduleParameters& p) {
  if (p.size == 1) return ScheduleBuilder().Build();
  return p.shares_memory ? DirectMultiBroadcast(p) : RingMultiBroadcast(p);
}

}  // namespace brigade

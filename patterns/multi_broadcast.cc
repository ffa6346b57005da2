#include "patterns/compilers.h"

namespace brigade {
namespace {

// Own pieces go out one ahead: the next one is copied in while this one flies.
int SendOwn(ScheduleBuilder* b, const ScheduleParameters& p, int first_distance,
            int last_distance) {
  const int own = b->AddStream("S", ChunkRole::kBufferedSend);
  b->SetPortion(p.rank);
  for (int d = first_distance; d <= last_distance; ++d) b->Send(own, (p.rank + d) % p.size);
  b->Free(own);
  b->SetLead(1);
  b->Copy(Place::New(own), Place::Portion(p.rank));
  b->SetLead(0);
  return own;
}

// All read where the owner put it.
Schedule DirectMultiBroadcast(const ScheduleParameters& p) {
  ScheduleBuilder b;
  SendOwn(&b, p, 1, p.size - 1);
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
  const int step = p.decreasing ? p.size - 1 : 1;
  const int next = (p.rank + step) % p.size;
  const int previous = (p.rank + p.size - step) % p.size;
  SendOwn(&b, p, step, step);
  const int in = b.AddStream("R", ChunkRole::kForward);
  for (int s = 1; s < p.size; ++s) {
    const int portion = (p.rank + s * (p.size - step)) % p.size;
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

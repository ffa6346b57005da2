#include "patterns/compilers.h"

namespace brigade {

Schedule CompileMultiBroadcast(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.size == 1) return b.Build();
  const int step = p.decreasing ? p.size - 1 : 1;
  const int next = (p.rank + step) % p.size;
  const int previous = (p.rank + p.size - step) % p.size;
  const int own = b.AddStream("S", ChunkRole::kBufferedSend);
  const int in = b.AddStream("R", ChunkRole::kForward);

  b.SetPortion(p.rank);
  b.Send(own, next);
  b.Free(own);
  b.SetLead(1);  // the next piece is copied in while this one flies
  b.Copy(Place::New(own), Place::Portion(p.rank));
  b.SetLead(0);
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

}  // namespace brigade

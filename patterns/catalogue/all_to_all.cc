#include "patterns/catalogue/compilers.h"

namespace brigade {

// In the round of distance d every rank sends to the rank d further and receives from the rank d
// before, piece by piece. The two are lanes of their own: no send waits for a receive of this rank.
Schedule CompileAllToAll(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.size > 1) {
    const int out = b.AddStream("S", ChunkRole::kBufferedSend);
    for (int distance = 1; distance < p.size; ++distance) {
      const int to = (p.rank + distance) % p.size;
      b.SetPortion(p.size + to);
      b.Copy(Place::New(out), Place::Sent(to));
      b.Send(out, to);
      b.Free(out);
    }
  }
  b.SetPortion(p.rank);
  b.Copy(Place::Portion(p.rank), Place::Sent(p.rank));
  if (p.size == 1) return b.Build();
  b.StartLane();
  const int in = b.AddStream("R", ChunkRole::kReceive);
  for (int distance = 1; distance < p.size; ++distance) {
    const int from = (p.rank + p.size - distance) % p.size;
    b.SetPortion(from);
    b.ReceiveAndAwait(from, in);
    b.Copy(Place::Portion(from), Place::Current(in));
    b.Free(in);
  }
  return b.Build();
}

}  // namespace brigade

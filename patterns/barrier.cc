#include "patterns/compilers.h"

namespace brigade {

Schedule CompileBarrier(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.size == 1) return b.Build();
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  for (int distance = 1; distance < p.size; distance *= 2) {
    b.Copy(Place::New(out), Place::Matrix());  // no bytes
    b.Send(out, (p.rank + distance) % p.size);
    b.Free(out);
    b.ReceiveAndAwait((p.rank + p.size - distance) % p.size, in);
    b.Free(in);
  }
  return b.Build();
}

}  // namespace brigade

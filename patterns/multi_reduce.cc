#include "patterns/compilers.h"
#include "patterns/ring.h"

namespace brigade {

Schedule CompileMultiReduce(const ScheduleParameters& p) {
  ScheduleBuilder b;
  if (p.size == 1) {
    const int own = b.AddStream("S", ChunkRole::kBufferedSend);
    b.SetPortion(0);
    b.Copy(Place::New(own), Place::Portion(0));
    b.Copy(Place::Matrix(), Place::Current(own));
    b.Free(own);
    return b.Build();
  }
  const Ring ring(p);
  const int next = ring.RankAt(1);
  const int previous = ring.RankAt(-1);
  const int first = b.AddStream("S", ChunkRole::kBufferedSend);
  const int in = b.AddStream("R", ChunkRole::kReceive);
  const int partial = b.AddStream("T", ChunkRole::kCombineTarget);

  b.SetPortion(previous);
  b.Send(first, next);
  b.Free(first);
  b.SetLead(1);
  b.Copy(Place::New(first), Place::Portion(previous));
  b.SetLead(0);
  for (int s = 2; s <= p.size; ++s) {
    const int portion = ring.RankAt(-s);
    b.SetPortion(portion);
    b.ReceiveAndAwait(previous, in);
    if (portion == p.rank) {
      b.Combine(Place::Matrix(), Place::Current(in), Place::Portion(portion));
      b.Free(in);
    } else {
      b.Combine(Place::New(partial), Place::Current(in), Place::Portion(portion));
      b.Free(in);
      b.Send(partial, next);
      b.Free(partial);
    }
  }
  return b.Build();
}

}  // namespace brigade

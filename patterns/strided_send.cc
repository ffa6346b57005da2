#include "patterns/compilers.h"

namespace brigade {

Schedule CompileSend(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const int out = b.AddStream("S", ChunkRole::kBufferedSend);
  b.Copy(Place::New(out), Place::Matrix());
  b.Send(out, p.root);
  b.Free(out);
  return b.Build();
}

Schedule CompileReceive(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const int in = b.AddStream("R", ChunkRole::kReceive);
  b.ReceiveAndAwait(p.root, in);
  b.Copy(Place::Matrix(), Place::Current(in));
  b.Free(in);
  return b.Build();
}

}  // namespace brigade

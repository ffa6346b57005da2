#include "patterns/catalogue/compilers.h"

namespace brigade {
namespace {

// Nothing is relayed; a second one only saves time.
constexpr int kLeastSlots = 1;

}  // namespace

Schedule CompileSend(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const int out = b.AddStream("S", ChunkRole::kBufferedSend, kLeastSlots);
  b.Copy(Place::New(out), Place::Matrix());
  b.Send(out, p.root);
  b.Free(out);
  return b.Build();
}

Schedule CompileReceive(const ScheduleParameters& p) {
  ScheduleBuilder b;
  const int in = b.AddStream("R", ChunkRole::kReceive, kLeastSlots);
  b.ReceiveAndAwait(p.root, in);
  b.Copy(Place::Matrix(), Place::Current(in));
  b.Free(in);
  return b.Build();
}

}  // namespace brigade

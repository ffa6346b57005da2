#include <utility>

#include "patterns/catalogue/compilers.h"

namespace brigade {
namespace {

// Each rank adds its contribution to the prefix of the rank before, and passes it on before it
// copies its own result out.
Schedule ChainScan(const ScheduleParameters& p, bool exclusive) {
  ScheduleBuilder b;
  const bool is_first = p.rank == 0;
  const bool is_last = p.rank + 1 == p.size;
  const int in = is_first ? -1 : b.AddStream("R", ChunkRole::kReceive);
  const int out = is_last ? -1 : b.AddStream("S", ChunkRole::kCombineTarget);
  if (!is_first) b.ReceiveAndAwait(p.rank - 1, in);
  if (is_last) {
    if (exclusive) {
      b.Copy(Place::Matrix(), Place::Current(in));
    } else {
      b.Combine(Place::Matrix(), Place::Current(in), Place::Source());
    }
    b.Free(in);
    return b.Build();
  }
  if (is_first) {
    b.Copy(Place::New(out), Place::Source());
  } else {
    b.Combine(Place::New(out), Place::Current(in), Place::Source());
  }
  b.Send(out, p.rank + 1);
  if (!is_first) {
    b.Copy(Place::Matrix(), Place::Current(exclusive ? in : out));
    b.Free(in);
  }
  b.Free(out);
  return b.Build();
}

// In the round of distance d, a rank has combined the contributions of the d ranks that end with
// itself, or of all up to itself. It sends them to the rank d further, and adds those of the rank d
// before on the left. Partial results alternate between two streams, as on a hypercube, until no
// round sends them; from then on they stay in the matrix. An exclusive scan keeps the same sum
// without its own contribution in the matrix, which is free once that is in a slot.
Schedule DoublingScan(const ScheduleParameters& p, bool exclusive) {
  ScheduleBuilder b;
  int now = -1;
  int next = -1;
  Place sum = Place::Source();
  if (p.rank + 1 < p.size) {
    now = b.AddStream("X", ChunkRole::kCombineTarget);
    if (p.rank > 0 && p.rank + 2 < p.size) next = b.AddStream("Y", ChunkRole::kCombineTarget);
    b.Copy(Place::New(now), sum);
    sum = Place::Current(now);
  }
  const int in = p.rank == 0 ? -1 : b.AddStream("R", ChunkRole::kReceive);
  for (int distance = 1; distance < p.size; distance *= 2) {
    if (p.rank + distance < p.size) b.Send(now, p.rank + distance);
    if (p.rank < distance) continue;
    b.ReceiveAndAwait(p.rank - distance, in);
    const Place theirs = Place::Current(in);
    const bool is_sent_again = p.rank + 2 * distance < p.size;
    if (is_sent_again) {
      b.Combine(Place::New(next), theirs, sum);
    } else if (!exclusive) {
      b.Combine(Place::Matrix(), theirs, sum);
    }
    if (exclusive && distance == 1) b.Copy(Place::Matrix(), theirs);
    if (exclusive && distance > 1) b.Combine(Place::Matrix(), theirs, Place::Matrix());
    b.Free(in);
    if (sum.in_stream()) b.Free(now);
    std::swap(now, next);
    sum = is_sent_again ? Place::Current(now) : Place::Matrix();
  }
  if (sum.in_stream()) {
    if (!exclusive && p.rank > 0) b.Copy(Place::Matrix(), sum);
    b.Free(now);
  }
  return b.Build();
}

Schedule Scan(const ScheduleParameters& p, bool exclusive) {
  if (p.size == 1) return ScheduleBuilder().Build();
  return p.topology.shape == Shape::kHypercube ? DoublingScan(p, exclusive)
                                               : ChainScan(p, exclusive);
}

}  // namespace

Schedule CompileScan(const ScheduleParameters& p) { return Scan(p, /*exclusive=*/false); }

Schedule CompileExscan(const ScheduleParameters& p) { return Scan(p, /*exclusive=*/true); }

}  // namespace brigade

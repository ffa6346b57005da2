// The steps that reduce and all-reduce share.

#ifndef BRIGADE_PATTERNS_CATALOGUE_REDUCE_STEPS_H_
#define BRIGADE_PATTERNS_CATALOGUE_REDUCE_STEPS_H_

#include "patterns/schedule/geometry.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

// Leaves the partial result of the subtree at `node` in the current slot of a new stream, and
// returns that stream: own contribution and children in increasing relative rank, so that every
// operand pair is (lower, higher). A rank with children saves the copy of its own contribution: the
// first combine reads it where it is.
template <typename ToRank>
int AddPartial(ScheduleBuilder* b, const TreeNode& node, int relative, const ToRank& to_rank,
               Place source = Place::Source()) {
  const int out = b->AddStream("S", ChunkRole::kCombineTarget);
  if (node.children.empty()) {
    b->Copy(Place::New(out), source);
    return out;
  }
  const int in = b->AddStream("R", ChunkRole::kReceive);
  Place own = source;
  for (int child : node.children) {
    b->ReceiveAndAwait(to_rank(child), in);
    const Place target = own.in_stream() ? own : Place::New(out);
    if (child > relative) {
      b->Combine(target, own, Place::Current(in));
    } else {  // the falling half of a split ring
      b->Combine(target, Place::Current(in), own);
    }
    b->Free(in);
    own = Place::Current(out);
  }
  return out;
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CATALOGUE_REDUCE_STEPS_H_

// OneLine: the shortest path, for messages that fit the line of a transport that has lines
// (edge.h), header included. Runs the same schedules as Executor and OnePiece, without pool, posts
// or completions: what is sent is written where the receiver reads it, and what is received is used
// where the sender wrote it.
//
// Lines and posts of one stream are one order, so this path mixes freely with the others, on the
// same rank and between ranks.

#ifndef BRIGADE_PATTERNS_ONE_LINE_H_
#define BRIGADE_PATTERNS_ONE_LINE_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "membuf/status.h"
#include "patterns/catalogue.h"
#include "patterns/engine.h"
#include "patterns/group_state.h"
#include "patterns/pattern_call.h"
#include "patterns/piece_mover.h"
#include "patterns/schedule.h"
#include "patterns/wire_header.h"
#include "transport/edge.h"

namespace brigade {

class OneLine {
 public:
  // `call` was validated and must outlive the object.
  OneLine(Engine* engine, GroupState* group, const CatalogueEntry& entry, const PatternCall& call);

  // Whether the call can take this path now. False changes nothing. A point-to-point receive waits
  // a little to see what comes.
  bool Fits();
  // Runs it. REQUIRES: Fits() said yes, just now.
  Status Run(const Schedule& schedule, uint64_t sequence);
  OperationStatistics& statistics() { return mover_.statistics; }

 private:
  static constexpr int kMostStreams = 3;
  static constexpr size_t kMostPayload = Slot::kLineBytes - kHeaderBytes;

  // What a stream's current slot holds: received in an edge, or as a lease, or made here.
  struct Current {
    const std::byte* payload = nullptr;
    InEdge* edge = nullptr;
    InEdge::Receipt receipt;
    Lease lease;
    alignas(8) std::byte own[kMostPayload];
  };

  Status RunSteps(const Schedule& schedule);
  Status Await(const Step& step);
  Status AwaitPost(Current* current);
  Status Send(const Step& step);
  void Fill(const Step& step);
  void Free(Current* current);
  std::string Describe() const;
  InEdge* EdgeFrom(int peer) const;

  Engine* const engine_;
  GroupState* const group_;
  const CatalogueEntry& entry_;
  const PatternCall& call_;
  const bool pair_;
  const ChannelKind channel_;
  const Scope& scope_;
  PieceMover mover_;
  PiecePlan::Range range_{0, 0};
  WireHeader header_;
  Current currents_[kMostStreams];
  int waits_for_ = -1;  // group rank
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ONE_LINE_H_

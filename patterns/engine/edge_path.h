// EdgePath: the shortest path, for messages of one piece over a transport that shows its edges
// (edge.h). Runs the same schedules as Executor and OnePiece, without posting receives: what comes
// is used where its sender wrote it. Messages that fit a line, header included, need no staging
// memory either.
//
// Edges and posts of one stream are one order, so this path mixes freely with the others, on the
// same rank and between ranks.

#ifndef BRIGADE_PATTERNS_ENGINE_EDGE_PATH_H_
#define BRIGADE_PATTERNS_ENGINE_EDGE_PATH_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/piece_mover.h"
#include "patterns/engine/wire_header.h"
#include "patterns/schedule/schedule.h"
#include "transport/edge/edge.h"

namespace brigade {

class EdgePath {
 public:
  // `call` was validated and must outlive the object.
  EdgePath(Engine* engine, GroupState* group, const CatalogueEntry& entry, const PatternCall& call);

  // Whether the call can take this path now. False changes nothing. A point-to-point receive waits
  // a little to see what comes.
  bool Fits(const Schedule& schedule);
  // Runs it. REQUIRES: Fits() said yes, just now.
  Status Run(const Schedule& schedule, uint64_t sequence);
  OperationStatistics& statistics() { return mover_.statistics; }

 private:
  static constexpr int kMostStreams = 3;
  static constexpr size_t kLinePayload = Slot::kLineBytes - kHeaderBytes;

  // What a stream's current slot holds.
  struct Current {
    const std::byte* payload = nullptr;
    // Received, and read where it is: the edge and what to give back to it.
    InEdge* edge = nullptr;
    InEdge::Receipt receipt;
    bool piece = false;
    // In staging memory, one's own or leased.
    StagedBuffer* buffer = nullptr;
    // Made here, to be sent as a line.
    alignas(8) std::byte line[kLinePayload];
  };

  Status RunLane(const Lane& lane, int lead);
  // Bytes of the matrix, or of portion `portion`.
  size_t BytesOf(int portion) const;
  // From here on the message is that of `portion`, as the header says.
  void TurnTo(int portion);
  Status Await(const Lane& lane, const Step& step);
  // Waits for the next message as a lease.
  Status AwaitLease(Current* current, Lease* lease);
  Status Send(const Step& step);
  Status SendLine(int peer, const std::byte* payload, size_t payload_bytes);
  Status Fill(const Step& step);
  void Free(Current* current);
  InEdge* EdgeFrom(int peer) const;
  // The message in a slot, wherever it lies; no data if it is nowhere.
  ConstByteSpan MessageIn(const Slot& slot) const;
  std::string Describe() const;

  Engine* const engine_;
  GroupState* const group_;
  const CatalogueEntry& entry_;
  const PatternCall& call_;
  const bool pair_;
  const ChannelKind channel_;
  const Scope& scope_;
  const Reach& reach_;
  PieceMover mover_;
  PiecePlan::Range range_{0, 0};
  bool lines_ = false;  // the messages fit
  WireHeader header_;
  StagedBuffer* first_ = nullptr;  // taken by Fits
  Current currents_[kMostStreams];
  int owed_ = 0;           // buffers that must be back before it returns
  size_t held_bytes_ = 0;  // of staging memory
  int waits_for_ = -1;     // group rank
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_EDGE_PATH_H_

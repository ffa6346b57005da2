// OnePiece: the short path of small messages. Runs the same schedules as Executor, for the case
// that every message is one piece and nothing else is under way: steps in program order, without
// cursors, windows or bookkeeping of rounds.

#ifndef BRIGADE_PATTERNS_ENGINE_ONE_PIECE_H_
#define BRIGADE_PATTERNS_ENGINE_ONE_PIECE_H_

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

namespace brigade {

class OnePiece {
 public:
  // `call` was validated and must outlive the object.
  OnePiece(Engine* engine, GroupState* group, const CatalogueEntry& entry, const PatternCall& call);

  // Whether the call can take this path now. False changes nothing.
  bool Fits(const Schedule& schedule);
  // Runs it. REQUIRES: Fits() said yes, just now.
  Status Run(const Schedule& schedule, uint64_t sequence);
  OperationStatistics& statistics() { return mover_.statistics; }

 private:
  static constexpr int kMostStreams = 3;
  // Receives posted at once: the next one's message arrives while this one's is used. Where
  // messages wait for their receives, which wakes their senders once more, as many as there is
  // memory for.
  static constexpr int kAhead = 2;
  static constexpr int kMostAhead = 8;

  struct Receive : Completion {
    Receive() : Completion([](Completion* c) { static_cast<Receive*>(c)->arrived = true; }) {}
    bool arrived = false;  // and not yet taken up
    StagedBuffer* buffer = nullptr;
  };
  struct Current {
    StagedBuffer* buffer = nullptr;
    std::byte* payload = nullptr;
    bool sent = false;  // straight from user memory
  };

  Status RunLane(const Lane& lane);
  Status Await(const Lane& lane, const Step& step);
  Status AwaitData(Current* current);
  // *posted is false, and nothing done, if that takes waiting and is not yet needed.
  Status PostReceive(const Step& step, bool* posted);
  Status Send(const Step& step);
  Status Fill(const Step& step);
  // Sends what `copy` would copy; false if it must be copied.
  bool SendNow(const Step& copy);
  void Hold(Current* current, Receive* receive);
  void Free(Current* current);
  void GiveBack(StagedBuffer* buffer);
  // Memory for a payload; waits for it if it must, or else there is none.
  StagedBuffer* Acquire(size_t payload_bytes) { return Acquire(payload_bytes, true); }
  StagedBuffer* Acquire(size_t payload_bytes, bool may_wait);
  std::string Describe() const;
  std::byte* PayloadAt(const Place& place) const {
    return place.in_stream() ? currents_[place.index].payload : nullptr;
  }

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
  bool header_ahead_ = false;  // of what this rank sends
  bool landed_ = false;        // the data are in user memory already
  WireHeader header_;
  StagedBuffer* first_ = nullptr;  // taken by Fits
  Current currents_[kMostStreams];
  Receive receives_[kMostAhead];
  size_t posted_ = 0;  // of the lane
  size_t awaited_ = 0;
  size_t held_bytes_ = 0;  // of staging memory
  int owed_ = 0;           // buffers that must be back before it returns
  int waits_for_ = -1;     // group rank
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_ONE_PIECE_H_

// Schedule: what one rank does in one pattern, as data.
//
// A schedule speaks of segments, never of bytes. The message is cut into segments 0..n-1; the
// schedule lists the steps for segment i, and its executor repeats them for every i. A step's
// `lead` shifts it: in round i it works on segment i + lead, and is skipped where that segment does
// not exist. Rounds run from -max(lead) to n - 1, so the skipped steps are the loop's prologue and
// epilogue, and the size of a schedule depends on the number of ranks only.
//
// Staging memory appears as streams. A stream is a first-in first-out ring of slots; a slot is
// opened (by a receive or by a step that fills it), becomes the stream's current slot, is read,
// sent and combined from, and is freed. It can be opened again when its sends are complete.
// Received slots are read only: they may lie in the sender's memory.
//
// Steps run in lanes: independent programs of one rank, each in its own order. A lane has two
// cursors:
// - `receives` posts receives, as far ahead as slots allow: a receive is posted as soon as its slot
//   may be overwritten;
// - `work` does everything else; a send is posted the moment its slot holds its final value, and
//   nothing ever waits for it but the next opening of its slot.
//
// A stream belongs to one lane, and so do all messages to, and all messages from, one peer: that
// keeps their order.
//
// Sources: AP3000 paper section 4.2 (posting rules); the constant-size replayed table is MSCCL's
// idea, fixed slots NCCL's.

#ifndef BRIGADE_PATTERNS_SCHEDULE_SCHEDULE_H_
#define BRIGADE_PATTERNS_SCHEDULE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "membuf/memory_kind.h"
#include "patterns/schedule/shares.h"

namespace brigade {

// Where a step reads or writes.
struct Place {
  enum Kind : uint8_t {
    kNone,
    kMatrix,  // PatternCall::matrix
    kBlock,   // PatternCall::blocks[index], or share `index` of a reduce-scatter
    // This rank's contribution to a combine, whose result goes to kMatrix: the call's source, or,
    // if it has none, the matrix itself. Only read, and only before the matrix is written.
    kSource,
    kSourceBlock,  // share `index` of it
    kCurrent,      // the current slot of stream `index`
    kNew,          // the next slot of stream `index`, opened by this step; writing only
    kSent,         // PatternCall::sent[index]; reading only
  };
  Kind kind = kNone;
  int32_t index = 0;

  static Place Matrix() { return {kMatrix, 0}; }
  static Place Block(int q) { return {kBlock, q}; }
  static Place Source() { return {kSource, 0}; }
  static Place SourceBlock(int q) { return {kSourceBlock, q}; }
  static Place Current(int stream) { return {kCurrent, stream}; }
  static Place New(int stream) { return {kNew, stream}; }
  static Place Sent(int q) { return {kSent, q}; }
  bool in_stream() const { return kind == kCurrent || kind == kNew; }
};

inline bool operator==(const Place& a, const Place& b) {
  return a.kind == b.kind && a.index == b.index;
}

// Returns the place in the matrix that is the same memory in calls without a source.
inline Place InPlace(const Place& place) {
  if (place.kind == Place::kSource) return Place::Matrix();
  return place.kind == Place::kSourceBlock ? Place::Block(place.index) : place;
}

enum class Opcode : uint8_t {
  kReceive,  // among receives: post a receive from `peer` into the next slot of `dst`
  kAwait,    // wait for the stream's next received slot; it becomes current
  kOpen,     // open the next slot of `dst`, for steps that fill a part of it each
  kCopy,     // dst = left, between user memory and a slot, or from one slot to another
  kCombine,  // dst = left (op) right; dst may be left or right
  kSend,     // post a send of `left`, a current slot, to `peer`
  kFree,     // the current slot of `left` has been used for the last time
};

struct Step {
  Opcode opcode = Opcode::kFree;
  int32_t peer = -1;  // a rank of the scope
  Place dst;
  Place left;
  Place right;
  int32_t lead = 0;
  // The block, or share, whose segments decide in which rounds this step exists; -1: the matrix.
  // Beyond the blocks are the sent blocks: number of ranks + q is PatternCall::sent[q].
  int32_t block = -1;
  // kReceive: the slot is only copied to user memory (`left` says where) that no other step uses,
  // so the message may land there directly.
  bool only_copied_out = false;
  // kCopy from user memory to a slot: the only rank that it is sent to, by the very next step,
  // while nothing else is done with it; -1 otherwise. The segment may then go straight from user
  // memory.
  int32_t only_sent_to = -1;
  // kAwait: which of the lane's receives it waits for.
  int32_t receive = -1;

  // The stream whose slot is received, awaited, sent or freed.
  int32_t stream() const { return (opcode == Opcode::kReceive ? dst : left).index; }
  // Whether it opens the next slot of a stream, to fill it.
  bool opens() const { return opcode != Opcode::kReceive && dst.kind == Place::kNew; }
  // Whether it reads or writes user memory there, or a slot of that stream.
  bool Uses(const Place& place) const {
    return dst == place || InPlace(left) == place || InPlace(right) == place;
  }
  bool UsesStream(int stream) const;
};

// The fewest slots per stream with which every schedule of the catalogue is free of deadlock
// (proved by schedule_check) where its streams do not say that fewer will do. With more memory it
// works ahead (rules::kWindowSlots).
inline constexpr int kMinSlots = 2;

struct Stream {
  const char* name;
  ChunkRole role;
  int least_slots = kMinSlots;  // it cannot do with fewer
};

// Blocks that travel in one message, at places in a row (Schedule::BlockAt), wrapping around at the
// number of ranks: segment i of each that has one, in this order. A slot holds the run of the step
// that opened it; other steps may work on a part of that run. Where all blocks are equally long,
// the run of a step may name places in the slot only, counted from 0, and its user memory may be of
// another run of as many blocks.
struct BlockRun {
  int first = 0;
  int count = 1;
  // How many of these blocks come before those of `part`, some of these.
  int Before(const BlockRun& part, int ranks) const { return (part.first - first + ranks) % ranks; }
};

inline bool operator==(const BlockRun& a, const BlockRun& b) {
  return a.first == b.first && a.count == b.count;
}

struct Lane {
  std::vector<Step> receives;
  std::vector<Step> work;
};

struct Schedule {
  std::vector<Stream> streams;
  std::vector<Lane> lanes;
  int max_lead = 0;
  // Where the matrix is cut, its shares are what steps call blocks, and a share's first segment may
  // have its turn in a later round than 0 (FirstRounds).
  Shares shares;
  // Where messages hold several blocks, the blocks of steps and places are indices of these.
  std::vector<BlockRun> runs;
  // The block at each place that runs count; empty: the places are the blocks. Equal on all ranks.
  std::vector<int> order;
  int BlockAt(const BlockRun& run, int index, int ranks) const {
    const int place = (run.first + index) % ranks;
    return order.empty() ? place : order[static_cast<size_t>(place)];
  }
  // The most blocks in a message of any rank; 0: in those of this rank.
  int most_together = 0;

  // Slots that it cannot do without, over all streams.
  int LeastSlots() const;

  // All of it, a line per stream, run and step: for people, and to compare (test/patterns).
  std::string ToString() const;
};

// Builds a schedule step by step; lead and block apply to all steps until changed.
class ScheduleBuilder {
 public:
  ScheduleBuilder() { schedule_.lanes.emplace_back(); }
  // Further steps go to a new lane.
  void StartLane() { schedule_.lanes.emplace_back(); }
  int AddStream(const char* name, ChunkRole role, int least_slots = kMinSlots);
  // Returns the number by which steps call it.
  int AddRun(int first, int count);
  void SetShares(const Shares& shares) { schedule_.shares = shares; }
  void SetOrder(std::vector<int> order) { schedule_.order = std::move(order); }
  void SetMostTogether(int blocks) { schedule_.most_together = blocks; }
  void SetLead(int lead) { lead_ = lead; }
  void SetBlock(int block) { block_ = block; }

  // Posts the receive, and awaits it at this point of the work.
  void ReceiveAndAwait(int peer, int stream);
  void Open(int stream);
  void Copy(Place dst, Place src);
  void Combine(Place dst, Place left, Place right);
  void Send(int stream, int peer);
  void Free(int stream);

  Schedule Build();

 private:
  Step Base(Opcode opcode) const;

  Schedule schedule_;
  int lead_ = 0;
  int block_ = -1;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_SCHEDULE_H_

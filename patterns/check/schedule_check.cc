#include "patterns/check/schedule_check.h"

#include <algorithm>
#include <sstream>
#include <string>

#include "patterns/check/network.h"
#include "patterns/check/promise.h"
#include "patterns/check/symbols.h"
#include "patterns/schedule/cursor.h"
#include "patterns/schedule/shares.h"

namespace brigade {
namespace {

struct RankState {
  const Schedule* schedule;
  Turns turns;
  std::vector<Cursor> receives;  // per lane
  std::vector<Cursor> work;
  CheckCounts counts;
};

// A rank's step, and the segment it works on.
struct Doing {
  int rank = 0;
  Cursor at;
  const Step* step = nullptr;  // null: none
  int64_t segment = 0;
};

// Runs the schedules of all ranks until nothing moves.
class Checker {
 public:
  Checker(const CheckCase& c, const std::vector<Schedule>& schedules)
      : case_(c),
        shares_(schedules[0].shares),
        promise_(c, shares_),
        network_(c, schedules),
        ranks_(schedules.size()) {
    for (int r = 0; r < c.size; ++r) {
      RankState& rank = At(r);
      rank.schedule = &schedules[static_cast<size_t>(r)];
      rank.turns.Set(shares_, SegmentsFor(r, *rank.schedule));
      rank.work.assign(rank.schedule->lanes.size(), Cursor::AtStartOf(*rank.schedule));
      rank.receives = rank.work;
      memories_.push_back(promise_.AtFirst(r));
    }
  }

  Status Run(std::vector<CheckCounts>* counts) {
    CheckShares();
    for (int r = 0; r < case_.size; ++r) network_.Wake(r);
    for (int r = 0; failure_.ok() && (r = network_.NextAwake()) >= 0;) {
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t lane = 0; lane < At(r).schedule->lanes.size(); ++lane) {
          while (AdvanceReceives(r, lane) | AdvanceWork(r, lane)) moved = true;
        }
      }
    }
    if (failure_.ok()) CheckFinished();
    if (failure_.ok()) CheckResult();
    if (!failure_.ok() || counts == nullptr) return failure_;
    counts->clear();
    for (int r = 0; r < case_.size; ++r) {
      counts->push_back(At(r).counts);
      counts->back().least_slots = At(r).schedule->LeastSlots();
      counts->back().peak_slots = network_.PeakSlots(r);
    }
    return Status();
  }

 private:
  RankState& At(int rank) { return ranks_[static_cast<size_t>(rank)]; }
  UserMemory& MemoryOf(int rank) { return memories_[static_cast<size_t>(rank)]; }

  // Of the matrix, and of what the schedule of `rank` calls blocks.
  std::vector<int64_t> SegmentsFor(int rank, const Schedule& schedule) const {
    std::vector<int64_t> segments(1, promise_.in_blocks() ? 0 : promise_.Segments(rank, -1));
    for (int q = 0; schedule.runs.empty() && q < promise_.blocks(); ++q) {
      segments.push_back(promise_.Segments(rank, q));
    }
    for (const BlockRun& run : schedule.runs) {
      segments.push_back(0);
      for (int i = 0; i < run.count; ++i) {
        const int64_t n = promise_.Segments(rank, schedule.BlockAt(run, i, case_.size));
        segments.back() = std::max(segments.back(), n);
      }
    }
    return segments;
  }

  bool Fail(const Doing& doing, const std::string& what) {
    if (!failure_.ok()) return false;
    std::ostringstream out;
    out << PatternName(case_.pattern) << " shape " << static_cast<int>(case_.topology.shape) << "/"
        << case_.topology.parameter << " size " << case_.size << " root " << case_.root << " slots "
        << case_.slots << (case_.lands_in_peer_memory ? " peer" : " own")
        << " receive buffer, rank " << doing.rank << ", round " << doing.at.round << ", step "
        << doing.at.step << " (peer " << (doing.step == nullptr ? -1 : doing.step->peer)
        << "): " << what;
    failure_ = Status(StatusCode::kInternal, out.str());
    return false;
  }
  // Of a rank that is through.
  bool FailAtEnd(int rank, const std::string& what) {
    return Fail({rank, At(rank).work[0], nullptr, 0}, what);
  }

  void CheckShares() {
    for (int r = 0; r < case_.size; ++r) {
      const Shares& theirs = At(r).schedule->shares;
      if (theirs.count != shares_.count || theirs.cut != shares_.cut) {
        Fail({r, Cursor(), nullptr, 0}, "cuts the matrix otherwise than rank 0");
      }
    }
  }

  // --- steps ---

  // The step at `*cursor` or after it; false at the end.
  bool Find(int r, const std::vector<Step>& steps, Cursor* cursor, Doing* doing) {
    const Turns& turns = At(r).turns;
    if (!cursor->SkipToExisting(turns, steps)) return false;
    const Step& step = steps[cursor->step];
    *doing = {r, *cursor, &step, turns.SegmentOf(step, cursor->round)};
    return true;
  }

  bool AdvanceReceives(int r, size_t lane) {
    Cursor& cursor = At(r).receives[lane];
    Doing doing;
    if (!Find(r, At(r).schedule->lanes[lane].receives, &cursor, &doing)) return false;
    const Step& step = *doing.step;
    Network::Slot* slot = network_.Open(r, step.stream());
    if (slot == nullptr) return false;
    slot->run = step.block;
    ++cursor.step;
    if (!network_.PostReceive(step.peer, r, slot, BlocksOf(doing), doing.segment)) {
      Fail(doing, "a send of another segment meets this receive");
    }
    return true;
  }

  bool AdvanceWork(int r, size_t lane) {
    Cursor& cursor = At(r).work[lane];
    Doing doing;
    if (!Find(r, At(r).schedule->lanes[lane].work, &cursor, &doing) || !Do(doing)) return false;
    ++cursor.step;
    return true;
  }

  // One step of the work lane; false if it must wait (or after a failure).
  bool Do(const Doing& doing) {
    switch (doing.step->opcode) {
      case Opcode::kReceive:
        return Fail(doing, "a receive among the work");
      case Opcode::kAwait:
        return Await(doing);
      case Opcode::kOpen:
        return OpenRun(doing);
      case Opcode::kCopy:
      case Opcode::kCombine:
        return At(doing.rank).schedule->runs.empty() ? Fill(doing) : FillRun(doing);
      case Opcode::kSend:
        return Send(doing);
      case Opcode::kFree:
        if (Current(doing.rank, doing.step->stream()) == nullptr) {
          return Fail(doing, "frees a slot that is not open");
        }
        network_.Free(doing.rank, doing.step->stream());
        return true;
    }
    return Fail(doing, "no such step");
  }

  bool Await(const Doing& doing) {
    Network::Stream& s = network_.StreamOf(doing.rank, doing.step->stream());
    Network::Slot* slot = &s.slots[static_cast<size_t>(s.awaited) % s.slots.size()];
    if (s.awaited >= s.opened || !slot->arrived) return false;
    if (s.current != nullptr) return Fail(doing, "awaits with a slot still current");
    ++s.awaited;
    s.current = slot;
    MemoryOf(doing.rank).knows |= slot->value.knows;
    return true;
  }

  bool Fill(const Doing& doing) {
    const Step& step = *doing.step;
    CheckCounts& counts = At(doing.rank).counts;
    const bool combines = step.opcode == Opcode::kCombine;
    const Value* left = Read(doing, step.left);
    const Value* right = combines ? Read(doing, step.right) : left;
    if (left == nullptr || right == nullptr) return false;
    Value result = *left;
    if (combines) {
      const bool in_any_order = case_.topology.shape == Shape::kCirculant && !case_.in_rank_order;
      const bool in_order = in_any_order || left->high + 1 == right->low;
      if (left->segment != right->segment || left->block != right->block || !in_order) {
        return Fail(doing, "combines out of order");
      }
      result.high = right->high;
      result.association = Associate(left->association, right->association);
    }
    result.knows = MemoryOf(doing.rank).knows;
    if (!Write(doing, result)) return false;
    ++(combines ? counts.combines : counts.copies);
    return true;
  }

  bool Send(const Doing& doing) {
    CheckCounts& counts = At(doing.rank).counts;
    Network::Slot* slot = Current(doing.rank, doing.step->stream());
    if (slot == nullptr || !slot->IsFilled()) return Fail(doing, "sends a slot that is not filled");
    ++counts.messages;
    if (!case_.OnOneHost(doing.rank, doing.step->peer)) ++counts.crossings;
    if (!network_.PostSend(doing.rank, doing.step->peer, slot, BlocksOf(doing), doing.segment)) {
      Fail(doing, "a send of another segment meets this receive");
    }
    return true;
  }

  // --- places ---

  Network::Slot* Current(int rank, int stream) { return network_.StreamOf(rank, stream).current; }

  // The blocks whose segment the step works on; of a matrix or one block, a run of none. A sent
  // block is to its receiver the block of the sender.
  BlockRun BlocksOf(const Doing& doing) {
    if (!At(doing.rank).schedule->runs.empty()) return RunAt(doing.rank, doing.step->block);
    const bool is_sent = case_.pattern == Pattern::kAllToAll && doing.step->block >= case_.size;
    return {is_sent ? doing.rank : doing.step->block, 0};
  }
  const BlockRun& RunAt(int rank, int run) {
    return At(rank).schedule->runs[static_cast<size_t>(run)];
  }

  // The value at `place`, or null after a failure.
  const Value* Read(const Doing& doing, const Place& place) {
    UserMemory& memory = MemoryOf(doing.rank);
    const auto segment = static_cast<size_t>(doing.segment);
    const bool is_separate = case_.separate_source;
    switch (place.kind) {
      case Place::kSource:
        if (is_separate)
          return segment < memory.source.size() ? &memory.source[segment] : &nothing_;
        [[fallthrough]];
      case Place::kMatrix:
        return segment < memory.matrix.size() ? &memory.matrix[segment] : &nothing_;
      case Place::kSourceBlock:
        if (is_separate) return &memory.source_blocks[static_cast<size_t>(place.index)][segment];
        [[fallthrough]];
      case Place::kBlock:
        return &memory.blocks[static_cast<size_t>(place.index)][segment];
      case Place::kSent:
        return &memory.blocks[static_cast<size_t>(case_.size + place.index)][segment];
      case Place::kCurrent:
        if (const Network::Slot* slot = Current(doing.rank, place.index)) return &slot->value;
        break;
      default:
        break;
    }
    Fail(doing, "reads a slot that is not filled");
    return nullptr;
  }

  bool Write(const Doing& doing, const Value& value) {
    UserMemory& memory = MemoryOf(doing.rank);
    const auto segment = static_cast<size_t>(doing.segment);
    const Place& dst = doing.step->dst;
    switch (dst.kind) {
      case Place::kMatrix:
        if (segment < memory.matrix.size()) memory.matrix[segment] = value;
        return true;
      case Place::kBlock:
        memory.blocks[static_cast<size_t>(dst.index)][segment] = value;
        return true;
      case Place::kCurrent:
      case Place::kNew:
        return WriteSlot(doing, value);
      case Place::kSource:
      case Place::kSourceBlock:
        return Fail(doing, "writes a contribution");
      case Place::kNone:
      case Place::kSent:
        break;
    }
    return Fail(doing, "writes nowhere");
  }

  bool WriteSlot(const Doing& doing, const Value& value) {
    Network::Stream& s = network_.StreamOf(doing.rank, doing.step->dst.index);
    if (doing.step->opens()) {
      if (s.current != nullptr) return Fail(doing, "opens a slot with one still current");
      s.current = network_.Open(doing.rank, doing.step->dst.index);
      if (s.current == nullptr) return false;
    } else {
      if (s.current == nullptr) return Fail(doing, "writes a slot that is not open");
      if (s.current->received) return Fail(doing, "writes a received slot");
      if (s.current->sent) return Fail(doing, "writes a slot that is being sent");
    }
    s.current->value = value;
    return true;
  }

  // --- runs ---

  // Of a block, on any rank.
  int SegmentsInRun(int block) const { return promise_.Segments(/*rank=*/0, block); }

  // How many of a run's first `count` blocks have the segment.
  size_t PartsBefore(const Doing& doing, const BlockRun& run, int count) {
    const Schedule& schedule = *At(doing.rank).schedule;
    size_t parts = 0;
    for (int i = 0; i < count; ++i) {
      parts += doing.segment < SegmentsInRun(schedule.BlockAt(run, i, case_.size));
    }
    return parts;
  }

  // Opens a slot for the step's run, with nothing in it.
  bool OpenRun(const Doing& doing) {
    if (!Write(doing, Value())) return false;
    const BlockRun& run = RunAt(doing.rank, doing.step->block);
    Network::Slot* slot = Current(doing.rank, doing.step->dst.index);
    slot->run = doing.step->block;
    slot->parts.assign(PartsBefore(doing, run, run.count), Value());
    return true;
  }

  // Where the values of the segment of `run`'s blocks are at `place`; empty if they are not.
  std::vector<Value*> PartsAt(const Doing& doing, const Place& place, const BlockRun& run) {
    if (place.in_stream()) return PartsInSlot(doing, place.index, run);
    UserMemory& memory = MemoryOf(doing.rank);
    const auto segment = static_cast<size_t>(doing.segment);
    const bool is_matrix = place.kind == Place::kMatrix;
    const BlockRun& there = is_matrix ? run : RunAt(doing.rank, place.index);
    std::vector<Value*> parts;
    for (int i = 0; i < there.count; ++i) {
      const int block = At(doing.rank).schedule->BlockAt(there, i, case_.size);
      if (doing.segment >= SegmentsInRun(block)) continue;
      if (is_matrix && block != doing.rank) return {};
      const int index = block + (place.kind == Place::kSent ? case_.size : 0);
      parts.push_back(is_matrix ? &memory.matrix[segment]
                                : &memory.blocks[static_cast<size_t>(index)][segment]);
    }
    return parts;
  }

  std::vector<Value*> PartsInSlot(const Doing& doing, int stream, const BlockRun& run) {
    std::vector<Value*> parts;
    Network::Slot* slot = Current(doing.rank, stream);
    if (slot == nullptr) return parts;
    const BlockRun& all = RunAt(doing.rank, slot->run);
    const int before = all.Before(run, case_.size);
    if (before + run.count > all.count) return parts;
    const size_t first = PartsBefore(doing, all, before);
    const size_t count = PartsBefore(doing, run, run.count);
    if (first + count > slot->parts.size()) return parts;
    for (size_t i = 0; i < count; ++i) parts.push_back(&slot->parts[first + i]);
    return parts;
  }

  // A copy or combine of a run, or of a part of one; false if it must wait (or after a failure).
  bool FillRun(const Doing& doing) {
    const Step& step = *doing.step;
    CheckCounts& counts = At(doing.rank).counts;
    const bool combines = step.opcode == Opcode::kCombine;
    if (step.dst.kind == Place::kSent) return Fail(doing, "writes nowhere");
    if (step.opens() && !OpenRun(doing)) return false;
    if (step.dst.kind == Place::kCurrent && !Write(doing, Value())) return false;
    const BlockRun& run = RunAt(doing.rank, step.block);
    const std::vector<Value*> to = PartsAt(doing, step.dst, run);
    const std::vector<Value*> left = PartsAt(doing, step.left, run);
    const std::vector<Value*> right = combines ? PartsAt(doing, step.right, run) : left;
    if (to.empty() || to.size() != left.size() || to.size() != right.size()) {
      return Fail(doing, "a message of other blocks");
    }
    for (size_t i = 0; i < to.size(); ++i) {
      Value result = *left[i];
      if (combines) {
        if (left[i]->block < 0 || left[i]->block != right[i]->block ||
            left[i]->segment != right[i]->segment) {
          return Fail(doing, "combines what does not belong together");
        }
        result.association = Associate(left[i]->association, right[i]->association);
      }
      *to[i] = result;
    }
    (combines ? counts.combines : counts.copies) += static_cast<int64_t>(to.size());
    return true;
  }

  // --- the end ---

  void CheckFinished() {
    for (int r = 0; r < case_.size; ++r) {
      const RankState& rank = At(r);
      for (size_t lane = 0; lane < rank.schedule->lanes.size(); ++lane) {
        const Lane& steps = rank.schedule->lanes[lane];
        Cursor receives = rank.receives[lane];
        Cursor work = rank.work[lane];
        Doing never;
        if (Find(r, steps.receives, &receives, &never) || Find(r, steps.work, &work, &never)) {
          Fail(never, "deadlock: this step can never run");
        }
      }
    }
    if (const int r = network_.WithOpenSlot(); r >= 0) FailAtEnd(r, "ends with a slot still open");
    if (const int r = network_.WithUnmatchedMessage(); r >= 0) {
      Fail({r, Cursor(), nullptr, 0}, "ends with a message unmatched");
    }
  }

  void CheckResult() {
    for (int r = 0; r < case_.size && failure_.ok(); ++r) {
      const Status status = promise_.Check(r, memories_);
      if (!status.ok()) FailAtEnd(r, "wrong result: " + status.message());
    }
  }

  const CheckCase& case_;
  const Shares shares_;
  Promise promise_;
  Network network_;
  const Value nothing_;
  std::vector<RankState> ranks_;
  std::vector<UserMemory> memories_;
  Status failure_;
};

}  // namespace

Status CheckSchedules(const CheckCase& c, const std::vector<Schedule>& schedules,
                      std::vector<CheckCounts>* counts) {
  return Checker(c, schedules).Run(counts);
}

std::vector<Schedule> CompileAll(const CheckCase& c) {
  std::vector<Schedule> schedules;
  for (int r = 0; r < c.size; ++r) {
    ScheduleParameters p;
    p.size = c.size;
    p.rank = r;
    p.root = c.root;
    p.topology = c.topology;
    p.decreasing = c.decreasing;
    p.in_rank_order = c.in_rank_order;
    p.shares_memory = c.shares_memory;
    p.some_share_memory = c.some_share_memory;
    p.hosts = c.HostsToGoBy();
    if (IsPair(c.pattern)) {
      p.root = 1 - r;
      schedules.push_back(r == c.root ? CompileSend(p) : CompileReceive(p));
    } else {
      schedules.push_back(EntryOf(c.pattern).compile(p));
    }
  }
  return schedules;
}

}  // namespace brigade

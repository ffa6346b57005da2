#include "patterns/check/read_check.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "patterns/catalogue/catalogue.h"
#include "patterns/check/promise.h"
#include "patterns/check/symbols.h"
#include "patterns/schedule/shares.h"

namespace brigade {
namespace {

// By rank: how many of its steps come before.
using Clock = std::vector<int>;

// A block of one rank's user memory.
struct Block {
  Value* value = nullptr;
  int written = 0;                                // by its rank: its clock then
  std::vector<std::pair<int, int>> read_since{};  // the reader, and its clock then
};

struct Rank {
  size_t next = 0;             // step
  bool has_published = false;  // kDone
  Clock clock;
  std::vector<Clock> exposed;  // clocks of its exposures
  Clock done;
  UserMemory memory;
  std::vector<Block> blocks;
  std::vector<Block> sources;  // contributions that are apart from them
  Block result;                // of kMultiReduce: the matrix
};

Status Wrong(int rank, const std::string& what) {
  return {StatusCode::kInternal, "rank " + std::to_string(rank) + ": " + what};
}

class ReadCheck {
 public:
  ReadCheck(const CheckCase& c, const std::vector<ReadSchedule>& schedules)
      : case_(c), schedules_(schedules), promise_(c, SharesOf(c)) {
    ranks_.resize(schedules.size());
    for (int r = 0; r < c.size; ++r) {
      Rank& rank = At(r);
      rank.clock.resize(schedules.size());
      rank.memory = promise_.AtFirst(r);
      rank.blocks.resize(rank.memory.blocks.size());
      for (size_t b = 0; b < rank.blocks.size(); ++b) {
        rank.blocks[b].value = rank.memory.blocks[b].data();
      }
      for (std::vector<Value>& source : rank.memory.source_blocks) {
        rank.sources.push_back({source.data()});
      }
      if (!rank.memory.matrix.empty()) rank.result.value = rank.memory.matrix.data();
    }
  }

  Status Run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (int r = 0; r < case_.size; ++r) {
        while (At(r).next < schedules_[static_cast<size_t>(r)].steps.size()) {
          bool ran = false;
          BRIGADE_RETURN_IF_ERROR(RunStep(r, &ran));
          if (!ran) break;
          moved = true;
        }
      }
    }
    std::vector<UserMemory> memory;
    for (int r = 0; r < case_.size; ++r) {
      if (At(r).next < schedules_[static_cast<size_t>(r)].steps.size()) {
        return Wrong(r, "waits for ever in step " + std::to_string(At(r).next));
      }
      memory.push_back(At(r).memory);
    }
    for (int r = 0; r < case_.size; ++r) BRIGADE_RETURN_IF_ERROR(promise_.Check(r, memory));
    return OverwriteAll();
  }

 private:
  static Shares SharesOf(const CheckCase& c) {
    return EntryOf(c.pattern).multi ? Shares() : Shares{Shares::kEqual, c.size};
  }
  Rank& At(int rank) { return ranks_[static_cast<size_t>(rank)]; }

  Status RunStep(int r, bool* ran) {
    Rank& rank = At(r);
    const ReadSchedule& schedule = schedules_[static_cast<size_t>(r)];
    const ReadStep& step = schedule.steps[rank.next];
    *ran = true;
    switch (step.opcode) {
      case ReadStep::kExpose:
        if (rank.exposed.size() == ReadSchedule::kMostExposures)
          return Wrong(r, "exposes too often");
        break;
      case ReadStep::kRead:
        if (exchanges_ && step.block == r) break;
        if (!IsOther(r, step.block)) return Wrong(r, "reads of no other rank");
        *ran = HasExposed(r, step.block);
        break;
      case ReadStep::kCombine:
        if (static_cast<int>(schedule.order.size()) != case_.size - 1 || step.block != r) {
          return Wrong(r, "does not combine its own block of all ranks");
        }
        for (const int peer : schedule.order) {
          if (!IsOther(r, peer)) return Wrong(r, "combines of no other rank");
          *ran &= HasExposed(r, peer);
        }
        break;
      case ReadStep::kDone:
        *ran = IsDone(r);
    }
    if (!*ran) return Status();
    ++rank.next;
    ++rank.clock[static_cast<size_t>(r)];
    switch (step.opcode) {
      case ReadStep::kExpose:
        rank.exposed.push_back(rank.clock);
        return Status();
      case ReadStep::kRead: {
        const Value* value = nullptr;
        const int block = exchanges_ ? case_.size + r : step.block;  // of the rank that is read
        BRIGADE_RETURN_IF_ERROR(Read(r, step.block, &BlockOf(step.block, block), &value));
        return Write(r, &BlockOf(r, step.block), *value);
      }
      case ReadStep::kCombine:
        return Combine(r, schedule.order, step.block);
      case ReadStep::kDone:
        return Status();
    }
    return Wrong(r, "no such step");
  }

  bool IsOther(int r, int peer) const { return peer >= 0 && peer < case_.size && peer != r; }
  Block& BlockOf(int rank, int block) { return At(rank).blocks[static_cast<size_t>(block)]; }
  // Returns the contribution of a rank to a block.
  Block& OperandOf(int rank, int block) {
    return case_.separate_source ? At(rank).sources[static_cast<size_t>(block)]
                                 : BlockOf(rank, block);
  }

  // Whether `peer` has exposed as often as `reader`; then that comes before the reader's next step.
  bool HasExposed(int reader, int peer) {
    const size_t exposures = At(reader).exposed.size();
    if (exposures == 0 || At(peer).exposed.size() < exposures) return false;
    Join(At(peer).exposed[exposures - 1], &At(reader).clock);
    return true;
  }
  bool IsDone(int r) {
    if (!At(r).has_published) {
      At(r).has_published = true;
      ++At(r).clock[static_cast<size_t>(r)];
      At(r).done = At(r).clock;
    }
    for (const Rank& other : ranks_) {
      if (!other.has_published) return false;
    }
    for (const Rank& other : ranks_) Join(other.done, &At(r).clock);
    return true;
  }
  static void Join(const Clock& before, Clock* clock) {
    for (size_t i = 0; i < before.size(); ++i) (*clock)[i] = std::max((*clock)[i], before[i]);
  }
  bool ComesBefore(int rank, int clock, int r) {
    return clock <= At(r).clock[static_cast<size_t>(rank)];
  }

  // A block of `owner`.
  Status Read(int r, int owner, Block* read, const Value** value) {
    if (!ComesBefore(owner, read->written, r)) return Wrong(r, "reads what may not be written yet");
    read->read_since.emplace_back(r, At(r).clock[static_cast<size_t>(r)]);
    *value = read->value;
    return Status();
  }
  // A block of its own.
  Status Write(int r, Block* block, const Value& value) {
    for (const auto& [reader, clock] : block->read_since) {
      if (!ComesBefore(reader, clock, r)) {
        return Wrong(r, "writes what rank " + std::to_string(reader) + " may be reading");
      }
    }
    *block->value = value;
    block->written = At(r).clock[static_cast<size_t>(r)];
    block->read_since.clear();
    return Status();
  }

  Status Combine(int r, std::vector<int> order, int block) {
    order.push_back(r);
    Value sum;
    for (const int owner : order) {
      const Value* value = nullptr;
      BRIGADE_RETURN_IF_ERROR(Read(r, owner, &OperandOf(owner, block), &value));
      Value left = sum;
      Value right = *value;
      if (case_.size == 2 && right.low < left.low) std::swap(left, right);  // operations commute
      if (left.is_nothing()) {
        sum = right;
      } else if (right.low != left.high + 1) {
        return Wrong(r, "combines out of order");
      } else {
        sum = left;
        sum.high = right.high;
        sum.association = Associate(left.association, right.association);
      }
    }
    return Write(r, EntryOf(case_.pattern).multi ? &At(r).result : &BlockOf(r, block), sum);
  }

  // The program, in which the call has returned.
  Status OverwriteAll() {
    for (int r = 0; r < case_.size; ++r) {
      ++At(r).clock[static_cast<size_t>(r)];
      for (std::vector<Block>* blocks : {&At(r).blocks, &At(r).sources}) {
        for (Block& block : *blocks) BRIGADE_RETURN_IF_ERROR(Write(r, &block, Value()));
      }
    }
    return Status();
  }

  const CheckCase& case_;
  const bool exchanges_ = case_.pattern == Pattern::kAllToAll;
  const std::vector<ReadSchedule>& schedules_;
  Promise promise_;
  std::vector<Rank> ranks_;
};

}  // namespace

std::vector<ReadSchedule> CompileAllReads(const CheckCase& c) {
  std::vector<ReadSchedule> schedules;
  for (int r = 0; r < c.size; ++r) {
    ScheduleParameters p;
    p.size = c.size;
    p.rank = r;
    p.topology = c.topology;
    p.decreasing = c.decreasing;
    p.shares_memory = true;
    schedules.push_back(EntryOf(c.pattern).compile_reads(p));
  }
  return schedules;
}

Status CheckReads(const CheckCase& c, const std::vector<ReadSchedule>& schedules) {
  CheckCase one_segment = c;
  // An all-to-all has so many blocks; other patterns look at the first ones.
  one_segment.segments.assign(static_cast<size_t>(c.size * c.size), 1);
  return ReadCheck(one_segment, schedules).Run();
}

}  // namespace brigade

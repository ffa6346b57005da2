#include "patterns/check/schedule_check.h"

#include <algorithm>
#include <deque>
#include <sstream>
#include <string>
#include <utility>

#include "patterns/schedule/circulant_graph.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/shares.h"

namespace brigade {
namespace {

// The contents of one piece of memory. Contributions are numbered in the order in which the pattern
// promises to combine them; a value holds those of [low, high] and remembers how they were put
// together.
struct Value {
  int portion = -2;  // -1: matrix; -2: nothing
  int piece = -1;
  int low = 0;
  int high = 0;
  uint64_t association = 0;
  uint64_t knows = 0;  // ranks whose arrival this message proves (groups of up to 64)
};

bool SameData(const Value& a, const Value& b) {
  return a.portion == b.portion && a.piece == b.piece && a.low == b.low && a.high == b.high &&
         a.association == b.association;
}

uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + (b ^ (b >> 29)) * 0xBF58476D1CE4E5B9u + 1;
  x ^= x >> 31;
  return x * 0x94D049BB133111EBu;
}

// A use of some bytes: the slot they were put in, or a lease on another holding's bytes. Bytes may
// be overwritten when their holding is over: freed, and every send from it complete.
struct Holding {
  int rank = 0;
  int pending_sends = 0;
  bool freed = false;
  Holding* lender = nullptr;
};

struct Slot {
  Value value;
  std::vector<Value> parts;  // instead, of a message of several portions
  int run = -1;              // which ones: of the rank's schedule
  bool received = false;
  bool leased = false;  // what was received lies in the sender's memory
  bool arrived = false;
  bool sent = false;
  Holding* holding = nullptr;
};

struct StreamState {
  std::vector<Slot> slots;
  int64_t opened = 0;
  int64_t awaited = 0;
  int64_t freed = 0;
  Slot* current = nullptr;
};

struct Cursor {
  int round = 0;
  size_t step = 0;
};

struct RankState {
  const Schedule* schedule;
  std::vector<Cursor> receives;  // per lane
  std::vector<Cursor> work;
  std::vector<StreamState> streams;
  std::vector<Value> matrix;
  std::vector<std::vector<Value>> portions;
  uint64_t knows = 0;
  int slots_in_use = 0;
  bool queued = false;
  CheckCounts counts;
};

// Posted sends and receives waiting for their partners.
struct PostedSend {
  Value value;
  std::vector<Value> parts;
  Holding* holding;
  int portion;
  int piece;
};
struct PostedReceive {
  Slot* slot;
  int portion;
  int piece;
};
// First in, first out; a group of thousands of ranks has many of them.
template <typename T>
class Queue {
 public:
  bool empty() const { return head_ == items_.size(); }
  void push_back(const T& item) { items_.push_back(item); }
  const T& front() const { return items_[head_]; }
  void pop_front() { ++head_; }

 private:
  std::vector<T> items_;
  size_t head_ = 0;
};

struct Edge {
  Queue<PostedSend> sends;
  Queue<PostedReceive> receives;
};

std::vector<int> HostsToGoBy(const CheckCase& c) {
  return c.by_host ? c.hosts : std::vector<int>();
}

class Checker {
 public:
  Checker(const CheckCase& c, const std::vector<Schedule>& schedules)
      : case_(c),
        shares_(schedules[0].shares),
        multi_(EntryOf(c.pattern).multi),
        in_portions_(multi_ || shares_.count > 0),
        portions_(multi_ ? c.size : shares_.count),
        tree_(c.topology, c.size, c.pattern == Pattern::kAllReduce ? 0 : c.root, HostsToGoBy(c)),
        ring_(Topology{Shape::kIncreasingRings, 1}, c.size, /*root=*/0, HostsToGoBy(c)),
        edges_(c.size) {
    first_rounds_ = FirstRounds(shares_, {c.pieces.begin(), c.pieces.end()});
    rounds_ = 0;
    for (size_t i = 0; i < c.pieces.size(); ++i) {
      rounds_ = std::max(rounds_, static_cast<int>(first_rounds_[i]) + c.pieces[i]);
    }
    ranks_.resize(c.size);
    for (int r = 0; r < c.size; ++r) {
      RankState& rank = ranks_[r];
      rank.schedule = &schedules[r];
      Cursor start;
      start.round = -schedules[r].max_lead;
      rank.receives.assign(schedules[r].lanes.size(), start);
      rank.work = rank.receives;
      rank.streams.resize(schedules[r].streams.size());
      for (size_t s = 0; s < rank.streams.size(); ++s) {
        const int least = schedules[r].streams[s].least_slots;
        rank.streams[s].slots.resize(static_cast<size_t>(c.slots == kMinSlots ? least : c.slots));
      }
      rank.knows = uint64_t{1} << (r % 64);
      rank.matrix.resize(multi_ ? Pieces(r) : in_portions_ ? 0 : Pieces(-1));
      for (size_t i = 0; i < rank.matrix.size(); ++i) {
        rank.matrix[i] = in_portions_ ? Value{} : Contribution(r, -1, static_cast<int>(i));
      }
      if (!in_portions_) continue;
      rank.portions.resize(portions_);
      for (int q = 0; q < portions_; ++q) {
        rank.portions[q].resize(Pieces(q));
        const bool has = EntryOf(c.pattern).combines || !multi_ || q == r;
        for (int i = 0; has && i < Pieces(q); ++i) rank.portions[q][i] = Contribution(r, q, i);
      }
    }
  }

  Status Run(std::vector<CheckCounts>* counts) {
    for (int r = 0; r < case_.size; ++r) {
      const Shares& theirs = ranks_[r].schedule->shares;
      if (theirs.count != shares_.count || theirs.cut != shares_.cut) {
        Fail(r, Cursor(), Step(), "cuts the matrix otherwise than rank 0");
        return failure_;
      }
    }
    for (int r = 0; r < case_.size; ++r) Wake(r);
    while (!ready_.empty()) {
      const int r = ready_.front();
      ready_.pop_front();
      ranks_[r].queued = false;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t lane = 0; lane < ranks_[r].schedule->lanes.size(); ++lane) {
          while (AdvanceReceives(r, lane) | AdvanceWork(r, lane)) moved = true;
        }
      }
      if (!failure_.ok()) return failure_;
    }
    BRIGADE_RETURN_IF_ERROR(CheckFinished());
    BRIGADE_RETURN_IF_ERROR(CheckResult());
    if (counts != nullptr) {
      counts->clear();
      for (const RankState& rank : ranks_) counts->push_back(rank.counts);
    }
    return Status();
  }

 private:
  int Pieces(int portion) const { return portion < 0 ? case_.pieces[0] : case_.pieces[portion]; }

  // Of what steps call portion `portion`.
  int PiecesOf(const Schedule& schedule, int portion) const {
    if (schedule.runs.empty()) return Pieces(portion);
    int most = 0;
    const PortionRun& run = schedule.runs[portion];
    for (int i = 0; i < run.count; ++i) {
      most = std::max(most, Pieces(run.PortionAt(i, case_.size)));
    }
    return most;
  }

  bool SamePortions(int a, int of_a, int b, int of_b) const {
    const std::vector<PortionRun>& runs_a = ranks_[a].schedule->runs;
    const std::vector<PortionRun>& runs_b = ranks_[b].schedule->runs;
    if (runs_a.empty() || runs_b.empty()) return runs_a.empty() && runs_b.empty() && of_a == of_b;
    return runs_a[of_a].first == runs_b[of_b].first && runs_a[of_a].count == runs_b[of_b].count;
  }

  // How many of a run's first `count` portions have a piece `piece`.
  size_t PartsBefore(const PortionRun& run, int count, int piece) const {
    size_t parts = 0;
    for (int i = 0; i < count; ++i) parts += piece < Pieces(run.PortionAt(i, case_.size));
    return parts;
  }

  // Opens a slot for the step's run, with nothing in it.
  bool OpenRun(int r, const Cursor& at, const Step& step, int piece) {
    if (!Write(r, at, step, Value(), piece)) return false;
    const PortionRun& run = ranks_[r].schedule->runs[step.portion];
    Slot* slot = ranks_[r].streams[step.dst.index].current;
    slot->run = step.portion;
    slot->parts.assign(PartsBefore(run, run.count, piece), Value());
    return true;
  }

  static bool IsFilled(const Slot& slot) {
    return std::all_of(slot.parts.begin(), slot.parts.end(),
                       [](const Value& part) { return part.portion != Value().portion; });
  }

  // Where the values of piece `piece` of `run`'s portions are at `place`; empty if they are not.
  std::vector<Value*> PartsAt(int r, const Place& place, const PortionRun& run, int piece) {
    RankState& rank = ranks_[r];
    std::vector<Value*> parts;
    if (place.in_stream()) {
      Slot* slot = rank.streams[place.index].current;
      if (slot == nullptr) return parts;
      const PortionRun& all = rank.schedule->runs[slot->run];
      const int before = (run.first - all.first + case_.size) % case_.size;
      if (before + run.count > all.count) return parts;
      const size_t first = PartsBefore(all, before, piece);
      const size_t count = PartsBefore(run, run.count, piece);
      if (first + count > slot->parts.size()) return parts;
      for (size_t i = 0; i < count; ++i) parts.push_back(&slot->parts[first + i]);
      return parts;
    }
    for (int i = 0; i < run.count; ++i) {
      const int portion = run.PortionAt(i, case_.size);
      if (piece >= Pieces(portion)) continue;
      if (place.kind == Place::kMatrix && portion != r) return {};
      parts.push_back(place.kind == Place::kMatrix ? &rank.matrix[piece]
                                                   : &rank.portions[portion][piece]);
    }
    return parts;
  }

  // A copy or combine of a run, or of a part of one; false if it must wait (or after a failure).
  bool FillRun(int r, const Cursor& at, const Step& step, int piece) {
    RankState& rank = ranks_[r];
    const bool combines = step.opcode == Opcode::kCombine;
    if (step.dst.kind == Place::kNew && !OpenRun(r, at, step, piece)) return false;
    if (step.dst.kind == Place::kCurrent && !Write(r, at, step, Value(), piece)) return false;
    const PortionRun& run = rank.schedule->runs[step.portion];
    const std::vector<Value*> to = PartsAt(r, step.dst, run, piece);
    const std::vector<Value*> left = PartsAt(r, step.left, run, piece);
    const std::vector<Value*> right = combines ? PartsAt(r, step.right, run, piece) : left;
    if (to.empty() || to.size() != left.size() || to.size() != right.size()) {
      return Fail(r, at, step, "a message of other portions");
    }
    for (size_t i = 0; i < to.size(); ++i) {
      Value result = *left[i];
      if (combines) {
        if (left[i]->portion < 0 || left[i]->portion != right[i]->portion ||
            left[i]->piece != right[i]->piece) {
          return Fail(r, at, step, "combines what does not belong together");
        }
        result.association = Mix(left[i]->association, right[i]->association);
      }
      *to[i] = result;
    }
    (combines ? rank.counts.combines : rank.counts.copies) += static_cast<int64_t>(to.size());
    return true;
  }

  // Where rank r's contribution stands in the documented order of combination.
  int Position(int r, int portion) const {
    const CatalogueEntry& entry = EntryOf(case_.pattern);
    if (!entry.combines || case_.topology.shape == Shape::kHypercube) return r;
    if (case_.topology.shape != Shape::kDealt && !multi_) return tree_.ToRelative(r);
    const int n = case_.size;
    if (case_.topology.shape == Shape::kCirculant) return (portion - r + n) % n;
    const int behind = ring_.ToRelative(r) - ring_.ToRelative(portion);
    return ((case_.decreasing ? -behind : behind) - 1 + 2 * n) % n;
  }

  // Of a chain: every contribution on the right of all before it.
  uint64_t ChainAssociation() const {
    uint64_t association = Mix(1, 7);
    for (int i = 1; i < case_.size; ++i) association = Mix(association, Mix(i + 1, 7));
    return association;
  }
  bool IsChainOfAll(const Value& v, int portion, int piece) const {
    return v.portion == portion && v.piece == piece && v.low == 0 && v.high == case_.size - 1 &&
           v.association == ChainAssociation();
  }

  Value Contribution(int r, int portion, int piece) const {
    Value v;
    v.portion = portion;
    v.piece = piece;
    v.low = v.high = Position(r, portion);
    v.association = Mix(v.low + 1, 7);
    return v;
  }

  bool OnOneHost(int a, int b) const {
    return case_.hosts.empty() || case_.hosts[a] == case_.hosts[b];
  }

  Edge& EdgeOf(int from, int to) {
    for (auto& [peer, edge] : edges_[from]) {
      if (peer == to) return edge;
    }
    return edges_[from].emplace_back(to, Edge()).second;
  }

  bool Fail(int r, const Cursor& at, const Step& step, const std::string& what) {
    if (!failure_.ok()) return false;
    std::ostringstream out;
    out << PatternName(case_.pattern) << " shape " << static_cast<int>(case_.topology.shape) << "/"
        << case_.topology.parameter << " size " << case_.size << " root " << case_.root << " slots "
        << case_.slots << (case_.lands_in_peer_memory ? " peer" : " own") << " landing, rank " << r
        << ", round " << at.round << ", step " << at.step << " (peer " << step.peer
        << "): " << what;
    failure_ = Status(StatusCode::kInternal, out.str());
    return false;
  }

  // Moves the cursor to the next step that exists; false at the end of the lane.
  bool SkipToExisting(int r, const std::vector<Step>& lane, Cursor* at) const {
    const Schedule& schedule = *ranks_[r].schedule;
    for (;; ++at->step) {
      if (lane.empty() || at->round >= rounds_) return false;
      if (at->step == lane.size()) {
        at->step = 0;
        if (++at->round >= rounds_) return false;
      }
      const Step& step = lane[at->step];
      const int piece = PieceOf(step, at->round);
      if (piece >= 0 && piece < PiecesOf(schedule, step.portion)) return true;
    }
  }

  int PieceOf(const Step& step, int round) const {
    const int first =
        step.portion < 0 || shares_.count == 0 ? 0 : static_cast<int>(first_rounds_[step.portion]);
    return round + step.lead - first;
  }

  void Wake(int r) {
    if (ranks_[r].queued) return;
    ranks_[r].queued = true;
    ready_.push_back(r);
  }

  // Lets go of what a finished holding borrowed.
  void Settle(Holding* holding) {
    while (holding->freed && holding->pending_sends == 0) {
      Wake(holding->rank);
      Holding* lender = holding->lender;
      if (lender == nullptr) return;
      holding->lender = nullptr;
      --lender->pending_sends;
      holding = lender;
    }
  }

  Slot* Open(int r, int stream) {
    RankState& rank = ranks_[r];
    StreamState& s = rank.streams[stream];
    const auto slots = static_cast<int64_t>(s.slots.size());
    if (s.opened - s.freed >= slots) return nullptr;
    Slot* slot = &s.slots[s.opened % slots];
    // A lease occupies no memory here, so only what lies in the slot itself keeps it from being
    // opened again.
    if (slot->holding != nullptr && !slot->leased && slot->holding->pending_sends > 0)
      return nullptr;
    ++s.opened;
    holdings_.emplace_back();
    holdings_.back().rank = r;
    *slot = Slot();
    slot->holding = &holdings_.back();
    rank.counts.peak_slots = std::max(rank.counts.peak_slots, ++rank.slots_in_use);
    return slot;
  }

  void Match(int from, int to, const Cursor& at, const Step& step, int failing_rank) {
    Edge& edge = EdgeOf(from, to);
    while (!edge.sends.empty() && !edge.receives.empty()) {
      const PostedSend send = edge.sends.front();
      const PostedReceive receive = edge.receives.front();
      edge.sends.pop_front();
      edge.receives.pop_front();
      if (!SamePortions(from, send.portion, to, receive.portion) || send.piece != receive.piece) {
        Fail(failing_rank, at, step, "a send of another piece meets this receive");
        return;
      }
      receive.slot->value = send.value;
      receive.slot->parts = send.parts;
      receive.slot->arrived = true;
      Wake(to);
      if (case_.lands_in_peer_memory && OnOneHost(from, to)) {
        receive.slot->leased = true;
        receive.slot->holding->lender = send.holding;
      } else {
        --send.holding->pending_sends;
        Settle(send.holding);
        Wake(from);
      }
    }
  }

  bool AdvanceReceives(int r, size_t lane) {
    RankState& rank = ranks_[r];
    const std::vector<Step>& steps = rank.schedule->lanes[lane].receives;
    Cursor& cursor = rank.receives[lane];
    if (!SkipToExisting(r, steps, &cursor)) return false;
    const Cursor at = cursor;
    const Step& step = steps[at.step];
    Slot* slot = Open(r, step.dst.index);
    if (slot == nullptr) return false;
    slot->received = true;
    slot->run = step.portion;
    EdgeOf(step.peer, r).receives.push_back({slot, step.portion, PieceOf(step, at.round)});
    ++cursor.step;
    Match(step.peer, r, at, step, r);
    return true;
  }

  // The value at `place`, or null after a failure.
  const Value* Read(int r, const Cursor& at, const Step& step, const Place& place) {
    RankState& rank = ranks_[r];
    const int piece = PieceOf(step, at.round);
    switch (place.kind) {
      case Place::kMatrix:
        return piece < static_cast<int>(rank.matrix.size()) ? &rank.matrix[piece] : &nothing_;
      case Place::kPortion:
        return &rank.portions[place.index][piece];
      case Place::kCurrent:
        if (rank.streams[place.index].current != nullptr) {
          return &rank.streams[place.index].current->value;
        }
        break;
      default:
        break;
    }
    Fail(r, at, step, "reads a slot that is not filled");
    return nullptr;
  }

  // One step of the work lane; false if it must wait (or after a failure).
  bool AdvanceWork(int r, size_t lane) {
    RankState& rank = ranks_[r];
    const std::vector<Step>& steps = rank.schedule->lanes[lane].work;
    Cursor& cursor = rank.work[lane];
    if (!SkipToExisting(r, steps, &cursor)) return false;
    const Cursor at = cursor;
    const Step& step = steps[at.step];
    const int piece = PieceOf(step, at.round);
    switch (step.opcode) {
      case Opcode::kReceive:
        return Fail(r, at, step, "a receive among the work");
      case Opcode::kAwait: {
        StreamState& s = rank.streams[step.left.index];
        Slot* slot = &s.slots[s.awaited % static_cast<int64_t>(s.slots.size())];
        if (s.awaited >= s.opened || !slot->arrived) return false;
        if (s.current != nullptr) return Fail(r, at, step, "awaits with a slot still current");
        ++s.awaited;
        s.current = slot;
        rank.knows |= slot->value.knows;
        break;
      }
      case Opcode::kOpen:
        if (!OpenRun(r, at, step, piece)) return false;
        break;
      case Opcode::kCopy:
      case Opcode::kCombine: {
        if (!rank.schedule->runs.empty()) {
          if (!FillRun(r, at, step, piece)) return false;
          break;
        }
        const Value* left = Read(r, at, step, step.left);
        if (left == nullptr) return false;
        Value result = *left;
        if (step.opcode == Opcode::kCombine) {
          const Value* right = Read(r, at, step, step.right);
          if (right == nullptr) return false;
          if (left->piece != right->piece || left->portion != right->portion ||
              (case_.topology.shape != Shape::kCirculant && left->high + 1 != right->low)) {
            return Fail(r, at, step, "combines out of order");
          }
          result.high = right->high;
          result.association = Mix(left->association, right->association);
        }
        result.knows = rank.knows;
        if (!Write(r, at, step, result, piece)) return false;
        ++(step.opcode == Opcode::kCombine ? rank.counts.combines : rank.counts.copies);
        break;
      }
      case Opcode::kSend: {
        Slot* slot = rank.streams[step.left.index].current;
        if (slot == nullptr || !IsFilled(*slot)) {
          return Fail(r, at, step, "sends a slot that is not filled");
        }
        slot->sent = true;
        ++slot->holding->pending_sends;
        ++rank.counts.messages;
        if (!OnOneHost(r, step.peer)) ++rank.counts.crossings;
        EdgeOf(r, step.peer)
            .sends.push_back({slot->value, slot->parts, slot->holding, step.portion, piece});
        ++cursor.step;
        Match(r, step.peer, at, step, r);
        return true;
      }
      case Opcode::kFree: {
        StreamState& s = rank.streams[step.left.index];
        if (s.current == nullptr) return Fail(r, at, step, "frees a slot that is not open");
        s.current->holding->freed = true;
        Settle(s.current->holding);
        s.current = nullptr;
        ++s.freed;
        --rank.slots_in_use;
        break;
      }
    }
    ++cursor.step;
    return true;
  }

  bool Write(int r, const Cursor& at, const Step& step, const Value& value, int piece) {
    RankState& rank = ranks_[r];
    switch (step.dst.kind) {
      case Place::kMatrix:
        if (piece < static_cast<int>(rank.matrix.size())) rank.matrix[piece] = value;
        return true;
      case Place::kPortion:
        rank.portions[step.dst.index][piece] = value;
        return true;
      case Place::kCurrent: {
        Slot* slot = rank.streams[step.dst.index].current;
        if (slot == nullptr) return Fail(r, at, step, "writes a slot that is not open");
        if (slot->received) return Fail(r, at, step, "writes a received slot");
        if (slot->sent) return Fail(r, at, step, "writes a slot that is being sent");
        slot->value = value;
        return true;
      }
      case Place::kNew: {
        StreamState& s = rank.streams[step.dst.index];
        if (s.current != nullptr) return Fail(r, at, step, "opens a slot with one still current");
        Slot* slot = Open(r, step.dst.index);
        if (slot == nullptr) return false;
        slot->value = value;
        s.current = slot;
        return true;
      }
      case Place::kNone:
        break;
    }
    return Fail(r, at, step, "writes nowhere");
  }

  Status CheckFinished() {
    for (int r = 0; r < case_.size; ++r) {
      RankState& rank = ranks_[r];
      for (size_t lane = 0; lane < rank.schedule->lanes.size(); ++lane) {
        for (const bool work : {false, true}) {
          Cursor at = work ? rank.work[lane] : rank.receives[lane];
          const Lane& steps = rank.schedule->lanes[lane];
          if (SkipToExisting(r, work ? steps.work : steps.receives, &at)) {
            Fail(r, at, (work ? steps.work : steps.receives)[at.step],
                 "deadlock: this step can never run");
            return failure_;
          }
        }
      }
      for (const StreamState& s : rank.streams) {
        if (s.current != nullptr || s.opened != s.freed) {
          Fail(r, rank.work[0], Step(), "ends with a slot still open");
          return failure_;
        }
      }
    }
    for (const auto& edges : edges_) {
      for (const auto& [peer, edge] : edges) {
        if (edge.sends.empty() && edge.receives.empty()) continue;
        Fail(peer, Cursor(), Step(), "ends with a message unmatched");
        return failure_;
      }
    }
    return Status();
  }

  Status Expect(bool condition, int r, const std::string& what) {
    if (!condition) Fail(r, ranks_[r].work[0], Step(), "wrong result: " + what);
    return failure_;
  }

  // A contribution, or several put together.
  struct Sum {
    uint64_t association = 0;
    int ranks = 0;
  };

  // What the documented order makes of share `share` below `relative` in a circulant reduce: its
  // own contribution, then, by falling skip, the sums of those that send it that share; of two
  // operands the one of the lower rank is on the left.
  Sum CirculantSum(const CirculantGraph& graph, const std::vector<std::vector<int>>& receives,
                   int relative, int share) const {
    Sum sum{Mix(relative + 1, 7), 1};
    const int q = graph.rounds();
    for (int i = 2 * q - 1; i >= 0; --i) {
      const int k = i % q;
      const int child = graph.RankAt(relative, graph.skip(k));
      if (child == 0) continue;
      const int block = receives[child][k];
      const bool later = i >= q;  // among those
      if (later ? block >= 0 || block + q != share : block < 0 || (share != block && share != q)) {
        continue;
      }
      const Sum other = CirculantSum(graph, receives, child, share);
      sum.association = relative < child ? Mix(sum.association, other.association)
                                         : Mix(other.association, sum.association);
      sum.ranks += other.ranks;
    }
    return sum;
  }

  // The sums of all shares, in their documented order.
  std::vector<Sum> CirculantSums() const {
    const CirculantGraph graph(case_.size);
    std::vector<std::vector<int>> receives;
    for (int r = 0; r < case_.size; ++r) receives.push_back(graph.Receives(r));
    std::vector<Sum> sums;
    for (int share = 0; share < portions_; ++share) {
      sums.push_back(CirculantSum(graph, receives, 0, share));
    }
    return sums;
  }

  // What the documented order makes of a portion in a circulant multi-reduce: by falling skip, the
  // sum of those at a distance of `skip` and more from its rank is added to that of those nearer by
  // so much.
  Sum SumByDistance() const {
    const CirculantGraph graph(case_.size);
    std::vector<Sum> sums;
    for (int distance = 0; distance < case_.size; ++distance) {
      sums.push_back({Mix(distance + 1, 7), 1});
    }
    for (int k = graph.rounds() - 1; k >= 0; --k) {
      const auto skip = static_cast<size_t>(graph.skip(k));
      for (size_t far = skip; far < sums.size(); ++far) {
        Sum& near = sums[far - skip];
        near.association = Mix(near.association, sums[far].association);
        near.ranks += sums[far].ranks;
      }
      sums.resize(skip);
    }
    return sums[0];
  }

  Status CheckShares(int r) {
    const RankState& rank = ranks_[r];
    const int n = case_.size;
    for (int q = 0; q < portions_; ++q) {
      for (int i = 0; i < Pieces(q); ++i) {
        const Value& v = rank.portions[q][i];
        const std::string share = "share " + std::to_string(q);
        if (case_.pattern == Pattern::kAllReduce) {
          BRIGADE_RETURN_IF_ERROR(Expect(IsChainOfAll(v, q, i), r, share));
        } else if (case_.pattern == Pattern::kBroadcast || r != case_.root) {
          const int owner = case_.pattern == Pattern::kBroadcast ? case_.root : r;
          BRIGADE_RETURN_IF_ERROR(Expect(SameData(v, Contribution(owner, q, i)), r, share));
        } else if (case_.topology.shape == Shape::kCirculant) {
          if (sums_.empty()) sums_ = CirculantSums();
          BRIGADE_RETURN_IF_ERROR(Expect(sums_[q].ranks == n && v.portion == q && v.piece == i &&
                                             v.association == sums_[q].association,
                                         r, share + " is put together otherwise"));
        } else {
          BRIGADE_RETURN_IF_ERROR(
              Expect(v.low == 0 && v.high == n - 1 && v.piece == i && v.portion == q, r,
                     share + " has not every contribution once"));
        }
      }
    }
    return Status();
  }

  Status CheckResult() {
    const int n = case_.size;
    for (int r = 0; r < n; ++r) {
      const RankState& rank = ranks_[r];
      if (shares_.count > 0) {
        BRIGADE_RETURN_IF_ERROR(CheckShares(r));
        continue;
      }
      switch (case_.pattern) {
        case Pattern::kBarrier:
          if (n <= 64) {
            const uint64_t all = n == 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
            BRIGADE_RETURN_IF_ERROR(Expect(rank.knows == all, r, "left before all had come"));
          }
          break;
        case Pattern::kSend:
        case Pattern::kReceive:
        case Pattern::kBroadcast:
          for (int i = 0; i < Pieces(-1); ++i) {
            BRIGADE_RETURN_IF_ERROR(Expect(
                SameData(rank.matrix[i], Contribution(case_.root, -1, i)), r, "not the root's"));
          }
          break;
        case Pattern::kReduce:
        case Pattern::kAllReduce:
          for (int i = 0; i < Pieces(-1); ++i) {
            const Value& v = rank.matrix[i];
            if (case_.pattern == Pattern::kReduce && r != case_.root) {
              BRIGADE_RETURN_IF_ERROR(
                  Expect(SameData(v, Contribution(r, -1, i)), r, "a contribution was overwritten"));
              continue;
            }
            BRIGADE_RETURN_IF_ERROR(Expect(v.low == 0 && v.high == n - 1 && v.piece == i, r,
                                           "not every contribution once"));
            BRIGADE_RETURN_IF_ERROR(Expect(case_.pattern == Pattern::kReduce ||
                                               v.association == ranks_[0].matrix[i].association,
                                           r, "associated otherwise than at rank 0"));
          }
          break;
        case Pattern::kMultiBroadcast:
          for (int q = 0; q < n; ++q) {
            for (int i = 0; i < Pieces(q); ++i) {
              BRIGADE_RETURN_IF_ERROR(Expect(SameData(rank.portions[q][i], Contribution(q, q, i)),
                                             r, "portion " + std::to_string(q)));
            }
          }
          break;
        case Pattern::kMultiReduce:
          for (int i = 0; i < Pieces(r); ++i) {
            if (case_.topology.shape != Shape::kCirculant) {
              BRIGADE_RETURN_IF_ERROR(Expect(IsChainOfAll(rank.matrix[i], r, i), r,
                                             "not every contribution once, one after the other"));
              continue;
            }
            if (sums_.empty()) sums_ = {SumByDistance()};
            const Value& v = rank.matrix[i];
            BRIGADE_RETURN_IF_ERROR(Expect(sums_[0].ranks == n && v.portion == r && v.piece == i &&
                                               v.association == sums_[0].association,
                                           r, "put together otherwise"));
          }
          break;
      }
    }
    return Status();
  }

  const CheckCase& case_;
  const Shares shares_;
  const bool multi_;
  const bool in_portions_;
  const int portions_;
  const RankTree tree_;
  const RankTree ring_;
  const Value nothing_;
  std::vector<int64_t> first_rounds_;  // of the first pieces of shares
  int rounds_;
  std::vector<Sum> sums_;
  std::vector<RankState> ranks_;
  std::vector<std::vector<std::pair<int, Edge>>> edges_;  // by sender: receivers
  std::deque<Holding> holdings_;
  std::deque<int> ready_;  // ranks for whom something changed
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
    p.shares_memory = c.shares_memory;
    p.some_share_memory = c.some_share_memory;
    p.hosts = HostsToGoBy(c);
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

#include "test/support/random_calls.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "membuf/combine.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/protocol/protocols.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/topology.h"
#include "test/support/group_member.h"
#include "test/support/rank_memory.h"
#include "transport/channel.h"

namespace brigade {
namespace {

using Random = std::mt19937;

// A call as all ranks draw it.
struct Drawn {
  PatternCall call;  // without memory; of a message: a send to rank `root`
  int number = 0;
  int from = 0;  // the sender of a message
  int64_t rows = 0;
  int64_t cols = 0;       // of the matrix, or in the mean of a block
  bool located = false;   // with locations
  bool ordered = false;   // sums depend on their order, which is a chain that ends at the owner
  bool is_multi = false;  // has blocks

  // Returns the columns of a block, or of the matrix (-1).
  int64_t ColsOf(int block) const {
    return block < 0 ? cols : std::max<int64_t>(0, cols + block % 3 - 1);
  }
  // The same of a block of an all-to-all.
  int64_t ColsOf(int sender, int receiver) const {
    if (call.equal_blocks) return cols;
    return std::max<int64_t>(0, cols + (sender + 2 * receiver) % 5 - 2);
  }
};

Drawn Draw(const Group& group, int number, Random* random) {
  const auto any = [&](size_t below) { return static_cast<size_t>((*random)() % below); };
  constexpr size_t kBytes[] = {0,    8,     24,    400,    size_t{4} << 10,
                               5000, 20000, 40000, 300000, size_t{1} << 20};
  constexpr Element kTypes[] = {Element::kDouble, Element::kFloat, Element::kInt32};
  Drawn drawn;
  PatternCall& call = drawn.call;
  drawn.number = number;
  call.pattern = static_cast<Pattern>(any(kPatterns));
  if (call.pattern == Pattern::kReceive) call.pattern = Pattern::kSend;
  const CatalogueEntry& entry = EntryOf(call.pattern);
  drawn.is_multi = entry.multi;
  call.scope = static_cast<ChannelKind>(1 + any(3));
  const auto size = static_cast<size_t>(group.ScopeSize(ChannelOf(call)));
  call.root = static_cast<int>(any(size));
  drawn.from =
      static_cast<int>((static_cast<size_t>(call.root) + 1 + any(size - 1 + (size == 1))) % size);
  call.type = kTypes[any(3)];
  if (any(2) == 0) call.op = CombineOp::kAbsMax;
  const bool one_result = entry.combines && !entry.multi && !IsScan(call.pattern);
  drawn.located = one_result && call.op == CombineOp::kAbsMax && any(2) == 0;
  call.decreasing = any(2) == 0;
  if (any(8) == 0) call.segment_bytes = 2048;
  call.topology.shape = Shape::kFree;
  const size_t topology = any(2 * entry.topologies.size() + 1);
  if (topology < entry.topologies.size()) call.topology = entry.topologies[topology];
  call.equal_blocks = call.topology.shape == Shape::kCirculant || any(2) == 0;
  const size_t bytes = kBytes[any(std::size(kBytes))];
  size_t length = drawn.is_multi && bytes > 40000 ? bytes / size : bytes;
  constexpr int64_t kRows[] = {7, 64, 1000};
  int64_t rows = kRows[any(3)];
  if (any(3) == 0 && entry.compile_reads != nullptr) {  // zero-copy, and of sums the order counts
    rows = 1000;
    length = drawn.is_multi ? 40000 : 40000 * size;
    call.op = CombineOp::kSum;
    drawn.located = false;
    call.segment_bytes = 0;
    call.topology = drawn.is_multi ? Topology{Shape::kIncreasingRings, 1}
                                   : Topology{Shape::kReduceScatterAllgather, 0};
  }
  const auto elems = static_cast<int64_t>(length / ElementBytes(call.type));
  drawn.rows = std::min(elems, rows);
  drawn.cols = drawn.rows == 0 ? 0 : elems / drawn.rows;
  return drawn;
}

// One rank's memory for a call, and its contents after the call.
class Data {
 public:
  Data(const Group& group, const Drawn& drawn, bool mapped, Random* own)
      : call(drawn.call), drawn_(drawn), rank_(group.rank()) {
    const ChannelKind scope = ChannelOf(call);
    const GroupState& state = *group.state();
    for (int r = 0; r < group.ScopeSize(scope); ++r) {
      members_.push_back(state.scope(scope).GroupRank(r));
    }
    const int me = group.ScopeRank(scope);
    const bool flat = (*own)() % 4 == 0;
    const int64_t gap = (*own)() % 2 == 0 ? 0 : 3;
    const bool to_all = call.pattern == Pattern::kAllToAll;
    for (int q = 0; drawn_.is_multi && q < Size(); ++q) {
      Add(to_all ? drawn_.ColsOf(q, me) : drawn_.ColsOf(q), flat, gap);
    }
    for (int q = 0; to_all && q < Size(); ++q) Add(drawn_.ColsOf(me, q), !flat, gap);
    const bool in_place = call.pattern == Pattern::kMultiReduce && (*own)() % 2 == 0;
    if (in_place) {
      parts_.push_back(parts_[static_cast<size_t>(me)]);
    } else if (HasMatrix(call.pattern)) {
      const int64_t cols = drawn_.is_multi ? drawn_.ColsOf(me) : drawn_.cols;
      // A receive may be longer than its message.
      const bool longer = IsPair(call.pattern) && rank_ == call.root && (*own)() % 4 == 0;
      Add(cols + (longer ? 1 : 0), longer ? false : flat, gap);
    } else {
      parts_.push_back({used_, StridedLayout()});
    }
    const size_t locations_at = used_;
    if (drawn_.located) used_ += static_cast<size_t>(Elems(-1)) * sizeof(int32_t) + kGuard;
    memory_ = std::make_unique<RankMemory>(mapped, used_ + kGuard);
    for (const Part& part : parts_) {
      matrices_.push_back({memory_->data() + part.offset, part.layout});
    }
    call.matrix = matrices_.back();
    call.blocks = drawn_.is_multi ? matrices_.data() : nullptr;
    if (to_all) call.sent = matrices_.data() + Size();
    for (int q = 0; IsRootedBlocks(call.pattern) && me != call.root && q < Size(); ++q) {
      if (q != me) matrices_[static_cast<size_t>(q)].data = nullptr;
    }
    if (drawn_.located) {
      call.locations = reinterpret_cast<int32_t*>(memory_->data() + locations_at);
    }
    if (IsPair(call.pattern) && rank_ == call.root) {
      call.pattern = Pattern::kReceive;
      call.root = drawn_.from;
    }
    // The order of a sum is that of the topology that the library takes.
    PatternCall chosen = call;
    Require(group.Choose(&chosen));
    const Shape shape = chosen.topology.shape;
    drawn_.ordered =
        call.op == CombineOp::kSum &&
        ((call.pattern == Pattern::kAllReduce && shape == Shape::kReduceScatterAllgather) ||
         (call.pattern == Pattern::kMultiReduce && shape == Shape::kIncreasingRings));
    image_.assign(memory_->bytes(), kCanary);
    WriteInputs(me, locations_at);
    std::memcpy(memory_->data(), image_.data(), image_.size());
    WriteResults(me, locations_at);
  }

  bool IsAsExpected() { return std::memcmp(memory_->data(), image_.data(), image_.size()) == 0; }
  void Overwrite() { std::memset(memory_->data(), 0xee, memory_->bytes()); }

  PatternCall call;

 private:
  static constexpr std::byte kCanary{0xab};
  static constexpr size_t kGuard = 64;
  struct Part {
    size_t offset;
    StridedLayout layout;
  };

  int Size() const { return static_cast<int>(members_.size()); }
  int64_t Elems(int block) const { return drawn_.rows * drawn_.ColsOf(block); }
  int64_t Elems(const Part& part) const { return part.layout.rows() * part.layout.cols(); }
  void Add(int64_t cols, bool flat, int64_t gap) {
    Part part{used_ + kGuard, StridedLayout()};
    const int64_t rows = flat ? drawn_.rows * cols : drawn_.rows;
    if (flat) cols = 1;
    const size_t elem_bytes = ElementBytes(call.type);
    Require(StridedLayout::General(rows, cols, rows + gap, elem_bytes, &part.layout));
    const size_t bytes = static_cast<size_t>(cols * (rows + gap)) * elem_bytes;
    used_ = part.offset + (bytes + kGuard - 1) / kGuard * kGuard;
    parts_.push_back(part);
  }

  // Returns an integer for a sum of unknown order: integers have the same sum in any order.
  double Value(int rank, int block, int64_t k) const {
    auto h = static_cast<uint32_t>(drawn_.number * 7919 + rank * 104729 + block * 1299709);
    h = (h + static_cast<uint32_t>(k)) * 2654435761u;
    h = (h ^ h >> 15) * 2246822519u;
    h ^= h >> 13;
    const int value = static_cast<int>(h % 1000);
    const int sign = (h >> 20) % 2 == 0 ? 1 : -1;
    // Magnitudes differ from rank to rank.
    if (call.op == CombineOp::kAbsMax) return sign * (16 * value + rank);
    return drawn_.ordered ? Rounded(sign * value / (3.0 + rank)) : sign * value;
  }
  double Rounded(double value) const {
    return call.type == Element::kDouble  ? value
           : call.type == Element::kFloat ? static_cast<float>(value)
                                          : std::trunc(value);
  }
  static int32_t Location(int rank, int64_t k) { return rank + static_cast<int32_t>(16 * k); }
  int RootRank() const { return members_[static_cast<size_t>(drawn_.call.root)]; }

  void Put(const Part& part, int64_t k, double value) {
    const StridedLayout& layout = part.layout;
    const size_t at =
        part.offset + static_cast<size_t>(k / layout.rows() * layout.ld() + k % layout.rows()) *
                          layout.elem_bytes();
    const auto single = static_cast<float>(value);
    const auto integer = static_cast<int32_t>(value);
    const void* const from = call.type == Element::kDouble  ? static_cast<const void*>(&value)
                             : call.type == Element::kFloat ? static_cast<const void*>(&single)
                                                            : &integer;
    std::memcpy(image_.data() + at, from, layout.elem_bytes());
  }
  void PutLocation(size_t locations_at, int64_t k, int32_t location) {
    std::memcpy(image_.data() + locations_at + static_cast<size_t>(k) * sizeof(location), &location,
                sizeof(location));
  }

  // Writes what rank `rank` has for block `block` to a part.
  void PutAll(int index, int rank, int block) {
    const Part& part = parts_[static_cast<size_t>(index)];
    for (int64_t k = 0; k < Elems(part); ++k) Put(part, k, Value(rank, block, k));
  }

  void WriteInputs(int me, size_t locations_at) {
    if (call.pattern == Pattern::kAllToAll) {
      for (int q = 0; q < Size(); ++q) PutAll(Size() + q, rank_, q);
    } else {
      const bool has_all = call.pattern == Pattern::kScatter
                               ? me == call.root
                               : call.pattern == Pattern::kMultiReduce;
      for (int q = 0; drawn_.is_multi && q < Size(); ++q) {
        if (has_all || (q == me && call.pattern != Pattern::kScatter)) PutAll(q, rank_, q);
      }
    }
    if (drawn_.is_multi || !HasMatrix(call.pattern) || call.pattern == Pattern::kReceive) return;
    for (int64_t k = 0; k < Elems(-1); ++k) {
      Put(parts_.back(), k, Value(rank_, -1, k));
      if (drawn_.located) PutLocation(locations_at, k, Location(rank_, k));
    }
  }

  // Writes element k of a sum or maximum. A sum begins at the rank behind the owner and goes along
  // the ring.
  void WriteCombined(int owner, int block, int64_t k, size_t locations_at) {
    const int step = block >= 0 && call.decreasing ? Size() - 1 : 1;
    double result = 0;
    int winner = 0;
    for (int i = 1; i <= Size(); ++i) {
      const int rank = members_[static_cast<size_t>((owner + i * step) % Size())];
      const double value = Value(rank, block, k);
      if (call.op == CombineOp::kSum) {
        result = Rounded(result + value);
      } else if (i == 1 || std::abs(value) > std::abs(result)) {
        result = value;
        winner = rank;
      }
    }
    Put(parts_.back(), k, result);
    if (drawn_.located) PutLocation(locations_at, k, Location(winner, k));
  }

  void WritePrefix(int me, int64_t k) {
    const int end = call.pattern == Pattern::kScan ? me + 1 : me;
    if (end == 0) return;
    double result = Value(members_[0], -1, k);
    for (int r = 1; r < end; ++r) {
      const double value = Value(members_[static_cast<size_t>(r)], -1, k);
      if (call.op == CombineOp::kSum) {
        result += value;
      } else if (std::abs(value) > std::abs(result)) {
        result = value;
      }
    }
    Put(parts_.back(), k, result);
  }

  void WriteResults(int me, size_t locations_at) {
    switch (call.pattern) {
      case Pattern::kReceive:
        for (int64_t k = 0; k < Elems(-1); ++k) Put(parts_.back(), k, Value(drawn_.from, -1, k));
        break;
      case Pattern::kBroadcast:
        for (int64_t k = 0; k < Elems(-1); ++k) Put(parts_.back(), k, Value(RootRank(), -1, k));
        break;
      case Pattern::kReduce:
        if (rank_ != RootRank()) break;
        [[fallthrough]];
      case Pattern::kAllReduce:
        for (int64_t k = 0, owner = 0; k < Elems(-1); ++k) {
          while (k >= (owner + 1) * Elems(-1) / Size()) ++owner;
          WriteCombined(static_cast<int>(owner), -1, k, locations_at);
        }
        break;
      case Pattern::kGather:
        if (me != call.root) break;
        [[fallthrough]];
      case Pattern::kMultiBroadcast:
        for (int q = 0; q < Size(); ++q) PutAll(q, members_[static_cast<size_t>(q)], q);
        break;
      case Pattern::kScatter:
        PutAll(me, RootRank(), me);
        break;
      case Pattern::kAllToAll:
        for (int q = 0; q < Size(); ++q) PutAll(q, members_[static_cast<size_t>(q)], me);
        break;
      case Pattern::kScan:
      case Pattern::kExscan:
        for (int64_t k = 0; k < Elems(-1); ++k) WritePrefix(me, k);
        break;
      case Pattern::kMultiReduce:
        for (int64_t k = 0; k < Elems(me); ++k) WriteCombined(me, me, k, locations_at);
        break;
      default:
        break;
    }
  }

  Drawn drawn_;
  const int rank_;
  std::vector<int> members_;  // of the scope, by their ranks in the group
  std::vector<Part> parts_;   // the blocks, then the matrix
  size_t used_ = 0;
  std::unique_ptr<RankMemory> memory_;
  std::vector<Matrix> matrices_;
  std::vector<std::byte> image_;
};

}  // namespace

class RandomCalls::Player {
 public:
  Player(Group* group, unsigned seed)
      : group_(group), common_(seed), own_(seed + 1 + static_cast<unsigned>(group->rank())) {}

  void Play(int calls) {
    for (int number = 0; number < calls; ++number) {
      try {
        PlayOne(number);
      } catch (const std::exception& failure) {
        const std::string what = "call " + std::to_string(number) + ": " + failure.what();
        group_->Abort(what);
        under_way_.clear();
        throw std::runtime_error("rank " + std::to_string(group_->rank()) + ", " + what);
      }
    }
    while (!under_way_.empty()) Finish(0);
  }
  void PlayUntilPosted() {
    if (group_->rank() > 1) return;
    Drawn drawn;
    drawn.call.pattern = Pattern::kSend;
    drawn.call.root = 1;
    drawn.rows = 1000;
    drawn.cols = 10;
    for (OperationStatistics did; did.protocol != kPostedBuffer.name; ++drawn.number) {
      Data data(*group_, drawn, /*mapped=*/true, &own_);
      Require(group_->Run(data.call, &did));
      Expect(data.IsAsExpected(), drawn.number, data.call);
      data.Overwrite();
    }
    protocols_.insert(kPostedBuffer.name);
  }

  const std::set<std::string>& protocols() const { return protocols_; }

 private:
  struct UnderWay {
    int number;
    std::unique_ptr<Data> data;
    std::unique_ptr<Operation> operation;
  };

  void PlayOne(int number) {
    if (common_() % 16 == 0) {
      constexpr size_t kMost[] = {0, 0, 4, 16};
      most_under_way_ = kMost[common_() % std::size(kMost)];
    }
    const Drawn drawn = Draw(*group_, number, &common_);
    if (own_() % 8 == 0) std::this_thread::sleep_for(std::chrono::microseconds(own_() % 500));
    const int rank = group_->rank();
    if (IsPair(drawn.call.pattern) && rank != drawn.from && rank != drawn.call.root) return;
    auto data = std::make_unique<Data>(*group_, drawn, own_() % 16 > 0, &own_);
    const bool starts = most_under_way_ > 0 && own_() % 2 == 0;
    while (!under_way_.empty() && under_way_.size() >= most_under_way_) {
      Finish(own_() % under_way_.size());
    }
    if (starts && Start(number, &data)) return;
    OperationStatistics did;
    Require(group_->Run(data->call, &did));
    Expect(data->IsAsExpected(), number, data->call);
    if (did.protocol != nullptr) protocols_.insert(did.protocol);
    data->Overwrite();
  }
  // Returns false if the call needs more staging memory than there is.
  bool Start(int number, std::unique_ptr<Data>* data) {
    std::unique_ptr<Operation> operation;
    Status started;
    while ((started = group_->Start((*data)->call, &operation)).code() == StatusCode::kNoResource) {
      std::this_thread::yield();
    }
    if (started.code() == StatusCode::kOutOfMemory) return false;
    Require(started);
    under_way_.push_back({number, std::move(*data), std::move(operation)});
    return true;
  }
  void Finish(size_t i) {
    UnderWay& under_way = under_way_[i];
    Require(under_way.operation->Wait());
    Expect(under_way.data->IsAsExpected(), under_way.number, under_way.data->call);
    under_way.data->Overwrite();
    under_way_.erase(under_way_.begin() + static_cast<ptrdiff_t>(i));
  }
  static void Expect(bool is_right, int number, const PatternCall& call) {
    if (is_right) return;
    throw std::runtime_error("wrong result of call " + std::to_string(number) + ", " +
                             PatternName(call.pattern) + ", " +
                             std::to_string(call.matrix.layout.bytes()) + " bytes, shape " +
                             std::to_string(static_cast<int>(call.topology.shape)));
  }

  Group* const group_;
  Random common_;
  Random own_;
  size_t most_under_way_ = 0;
  std::deque<UnderWay> under_way_;
  std::set<std::string> protocols_;
};

RandomCalls::RandomCalls(Group* group, unsigned seed)
    : player_(std::make_unique<Player>(group, seed)) {}
RandomCalls::~RandomCalls() = default;
void RandomCalls::Play(int calls) { player_->Play(calls); }
void RandomCalls::PlayUntilPosted() { player_->PlayUntilPosted(); }
const std::set<std::string>& RandomCalls::protocols() const { return player_->protocols(); }

}  // namespace brigade

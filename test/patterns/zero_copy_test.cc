// Long multi-broadcasts, all-to-alls and combines whose ranks read each other's memory, mapped or
// by the kernel: the bits of the schedule, although memory is overwritten as soon as a call has
// returned; all ranks take this protocol or none does; and failures of calls that do not match, or
// whose ranks die or stop.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/combine.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/wire_header.h"
#include "patterns/group/group.h"
#include "patterns/rules.h"
#include "patterns/schedule/topology.h"
#include "test/patterns/protocol_ranks.h"
#include "test/support/group_member.h"
#include "test/support/run_processes.h"
#include "test/support/run_ranks.h"
#include "test/support/stress.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_access.h"
#include "transport/host/process_watch.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"

namespace brigade {
namespace {

constexpr Topology kRing{Shape::kIncreasingRings, 1};
constexpr Topology kCirculant{Shape::kCirculant, 0};
constexpr Topology kReduceScatterAllgather{Shape::kReduceScatterAllgather, 0};
constexpr Topology kExchange{Shape::kHypercube, 0};
constexpr Topology kWide{Shape::kTree, 8};
// Steps of zero_copy_agreement.h, as in a status word.
constexpr uint64_t kLeft = 1;
constexpr uint64_t kOffers = 2;
constexpr uint64_t kReads = 3;

// The kernel is the fastest for whatever these tests pass on, or it is not called.
ShmOptions ByKernel(size_t least_bytes = 256, size_t most_bytes = size_t{64} << 20) {
  ShmOptions options;
  options.kernel_copies = KernelCopies::Both({least_bytes, most_bytes});
  return options;
}
ShmOptions ByKernel(const KernelCopies& copies) {
  ShmOptions options;
  options.kernel_copies = copies;
  return options;
}

enum MemoryKind : bool { kOrdinary, kMapped };  // of a RankMemory

struct Case {
  Pattern pattern;
  Topology topology;
  Element type = Element::kDouble;
  CombineOp op = CombineOp::kSum;
  bool decreasing = false;
  bool in_place = false;  // of a multi-reduce: the sum comes where one's own contribution is
  int64_t gap = 0;        // between columns
  int64_t elems = 0;      // in the mean
  int root = 0;
  bool unequal = false;  // of an all-to-all: blocks differ, and one is empty
};

// The input and output of a rank, in one stretch of memory: blocks of different lengths, one of
// them empty, or a matrix.
class Data {
 public:
  static constexpr int64_t kRows = 101;  // a prime, so that shares of a matrix are not equal

  Data(const Case& c, int rank, int ranks, MemoryKind kind)
      : case_(c), rank_(rank), memory_(kind, BytesFor(c, ranks)) {
    Fill(ranks);
  }

  void Fill(int ranks) {
    std::memset(memory_.data(), 0xab, memory_.bytes());
    used_ = 0;
    blocks_.clear();
    sent_.clear();
    for (int q = 0; case_.pattern == Pattern::kAllToAll && q < ranks; ++q) {
      sent_.push_back(Take(ColsOfBlock(case_, rank_, q)));
      Write(sent_.back(), q);
    }
    for (int q = 0; IsMulti(case_) && q < ranks; ++q) {
      const bool exchanges = case_.pattern == Pattern::kAllToAll;
      blocks_.push_back(Take(exchanges ? ColsOfBlock(case_, q, rank_) : ColsOf(case_, q, ranks)));
      const bool is_own = q == rank_ && case_.pattern == Pattern::kMultiBroadcast;
      if (case_.pattern == Pattern::kMultiReduce || is_own) Write(blocks_.back(), q);
    }
    if (case_.pattern == Pattern::kMultiReduce) {
      matrix_ =
          case_.in_place ? blocks_[static_cast<size_t>(rank_)] : Take(ColsOf(case_, rank_, ranks));
    } else if (!IsMulti(case_)) {
      matrix_ = Take(case_.elems / kRows);
      Write(matrix_, 0);
    }
  }
  PatternCall Call() const {
    PatternCall call;
    call.pattern = case_.pattern;
    call.topology = case_.topology;
    call.type = case_.type;
    call.op = case_.op;
    call.decreasing = case_.decreasing;
    call.root = case_.root;
    call.matrix = matrix_;
    if (IsMulti(case_)) call.blocks = blocks_.data();
    call.sent = sent_.data();
    call.equal_blocks = case_.pattern == Pattern::kAllToAll && !case_.unequal;
    return call;
  }
  bool operator==(Data& other) {
    return std::memcmp(memory_.data(), other.memory_.data(), memory_.bytes()) == 0;
  }
  void Unmap() { memory_.Unmap(); }
  void MakeReadOnly() { EXPECT_EQ(mprotect(memory_.data(), memory_.bytes(), PROT_READ), 0); }
  void Spoil() { std::memset(memory_.data(), 0xee, memory_.bytes()); }

 private:
  static bool IsMulti(const Case& c) {
    return c.pattern == Pattern::kMultiBroadcast || c.pattern == Pattern::kMultiReduce ||
           c.pattern == Pattern::kAllToAll;
  }
  static int64_t ColsOf(const Case& c, int block, int ranks) {
    const int64_t mean = c.elems / kRows;
    if (ranks > 2 && block == 1) return 0;
    return ranks > 2 && block == 2 ? 2 * mean + 1 : mean + block;
  }
  static int64_t ColsOfBlock(const Case& c, int from, int to) {
    if (!c.unequal) return c.elems / kRows;
    return from == 0 && to == 1 ? 0 : c.elems / kRows + 2 * from + to;
  }
  static size_t BytesFor(const Case& c, int ranks) {
    const int64_t cols = (c.elems / kRows + 3 * ranks) * (2 * ranks + 3);
    return static_cast<size_t>(cols * (kRows + c.gap)) * ElementBytes(c.type);
  }
  Matrix Take(int64_t cols) {
    Matrix matrix;
    matrix.data = memory_.data() + used_;
    Require(StridedLayout::General(kRows, cols, kRows + case_.gap, ElementBytes(case_.type),
                                   &matrix.layout));
    used_ += static_cast<size_t>(cols * (kRows + case_.gap)) * ElementBytes(case_.type);
    EXPECT_LE(used_, memory_.bytes());
    return matrix;
  }
  // Sums depend on their order; some magnitudes are equal, some values no numbers, some zero.
  double ValueAt(int64_t i, int block) const {
    if (i % 7 == 3) return rank_ % 2 == 0 ? 0.0 : -0.0;
    if (i % 11 == 5 && rank_ == block % 2) {
      return i % 2 == 0 ? std::numeric_limits<double>::quiet_NaN()
                        : -std::numeric_limits<double>::quiet_NaN();
    }
    const double magnitude = 1.0 / static_cast<double>(3 + (i % 5 == 0 ? 0 : rank_) + block + i);
    return (5 * rank_ + i) % 3 == 0 ? -magnitude : magnitude;
  }
  void Write(const Matrix& matrix, int block) const {
    const StridedLayout& layout = matrix.layout;
    for (int64_t i = 0; i < layout.rows() * layout.cols(); ++i) {
      std::byte* const to = matrix.data + static_cast<size_t>(i / kRows * layout.ld() + i % kRows) *
                                              layout.elem_bytes();
      const double value = ValueAt(i, block);
      const auto single = static_cast<float>(value);
      const double pair[] = {value, ValueAt(i + 1, block)};
      const auto integer = static_cast<int32_t>(i * 1000003 + rank_ * 17 + block);
      switch (case_.type) {
        case Element::kFloat:
          std::memcpy(to, &single, sizeof(single));
          break;
        case Element::kComplexDouble:
          std::memcpy(to, pair, sizeof(pair));
          break;
        case Element::kInt32:
          std::memcpy(to, &integer, sizeof(integer));
          break;
        default:
          std::memcpy(to, &value, sizeof(value));
      }
    }
  }

  const Case case_;
  const int rank_;
  RankMemory memory_;
  size_t used_ = 0;
  std::vector<Matrix> blocks_;
  std::vector<Matrix> sent_;
  Matrix matrix_;
};

struct Rank {
  explicit Rank(Bootstrap* bootstrap, const ShmOptions& options = ShmOptions())
      : rank(bootstrap->rank()), ranks(bootstrap->size()) {
    Require(CreateShmEndpoint(options, &endpoint));
    Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
    Require(Group::Create(engine.get(), bootstrap, 1, bootstrap->size(), &group));
  }
  Channel channel() const { return {group->state()->id, ChannelKind::kAll}; }
  OutEdge* To(int peer) const { return group->state()->edges->EdgeTo(channel(), peer); }
  InEdge* From(int peer) const { return group->state()->edges->EdgeFrom(channel(), peer); }
  // To all others.
  void Say(uint64_t word) const {
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer != rank) To(peer)->SetStatus(word);
    }
  }
  uint64_t sequence() const {
    return group->state()->scope_sequence[static_cast<int>(ChannelKind::kAll)];
  }

  const int rank;
  const int ranks;
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
};

// Tries until all ranks have come in time: a rank without a processor comes later.
constexpr int kMostTries = 100000;

// Whether a status word has more than "its rank takes another protocol".
bool HasOffered(uint64_t word) { return (word & 7) > kLeft; }

// Started operations run by the schedule.
OperationStatistics RunBySchedule(Rank* me, const PatternCall& call) {
  std::unique_ptr<Operation> operation;
  OperationStatistics did;
  Require(me->group->Start(call, &operation));
  Require(operation->Wait(&did));
  return did;
}

// A message in one segment, of the length that these have, was read where it lay.
bool WasRead(const OperationStatistics& did) { return did.segments == 1; }

bool MayGoByKernel(const Case& c) { return !EntryOf(c.pattern).combines; }

std::vector<Case> Cases(int ranks) {
  const int64_t kElems = 90 * Data::kRows;
  const int64_t all_elems = ranks * kElems + Data::kRows;
  std::vector<Case> cases;
  for (const int64_t gap : {0, 3}) {
    for (const bool decreasing : {false, true}) {
      cases.push_back({Pattern::kMultiBroadcast, kRing, Element::kDouble, CombineOp::kSum,
                       decreasing, false, gap, kElems});
      for (const bool in_place : {false, true}) {
        cases.push_back({Pattern::kMultiReduce, kRing, Element::kDouble, CombineOp::kSum,
                         decreasing, in_place, gap, kElems});
      }
    }
    cases.push_back(
        {Pattern::kAllToAll, kRing, Element::kDouble, CombineOp::kSum, false, false, gap, kElems});
    if (ranks > 2) {
      cases.push_back(cases.back());
      cases.back().unequal = true;
    }
    for (const Element type : {Element::kFloat, Element::kComplexDouble}) {
      cases.push_back(
          {Pattern::kMultiReduce, kRing, type, CombineOp::kSum, false, false, gap, kElems});
    }
    for (const CombineOp op : {CombineOp::kSum, CombineOp::kAbsMax, CombineOp::kAbsMin}) {
      cases.push_back({Pattern::kAllReduce, kReduceScatterAllgather, Element::kDouble, op, false,
                       false, gap, all_elems});
    }
    cases.push_back({Pattern::kAllReduce, kReduceScatterAllgather, Element::kInt32, CombineOp::kSum,
                     false, false, gap, 2 * all_elems});
    if (ranks > 2) continue;
    cases.push_back({Pattern::kMultiReduce, kCirculant, Element::kDouble, CombineOp::kSum, false,
                     false, gap, kElems});
    cases.push_back({Pattern::kAllReduce, kReduceScatterAllgather, Element::kComplexDouble,
                     CombineOp::kSum, false, false, gap, all_elems});
    cases.push_back({Pattern::kAllReduce, kExchange, Element::kDouble, CombineOp::kSum, false,
                     false, gap, all_elems});
  }
  return cases;
}

// --- as threads ---

class ZeroCopyReads : public testing::TestWithParam<int> {};

// Mapped by all, read by the kernel, and both in turn from rank to rank.
enum class Access { kMapped, kByKernel, kMixed };

MemoryKind KindFor(Access access, int rank) {
  return access == Access::kMapped || (access == Access::kMixed && rank % 2 == 0) ? kMapped
                                                                                  : kOrdinary;
}

ShmOptions OptionsFor(Access access) {
  return access == Access::kMapped ? ShmOptions() : ByKernel();
}

void ExpectTheBitsOfTheSchedule(int ranks, Access access) {
  RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get(), OptionsFor(access));
    for (const Case& c : Cases(ranks)) {
      if (access != Access::kMapped && !MayGoByKernel(c)) continue;
      Data expected(c, rank, ranks, kOrdinary);
      ASSERT_FALSE(WasRead(RunBySchedule(&me, expected.Call())));
      Data data(c, rank, ranks, KindFor(access, rank));
      OperationStatistics did;
      bool was_read = false;
      for (int i = 0; i < kMostTries && !was_read; ++i) {
        data.Fill(ranks);
        Meet(world, rank);
        Require(me.group->Run(data.Call(), &did));
        ASSERT_TRUE(data == expected) << PatternName(c.pattern) << " rank " << rank;
        was_read = WasRead(did);
        Meet(world, rank);
      }
      EXPECT_TRUE(was_read) << PatternName(c.pattern);
    }
  });
}

TEST_P(ZeroCopyReads, HaveTheBitsOfTheSchedule) {
  ExpectTheBitsOfTheSchedule(GetParam(), Access::kMapped);
}

TEST_P(ZeroCopyReads, ByTheKernelHaveTheBitsOfTheSchedule) {
  ExpectTheBitsOfTheSchedule(GetParam(), Access::kByKernel);
}

TEST_P(ZeroCopyReads, OfMemoryOfBothKindsHaveTheBitsOfTheSchedule) {
  ExpectTheBitsOfTheSchedule(GetParam(), Access::kMixed);
}

// Some ranks overwrite their memory as soon as their call has returned, and some have memory of the
// other kind, which only the kernel may read.
void ExpectThatMemoryIsTheCallersAgain(int ranks, Access access) {
  const int rounds = StressRounds(120, 10000) / ranks;
  RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get(), OptionsFor(access));
    std::mt19937 random(StressSeed());  // the same on all
    std::mt19937 own(StressSeed() + 1 + static_cast<unsigned>(rank));
    const std::vector<Case> cases = Cases(ranks);
    for (int round = 0; round < rounds; ++round) {
      const Case& c = cases[random() % cases.size()];
      Data expected(c, rank, ranks, kOrdinary);
      RunBySchedule(&me, expected.Call());
      const bool is_other = own() % (access == Access::kMapped ? 32 : 2) == 0;
      Data data(c, rank, ranks, is_other ? kOrdinary : kMapped);
      Require(me.group->Run(data.Call()));
      if (own() % 2 == 0) {
        data.Spoil();
      } else {
        ASSERT_TRUE(data == expected) << PatternName(c.pattern) << ' ' << round;
      }
    }
  });
}

TEST_P(ZeroCopyReads, MemoryIsTheCallersAgain) {
  ExpectThatMemoryIsTheCallersAgain(GetParam(), Access::kMapped);
}

TEST_P(ZeroCopyReads, MemoryOfBothKindsIsTheCallersAgain) {
  ExpectThatMemoryIsTheCallersAgain(GetParam(), Access::kMixed);
}

INSTANTIATE_TEST_SUITE_P(Of, ZeroCopyReads, testing::Values(2, 3, 4, 5, 8));

// 80 KB in the mean, and so many that a message is cut.
constexpr int64_t kElems = 100 * Data::kRows;

// Runs a call until its ranks read each other's memory.
OperationStatistics RunUntilRead(Rank* me, const PatternCall& call) {
  OperationStatistics did;
  for (int i = 0; i < kMostTries; ++i) {
    Require(me->group->Run(call, &did));
    if (WasRead(did)) return did;
  }
  ADD_FAILURE() << "they never did";
  return did;
}

// An empty matrix is neither a message nor a copy.
TEST(ZeroCopyReadsCounts, MovedDataAreCopiedOnceAndCombinedDataNever) {
  constexpr int kRanks = 3;
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get());
    const auto bytes_of = [&](int block) {
      const int64_t cols[] = {100, 0, 201};
      return static_cast<uint64_t>(cols[block] * Data::kRows) * sizeof(double);
    };
    const uint64_t all = bytes_of(0) + bytes_of(1) + bytes_of(2);
    const uint64_t own = bytes_of(rank);
    const uint64_t blocks_of_others = own > 0 ? 1 : 2;  // that are not empty
    const Case spread{Pattern::kMultiBroadcast,
                      kRing,
                      Element::kDouble,
                      CombineOp::kSum,
                      false,
                      false,
                      0,
                      kElems};
    Data data(spread, rank, kRanks, kMapped);
    OperationStatistics did = RunUntilRead(&me, data.Call());
    EXPECT_EQ(did.messages_sent, own > 0 ? 2 : 0);
    EXPECT_EQ(did.bytes_sent, did.messages_sent * (sizeof(WireHeader) + own));
    EXPECT_EQ(did.copies, blocks_of_others);
    EXPECT_EQ(did.bytes_copied, all - own);
    EXPECT_EQ(did.combines, 0);
    EXPECT_STREQ(did.protocol, "zero-copy read");

    Case sum = spread;
    sum.pattern = Pattern::kMultiReduce;
    Data sums(sum, rank, kRanks, kMapped);
    did = RunUntilRead(&me, sums.Call());
    EXPECT_EQ(did.messages_sent, blocks_of_others);
    EXPECT_EQ(did.bytes_sent, did.messages_sent * sizeof(WireHeader) + all - own);
    EXPECT_EQ(did.combines, own > 0 ? 2 : 0);
    EXPECT_EQ(did.bytes_combined, 2 * own);
    EXPECT_EQ(did.copies, 0);
    EXPECT_EQ(did.bytes_copied, 0);

    const uint64_t share = kElems * sizeof(double);
    Case exchange = spread;
    exchange.pattern = Pattern::kAllToAll;
    Data blocks(exchange, rank, kRanks, kMapped);
    did = RunUntilRead(&me, blocks.Call());
    EXPECT_EQ(did.messages_sent, 2);
    EXPECT_EQ(did.bytes_sent, 2 * (sizeof(WireHeader) + share));
    EXPECT_EQ(did.copies, 3);
    EXPECT_EQ(did.bytes_copied, 3 * share);
    EXPECT_EQ(did.combines, 0);

    sum.pattern = Pattern::kAllReduce;
    sum.topology = kReduceScatterAllgather;
    sum.elems = kRanks * kElems;
    Data total(sum, rank, kRanks, kMapped);
    did = RunUntilRead(&me, total.Call());
    EXPECT_EQ(did.messages_sent, 4);
    EXPECT_EQ(did.bytes_sent, 4 * (sizeof(WireHeader) + share));
    EXPECT_EQ(did.copies, 2);
    EXPECT_EQ(did.bytes_copied, 2 * share);
    EXPECT_EQ(did.combines, 2);
    EXPECT_EQ(did.bytes_combined, 2 * share);
  });
}

const Case kSomeCases[] = {
    {Pattern::kMultiBroadcast, kRing, Element::kDouble, CombineOp::kSum, false, false, 0, kElems},
    {Pattern::kMultiReduce, kRing, Element::kDouble, CombineOp::kSum, false, true, 0, kElems},
    {Pattern::kAllReduce, kReduceScatterAllgather, Element::kDouble, CombineOp::kSum, false, false,
     0, 4 * kElems},
    {Pattern::kAllToAll, kRing, Element::kDouble, CombineOp::kSum, false, false, 0, kElems},
};

// A rank that starts an operation publishes no status word, so the others take the schedule, too,
// and all agree again later.
TEST(ZeroCopyReadsOfSome, ARankWithoutAStatusWordMakesAllTakeTheSchedule) {
  constexpr int kRanks = 4;
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get());
    for (const Case& c : kSomeCases) {
      Data expected(c, rank, kRanks, kOrdinary);
      Require(me.group->Run(expected.Call()));
      Data data(c, rank, kRanks, kMapped);
      RunUntilRead(&me, data.Call());
      data.Fill(kRanks);
      const PatternCall call = data.Call();
      OperationStatistics did;
      Meet(world, rank);
      if (rank == 1) {
        std::unique_ptr<Operation> operation;
        Require(me.group->Start(call, &operation));
        Require(operation->Wait(&did));
      } else {
        Require(me.group->Run(call, &did));
      }
      EXPECT_FALSE(WasRead(did));
      EXPECT_EQ(did.protocol == nullptr, rank == 1) << "only blocking calls name one";
      EXPECT_TRUE(data == expected) << PatternName(c.pattern);
      Meet(world, rank);
      RunUntilRead(&me, call);
    }
  });
}

TEST(ZeroCopyReadsOfSome, ALateRankIsWaitedFor) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get());
    for (const int late : {0, 1}) {
      Data data(kSomeCases[0], rank, 2, kMapped);
      Meet(world, rank);
      if (rank == late) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      OperationStatistics did;
      Require(me.group->Run(data.Call(), &did));
      EXPECT_TRUE(WasRead(did));
    }
  });
}

// Its status word to the first rank may still be read.
TEST(ZeroCopyReadsOfSome, ARankThatCannotExposeToAllExposesToNone) {
  constexpr int kRanks = 3;
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get());
    Data data(kSomeCases[1], rank, kRanks, kMapped);
    PatternCall call = data.Call();
    RunUntilRead(&me, call);
    Meet(world, rank);
    const int last = (rank + kRanks - 1) % kRanks;
    RankMemory own(kOrdinary, call.blocks[last].layout.bytes() + 1);
    std::vector<Matrix> blocks(call.blocks, call.blocks + kRanks);
    if (rank == 0) {
      blocks[static_cast<size_t>(last)].data = own.data();
      call.blocks = blocks.data();
    }
    const std::byte* const text = me.To((rank + 1) % kRanks)->status_text();
    const std::vector<std::byte> before(text, text + EdgeStatus::kTextBytes);
    Require(me.group->Run(call));
    EXPECT_TRUE(rank != 0 || std::equal(before.begin(), before.end(), text));
    Meet(world, rank);
  });
}

// Says to all others that it offers what it has said of the call before. The number of the call, as
// a status word has it.
uint64_t OfferByHand(const Rank& me) {
  for (int peer = 0; peer < me.ranks; ++peer) {
    if (peer == me.rank) continue;
    std::byte* const text = me.To(peer)->status_text();
    WireHeader header;
    std::memcpy(static_cast<void*>(&header), text, sizeof(header));
    ++header.sequence;
    std::memcpy(text, &header, sizeof(header));
  }
  const uint64_t number = (me.sequence() + 1) << 3;
  me.Say(number | kOffers);
  return number;
}

// Whether all others would read, once they have published it or one of them takes another protocol.
bool WouldAllRead(const Rank& me, uint64_t number) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  for (int peer = 0; peer < me.ranks; ++peer) {
    if (peer == me.rank) continue;
    while (me.From(peer)->status() != (number | kReads)) {
      for (int q = 0; q < me.ranks; ++q) {
        if (q == me.rank) continue;
        const bool has_left = me.From(q)->status() == (number | kLeft);
        if (has_left || me.From(q)->Peek() != nullptr) return false;
      }
      if (std::chrono::steady_clock::now() > end) throw std::runtime_error("they say nothing");
      std::this_thread::yield();
    }
  }
  return true;
}

// The number of the call, as a status word has it.
uint64_t OfferUntilAllWouldRead(Rank* me, const PatternCall& call) {
  uint64_t number = OfferByHand(*me);
  for (; !WouldAllRead(*me, number); number = OfferByHand(*me)) {
    me->Say(number | kLeft);
    RunBySchedule(me, call);
  }
  return number;
}

// Returns the result of the next call once the group has failed.
Status FailureOf(const Rank& me) {
  while (me.group->state()->failure.ok()) (void)me.engine->Progress();
  PatternCall next;
  next.pattern = Pattern::kBarrier;
  return me.group->Run(next);
}

TEST(ZeroCopyReadsOfSome, ARankThatLeavesLateOrIsNotFoundIsNotRead) {
  for (const bool is_found : {true, false}) {
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      Rank me(world.MakeBootstrap(rank).get());
      Data expected(kSomeCases[1], rank, 2, kOrdinary);
      Require(me.group->Run(expected.Call()));
      Data data(kSomeCases[1], rank, 2, kMapped);
      RunUntilRead(&me, data.Call());
      data.Fill(2);
      PatternCall call = data.Call();
      call.timeout_seconds = 100;
      OperationStatistics did;
      Meet(world, rank);
      if (rank == 1) {
        // The random part of the address of its segment.
        if (!is_found) me.To(0)->status_text()[80] ^= std::byte{1};
        const uint64_t number = OfferByHand(me);
        Meet(world, rank);
        EXPECT_EQ(WouldAllRead(me, number), is_found);
        me.Say(number | kLeft);
        std::unique_ptr<Operation> operation;
        Require(me.group->Start(call, &operation));
        Require(operation->Wait());
      } else {
        Meet(world, rank);
        Require(me.group->Run(call, &did));
        EXPECT_FALSE(WasRead(did));
      }
      EXPECT_TRUE(data == expected);
      Meet(world, rank);
      RunUntilRead(&me, call);
    });
  }
}

TEST(ZeroCopyReadsOfNone, OrdinaryMemoryIsNotOffered) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get());
    for (const Case& c : kSomeCases) {
      Data data(c, rank, 2, kOrdinary);
      for (int i = 0; i < 3; ++i) Require(me.group->Run(data.Call()));
    }
    EXPECT_FALSE(HasOffered(me.To(1 - rank)->status()));
    Meet(world, rank);
  });
}

// It would copy as much as the schedule does.
TEST(ZeroCopyReadsOfNone, TheKernelDoesNotCopyForSums) {
  for (const int ranks : {2, 3}) {
    for (const Case& c : kSomeCases) {
      if (MayGoByKernel(c)) continue;
      RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
        Rank me(world.MakeBootstrap(rank).get(), ByKernel());
        Data data(c, rank, ranks, kOrdinary);
        for (int i = 0; i < 3; ++i) Require(me.group->Run(data.Call()));
        EXPECT_FALSE(HasOffered(me.To((rank + 1) % ranks)->status())) << PatternName(c.pattern);
        Meet(world, rank);
      });
    }
  }
}

// The sum is written to the beginning, as with MPI_IN_PLACE, or over the own contribution.
// Contributions of a rank lie one behind the other, or side by side in one matrix.
TEST(ZeroCopyReadsOfNone, ASumThatOverwritesExposedBlocksTakesTheSchedule) {
  constexpr int64_t kRows = 96;
  constexpr int64_t kCols = 101;
  constexpr size_t kBlock = kRows * kCols;
  const auto run = [&](int ranks, bool side_by_side, bool at_own) {
    RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
      Rank me(world.MakeBootstrap(rank).get());
      const size_t elems = kBlock * static_cast<size_t>(ranks);
      RankMemory memory(kMapped, elems * sizeof(double));
      std::vector<Matrix> blocks(static_cast<size_t>(ranks));
      for (size_t q = 0; q < blocks.size(); ++q) {
        const size_t begin = side_by_side ? q * kRows : q * kBlock;
        blocks[q].data = memory.data() + begin * sizeof(double);
        Require(StridedLayout::General(kRows, kCols, side_by_side ? ranks * kRows : kRows,
                                       sizeof(double), &blocks[q].layout));
      }
      PatternCall call;
      call.pattern = Pattern::kMultiReduce;
      call.topology = kRing;
      call.blocks = blocks.data();
      call.matrix = blocks[at_own ? static_cast<size_t>(rank) : 0];
      const bool may_offer = at_own || rank == 0;
      bool was_read = false;
      for (int i = 0; i < (at_own ? kMostTries : 40) && !was_read; ++i) {
        for (size_t k = 0; k < elems; ++k) {
          const auto value = static_cast<double>((rank + 1) * static_cast<int>(k % 89 + 1));
          std::memcpy(memory.data() + k * sizeof(double), &value, sizeof(value));
        }
        Meet(world, rank);
        OperationStatistics did;
        Require(me.group->Run(call, &did));
        was_read = WasRead(did);
        for (size_t k = 0; k < kBlock; ++k) {
          const size_t column = k / kRows * static_cast<size_t>(call.matrix.layout.ld());
          const size_t at = column + k % kRows;
          const size_t in_all =
              at + static_cast<size_t>(blocks[static_cast<size_t>(rank)].data - memory.data()) /
                       sizeof(double);
          double sum = 0;
          std::memcpy(&sum, call.matrix.data + at * sizeof(double), sizeof(sum));
          const int ranks_sum = ranks * (ranks + 1) / 2;
          ASSERT_EQ(sum, ranks_sum * static_cast<int>(in_all % 89 + 1)) << k;
        }
        Meet(world, rank);
      }
      EXPECT_EQ(was_read, at_own);
      EXPECT_TRUE(may_offer || !HasOffered(me.To((rank + 1) % ranks)->status()));
      Meet(world, rank);
    });
  };
  for (const int ranks : {2, 3}) {
    for (const bool side_by_side : {false, true}) {
      for (const bool at_own : {false, true}) run(ranks, side_by_side, at_own);
    }
  }
}

// To copy them takes two passes.
TEST(ZeroCopyReadsOfNone, ShortRunsThatDifferGoByTheSchedule) {
  for (const Pattern pattern : {Pattern::kMultiBroadcast, Pattern::kAllReduce}) {
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      Rank me(world.MakeBootstrap(rank).get());
      const int64_t rows = rank == 0 ? 7 : 5;
      const int64_t cols = 7000 / rows * 5;
      const size_t bytes = static_cast<size_t>((rows + 1) * cols) * sizeof(double);
      RankMemory memory(kMapped, 2 * bytes);
      Matrix blocks[2];
      for (Matrix& block : blocks) {
        Require(StridedLayout::General(rows, cols, rows + 1, sizeof(double), &block.layout));
        block.data = memory.data() + (&block - blocks) * static_cast<ptrdiff_t>(bytes);
      }
      PatternCall call;
      call.pattern = pattern;
      call.topology = pattern == Pattern::kAllReduce ? kReduceScatterAllgather : kRing;
      call.matrix = blocks[0];
      if (pattern == Pattern::kMultiBroadcast) call.blocks = blocks;
      for (int i = 0; i < 40; ++i) {
        OperationStatistics did;
        Meet(world, rank);
        Require(me.group->Run(call, &did));
        EXPECT_FALSE(WasRead(did)) << PatternName(pattern);
      }
      EXPECT_NE(me.To(1 - rank)->status(), 0) << PatternName(pattern);
      Meet(world, rank);
    });
  }
}

// Its first message, which is empty, is its refusal.
TEST(ZeroCopyReadsOfNone, AnAllToAllWithARankWithoutBlocksTakesTheSchedule) {
  RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get());
    constexpr size_t kBytes = size_t{64} << 10;
    RankMemory memory(kMapped, 6 * kBytes);
    std::memset(memory.data(), rank + 1, 6 * kBytes);
    Matrix sent[3], received[3];
    for (int q = 0; q < 3; ++q) {
      const bool is_empty = rank == q || rank == 2 || q == 2;
      sent[q] = {memory.data() + q * kBytes, StridedLayout::Contiguous(is_empty ? 0 : kBytes)};
      received[q] = {memory.data() + (3 + q) * kBytes, sent[q].layout};
    }
    PatternCall call;
    call.pattern = Pattern::kAllToAll;
    call.topology = kRing;
    call.sent = sent;
    call.blocks = received;
    for (int i = 0; i < 40; ++i) {
      OperationStatistics did;
      Require(me.group->Run(call, &did));
      EXPECT_GE(did.copies, rank == 2 ? 0 : 2) << "in and out: nothing was read";
      Meet(world, rank);
    }
    EXPECT_TRUE(rank == 2 || received[1 - rank].data[kBytes - 1] == std::byte(2 - rank));
    Meet(world, rank);
  });
}

// Columns or messages may be too short for the kernel, or too long.
TEST(ZeroCopyReadsOfNone, LengthsOutsideTheKernelsRangeAreNotExposed) {
  constexpr size_t kShortMost = size_t{64} << 10;  // shorter than all messages
  const struct {
    ShmOptions options;
    int64_t gap;
    bool is_offered;
  } cases[] = {
      {ByKernel(Data::kRows * sizeof(double)), 1, true},
      {ByKernel(Data::kRows * sizeof(double) + 1), 1, false},
      {ByKernel(kShortMost), 0, true},
      {ByKernel(256, kShortMost), 0, false},
      {ByKernel(KernelCopies{{}, {256, SIZE_MAX}}), 0, true},
      {ByKernel(KernelCopies{{256, SIZE_MAX}, {}}), 0, false},
  };
  for (const auto& one : cases) {
    for (Case c : kSomeCases) {
      if (!MayGoByKernel(c)) continue;
      c.gap = one.gap;
      RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
        Rank me(world.MakeBootstrap(rank).get(), one.options);
        Data data(c, rank, 2, kOrdinary);
        for (int i = 0; i < 3; ++i) Require(me.group->Run(data.Call()));
        EXPECT_EQ(HasOffered(me.To(1 - rank)->status()), one.is_offered) << PatternName(c.pattern);
        Meet(world, rank);
      });
    }
  }
}

// A process that has ended, as the others take it for one of them.
class Ended {
 public:
  Ended() {
    if (process_ == 0) _exit(0);
    watch_ = ProcessWatch(process_);
    EXPECT_EQ(waitpid(process_, nullptr, 0), process_);
  }
  // From here on `me` finds no memory of rank `peer`.
  void TakeThePlaceOf(int peer, const Rank& me) const {
    me.From(peer)->peer_memory().SetKernelCopies(process_, &watch_, *ByKernel().kernel_copies);
  }

 private:
  const pid_t process_ = fork();
  ProcessWatch watch_;
};

TEST(ZeroCopyReadsOfNone, ARefusalOfTheKernelIsFoundBeforeAllHaveAgreed) {
  const Ended ended;
  for (const Case& c : kSomeCases) {
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      Rank me(world.MakeBootstrap(rank).get(), ByKernel());
      if (rank == 1) ended.TakeThePlaceOf(0, me);
      Data expected(c, rank, 2, kOrdinary);
      RunBySchedule(&me, expected.Call());
      Data data(c, rank, 2, kOrdinary);
      for (int i = 0; i < 40; ++i) {
        OperationStatistics did;
        data.Fill(2);
        Require(me.group->Run(data.Call(), &did));
        EXPECT_FALSE(WasRead(did));
        ASSERT_TRUE(data == expected);
      }
      EXPECT_NE(me.To(1 - rank)->status(), 0);
      Meet(world, rank);
    });
  }
}

// A process with a copy of this one's memory at its start.
class Copy {
 public:
  Copy() {
    while (process_ == 0) pause();
    watch_ = ProcessWatch(process_);
  }
  ~Copy() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;

  // From here on `me` reads that of rank `peer` here.
  void TakeThePlaceOf(int peer, const Rank& me) const {
    me.From(peer)->peer_memory().SetKernelCopies(process_, &watch_, *ByKernel().kernel_copies);
  }

 private:
  const pid_t process_ = fork();
  ProcessWatch watch_;
};

// Memory of a device, or secret memory: earlier reads prove nothing about it.
TEST(ZeroCopyReadsOfNone, MemoryThatTheKernelCannotReadTakesTheSchedule) {
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get(), ByKernel());
    Data readable(kSomeCases[0], rank, 2, kOrdinary);
    RunUntilRead(&me, readable.Call());
    Meet(world, rank);
    std::unique_ptr<Copy> copy;
    if (rank == 1) {
      copy = std::make_unique<Copy>();
      copy->TakeThePlaceOf(0, me);
    }
    Meet(world, rank);
    for (const Case& c : kSomeCases) {
      Data expected(c, rank, 2, kOrdinary);
      RunBySchedule(&me, expected.Call());
      Data data(c, rank, 2, kOrdinary);
      for (int i = 0; i < 40; ++i) {
        OperationStatistics did;
        data.Fill(2);
        Require(me.group->Run(data.Call(), &did));
        EXPECT_FALSE(WasRead(did));
        ASSERT_TRUE(data == expected) << PatternName(c.pattern);
      }
    }
    RunUntilRead(&me, readable.Call());
    Meet(world, rank);
  });
}

// Behind that it ends the call on all ranks.
TEST(ZeroCopyReadsOfSome, AProcessThatIsGoneWhenItIsReadIsLost) {
  constexpr int last = 2;
  const Ended ended;
  for (const Case& c : kSomeCases) {
    if (!MayGoByKernel(c)) continue;
    const Rank* first = nullptr;
    RunRanks(last + 1, InprocOptions(), [&](InprocWorld& world, int rank) {
      Rank me(world.MakeBootstrap(rank).get(), ByKernel());
      if (rank == 0) first = &me;
      Data data(c, rank, last + 1, kOrdinary);
      RunUntilRead(&me, data.Call());
      Meet(world, rank);
      Status status;
      if (rank == last) {
        const uint64_t number = OfferUntilAllWouldRead(&me, data.Call());
        ended.TakeThePlaceOf(last, *first);
        me.Say(number | kReads);
        status = FailureOf(me);
      }
      while (status.ok()) status = me.group->Run(data.Call());
      EXPECT_EQ(status.code(), StatusCode::kPeerLost) << status.ToString();
      const std::string says = "rank " + std::to_string(last) + " of the group";
      EXPECT_NE(status.message().find(says), std::string::npos) << status.ToString();
      Meet(world, rank);
    });
  }
}

TEST(ZeroCopyReadsOfSome, AMatrixThatCannotBeWrittenIsNamed) {
  Data* first = nullptr;
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get(), ByKernel());
    Data data(kSomeCases[0], rank, 2, kOrdinary);
    if (rank == 0) first = &data;
    RunUntilRead(&me, data.Call());
    Meet(world, rank);
    Status status;
    if (rank == 1) {
      const uint64_t number = OfferUntilAllWouldRead(&me, data.Call());
      first->MakeReadOnly();
      me.Say(number | kReads);
      status = FailureOf(me);
    }
    while (status.ok()) status = me.group->Run(data.Call());
    EXPECT_EQ(status.code(), StatusCode::kInternal) << status.ToString();
    EXPECT_NE(status.message().find("rank 0 of the group cannot write to its own"),
              std::string::npos)
        << status.ToString();
    Meet(world, rank);
  });
}

// Along a tree a rank may wait before its first send, and would not notify the ranks that wait for
// it.
TEST(ZeroCopyReadsOfNone, ATreePublishesNoStatusWord) {
  constexpr int kRanks = 3;
  RunRanks(kRanks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get());
    for (const Topology& topology : {kWide, kRing, kExchange}) {
      const Case sum{
          Pattern::kAllReduce, topology,           Element::kInt32, CombineOp::kSum, false, false,
          /*gap=*/0,           4 * kRanks * kElems};
      Data data(sum, rank, kRanks, rank > 0 ? kMapped : kOrdinary);
      for (int i = 0; i < 3; ++i) Require(me.group->Run(data.Call()));
    }
    for (int d = 1; d < kRanks; ++d) EXPECT_EQ(me.From((rank + d) % kRanks)->status(), 0);
    Meet(world, rank);
  });
}

TEST(ZeroCopyReadsOfSome, CallsThatDoNotMatchAreNamed) {
  for (const bool sends : {false, true}) {
    RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
      Rank me(world.MakeBootstrap(rank).get());
      Data data(kSomeCases[1], rank, 2, kMapped);
      RunUntilRead(&me, data.Call());
      PatternCall call = data.Call();
      if (rank == 1 && sends) call.op = CombineOp::kAbsMax;
      if (rank == 1 && !sends) {
        call.pattern = Pattern::kBroadcast;
        call.topology = Topology();
      }
      EXPECT_EQ(me.group->Run(call).code(), StatusCode::kMismatch) << sends;
      Meet(world, rank);
    });
  }
}

// --- as processes ---

bool HasTheBitsOfTheSchedule(Rank* me, const Case& c, Access access) {
  Data expected(c, me->rank, me->ranks, kOrdinary);
  RunBySchedule(me, expected.Call());
  Data data(c, me->rank, me->ranks, KindFor(access, me->rank));
  for (int i = 0; i < kMostTries; ++i) {
    data.Fill(me->ranks);
    OperationStatistics did;
    Require(me->group->Run(data.Call(), &did));
    if (!(data == expected)) return false;
    if (WasRead(did)) return true;
  }
  return false;
}

// Where memory of another rank lies elsewhere than that has it.
TEST(ZeroCopyReadsOfProcesses, HaveTheBitsOfTheSchedule) {
  for (const Access access : {Access::kMapped, Access::kByKernel, Access::kMixed}) {
    for (const int ranks : {2, 3}) {
      const std::vector<int> ends = RunProcesses(ranks, [&](Bootstrap* bootstrap) {
        Rank me(bootstrap, OptionsFor(access));
        for (const Case& c : Cases(ranks)) {
          if (access != Access::kMapped && !MayGoByKernel(c)) continue;
          if (HasTheBitsOfTheSchedule(&me, c, access)) continue;
          std::fprintf(stderr, "%s of rank %d\n", PatternName(c.pattern), me.rank);
          return 1;
        }
        return 0;
      });
      EXPECT_EQ(ends, std::vector<int>(static_cast<size_t>(ranks)));
    }
  }
}

// The action of the last rank once all others have published that they read.
using Leaves = std::function<void(const Rank& me, Data* data, uint64_t number)>;

// How the processes end when the last rank does `leaves`, if the calls of the others, which may
// take so long, and its next one are to fail with `expected`, and say `says`.
std::vector<int> RunWithOneThatLeaves(int ranks, Access access, const Case& c, double seconds,
                                      StatusCode expected, const char* says, const Leaves& leaves) {
  return RunProcesses(ranks, [&](Bootstrap* bootstrap) {
    Rank me(bootstrap, OptionsFor(access));
    Data data(c, me.rank, ranks, KindFor(access, me.rank));
    PatternCall call = data.Call();
    RunUntilRead(&me, call);
    Status status;
    if (me.rank == ranks - 1) {
      leaves(me, &data, OfferUntilAllWouldRead(&me, call));
      status = FailureOf(me);
    } else {
      call.timeout_seconds = seconds;
      while (status.ok()) status = me.group->Run(call);
    }
    if (status.code() == expected && status.message().find(says) != std::string::npos) return 0;
    std::fprintf(stderr, "%d: %s\n", me.rank, status.ToString().c_str());
    return 1;
  });
}

TEST(ZeroCopyReadsOfProcesses, ARankThatDiesIsLost) {
  for (const Access access : {Access::kMapped, Access::kByKernel}) {
    for (const Case& c : kSomeCases) {
      if (access == Access::kByKernel && !MayGoByKernel(c)) continue;
      EXPECT_EQ(RunWithOneThatLeaves(2, access, c, 60, StatusCode::kPeerLost, "rank 1",
                                     [](const Rank& me, Data*, uint64_t number) {
                                       me.Say(number | kReads);
                                       raise(SIGKILL);
                                     }),
                (std::vector<int>{0, SIGKILL}));
    }
  }
}

TEST(ZeroCopyReadsOfProcesses, UnmappedMemoryIsNamedOnAllRanks) {
  constexpr int ranks = 3;
  for (const Case& c : kSomeCases) {
    if (!MayGoByKernel(c)) continue;
    EXPECT_EQ(RunWithOneThatLeaves(ranks, Access::kByKernel, c, 60, StatusCode::kInternal,
                                   "the matrix of rank 2 of the group could not be copied",
                                   [](const Rank& me, Data* data, uint64_t number) {
                                     data->Unmap();
                                     me.Say(number | kReads);
                                   }),
              std::vector<int>(static_cast<size_t>(ranks)));
  }
}

// How two processes end, whose calls end at a time limit. With a longer limit if they end wrongly:
// where others have the processors, calls that should succeed before it may take too long.
std::vector<int> RunWithTimeLimit(const std::function<std::vector<int>(double seconds)>& run) {
  std::vector<int> ends = run(2.5);
  for (const double seconds : {10, 40}) {
    if (ends != std::vector<int>{0, 0}) ends = run(seconds);
  }
  return ends;
}

TEST(ZeroCopyReadsOfProcesses, AStalledRankIsNotAwaitedBeyondTheTimeLimit) {
  const auto leaves = [](const Rank& me, Data*, uint64_t number) {
    me.Say(number | kReads);
    while (me.From(0)->status() != (number | kLeft)) std::this_thread::yield();
  };
  const auto run = [&](double seconds) {
    return RunWithOneThatLeaves(2, Access::kMapped, kSomeCases[0], seconds, StatusCode::kTimedOut,
                                "its time limit of", leaves);
  };
  EXPECT_EQ(RunWithTimeLimit(run), (std::vector<int>{0, 0}));
}

// The schedule has only the rest of the call's time limit.
TEST(ZeroCopyReadsOfProcesses, ALateRankDoesNotExtendTheTimeLimit) {
  const auto run = [](double seconds) {
    const std::chrono::duration<double> most_of_it(seconds * 5 / 6);
    const auto leaves = [&](const Rank& me, Data*, uint64_t number) {
      std::this_thread::sleep_for(most_of_it);
      me.Say(number | kLeft);
      std::this_thread::sleep_for(most_of_it);
      _exit(0);  // it is lost if it is still awaited
    };
    return RunWithOneThatLeaves(2, Access::kMapped, kSomeCases[0], seconds, StatusCode::kTimedOut,
                                "", leaves);
  };
  EXPECT_EQ(RunWithTimeLimit(run), (std::vector<int>{0, 0}));
}

}  // namespace
}  // namespace brigade

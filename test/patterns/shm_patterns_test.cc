// The patterns over shm with the settings users get: how much memory many ranks take, and how often
// every byte is copied. The ranks are threads.

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/catalogue/exchange.h"
#include "patterns/catalogue/subtrees.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/rules.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/shares.h"
#include "test/support/run_ranks.h"
#include "test/support/thread_hosts.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"

namespace brigade {
namespace {

void Require(const Status& status) {
  if (!status.ok()) throw std::runtime_error(status.ToString());
}

// Elements with a gap between each and the next.
struct Vector {
  explicit Vector(size_t elems, double value = 0) : memory(2 * elems, value) {
    Require(
        StridedLayout::General(1, static_cast<int64_t>(elems), 2, sizeof(double), &matrix.layout));
    matrix.data = reinterpret_cast<std::byte*>(memory.data());
  }
  Vector(const Vector&) = delete;
  Vector& operator=(const Vector&) = delete;
  size_t bytes() const { return matrix.layout.bytes(); }

  std::vector<double> memory;
  Matrix matrix;
};

struct Rank {
  Rank(InprocWorld& world, int rank, int rows, int cols, std::unique_ptr<Endpoint> with = nullptr)
      : endpoint(std::move(with)) {
    if (endpoint == nullptr) Require(CreateShmEndpoint(&endpoint));
    Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
    Require(Group::Create(engine.get(), world.MakeBootstrap(rank).get(), rows, cols, &group));
  }
  OperationStatistics Run(Pattern pattern, int root, Vector* data,
                          ChannelKind scope = ChannelKind::kAll, Topology topology = {}) {
    PatternCall call;
    call.pattern = pattern;
    call.root = root;
    call.scope = scope;
    call.topology = topology;
    if (data != nullptr) call.matrix = data->matrix;
    return Run(call);
  }
  OperationStatistics Run(const PatternCall& call) {
    OperationStatistics statistics;
    Require(group->Run(call, &statistics));
    return statistics;
  }

  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
};

// Waits until all ranks are here, without a message.
class Gate {
 public:
  explicit Gate(int ranks) : ranks_(ranks) {}
  void Pass() {
    const int all = (arrived_++ / ranks_ + 1) * ranks_;
    while (arrived_ < all) std::this_thread::yield();
  }

 private:
  const int ranks_;
  std::atomic<int> arrived_{0};
};

// Of all segments of this process.
size_t SharedBytes() {
  size_t bytes = 0;
  DIR* const descriptors = opendir("/proc/self/fd");
  while (const dirent* entry = readdir(descriptors)) {
    const std::string path = std::string("/proc/self/fd/") + entry->d_name;
    char target[64] = {};
    struct stat info;
    if (readlink(path.c_str(), target, sizeof(target) - 1) < 0) continue;
    if (std::string(target).rfind("/memfd:brigade", 0) != 0) continue;
    if (stat(path.c_str(), &info) == 0) bytes += static_cast<size_t>(info.st_blocks) * 512;
  }
  closedir(descriptors);
  return bytes;
}

// --- order ---

TEST(ShmPatterns, AShortMessageComesBehindALongOneThatIsUnderWay) {
  constexpr size_t kLongElems = size_t{1} << 20;  // more than there is staging memory for
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, 1, 2);
    Vector long_one(kLongElems, rank == 0 ? 1 : 0);
    Vector short_one(1, rank == 0 ? 2 : 0);
    if (rank == 1) {
      me.Run(Pattern::kReceive, 0, &long_one);
      me.Run(Pattern::kReceive, 0, &short_one);
      EXPECT_EQ(long_one.memory[0], 1);
      EXPECT_EQ(short_one.memory[0], 2);
      return;
    }
    PatternCall call;
    call.pattern = Pattern::kSend;
    call.root = 1;
    call.matrix = long_one.matrix;
    std::unique_ptr<Operation> operation;
    Require(me.group->Start(call, &operation));
    me.Run(Pattern::kSend, 1, &short_one);
    Require(operation->Wait());
  });
}

// --- memory ---

// The memory that was used last is still in the caches of sender and receiver.
TEST(ShmPatterns, MemoryOfReceivedMessagesIsReused) {
  constexpr size_t kMessageBytes = size_t{6} << 10;  // longer than a line
  Gate taken(2);
  RunRanks(2, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, 1, 2);
    Vector data(kMessageBytes / sizeof(double), rank);
    for (int i = 0; i < 40; ++i) {
      me.Run(rank == 0 ? Pattern::kSend : Pattern::kReceive, 1 - rank, &data);
      taken.Pass();
    }
    EXPECT_LE(me.engine->staging().high_water_bytes, 2 * EngineOptions().chunk_bytes);
  });
}

// The relay keeps the root's memory for a receiver that is late, and makes no further call
// meanwhile.
TEST(ShmPatterns, AwaitReceiversDoesNotWaitForRelays) {
  constexpr size_t kElems = 10000;
  Gate gate(3);
  std::atomic<bool> relay_began{false};
  RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, 1, 3);
    Vector data(kElems, rank == 0 ? 7 : 0);
    const Topology ring{Shape::kIncreasingRings, 1};
    if (rank == 1) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      relay_began = true;
    }
    if (rank == 2) gate.Pass();
    me.Run(Pattern::kBroadcast, 0, &data, ChannelKind::kAll, ring);
    size_t held_bytes = SIZE_MAX;
    if (rank == 0) {
      Require(me.engine->AwaitReceivers());
      EXPECT_TRUE(relay_began);
      held_bytes = me.engine->staging().in_use_bytes;
    }
    if (rank != 2) gate.Pass();
    EXPECT_EQ(data.memory[0], 7);
    EXPECT_EQ(data.memory[2 * kElems - 2], 7);
    Require(me.engine->Drain());
    EXPECT_LT(me.engine->staging().in_use_bytes, held_bytes);
  });
}

// --- memory ---

// Edges lie in memory that is taken in steps of so much.
constexpr size_t kStepBytes = size_t{16} << 10;

class EveryEdge {
 public:
  EveryEdge(InprocWorld& world, int rank, int rows, int cols, Gate* gate)
      : me_(world, rank, rows, cols), rank_(rank), ranks_(rows * cols), gate_(gate) {}

  void SendAndReceive(int distance) {
    const int to = (rank_ + distance) % ranks_;
    const int from = (rank_ + ranks_ - distance) % ranks_;
    for (const size_t elems : kElems) {
      Vector data(elems, Value(rank_, to, ChannelKind::kPointToPoint));
      me_.Run(Pattern::kSend, to, &data);
    }
    for (const size_t elems : kElems) {
      Vector data(elems);
      me_.Run(Pattern::kReceive, from, &data);
      EXPECT_EQ(data.memory[0], Value(from, rank_, ChannelKind::kPointToPoint));
      EXPECT_EQ(data.memory[2 * elems - 2], Value(from, rank_, ChannelKind::kPointToPoint));
    }
  }

  // Everybody of the scope to all others.
  void BroadcastFromAll(ChannelKind scope) {
    for (int root = 0; root < me_.group->ScopeSize(scope); ++root) {
      for (const size_t elems : kElems) {
        const bool mine = root == me_.group->ScopeRank(scope);
        Vector data(elems, mine ? Value(rank_, root, scope) : 0);
        me_.Run(Pattern::kBroadcast, root, &data, scope, {Shape::kIncreasingRings, 1 << 20});
        EXPECT_EQ(data.memory[2 * elems - 2], Value(RankIn(scope, root), root, scope));
      }
    }
  }

  // Returns the memory that a rank holds on average, without pending operations.
  size_t BytesPerRank() {
    gate_->Pass();  // all is received
    Require(me_.engine->Drain());
    me_.engine->Trim();
    gate_->Pass();
    const size_t bytes = SharedBytes() / static_cast<size_t>(ranks_);
    gate_->Pass();
    return bytes;
  }

  size_t staging_bytes() const { return me_.engine->options().staging_bytes; }

 private:
  static constexpr size_t kElems[] = {1, 125};  // in a line, and beside it

  static double Value(int from, int to, ChannelKind kind) {
    return 1 + from + 1000.0 * to + 1e6 * static_cast<int>(kind);
  }
  int RankIn(ChannelKind scope, int scope_rank) const {
    const int cols = me_.group->cols();
    if (scope == ChannelKind::kRow) return me_.group->row() * cols + scope_rank;
    if (scope == ChannelKind::kColumn) return scope_rank * cols + me_.group->col();
    return scope_rank;
  }

  Rank me_;
  const int rank_;
  const int ranks_;
  Gate* const gate_;
};

// Memory grows with the edges that are used, and by no more than an idle edge takes.
TEST(ShmPatterns, EveryEdgeOf64RanksFitsBesideTheStagingPool) {
  const bool few = std::getenv("BRIGADE_TEST_LARGEST_GROUP") != nullptr;  // under sanitizers
  const int rows = few ? 2 : 8;
  const int cols = few ? 3 : 8;
  const int ranks = rows * cols;
  Gate gate(ranks);
  RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
    EveryEdge me(world, rank, rows, cols, &gate);
    const size_t idle = me.BytesPerRank();
    EXPECT_GE(idle, me.staging_bytes());
    EXPECT_LE(idle, me.staging_bytes() + 2 * kStepBytes);

    me.SendAndReceive(1);
    me.SendAndReceive(ranks - 1);
    EXPECT_LE(me.BytesPerRank(), idle + kStepBytes);

    for (int distance = 0; distance < ranks; ++distance) me.SendAndReceive(distance);
    me.BroadcastFromAll(ChannelKind::kRow);
    me.BroadcastFromAll(ChannelKind::kColumn);
    me.BroadcastFromAll(ChannelKind::kAll);
    const int edges = ranks + (cols - 1) + (rows - 1) + (ranks - 1);
    EXPECT_LE(me.BytesPerRank(), idle + static_cast<size_t>(edges) * 1024);
  });
}

// --- copies ---

// The work that a rank may do per byte of its message.
struct Work {
  uint64_t copies;
  uint64_t combines;
};

Work WorkOfScan(bool exclusive, const Topology& topology, int ranks, int rank) {
  const bool last = rank + 1 == ranks;
  if (topology.shape != Shape::kHypercube) {
    return {last && !exclusive ? 0u : 1u, rank == 0 || (exclusive && last) ? 0u : 1u};
  }
  uint64_t rounds = 0;  // in which the rank receives
  uint64_t sent_on = 0;
  for (int distance = 1; distance <= rank; distance *= 2) {
    ++rounds;
    sent_on += rank + 2 * distance < ranks ? 1 : 0;
  }
  const uint64_t in = last ? 0 : 1;
  if (exclusive) return {in + (rank > 0 ? 1 : 0), sent_on + (rank > 0 ? rounds - 1 : 0)};
  return {in + (rounds > 0 && sent_on == rounds ? 1 : 0), rounds};
}

Work WorkOf(Pattern pattern, const Topology& topology, int ranks, int root, int rank) {
  const auto children = [&]() -> uint64_t {
    return TreeNodeOf(topology, ranks, ToRelative(topology, ranks, root, rank)).children.size();
  };
  const int levels = pattern == Pattern::kReduce ? kMostLevelsToOne : kMostLevelsToAll;
  const bool exchanges =
      topology.shape == Shape::kExchange && TreeHeight(topology, ranks) <= levels;
  const auto others = static_cast<uint64_t>(ranks) - 1;
  switch (pattern) {
    case Pattern::kSend:
    case Pattern::kReceive:
    case Pattern::kBroadcast:
      return {1, 0};
    case Pattern::kReduce:
      if (exchanges) return rank == root ? Work{0, others} : Work{1, 0};
      return {children() == 0 ? 1u : 0u, children()};
    case Pattern::kAllReduce: {
      if (exchanges) return {1, others};  // the last combine lands where it is wanted
      if (topology.shape != Shape::kHypercube) return {children() == 0 ? 2u : 1u, children()};
      uint64_t dimension = 0;
      while ((2 << dimension) <= ranks) ++dimension;
      const bool paired = rank < 2 * (ranks - (1 << dimension));
      if (paired && rank % 2 == 1) return {2, 0};
      return {1, dimension + (paired ? 1 : 0)};
    }
    case Pattern::kMultiBroadcast:
      return {static_cast<uint64_t>(ranks), 0};
    case Pattern::kMultiReduce:  // on a circulant graph each to whom it is for
      return {topology.shape == Shape::kCirculant ? others : uint64_t{1}, others};
    case Pattern::kAllToAll:
      return {2 * others + 1, 0};
    case Pattern::kGather:
    case Pattern::kScatter: {
      if (rank == root) return {others, 0};
      if (topology.shape == Shape::kIncreasingRings) return {1, 0};
      const Subtrees tree(topology, ranks);
      const int relative = ToRelative(topology, ranks, root, rank);
      return {static_cast<uint64_t>(tree.RanksFrom(relative)), 0};
    }
    case Pattern::kScan:
    case Pattern::kExscan:
      return WorkOfScan(pattern == Pattern::kExscan, topology, ranks, rank);
    case Pattern::kBarrier:
      break;
  }
  return {0, 0};
}

// Once in and once out, on every path of the bytes: messages fit the pool, so that none takes
// ordinary memory.
class Copies : public testing::TestWithParam<size_t> {};

TEST_P(Copies, OncePerSide) {
  const size_t elems = GetParam();
  const int ranks = 6;
  RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, 1, ranks);
    std::vector<std::unique_ptr<Vector>> blocks;
    std::vector<Matrix> block_matrices;
    for (int q = 0; q < ranks; ++q) {
      blocks.push_back(std::make_unique<Vector>(elems));
      block_matrices.push_back(blocks.back()->matrix);
    }
    std::vector<std::unique_ptr<Vector>> sent;
    std::vector<Matrix> sent_matrices;
    for (int q = 0; q < ranks; ++q) {
      sent.push_back(std::make_unique<Vector>(elems));
      sent_matrices.push_back(sent.back()->matrix);
    }
    Vector data(elems);
    const auto check = [&](Pattern pattern, const Topology& topology, int root) {
      SCOPED_TRACE(std::string(PatternName(pattern)) + " shape " +
                   std::to_string(static_cast<int>(topology.shape)) + "/" +
                   std::to_string(topology.parameter) + " root " + std::to_string(root) + " rank " +
                   std::to_string(rank));
      PatternCall call;
      call.pattern = pattern;
      call.topology = topology;
      call.root = root;
      call.matrix = data.matrix;
      call.blocks = block_matrices.data();
      call.sent = sent_matrices.data();
      call.equal_blocks = true;
      const OperationStatistics did = me.Run(call);
      EXPECT_EQ(did.overflow_segments, 0u);
      if (topology.shape == Shape::kReduceScatterAllgather) {
        // In: the share that begins here. All others are combined, and all copied out.
        const int share = (rank + ranks - 1) % ranks;
        const size_t in = (ShareBegin(elems, ranks, share + 1) - ShareBegin(elems, ranks, share)) *
                          sizeof(double);
        EXPECT_EQ(did.bytes_copied, in + data.bytes());
        EXPECT_EQ(did.bytes_combined, data.bytes() - in);
        return;
      }
      if (pattern != Pattern::kMultiReduce &&
          (topology.shape == Shape::kTwoTree || topology.shape == Shape::kCirculant)) {
        const bool is_short = data.bytes() <= rules::kUncutBytes;
        if (!is_short && pattern == Pattern::kReduce) {
          // A rank copies the shares for which it is a leaf, and combines the rest.
          EXPECT_LE(did.bytes_copied, rank == root ? 0 : data.bytes());
          EXPECT_GE(did.bytes_copied + did.bytes_combined, data.bytes());
          return;
        }
        EXPECT_EQ(did.bytes_copied,
                  WorkOf(pattern, Topology(), ranks, root, rank).copies * data.bytes());
        return;
      }
      const Work work = WorkOf(pattern, topology, ranks, root, rank);
      EXPECT_EQ(did.bytes_copied, work.copies * data.bytes());
      EXPECT_EQ(did.bytes_combined, work.combines * data.bytes());
      const bool in_runs = topology.shape == Shape::kCirculant ||
                           (IsRootedBlocks(pattern) && topology.parameter < ranks);
      if (elems == 1 && !in_runs) {
        EXPECT_EQ(did.peak_staging_bytes, 0u);  // lines
      }
    };
    for (const CatalogueEntry& entry : Catalogue()) {
      std::vector<Topology> topologies = entry.topologies;
      if (topologies.empty()) topologies.emplace_back();
      for (const Topology& topology : topologies) {
        for (const int root : {0, ranks - 1}) {
          if (!entry.rooted && root != 0) continue;
          // Everybody sends to the next and receives from the one before.
          if (entry.pattern == Pattern::kSend) {
            check(Pattern::kSend, topology, (rank + 1) % ranks);
            check(Pattern::kReceive, topology, (rank + ranks - 1) % ranks);
          } else if (entry.pattern != Pattern::kReceive) {
            check(entry.pattern, topology, root);
          }
          me.Run(Pattern::kBarrier, 0, nullptr);  // all is received
          Require(me.engine->Drain());            // and the pool empty
        }
      }
    }
  });
}

// --- an exchange has the bits of its tree ---

// Bytes that make every kind of number: any, and those that sums must not confuse.
void Draw(Element type, std::mt19937_64* random, std::vector<std::byte>* bytes) {
  for (std::byte& byte : *bytes) byte = static_cast<std::byte>((*random)());
  const auto sprinkle = [&](auto zero) {
    using Real = decltype(zero);
    using Limits = std::numeric_limits<Real>;
    const Real special[] = {-zero,
                            zero,
                            Limits::quiet_NaN(),
                            -Limits::infinity(),
                            Limits::infinity(),
                            Limits::max(),
                            Limits::denorm_min(),
                            Real{1}};
    for (size_t at = 0; at + sizeof(Real) <= bytes->size(); at += sizeof(Real)) {
      const Real value = (*random)() % 3 == 0 ? special[(*random)() % std::size(special)]
                                              : static_cast<Real>((*random)() % 1000) / Real{7};
      std::memcpy(bytes->data() + at, &value, sizeof(value));
    }
  };
  if (type == Element::kDouble || type == Element::kComplexDouble) sprinkle(0.0);
  if (type == Element::kFloat || type == Element::kComplexFloat) sprinkle(0.0F);
}

struct Combined {
  std::vector<std::byte> bytes;
  std::vector<int32_t> locations;
};

// One combine of a rank after the other, each as an exchange and along its tree.
class Comparison {
 public:
  static constexpr int kTrials = 144;

  Comparison(Rank* me, int rank, ChannelKind scope)
      : me_(*me), rank_(rank), scope_(scope), random_(static_cast<uint64_t>(rank) + 1) {}

  void HasTheBitsOfTheTree(int trial) {
    PatternCall call;
    call.scope = scope_;
    constexpr Element kTypes[] = {Element::kInt32,        Element::kInt64,
                                  Element::kFloat,        Element::kDouble,
                                  Element::kComplexFloat, Element::kComplexDouble};
    constexpr CombineOp kOps[] = {CombineOp::kSum, CombineOp::kAbsMax, CombineOp::kAbsMin};
    call.type = kTypes[trial % 6];
    call.op = kOps[trial / 6 % 3];
    const bool to_all = trial / 18 % 2 == 0;
    call.pattern = to_all ? Pattern::kAllReduce : Pattern::kReduce;
    call.root = to_all ? 0 : trial % me_.group->ScopeSize(scope_);
    const size_t elems = std::vector<size_t>{1, 2, 30, 5000}[static_cast<size_t>(trial / 36)];
    Combined mine{std::vector<std::byte>(elems * ElementBytes(call.type)),
                  std::vector<int32_t>(elems, rank_)};
    Draw(call.type, &random_, &mine.bytes);
    const auto along = [&](const Topology& topology) {
      Combined result = mine;
      call.topology = topology;
      if (call.op != CombineOp::kSum && trial % 5 != 0) call.locations = result.locations.data();
      call.matrix.data = result.bytes.data();
      const auto n = static_cast<int64_t>(elems);
      Require(StridedLayout::General(n, 1, n, ElementBytes(call.type), &call.matrix.layout));
      did_ = me_.Run(call);
      return result;
    };
    for (const int branches : {2, 3, 8}) {
      const Combined tree = along({Shape::kTree, branches});
      const Combined exchange = along({Shape::kExchange, branches});
      ASSERT_TRUE(tree.bytes == exchange.bytes) << trial << " of " << branches << " branches";
      ASSERT_TRUE(tree.locations == exchange.locations) << trial;
    }
    to_all_ = to_all;
  }
  // Whether this rank combined all contributions in the last trial, if all have the result.
  bool CombinedAllFor(int ranks) const {
    return !to_all_ || did_.combines == static_cast<uint64_t>(ranks - 1) * did_.segments;
  }

 private:
  Rank& me_;
  const int rank_;
  const ChannelKind scope_;
  std::mt19937_64 random_;
  OperationStatistics did_;
  bool to_all_ = false;
};

class Exchanges : public testing::TestWithParam<int> {};

TEST_P(Exchanges, HaveTheBitsOfTheTree) {
  const int ranks = GetParam();
  const bool few = std::getenv("BRIGADE_TEST_LARGEST_GROUP") != nullptr;  // under sanitizers
  if (few && ranks > 20) GTEST_SKIP() << "too many threads";
  RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world, rank, 1, ranks);
    Comparison compared(&me, rank, ChannelKind::kAll);
    for (int trial = 0; trial<Comparison::kTrials; trial += ranks> 20 ? 7 : 1) {
      ASSERT_NO_FATAL_FAILURE(compared.HasTheBitsOfTheTree(trial));
    }
  });
}

// Rows are on one host each, or on the same; columns are on one host or on several.
TEST(ExchangesInAGrid, OfRowsAndColumnsHaveTheBitsOfTheTree) {
  constexpr int kRows = 3;
  constexpr int kCols = 4;
  for (const int hosts : {1, kRows}) {
    RunRanks(kRows * kCols, InprocOptions(), [&](InprocWorld& world, int rank) {
      Rank me(world, rank, kRows, kCols, AutoEndpointOn(rank / kCols % hosts, &world, rank));
      Comparison in_row(&me, rank, ChannelKind::kRow);
      Comparison in_column(&me, rank, ChannelKind::kColumn);
      for (int trial = 0; trial < Comparison::kTrials; trial += 7) {
        ASSERT_NO_FATAL_FAILURE(in_row.HasTheBitsOfTheTree(trial));
        EXPECT_TRUE(in_row.CombinedAllFor(kCols)) << trial;
        ASSERT_NO_FATAL_FAILURE(in_column.HasTheBitsOfTheTree(trial));
        EXPECT_TRUE(hosts > 1 || in_column.CombinedAllFor(kRows)) << trial;
      }
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, Exchanges, testing::Values(2, 3, 5, 8, 13, 20, 33, 64));

// In a line, in one segment, in many.
INSTANTIATE_TEST_SUITE_P(Elements, Copies, testing::Values(1, 125, 120000));

}  // namespace
}  // namespace brigade

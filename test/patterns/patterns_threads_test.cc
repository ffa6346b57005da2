// Every catalogue entry on ranks that are threads, or live in virtual time, against the definition
// of its result: group sizes to 17, every place of the receive buffers, one host and several,
// random delays, refusals and reordering, tiny and ordinary pools; and with ranks that start
// everything and then sleep.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/combine.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/support/endpoints/checked_endpoint.h"
#include "test/support/endpoints/fault_endpoint.h"
#include "test/support/run_ranks.h"
#include "test/support/stress.h"
#include "test/support/thread_hosts.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"
#include "transport/sim/sim_transport.h"

namespace brigade {
namespace {

constexpr size_t kChunkBytes = 1024;

struct Setting {
  std::string name;
  bool shm = false;        // instead of inproc
  int hosts = 0;           // over which the ranks are distributed, over auto instead of inproc
  std::string machine;     // over sim, instead of threads
  int ranks_per_host = 1;  // of it
  InprocOptions transport;
  bool faults = false;
  // Calls are started, and one rank at a time calls again: all others leave the rest to their
  // progress threads.
  bool asleep = false;
  size_t staging_bytes = 64 * kChunkBytes;
};

std::vector<Setting> Settings() {
  std::vector<Setting> all;
  const auto add = [&](const char* name, bool peer, bool in_place, bool faults, int chunks) {
    Setting s;
    s.name = name;
    s.transport.lands_in_peer_memory = peer;
    s.transport.lands_in_place = in_place;
    s.faults = faults;
    s.staging_bytes = static_cast<size_t>(chunks) * kChunkBytes;
    all.push_back(s);
  };
  add("copy", false, true, false, 64);
  add("staged", false, false, false, 64);
  add("peer", true, false, false, 64);
  add("smallest_pool", false, false, false, 6);
  add("smallest_pool_peer", true, false, false, 6);
  add("faults", false, true, true, 16);
  add("faults_peer", true, false, true, 16);
  // Headers of longer messages go ahead, and their data land in place, in a chunk, or stay where
  // they are.
  for (const char* name : {"ahead", "ahead_staged", "ahead_peer"}) {
    add(name, std::strcmp(name, "ahead_peer") == 0, std::strcmp(name, "ahead") == 0, true, 32);
    all.back().transport.eager_segment_bytes = 200;
  }
  for (const char* name : {"asleep", "asleep_peer", "asleep_faults"}) {
    const bool faults = std::strcmp(name, "asleep_faults") == 0;
    add(name, std::strcmp(name, "asleep_peer") == 0, faults, faults, 64);
    all.back().asleep = all.back().transport.allows_progress_thread = true;
  }
  const auto add_shm = [&](const char* name, bool faults, int chunks) {
    add(name, false, false, faults, chunks);
    all.back().shm = true;
  };
  add_shm("shm", false, 64);
  add_shm("smallest_pool_shm", false, 6);
  add_shm("faults_shm", true, 16);
  const auto add_hosts = [&](const char* name, int hosts, bool faults, int chunks) {
    add(name, false, chunks > 16, faults, chunks);
    all.back().hosts = hosts;
    all.back().transport.eager_segment_bytes = 200;
  };
  add_hosts("two_hosts", 2, false, 64);
  add_hosts("smallest_pool_two_hosts", 2, false, 6);
  add_hosts("faults_three_hosts", 3, true, 16);
  const auto add_sim = [&](const char* name, const char* machine, int ranks_per_host, bool faults,
                           int chunks) {
    add(name, false, false, faults, chunks);
    all.back().machine = machine;
    all.back().ranks_per_host = ranks_per_host;
  };
  add_sim("sim", "ap3000", 1, false, 64);
  // A chunk more than elsewhere: overflow drains through it.
  add_sim("smallest_pool_sim", "ap3000", 1, false, 7);
  add_sim("faults_sim", "ap3000", 1, true, 16);
  add_sim("cluster_sim", "shaped_cluster", 1, false, 64);
  add_sim("fat_nodes_sim", "fat_nodes_100g", 3, false, 64);
  return all;
}

std::vector<Topology> TopologiesOf(const CatalogueEntry& entry, bool by_host) {
  std::vector<Topology> all = entry.topologies;
  if (all.empty()) return {Topology()};
  if (by_host && IsRootedBlocks(entry.pattern)) {
    all.push_back({Shape::kTree, 2, true});
    all.push_back({Shape::kTree, kFlatBranches, true});
  } else if (by_host && !KeepsToRanks(entry.pattern)) {
    for (const Topology& topology :
         {Topology{Shape::kTree, 2, true}, Topology{Shape::kIncreasingRings, 1, true},
          Topology{Shape::kSplitRing, 0, true}}) {
      all.push_back(topology);
    }
    if (entry.pattern == Pattern::kAllReduce)
      all.push_back({Shape::kReduceScatterAllgather, 0, true});
  }
  return all;
}

// A column-major matrix of doubles with a gap between columns, surrounded by canaries.
class Guarded {
 public:
  Guarded(int64_t rows, int64_t cols, int64_t ld) : memory_(kGuard + ld * cols + kGuard, kCanary) {
    EXPECT_TRUE(StridedLayout::General(rows, cols, ld, sizeof(double), &layout_).ok());
  }
  Matrix matrix() { return {reinterpret_cast<std::byte*>(&memory_[kGuard]), layout_}; }
  double& at(int64_t k) {  // in packed order
    return memory_[kGuard + k / layout_.rows() * layout_.ld() + k % layout_.rows()];
  }
  int64_t elems() const { return layout_.rows() * layout_.cols(); }
  bool GapsIntact() {
    int64_t canaries = 0;
    for (double d : memory_) canaries += d == kCanary;
    return canaries >= static_cast<int64_t>(memory_.size()) - elems();
  }

 private:
  static constexpr int64_t kGuard = 5;
  static constexpr double kCanary = -77777;
  std::vector<double> memory_;
  StridedLayout layout_;
};

double Datum(int rank, int block, int64_t k) {
  return rank * 1000 + block * 100000 + static_cast<double>(k % 977);
}

// Counters that the ranks of a job share.
struct Job {
  std::atomic<int> finished{0};  // ranks
  std::atomic<int> woken{0};     // calls of ranks that were asleep
};

// The endpoint and the bootstrap of a rank.
struct Home {
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Bootstrap> bootstrap;
};

Home HomeIn(InprocWorld* world, int rank, const Setting& setting) {
  Home home;
  if (setting.hosts > 0) {
    home.endpoint = AutoEndpointOn(rank % setting.hosts, world, rank);
  } else if (setting.shm) {
    const Status status = CreateShmEndpoint(&home.endpoint);
    if (!status.ok()) throw std::runtime_error(status.ToString());
  } else {
    home.endpoint = world->CreateEndpoint(rank);
  }
  home.bootstrap = world->MakeBootstrap(rank);
  return home;
}

Home HomeIn(SimWorld* world, int rank) {
  return {world->CreateEndpoint(rank), world->MakeBootstrap(rank)};
}

// One rank: everything the catalogue can do over one group.
class Rank {
 public:
  Rank(Home home, Job* job, int rank, const Setting& setting, uint64_t seed)
      : job_(job),
        random_(seed * 1000003 + rank),
        has_thread_(setting.machine.empty()),
        jitter_(setting.faults && has_thread_),
        asleep_(setting.asleep),
        by_host_(setting.hosts > 0 || setting.ranks_per_host > 1),
        endpoint_(std::move(home.endpoint)) {
    if (setting.faults) {
      FaultOptions faults;
      faults.seed = seed + rank;
      faults.no_resource = 0.2;
      faults.max_delay = 5;
      endpoint_ = MakeCheckedEndpoint(MakeFaultEndpoint(std::move(endpoint_), faults));
    }
    EngineOptions options;
    options.chunk_bytes = kChunkBytes;
    options.staging_bytes = setting.staging_bytes;
    Require(Engine::Create(endpoint_.get(), options, &engine_));
    size_ = home.bootstrap->size();
    rank_ = rank;
    Require(Group::Create(engine_.get(), home.bootstrap.get(), 1, size_, &group_));
  }

  void RunAll(const std::vector<int64_t>& columns) {
    for (const CatalogueEntry& entry : Catalogue()) {
      for (const Topology& topology : TopologiesOf(entry, by_host_)) {
        for (const int64_t cols : columns) {
          // Two of the roots; the checker has proved them all.
          for (int root : {0, size_ - 1}) {
            if (!entry.rooted && root != 0) continue;
            if (jitter_ && random_() % 4 == 0) {
              std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
            }
            RunOne(entry, topology, root, cols, CombineOp::kSum);
            // Where the order is free, a ring by host does go by host.
            if (by_host_ && entry.multi && entry.combines) {
              RunOne(entry, topology, root, cols, CombineOp::kAbsMax);
            }
            if (root == size_ - 1) break;
          }
        }
      }
    }
    Require(engine_->Drain());
    // No rank leaves while the last sends of others are still completing.
    for (++job_->finished; job_->finished < size_; Yield()) {
      (void)engine_->Progress();
    }
  }

 private:
  void Require(const Status& status) { Expect(status.ok(), status.ToString()); }
  // The other ranks are notified.
  void Expect(bool condition, const std::string& what) {
    if (condition) return;
    std::fprintf(stderr, "rank %d: %s\n", rank_, what.c_str());
    if (group_ != nullptr) group_->Abort(what);
    ++job_->finished;
    throw std::runtime_error("rank " + std::to_string(rank_) + ": " + what);
  }

  // Runs the call, or starts it and waits for it.
  void RunOrStart(const PatternCall& call, const std::string& what,
                  OperationStatistics* statistics) {
    if (asleep_ || random_() % 3 == 0) {
      std::unique_ptr<Operation> operation;
      const Status started = group_->Start(call, &operation);
      if (started.ok()) {
        if (asleep_) {
          AwaitTurn();
        } else {
          while (!operation->Test()) Yield();
        }
        Require(operation->Wait(statistics).WithContext(what));
      } else {
        Expect(started.code() == StatusCode::kNoResource ||
                   started.code() == StatusCode::kOutOfMemory,  // never, with the smallest pool
               started.ToString());
        Require(group_->Run(call, statistics).WithContext(what));
      }
      if (asleep_) {
        ++operations_;
        ++job_->woken;
      }
    } else {
      Require(group_->Run(call, statistics).WithContext(what));
    }
  }

  // Checks the matrix of a call with root, or source, `root`.
  void ExpectMatrix(const PatternCall& call, int root, Guarded* own, const std::string& what) {
    for (int64_t k = 0; k < own->elems(); ++k) {
      double expected = Datum(rank_, 0, k);
      switch (call.pattern) {
        case Pattern::kReceive:
          expected = Datum(call.root, 0, k);
          break;
        case Pattern::kBroadcast:
          expected = Datum(root, 0, k);
          break;
        case Pattern::kReduce:
        case Pattern::kAllReduce:
          if (call.pattern == Pattern::kReduce && rank_ != root) break;
          expected = 0;
          for (int r = 0; r < size_; ++r) expected += Datum(r, 0, k);
          break;
        case Pattern::kScan:
        case Pattern::kExscan: {
          const int end = call.pattern == Pattern::kScan ? rank_ + 1 : rank_;
          if (end == 0) break;
          expected = 0;
          for (int r = 0; r < end; ++r) expected += Datum(r, 0, k);
          break;
        }
        default:
          break;
      }
      if (own->at(k) == expected) continue;
      Expect(false, what + ": element " + std::to_string(k) + " is " + std::to_string(own->at(k)) +
                        ", not " + std::to_string(expected));
    }
  }

  // Returns an element of a block before the call, or as it must be `after` it.
  double DatumOf(const PatternCall& call, int block, bool after, int64_t k) const {
    switch (call.pattern) {
      case Pattern::kMultiBroadcast:
        return after || block == rank_ ? Datum(block, block, k) : -1;
      case Pattern::kGather:
        return block == rank_ || (after && rank_ == call.root) ? Datum(block, block, k) : -1;
      case Pattern::kScatter:
        return rank_ == call.root || (after && block == rank_) ? Datum(call.root, block, k) : -1;
      case Pattern::kAllToAll:
        return after ? Datum(block, rank_, k) : -1;
      default:
        return Datum(rank_, block, k);
    }
  }
  // Returns the columns of a block of an all-to-all. Unless all are equal, some blocks of short
  // messages are empty.
  static int64_t ColumnsOfBlock(const PatternCall& call, int64_t cols, int from, int to) {
    if (cols == 0 || call.equal_blocks) return cols;
    return std::max<int64_t>(0, cols + (from + 2 * to) % 5 - 2);
  }

  std::string Describe(const CatalogueEntry& entry, const Topology& topology, int root,
                       int64_t cols) const {
    return std::string(entry.name) + " shape " + std::to_string(static_cast<int>(topology.shape)) +
           "/" + std::to_string(topology.parameter) + (topology.by_host ? " by host" : "") +
           " size " + std::to_string(size_) + " root " + std::to_string(root) + " columns " +
           std::to_string(cols);
  }

  void RunOne(const CatalogueEntry& entry, const Topology& topology, int root, int64_t cols,
              CombineOp op) {
    const std::string what = Describe(entry, topology, root, cols);
    const int64_t rows = 7;
    const int64_t ld = rank_ % 2 == 0 ? rows : rows + 3;  // shapes may differ between ranks
    PatternCall call;
    call.pattern = entry.pattern;
    call.topology = topology;
    call.root = root;
    call.op = op;
    call.equal_blocks = topology.shape == Shape::kCirculant;
    Guarded own(rows, cols, ld);
    for (int64_t k = 0; k < own.elems(); ++k) own.at(k) = Datum(rank_, 0, k);
    call.matrix = own.matrix();
    std::vector<Guarded> blocks;
    std::vector<Matrix> block_matrices;
    const bool to_all = entry.pattern == Pattern::kAllToAll;
    for (int q = 0; entry.multi && q < size_; ++q) {
      const int64_t of_block = cols == 0 ? 0 : cols + q % 3 - 1;
      blocks.emplace_back(rows, to_all ? ColumnsOfBlock(call, cols, q, rank_) : of_block, ld);
      for (int64_t k = 0; k < blocks[q].elems(); ++k) {
        blocks[q].at(k) = DatumOf(call, q, /*after=*/false, k);
      }
    }
    for (Guarded& p : blocks) block_matrices.push_back(p.matrix());
    for (int q = 0; IsRootedBlocks(entry.pattern) && rank_ != root && q < size_; ++q) {
      if (q != rank_) block_matrices[q].data = nullptr;
    }
    call.blocks = block_matrices.data();
    std::vector<Guarded> sent;
    std::vector<Matrix> sent_matrices;
    for (int q = 0; to_all && q < size_; ++q) {
      sent.emplace_back(rows, ColumnsOfBlock(call, cols, rank_, q), rows + q % 2);
      for (int64_t k = 0; k < sent[q].elems(); ++k) sent[q].at(k) = Datum(rank_, q, k);
    }
    for (Guarded& s : sent) sent_matrices.push_back(s.matrix());
    call.sent = sent_matrices.data();
    Guarded result(rows, entry.multi ? block_matrices[rank_].layout.cols() : 0, rows);
    if (entry.pattern == Pattern::kMultiReduce) call.matrix = result.matrix();
    if (entry.pattern == Pattern::kBarrier) call.matrix = Matrix();

    OperationStatistics statistics;
    if (entry.pattern == Pattern::kReceive) return;  // runs with kSend
    if (entry.pattern == Pattern::kSend) {
      // Everybody sends to the next rank, then receives from the previous: returns without the
      // receiver.
      call.root = (rank_ + 1) % size_;
      Require(group_->Run(call, &statistics).WithContext(what));
      for (int64_t k = 0; k < own.elems(); ++k) own.at(k) = -2;  // the sender may scribble at once
      Expect(statistics.copies == statistics.segments, what + ": copies of the sender");
      call.pattern = Pattern::kReceive;
      call.root = (rank_ + size_ - 1) % size_;
    }
    RunOrStart(call, what, &statistics);

    Expect(own.GapsIntact(), what + ": wrote outside the matrix");
    ExpectMatrix(call, root, &own, what);
    for (int q = 0; entry.multi && q < size_; ++q) {
      Expect(blocks[q].GapsIntact(), what + ": wrote outside a block");
      for (int64_t k = 0; k < blocks[q].elems(); ++k) {
        if (blocks[q].at(k) == DatumOf(call, q, /*after=*/true, k)) continue;
        Expect(false, what + ": block " + std::to_string(q));
      }
    }
    if (entry.pattern == Pattern::kMultiReduce) {
      for (int64_t k = 0; k < result.elems(); ++k) {
        double expected = 0;
        for (int r = 0; r < size_; ++r) {
          const double theirs = Datum(r, rank_, k);
          expected = op == CombineOp::kSum ? expected + theirs : std::max(expected, theirs);
        }
        if (result.at(k) == expected) continue;
        Expect(false, what + ": result element " + std::to_string(k));
      }
    }
    // At most one copy per side and segment.
    if (entry.pattern == Pattern::kBroadcast) {
      Expect(statistics.copies <= statistics.segments, what + ": more than one copy per segment");
    }
  }

  // In virtual time ranks share a thread, and progress alone lets others run.
  void Yield() const {
    if (has_thread_) std::this_thread::yield();
  }

  // Sleeps until all ranks before this one have waited for the operation; another is first each
  // time.
  void AwaitTurn() {
    const int turn = operations_ * size_ + (rank_ + operations_) % size_;
    while (job_->woken < turn && job_->finished == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  Job* const job_;
  std::mt19937_64 random_;
  const bool has_thread_;  // of its own
  const bool jitter_;
  const bool asleep_;
  int operations_ = 0;  // over, of a rank that sleeps
  const bool by_host_;
  int size_ = 0;
  int rank_ = 0;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Group> group_;
};

class PatternsOnThreads : public testing::TestWithParam<Setting> {};

// Of ranks. Large groups take long and run the same code; that every schedule of theirs is right is
// proved. Under sanitizers they would take minutes (.bazelrc).
std::vector<int> GroupSizes() {
  const char* const text = std::getenv("BRIGADE_TEST_LARGEST_GROUP");
  std::vector<int> sizes(text == nullptr ? StressRounds(9, 24) : std::stoi(text));
  std::iota(sizes.begin(), sizes.end(), 1);
  // One that no tree of the catalogue is flat in.
  if (text == nullptr && !FullStress()) sizes.push_back(17);
  return sizes;
}

TEST_P(PatternsOnThreads, EveryEntryEverySize) {
  const Setting& setting = GetParam();
  for (const int size : GroupSizes()) {
    SCOPED_TRACE(size);
    Job job;
    const auto run = [&](Home home, int rank) {
      Rank(std::move(home), &job, rank, setting, StressSeed() + 41 + size)
          .RunAll({0, 1, 10, 40, 300});
    };
    if (setting.machine.empty()) {
      RunRanks(size, setting.transport,
               [&](InprocWorld& world, int rank) { run(HomeIn(&world, rank, setting), rank); });
      continue;
    }
    MachineDescription machine;
    const Status read =
        MachineDescription::Read("transport/machines/" + setting.machine + ".json", &machine);
    ASSERT_TRUE(read.ok()) << read.ToString();
    machine.ranks_per_host = setting.ranks_per_host;
    SimWorld world(machine, size);
    const Status ran = world.Run([&](int rank) { run(HomeIn(&world, rank), rank); });
    ASSERT_TRUE(ran.ok()) << ran.ToString();
  }
}

INSTANTIATE_TEST_SUITE_P(Settings, PatternsOnThreads, testing::ValuesIn(Settings()),
                         [](const testing::TestParamInfo<Setting>& i) { return i.param.name; });

}  // namespace
}  // namespace brigade

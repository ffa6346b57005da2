// Schedules do not change by accident. Some are stored in full, for readers; a wide sweep has a
// digest for each pattern, topology and number of ranks. The proof that schedules are right is
// elsewhere (patterns/check).

#include <sodium.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/check/read_check.h"
#include "patterns/check/schedule_check.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/topology.h"

namespace brigade {
namespace {

constexpr char kWrite[] = "bazel run //test/patterns:golden_schedules_test -- --write";

// Titles, each with its text.
using Golden = std::vector<std::pair<std::string, std::string>>;

// Properties beside pattern, topology and numbers of ranks on which a schedule may depend.
struct Surroundings {
  bool by_host = false;
  bool memory_is_shared = false;  // within a host
  bool in_rank_order = false;
};

CheckCase CaseOf(Pattern pattern, const Topology& topology, int size, const Surroundings& around,
                 int ranks_per_host) {
  CheckCase c;
  c.pattern = pattern;
  c.topology = topology;
  c.size = size;
  c.by_host = around.by_host;
  c.in_rank_order = around.in_rank_order;
  c.shares_memory = around.memory_is_shared && !around.by_host;
  c.some_share_memory = around.memory_is_shared && around.by_host;
  for (int r = 0; around.by_host && r < size; ++r) c.hosts.push_back(r / ranks_per_host);
  return c;
}

std::string TitleOf(const CheckCase& c) {
  std::string title = EntryOf(c.pattern).name;
  if (!EntryOf(c.pattern).topologies.empty()) title += ", " + TopologyName(c.topology);
  return title + ", " + std::to_string(c.size) + (c.size == 1 ? " rank" : " ranks");
}

// --- in full ---

struct InFull {
  Pattern pattern;
  Topology topology;
  int size;
  Surroundings around;
  int root = 0;
};

constexpr Topology kTree{Shape::kTree, 2};
constexpr Topology kRing{Shape::kIncreasingRings, 1};
constexpr Topology kTwoTree{Shape::kTwoTree, 0};
constexpr Topology kCirculant{Shape::kCirculant, 0};
constexpr Topology kReduceScatterAllgather{Shape::kReduceScatterAllgather, 0};
constexpr Surroundings kHosts{true, false};
constexpr Surroundings kSharedMemory{false, true};
constexpr Surroundings kHostsWithSharedMemory{true, true};
constexpr Surroundings kRankOrder{false, false, true};
constexpr Surroundings kRankOrderInSharedMemory{false, true, true};

const InFull kKeptInFull[] = {
    {Pattern::kSend, Topology(), 2, {}},
    {Pattern::kBroadcast, kTree, 4, {}},
    {Pattern::kBroadcast, kTree, 6, kHosts},
    {Pattern::kBroadcast, kRing, 3, {}},
    {Pattern::kBroadcast, {Shape::kDecreasingRings, 2}, 5, {}},
    {Pattern::kBroadcast, {Shape::kSplitRing, 0}, 4, {}},
    {Pattern::kBroadcast, kTwoTree, 4, {}},
    {Pattern::kBroadcast, kCirculant, 4, {}},
    {Pattern::kReduce, kTree, 4, {}},
    {Pattern::kReduce, kRing, 3, {}},
    {Pattern::kReduce, kTwoTree, 4, {}},
    {Pattern::kReduce, kCirculant, 4, {}},
    {Pattern::kAllReduce, kTree, 4, {}},
    {Pattern::kAllReduce, {Shape::kHypercube, 0}, 3, {}},
    {Pattern::kAllReduce, kReduceScatterAllgather, 3, {}},
    {Pattern::kAllReduce, kReduceScatterAllgather, 3, kSharedMemory},
    {Pattern::kAllReduce, {Shape::kExchange, 8}, 4, kSharedMemory},
    {Pattern::kReduce, {Shape::kExchange, 2}, 4, kSharedMemory},
    {Pattern::kMultiBroadcast, kRing, 3, {}},
    {Pattern::kMultiBroadcast, kRing, 3, kSharedMemory},
    {Pattern::kMultiBroadcast, kRing, 4, kHostsWithSharedMemory},
    {Pattern::kMultiBroadcast, kCirculant, 3, {}},
    {Pattern::kMultiReduce, kRing, 3, {}},
    {Pattern::kMultiReduce, kCirculant, 3, {}},
    {Pattern::kMultiReduce, kCirculant, 4, kSharedMemory},
    {Pattern::kBarrier, Topology(), 4, {}},
    {Pattern::kBarrier, Topology(), 4, kSharedMemory},
    {Pattern::kReduce, kTree, 4, kRankOrder, 2},
    {Pattern::kReduce, {Shape::kExchange, 8}, 3, kRankOrderInSharedMemory, 1},
    {Pattern::kMultiReduce, kRing, 3, kRankOrder},
    {Pattern::kGather, kTree, 4, {}},
    {Pattern::kGather, {Shape::kTree, kFlatBranches}, 3, {}},
    {Pattern::kGather, kRing, 4, {}, 1},
    {Pattern::kGather, {Shape::kTree, kFlatBranches}, 4, kHosts, 1},
    {Pattern::kScatter, kTree, 4, {}},
    {Pattern::kScatter, {Shape::kTree, kFlatBranches}, 3, {}},
    {Pattern::kScatter, kRing, 4, {}, 1},
    {Pattern::kScatter, {Shape::kTree, kFlatBranches}, 4, kHosts, 1},
    {Pattern::kAllToAll, kRing, 3, {}},
    {Pattern::kAllToAll, kCirculant, 4, {}},
    {Pattern::kScan, kRing, 3, {}},
    {Pattern::kScan, {Shape::kHypercube, 0}, 4, {}},
    {Pattern::kExscan, kRing, 3, {}},
    {Pattern::kExscan, {Shape::kHypercube, 0}, 4, {}},
};

Golden SchedulesInFull() {
  Golden golden;
  for (const InFull& kept : kKeptInFull) {
    CheckCase c = CaseOf(kept.pattern, kept.topology, kept.size, kept.around, kept.size / 2);
    c.root = kept.root;
    std::string title = TitleOf(c);
    if (c.by_host) title += ", half of them on each host";
    if (kept.around.memory_is_shared) title += ", over shared memory";
    if (c.in_rank_order) title += ", in the order of ranks";
    if (c.in_rank_order || c.root > 0) title += ", root " + std::to_string(c.root);
    std::string text;
    int rank = 0;
    for (const Schedule& schedule : CompileAll(c)) {
      text += "rank " + std::to_string(rank++) + "\n" + schedule.ToString();
    }
    golden.emplace_back(title, text);
  }
  for (const CatalogueEntry& entry : Catalogue()) {
    if (entry.compile_reads == nullptr) continue;
    CheckCase c;
    c.pattern = entry.pattern;
    c.size = 3;
    std::string text;
    int rank = 0;
    for (const ReadSchedule& schedule : CompileAllReads(c)) {
      text += "rank " + std::to_string(rank++) + "\n" + schedule.ToString();
    }
    golden.emplace_back(std::string(entry.name) + ", 3 ranks, zero-copy reads", text);
  }
  return golden;
}

// --- digests ---

// Equal on every machine and library: BLAKE2b.
class Digest {
 public:
  Digest() { crypto_generichash_init(&state_, nullptr, 0, kBytes); }
  void Add(const std::string& text) {
    crypto_generichash_update(&state_, reinterpret_cast<const unsigned char*>(text.data()),
                              text.size());
  }
  std::string Text() {
    unsigned char digest[kBytes];
    crypto_generichash_final(&state_, digest, kBytes);
    char hex[2 * kBytes + 1];
    return sodium_bin2hex(hex, sizeof(hex), digest, kBytes);
  }

 private:
  static constexpr size_t kBytes = crypto_generichash_BYTES_MIN;
  crypto_generichash_state state_;
};

// Of all roots, surroundings and directions.
std::string DigestOf(Pattern pattern, const Topology& topology, int size,
                     const std::vector<Surroundings>& all_around = {
                         Surroundings(), kSharedMemory, kHosts, kHostsWithSharedMemory}) {
  Digest digest;
  for (const int root : {0, size / 2, size - 1}) {
    for (const Surroundings& around : all_around) {
      for (const bool decreasing : {false, true}) {
        CheckCase c = CaseOf(pattern, topology, size, around, 3);
        c.root = root;
        c.decreasing = decreasing;
        for (const Schedule& schedule : CompileAll(c)) digest.Add(schedule.ToString() + "--\n");
      }
    }
  }
  return digest.Text();
}

Golden DigestsOfAll() {
  Golden golden;
  for (const CatalogueEntry& entry : Catalogue()) {
    const bool pair = IsPair(entry.pattern);
    std::vector<Topology> topologies = entry.topologies;
    if (topologies.empty()) topologies.emplace_back();
    if (CheckTopology(entry.pattern, kWithinHost).ok() && !entry.topologies.empty()) {
      topologies.push_back(kWithinHost);  // the wide tree, which is often the library's choice
    }
    for (const Topology& topology : topologies) {
      for (int size = pair ? 2 : 1; size <= (pair ? 2 : 17); ++size) {
        const std::string title = TitleOf(CaseOf(entry.pattern, topology, size, {}, 1));
        golden.emplace_back(title, DigestOf(entry.pattern, topology, size));
      }
      // Scans are always in this order.
      if (!entry.combines || IsScan(entry.pattern)) continue;
      if (!(InRankOrder(entry.pattern, topology, 1) == topology)) continue;
      for (int size = 2; size <= 17; ++size) {
        const std::string title = TitleOf(CaseOf(entry.pattern, topology, size, {}, 1));
        golden.emplace_back(
            title + ", in the order of ranks",
            DigestOf(entry.pattern, topology, size, {kRankOrder, kRankOrderInSharedMemory}));
      }
    }
  }
  return golden;
}

// --- files ---

struct GoldenFile {
  const char* path;
  const char* head;
  Golden (*make)();
  // Before a title, and between it and what is kept under it.
  const char* before;
  const char* between;
};

constexpr GoldenFile kInFull{
    "test/patterns/golden_schedules.txt",
    "Schedules of small groups in full. How to read one: docs/design/patterns.md\n",
    SchedulesInFull, "\n== ", "\n"};
constexpr GoldenFile kDigests{"test/patterns/golden_digests.txt",
                              "Digests of the schedules of all ranks, for several roots, hosts and "
                              "kinds of memory each\n",
                              DigestsOfAll, "\n", ": "};

std::string BlockOf(const GoldenFile& file, const Golden::value_type& one) {
  return file.before + one.first + file.between + one.second;
}

std::string TextOf(const GoldenFile& file) {
  std::string text = file.head + std::string("Written by: ") + kWrite + "\n";
  for (const auto& one : file.make()) text += BlockOf(file, one);
  return text + "\n";
}

void ExpectAsKept(const GoldenFile& file) {
  std::ostringstream kept;
  kept << std::ifstream(file.path).rdbuf();
  if (kept.str() == TextOf(file)) return;
  std::string changed;
  for (const auto& one : file.make()) {
    if (kept.str().find(BlockOf(file, one) + "\n") == std::string::npos)
      changed += one.first + "\n";
  }
  ADD_FAILURE() << file.path << ": schedules are others, or were added or left out"
                << (changed.empty() ? "" : ":\n" + changed) << "If that is meant: " << kWrite;
}

TEST(GoldenSchedules, InFull) { ExpectAsKept(kInFull); }

TEST(GoldenSchedules, Digests) { ExpectAsKept(kDigests); }

// To the source tree.
int Write() {
  const char* const root = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  for (const GoldenFile& file : {kInFull, kDigests}) {
    std::ofstream out(std::string(root == nullptr ? "." : root) + "/" + file.path);
    out << TextOf(file);
    if (!out.flush()) {
      std::cerr << "cannot write " << file.path << "; run it by: " << kWrite << "\n";
      return 1;
    }
  }
  return 0;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (sodium_init() < 0) return 1;
  if (argc == 2 && std::string(argv[1]) == "--write") return brigade::Write();
  return RUN_ALL_TESTS();
}

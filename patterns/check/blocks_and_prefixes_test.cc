// The message, copy and combine counts of gather, scatter, all-to-all and scans, and blocks of any
// lengths.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/check/schedule_check.h"
#include "patterns/rules.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/schedule.h"

namespace brigade {
namespace {

constexpr Topology kRing{Shape::kIncreasingRings, 1};
constexpr Topology kCirculant{Shape::kCirculant, 0};

// How many lengths a case has: of the matrix, or of all blocks.
size_t LengthsOf(const CheckCase& c) {
  const auto size = static_cast<size_t>(c.size);
  if (c.pattern == Pattern::kAllToAll) return size * size;
  return IsRootedBlocks(c.pattern) ? size : 1;
}

std::vector<CheckCounts> CountsOf(Pattern pattern, const Topology& topology, int size, int root,
                                  int segments) {
  CheckCase c;
  c.pattern = pattern;
  c.topology = topology;
  c.size = size;
  c.root = root;
  c.segments.assign(LengthsOf(c), segments);
  std::vector<CheckCounts> counts;
  const Status status = CheckSchedules(c, CompileAll(c), &counts);
  EXPECT_TRUE(status.ok()) << status.ToString();
  counts.resize(static_cast<size_t>(size));
  for (const CheckCounts& rank : counts) EXPECT_LE(rank.peak_slots, rank.least_slots);
  return counts;
}

// Returns the chunks for as many directions, two for each.
int Chunks(int directions) { return directions * kMinSlots; }

// A block is copied at its owner, at the root and at each relay. The root sends or receives a
// message for each of its children. Relays have chunks for both directions.
TEST(Counts, OfGatherAndScatter) {
  const int n = 3;
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter}) {
    for (int size = 2; size <= 17; ++size) {
      for (const int branches : {2, 3, kFlatBranches}) {
        const int root = size / 3;
        const std::vector<CheckCounts> counts =
            CountsOf(pattern, {Shape::kTree, branches}, size, root, n);
        int64_t copies = 0;
        int64_t messages = 0;
        for (const CheckCounts& rank : counts) {
          copies += rank.copies;
          messages += rank.messages;
        }
        int64_t hops = 0;
        for (int relative = 1; relative < size; ++relative) {
          for (int digits = relative; digits > 0; digits /= branches) {
            hops += digits % branches > 0;
          }
        }
        EXPECT_EQ(messages, (size - 1) * n);
        EXPECT_EQ(copies, (size - 1 + hops) * n) << size << " ranks, " << branches << " branches";
        const auto children_of = [&](int relative) {
          const TreeNode node = TreeNodeOf({Shape::kTree, branches}, size, relative);
          return static_cast<int64_t>(node.children.size());
        };
        for (int relative = 0; relative < size; ++relative) {
          EXPECT_EQ(counts[static_cast<size_t>((root + relative) % size)].least_slots,
                    Chunks((relative > 0) + (children_of(relative) > 0)));
        }
        const CheckCounts& at_root = counts[static_cast<size_t>(root)];
        EXPECT_EQ(at_root.copies, (size - 1) * n);
        EXPECT_EQ(at_root.messages, pattern == Pattern::kScatter ? children_of(0) * n : 0);
      }
    }
  }
}

// Along a ring a block is copied at its owner and at the root, and passes one rank after the other.
// A scatter forwards a block from the chunk into which it was received.
TEST(Counts, OfGatherAndScatterAlongARing) {
  const int n = 3;
  for (int size = 2; size <= 17; ++size) {
    const int root = size / 3;
    const std::vector<CheckCounts> gather = CountsOf(Pattern::kGather, kRing, size, root, n);
    const std::vector<CheckCounts> scatter = CountsOf(Pattern::kScatter, kRing, size, root, n);
    for (int distance = 0; distance < size; ++distance) {
      const auto rank = static_cast<size_t>((root + distance) % size);
      EXPECT_EQ(gather[rank].messages, distance == 0 ? 0 : (size - distance) * n);
      EXPECT_EQ(scatter[rank].messages, (size - 1 - distance) * n);
      EXPECT_EQ(gather[rank].least_slots, Chunks((distance > 0) + (distance < size - 1)));
      EXPECT_EQ(scatter[rank].least_slots, Chunks(1));
      for (const CheckCounts& counts : {gather[rank], scatter[rank]}) {
        EXPECT_EQ(counts.copies, (distance == 0 ? size - 1 : 1) * n);
      }
    }
  }
}

// By host, each other host has one message to or from the root. A block of its first rank is copied
// there once, all others twice.
TEST(Counts, OfGatherAndScatterByHost) {
  const int n = 3;
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter}) {
    for (const int hosts : {2, 3, 5}) {
      for (const bool cyclic : {false, true}) {
        CheckCase c;
        c.pattern = pattern;
        c.topology = {Shape::kTree, kFlatBranches};
        c.size = 4 * hosts;
        c.root = 6;
        for (int r = 0; r < c.size; ++r) c.hosts.push_back(cyclic ? r % hosts : r / 4);
        c.by_host = true;
        c.segments.assign(LengthsOf(c), n);
        std::vector<CheckCounts> counts;
        const Status status = CheckSchedules(c, CompileAll(c), &counts);
        ASSERT_TRUE(status.ok()) << status.ToString();
        int64_t copies = 0;
        int64_t messages = 0;
        int64_t crossings = 0;
        for (const CheckCounts& rank : counts) {
          copies += rank.copies;
          messages += rank.messages;
          crossings += rank.crossings;
        }
        EXPECT_EQ(messages, (c.size - 1) * n);
        EXPECT_EQ(crossings, (hosts - 1) * n);
        EXPECT_EQ(copies, (2 * (c.size - 1) + 3 * (hosts - 1)) * n);
        EXPECT_EQ(counts[6].copies, (c.size - 1) * n);
      }
    }
  }
}

TEST(Counts, OfAllToAll) {
  const int n = 3;
  for (int size = 1; size <= 17; ++size) {
    for (const CheckCounts& rank : CountsOf(Pattern::kAllToAll, kRing, size, 0, n)) {
      EXPECT_EQ(rank.messages, (size - 1) * n);
      EXPECT_EQ(rank.copies, (2 * (size - 1) + 1) * n);
      EXPECT_EQ(rank.least_slots, Chunks(size > 1 ? 2 : 0));
    }
  }
}

// A block is copied in and out for each skip, of which the greatest is half of the ranks, the next
// one half of that, and so on, rounded up.
TEST(Counts, OfAllToAllAlongACirculantGraph) {
  const int n = 3;
  for (int size = 1; size <= 33; ++size) {
    int rounds = 0;
    while (1 << rounds < size) ++rounds;
    int hops = 0;
    for (int distance = 1; distance < size; ++distance) {
      int left = distance;
      for (int skip = (size + 1) / 2; left > 0; skip = (skip + 1) / 2) {
        if (left < skip) continue;
        left -= skip;
        ++hops;
      }
    }
    EXPECT_LE(2 * hops, size * std::log2(size) + 1e-9);
    if (1 << rounds == size) {
      EXPECT_EQ(2 * hops, size * rounds);
    }
    for (const CheckCounts& rank : CountsOf(Pattern::kAllToAll, kCirculant, size, 0, n)) {
      EXPECT_EQ(rank.messages, rounds * n);
      EXPECT_EQ(rank.copies, (2 * hops + 1) * n) << size << " ranks";
      EXPECT_EQ(rank.least_slots, Chunks(size > 1 ? 2 : 0));
    }
  }
}

TEST(Counts, OfScans) {
  const int n = 3;
  const auto powers = [](int end) {  // of two, below `end`
    int count = 0;
    for (int power = 1; power < end; power *= 2) ++count;
    return count;
  };
  for (int size = 2; size <= 33; ++size) {
    for (const Pattern pattern : {Pattern::kScan, Pattern::kExscan}) {
      const bool exclusive = pattern == Pattern::kExscan;
      const std::vector<CheckCounts> chain =
          CountsOf(pattern, {Shape::kIncreasingRings, 1}, size, 0, n);
      const std::vector<CheckCounts> doubling =
          CountsOf(pattern, {Shape::kHypercube, 0}, size, 0, n);
      for (int r = 0; r < size; ++r) {
        const bool last = r + 1 == size;
        const CheckCounts& in_chain = chain[static_cast<size_t>(r)];
        EXPECT_EQ(in_chain.messages, last ? 0 : n);
        EXPECT_EQ(in_chain.combines, r == 0 || (exclusive && last) ? 0 : n);
        EXPECT_EQ(in_chain.copies, last && !exclusive ? 0 : n);
        EXPECT_EQ(in_chain.least_slots, Chunks((r > 0) + !last));

        const CheckCounts& doubled = doubling[static_cast<size_t>(r)];
        int greatest = 1;
        while (2 * greatest <= r) greatest *= 2;
        const bool sends_result = r > 0 && r + 2 * greatest < size;
        EXPECT_EQ(doubled.messages, powers(size - r) * n);
        int sums_sent_on = 0;
        for (int d = 1; d <= r; d *= 2) sums_sent_on += r + 2 * d < size;
        const int to_result = powers(r + 1) - (r > 0 ? 1 : 0);
        EXPECT_EQ(doubled.combines, (exclusive ? sums_sent_on + to_result : powers(r + 1)) * n);
        const int out = exclusive ? r > 0 : sends_result;
        EXPECT_EQ(doubled.copies, ((last ? 0 : 1) + out) * n);
        const bool sends_sums = r > 0 && r + 2 < size;
        EXPECT_EQ(doubled.least_slots, Chunks((r > 0) + !last + sends_sums));
      }
    }
  }
}

// Each place of one rank, in user memory and in a message, is another one in turn.
TEST(Blocks, AWrongPlaceOnACirculantGraphIsFound) {
  CheckCase c;
  c.pattern = Pattern::kAllToAll;
  c.topology = kCirculant;
  c.size = 7;
  c.segments.assign(LengthsOf(c), 2);
  const std::vector<Schedule> right = CompileAll(c);
  ASSERT_TRUE(CheckSchedules(c, right, nullptr).ok());
  int changed = 0;
  for (size_t i = 0; i < right[2].lanes[0].work.size(); ++i) {
    if (right[2].lanes[0].work[i].opcode != Opcode::kCopy) continue;
    for (const bool in_message : {false, true}) {
      std::vector<Schedule> wrong = right;
      Step& step = wrong[2].lanes[0].work[i];
      const bool is_own = !step.dst.in_stream() && !step.left.in_stream();
      if (in_message && is_own) continue;
      int32_t* const place = in_message             ? &step.block
                             : step.dst.in_stream() ? &step.left.index
                                                    : &step.dst.index;
      const std::vector<BlockRun>& runs = right[2].runs;
      const BlockRun& was = runs[static_cast<size_t>(*place)];
      *place = (*place + 1) % c.size;
      if (runs[static_cast<size_t>(*place)] == was) continue;
      EXPECT_FALSE(CheckSchedules(c, wrong, nullptr).ok()) << "step " << i;
      ++changed;
    }
  }
  EXPECT_GT(changed, 30);
}

// Blocks of any lengths, of which many are empty, at any root; on a circulant graph of any one
// length.
TEST(Blocks, OfAnyLengths) {
  std::mt19937 random(17);
  for (const Pattern pattern : {Pattern::kGather, Pattern::kScatter, Pattern::kAllToAll}) {
    for (int size = 1; size <= 20; ++size) {
      for (const Topology& topology : EntryOf(pattern).topologies) {
        for (int draw = 0; draw < 20; ++draw) {
          CheckCase c;
          c.pattern = pattern;
          c.topology = topology;
          c.size = size;
          c.root = pattern == Pattern::kAllToAll
                       ? 0
                       : static_cast<int>(random() % static_cast<unsigned>(size));
          const std::vector<Schedule> schedules = CompileAll(c);
          for (size_t q = 0; q < LengthsOf(c); ++q) {
            c.segments.push_back(std::max(0, static_cast<int>(random() % 7) - 2));
          }
          if (topology == kCirculant) c.segments.assign(c.segments.size(), c.segments[0]);
          c.slots = random() % 2 == 0 ? kMinSlots : rules::kWindowSlots;
          for (const bool in_peer_memory : {false, true}) {
            c.lands_in_peer_memory = in_peer_memory;
            for (int r = 0; draw % 2 == 0 && r < size; ++r) {
              c.hosts.push_back(static_cast<int>(random() & 1));
            }
            const Status status = CheckSchedules(c, schedules, nullptr);
            ASSERT_TRUE(status.ok()) << status.ToString();
            c.hosts.clear();
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace brigade

#include "patterns/check/schedule_check.h"

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/rules.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/segment_plan.h"
#include "test/support/stress.h"

namespace brigade {
namespace {

// The topologies of the catalogue, and the tree that the library may choose itself.
std::vector<Topology> TopologiesOf(const CatalogueEntry& entry) {
  if (entry.topologies.empty()) return {Topology()};
  std::vector<Topology> topologies = entry.topologies;
  if (CheckTopology(entry.pattern, kWithinHost).ok()) topologies.push_back(kWithinHost);
  return topologies;
}

// Blocks, or shares, of which a message of the case is made; 0: it is not.
int BlocksOf(const CheckCase& c, const std::vector<Schedule>& schedules) {
  if (c.pattern == Pattern::kAllToAll) return c.size * c.size;
  return EntryOf(c.pattern).multi ? c.size : schedules[0].shares.count;
}

std::vector<int> Equal(const CheckCase& c, const std::vector<Schedule>& schedules, int segments) {
  return std::vector<int>(std::max(BlocksOf(c, schedules), 1), segments);
}

// Segments of blocks of unequal length. Of multi patterns they may be empty; the shares of a matrix
// are equal but for one segment, and the last one is shorter where it has a way of its own.
std::vector<int> Unequal(const CheckCase& c, const std::vector<Schedule>& schedules, int segments) {
  const bool multi = EntryOf(c.pattern).multi;
  const int blocks = BlocksOf(c, schedules);
  if (blocks == 0) return {segments};
  if (c.pattern == Pattern::kAllToAll && c.topology.shape == Shape::kCirculant) {
    return Equal(c, schedules, segments);  // all that it is for
  }
  std::vector<int> all;
  for (int q = 0; q < blocks; ++q) {
    all.push_back(multi ? (segments + q) % (segments + 1) : segments + (q * q + q / 2) % 2);
  }
  const Shares::Cut cut = schedules[0].shares.cut;
  if (cut == Shares::kSegments || cut == Shares::kSegmentsBackwards) {
    all.back() = 1 + c.size % 3 * (segments / 2);
  }
  return all;
}

// Whether its blocks wait for relay, which is not for memory that ranks share.
bool Waits(const CheckCase& c) {
  return c.pattern == Pattern::kBroadcast && c.topology.shape == Shape::kCirculant;
}

// Whether it has no form that goes by host.
bool KeepsToRanks(const CheckCase& c) {
  return brigade::KeepsToRanks(c.pattern) || c.topology.shape == Shape::kHypercube ||
         c.topology.shape == Shape::kTwoTree ||
         (IsRootedBlocks(c.pattern) && c.topology.shape == Shape::kIncreasingRings) ||
         (c.topology.shape == Shape::kCirculant && !Waits(c));
}

bool SameSteps(const std::vector<Step>& a, const std::vector<Step>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Step& x, const Step& y) {
    return x.opcode == y.opcode && x.peer == y.peer && x.dst == y.dst && x.left == y.left &&
           x.right == y.right && x.lead == y.lead && x.block == y.block &&
           x.only_copied_out == y.only_copied_out && x.only_sent_to == y.only_sent_to &&
           x.receive == y.receive;
  });
}

bool SameSchedule(const Schedule& a, const Schedule& b) {
  const auto same_stream = [](const Stream& x, const Stream& y) {
    return x.role == y.role && x.least_slots == y.least_slots;
  };
  const auto same_lane = [](const Lane& x, const Lane& y) {
    return SameSteps(x.receives, y.receives) && SameSteps(x.work, y.work);
  };
  return std::equal(a.streams.begin(), a.streams.end(), b.streams.begin(), b.streams.end(),
                    same_stream) &&
         std::equal(a.lanes.begin(), a.lanes.end(), b.lanes.begin(), b.lanes.end(), same_lane) &&
         a.max_lead == b.max_lead && a.runs == b.runs && a.order == b.order &&
         a.shares.cut == b.shares.cut && a.shares.count == b.shares.count &&
         a.shares.row == b.shares.row;
}

// Whether every rank does what the rank `by` before it does in `others`, with ranks, and their
// blocks, `by` further.
bool AreTurned(const std::vector<Schedule>& schedules, const std::vector<Schedule>& others, int by,
               bool multi) {
  const auto size = static_cast<int>(schedules.size());
  const auto turn = [&](int32_t* rank) {
    if (*rank >= 0) *rank = (*rank + by) % size;
  };
  for (int r = 0; r < size; ++r) {
    Schedule other = others[static_cast<size_t>((r - by + size) % size)];
    for (Lane& lane : other.lanes) {
      for (std::vector<Step>* steps : {&lane.receives, &lane.work}) {
        for (Step& step : *steps) {
          turn(&step.peer);
          turn(&step.only_sent_to);
          if (!multi || !other.runs.empty()) continue;
          turn(&step.block);
          for (Place* place : {&step.dst, &step.left}) {
            if (place->kind == Place::kBlock) turn(&place->index);
          }
        }
      }
    }
    for (BlockRun& run : other.runs) turn(&run.first);
    if (!SameSchedule(schedules[static_cast<size_t>(r)], other)) return false;
  }
  return true;
}

// Whether groups of that size are proved in a short test run, too.
bool IsProvedAlways(int size) { return size <= 33 || size >= 63; }

// Every entry, topology, size, root, number of segments, number of slots and place of the receive
// buffers.
class CatalogueProof : public testing::TestWithParam<int> {
 protected:
  // Of one group, whose memory the case describes.
  void CheckGroup(CheckCase c, const std::vector<Schedule>& schedules) {
    const bool forwards = c.topology.shape == Shape::kReduceScatterAllgather || Waits(c);
    for (const int segments : {2, 1, 7}) {
      c.segments = Unequal(c, schedules, segments);
      for (c.slots = kMinSlots; c.slots <= rules::kWindowSlots; c.slots += 2) {
        for (const bool in_peer_memory : {false, true}) {
          // Of all its forms the one that forwards is for ranks that share no memory.
          if (forwards && !c.shares_memory && !c.some_share_memory && in_peer_memory) continue;
          c.lands_in_peer_memory = in_peer_memory;
          const Status status = CheckSchedules(c, schedules, nullptr);
          ASSERT_TRUE(status.ok()) << status.ToString();
          ++cases_;
        }
      }
      // The only rank of a group copies its source itself.
      const bool has_source =
          c.pattern == Pattern::kReduce || c.pattern == Pattern::kAllReduce || IsScan(c.pattern);
      if (!has_source || c.size == 1) continue;
      c.slots = kMinSlots;
      c.separate_source = true;
      const Status status = CheckSchedules(c, schedules, nullptr);
      ASSERT_TRUE(status.ok()) << "with a source: " << status.ToString();
      c.separate_source = false;
    }
  }

  // Ranks count from the root, for the checker, too: whoever does what root 0's ranks do, turned,
  // is proved with them. Root 1 is run as well.
  void CheckAllRoots(CheckCase c, bool rooted) {
    std::vector<Schedule> of_root_0;
    for (c.root = 0; c.root < (rooted ? c.size : 1); ++c.root) {
      const std::vector<Schedule> schedules = CompileAll(c);
      if (c.root == 0) of_root_0 = schedules;
      if (c.root < 2) {
        ASSERT_NO_FATAL_FAILURE(CheckGroup(c, schedules));
      } else {
        ASSERT_TRUE(AreTurned(schedules, of_root_0, c.root, EntryOf(c.pattern).multi))
            << PatternName(c.pattern) << " on " << c.size << " ranks, root " << c.root;
      }
    }
  }

  int64_t cases_ = 0;
};

TEST_P(CatalogueProof, HoldsForEveryGroup) {
  const CatalogueEntry& entry = Catalogue()[GetParam()];
  const bool pair = IsPair(entry.pattern);
  for (int size = pair ? 2 : 1; size <= (pair ? 2 : 64); ++size) {
    if (!IsProvedAlways(size) && !FullStress()) continue;
    for (const Topology& topology : TopologiesOf(entry)) {
      CheckCase c;
      c.pattern = entry.pattern;
      c.topology = topology;
      c.size = size;
      ASSERT_NO_FATAL_FAILURE(CheckAllRoots(c, entry.rooted));
      if (HasDirection(entry.pattern)) {
        c.decreasing = true;
        ASSERT_NO_FATAL_FAILURE(CheckAllRoots(c, entry.rooted));
        c.decreasing = false;
      }
      const bool in_shares = topology.shape == Shape::kReduceScatterAllgather;
      if (entry.multi || entry.pattern == Pattern::kBarrier || in_shares ||
          topology.shape == Shape::kExchange || Waits(c)) {
        c.shares_memory = true;
        ASSERT_NO_FATAL_FAILURE(CheckAllRoots(c, entry.rooted));
        c.shares_memory = false;
      }
      if (in_shares) {
        c.some_share_memory = true;
        ASSERT_NO_FATAL_FAILURE(CheckAllRoots(c, entry.rooted));
      }
    }
  }
  RecordProperty("cases", std::to_string(cases_));
}

// In the order of ranks, whatever the root.
TEST_P(CatalogueProof, HoldsInTheOrderOfRanks) {
  const CatalogueEntry& entry = Catalogue()[GetParam()];
  for (int size = 1; entry.combines && size <= 64; ++size) {
    if (!IsProvedAlways(size) && !FullStress()) continue;
    for (const Topology& topology : TopologiesOf(entry)) {
      CheckCase c;
      c.pattern = entry.pattern;
      c.topology = topology;
      c.size = size;
      c.in_rank_order = true;
      for (c.root = 0; c.root < (entry.rooted ? size : 1); ++c.root) {
        if (!(InRankOrder(entry.pattern, topology, c.root) == topology)) continue;  // another one
        for (const bool shares_memory : {false, true}) {
          if (shares_memory && c.topology.shape != Shape::kExchange) continue;
          c.shares_memory = shares_memory;
          // Ranks do not turn with the root, so each root is proved, the others with fewer cases.
          const std::vector<Schedule> schedules = CompileAll(c);
          if (c.root < 2) {
            ASSERT_NO_FATAL_FAILURE(CheckGroup(c, schedules));
            continue;
          }
          c.segments = Unequal(c, schedules, 2);
          const Status status = CheckSchedules(c, schedules, nullptr);
          ASSERT_TRUE(status.ok()) << status.ToString();
        }
      }
    }
  }
}

// Without the flag, or with the topology that was named, the order is another one.
TEST(InRankOrder, TheCheckerFindsAnotherOrder) {
  const auto check = [](Pattern pattern, const Topology& topology, int root) {
    CheckCase c;
    c.pattern = pattern;
    c.topology = topology;
    c.size = 5;
    c.root = root;
    const std::vector<Schedule> schedules = CompileAll(c);
    c.in_rank_order = true;
    c.segments = Equal(c, schedules, 2);
    return CheckSchedules(c, schedules, nullptr).message();
  };
  for (const Topology& topology :
       {Topology{Shape::kTree, 2}, {Shape::kIncreasingRings, 1}, {Shape::kSplitRing, 0}}) {
    EXPECT_EQ(check(Pattern::kReduce, topology, 0), "");
    EXPECT_NE(check(Pattern::kReduce, topology, 2).find("out of order"), std::string::npos);
  }
  for (const Topology& topology : {Topology{Shape::kDecreasingRings, 1}, {Shape::kCirculant, 0}}) {
    EXPECT_NE(check(Pattern::kReduce, topology, 0).find("out of order"), std::string::npos);
  }
  EXPECT_NE(check(Pattern::kReduce, {Shape::kTwoTree, 0}, 1).find("out of order"),
            std::string::npos);
  EXPECT_NE(check(Pattern::kAllReduce, {Shape::kReduceScatterAllgather, 0}, 0).find("out of order"),
            std::string::npos);
  EXPECT_EQ(check(Pattern::kAllReduce, {Shape::kHypercube, 0}, 0), "");
  EXPECT_NE(check(Pattern::kMultiReduce, {Shape::kIncreasingRings, 1}, 0).find("out of order"),
            std::string::npos);
}

// A contribution is read before it is overwritten, and never written.
TEST(Source, TheCheckerFindsAWrittenContribution) {
  CheckCase c;
  c.pattern = Pattern::kReduce;
  c.size = 3;
  c.segments = {1};
  const auto with = [&](const Place& from, const Place& to) {
    std::vector<Schedule> schedules = CompileAll(c);
    for (Schedule& schedule : schedules) {
      for (Step& step : schedule.lanes[0].work) {
        for (Place* place : {&step.dst, &step.left}) {
          if (*place == from) *place = to;
        }
      }
    }
    c.separate_source = true;
    return CheckSchedules(c, schedules, nullptr).message();
  };
  EXPECT_NE(with(Place::Matrix(), Place::Source()).find("writes a contribution"),
            std::string::npos);
  EXPECT_NE(with(Place::Source(), Place::Matrix()), "");
}

INSTANTIATE_TEST_SUITE_P(All, CatalogueProof, testing::Range(0, kPatterns),
                         [](const testing::TestParamInfo<int>& i) {
                           return std::string(Catalogue()[i.param].name);
                         });

// The hosts of `size` ranks: one after the other, cyclic, or at random.
std::vector<std::vector<int>> HostMaps(int size, std::mt19937* random) {
  std::vector<std::vector<int>> maps;
  for (int hosts = 1; hosts <= size; hosts = hosts < 4 ? hosts + 1 : hosts * 2) {
    std::vector<int> blocks, cyclic, drawn;
    for (int r = 0; r < size; ++r) {
      blocks.push_back(r * hosts / size);
      cyclic.push_back(r % hosts);
      drawn.push_back(std::uniform_int_distribution<int>(0, hosts - 1)(*random));
    }
    maps.insert(maps.end(), {blocks, cyclic, drawn});
  }
  return maps;
}

// Messages to other hosts that a pattern cannot do without, of one segment of each message.
int64_t CrossingsByHost(Pattern pattern, const Topology& topology, int size, int hosts) {
  // Every link of a ring is crossed by all blocks but one.
  const int64_t of_a_ring = hosts == 1 ? 0 : int64_t{hosts} * (size - 1);
  if (topology.shape == Shape::kReduceScatterAllgather) return 2 * of_a_ring;
  switch (pattern) {
    case Pattern::kBroadcast:
    case Pattern::kReduce:
    case Pattern::kGather:  // a message has the blocks of several ranks
    case Pattern::kScatter:
      return hosts - 1;
    case Pattern::kAllReduce:
      return 2 * (hosts - 1);
    case Pattern::kMultiBroadcast:
      return int64_t{hosts - 1} * size;
    default:
      return of_a_ring;
  }
}

// A message that is copied for one receiver only may be sent without the copy.
TEST(ScheduleBuilder, MarksCopiesThatAreOnlySentOnce) {
  ScheduleBuilder b;
  const int once = b.AddStream("A", ChunkRole::kBufferedSend);
  const int twice = b.AddStream("B", ChunkRole::kBufferedSend);
  const int read = b.AddStream("C", ChunkRole::kBufferedSend);
  for (const int stream : {once, twice, read}) {
    b.Copy(Place::New(stream), Place::Matrix());
    b.Send(stream, 3);
    if (stream == twice) b.Send(stream, 4);
    if (stream == read) b.Copy(Place::Block(0), Place::Current(stream));
    b.Free(stream);
  }
  // Sent behind what the rest of the tile sends.
  const int ahead = b.AddStream("D", ChunkRole::kBufferedSend);
  b.Send(ahead, 3);
  b.Free(ahead);
  b.SetLead(1);
  b.Copy(Place::New(ahead), Place::Matrix());
  b.SetLead(0);
  const Schedule schedule = b.Build();
  std::vector<int> marks;
  for (const Step& step : schedule.lanes[0].work) {
    if (step.opcode == Opcode::kCopy) marks.push_back(step.only_sent_to);
  }
  EXPECT_EQ(marks, (std::vector<int>{3, -1, -1, -1, -1}));
}

TEST(ByHost, HoldsOnAnyHostsAndCrossesEachWireOnce) {
  std::mt19937 random(11);
  for (const CatalogueEntry& entry : Catalogue()) {
    const bool goes_by_host = entry.multi || !entry.topologies.empty();
    if (!goes_by_host) continue;
    for (const int size : {1, 2, 3, 4, 6, 7, 12, 25}) {
      for (const std::vector<int>& hosts : HostMaps(size, &random)) {
        const auto count = static_cast<int>(std::set<int>(hosts.begin(), hosts.end()).size());
        for (const Topology& topology : TopologiesOf(entry)) {
          for (const bool decreasing : {false, true}) {
            if (decreasing && !HasDirection(entry.pattern)) continue;
            CheckCase c;
            c.pattern = entry.pattern;
            c.topology = topology;
            c.size = size;
            c.hosts = hosts;
            c.by_host = count > 1;
            c.decreasing = decreasing;
            c.root = entry.rooted ? std::uniform_int_distribution<int>(0, size - 1)(random) : 0;
            const int n = 3;
            for (const bool in_peer_memory : {false, true}) {
              c.lands_in_peer_memory = c.some_share_memory = in_peer_memory;
              c.shares_memory = Waits(c) && in_peer_memory && count == 1;
              if (!KeepsToRanks(c)) {
                std::vector<CheckCounts> counts;
                const std::vector<Schedule> schedules = CompileAll(c);
                c.segments = Equal(c, schedules, n);
                const Status status = CheckSchedules(c, schedules, &counts);
                ASSERT_TRUE(status.ok()) << status.ToString();
                int64_t crossings = 0;
                for (const CheckCounts& rank : counts) crossings += rank.crossings;
                int64_t expected = n * CrossingsByHost(entry.pattern, topology, size, count);
                if (Waits(c)) expected *= BlocksOf(c, schedules);
                EXPECT_EQ(crossings, expected)
                    << entry.name << ", " << size << " ranks on " << count << " hosts";
                c.segments = Unequal(c, schedules, n);
                const Status holds = CheckSchedules(c, schedules, nullptr);
                ASSERT_TRUE(holds.ok()) << holds.ToString();
              }
              if ((entry.pattern == Pattern::kMultiBroadcast &&
                   topology.shape != Shape::kCirculant) ||
                  (Waits(c) && in_peer_memory)) {
                continue;
              }
              // Schedules by rank must also hold on edges of both kinds.
              CheckCase by_rank = c;
              by_rank.by_host = false;
              const std::vector<Schedule> schedules = CompileAll(by_rank);
              by_rank.segments = Unequal(by_rank, schedules, n);
              const Status holds = CheckSchedules(by_rank, schedules, nullptr);
              ASSERT_TRUE(holds.ok()) << holds.ToString();
            }
          }
        }
      }
    }
  }
}

// Where the shares' segments are not equally many, whichever have one more.
TEST(ReduceScatterAllgather, HoldsForAnySharesOfAMatrix) {
  std::mt19937 random(3);
  const CatalogueEntry& entry = EntryOf(Pattern::kAllReduce);
  for (int size = 1; size <= 40; ++size) {
    for (int draw = 0; draw < (size <= 6 ? 1 << size : 3); ++draw) {
      CheckCase c;
      c.pattern = entry.pattern;
      c.topology = {Shape::kReduceScatterAllgather, 0};
      c.size = size;
      for (const int segments : {1, 2, 5}) {
        c.segments.clear();
        for (int q = 0; q < size; ++q) {
          c.segments.push_back(segments +
                               (size <= 6 ? draw >> q & 1 : static_cast<int>(random() & 1)));
        }
        for (c.slots = kMinSlots; c.slots <= rules::kWindowSlots; c.slots += 2) {
          // On one host; on several with and without shared memory.
          for (const int variant : {0, 1, 2, 3}) {
            c.shares_memory = variant == 1;
            c.some_share_memory = variant == 2;
            c.lands_in_peer_memory = variant == 1 || variant == 2;
            c.hosts.clear();
            const int hosts = std::uniform_int_distribution<int>(1, size)(random);
            for (int r = 0; variant == 2 && r < size; ++r) c.hosts.push_back(r * hosts / size);
            std::shuffle(c.hosts.begin(), c.hosts.end(), random);
            const Status status = CheckSchedules(c, CompileAll(c), nullptr);
            ASSERT_TRUE(status.ok()) << variant << " " << status.ToString();
          }
        }
      }
    }
  }
}

// Why multi-broadcast by host is no ring: a chunk that came over the wire is kept until the last
// rank of the host has passed it on, and that waits for the next host, and so around.
TEST(ByHost, ARingOfForwardedLeasesClosesToACircle) {
  CheckCase c;
  c.pattern = Pattern::kMultiBroadcast;
  c.size = 6;
  c.hosts = {0, 0, 0, 1, 1, 1};
  c.segments = std::vector<int>(6, 1);
  EXPECT_TRUE(CheckSchedules(c, CompileAll(c), nullptr).ok());
  c.lands_in_peer_memory = true;
  EXPECT_NE(CheckSchedules(c, CompileAll(c), nullptr).message().find("deadlock"),
            std::string::npos);
  // And why results of a reduce-scatter go around in copies.
  c.pattern = Pattern::kAllReduce;
  c.topology = {Shape::kReduceScatterAllgather, 0};
  EXPECT_NE(CheckSchedules(c, CompileAll(c), nullptr).message().find("deadlock"),
            std::string::npos);
  c.some_share_memory = true;
  EXPECT_TRUE(CheckSchedules(c, CompileAll(c), nullptr).ok());
}

// Thousands of ranks; root 0 stands for all, as above.
TEST(Large, CirculantsAndTwoTreesHold) {
  std::set<int> sizes = {100, 127,  128,  129,  255,  256,  257,  500,  511,  512,  513,
                         997, 1000, 1023, 1024, 1025, 1531, 2047, 2048, 2049, 2499, 2500};
  std::mt19937 random(8);
  for (int i = 0; i < 10; ++i) sizes.insert(static_cast<int>(65 + random() % 2436));
  for (const Pattern pattern : {Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    std::set<int> groups;  // every rank has every block
    for (const int size : sizes) groups.insert(std::min(size, 600));
    for (const int size : groups) {
      CheckCase c;
      c.pattern = pattern;
      c.topology = {Shape::kCirculant, 0};
      c.size = size;
      const std::vector<Schedule> schedules = CompileAll(c);
      c.segments = Unequal(c, schedules, 1);
      const Status status = CheckSchedules(c, schedules, nullptr);
      ASSERT_TRUE(status.ok()) << status.ToString();
    }
  }
  for (const Pattern pattern : {Pattern::kBroadcast, Pattern::kReduce}) {
    for (const Shape shape : {Shape::kTwoTree, Shape::kCirculant}) {
      for (const int size : sizes) {
        CheckCase c;
        c.pattern = pattern;
        c.topology = {shape, 0};
        c.size = size;
        const std::vector<Schedule> schedules = CompileAll(c);
        c.segments = Unequal(c, schedules, 2);
        std::vector<CheckCounts> counts;
        const Status status = CheckSchedules(c, schedules, &counts);
        ASSERT_TRUE(status.ok()) << status.ToString();
        for (const CheckCounts& rank : counts) EXPECT_LE(rank.peak_slots, 3 * kMinSlots);
        c.root = size / 3;
        ASSERT_TRUE(AreTurned(CompileAll(c), schedules, c.root, /*multi=*/false)) << c.size;
      }
    }
  }
}

// Where a message brings segments of some of its blocks only, of none of them, or of one that the
// message before did not bring.
TEST(Blocks, OfAnyLengthsTravelTogether) {
  std::mt19937 random(5);
  for (const Pattern pattern : {Pattern::kMultiBroadcast, Pattern::kMultiReduce}) {
    for (int size = 2; size <= 40; ++size) {
      for (int draw = 0; draw < (size <= 5 ? 1 << 2 * size : 20); ++draw) {
        CheckCase c;
        c.pattern = pattern;
        c.topology = {Shape::kCirculant, 0};
        c.size = size;
        for (int q = 0; q < size; ++q) {
          const int often_none = static_cast<int>(random() % 6) - 2;
          c.segments.push_back(size <= 5 ? draw >> 2 * q & 3 : std::max(0, often_none));
        }
        const std::vector<Schedule> schedules = CompileAll(c);
        for (c.slots = kMinSlots; c.slots <= rules::kWindowSlots; c.slots += 2) {
          // In own memory, in peers', and in that of those on the same of two hosts.
          for (const int place : {0, 1, 2}) {
            c.lands_in_peer_memory = place > 0;
            c.hosts.clear();
            for (int r = 0; place == 2 && r < size; ++r) {
              c.hosts.push_back(static_cast<int>(random() & 1));
            }
            const Status status = CheckSchedules(c, schedules, nullptr);
            ASSERT_TRUE(status.ok()) << status.ToString();
          }
        }
      }
    }
  }
}

// The cost of a sum whose order does not depend on hosts: four ranks on each of two hosts.
TEST(ByHost, SumsKeepTheirOrder) {
  const auto crossings = [](Pattern pattern, const Topology& topology, bool cyclic) {
    CheckCase c;
    c.pattern = pattern;
    c.topology = topology;
    c.size = 8;
    for (int r = 0; r < c.size; ++r) c.hosts.push_back(cyclic ? r % 2 : r / 4);
    const std::vector<Schedule> schedules = CompileAll(c);
    c.segments = Equal(c, schedules, 1);
    std::vector<CheckCounts> counts;
    EXPECT_TRUE(CheckSchedules(c, schedules, &counts).ok());
    int64_t sum = 0;
    for (const CheckCounts& rank : counts) sum += rank.crossings;
    return sum;
  };
  const Topology binomial{Shape::kTree, 2};
  const Topology wide{Shape::kTree, 8};
  EXPECT_EQ(crossings(Pattern::kReduce, binomial, /*cyclic=*/false), 1);
  EXPECT_EQ(crossings(Pattern::kReduce, binomial, /*cyclic=*/true), 4);
  EXPECT_EQ(crossings(Pattern::kReduce, wide, /*cyclic=*/false), 4);
  EXPECT_EQ(crossings(Pattern::kReduce, wide, /*cyclic=*/true), 4);
  EXPECT_EQ(crossings(Pattern::kAllReduce, binomial, /*cyclic=*/false), 2);
  EXPECT_EQ(crossings(Pattern::kAllReduce, binomial, /*cyclic=*/true), 8);
  const Topology shares{Shape::kReduceScatterAllgather, 0};
  EXPECT_EQ(crossings(Pattern::kAllReduce, shares, /*cyclic=*/false), 4 * 7);
  EXPECT_EQ(crossings(Pattern::kAllReduce, shares, /*cyclic=*/true), 16 * 7);
  EXPECT_EQ(crossings(Pattern::kMultiBroadcast, Topology(), /*cyclic=*/false), 2 * 7);
  EXPECT_EQ(crossings(Pattern::kMultiBroadcast, Topology(), /*cyclic=*/true), 8 * 7);
  EXPECT_EQ(crossings(Pattern::kMultiReduce, Topology(), /*cyclic=*/false), 2 * 7);
  EXPECT_EQ(crossings(Pattern::kMultiReduce, Topology(), /*cyclic=*/true), 8 * 7);
}

// The counts that compilers.h promises.
TEST(Counts, CopiesAndCombinesAreAsDocumented) {
  for (int size = 2; size <= 17; ++size) {
    for (const CatalogueEntry& entry : Catalogue()) {
      for (const Topology& topology : TopologiesOf(entry)) {
        CheckCase c;
        c.pattern = entry.pattern;
        c.topology = topology;
        c.size = size;
        if (IsPair(entry.pattern)) c.size = 2;
        const std::vector<Schedule> schedules = CompileAll(c);
        c.segments = Equal(c, schedules, 5);
        // Of the matrix, or, where there are blocks, or shares of a reduce-scatter, of each.
        int n = 5;
        if (schedules[0].shares.count > 0 && topology.shape != Shape::kReduceScatterAllgather) {
          n *= BlocksOf(c, schedules);
        }
        std::vector<CheckCounts> counts;
        const Status status = CheckSchedules(c, schedules, &counts);
        ASSERT_TRUE(status.ok()) << status.ToString();
        int64_t combines = 0;
        for (const CheckCounts& rank : counts) {
          combines += rank.combines;
          switch (entry.pattern) {
            case Pattern::kSend:
            case Pattern::kReceive:
            case Pattern::kBroadcast:
              EXPECT_EQ(rank.copies, n);
              break;
            case Pattern::kReduce:
              // Of what it is a leaf for.
              if (topology.shape == Shape::kTwoTree || topology.shape == Shape::kCirculant) {
                EXPECT_LE(rank.copies, n);
                break;
              }
              EXPECT_EQ(rank.copies, rank.combines == 0 ? n : 0);
              break;
            case Pattern::kAllReduce:
              if (topology.shape == Shape::kReduceScatterAllgather) {
                EXPECT_EQ(rank.copies, (size + 1) * n);
                EXPECT_EQ(rank.combines, (size - 1) * n);
                break;
              }
              EXPECT_LE(rank.copies, 2 * n);
              EXPECT_GE(rank.copies, n);
              break;
            case Pattern::kMultiBroadcast:
              // In again, of all but the last round, what comes from others.
              EXPECT_EQ(rank.copies,
                        (topology.shape == Shape::kCirculant ? 2 * (size - 1) : size) * n);
              if (topology.shape == Shape::kCirculant) {
                int rounds = 0;
                while ((1 << rounds) < size) ++rounds;
                EXPECT_EQ(rank.messages, rounds * n);
              }
              break;
            case Pattern::kMultiReduce:
              EXPECT_EQ(rank.combines, (size - 1) * n);
              if (topology.shape == Shape::kCirculant) {
                // The first message, and of each later one a block that was not brought.
                int copies = size / 2;
                int rounds = 0;
                for (int left = size; left > 1; left = (left + 1) / 2) {
                  copies += left > 2 ? left % 2 : 0;
                  ++rounds;
                }
                EXPECT_EQ(rank.copies, copies * n);
                EXPECT_LE(rank.copies, (size / 2 + rounds - 1) * n);
                EXPECT_EQ(rank.messages, rounds * n);
                break;
              }
              EXPECT_EQ(rank.copies, n);
              break;
            case Pattern::kBarrier:
            case Pattern::kGather:
            case Pattern::kScatter:
            case Pattern::kAllToAll:
            case Pattern::kScan:
            case Pattern::kExscan:
              break;  // below
          }
          EXPECT_LE(rank.peak_slots, 3 * kMinSlots);
        }
        if (entry.pattern == Pattern::kReduce) {
          EXPECT_EQ(combines, (size - 1) * n);
        }
      }
    }
  }
}

TEST(Counts, TheCoreHoldsTheSlotsOfEverySchedule) {
  SegmentSettings settings;
  settings.chunk_bytes = 4096;
  for (const CatalogueEntry& entry : Catalogue()) {
    for (int size = 1; size < 20; ++size) {
      for (int rank = 0; rank < size; ++rank) {
        std::vector<Topology> topologies = entry.topologies;
        if (topologies.empty()) topologies = {Topology()};
        for (const Topology& topology : topologies) {
          ScheduleParameters p;
          p.size = size;
          p.rank = rank;
          p.topology = topology;
          for (const bool shares_memory : {false, true}) {
            p.shares_memory = shares_memory;
            EXPECT_LE(entry.compile(p).LeastSlots(), CoreChunks(settings));
          }
        }
      }
    }
  }
}

// The checker itself: each kind of mistake is found.
class Mistakes : public testing::Test {
 protected:
  Mistakes() {
    case_.pattern = Pattern::kBroadcast;
    case_.size = 2;
    case_.segments = {3};
  }
  std::string Check() {
    return CheckSchedules(case_, {root_.Build(), leaf_.Build()}, nullptr).message();
  }
  CheckCase case_;
  ScheduleBuilder root_;
  ScheduleBuilder leaf_;
};

TEST_F(Mistakes, DeadlockForLackOfASend) {
  leaf_.AddStream("R", ChunkRole::kReceive);
  leaf_.ReceiveAndAwait(0, 0);
  leaf_.Copy(Place::Matrix(), Place::Current(0));
  leaf_.Free(0);
  EXPECT_NE(Check().find("deadlock"), std::string::npos);
}

TEST_F(Mistakes, MessageWithoutAReceive) {
  root_.AddStream("S", ChunkRole::kBroadcastSource);
  case_.segments = {1};
  root_.Copy(Place::New(0), Place::Matrix());
  root_.Send(0, 1);
  root_.Free(0);
  EXPECT_NE(Check().find("unmatched"), std::string::npos);
}

TEST_F(Mistakes, DataNeverCopiedOut) {
  root_.AddStream("S", ChunkRole::kBroadcastSource);
  root_.Copy(Place::New(0), Place::Matrix());
  root_.Send(0, 1);
  root_.Free(0);
  leaf_.AddStream("R", ChunkRole::kReceive);
  leaf_.ReceiveAndAwait(0, 0);
  leaf_.Free(0);
  EXPECT_NE(Check().find("not the root's"), std::string::npos);
}

TEST_F(Mistakes, SlotNeverFreed) {
  root_.AddStream("S", ChunkRole::kBroadcastSource);
  root_.Copy(Place::New(0), Place::Matrix());
  EXPECT_NE(Check().find("still current"), std::string::npos);
}

TEST_F(Mistakes, SlotWrittenWhileItIsSent) {
  root_.AddStream("S", ChunkRole::kBroadcastSource);
  root_.Copy(Place::New(0), Place::Matrix());
  root_.Send(0, 1);
  root_.Copy(Place::Current(0), Place::Matrix());
  EXPECT_NE(Check().find("being sent"), std::string::npos);
}

TEST_F(Mistakes, ReceivedSlotWritten) {
  root_.AddStream("S", ChunkRole::kBroadcastSource);
  root_.Copy(Place::New(0), Place::Matrix());
  root_.Send(0, 1);
  root_.Free(0);
  leaf_.AddStream("R", ChunkRole::kReceive);
  leaf_.ReceiveAndAwait(0, 0);
  leaf_.Copy(Place::Current(0), Place::Matrix());
  EXPECT_NE(Check().find("writes a received slot"), std::string::npos);
}

TEST_F(Mistakes, OperandsExchanged) {
  case_.pattern = Pattern::kReduce;
  leaf_.AddStream("S", ChunkRole::kCombineTarget);
  leaf_.Copy(Place::New(0), Place::Matrix());
  leaf_.Send(0, 0);
  leaf_.Free(0);
  root_.AddStream("R", ChunkRole::kReceive);
  root_.ReceiveAndAwait(1, 0);
  root_.Combine(Place::Matrix(), Place::Current(0), Place::Matrix());
  root_.Free(0);
  EXPECT_NE(Check().find("out of order"), std::string::npos);
}

// Of a message of two blocks one is never filled.
TEST_F(Mistakes, BlockForgotten) {
  case_.pattern = Pattern::kMultiReduce;
  case_.topology = {Shape::kCirculant, 0};
  case_.segments = {1, 1};
  root_.AddStream("S", ChunkRole::kCombineTarget);
  root_.SetBlock(root_.AddRun(0, 2));
  root_.Open(0);
  root_.SetBlock(root_.AddRun(0, 1));
  root_.Copy(Place::Current(0), Place::Block(1));
  root_.SetBlock(0);
  root_.Send(0, 1);
  EXPECT_NE(Check().find("not filled"), std::string::npos);
}

// A sum of block 1 in the place of block 0's.
TEST_F(Mistakes, BlocksMixed) {
  case_.pattern = Pattern::kMultiReduce;
  case_.topology = {Shape::kCirculant, 0};
  case_.segments = {1, 1};
  for (ScheduleBuilder* b : {&root_, &leaf_}) {
    const int me = b == &root_ ? 0 : 1;
    b->AddStream("S", ChunkRole::kCombineTarget);
    b->AddStream("R", ChunkRole::kReceive);
    b->SetBlock(b->AddRun(0, 1));
    b->Copy(Place::New(0), Place::Block(0));
    b->Send(0, 1 - me);
    b->Free(0);
    b->ReceiveAndAwait(1 - me, 1);
    b->SetBlock(b->AddRun(1, 1));
    b->Combine(Place::Matrix(), Place::Block(1), Place::Current(1));
    b->SetBlock(0);
    b->Free(1);
  }
  EXPECT_NE(Check().find("other blocks"), std::string::npos);
}

// The operands of a scan are in the order of ranks.
TEST_F(Mistakes, ScanOfHigherRanks) {
  case_.pattern = Pattern::kScan;
  case_.topology = {Shape::kIncreasingRings, 1};
  EXPECT_NE(Check().find("not the contributions of the lower ranks"), std::string::npos);
}

TEST_F(Mistakes, ExscanThatKeepsItsOwn) {
  case_.pattern = Pattern::kExscan;
  case_.topology = {Shape::kIncreasingRings, 1};
  root_.AddStream("S", ChunkRole::kBufferedSend);
  root_.Copy(Place::New(0), Place::Matrix());
  root_.Send(0, 1);
  root_.Free(0);
  leaf_.AddStream("R", ChunkRole::kReceive);
  leaf_.ReceiveAndAwait(0, 0);
  leaf_.Combine(Place::Matrix(), Place::Current(0), Place::Matrix());
  leaf_.Free(0);
  EXPECT_NE(Check().find("not the contributions of the lower ranks"), std::string::npos);
}

TEST_F(Mistakes, BlockThatGoesNowhere) {
  case_.pattern = Pattern::kGather;
  case_.segments = {1, 1};
  EXPECT_NE(Check().find("block 1"), std::string::npos);
}

// Rank 1 has no memory for block 0.
TEST_F(Mistakes, BlockOfAnotherWritten) {
  case_.pattern = Pattern::kGather;
  case_.segments = {1, 1};
  leaf_.SetBlock(1);
  leaf_.Copy(Place::Block(0), Place::Block(1));
  leaf_.AddStream("S", ChunkRole::kBufferedSend);
  leaf_.Copy(Place::New(0), Place::Block(1));
  leaf_.Send(0, 0);
  leaf_.Free(0);
  root_.AddStream("R", ChunkRole::kReceive);
  root_.SetBlock(1);
  root_.ReceiveAndAwait(1, 0);
  root_.Copy(Place::Block(1), Place::Current(0));
  root_.Free(0);
  EXPECT_NE(Check().find("block 0"), std::string::npos);
}

TEST_F(Mistakes, BlockThatStaysIsForgotten) {
  case_.pattern = Pattern::kAllToAll;
  case_.segments = {1, 0, 0, 1};
  EXPECT_NE(Check().find("block 0"), std::string::npos);
}

TEST_F(Mistakes, BarrierThatLetsGoTooEarly) {
  case_.pattern = Pattern::kBarrier;
  EXPECT_NE(Check().find("before all had come"), std::string::npos);
}

}  // namespace
}  // namespace brigade

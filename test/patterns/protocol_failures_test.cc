// In each protocol, a rank makes another call, dies, or does not come within the time limit of the
// other ranks: at a point of its call, or behind each of its steps.

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/group.h"
#include "patterns/protocol/protocols.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/topology.h"
#include "patterns/trace/trace.h"
#include "test/patterns/protocol_ranks.h"
#include "test/support/group_member.h"
#include "test/support/run_processes.h"
#include "test/support/run_ranks.h"
#include "test/support/stress.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_access.h"
#include "transport/inproc/inproc_transport.h"

namespace brigade {
namespace {

enum MemoryKind { kOrdinary, kMapped, kOrdinaryOnTheLast };

struct Case {
  const char* name;
  const Protocol* protocol;  // null: a non-blocking call
  Pattern pattern;
  Topology topology;
  int64_t elems;  // of the matrix, or of each block
  MemoryKind memory = kMapped;
  Over over = Over::kShm;
};
constexpr Topology kTree{Shape::kTree, 2};
constexpr Topology kRing{Shape::kIncreasingRings, 1};
constexpr Topology kReduceScatterAllgather{Shape::kReduceScatterAllgather, 0};
constexpr Topology kFlat{Shape::kTree, kFlatBranches};
const Case kCases[] = {
    {"inline", &kInlineCollective, Pattern::kBroadcast, kTree, 8},
    {"inline_blocks", &kInlineCollective, Pattern::kAllToAll, kRing, 8},
    {"inline_over_auto", &kInlineCollective, Pattern::kBroadcast, kTree, 8, kMapped, Over::kAuto},
    {"inline_message", &kInlineMessage, Pattern::kSend, kTree, 8},
    {"posted_buffer", &kPostedBuffer, Pattern::kSend, kTree, 50000},
    {"posted_buffer_by_kernel", &kPostedBuffer, Pattern::kSend, kTree, 50000, kOrdinary,
     Over::kShmByKernel},
    {"zero_copy_multi_broadcast", &kZeroCopyRead, Pattern::kMultiBroadcast, kRing, 50000},
    {"zero_copy_all_to_all", &kZeroCopyRead, Pattern::kAllToAll, kRing, 50000},
    {"zero_copy_multi_reduce", &kZeroCopyRead, Pattern::kMultiReduce, kRing, 50000},
    {"zero_copy_all_reduce", &kZeroCopyRead, Pattern::kAllReduce, kReduceScatterAllgather, 90000},
    {"zero_copy_by_kernel", &kZeroCopyRead, Pattern::kMultiBroadcast, kRing, 50000, kOrdinary,
     Over::kShmByKernel},
    {"zero_copy_of_both_kinds", &kZeroCopyRead, Pattern::kMultiBroadcast, kRing, 50000,
     kOrdinaryOnTheLast, Over::kShmByKernel},
    {"declined_zero_copy", &kPipelined, Pattern::kMultiBroadcast, kRing, 50000, kOrdinaryOnTheLast},
    {"blocks_scattered", &kPipelined, Pattern::kScatter, kFlat, 50000},
    {"blocks_gathered", &kPipelined, Pattern::kGather, kFlat, 50000},
    {"blocks_by_kernel", &kPipelined, Pattern::kScatter, kFlat, 50000, kOrdinary,
     Over::kShmByKernel},
    {"eager", &kEagerShared, Pattern::kBroadcast, kTree, 3000},
    {"eager_of_segments", &kEagerShared, Pattern::kBroadcast, kTree, 10000},
    {"pipelined", &kPipelined, Pattern::kAllReduce, kTree, 200000},
    {"started", nullptr, Pattern::kAllReduce, kTree, 200000},
    {"eager_over_tcp", &kEager, Pattern::kBroadcast, kTree, 1000, kOrdinary, Over::kTcp},
    {"pipelined_over_tcp", &kPipelined, Pattern::kAllReduce, kTree, 200000, kOrdinary, Over::kTcp},
    {"started_over_tcp", nullptr, Pattern::kAllReduce, kTree, 200000, kOrdinary, Over::kTcp},
    {"eager_over_two_hosts", &kEager, Pattern::kBroadcast, kTree, 1000, kMapped, Over::kTwoHosts},
    {"pipelined_over_two_hosts", &kPipelined, Pattern::kAllReduce, kTree, 200000, kMapped,
     Over::kTwoHosts},
};
bool IsZeroCopy(const Case& c) { return c.protocol == &kZeroCopyRead; }
bool IsPosted(const Case& c) { return c.protocol == &kPostedBuffer; }

// Ranks of a case. The last one is the root, and the sender of messages.
int RanksOf(const Case& c) { return IsPair(c.pattern) ? 2 : 3; }

thread_local int events_left = 0;  // until this thread runs `stop`; 0: it does not
thread_local std::function<void()> stop;

// Each step of a call is one or more events. From here on, this thread runs `action` behind its
// event number `event`, from 1 on.
void StopBehind(int event, std::function<void()> action) {
  stop = std::move(action);
  events_left = event;
}

// One rank that makes the calls of a case.
class Caller {
 public:
  Caller(const Case& c, Bootstrap* bootstrap)
      : case_(c),
        rank_(bootstrap->rank()),
        last_(bootstrap->size() - 1),
        me_(c.over, bootstrap, 1, Options()),
        memory_(c.memory == kMapped || (c.memory == kOrdinaryOnTheLast && rank_ != last_),
                BytesOf(c, bootstrap->size()) + 4 * kPage) {}

  Group* group() { return me_.group.get(); }
  // Returns the call, whose matrices are `more` elements longer. A page begins in the middle of all
  // matrices.
  PatternCall Call(int64_t more = 0) {
    PatternCall call;
    call.pattern = case_.pattern;
    call.topology = case_.topology;
    call.root = last_;
    if (IsPair(call.pattern)) {
      call.pattern = rank_ == last_ ? Pattern::kSend : Pattern::kReceive;
      call.root = 1 - rank_;
    }
    const int64_t elems = case_.elems + more;
    std::byte* next = Middle() - BytesOf(case_, last_ + 1) / 2;
    matrices_.clear();
    for (int count = MatricesOf(case_, last_ + 1); count > 0; --count) {
      Matrix matrix;
      matrix.data = next;
      Require(StridedLayout::General(elems, 1, elems, sizeof(double), &matrix.layout));
      matrices_.push_back(matrix);
      next += matrix.layout.bytes();
    }
    call.matrix = matrices_.back();
    call.blocks = matrices_.data();
    call.sent = matrices_.data() + last_ + 1;
    return call;
  }
  Status Run(const PatternCall& call, OperationStatistics* did = nullptr) {
    if (case_.protocol != nullptr) return group()->Run(call, did);
    std::unique_ptr<Operation> operation;
    BRIGADE_RETURN_IF_ERROR(group()->Start(call, &operation));
    return operation->Wait(did);
  }
  Status RunUntilItFails(const PatternCall& call) {
    Status status;
    while (status.ok()) status = Run(call);
    return status;
  }
  // Runs a call, and behind it a barrier, in which each rank waits for all others. Ends StopBehind
  // between the two.
  Status RunThenBarrier(const PatternCall& call) {
    const Status status = Run(call);
    events_left = 0;
    if (!status.ok()) return status;
    PatternCall barrier;
    barrier.pattern = Pattern::kBarrier;
    barrier.timeout_seconds = call.timeout_seconds;
    return group()->Run(barrier);
  }
  // Runs calls until all ranks have taken the protocol of the case.
  void WarmUp() {
    OperationStatistics did;
    do {
      Require(Run(Call(), &did));
    } while (IsZeroCopy(case_) && did.protocol != kZeroCopyRead.name);
  }
  // Waits for the next buffer of the receiver, or until rank 0 has posted a block, but not longer
  // than `most`. Sends short messages meanwhile: the receiver withdraws its buffer soon, and on a
  // busy machine the sender may not see it.
  void AwaitPostedBuffer(std::chrono::milliseconds most = std::chrono::seconds(2)) {
    if (rank_ != last_ || !(IsPosted(case_) || case_.pattern == Pattern::kScatter)) return;
    using Clock = std::chrono::steady_clock;
    const auto end = Clock::now() + most;
    const GroupState& state = *group()->state();
    PatternCall call = Call();
    const StridedLayout block = matrices_.front().layout;
    if (!IsPosted(case_)) {
      OutEdge* const edge = state.edges->EdgeTo({state.id, ChannelKind::kAll}, 0);
      while (!edge->MayWritePostedBuffer(block) && Clock::now() < end) std::this_thread::yield();
      return;
    }
    Require(StridedLayout::General(1000, 1, 1000, sizeof(double), &call.matrix.layout));
    OutEdge* const edge = state.edges->EdgeTo({state.id, ChannelKind::kPointToPoint}, 0);
    for (int looks = 1; !edge->MayWritePostedBuffer(call.matrix.layout) && Clock::now() < end;
         ++looks) {
      // On a busy machine the receiver's time limit may be over by now.
      if (looks % 50000 == 0 && !Run(call).ok()) return;
    }
  }
  // From here on this process is killed when it accesses the second half of its matrices, or of its
  // first block.
  void DieInTheMiddle() {
    for (const int number : {SIGSEGV, SIGBUS}) signal(number, [](int) { raise(SIGKILL); });
    std::byte* middle = Middle();
    if (IsBlocks(case_.pattern)) {
      const Matrix& block = matrices_.front();
      const auto half = static_cast<size_t>(block.data - memory_.data()) + block.layout.bytes() / 2;
      middle = memory_.data() + (half / kPage + 1) * kPage;
    }
    const auto bytes = static_cast<size_t>(memory_.data() + memory_.bytes() - middle);
    EXPECT_EQ(mprotect(middle, bytes, PROT_NONE), 0);
  }
  // A rank that reads without copies may still read this memory, and then discards what it has
  // read. ThreadSanitizer does not know the fences by which it finds that out, so it must not see
  // these writes.
  [[gnu::no_sanitize("thread")]] void Overwrite() {
    volatile std::byte* const bytes = memory_.data();
    for (size_t i = 0; i < memory_.bytes(); ++i) bytes[i] = std::byte{0xee};
  }
  bool IsOverwritten() {
    return std::all_of(memory_.data(), memory_.data() + memory_.bytes(),
                       [](std::byte b) { return b == std::byte{0xee}; });
  }

 private:
  static constexpr size_t kPage = 4096;
  // Returns how many matrices a rank passes: blocks, and those that it sends, or a matrix.
  static int MatricesOf(const Case& c, int ranks) {
    if (!EntryOf(c.pattern).multi) return 1;
    return c.pattern == Pattern::kAllToAll ? 2 * ranks : ranks + 1;
  }
  static size_t BytesOf(const Case& c, int ranks) {
    const int unused = c.pattern == Pattern::kMultiBroadcast ? 1 : 0;
    return static_cast<size_t>(c.elems * (MatricesOf(c, ranks) - unused)) * sizeof(double);
  }
  static EngineOptions Options() {
    EngineOptions options;
    options.match_check_seconds = 0.02;
    return options;
  }
  std::byte* Middle() {
    const size_t half = BytesOf(case_, last_ + 1) / 2;
    return memory_.data() + (half / kPage + 1) * kPage;
  }

  const Case case_;
  const int rank_;
  const int last_;
  RankOver me_;
  RankMemory memory_;
  std::vector<Matrix> matrices_;
};

constexpr std::chrono::milliseconds kBriefly(2);

// The numbers of the events to stop behind: all of a short call.
int NextEvent(int event) { return event + (event < 8 || FullStress() ? 1 : event / 2); }

class InEachProtocol : public testing::TestWithParam<Case> {
 protected:
  static void SetUpTestSuite() {
    if (Trace::current() != nullptr) return;
    Require(Trace::Start(testing::TempDir() + "unwritten", -1, 0, /*most_events=*/0));
    Trace::Watch([](const TraceEvent&) {
      if (events_left > 0 && --events_left == 0) stop();
    });
  }
};

// Pairs of ranks post and withdraw buffers at any time, so they mix two protocols.
TEST_P(InEachProtocol, ACallTakesIt) {
  const Case& c = GetParam();
  if (IsPosted(c)) GTEST_SKIP() << "mixed_protocols_test.cc waits for one";
  const int ranks = RanksOf(c);
  RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Caller me(c, world.MakeBootstrap(rank).get());
    me.WarmUp();
    bool is_taken = false;
    for (int i = 0; i < 20; ++i) {
      OperationStatistics did;
      Require(me.Run(me.Call(), &did));
      is_taken |= did.protocol == (c.protocol == nullptr ? nullptr : c.protocol->name);
    }
    EXPECT_TRUE(is_taken) << "rank " << rank;
    Meet(world, rank);
  });
}

// The last rank comes when the calls of all others have returned.
TEST_P(InEachProtocol, ATimeLimitEndsTheCallsOfAll) {
  const Case& c = GetParam();
  const int ranks = RanksOf(c);
  RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Caller me(c, world.MakeBootstrap(rank).get());
    me.WarmUp();
    Meet(world, rank);
    PatternCall call = me.Call();
    if (rank == ranks - 1) {
      Meet(world, rank);
    } else if (rank == 0) {
      call.timeout_seconds = 0.05;
    }
    const Status status = me.RunUntilItFails(call);
    EXPECT_EQ(status.code(), StatusCode::kTimedOut) << status.ToString();
    me.Overwrite();
    if (rank != ranks - 1) Meet(world, rank);
    Meet(world, rank);  // the last rank has made its call
    EXPECT_TRUE(me.IsOverwritten()) << "another rank has written to memory of a call that is over";
  });
}

// The last rank makes another call.
TEST_P(InEachProtocol, AnotherCallIsAMismatchOnAll) {
  const Case& c = GetParam();
  const int ranks = RanksOf(c);
  enum Deed { kLonger, kBarrier, kOtherRoot, kDeeds };
  for (int deed = 0; deed < kDeeds; ++deed) {
    if (deed == kOtherRoot && c.pattern != Pattern::kBroadcast) continue;
    RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
      Caller me(c, world.MakeBootstrap(rank).get());
      me.WarmUp();
      Meet(world, rank);
      me.AwaitPostedBuffer();
      const bool wrong = rank == ranks - 1;
      PatternCall call = me.Call(wrong && deed == kLonger ? 1 : 0);
      if (wrong && deed == kBarrier) call.pattern = Pattern::kBarrier;
      if (wrong && deed == kOtherRoot) call.root = 0;
      call.timeout_seconds = 100;
      Status status = wrong ? me.Run(call) : me.RunUntilItFails(call);
      // A call of the wrong rank that did not wait has succeeded.
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(100);
      while (status.ok() && std::chrono::steady_clock::now() < end) {
        std::this_thread::yield();
        status = me.group()->failure();
      }
      EXPECT_EQ(status.code(), StatusCode::kMismatch) << deed << ' ' << status.ToString();
      Meet(world, rank);
    });
  }
}

// Behind the call all ranks wait for each other, so none of them runs on.
TEST_P(InEachProtocol, AnotherCallOfTheFirstRankIsAMismatchOnAll) {
  const Case& c = GetParam();
  const int ranks = RanksOf(c);
  for (const bool is_barrier : {false, true}) {
    if (is_barrier && IsPair(c.pattern)) continue;  // messages are not on the channel of barriers
    RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
      Caller me(c, world.MakeBootstrap(rank).get());
      me.WarmUp();
      Meet(world, rank);
      const bool wrong = rank == 0;
      // A receive may be longer than its message.
      PatternCall call = me.Call(!wrong || is_barrier ? 0 : IsPair(c.pattern) ? -1 : 1);
      if (wrong && is_barrier) call.pattern = Pattern::kBarrier;
      call.timeout_seconds = 100;
      const Status status = me.RunThenBarrier(call);
      EXPECT_EQ(status.code(), StatusCode::kMismatch) << is_barrier << ' ' << status.ToString();
      Meet(world, rank);
    });
  }
}

// The time of another rank ends meanwhile.
TEST_P(InEachProtocol, ATimeLimitEndsTheCallsOfAllWhereverARankStops) {
  const Case& c = GetParam();
  const int ranks = RanksOf(c);
  for (const int victim : {0, ranks - 1}) {
    double seconds = 0.01;
    for (int event = 1; !HasFailure();) {
      SCOPED_TRACE(testing::Message() << "rank " << victim << " behind event " << event);
      std::atomic<int> over{0};  // calls of other ranks
      std::atomic<bool> has_stopped{false};
      std::atomic<bool> is_late{false};
      RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
        Caller me(c, world.MakeBootstrap(rank).get());
        me.WarmUp();
        Meet(world, rank);
        PatternCall call = me.Call();
        if (rank == victim) {
          me.AwaitPostedBuffer(kBriefly);
          StopBehind(event, [&] {
            has_stopped = true;
            while (over < ranks - 1) std::this_thread::sleep_for(std::chrono::microseconds(200));
          });
        } else if (rank == (victim == 0 ? ranks - 1 : 0)) {
          call.timeout_seconds = seconds;
        }
        Status status = me.RunThenBarrier(call);
        // The messages of this barrier may all have come before the other ranks failed.
        while (rank == victim && has_stopped && status.ok()) status = me.RunThenBarrier(call);
        if (rank != victim) {
          me.Overwrite();
          ++over;
        }
        if (!status.ok()) {
          EXPECT_EQ(status.code(), StatusCode::kTimedOut) << status.ToString();
          is_late = true;
        }
        Meet(world, rank);  // the victim has made its call
        if (!has_stopped) return;
        EXPECT_FALSE(status.ok()) << "rank " << rank;
        EXPECT_TRUE(rank == victim || me.IsOverwritten())
            << "another rank has written to memory of a call that is over";
        Meet(world, rank);
      });
      if (has_stopped) {
        event = NextEvent(event);
      } else if (is_late) {
        seconds *= 2;  // on a busy machine
      } else {
        break;
      }
    }
  }
}

// Memory that the processes share.
struct Shared {
  std::atomic<int> over{0};  // calls of ranks
  std::atomic<bool> is_dead{false};
};

class Deaths : public InEachProtocol {
 protected:
  void SetUp() override {
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(memory, MAP_FAILED);
    shared_ = new (memory) Shared;
  }
  void TearDown() override { munmap(shared_, sizeof(Shared)); }

  // Runs calls on all ranks, each a process. If the victim dies, which `dies` says or Die, expects
  // that all others find it lost. Returns whether it has died.
  bool Run(int victim, bool dies, const std::function<Status(Caller* me, int rank)>& calls) {
    const Case& c = GetParam();
    const int ranks = RanksOf(c);
    shared_->over = 0;
    shared_->is_dead = dies;
    std::vector<int> ends = RunProcesses(ranks, [&](Bootstrap* bootstrap) {
      const int rank = bootstrap->rank();
      Caller me(c, bootstrap);
      me.WarmUp();
      std::vector<char> all(static_cast<size_t>(ranks));
      Require(bootstrap->AllGather("", 1, all.data()));
      const Status status = calls(&me, rank);
      // The end of no other rank is what ends a call.
      for (++shared_->over; shared_->over < ranks - (shared_->is_dead ? 1 : 0);) Pause(1);
      const std::string name = "rank " + std::to_string(victim) + " of the group";
      const bool is_lost = status.code() == StatusCode::kPeerLost &&
                           status.message().find(name) != std::string::npos;
      if (shared_->is_dead ? is_lost : status.ok()) return 0;
      std::fprintf(stderr, "rank %d: %s\n", rank, status.ToString().c_str());
      return 1;
    });
    const int end = std::exchange(ends[static_cast<size_t>(victim)], 0);
    EXPECT_EQ(WIFSIGNALED(end), shared_->is_dead.load()) << end;
    EXPECT_EQ(ends, std::vector<int>(static_cast<size_t>(ranks)));
    return shared_->is_dead;
  }
  static void Pause(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }
  void Die() {
    shared_->is_dead = true;
    raise(SIGKILL);
  }

  Shared* shared_ = nullptr;
};

enum class Point { kBeforeTheCall, kWaiting, kInTheMiddle };

TEST_P(Deaths, AtAPointOfACallAreLossesForAll) {
  const Case& c = GetParam();
  const int ranks = RanksOf(c);
  for (const Point point : {Point::kBeforeTheCall, Point::kWaiting, Point::kInTheMiddle}) {
    for (int victim = 0; victim < ranks; ++victim) {
      // The last rank is the one that is late.
      if (point == Point::kWaiting && victim == ranks - 1) continue;
      // A rank into whose buffer another one writes does not access it. The kernel refuses to copy
      // to memory without access (zero_copy_test.cc).
      const bool accesses =
          IsRootedBlocks(c.pattern)
              ? (c.pattern == Pattern::kScatter) == (victim == ranks - 1)
              : !(IsPosted(c) && victim == 0) && !(IsZeroCopy(c) && c.memory != kMapped);
      if (point == Point::kInTheMiddle && !accesses) continue;
      SCOPED_TRACE(testing::Message()
                   << "rank " << victim << ", point " << static_cast<int>(point));
      Run(victim, /*dies=*/true, [&](Caller* me, int rank) {
        if (rank == victim) {
          if (point == Point::kInTheMiddle) me->DieInTheMiddle();
          if (point == Point::kWaiting) {
            ualarm(5000, 0);
          } else {
            me->AwaitPostedBuffer();
          }
          if (point == Point::kBeforeTheCall) raise(SIGKILL);
        } else if (point == Point::kWaiting && rank == ranks - 1) {
          Pause(30);
        }
        return me->RunUntilItFails(me->Call());
      });
    }
  }
}

TEST_P(Deaths, BehindAnyStepOfACallAreLossesForAll) {
  for (const int victim : {0, RanksOf(GetParam()) - 1}) {
    bool has_died = true;
    for (int event = 1; has_died && !HasFailure(); event = NextEvent(event)) {
      SCOPED_TRACE(testing::Message() << "rank " << victim << " behind event " << event);
      has_died = Run(victim, /*dies=*/false, [&](Caller* me, int rank) {
        if (rank == victim) {
          me->AwaitPostedBuffer(kBriefly);
          StopBehind(event, [&] { Die(); });
        }
        return me->RunThenBarrier(me->Call());
      });
    }
  }
}

std::string NameOf(const testing::TestParamInfo<Case>& tested) { return tested.param.name; }
INSTANTIATE_TEST_SUITE_P(Of, InEachProtocol, testing::ValuesIn(kCases), NameOf);
INSTANTIATE_TEST_SUITE_P(Of, Deaths, testing::ValuesIn(kCases), NameOf);

}  // namespace
}  // namespace brigade

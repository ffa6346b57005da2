// Messages that receivers that wait read where their sender has them, in memory of brigade_alloc,
// or, as the kernel reads it, in any: what arrives, though the sender writes its memory anew as
// soon as its call has returned; and that nobody waits for a receiver that has not begun, nor for
// long for one that does not end.

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/byte_span.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/wire_header.h"
#include "patterns/group/group.h"
#include "patterns/group/operation.h"
#include "patterns/schedule/topology.h"
#include "test/support/group_member.h"
#include "test/support/run_processes.h"
#include "test/support/run_ranks.h"
#include "test/support/stress.h"
#include "transport/channel.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_access.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/host_memory/shared_source.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"

namespace brigade {
namespace {

constexpr size_t kMostElems = size_t{1} << 18;  // 2 MiB
constexpr size_t kShort = size_t{64} << 10;     // some pieces
constexpr size_t kLong = size_t{1} << 20;       // so many that the executor moves them

class SharedMemory {
 public:
  SharedMemory() {
    void* memory = nullptr;
    Require(SharedAllocations::Here().Allocate(2 * kMostElems * sizeof(double), &memory));
    data_ = static_cast<double*>(memory);
  }
  ~SharedMemory() { SharedAllocations::Here().Free(data_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  double* data() { return data_; }

 private:
  double* data_;
};

StridedLayout LayoutOf(int64_t rows, int64_t cols, int64_t ld) {
  StridedLayout layout;
  Require(StridedLayout::General(rows, cols, ld, sizeof(double), &layout));
  return layout;
}

void Fill(const Matrix& matrix, double first) {
  auto* const data = reinterpret_cast<double*>(matrix.data);
  const StridedLayout& layout = matrix.layout;
  for (int64_t col = 0; col < layout.cols(); ++col) {
    for (int64_t row = 0; row < layout.rows(); ++row) {
      data[col * layout.ld() + row] = first + static_cast<double>(col * layout.rows() + row);
    }
  }
}

bool Holds(const Matrix& matrix, double first) {
  const auto* const data = reinterpret_cast<const double*>(matrix.data);
  const StridedLayout& layout = matrix.layout;
  for (int64_t i = 0; i < layout.rows() * layout.cols(); ++i) {
    const double value = data[i / layout.rows() * layout.ld() + i % layout.rows()];
    if (value != first + static_cast<double>(i)) return false;
  }
  return true;
}

// The kernel copies whatever is as long as an offer, whether or not it is the fastest.
ShmOptions ByKernel() {
  ShmOptions options;
  options.kernel_copies = KernelCopyRange{rules::kLeastOfferedBytes / 4, SIZE_MAX};
  return options;
}

struct Rank {
  explicit Rank(Bootstrap* bootstrap, const ShmOptions& options = ShmOptions())
      : rank(bootstrap->rank()) {
    Require(CreateShmEndpoint(options, &endpoint));
    Require(Engine::Create(endpoint.get(), EngineOptions(), &engine));
    Require(Group::Create(engine.get(), bootstrap, 1, bootstrap->size(), &group));
  }
  // From `from` to all others, or to the next rank.
  Status Run(bool is_broadcast, int from, const Matrix& matrix,
             OperationStatistics* did = nullptr) {
    PatternCall call;
    call.pattern = is_broadcast   ? Pattern::kBroadcast
                   : rank == from ? Pattern::kSend
                                  : Pattern::kReceive;
    call.root = is_broadcast || rank != from ? from : PeerOf(from);
    call.topology = topology;
    call.matrix = matrix;
    call.timeout_seconds = timeout_seconds;
    if (!starts) return group->Run(call, did);
    std::unique_ptr<Operation> operation;
    while (group->Start(call, &operation).code() == StatusCode::kNoResource) continue;
    return operation->Wait(did);
  }
  int PeerOf(int from) const { return (from + 1) % group->ScopeSize(ChannelKind::kAll); }
  Channel channel(bool is_broadcast) const {
    return {group->state()->id, is_broadcast ? ChannelKind::kAll : ChannelKind::kPointToPoint};
  }
  // Of the next message of rank 0, to rank 1 if not to all.
  uint64_t CallNumber(bool is_broadcast) const {
    const GroupState& state = *group->state();
    return is_broadcast ? state.scope_sequence[static_cast<int>(ChannelKind::kAll)]
           : rank == 0  ? state.send_sequence[1]
                        : state.receive_sequence[0];
  }
  OutEdge* To(bool is_broadcast, int peer) const {
    return group->state()->edges->EdgeTo(channel(is_broadcast), peer);
  }
  InEdge* From(bool is_broadcast, int peer) const {
    return group->state()->edges->EdgeFrom(channel(is_broadcast), peer);
  }

  const int rank;
  bool shares = true;  // what it sends
  bool starts = false;
  Topology topology{Shape::kFree, 0};  // of broadcasts
  double timeout_seconds = 0;          // of its calls
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
  SharedMemory shared;
};

// --- as threads ---

class Offers : public testing::TestWithParam<std::tuple<int, bool>> {};

TEST_P(Offers, AreReadBeforeTheirMemoryIsWrittenAnew) {
  const auto [ranks, by_kernel] = GetParam();
  const int rounds = StressRounds(400, 10000);
  RunRanks(ranks, InprocOptions(), [&](InprocWorld& world, int rank) {
    Rank me(world.MakeBootstrap(rank).get(), by_kernel ? ByKernel() : ShmOptions());
    std::vector<double> own(2 * kMostElems);
    std::mt19937 random(StressSeed());  // the same on all
    std::mt19937 alone(StressSeed() + static_cast<unsigned>(rank));
    const Topology topologies[] = {{Shape::kFree, 0},       {Shape::kIncreasingRings, 1},
                                   {Shape::kTree, 2},       {Shape::kSplitRing, 2},
                                   {Shape::kTwoTree, 0},    {Shape::kCirculant, 0},
                                   {Shape::kTree, 2, true}, {Shape::kDecreasingRings, 2}};
    for (int round = 0; round < rounds; ++round) {
      const bool is_broadcast = random() % 2 == 0;
      const int from = static_cast<int>(random() % static_cast<unsigned>(ranks));
      const auto cols = static_cast<int64_t>(random() % 3 == 0 ? 64 : 1);
      const size_t most_elems = random() % 8 == 0 ? kMostElems : kMostElems / 16;
      const auto rows = static_cast<int64_t>(1 + random() % most_elems) / cols;
      const bool from_shared = !by_kernel || random() % 8 == 0;
      const bool to_shared = random() % 4 == 0;
      const int64_t ld[] = {rows, rows + static_cast<int64_t>(random() % 2) * rows / 2};
      const int gap = static_cast<int>(random() % 2);
      me.topology = topologies[random() % std::size(topologies)];
      me.starts = alone() % 16 == 0;
      const bool sends = rank == from;
      if (rows == 0 || (!is_broadcast && !sends && rank != me.PeerOf(from))) continue;
      Matrix matrix;
      matrix.data = reinterpret_cast<std::byte*>(
          (sends ? from_shared : to_shared) ? me.shared.data() : own.data());
      matrix.layout = LayoutOf(rows, cols, ld[sends ? gap : 1]);
      if (sends) Fill(matrix, round);
      Require(me.Run(is_broadcast, from, matrix));
      if (sends) {
        Fill(matrix, -1e9);
      } else {
        ASSERT_TRUE(Holds(matrix, round)) << round << " of " << rows << " x " << cols;
        Fill(matrix, -2e9);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Of, Offers,
                         testing::Combine(testing::Values(2, 3, 4, 8), testing::Bool()));

// Rank 2 says that it waits, and does nothing until the root's call is over. The root waits for
// rank 1, which reads, and sends to rank 2 alone what that has not read.
TEST(OffersToSome, TheOthersAreServedAsEver) {
  for (const size_t bytes : {kShort, kLong}) {
    std::atomic<bool> some_read{false};
    std::atomic<int> begun{0};
    std::atomic<int> over{0};
    RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
      Rank me(world.MakeBootstrap(rank).get());
      std::vector<double> own(bytes / sizeof(double));
      Matrix matrix;
      matrix.data = reinterpret_cast<std::byte*>(rank == 0 ? me.shared.data() : own.data());
      const auto elems = static_cast<int64_t>(bytes / sizeof(double));
      matrix.layout = LayoutOf(elems, 1, elems);
      for (int round = 0; round < 5000; ++round) {
        if (rank == 0) {
          Fill(matrix, round);
          while (begun < round) std::this_thread::yield();
          std::this_thread::sleep_for(std::chrono::microseconds(round % 10));
        } else if (rank == 2 && round > 0) {
          const bool awaits = me.From(true, 0)->AwaitOffer(matrix.layout, me.CallNumber(true));
          ASSERT_TRUE(awaits || round < 3);
          begun = round;
          while (over <= round) std::this_thread::yield();
          while (awaits && !me.From(true, 0)->TakeLandingBack()) std::this_thread::yield();
        }
        OperationStatistics did;
        Require(me.Run(true, 0, matrix, &did));
        if (rank == 0) {
          over = round + 1;
          Fill(matrix, -1e9);
          EXPECT_GT(did.copies, 1);
        } else {
          ASSERT_TRUE(Holds(matrix, round));
        }
        if (rank == 1 && did.pieces == 1) some_read = true;
        Meet(world, rank);
        if (some_read) break;
        Meet(world, rank);
      }
    });
    EXPECT_TRUE(some_read) << bytes;
  }
}

// --- as processes ---

// First messages, with which their sender asks to be told who waits.
Matrix Begin(Rank* me, bool is_broadcast, std::vector<double>* own, size_t bytes) {
  own->resize(bytes / sizeof(double));
  Matrix matrix;
  const bool is_shared = me->rank == 0 && me->shares;
  matrix.data = reinterpret_cast<std::byte*>(is_shared ? me->shared.data() : own->data());
  const auto elems = static_cast<int64_t>(own->size());
  matrix.layout = LayoutOf(elems, 1, elems);
  for (int i = 0; i < 2; ++i) Require(me->Run(is_broadcast, 0, matrix));
  return matrix;
}

void OfferByHand(const Rank& me, bool is_broadcast, const Matrix& matrix) {
  OutEdge* const edge = me.To(is_broadcast, 1);
  const SharedSource source = SharedSource::Of(matrix.layout, matrix.data);
  const std::byte head[EdgeLanding::kHeadBytes] = {};
  while (!edge->Hold(source, me.CallNumber(is_broadcast))) std::this_thread::yield();
  edge->Offer({head, sizeof(head)}, source);
}

void AwaitByHand(const Rank& me, bool is_broadcast, const Matrix& matrix) {
  InEdge* const edge = me.From(is_broadcast, 0);
  while (!edge->AwaitOffer(matrix.layout, me.CallNumber(is_broadcast))) std::this_thread::yield();
}

bool IsStopped(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string state;
  file >> state >> state >> state;
  return state == "T";
}

void AwaitStop(pid_t process) {
  while (!IsStopped(process)) continue;
}

// Until rank 1 waits for an offer, or is gone, or the group is broken; or until a process is
// stopped.
void AwaitReader(const Rank& me, bool is_broadcast, pid_t process = 0) {
  while (me.group->failure().ok()) {
    const OutEdge* const edge = me.To(is_broadcast, 1);
    if (edge->IsAwaited() || edge->lost() || IsStopped(process)) return;
    me.endpoint->Nudge();
  }
}

int Report(bool is_right, const char* what) {
  if (!is_right) std::fprintf(stderr, "%s\n", what);
  return is_right ? 0 : 1;
}

enum class By { kSend, kBroadcast, kBroadcastThroughTheKernel };

// With what `by` needs.
std::unique_ptr<Rank> RankFor(By by, Bootstrap* bootstrap) {
  const bool by_kernel = by == By::kBroadcastThroughTheKernel;
  auto me = std::make_unique<Rank>(bootstrap, by_kernel ? ByKernel() : ShmOptions());
  me->shares = !by_kernel;
  return me;
}

class OffersToProcesses : public testing::TestWithParam<By> {};

TEST_P(OffersToProcesses, ASenderDoesNotWaitForOneThatIsStopped) {
  const bool is_broadcast = GetParam() != By::kSend;
  for (const size_t bytes : {kShort, kLong}) {
    const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
      const std::unique_ptr<Rank> here = RankFor(GetParam(), bootstrap);
      Rank& me = *here;
      std::vector<double> own;
      const Matrix matrix = Begin(&me, is_broadcast, &own, bytes);
      if (me.rank == 1) AwaitByHand(me, is_broadcast, matrix);
      const pid_t process = getpid();
      pid_t all[2] = {};
      Require(bootstrap->AllGather(&process, sizeof(process), all));
      if (me.rank == 1) {
        raise(SIGSTOP);
        while (!me.From(is_broadcast, 0)->TakeLandingBack()) std::this_thread::yield();
        Require(me.Run(is_broadcast, 0, matrix));
        return Report(Holds(matrix, 1), "what is sent before its receiver goes on is another");
      }
      AwaitStop(all[1]);
      Fill(matrix, 1);
      OperationStatistics did;
      Require(me.Run(is_broadcast, 0, matrix, &did));
      Fill(matrix, 2);
      kill(all[1], SIGCONT);
      Require(me.engine->Drain());
      return Report(did.copies > 1, "it was not staged");
    });
    EXPECT_EQ(ends, std::vector<int>(2, 0)) << bytes;
  }
}

// Until it has begun to read: an offer may be taken back before.
TEST_P(OffersToProcesses, AReaderThatDiesIsLost) {
  const bool is_broadcast = GetParam() != By::kSend;
  const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
    const std::unique_ptr<Rank> here = RankFor(GetParam(), bootstrap);
    Rank& me = *here;
    std::vector<double> own;
    const Matrix matrix = Begin(&me, is_broadcast, &own, kShort);
    for (;;) {
      if (me.rank == 0) {
        AwaitReader(me, is_broadcast);
        const Status status = me.Run(is_broadcast, 0, matrix);
        if (status.ok()) continue;
        return Report(status.code() == StatusCode::kPeerLost, status.ToString().c_str());
      }
      AwaitByHand(me, is_broadcast, matrix);
      InEdge* const edge = me.From(is_broadcast, 0);
      while (edge->Peek() == nullptr) {
        if (!edge->TakeOffer()) continue;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        raise(SIGKILL);
      }
      Require(me.Run(is_broadcast, 0, matrix));
    }
  });
  EXPECT_EQ(ends, (std::vector<int>{0, SIGKILL}));
}

// Rank 1 is stopped within an offer of rank 0, which returns, and writes its memory anew. What
// rank 1 has read of that gives way to what it is sent, and the next messages come as ever.
TEST_P(OffersToProcesses, AReaderThatIsStoppedKeepsNobody) {
  const bool is_broadcast = GetParam() != By::kSend;
  for (const size_t bytes : {kShort, kLong}) {
    const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
      const std::unique_ptr<Rank> here = RankFor(GetParam(), bootstrap);
      Rank& me = *here;
      std::vector<double> own;
      const Matrix matrix = Begin(&me, is_broadcast, &own, bytes);
      const pid_t process = getpid();
      pid_t all[2] = {};
      const auto meet = [&] { Require(bootstrap->AllGather(&process, sizeof(process), all)); };
      meet();
      int round = 0;
      int wrong = 0;
      const auto run = [&] {
        ++round;
        if (me.rank == 0) Fill(matrix, round);
        Require(me.Run(is_broadcast, 0, matrix));
        if (me.rank == 1) wrong += Report(Holds(matrix, round), "it is not what was sent");
        if (me.rank == 0) Fill(matrix, -1e9);
      };
      if (me.rank == 0) {
        while (!IsStopped(all[1])) {
          AwaitReader(me, is_broadcast, all[1]);
          if (!IsStopped(all[1])) run();
        }
        kill(all[1], SIGCONT);
        meet();
      } else {
        InEdge* const edge = me.From(is_broadcast, 0);
        for (bool was_stopped = false; !was_stopped;) {
          AwaitByHand(me, is_broadcast, matrix);
          while (edge->Peek() == nullptr && !edge->TakeOffer()) continue;
          was_stopped = edge->has_offer();
          if (was_stopped) {
            raise(SIGSTOP);
            const bool is_read = edge->ReadOffer(bytes, matrix.layout, matrix.data);
            wrong += Report(is_read && Holds(matrix, -1e9), "the sender has not gone on before");
            wrong += Report(!edge->EndOffer(is_read), "what was withdrawn counts as read");
            meet();
          }
          run();
        }
      }
      for (int i = 0; i < 100; ++i) run();
      meet();  // or one would be lost
      return wrong;
    });
    EXPECT_EQ(ends, std::vector<int>(2, 0)) << bytes;
  }
}

// Rank 1 stops within an offer of rank 0, whose call then fails as is expected: at the end of its
// time, or by an abort of rank 2, which may also come a little later. It goes on when that memory
// has been written anew.
int StopWithinAnOffer(Rank* me, Bootstrap* bootstrap, bool is_broadcast, StatusCode expected) {
  std::vector<double> own;
  Matrix matrix;
  if (me->rank < 2) matrix = Begin(me, is_broadcast, &own, kShort);
  const pid_t here = getpid();
  std::vector<pid_t> all(static_cast<size_t>(me->group->ScopeSize(ChannelKind::kAll)));
  Require(bootstrap->AllGather(&here, sizeof(here), all.data()));
  Status status;
  bool counts = false;
  if (me->rank == 0) {
    me->timeout_seconds = expected == StatusCode::kTimedOut ? 0.01 : 0;
    while (status.ok()) {
      AwaitReader(*me, is_broadcast);
      status = me->Run(is_broadcast, 0, matrix);
    }
    Fill(matrix, -1e9);
    AwaitStop(all[1]);
    kill(all[1], SIGCONT);
  } else if (me->rank == 1) {
    InEdge* const edge = me->From(is_broadcast, 0);
    for (bool is_over = false; !is_over;) {
      AwaitByHand(*me, is_broadcast, matrix);
      while (edge->Peek() == nullptr && !edge->TakeOffer()) continue;
      is_over = edge->has_offer();
      if (is_over) {
        raise(SIGSTOP);
        counts = edge->EndOffer(edge->ReadOffer(kShort, matrix.layout, matrix.data));
      }
      status = me->Run(is_broadcast, 0, matrix);
    }
  } else {
    AwaitStop(all[1]);
    me->group->Abort("enough");
    status = me->group->failure();
  }
  Require(bootstrap->AllGather(&here, sizeof(here), all.data()));  // or it would be lost
  return Report(!counts, "what was withdrawn counts as read") +
         Report(status.code() == expected, status.ToString().c_str());
}

TEST_P(OffersToProcesses, AReaderThatIsStoppedKeepsNoCallBeyondItsTime) {
  const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
    const bool is_broadcast = GetParam() != By::kSend;
    return StopWithinAnOffer(RankFor(GetParam(), bootstrap).get(), bootstrap, is_broadcast,
                             StatusCode::kTimedOut);
  });
  EXPECT_EQ(ends, std::vector<int>(2, 0));
}

INSTANTIATE_TEST_SUITE_P(By, OffersToProcesses,
                         testing::Values(By::kSend, By::kBroadcast,
                                         By::kBroadcastThroughTheKernel));

TEST(OffersOfProcesses, AnAbortEndsTheCallThatWaitsForAReader) {
  const std::vector<int> ends = RunProcesses(3, [&](Bootstrap* bootstrap) {
    Rank me(bootstrap);
    return StopWithinAnOffer(&me, bootstrap, /*is_broadcast=*/false, StatusCode::kAborted);
  });
  EXPECT_EQ(ends, std::vector<int>(3, 0));
}

// Its memory stays mapped at whom it was once offered to.
TEST(OffersOfProcesses, WhatADeadSenderHasOfferedIsRead) {
  const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
    Rank me(bootstrap);
    std::vector<double> own;
    const Matrix matrix = Begin(&me, /*is_broadcast=*/false, &own, kLong);
    if (me.rank == 0) {
      for (const double value : {1, 2}) {
        Fill(matrix, value);
        OfferByHand(me, /*is_broadcast=*/false, matrix);
        while (value == 1 && me.To(/*is_broadcast=*/false, 1)->HasOffer()) {
          std::this_thread::yield();
        }
      }
      raise(SIGKILL);
    }
    InEdge* const edge = me.From(/*is_broadcast=*/false, 0);
    for (const double value : {1, 2}) {
      AwaitByHand(me, /*is_broadcast=*/false, matrix);
      if (value == 2) {
        while (!edge->lost()) {
          (void)me.engine->Progress();
          me.endpoint->Nudge();
        }
      }
      while (!edge->TakeOffer()) std::this_thread::yield();
      const bool is_read = edge->ReadOffer(kLong, matrix.layout, matrix.data);
      if (!edge->EndOffer(is_read) || !is_read || !Holds(matrix, value))
        return Report(false, "it is not what was offered");
    }
    return 0;
  });
  EXPECT_EQ(ends, (std::vector<int>{SIGKILL, 0}));
}

TEST(OffersOfProcesses, WhatADeadSenderHasOfferedToTheKernelIsLost) {
  const std::vector<int> ends = RunProcesses(2, [&](Bootstrap* bootstrap) {
    const std::unique_ptr<Rank> here = RankFor(By::kBroadcastThroughTheKernel, bootstrap);
    Rank& me = *here;
    std::vector<double> own;
    const Matrix matrix = Begin(&me, /*is_broadcast=*/true, &own, kShort);
    if (me.rank == 0) {
      OfferByHand(me, /*is_broadcast=*/true, matrix);
      raise(SIGKILL);
    }
    AwaitByHand(me, /*is_broadcast=*/true, matrix);
    InEdge* const edge = me.From(/*is_broadcast=*/true, 0);
    while (!edge->lost()) {
      (void)me.engine->Progress();
      me.endpoint->Nudge();
    }
    while (!edge->TakeOffer()) std::this_thread::yield();
    const bool is_read = edge->ReadOffer(kShort, matrix.layout, matrix.data);
    const bool is_ended = edge->EndOffer(is_read);
    const Status status = me.Run(/*is_broadcast=*/true, 0, matrix);
    return Report(!is_read && is_ended, "it is read") +
           Report(status.code() == StatusCode::kPeerLost, status.ToString().c_str());
  });
  EXPECT_EQ(ends, (std::vector<int>{SIGKILL, 0}));
}

// --- where some relay ---

constexpr Topology kChain{Shape::kIncreasingRings, 1};

// Waits a little until all others wait for an offer.
void AwaitAll(const Rank& me) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  for (int peer = 1; peer < me.group->ScopeSize(ChannelKind::kAll); ++peer) {
    while (!me.To(true, peer)->IsAwaited() && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
  }
}

// None has passed anything on, and each has the message in one copy.
TEST(OffersToRelays, AllReadWhereTheRootHasIt) {
  for (const size_t bytes : {kShort, kLong}) {
    std::atomic<int> readers{0};
    std::atomic<bool> all_read{false};
    RunRanks(4, InprocOptions(), [&](InprocWorld& world, int rank) {
      Rank me(world.MakeBootstrap(rank).get());
      std::vector<double> own;
      const Matrix matrix = Begin(&me, /*is_broadcast=*/true, &own, bytes);
      me.topology = kChain;
      for (int round = 0; round < 5000 && !all_read; ++round) {
        readers = 0;
        Meet(world, rank);
        if (rank == 0) {
          Fill(matrix, round);
          AwaitAll(me);
        }
        OperationStatistics did;
        Require(me.Run(true, 0, matrix, &did));
        if (rank == 0) {
          Fill(matrix, -1e9);
        } else {
          ASSERT_TRUE(Holds(matrix, round));
          readers += did.copies == 1 && did.messages_sent == 0 ? 1 : 0;
        }
        Meet(world, rank);
        if (rank == 0 && readers == 3 && did.copies == 0) {
          EXPECT_EQ(did.messages_sent, 3);
          EXPECT_EQ(did.bytes_copied, 0);
          all_read = true;
        }
        Meet(world, rank);
      }
    });
    EXPECT_TRUE(all_read) << bytes;
  }
}

// Memory that whoever writes to it first raises a signal by that, once it is set.
class Trap {
 public:
  explicit Trap(size_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Trap() { munmap(data_, bytes_); }
  Trap(const Trap&) = delete;
  Trap& operator=(const Trap&) = delete;

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  void Set(int signal) {
    set_ = this;
    signal_ = signal;
    struct sigaction action = {};
    action.sa_handler = [](int) {
      mprotect(set_->data_, set_->bytes_, PROT_READ | PROT_WRITE);
      raise(set_->signal_);
    };
    sigaction(SIGSEGV, &action, nullptr);
    mprotect(data_, bytes_, PROT_NONE);
  }

 private:
  inline static Trap* set_ = nullptr;
  const size_t bytes_;
  void* const data_;
  int signal_ = 0;
};

// Rank 1 is stopped within its copy, until the root's call is over and its memory written anew. The
// others have read, and do not need what it does not pass on.
TEST(OffersToRelays, OneThatIsStoppedKeepsNobody) {
  for (const size_t bytes : {kShort, kLong}) {
    const std::vector<int> ends = RunProcesses(4, [&](Bootstrap* bootstrap) {
      Rank me(bootstrap);
      std::vector<double> own;
      Matrix matrix = Begin(&me, /*is_broadcast=*/true, &own, bytes);
      me.topology = kChain;
      Trap trap(bytes);
      if (me.rank == 1) matrix.data = trap.data();
      struct Said {
        pid_t process = getpid();
        bool relays = true;
      } said;
      Said all[4];
      int wrong = 0;
      const auto run = [&](int round) {
        if (me.rank == 0) {
          Fill(matrix, round);
          AwaitAll(me);
        }
        OperationStatistics did;
        Require(me.Run(true, 0, matrix, &did));
        said.relays = did.messages_sent > 0;
        if (me.rank == 0) Fill(matrix, -1e9);
        return round;
      };
      int round = 0;
      for (all[2].relays = true; all[2].relays && round < 200; ++round) {
        Require(bootstrap->AllGather(&said, sizeof(said), all));
        if (me.rank == 1) trap.Set(SIGSTOP);
        run(round);
        if (me.rank == 0) {
          AwaitStop(all[1].process);
          kill(all[1].process, SIGCONT);
        } else {
          wrong += Report(Holds(matrix, round), "it is not what was sent");
        }
        Require(bootstrap->AllGather(&said, sizeof(said), all));
      }
      wrong += Report(!all[2].relays, "it was never read by all others");
      for (int i = 0; i < 100; ++i) {
        run(++round);
        if (me.rank > 0) wrong += Report(Holds(matrix, round), "the next is not what was sent");
      }
      Require(bootstrap->AllGather(&said, sizeof(said), all));  // or one would be lost
      return wrong;
    });
    EXPECT_EQ(ends, std::vector<int>(4, 0)) << bytes;
  }
}

// Rank 1 dies within its copy.
TEST(OffersToRelays, OneThatDiesIsLost) {
  const std::vector<int> ends = RunProcesses(4, [&](Bootstrap* bootstrap) {
    Rank me(bootstrap);
    std::vector<double> own;
    Matrix matrix = Begin(&me, /*is_broadcast=*/true, &own, kShort);
    me.topology = kChain;
    Trap trap(kShort);
    if (me.rank == 1) {
      matrix.data = trap.data();
      trap.Set(SIGKILL);
    }
    for (int round = 0;; ++round) {
      if (me.rank == 0) {
        Fill(matrix, round);
        AwaitAll(me);
      }
      const Status status = me.Run(true, 0, matrix);
      if (!status.ok()) {
        return Report(status.code() == StatusCode::kPeerLost, status.ToString().c_str());
      }
      if (me.rank > 0 && !Holds(matrix, round)) return Report(false, "it is not what was sent");
      if (me.rank == 0) Fill(matrix, -1e9);
    }
  });
  EXPECT_EQ(ends, (std::vector<int>{0, SIGKILL, 0, 0}));
}

// The root dies or is stopped when it holds both others, or so many of them have read.
int LeaveHeld(Bootstrap* bootstrap, int readers, int signal) {
  Rank me(bootstrap);
  std::vector<double> own;
  const Matrix matrix = Begin(&me, /*is_broadcast=*/true, &own, kShort);
  me.topology = kChain;
  const pid_t process = getpid();
  pid_t all[3] = {};
  if (me.rank == 0) Fill(matrix, 7);
  Require(bootstrap->AllGather(&process, sizeof(process), all));
  if (me.rank == 0) {
    PatternCall call;
    call.pattern = Pattern::kBroadcast;
    call.topology = kChain;
    WireHeader header;
    SetHeader(EntryOf(call.pattern), call, me.CallNumber(true), kShort, &header);
    const ConstByteSpan head(reinterpret_cast<const std::byte*>(&header), sizeof(header));
    const SharedSource source = SharedSource::Of(matrix.layout, matrix.data);
    // Who comes late is not held, and waits for this rank all the same.
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(1);
    const auto is_late = [&] { return std::chrono::steady_clock::now() > end; };
    bool held = true;
    for (const int peer : {1, 2}) {
      while (!me.To(true, peer)->Hold(source, me.CallNumber(true)) && !is_late()) continue;
      held &= !is_late();
    }
    for (int peer = 1; held && peer <= readers; ++peer) {
      me.To(true, peer)->Offer(head, source);
      while (me.To(true, peer)->HasOffer()) std::this_thread::yield();
    }
    raise(signal);
    return 0;
  }
  const StatusCode expected = signal == SIGKILL ? StatusCode::kPeerLost : StatusCode::kTimedOut;
  me.timeout_seconds = signal == SIGSTOP ? 0.3 : 0;
  Status status = me.Run(true, 0, matrix);
  int wrong = 0;
  if (status.ok()) {
    wrong = Report(me.rank <= readers && Holds(matrix, 7), "nobody has sent it that");
    status = me.Run(true, 0, matrix);
  }
  if (me.rank == 2 && signal == SIGSTOP) {
    AwaitStop(all[0]);
    kill(all[0], SIGCONT);
  }
  return wrong + Report(status.code() == expected, status.ToString().c_str());
}

TEST(OffersToRelays, ARootThatIsLostOrStoppedIsNotWaitedForWithoutEnd) {
  for (const int readers : {0, 1}) {
    for (const int signal : {SIGKILL, SIGSTOP}) {
      const std::vector<int> ends = RunProcesses(
          3, [&](Bootstrap* bootstrap) { return LeaveHeld(bootstrap, readers, signal); });
      EXPECT_EQ(ends, (std::vector<int>{signal == SIGKILL ? SIGKILL : 0, 0, 0})) << readers;
    }
  }
}

// The root lets rank 1 go when most of its time is over, and sends nothing.
TEST(OffersToRelays, WhoWasHeldHasNoMoreTimeForThat) {
  std::atomic<bool> is_over{false};
  RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
    using Clock = std::chrono::steady_clock;
    Rank me(world.MakeBootstrap(rank).get());
    std::vector<double> own;
    const Matrix matrix = Begin(&me, /*is_broadcast=*/true, &own, kShort);
    me.topology = kChain;
    Meet(world, rank);
    if (rank == 0) {
      const SharedSource source = SharedSource::Of(matrix.layout, matrix.data);
      OutEdge* const edge = me.To(true, 1);
      while (!edge->Hold(source, me.CallNumber(true)) && !is_over) continue;
      std::this_thread::sleep_for(std::chrono::milliseconds(1900));
      if (!is_over) edge->LetGo();
    } else if (rank == 1) {
      me.timeout_seconds = 2;
      const Clock::time_point begun = Clock::now();
      const Status status = me.Run(true, 0, matrix);
      is_over = true;
      EXPECT_EQ(status.code(), StatusCode::kTimedOut) << status.ToString();
      EXPECT_LT(Clock::now() - begun, std::chrono::milliseconds(3500));
    }
    Meet(world, rank);
  });
}

// Rank 2 has made another call than the others.
TEST(OffersToRelays, CallsThatDifferAreFound) {
  for (const bool in_length : {false, true}) {
    for (int i = 0; i < 20; ++i) {
      RunRanks(3, InprocOptions(), [&](InprocWorld& world, int rank) {
        Rank me(world.MakeBootstrap(rank).get());
        std::vector<double> own;
        Matrix matrix = Begin(&me, /*is_broadcast=*/true, &own, kShort);
        me.topology = kChain;
        if (rank == 2 && in_length) matrix.layout = LayoutOf(own.size() - 1, 1, own.size());
        me.topology.by_host = rank == 2 && !in_length;
        Meet(world, rank);
        if (rank == 0) AwaitAll(me);
        const Status status = me.Run(true, 0, matrix);
        if (rank == 2) {
          EXPECT_EQ(status.code(), StatusCode::kMismatch) << status.ToString();
        }
        Meet(world, rank);
      });
    }
  }
}

}  // namespace
}  // namespace brigade

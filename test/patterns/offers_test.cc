// Messages that receivers that wait read where their sender has them, in memory of brigade_alloc,
// or, as the kernel reads it, in any: what arrives, though the sender writes its memory anew as
// soon as its call has returned; and that nobody waits for a receiver that has not begun, nor for
// long for one that does not end.

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/engine/group_state.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/wire_header.h"
#include "patterns/group/group.h"
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
    call.topology.shape = Shape::kFree;
    call.matrix = matrix;
    call.timeout_seconds = timeout_seconds;
    return group->Run(call, did);
  }
  int PeerOf(int from) const { return (from + 1) % group->ScopeSize(ChannelKind::kAll); }
  Channel channel(bool is_broadcast) const {
    return {group->state()->id, is_broadcast ? ChannelKind::kAll : ChannelKind::kPointToPoint};
  }
  OutEdge* To(bool is_broadcast, int peer) const {
    return group->state()->edges->EdgeTo(channel(is_broadcast), peer);
  }
  InEdge* From(bool is_broadcast, int peer) const {
    return group->state()->edges->EdgeFrom(channel(is_broadcast), peer);
  }

  const int rank;
  bool shares = true;          // what it sends
  double timeout_seconds = 0;  // of its calls
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
          const bool awaits = me.From(true, 0)->AwaitOffer(matrix.layout);
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

void AwaitByHand(const Rank& me, bool is_broadcast, const Matrix& matrix) {
  InEdge* const edge = me.From(is_broadcast, 0);
  while (!edge->AwaitOffer(matrix.layout)) std::this_thread::yield();
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
      OutEdge* const edge = me.To(/*is_broadcast=*/false, 1);
      const SharedSource source = SharedSource::Of(matrix.layout, matrix.data);
      const std::byte head[EdgeLanding::kHeadBytes] = {};
      for (const double value : {1, 2}) {
        Fill(matrix, value);
        while (!edge->Offer({head, sizeof(head)}, source)) std::this_thread::yield();
        while (value == 1 && edge->HasOffer()) std::this_thread::yield();
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
      OutEdge* const edge = me.To(/*is_broadcast=*/true, 1);
      const std::byte head[EdgeLanding::kHeadBytes] = {};
      const SharedSource source = SharedSource::Of(matrix.layout, matrix.data);
      while (!edge->Offer({head, sizeof(head)}, source)) std::this_thread::yield();
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

}  // namespace
}  // namespace brigade

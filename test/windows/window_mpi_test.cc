// Windows over every transport of an MPI job, by messages and directly.

#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/element.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry/registry.h"
#include "windows/core/other_threads.h"
#include "windows/core/window.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/member.h"
#include "windows/message/window_space.h"

namespace brigade {
namespace {

constexpr int64_t kSlots = 450000;  // many segments
// Short ones, so many that the kernel does not copy them.
constexpr int64_t kBlocks = 3000;
constexpr int64_t kFar = kSlots / kBlocks;

constexpr int kHasBegun = 1;  // the tag of an empty message

// An endpoint whose progress thread may leave.
class Leaving : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  Status OpenGroup(Bootstrap* bootstrap, GroupId* group) override {
    const Status status = ForwardingEndpoint::OpenGroup(bootstrap, group);
    if (leaves_next) has_left_ = true;
    return status;
  }
  bool AllowsProgressThread() const override {
    return !has_left_ && ForwardingEndpoint::AllowsProgressThread();
  }
  bool Progress() override {
    const bool is_progress_thread = std::this_thread::get_id() != owner_;
    return (!is_deaf || !is_progress_thread) && !is_stuck && ForwardingEndpoint::Progress();
  }

  Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) override {
    const Status status = ForwardingEndpoint::SendControl(group, peer, message, urgency);
    if (status.ok() && std::this_thread::get_id() == owner_) AnnounceBegin();
    return status;
  }
  // To rank 0, once after `announces` was set: in the next send of the owner, or by a call.
  void AnnounceBegin() {
    if (!std::exchange(announces, false)) return;
    MPI_Send(nullptr, 0, MPI_INT, 0, kHasBegun, MPI_COMM_WORLD);
  }

  bool announces = false;
  bool leaves_next = false;           // from the next group on there is none
  std::atomic<bool> is_deaf{false};   // the progress thread receives nothing
  std::atomic<bool> is_stuck{false};  // no thread here receives anything

 private:
  const std::thread::id owner_ = std::this_thread::get_id();
  bool has_left_ = false;
};

class WindowMpi : public testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  void SetUp() override {
    std::unique_ptr<Endpoint> endpoint;
    ASSERT_TRUE(CreateEndpoint(std::get<0>(GetParam()), &endpoint).ok());
    endpoint_ = std::make_unique<Leaving>(std::move(endpoint));
    ASSERT_TRUE(Engine::Create(endpoint_.get(), EngineOptions(), &engine_).ok());
    ASSERT_TRUE(WindowSpace::Create(engine_.get(), &space_).ok());
    options_.memory = reinterpret_cast<std::byte*>(memory_.data());
    options_.bytes = memory_.size() * sizeof(int64_t);
    options_.unit = sizeof(int64_t);
    options_.goes_directly = std::get<1>(GetParam());
    MpiBootstrap bootstrap(MPI_COMM_WORLD);
    Expect(Window::Create(space_.get(), &bootstrap, options_, &window_));
    ASSERT_NE(window_, nullptr);
    next_ = (window_->rank() + 1) % window_->size();
    previous_ = (window_->rank() + window_->size() - 1) % window_->size();
    WantAnswers(window_.get());
  }
  void TearDown() override {
    if (window_ != nullptr) Expect(window_->Free());
  }

  static void Expect(const Status& status) { EXPECT_TRUE(status.ok()) << status.ToString(); }
  static OriginData Words(std::vector<int64_t>* data) {
    return {reinterpret_cast<std::byte*>(data->data()), Word(), static_cast<int64_t>(data->size())};
  }
  static TypedLayout Word() { return TypedLayout::Run(Element::kInt64, 1); }
  // Every second word, or so; the same object every time.
  const TypedLayout& Every(int64_t distance) {
    TypedLayout& layout = every_[distance];
    const auto stride = distance * static_cast<int64_t>(sizeof(int64_t));
    if (layout.size() == 0) Expect(TypedLayout::Repeat(kBlocks, stride, Word(), &layout));
    return layout;
  }
  // The kernel does what nobody answers for. From its next call on each has a progress thread that
  // answers.
  void WantAnswers(Window* window) {
    if (!window->is_direct()) return;
    std::vector<int64_t> sent(kBlocks);
    Expect(window->Lock(LockKind::kShared, next_));
    Expect(window->Put(Words(&sent), {next_, 0, Every(2), 1}));
    Expect(window->Unlock(next_));
    EXPECT_EQ(window->layouts_sent(), 0U);
    MPI_Barrier(MPI_COMM_WORLD);
    Expect(window->Fence({/*nothing_precedes=*/true, /*nothing_succeeds=*/true}));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // The first short put finds no memory for mailboxes; later ones do. Between fences.
  void WantMailboxes() {
    std::vector<int64_t> sent(1);
    Expect(window_->Put(Words(&sent), {next_, 0, Word(), 1}));
    Expect(window_->Fence());
    Expect(window_->Fence());
  }
  // Whether operations on these do.
  bool GoesByMessages() const { return !window_->is_direct() || endpoint_->AllowsProgressThread(); }
  // On rank 0: all others have sent something of the operation before which they set `announces`.
  void AwaitAllBegin() const {
    for (int r = 1; r < window_->size(); ++r) {
      MPI_Recv(nullptr, 0, MPI_INT, r, kHasBegun, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  // So many layouts, if they do.
  uint64_t Told(uint64_t layouts) const { return GoesByMessages() ? layouts : 0; }

  std::vector<int64_t> memory_ = std::vector<int64_t>(kSlots);
  std::unique_ptr<Leaving> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<WindowSpace> space_;
  WindowOptions options_;
  std::unique_ptr<Window> window_;
  std::map<int64_t, TypedLayout> every_;
  int next_ = 0;
  int previous_ = 0;
};

TEST_P(WindowMpi, LongDataBetweenFences) {
  std::vector<int64_t> sent(kSlots, window_->rank() + 1);
  std::vector<int64_t> got(kSlots);
  Expect(window_->Fence());
  Expect(window_->Put(Words(&sent), {next_, 0, Word(), kSlots}));
  Expect(window_->Fence());
  EXPECT_EQ(memory_, std::vector<int64_t>(kSlots, previous_ + 1));
  Expect(window_->Get(Words(&got), {next_, 0, Word(), kSlots}));
  Expect(window_->Fence());
  EXPECT_EQ(got, sent);
  for (int r = 0; r < window_->size(); ++r) {
    Expect(window_->Accumulate(CombineOp::kSum, Words(&sent), {r, 0, Word(), kSlots}));
  }
  Expect(window_->Fence());
  const int64_t sum = window_->size() * (window_->size() + 1) / 2;
  EXPECT_EQ(memory_, std::vector<int64_t>(kSlots, previous_ + 1 + sum));
}

TEST_P(WindowMpi, LocksOfOneAndOfAll) {
  constexpr int kTimes = 50;
  std::vector<int64_t> one(1, 1);
  for (int i = 0; i < kTimes; ++i) {
    int64_t was = -1;
    Expect(window_->Lock(i % 2 == 0 ? LockKind::kExclusive : LockKind::kShared, 0));
    Expect(window_->FetchAndOp(CombineOp::kSum, Element::kInt64, one.data(), &was, 0, 0));
    Expect(window_->Unlock(0));
    EXPECT_GE(was, 0);
  }
  std::vector<int64_t> sent(kSlots - 1, 5);
  Expect(window_->LockAll());
  Expect(window_->Put(Words(&sent), {next_, 1, Word(), kSlots - 1}));
  Expect(window_->Flush(next_));
  std::vector<int64_t> got(kSlots - 1);
  Expect(window_->Get(Words(&got), {next_, 1, Word(), kSlots - 1}));
  Expect(window_->FlushLocalAll());
  EXPECT_EQ(got, sent);
  Expect(window_->UnlockAll());
  Expect(window_->Fence());
  if (window_->rank() == 0) {
    EXPECT_EQ(memory_[0], int64_t{kTimes} * window_->size());
  }
}

TEST_P(WindowMpi, PostAndStartAndNotifications) {
  std::vector<int64_t> sent(kSlots / 2, window_->rank());
  for (int i = 0; i < 3; ++i) {
    Expect(window_->Post({previous_}));
    Expect(window_->Start({next_}));
    Expect(window_->Put(Words(&sent), {next_, 0, Word(), kSlots / 2}));
    Expect(window_->Complete());
    Expect(window_->Wait());
    EXPECT_EQ(memory_[kSlots / 2 - 1], previous_);
    std::atomic<bool> over{false};
    Expect(window_->PutNotify(Words(&sent), {next_, kSlots / 2, Word(), kSlots / 2}, &over));
    Expect(window_->NotifyWait(previous_));
    EXPECT_EQ(memory_[kSlots - 1], previous_);
    Expect(window_->WaitFor(over));
  }
}

// A rank leaves with its answers sent: where MPI carries them, what it waits for in MPI may not
// come before they have.
TEST_P(WindowMpi, AnswersHaveLeftBehindAFence) {
  constexpr int64_t kGets = 200;
  for (int64_t i = 0; i < kGets; ++i) memory_[i] = 1000 * window_->rank() + i;
  std::vector<std::vector<int64_t>> got(static_cast<size_t>(window_->size()),
                                        std::vector<int64_t>(kGets));
  const bool asks = window_->rank() == 0;
  Expect(window_->Fence());
  for (int r = 1; asks && r < window_->size(); ++r) {
    for (int64_t i = 0; i < kGets; ++i) {
      auto* const word = reinterpret_cast<std::byte*>(&got[r][i]);
      Expect(window_->Get({word, Word(), 1}, {r, i, Word(), 1}));
    }
  }
  Expect(window_->Fence());
  for (int r = 1; r < window_->size(); ++r) {
    int word = asks ? r : 0;
    if (asks) MPI_Send(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD);
    if (window_->rank() != r) continue;
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    EXPECT_EQ(word, r);
  }
  for (int r = 1; asks && r < window_->size(); ++r) {
    for (int64_t i = 0; i < kGets; ++i) EXPECT_EQ(got[r][i], 1000 * r + i);
  }
}

// A message of MPI, for which it waits there, reports that the epochs are over.
TEST_P(WindowMpi, ATargetInsideMpiIsReached) {
  if (!window_->is_direct() && !endpoint_->AllowsProgressThread()) {
    GTEST_SKIP() << "over this transport a target must call";
  }
  std::vector<int64_t> sent(kSlots, 3);
  std::vector<int64_t> got(kSlots);
  for (int r = 1; r < window_->size(); ++r) {
    if (window_->rank() == r) {
      Expect(window_->Lock(LockKind::kExclusive, 0));
      Expect(window_->Put(Words(&sent), {0, 0, Word(), kSlots}));
      Expect(window_->Accumulate(CombineOp::kSum, Words(&sent), {0, 0, Word(), kSlots}));
      Expect(window_->Flush(0));
      Expect(window_->Get(Words(&got), {0, 0, Word(), kSlots}));
      Expect(window_->Unlock(0));
      EXPECT_EQ(got, std::vector<int64_t>(kSlots, 6));
      MPI_Send(&r, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (window_->rank() == 0) {
      int word = 0;
      MPI_Recv(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(word, r);
    }
  }
}

// A put that may wait for a fence leaves although its origin waits inside MPI and makes no call.
TEST_P(WindowMpi, APutBeforeAFenceLeavesWhileItsOriginWaitsInsideMpi) {
  const auto bring = [&](int64_t value) {
    if (window_->rank() == 0) {
      std::vector<int64_t> sent(100, value);
      Expect(window_->Put(Words(&sent), {1, 0, Word(), 100}, nullptr, /*fence_follows=*/true));
      if (value == 2) {  // from here on it has no progress thread, or so it seems
        endpoint_->leaves_next = true;
        MpiBootstrap alone(MPI_COMM_SELF);
        std::unique_ptr<Group> group;
        Expect(Group::Create(engine_.get(), &alone, 1, 1, &group));
      }
      int word = 0;
      MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (window_->rank() == 1) {
      const volatile int64_t* const last = &memory_[99];
      while (*last != value) Expect(window_->Progress());
      const int word = 0;
      MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    Expect(window_->Fence());
  };
  Expect(window_->Fence());
  if (window_->is_direct()) GTEST_SKIP() << "a mailbox is read behind its fence";
  bring(1);
  bring(2);
}

// --- operations on many short blocks ---

TEST_P(WindowMpi, PutsOfManyShortBlocksAreDoneAfterAnySynchronization) {
  int64_t value = 0;
  std::vector<int64_t> sent(kBlocks);
  const auto put = [&](bool notifies) {
    std::fill(sent.begin(), sent.end(), ++value);
    const TargetData there{next_, 0, Every(2), 1};
    Expect(notifies ? window_->PutNotify(Words(&sent), there) : window_->Put(Words(&sent), there));
  };
  const auto expect_mine = [&] {
    for (int64_t i = 0; i < 2 * kBlocks; ++i) ASSERT_EQ(memory_[i], i % 2 == 0 ? value : 0) << i;
  };
  const auto expect_there = [&] {
    std::vector<int64_t> got(kBlocks);
    Expect(window_->Get(Words(&got), {next_, 0, Every(2), 1}));
    Expect(window_->FlushLocal(next_));
    EXPECT_EQ(got, sent);
  };
  const auto meet = [&] { MPI_Barrier(MPI_COMM_WORLD); };

  Expect(window_->Fence());
  put(false);
  Expect(window_->Fence());
  expect_mine();
  // By a message, for which its layout was sent.
  EXPECT_EQ(window_->layouts_sent(), Told(1));
  Expect(window_->Fence({/*nothing_precedes=*/true, /*nothing_succeeds=*/true}));

  Expect(window_->Post({previous_}));
  Expect(window_->Start({next_}));
  put(false);
  Expect(window_->Complete());
  Expect(window_->Wait());
  expect_mine();
  meet();

  Expect(window_->Lock(LockKind::kShared, next_));
  put(false);
  Expect(window_->Flush(next_));
  expect_there();
  put(false);
  Expect(window_->FlushLocal(next_));
  std::fill(sent.begin(), sent.end(), -1);  // the origin's own again
  Expect(window_->Unlock(next_));
  if (window_->is_direct() || endpoint_->AllowsProgressThread()) {
    meet();  // nobody else needs a call of this rank
    expect_mine();
    meet();
  } else {
    Expect(window_->Fence());
    expect_mine();
    Expect(window_->Fence());
  }

  Expect(window_->LockAll());
  put(false);
  Expect(window_->FlushAll());
  expect_there();
  put(false);
  Expect(window_->UnlockAll());
  Expect(window_->Fence());
  expect_mine();
  Expect(window_->Fence());

  put(false);
  std::vector<int64_t> one(1, 7);  // behind a put by messages, one by the kernel
  Expect(window_->PutNotify(Words(&one), {next_, 2 * kBlocks, Word(), 1}));
  Expect(window_->NotifyWait(previous_));
  EXPECT_EQ(memory_[2 * kBlocks], 7);
  expect_mine();
  Expect(window_->Fence());
  put(true);
  Expect(window_->NotifyWait(previous_));
  expect_mine();
  Expect(window_->Fence());
}

// Data that are put into directly reachable memory are there when the call returns, by any path.
// Nothing ends the epoch, and the target makes no call.
TEST_P(WindowMpi, ReachedMemoryHoldsManyShortBlocksWhenThePutReturns) {
  Expect(window_->Fence());
  if (!window_->is_direct()) GTEST_SKIP() << "goes by messages alone";
  for (int64_t round = 1; round < 20; ++round) {
    std::vector<int64_t> sent(kBlocks, round);
    Expect(window_->Put(Words(&sent), {next_, 0, Every(2), 1}));
    std::fill(sent.begin(), sent.end(), -1);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t i = 0; i < 2 * kBlocks; ++i) ASSERT_EQ(memory_[i], i % 2 == 0 ? round : 0) << i;
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// The target waits inside MPI for the end of it all.
TEST_P(WindowMpi, ATargetThatIsElsewhereDoesManyShortBlocks) {
  for (int64_t i = 0; i < kSlots; ++i) memory_[i] = i;
  Expect(window_->Fence());
  if (!window_->is_direct() && !endpoint_->AllowsProgressThread()) {
    GTEST_SKIP() << "over this transport a target must call";
  }
  std::vector<int64_t> sent(kBlocks, 3);
  std::vector<int64_t> was(kBlocks);
  std::vector<int64_t> got(kBlocks);
  std::vector<int64_t> far(kBlocks);
  for (int r = 1; r < window_->size(); ++r) {
    if (window_->rank() == r) {
      const TargetData there{0, 0, Every(2), 1};
      Expect(window_->Lock(LockKind::kExclusive, 0));
      Expect(window_->Put(Words(&sent), there));
      Expect(window_->Flush(0));
      Expect(window_->Accumulate(CombineOp::kSum, Words(&sent), there));
      Expect(window_->GetAccumulate(CombineOp::kSum, Words(&sent), Words(&was), there));
      Expect(window_->Flush(0));
      Expect(window_->Get(Words(&got), there));
      EXPECT_EQ(window_->layouts_sent(), Told(1));
      Expect(window_->Get(Words(&far), {0, 1, Every(kFar), 1}));  // gaps that are not read along
      EXPECT_EQ(window_->layouts_sent(), Told(2));
      Expect(window_->Unlock(0));
      EXPECT_EQ(was, std::vector<int64_t>(kBlocks, 6));
      EXPECT_EQ(got, std::vector<int64_t>(kBlocks, 9));
      for (int64_t i = 0; i < kBlocks; ++i) ASSERT_EQ(far[i], 1 + i * kFar);
      MPI_Send(&r, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    } else if (window_->rank() == 0) {
      int word = 0;
      MPI_Recv(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(word, r);
    }
  }
}

// Accumulates of one origin are in order, and atomic against those of other origins, some by
// messages and some direct.
TEST_P(WindowMpi, AccumulatesOfManyShortBlocksAreOrderedAndAtomic) {
  constexpr int64_t kTimes = 10;
  std::vector<int64_t> one(kBlocks, 1);
  std::vector<int64_t> all(2 * kBlocks, 1);
  Expect(window_->Fence());
  for (int64_t i = 0; i < kTimes; ++i) {
    for (int r = 0; r < window_->size(); ++r) {
      Expect(window_->Accumulate(CombineOp::kSum, Words(&one), {r, 0, Every(2), 1}));
      Expect(window_->Accumulate(CombineOp::kSum, Words(&all), {r, 0, Word(), 2 * kBlocks}));
    }
  }
  Expect(window_->Fence());
  const int64_t sum = kTimes * window_->size();
  for (int64_t i = 0; i < 2 * kBlocks; ++i) ASSERT_EQ(memory_[i], i % 2 == 0 ? 2 * sum : sum) << i;
  Expect(window_->Fence());
  for (int64_t i = 1; i <= kTimes; ++i) {
    std::vector<int64_t> many(kBlocks, i);
    std::vector<int64_t> few(2, -i);
    std::vector<int64_t> was(1);
    const auto replace = CombineOp::kReplace;
    Expect(window_->Accumulate(replace, Words(&many), {next_, 0, Every(2), 1}));
    Expect(window_->Accumulate(replace, Words(&few), {next_, 0, Word(), 2}));
    Expect(window_->FetchAndOp(CombineOp::kNoOp, Element::kInt64, nullptr, was.data(), next_, 0));
    Expect(window_->Fence());
    EXPECT_EQ(was[0], -i);
    EXPECT_EQ(memory_[0], -i);
    EXPECT_EQ(memory_[2], i);
    Expect(window_->Fence());
  }
}

// The target opens a group that seems to use `mpi`. Its progress thread answers pending requests of
// other ranks first. Their later operations need no thread of the target, which is inside MPI.
TEST_P(WindowMpi, AProgressThreadEndsAfterPendingRequests) {
  struct Threads : OtherThreads {
    bool AnyWait() const override { return true; }
    void LetIn() override { ++times; }
    int times = 0;
  } threads;
  WindowOptions options = options_;
  options.others = &threads;
  MpiBootstrap all(MPI_COMM_WORLD);
  std::unique_ptr<Window> window;
  Expect(Window::Create(space_.get(), &all, options, &window));
  WantAnswers(window.get());
  Expect(window->Fence());
  if (!GoesByMessages() || !window->is_direct()) {
    Expect(window->Free());
    GTEST_SKIP() << "no progress thread is counted on";
  }
  endpoint_->is_deaf = window_->rank() == 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (window_->rank() == 0) {
    AwaitAllBegin();
    endpoint_->leaves_next = true;
    MpiBootstrap alone(MPI_COMM_SELF);
    std::unique_ptr<Group> group;
    Expect(Group::Create(engine_.get(), &alone, 1, 1, &group));
    EXPECT_FALSE(endpoint_->AllowsProgressThread());
    int word = 0;
    for (int r = 1; r < window_->size(); ++r) {
      MPI_Send(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD);  // it has left
    }
    for (int r = 1; r < window_->size(); ++r) {
      MPI_Recv(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const int64_t* const mine = &memory_[static_cast<size_t>(2 * kBlocks * r)];
      for (int64_t i = 0; i < 2 * kBlocks; ++i) ASSERT_EQ(mine[i], i % 2 == 0 ? 2 : 0);
    }
  } else {
    const int rank = window_->rank();
    std::vector<int64_t> sent(kBlocks, 1);
    const TargetData there{0, 2 * kBlocks * rank, Every(2), 1};
    Expect(window->Lock(LockKind::kShared, 0));
    threads.times = 0;
    endpoint_->announces = true;
    Expect(window->Put(Words(&sent), there));
    endpoint_->AnnounceBegin();
    EXPECT_EQ(threads.times, 0) << "might open a group, and wait there for the target";
    Expect(window->Unlock(0));
    EXPECT_EQ(window->layouts_sent(), 1U);
    int word = 0;
    MPI_Recv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    Expect(window->LockAll());
    Expect(window->Accumulate(CombineOp::kSum, Words(&sent),
                              {0, there.displacement, Every(2).Resized(1), 1}));
    Expect(window->UnlockAll());
    EXPECT_EQ(window->layouts_sent(), 1U);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  Expect(window->Free());
}

// The same, and nothing moves any more, as if all memory for answers were lent to ranks that wait
// for this one. It goes on, and answers in its next call.
TEST_P(WindowMpi, AProgressThreadLeavesThoughItCannotAnswer) {
  Expect(window_->Fence());
  if (!GoesByMessages() || !window_->is_direct())
    GTEST_SKIP() << "no progress thread is counted on";
  endpoint_->is_stuck = window_->rank() == 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (window_->rank() == 0) {
    AwaitAllBegin();
    endpoint_->leaves_next = true;
    MpiBootstrap alone(MPI_COMM_SELF);
    std::unique_ptr<Group> group;
    Expect(Group::Create(engine_.get(), &alone, 1, 1, &group));
    endpoint_->is_stuck = false;
    for (int r = 1; r < window_->size(); ++r) {
      int word = 0;
      MPI_Request told;
      MPI_Irecv(&word, 1, MPI_INT, r, 0, MPI_COMM_WORLD, &told);
      for (int is_told = 0; is_told == 0;) {
        Expect(window_->Progress());
        MPI_Test(&told, &is_told, MPI_STATUS_IGNORE);
      }
      const int64_t* const mine = &memory_[static_cast<size_t>(2 * kBlocks * r)];
      for (int64_t i = 0; i < 2 * kBlocks; ++i) ASSERT_EQ(mine[i], i % 2 == 0 ? 1 : 0);
    }
  } else {
    const int rank = window_->rank();
    std::vector<int64_t> sent(kBlocks, 1);
    endpoint_->announces = true;
    Expect(window_->Put(Words(&sent), {0, 2 * kBlocks * rank, Every(2), 1}));
    endpoint_->AnnounceBegin();
    EXPECT_EQ(window_->layouts_sent(), 1U);
    MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  }
  Expect(window_->Fence());
}

TEST_P(WindowMpi, WithoutShortBlocksDirectPutsSendNoLayout) {
  Expect(window_->Fence());
  if (!window_->is_direct()) GTEST_SKIP() << "goes by messages alone";
  WindowOptions options = options_;
  options.has_short_blocks = false;
  for (const bool some_by_messages : {false, true}) {
    if (some_by_messages && window_->rank() == 0) options.goes_directly = false;
    MpiBootstrap bootstrap(MPI_COMM_WORLD);
    std::unique_ptr<Window> window;
    Expect(Window::Create(space_.get(), &bootstrap, options, &window));
    EXPECT_NE(window->is_direct(), some_by_messages);
    const int64_t value = some_by_messages ? 2 : 1;
    std::vector<int64_t> sent(kBlocks, value);
    Expect(window->Fence());
    Expect(window->Put(Words(&sent), {next_, 0, Every(2), 1}));
    Expect(window->Fence());
    EXPECT_EQ(window->layouts_sent(), window->reaches(next_) ? 0U : 1U);
    for (int64_t i = 0; i < 2 * kBlocks; ++i) ASSERT_EQ(memory_[i], i % 2 == 0 ? value : 0) << i;
    Expect(window->Free());
  }
}

TEST_P(WindowMpi, BlocksAreCountedAsTheKernelSeesThem) {
  for (int64_t i = 0; i < kSlots; ++i) memory_[i] = i;
  Expect(window_->Fence());
  if (!window_->is_direct()) GTEST_SKIP() << "goes by messages alone";
  // No two blocks are as far apart as the two before.
  const auto place = [](int64_t i, int64_t distance) { return i * distance + i % 2; };
  const auto list = [&](int64_t blocks, int64_t words, int64_t distance) {
    const TypedLayout block = TypedLayout::Run(Element::kInt64, words);
    std::vector<TypedLayout::Part> parts;
    for (int64_t i = 0; i < blocks; ++i) parts.push_back({8 * place(i, distance), &block});
    TypedLayout layout;
    Expect(TypedLayout::List(parts, &layout));
    return layout;
  };
  const auto expect_got = [&](int64_t blocks, int64_t words, int64_t distance, bool is_asked) {
    const uint64_t told = window_->layouts_sent();
    std::vector<int64_t> got(static_cast<size_t>(blocks * words));
    Expect(window_->Get(Words(&got), {next_, 0, list(blocks, words, distance), 1}));
    EXPECT_EQ(window_->layouts_sent() - told, is_asked ? Told(1) : 0)
        << blocks << " of " << words << ", " << distance << " apart";
    for (int64_t i = 0; i < blocks; ++i) ASSERT_EQ(got[i * words], place(i, distance)) << i;
  };
  expect_got(kBlocks, 1, kFar - 1, /*is_asked=*/true);
  expect_got(kBlocks, 1, 3, /*is_asked=*/false);   // what lies between is read along
  expect_got(1000, 1, kFar, /*is_asked=*/false);   // too few
  expect_got(1100, 130, 270, /*is_asked=*/false);  // too long
  Expect(window_->Fence());
  std::vector<int64_t> sent(kBlocks, -1);
  const uint64_t told = window_->layouts_sent();
  Expect(window_->Put(Words(&sent), {next_, 0, list(kBlocks, 1, 3), 1}));
  EXPECT_EQ(window_->layouts_sent() - told, Told(1)) << "nothing is written along";
  Expect(window_->Fence());
  for (int64_t i = 0; i < kBlocks; ++i) ASSERT_EQ(memory_[place(i, 3)], -1) << i;
}

// --- short puts into private memory: mailboxes, on one host ---

TEST_P(WindowMpi, AShortPutArrivesWithTheEndOfItsEpoch) {
  const auto meet = [&] { MPI_Barrier(MPI_COMM_WORLD); };
  std::vector<int64_t> sent(1, window_->rank() + 1);
  const bool by_mailbox = window_->is_direct();
  Expect(window_->Fence());
  WantMailboxes();
  meet();
  Expect(window_->Put(Words(&sent), {next_, 7, Word(), 1}));
  sent[0] = -1;  // the caller's own again, where it was reached
  if (by_mailbox) {
    meet();
    EXPECT_EQ(memory_[7], 0);
    meet();
  } else {
    sent[0] = window_->rank() + 1;
  }
  Expect(window_->Fence({/*nothing_precedes=*/false, /*nothing_succeeds=*/true}));
  EXPECT_EQ(memory_[7], previous_ + 1);
  sent[0] = window_->rank() + 11;
  Expect(window_->Post({previous_}));
  Expect(window_->Start({next_}));
  Expect(window_->Put(Words(&sent), {next_, 7, Word(), 1}));
  if (by_mailbox) {
    meet();
    EXPECT_EQ(memory_[7], previous_ + 1);
    meet();
  }
  Expect(window_->Complete());
  Expect(window_->Wait());
  EXPECT_EQ(memory_[7], previous_ + 11);
}

// The first rank that leaves a fence reads, in the memory of any other rank, all earlier puts.
TEST_P(WindowMpi, ARankThatHasLeftAFenceReadsAllEarlierPuts) {
  const int before_next = (next_ + window_->size() - 1) % window_->size();
  const int64_t rounds = window_->is_direct() ? 3000 : 100;
  for (int64_t round = 1; round <= rounds; ++round) {
    std::vector<int64_t> sent(64, round * 100 + window_->rank());
    std::vector<int64_t> got(64);
    Expect(window_->Fence());
    Expect(window_->Put(Words(&sent), {next_, 0, Word(), 64}));
    Expect(window_->Fence());
    switch (round % 3) {
      case 0:
        Expect(window_->Get(Words(&got), {next_, 0, Word(), 64}));
        break;
      case 1:
        Expect(window_->GetAccumulate(CombineOp::kNoOp, OriginData(), Words(&got),
                                      {next_, 0, Word(), 64}));
        break;
      default:
        got.assign(64, round * 100 + before_next);
        Expect(
            window_->FetchAndOp(CombineOp::kNoOp, Element::kInt64, nullptr, got.data(), next_, 63));
        break;
    }
    Expect(window_->Fence());
    ASSERT_EQ(got, std::vector<int64_t>(64, round * 100 + before_next)) << round;
  }
}

TEST_P(WindowMpi, AShortGetIsThereBehindItsFence) {
  std::vector<int64_t> got(1);
  Expect(window_->Fence());
  WantMailboxes();
  Expect(window_->Get(Words(&got), {next_, 0, Word(), 1}));  // whose answer is one, too
  Expect(window_->Fence());
  for (int64_t round = 1; round < 100; ++round) {
    memory_[0] = 100 * round + window_->rank();
    std::vector<int64_t> sent(1, round);
    Expect(window_->Fence());
    Expect(window_->Put(Words(&sent), {next_, 1, Word(), 1}));
    Expect(window_->Get(Words(&got), {next_, 0, Word(), 1}));
    Expect(window_->Fence({/*nothing_precedes=*/false, /*nothing_succeeds=*/round % 3 == 0}));
    ASSERT_EQ(got[0], 100 * round + next_);
    ASSERT_EQ(memory_[1], round);
  }
}

// A rank that is notified of the get of its memory may overwrite the memory.
TEST_P(WindowMpi, ANotificationComesBehindShortGets) {
  std::vector<int64_t> got(1);
  Expect(window_->Fence());
  WantMailboxes();
  Expect(window_->Get(Words(&got), {next_, 0, Word(), 1}));
  memory_[0] = window_->rank() + 1;
  Expect(window_->Fence());
  for (int64_t round = 1; round < 20; ++round) {
    Expect(window_->Get(Words(&got), {next_, 0, Word(), 1}));
    Expect(window_->PutNotify(OriginData(), {next_, 0, Word(), 0}));
    Expect(window_->NotifyWait(previous_));
    memory_[0] = -1;
    Expect(window_->Fence());
    ASSERT_EQ(got[0], next_ + round);
    memory_[0] = window_->rank() + round + 1;
    Expect(window_->Fence());
  }
}

TEST_P(WindowMpi, ANotificationComesBehindShortPuts) {
  std::vector<int64_t> sent = {window_->rank() + 1, window_->rank() + 2};
  std::vector<int64_t> last(1, 9);
  Expect(window_->Fence());
  WantMailboxes();
  Expect(window_->Put(Words(&sent), {next_, 0, Word(), 2}));
  Expect(window_->PutNotify(Words(&last), {next_, 2, Word(), 1}));
  Expect(window_->NotifyWait(previous_));
  EXPECT_EQ(memory_[0], previous_ + 1);
  EXPECT_EQ(memory_[1], previous_ + 2);
  EXPECT_EQ(memory_[2], 9);
  memory_[0] = memory_[1] = -1;
  Expect(window_->Fence());
  EXPECT_EQ(memory_[0], -1);  // it does not come twice
  // Nor from start to complete, whether the epoch has ended at its target or not.
  for (const bool has_ended : {false, true}) {
    Expect(window_->Fence({/*nothing_precedes=*/true, /*nothing_succeeds=*/true}));
    Expect(window_->Post({previous_}));
    Expect(window_->Start({next_}));
    Expect(window_->Put(Words(&sent), {next_, 0, Word(), 2}));
    Expect(window_->Complete());
    if (has_ended) {
      Expect(window_->Wait());
      memory_[0] = -2;
      MPI_Barrier(MPI_COMM_WORLD);
    }
    Expect(window_->PutNotify(Words(&last), {next_, 2, Word(), 1}));
    Expect(window_->NotifyWait(previous_));
    EXPECT_EQ(memory_[0], has_ended ? -2 : previous_ + 1);
    if (!has_ended) Expect(window_->Wait());
    EXPECT_EQ(memory_[1], previous_ + 2);
  }
}

// Of a window of all memory, too.
TEST_P(WindowMpi, AWrongAddressIsAnErrorOfItsOrigin) {
  WindowOptions options;
  options.kind = WindowMemory::kProcess;
  std::unique_ptr<Window> all;
  MpiBootstrap bootstrap(MPI_COMM_WORLD);
  Expect(Window::Create(space_.get(), &bootstrap, options, &all));
  std::vector<int64_t> sent(kBlocks, 1);
  if (all->reaches(next_) && window_->rank() == 0) {
    constexpr int64_t kNothing = 4096 - static_cast<int64_t>(kProcessAddress);
    const Status status = all->Put(Words(&sent), {next_, kNothing, Every(2), 1});
    EXPECT_EQ(status.code(), StatusCode::kInternal) << status.ToString();
  }
  MPI_Barrier(MPI_COMM_WORLD);  // all are here
}

INSTANTIATE_TEST_SUITE_P(Over, WindowMpi,
                         testing::Combine(testing::Values("auto", "mpi", "shm", "tcp"),
                                          testing::Bool()),
                         [](const auto& test) {
                           return std::get<0>(test.param) +
                                  (std::get<1>(test.param) ? "_directly" : "_by_messages");
                         });

}  // namespace
}  // namespace brigade

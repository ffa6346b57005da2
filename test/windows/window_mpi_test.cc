// Windows over every transport of an MPI job, by messages and directly.

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "transport/endpoint.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry.h"
#include "windows/core/window.h"
#include "windows/elements/accumulate.h"
#include "windows/elements/element.h"
#include "windows/layout/typed_layout.h"
#include "windows/message/window_space.h"

namespace brigade {
namespace {

constexpr int64_t kSlots = 100000;  // many pieces

class WindowMpi : public testing::TestWithParam<std::tuple<std::string, bool>> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(CreateEndpoint(std::get<0>(GetParam()), &endpoint_).ok());
    ASSERT_TRUE(Engine::Create(endpoint_.get(), EngineOptions(), &engine_).ok());
    ASSERT_TRUE(WindowSpace::Create(engine_.get(), &space_).ok());
    WindowOptions options;
    options.memory = reinterpret_cast<std::byte*>(memory_.data());
    options.bytes = memory_.size() * sizeof(int64_t);
    options.unit = sizeof(int64_t);
    options.goes_directly = std::get<1>(GetParam());
    MpiBootstrap bootstrap(MPI_COMM_WORLD);
    Expect(Window::Create(space_.get(), &bootstrap, options, &window_));
    ASSERT_NE(window_, nullptr);
    next_ = (window_->rank() + 1) % window_->size();
    previous_ = (window_->rank() + window_->size() - 1) % window_->size();
  }
  void TearDown() override {
    if (window_ != nullptr) Expect(window_->Free());
  }

  static void Expect(const Status& status) { EXPECT_TRUE(status.ok()) << status.ToString(); }
  static OriginData Words(std::vector<int64_t>* data) {
    return {reinterpret_cast<std::byte*>(data->data()), Word(), static_cast<int64_t>(data->size())};
  }
  static TypedLayout Word() { return TypedLayout::Run(Element::kInt64, 1); }

  std::vector<int64_t> memory_ = std::vector<int64_t>(kSlots);
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<WindowSpace> space_;
  std::unique_ptr<Window> window_;
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
    Expect(window_->Accumulate(AccumulateOp::kSum, Words(&sent), {r, 0, Word(), kSlots}));
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
    Expect(window_->FetchAndOp(AccumulateOp::kSum, Element::kInt64, one.data(), &was, 0, 0));
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

// It is told that the epochs are over by a message of MPI, for which it waits there.
TEST_P(WindowMpi, ATargetInsideMpiIsReached) {
  if (!window_->is_direct() && !endpoint_->HelperMayDrive()) {
    GTEST_SKIP() << "over this transport a target must call";
  }
  std::vector<int64_t> sent(kSlots, 3);
  std::vector<int64_t> got(kSlots);
  for (int r = 1; r < window_->size(); ++r) {
    if (window_->rank() == r) {
      Expect(window_->Lock(LockKind::kExclusive, 0));
      Expect(window_->Put(Words(&sent), {0, 0, Word(), kSlots}));
      Expect(window_->Accumulate(AccumulateOp::kSum, Words(&sent), {0, 0, Word(), kSlots}));
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

INSTANTIATE_TEST_SUITE_P(Over, WindowMpi,
                         testing::Combine(testing::Values("auto", "mpi", "shm", "tcp"),
                                          testing::Bool()),
                         [](const auto& test) {
                           return std::get<0>(test.param) +
                                  (std::get<1>(test.param) ? "_directly" : "_by_messages");
                         });

}  // namespace
}  // namespace brigade

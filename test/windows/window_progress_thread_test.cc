// The thread that answers for a rank whose memory is shared with all others: when there is one, and
// what it costs while it has nothing to do. That it answers: window_test.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/engine/engine.h"
#include "patterns/rules.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/progress_threads.h"
#include "test/windows/window_ranks.h"
#include "windows/core/window.h"
#include "windows/message/rma_frame.h"

namespace brigade {
namespace {

WindowSetup OverShm(bool goes_directly) {
  WindowSetup setup;
  setup.name = "shm";
  setup.transport = WindowSetup::Transport::kShm;
  setup.goes_directly = [goes_directly](int) { return goes_directly; };
  setup.kind = goes_directly ? WindowMemory::kShared : WindowMemory::kPrivate;
  return setup;
}

// One that begins takes its name a little later.
void AwaitProgressThreads(int count) {
  while (ProgressThreads() != count) std::this_thread::yield();
}

// Meets the others without any call of ours.
class Meeting {
 public:
  explicit Meeting(int ranks) : ranks_(ranks) {}
  void Meet() {
    const int mine = ++come_;
    const int all = (mine + ranks_ - 1) / ranks_ * ranks_;
    while (come_ < all) std::this_thread::yield();
  }

 private:
  const int ranks_;
  std::atomic<int> come_{0};
};

constexpr int kRanks = 3;

TEST(WindowProgressThread, IsThereFromTheFirstWindowOnThatGoesByMessages) {
  AwaitProgressThreads(0);  // those of other tests end
  for (const bool goes_directly : {true, false}) {
    Meeting meeting(kRanks);
    OnWindowRanks(OverShm(goes_directly), kRanks, [&](WindowRank& self) {
      self.Meet();
      meeting.Meet();
      EXPECT_EQ(ProgressThreads(), 0);
      meeting.Meet();
      const std::unique_ptr<Window> window = self.Make(8);
      Require(window->Fence());
      EXPECT_EQ(window->is_direct(), goes_directly);
      meeting.Meet();
      if (goes_directly) {
        EXPECT_EQ(ProgressThreads(), 0);
      } else {
        AwaitProgressThreads(kRanks);
      }
      meeting.Meet();
      Require(window->Free());
    });
    AwaitProgressThreads(0);
  }
}

// Counts the steps of whoever is not its owner.
class Counting : public ForwardingEndpoint {
 public:
  Counting(std::unique_ptr<Endpoint> inner, std::atomic<int>* steps)
      : ForwardingEndpoint(std::move(inner)), steps_(steps) {}
  bool Progress() override {
    if (std::this_thread::get_id() != owner_) ++*steps_;
    return ForwardingEndpoint::Progress();
  }

 private:
  const std::thread::id owner_ = std::this_thread::get_id();
  std::atomic<int>* const steps_;
};

TEST(WindowProgressThread, SleepsWithoutRequests) {
  std::atomic<int> steps{0};
  WindowSetup setup = OverShm(/*goes_directly=*/false);
  setup.wrap = [&](int, std::unique_ptr<Endpoint> inner) -> std::unique_ptr<Endpoint> {
    return std::make_unique<Counting>(std::move(inner), &steps);
  };
  Meeting meeting(kRanks);
  OnWindowRanks(setup, kRanks, [&](WindowRank& self) {
    const std::unique_ptr<Window> window = self.Make(8);
    Require(window->Fence());
    const auto start = std::chrono::steady_clock::now();
    const int before = steps;
    meeting.Meet();
    std::this_thread::sleep_for(std::chrono::milliseconds(300));  // no call
    meeting.Meet();
    const int after = steps;
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    // The steps of all ranks. The first rests are shorter, and the step before each is taken
    // twice once.
    constexpr int kFirst = 20;
    const double most = kRanks * (kFirst + time.count() / rules::kProgressThreadLongestRestUs);
    EXPECT_LT(after - before, most);
    meeting.Meet();
    Require(window->Free());
  });
}

// While it does it counts how often whoever is not its owner steps, and rests.
class FullForReplies : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  SentNow SendNow(const Channel& channel, int peer, ConstByteSpan head, const LayoutRange& body,
                  Completion* completion, size_t* kept_bytes) override {
    if (Refuses(channel.kind == kReplyChannel)) return SentNow::kNotYet;
    return ForwardingEndpoint::SendNow(channel, peer, head, body, completion, kept_bytes);
  }
  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    if (Refuses(channel.kind == kReplyChannel)) return {StatusCode::kNoResource, "full"};
    return ForwardingEndpoint::PostSend(channel, peer, segment, completion);
  }
  Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) override {
    const bool is_reply = message.bytes > sizeof(RmaHeader) &&
                          message.data[0] == static_cast<std::byte>(RmaKind::kReply);
    if (Refuses(is_reply)) return {StatusCode::kNoResource, "full"};
    return ForwardingEndpoint::SendControl(group, peer, message, urgency);
  }
  bool Progress() override {
    if (has_refused_) ++steps;
    return ForwardingEndpoint::Progress();
  }
  void Await(int microseconds) override {
    if (has_refused_) ++rests;
    ForwardingEndpoint::Await(microseconds);
  }

  void SetFull(bool full) {
    is_full_ = full;
    has_refused_ = false;
    steps = rests = 0;
  }
  std::atomic<int> steps{0};
  std::atomic<int> rests{0};

 private:
  bool Refuses(bool is_reply) {
    const bool refuses = is_reply && is_full_;
    if (refuses) has_refused_ = true;
    return refuses;
  }

  std::atomic<bool> is_full_{false};
  std::atomic<bool> has_refused_{false};
};

// Its first step may move something else, and the last is not counted to its end.
TEST(WindowProgressThread, RestsWhileAReplyCannotLeave) {
  constexpr int kRests = 20;
  constexpr int kMostSteps = kRests + 10;
  FullForReplies* endpoint = nullptr;
  WindowSetup setup;
  setup.inproc.allows_progress_thread = true;
  setup.inproc.sends_in_place = true;
  setup.wrap = [&](int rank, std::unique_ptr<Endpoint> inner) -> std::unique_ptr<Endpoint> {
    if (rank != 0) return inner;
    auto full = std::make_unique<FullForReplies>(std::move(inner));
    endpoint = full.get();
    return full;
  };
  std::atomic<int64_t> over{0};
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    // A frame, a segment in staging memory, and unstaged bytes.
    for (const int64_t bytes : {8, 1000, 100000}) {
      const std::unique_ptr<Window> window = self.Make(static_cast<size_t>(bytes));
      if (self.rank() == 0) {
        endpoint->SetFull(true);
        self.Meet();
        while (endpoint->rests < kRests && endpoint->steps < kMostSteps) std::this_thread::yield();
        EXPECT_GE(endpoint->rests, kRests) << bytes << " bytes";
        endpoint->SetFull(false);
        while (over != bytes) std::this_thread::yield();  // no call
      } else {
        std::vector<std::byte> got(static_cast<size_t>(bytes));
        self.Meet();
        Require(window->Lock(LockKind::kShared, 0));
        Require(window->Get({got.data(), TypedLayout::Run(Element::kByte, bytes), 1},
                            {0, 0, TypedLayout::Run(Element::kByte, bytes), 1}));
        Require(window->Unlock(0));
        over = bytes;
      }
      Require(window->Free());
    }
  });
}

TEST(WindowProgressThread, AForkedChildHasNoneAndItsParentMakesProgress) {
  std::atomic<bool> over{false};
  OnWindowRanks(OverShm(/*goes_directly=*/false), 2, [&](WindowRank& self) {
    std::unique_ptr<Window> window = self.Make(8);
    int64_t value = 7;
    const OriginData data{reinterpret_cast<std::byte*>(&value), TypedLayout::One(Element::kInt64),
                          1};
    const TargetData there{0, 0, TypedLayout::One(Element::kInt64), 1};
    if (self.rank() == 0) {
      const pid_t child = fork();
      if (child == 0) {
        { const Engine::ProgressGuard guard(self.engine()); }
        window.reset();  // breaks nothing
        _exit(ProgressThreads());
      }
      int outcome = -1;
      EXPECT_EQ(waitpid(child, &outcome, 0), child);
      EXPECT_EQ(outcome, 0);
      while (!over) std::this_thread::yield();  // no call
    } else {
      for (int i = 0; i < 100; ++i) {
        Require(window->Lock(LockKind::kExclusive, 0));
        Require(window->Accumulate(CombineOp::kSum, data, there));
        Require(window->Unlock(0));
      }
      over = true;
    }
    Require(window->Free());
  });
}

}  // namespace
}  // namespace brigade

// A window call that fails leaves no operation that still uses its caller's memory.

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/windows/window_ranks.h"
#include "windows/message/rma_frame.h"

namespace brigade {
namespace {

// Reports rank 1 as lost while SetLost is true. If `holds` is true, the endpoint holds sends until
// then, and refuses control messages. Has no memory for the control message after UseUpMemory.
class LosingEndpoint final : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;

  void SetLost(bool lost) { lost_ = lost; }
  void Refuse(bool refuses) { refuses_ = refuses; }
  void Hold(bool hold) { holds_ = hold; }
  void UseUpMemory() { has_no_memory_ = true; }
  int groups_closed() const { return groups_closed_; }

  Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) override {
    if (std::exchange(has_no_memory_, false)) throw std::bad_alloc();
    if (lost_ && peer == 1) return {StatusCode::kPeerLost, "rank 1 is gone"};
    if (refuses_ && peer == 1) return {StatusCode::kNoResource, "not now"};
    return ForwardingEndpoint::SendControl(group, peer, message, urgency);
  }
  Status PostSend(const Channel& channel, int peer, ConstByteSpan segment,
                  Completion* completion) override {
    if (!holds_) return ForwardingEndpoint::PostSend(channel, peer, segment, completion);
    held_.push_back(completion);
    return Status();
  }
  bool Progress() override {
    for (Completion* const held : std::exchange(held_, {})) {
      if (!lost_) {
        held_.push_back(held);
        continue;
      }
      held->status = {StatusCode::kPeerLost, "a rank is gone"};
      held->callback(held);
    }
    return ForwardingEndpoint::Progress();
  }
  void CloseGroup(GroupId group) override {
    ++groups_closed_;
    ForwardingEndpoint::CloseGroup(group);
  }

 private:
  bool lost_ = false;
  bool refuses_ = false;
  bool holds_ = false;
  bool has_no_memory_ = false;
  std::vector<Completion*> held_;
  int groups_closed_ = 0;
};

// A layout has to be sent first, a run not.
TypedLayout LayoutOf(bool in_runs) {
  TypedLayout layout = TypedLayout::Run(Element::kByte, 8);
  if (!in_runs) return layout;
  TypedLayout runs;
  const Status made = TypedLayout::Repeat(4, 16, layout, &runs);
  if (!made.ok()) throw std::runtime_error(made.ToString());
  return runs;
}

WindowSetup LosingSetup(std::vector<LosingEndpoint*>* endpoints) {
  WindowSetup setup;
  setup.wrap = [endpoints](int rank, std::unique_ptr<Endpoint> endpoint) {
    auto losing = std::make_unique<LosingEndpoint>(std::move(endpoint));
    (*endpoints)[static_cast<size_t>(rank)] = losing.get();
    return losing;
  };
  return setup;
}

class FailingCalls : public testing::TestWithParam<std::string> {};

TEST_P(FailingCalls, HaveBrokenTheWindowWhenTheyReturn) {
  const std::string call = GetParam();
  std::vector<LosingEndpoint*> endpoints(2);
  OnWindowRanks(
      LosingSetup(&endpoints), 2,
      [&](WindowRank& self) {
        std::vector<std::byte> memory(256);
        const std::unique_ptr<Window> window = self.MakeOf(memory.data(), memory.size());
        Require(window->Fence({}));
        self.Meet();
        if (self.rank() == 1) {
          self.Meet();
          return;
        }
        endpoints[0]->SetLost(true);
        const TypedLayout layout = LayoutOf(call == "get of runs");
        std::vector<std::byte> mine(static_cast<size_t>(layout.size()));
        const OriginData here{mine.data(), TypedLayout::Run(Element::kByte, layout.size()), 1};
        const TargetData there{1, 0, layout, 1};
        const Status status = call == "put" ? window->Put(here, there) : window->Get(here, there);
        if (status.code() != StatusCode::kPeerLost) throw std::runtime_error(status.ToString());
        if (endpoints[0]->groups_closed() != 1) throw std::runtime_error("others are still served");
        endpoints[0]->SetLost(false);
        self.Meet();
      },
      /*leave_together=*/false);
}

// A call on one window finds out about the other, too.
TEST(FailingCall, HasBrokenOtherWindowsThatItFoundFailing) {
  std::vector<LosingEndpoint*> endpoints(2);
  OnWindowRanks(
      LosingSetup(&endpoints), 2,
      [&](WindowRank& self) {
        std::vector<std::byte> memory(8000);
        const std::unique_ptr<Window> one = self.MakeOf(memory.data(), 4000);
        const std::unique_ptr<Window> other = self.MakeOf(memory.data() + 4000, 4000);
        Require(one->Fence({}));
        Require(other->Fence({}));
        self.Meet();
        if (self.rank() == 1) {
          self.Meet();
          return;
        }
        const TypedLayout layout = TypedLayout::Run(Element::kByte, 4000);
        std::vector<std::byte> mine(4000);
        endpoints[0]->Hold(true);
        Require(other->Put({mine.data(), layout, 1}, {1, 0, layout, 1}));
        endpoints[0]->SetLost(true);
        const Status status = one->Put({mine.data(), layout, 1}, {1, 0, layout, 1});
        if (status.code() != StatusCode::kPeerLost) throw std::runtime_error(status.ToString());
        if (endpoints[0]->groups_closed() != 2) throw std::runtime_error("one is served still");
        endpoints[0]->Hold(false);
        endpoints[0]->SetLost(false);
        self.Meet();
      },
      /*leave_together=*/false);
}

// The calls that would end the epoch fail.
TEST(FailingCall, LetsTheWindowBeFreedInAnEpoch) {
  std::vector<LosingEndpoint*> endpoints(2);
  OnWindowRanks(
      LosingSetup(&endpoints), 2,
      [&](WindowRank& self) {
        const std::unique_ptr<Window> window = self.Make(8);
        if (self.rank() == 1) {
          Require(window->Post({0}));
          self.Meet();
          self.Meet();
          return;
        }
        Require(window->Start({1}));
        self.Meet();
        endpoints[0]->SetLost(true);
        std::byte mine[8] = {};
        const TypedLayout layout = LayoutOf(/*in_runs=*/false);
        const OriginData here{mine, layout, 1};
        const TargetData there{1, 0, layout, 1};
        for (const Status& status :
             {window->Put(here, there), window->Complete(), window->Free()}) {
          if (status.code() != StatusCode::kPeerLost) throw std::runtime_error(status.ToString());
        }
        endpoints[0]->SetLost(false);
        self.Meet();
      },
      /*leave_together=*/false);
}

// Rank 1 waits in a fence.
TEST(FailingCall, WithoutMemoryBreaksTheWindowOnAllRanks) {
  std::vector<LosingEndpoint*> endpoints(2);
  OnWindowRanks(
      LosingSetup(&endpoints), 2,
      [&](WindowRank& self) {
        const std::unique_ptr<Window> window = self.Make(8);
        Require(window->Fence());
        self.Meet();  // the window must not break in this fence
        std::byte mine[8] = {};
        const TypedLayout layout = LayoutOf(/*in_runs=*/false);
        if (self.rank() == 0) endpoints[0]->UseUpMemory();
        const Status status = window->CatchOutOfMemory([&] {
          return self.rank() == 0 ? window->Put({mine, layout, 1}, {1, 0, layout, 1})
                                  : window->Fence();
        });
        if (status.code() != StatusCode::kOutOfMemory) throw std::runtime_error(status.ToString());
        self.Meet();
      },
      /*leave_together=*/false);
}

// The call in which a message arrives is on another group.
TEST(FailingCall, WithoutMemoryForAMessageBreaksTheWindowOfTheMessage) {
  class NoReceives final : public ForwardingEndpoint {
   public:
    using ForwardingEndpoint::ForwardingEndpoint;
    Status PostReceive(const Channel& channel, int peer, ByteSpan receive_buffer,
                       Completion* completion) override {
      if (channel.kind == kRequestChannel) throw std::bad_alloc();
      return ForwardingEndpoint::PostReceive(channel, peer, receive_buffer, completion);
    }
    Status PostReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                              Completion* completion) override {
      if (channel.kind == kRequestChannel) throw std::bad_alloc();
      return ForwardingEndpoint::PostReceiveInPlace(channel, peer, range, completion);
    }
  };
  for (const bool lands_in_place : {true, false}) {
    WindowSetup setup;
    setup.inproc.lands_in_place = lands_in_place;
    setup.wrap = [](int rank, std::unique_ptr<Endpoint> endpoint) -> std::unique_ptr<Endpoint> {
      if (rank == 0) return endpoint;
      return std::make_unique<NoReceives>(std::move(endpoint));
    };
    OnWindowRanks(
        setup, 2,
        [&](WindowRank& self) {
          std::vector<std::byte> memory(4000);
          const std::unique_ptr<Window> window = self.MakeOf(memory.data(), memory.size());
          Require(window->Fence());
          self.Meet();  // the message must not arrive in a fence
          std::vector<std::byte> mine(memory.size());
          const TypedLayout layout = TypedLayout::Run(Element::kByte, 4000);
          if (self.rank() == 0) Require(window->Put({mine.data(), layout, 1}, {1, 0, layout, 1}));
          self.Meet();
          while (window->failure().ok()) std::this_thread::yield();
          const Status failure = window->failure();
          if (failure.code() != StatusCode::kOutOfMemory) {
            throw std::runtime_error(failure.ToString());
          }
          self.Meet();
        },
        /*leave_together=*/false);
  }
}

// A rank that unlocks waits for no answer if it has nothing under way, and may be gone before.
TEST(AnAnswer, ToARankThatIsGoneIsDropped) {
  for (const bool is_refused_first : {false, true}) {
    std::vector<LosingEndpoint*> endpoints(2);
    std::atomic<bool> is_set{false};
    OnWindowRanks(LosingSetup(&endpoints), 2, [&](WindowRank& self) {
      std::vector<std::byte> memory(8);
      const std::unique_ptr<Window> window = self.MakeOf(memory.data(), memory.size());
      if (self.rank() == 1) {
        Require(window->Lock(LockKind::kExclusive, 0));
        self.Meet();
        while (!is_set) std::this_thread::yield();
        Require(window->Unlock(0));
      } else {
        self.Meet();
        endpoints[0]->Refuse(is_refused_first);
        endpoints[0]->SetLost(!is_refused_first);
        is_set = true;
        Require(window->Lock(LockKind::kExclusive, 0));  // behind the unlock
        endpoints[0]->SetLost(true);
        self.SendAll();
        Require(window->failure());
        Require(window->Unlock(0));
        endpoints[0]->Refuse(false);
        endpoints[0]->SetLost(false);
      }
      Require(window->Free());
    });
  }
}

INSTANTIATE_TEST_SUITE_P(All, FailingCalls, testing::Values("put", "get", "get of runs"),
                         [](const testing::TestParamInfo<std::string>& i) {
                           std::string name = i.param;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace brigade

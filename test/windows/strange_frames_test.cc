// A rank that receives malformed frames names the sender, or ignores them if they are harmless. It
// touches no memory outside the window.

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/stress.h"
#include "test/windows/window_ranks.h"
#include "windows/message/rma_frame.h"

namespace brigade {
namespace {

// Knows which group was opened last, and sends to its members what nobody has requested.
class StrangeEndpoint final : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;

  void SetControlHandler(GroupId group, ControlHandler* handler) override {
    if (handler != nullptr) last_ = group;
    ForwardingEndpoint::SetControlHandler(group, handler);
  }
  void Say(int peer, const RmaFrame& message) {
    (void)target()->SendControl(last_, peer, message.span(), Urgency::kUrgent);
  }

 private:
  GroupId last_{};
};

RmaFrame StrangeFrame(int64_t window_bytes, std::mt19937* random) {
  const auto any = [&](int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(*random);
  };
  // Near what would be right, or anything.
  const auto number = [&](int64_t most) {
    return any(0, 3) > 0 ? any(0, most) : static_cast<int64_t>((*random)()) << any(0, 32);
  };
  RmaFrame message;
  for (std::byte& byte : message.data) byte = static_cast<std::byte>(any(1, 255));
  RmaHeader& header = message.header;
  header.kind = static_cast<RmaKind>(
      any(static_cast<int>(RmaKind::kPut), static_cast<int>(RmaKind::kWake) + 1));
  header.op = static_cast<uint8_t>(number(20));
  header.element = static_cast<Element>(number(30));
  header.inlined = static_cast<uint8_t>(any(0, kMostInlined));
  header.layout_index = any(0, 1) == 0 ? RmaHeader::kContiguous : static_cast<uint16_t>(number(3));
  header.end = static_cast<AccessEnd>(number(4));
  header.fences = static_cast<uint8_t>(number(2));
  header.layout_generation = static_cast<uint32_t>(number(3));
  header.token = static_cast<uint32_t>(number(any(0, 1) == 0 ? 3 : 3000));
  header.offset = number(window_bytes + 8);
  header.bytes = any(0, 1) == 0 ? header.inlined : number(3000);
  return message;
}

struct Case {
  std::string name;
  bool is_checked;
  bool goes_unstaged;  // what is read, if it is long
  int64_t window_bytes;
};

class StrangeFrames : public testing::TestWithParam<Case> {};

TEST_P(StrangeFrames, DoNoHarmAndAreNamed) {
  const int trials = StressRounds(1500, 100000);
  const int64_t window_bytes = GetParam().window_bytes;
  std::vector<StrangeEndpoint*> endpoints(2);
  WindowSetup setup;
  setup.is_checked = [](int) { return GetParam().is_checked; };
  setup.inproc.sends_in_place = GetParam().goes_unstaged;
  setup.wrap = [&](int rank, std::unique_ptr<Endpoint> endpoint) {
    auto strange = std::make_unique<StrangeEndpoint>(std::move(endpoint));
    endpoints[static_cast<size_t>(rank)] = strange.get();
    return strange;
  };
  int named = 0;
  int ignored = 0;
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    std::mt19937 random(StressSeed());
    std::vector<std::byte> memory(static_cast<size_t>(3 * window_bytes));
    for (int trial = 0; trial < trials; ++trial) {
      const std::unique_ptr<Window> window =
          self.MakeOf(memory.data() + window_bytes, static_cast<size_t>(window_bytes));
      self.Meet();
      if (self.rank() == 1) {
        for (int frames = 0; frames < 3; ++frames) {
          endpoints[1]->Say(0, StrangeFrame(window_bytes, &random));
        }
      }
      self.Meet();
      if (self.rank() == 0) {
        Status status;
        for (int looks = 0; looks < 20 && status.ok(); ++looks) status = window->Progress();
        ++(status.ok() ? ignored : named);
        if (!status.ok() && status.message().find("rank 1") == std::string::npos) {
          throw std::runtime_error(status.ToString());
        }
        const auto is_touched = [](std::byte byte) { return byte != std::byte{0}; };
        if (std::any_of(memory.begin(), memory.begin() + window_bytes, is_touched) ||
            std::any_of(memory.end() - window_bytes, memory.end(), is_touched)) {
          throw std::runtime_error("memory beside the window has changed");
        }
      }
      self.Meet();
    }
  });
  EXPECT_GT(named, trials / 10);
  EXPECT_GT(ignored, trials / 100);
}

// Replies to requests. A reply that is not received in place is received in a chunk.
TEST(StrangeReplies, AreAsLongAsTheirPlaceAtMost) {
  constexpr int64_t kChunk = 1024;
  constexpr int64_t kAsked = 3000;
  struct Reply {
    bool lands_in_place;
    int64_t bytes;
    bool is_named;
  };
  std::vector<StrangeEndpoint*> endpoints(2);
  WindowSetup setup;
  setup.wrap = [&](int rank, std::unique_ptr<Endpoint> endpoint) {
    auto strange = std::make_unique<StrangeEndpoint>(std::move(endpoint));
    endpoints[static_cast<size_t>(rank)] = strange.get();
    return strange;
  };
  std::atomic<int> steps{0};
  OnWindowRanks(setup, 2, [&](WindowRank& self) {
    TypedLayout apart;
    Require(TypedLayout::Repeat(kAsked, 2, TypedLayout::Run(Element::kByte, 1), &apart));
    const TypedLayout run = TypedLayout::Run(Element::kByte, kAsked);
    std::vector<std::byte> got(2 * kAsked);
    std::vector<std::byte> memory(kAsked);
    int begun = 0;  // at so many steps
    const auto await = [&](int steps_of_this) {
      while (steps < begun + steps_of_this) std::this_thread::yield();
    };
    for (const Reply& reply : {Reply{false, kChunk, false}, Reply{false, kChunk + 1, true},
                               Reply{true, kChunk + 1, false}, Reply{true, kAsked, false},
                               Reply{true, kAsked + 1, true}}) {
      const std::unique_ptr<Window> window = self.MakeOf(memory.data(), memory.size());
      Require(window->Fence());
      self.Meet();
      if (self.rank() == 1) {  // which makes no call, and so does not answer
        ++steps;
        await(2);
        RmaFrame message;
        message.header.kind = RmaKind::kReply;
        message.header.token = 1;
        message.header.bytes = reply.bytes;
        endpoints[1]->Say(0, message);
        ++steps;
        await(4);
      } else {
        await(1);
        Require(window->Get({got.data(), reply.lands_in_place ? run : apart, 1}, {1, 0, run, 1}));
        ++steps;
        await(3);
        const Status status = window->Progress();
        ++steps;
        const bool is_named = status.code() == StatusCode::kMismatch &&
                              status.message().find("rank 1 replies") != std::string::npos;
        if (is_named != reply.is_named || status.ok() == reply.is_named) {
          throw std::runtime_error(std::to_string(reply.bytes) + " bytes: " + status.ToString());
        }
      }
      begun += 4;
      self.Meet();
    }
  });
}

// A window ends when all ranks have left it, so each rank may send its leave message once, and only
// to its parent in the tree.
TEST_P(StrangeFrames, ALeaveMessageOutOfOrderIsAnError) {
  for (const RmaKind kind : {RmaKind::kLeft, RmaKind::kAllLeft}) {
    std::vector<StrangeEndpoint*> endpoints(2);
    WindowSetup setup;
    setup.is_checked = [](int) { return GetParam().is_checked; };
    setup.wrap = [&](int rank, std::unique_ptr<Endpoint> endpoint) {
      auto strange = std::make_unique<StrangeEndpoint>(std::move(endpoint));
      endpoints[static_cast<size_t>(rank)] = strange.get();
      return strange;
    };
    OnWindowRanks(setup, 2, [&](WindowRank& self) {
      std::vector<std::byte> memory(64);
      const std::unique_ptr<Window> window = self.MakeOf(memory.data(), memory.size());
      self.Meet();
      if (self.rank() == 1) {
        RmaFrame message;
        message.header.kind = kind;
        endpoints[1]->Say(0, message);
        endpoints[1]->Say(0, message);
      }
      self.Meet();
      if (self.rank() == 0) {
        Status status;
        for (int i = 0; i < 1000 && status.ok(); ++i) status = window->Progress();
        if (status.message().find("out of order") == std::string::npos) {
          throw std::runtime_error("not named: " + status.ToString());
        }
      }
      self.Meet();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Over, StrangeFrames,
                         testing::Values(Case{"messages", false, false, 256},
                                         Case{"checked", true, false, 256},
                                         Case{"in_place", false, true, 2500}),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace brigade

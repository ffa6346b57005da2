// What a call of a window leaves behind that fails: nothing that works on its caller's memory.

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "test/windows/window_ranks.h"
#include "transport/core/forwarding_endpoint.h"

namespace brigade {
namespace {

// Finds, while it is told to, that a peer is gone.
class LosingEndpoint final : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;

  void SetLost(bool lost) { lost_ = lost; }
  int groups_closed() const { return groups_closed_; }

  Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) override {
    if (lost_) return {StatusCode::kPeerLost, "rank " + std::to_string(peer) + " is gone"};
    return ForwardingEndpoint::SendControl(group, peer, message, urgency);
  }
  void CloseGroup(GroupId group) override {
    ++groups_closed_;
    ForwardingEndpoint::CloseGroup(group);
  }

 private:
  bool lost_ = false;
  int groups_closed_ = 0;
};

// A layout has to be told first, a run not.
TypedLayout LayoutOf(bool in_runs) {
  TypedLayout layout = TypedLayout::Run(Element::kByte, 8);
  if (!in_runs) return layout;
  TypedLayout runs;
  const Status made = TypedLayout::Repeat(4, 16, layout, &runs);
  if (!made.ok()) throw std::runtime_error(made.ToString());
  return runs;
}

class FailingCalls : public testing::TestWithParam<std::string> {};

TEST_P(FailingCalls, HaveBrokenTheWindowWhenTheyReturn) {
  const std::string call = GetParam();
  std::vector<LosingEndpoint*> endpoints(2);
  WindowWay way;
  way.wrap = [&](int rank, std::unique_ptr<Endpoint> endpoint) {
    auto losing = std::make_unique<LosingEndpoint>(std::move(endpoint));
    endpoints[static_cast<size_t>(rank)] = losing.get();
    return losing;
  };
  OnWindowRanks(
      way, 2,
      [&](WindowRank& self) {
        std::vector<std::byte> memory(256);
        const std::unique_ptr<Window> window = self.MakeOf(memory.data(), memory.size());
        const Status begun = window->Fence({});
        if (!begun.ok()) throw std::runtime_error(begun.ToString());
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

INSTANTIATE_TEST_SUITE_P(All, FailingCalls, testing::Values("put", "get", "get of runs"),
                         [](const testing::TestParamInfo<std::string>& i) {
                           std::string name = i.param;
                           for (char& c : name) c = c == ' ' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace brigade

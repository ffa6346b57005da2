#include "test/transport_conformance.h"

#include <cstring>
#include <deque>
#include <numeric>
#include <random>

#include "gtest/gtest.h"

namespace brigade {
namespace {

using Bytes = std::vector<std::byte>;

// A value for every byte that tells messages, senders and positions apart.
Bytes Pattern(size_t bytes, unsigned seed) {
  Bytes data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<std::byte>((i * 131 + seed * 29) >> 3);
  return data;
}

struct Operation : Completion {
  Operation() : Completion([](Completion* c) { static_cast<Operation*>(c)->done = true; }) {}
  bool done = false;
};

class Driver {
 public:
  explicit Driver(Endpoint* endpoint) : endpoint_(endpoint) {}

  Status Send(const Channel& channel, int peer, ConstByteSpan piece, Operation* operation) {
    return Retry([&] { return endpoint_->PostSend(channel, peer, piece, operation); });
  }
  Status Receive(const Channel& channel, int peer, ByteSpan landing, Operation* operation) {
    return Retry([&] { return endpoint_->PostReceive(channel, peer, landing, operation); });
  }
  Status ReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                        Operation* operation) {
    return Retry([&] { return endpoint_->PostReceiveInPlace(channel, peer, range, operation); });
  }
  Status Wait(Operation* operation) {
    for (uint64_t idle = 0; !operation->done;) Step(&idle);
    return operation->status;
  }
  void Poll(int times) {
    for (uint64_t idle = 0; times > 0; --times) Step(&idle);
  }

 private:
  template <typename Post>
  Status Retry(Post post) {
    Status status = post();
    for (uint64_t idle = 0; status.code() == StatusCode::kNoResource; status = post()) Step(&idle);
    return status;
  }
  void Step(uint64_t* idle) {
    if (endpoint_->Progress()) {
      *idle = 0;
    } else {
      endpoint_->Pause((*idle)++);
    }
  }
  Endpoint* const endpoint_;
};

ByteSpan Span(Bytes* bytes) { return ByteSpan{bytes->data(), bytes->size()}; }
ConstByteSpan Span(const Bytes& bytes) { return ConstByteSpan(bytes.data(), bytes.size()); }
Bytes Read(const Lease& lease) { return Bytes(lease.data, lease.data + lease.bytes); }

std::vector<int> Everyone(int size) {
  std::vector<int> members(size);
  std::iota(members.begin(), members.end(), 0);
  return members;
}

#define ASSERT_OK(expr)                                    \
  do {                                                     \
    const Status assert_ok_ = (expr);                      \
    ASSERT_TRUE(assert_ok_.ok()) << assert_ok_.ToString(); \
  } while (0)

class TransportConformance : public ::testing::TestWithParam<ConformanceTransport> {
 protected:
  // Runs body(rank, driver, group of all ranks) on every rank.
  using Body = std::function<void(ConformanceRank&, Driver&, GroupId)>;
  void Run(const Body& body) {
    GetParam().run([&](ConformanceRank& self) {
      GroupId group = -1;
      ASSERT_OK(self.endpoint->OpenGroup(self.bootstrap(Everyone(self.size)).get(), &group));
      Driver driver(self.endpoint);
      body(self, driver, group);
      if (!::testing::Test::HasFatalFailure()) self.endpoint->CloseGroup(group);
    });
  }
};

TEST_P(TransportConformance, DeliversToThePeer) {
  Run([](ConformanceRank& self, Driver& driver, GroupId group) {
    const Channel channel{group, ChannelKind::kPointToPoint};
    const int next = (self.rank + 1) % self.size;
    const int previous = (self.rank + self.size - 1) % self.size;
    const Bytes mine = Pattern(10000, self.rank);
    Bytes landing(10000);
    Operation sent, received;
    ASSERT_OK(driver.Send(channel, next, Span(mine), &sent));
    ASSERT_OK(driver.Receive(channel, previous, Span(&landing), &received));
    ASSERT_OK(driver.Wait(&received));
    EXPECT_EQ(Read(received.lease), Pattern(10000, previous));
    self.endpoint->ReleaseLease(received.lease);
    ASSERT_OK(driver.Wait(&sent));
  });
}

INSTANTIATE_TEST_SUITE_P(All, TransportConformance, ::testing::ValuesIn(ConformanceTransports()),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace brigade

#include "test/support/endpoints/checked_endpoint.h"

#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/endpoints/fault_endpoint.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "transport/edge/edge.h"
#include "transport/edge/edge_access.h"
#include "transport/inproc/inproc_transport.h"
#include "transport/shm/shm_transport.h"

namespace brigade {
namespace {

const Completion::Callback kIgnore = [](Completion*) {};

InprocOptions InPlace() {
  InprocOptions options;
  options.sends_in_place = true;
  return options;
}

// One rank, which talks to itself.
class CheckedEndpointTest : public ::testing::Test {
 protected:
  CheckedEndpointTest()
      : world_(1, InPlace()), endpoint_(MakeCheckedEndpoint(world_.CreateEndpoint(0))) {
    const Status status = endpoint_->OpenGroup(world_.MakeBootstrap(0).get(), &channel_.group);
    EXPECT_TRUE(status.ok()) << status.ToString();
  }
  ~CheckedEndpointTest() override { GiveUp(); }

  // Fails pending operations; the endpoint may then be destroyed.
  void GiveUp() {
    if (endpoint_ == nullptr) return;
    world_.MarkLost(0);
    while (endpoint_->Progress()) {
    }
  }

  Status Send(size_t offset, size_t bytes, Completion* completion) {
    return endpoint_->PostSend(channel_, 0, ConstByteSpan(memory_ + offset, bytes), completion);
  }
  Status Receive(size_t offset, size_t bytes, Completion* completion) {
    return endpoint_->PostReceive(channel_, 0, ByteSpan{memory_ + offset, bytes}, completion);
  }
  SentNow SendNow(const LayoutRange& range, Completion* completion) {
    size_t kept_bytes = 0;
    return endpoint_->SendNow(channel_, 0, ConstByteSpan(), range, completion, &kept_bytes);
  }
  void ExpectOk(const Status& status) { EXPECT_TRUE(status.ok()) << status.ToString(); }

  InprocWorld world_;
  std::unique_ptr<Endpoint> endpoint_;
  Channel channel_;
  std::byte memory_[100] = {};
  Completion first_{kIgnore};
  Completion second_{kIgnore};
};
using CheckedEndpointDeathTest = CheckedEndpointTest;

TEST_F(CheckedEndpointTest, LetsGoodCallersThrough) {
  for (int i = 0; i < 2; ++i) {
    ExpectOk(Send(0, 10, &first_));
    ExpectOk(Receive(10, 10, &second_));
    while (endpoint_->Progress()) {
    }
    EXPECT_TRUE(first_.status.ok());
    EXPECT_EQ(second_.lease.bytes, 10u);
    EXPECT_NE(second_.lease.token, 0u);
    endpoint_->ReleaseLease(second_.lease);
  }
}

TEST_F(CheckedEndpointDeathTest, CompletionPostedTwice) {
  ExpectOk(Send(0, 10, &first_));
  EXPECT_DEATH((void)Send(0, 10, &first_), "not posted again before its callback");
}

TEST_F(CheckedEndpointDeathTest, OverlappingReceiveBuffers) {
  ExpectOk(Receive(0, 10, &first_));
  EXPECT_DEATH((void)Receive(9, 10, &second_), "receive buffers of posted receives do not overlap");
}

TEST_F(CheckedEndpointDeathTest, OverlappingReceiveBufferInPlace) {
  ExpectOk(Receive(0, 10, &first_));
  const StridedLayout layout = StridedLayout::Contiguous(100);
  const LayoutRange range{&layout, memory_, 9, 10};
  EXPECT_DEATH((void)endpoint_->PostReceiveInPlace(channel_, 0, range, &second_),
               "receive buffers of posted receives do not overlap");
}

TEST_F(CheckedEndpointDeathTest, ReceiveBufferIsBeingSent) {
  ExpectOk(Send(0, 10, &first_));
  EXPECT_DEATH((void)Receive(9, 10, &second_), "being sent is not used");
}

TEST_F(CheckedEndpointDeathTest, SendingAReceiveBuffer) {
  ExpectOk(Receive(0, 10, &first_));
  EXPECT_DEATH((void)Send(9, 10, &second_), "used as a receive buffer is not sent");
}

TEST_F(CheckedEndpointDeathTest, ReceiveBufferIsLeased) {
  ExpectOk(Send(0, 10, &first_));
  ExpectOk(Receive(10, 10, &second_));
  endpoint_->Progress();
  endpoint_->Progress();
  EXPECT_DEATH((void)Receive(19, 10, &first_), "released before it is lent again");
  endpoint_->ReleaseLease(second_.lease);
}

TEST_F(CheckedEndpointDeathTest, LeaseReleasedTwice) {
  ExpectOk(Send(0, 10, &first_));
  ExpectOk(Receive(10, 10, &second_));
  endpoint_->Progress();
  endpoint_->ReleaseLease(second_.lease);
  EXPECT_DEATH(endpoint_->ReleaseLease(second_.lease), "released once");
}

TEST_F(CheckedEndpointDeathTest, LeaseNeverReleased) {
  ExpectOk(Send(0, 10, &first_));
  ExpectOk(Receive(10, 10, &second_));
  endpoint_->Progress();
  endpoint_->Progress();
  EXPECT_DEATH(endpoint_.reset(), "every lease is released");
  endpoint_->ReleaseLease(second_.lease);
}

TEST_F(CheckedEndpointDeathTest, LeaseReleasedWhileForwarded) {
  ExpectOk(Send(0, 10, &first_));
  ExpectOk(Receive(10, 10, &second_));
  endpoint_->Progress();
  endpoint_->Progress();
  const Lease lease = second_.lease;
  ExpectOk(endpoint_->PostSend(channel_, 0, ConstByteSpan(lease.data, lease.bytes), &first_));
  EXPECT_DEATH(endpoint_->ReleaseLease(lease), "after its forwards have ended");
  ExpectOk(Receive(30, 10, &second_));
  while (endpoint_->Progress()) {
  }
  endpoint_->ReleaseLease(lease);
  endpoint_->ReleaseLease(second_.lease);
}

TEST_F(CheckedEndpointDeathTest, DestroyedWhileSending) {
  ExpectOk(Send(0, 10, &first_));
  EXPECT_DEATH(endpoint_.reset(), "sends are over before");
}

TEST_F(CheckedEndpointDeathTest, SegmentTouched) {
  ExpectOk(Send(0, 10, &first_));
  ExpectOk(Receive(10, 10, &second_));
  memory_[9] = std::byte{1};
  EXPECT_DEATH(while (endpoint_->Progress()){}, "stays untouched until its send is over");
}

TEST_F(CheckedEndpointDeathTest, ClosedGroup) {
  endpoint_->CloseGroup(channel_.group);
  EXPECT_DEATH((void)Send(0, 10, &first_), "posts are made on open groups");
  EXPECT_DEATH(endpoint_->CloseGroup(channel_.group), "closed, and once");
}

TEST_F(CheckedEndpointDeathTest, PeerOutsideTheGroup) {
  EXPECT_DEATH((void)endpoint_->PostSend(channel_, 1, ConstByteSpan(memory_, 1), &first_),
               "a peer is a rank of the group");
}

TEST_F(CheckedEndpointDeathTest, InPlaceWithoutAsking) {
  StridedLayout layout;
  ExpectOk(StridedLayout::General(2, 3, 5, 1, &layout));
  const LayoutRange range{&layout, memory_, 0, 6};
  EXPECT_DEATH((void)endpoint_->PostReceiveInPlace(channel_, 0, range, &first_),
               "only what LandsInPlace said yes to");
}

TEST_F(CheckedEndpointTest, UserMemoryIsFreeAtOnce) {
  const StridedLayout layout = StridedLayout::Contiguous(100);
  EXPECT_EQ(SendNow({&layout, memory_, 0, 10}, &first_), SentNow::kYes);
  memory_[0] = std::byte{1};
  ExpectOk(Receive(0, 10, &second_));
  while (endpoint_->Progress()) {
  }
  EXPECT_EQ(memory_[0], std::byte{0});
  endpoint_->ReleaseLease(second_.lease);
}

TEST_F(CheckedEndpointDeathTest, SendingAReceiveBufferFromUserMemory) {
  StridedLayout layout;
  ExpectOk(StridedLayout::General(/*rows=*/2, /*cols=*/10, /*ld=*/10, 1, &layout));
  ExpectOk(Receive(31, 1, &first_));
  EXPECT_EQ(SendNow({&layout, memory_, 0, 6}, &second_), SentNow::kYes);
  EXPECT_DEATH((void)SendNow({&layout, memory_, 0, 8}, &second_),
               "used as a receive buffer is not sent");
}

TEST_F(CheckedEndpointDeathTest, RangeOutsideItsMatrix) {
  const StridedLayout layout = StridedLayout::Contiguous(50);
  EXPECT_DEATH((void)SendNow({&layout, memory_, 45, 6}, &first_), "lies within its matrix");
}

TEST_F(CheckedEndpointDeathTest, UserMemoryOvertakesARefusedSend) {
  InprocWorld world(1, InPlace());
  FaultOptions faults;
  faults.no_resource = 1;
  endpoint_ = MakeCheckedEndpoint(MakeFaultEndpoint(world.CreateEndpoint(0), faults));
  ExpectOk(endpoint_->OpenGroup(world.MakeBootstrap(0).get(), &channel_.group));
  const StridedLayout layout = StridedLayout::Contiguous(100);
  EXPECT_NE(SendNow({&layout, memory_, 0, 10}, &first_), SentNow::kYes);
  EXPECT_EQ(Send(0, 10, &first_).code(), StatusCode::kNoResource);
  EXPECT_DEATH((void)SendNow({&layout, memory_, 0, 10}, &second_), "that was refused is posted");
  endpoint_.reset();
}

// Calls Progress when its operation has succeeded.
struct Nosy : Completion {
  Nosy(Endpoint* e, bool t)
      : Completion([](Completion* c) { static_cast<Nosy*>(c)->Look(); }),
        endpoint(e),
        in_a_thread(t) {}
  void Look() {
    if (!status.ok()) return;
    if (in_a_thread) {
      std::thread([this] { endpoint->Progress(); }).join();
    } else {
      endpoint->Progress();
    }
  }
  Endpoint* endpoint;
  bool in_a_thread;
};

TEST_F(CheckedEndpointDeathTest, ProgressInACallback) {
  Nosy nosy(endpoint_.get(), false);
  ExpectOk(Receive(10, 10, &nosy));
  ExpectOk(Send(0, 10, &first_));
  EXPECT_DEATH(endpoint_->Progress(), "a callback does not call Progress");
  GiveUp();
}

TEST_F(CheckedEndpointDeathTest, SecondProgressOwner) {
  Nosy nosy(endpoint_.get(), true);
  ExpectOk(Receive(10, 10, &nosy));
  ExpectOk(Send(0, 10, &first_));
  EXPECT_DEATH(endpoint_->Progress(), "one progress owner at a time");
  GiveUp();
}

TEST_F(CheckedEndpointDeathTest, OpensAGroupInACallback) {
  struct Opener : Completion {
    Opener(Endpoint* e, Bootstrap* b)
        : Completion([](Completion* c) {
            auto* self = static_cast<Opener*>(c);
            GroupId group = -1;
            (void)self->endpoint->OpenGroup(self->bootstrap, &group);
          }),
          endpoint(e),
          bootstrap(b) {}
    Endpoint* endpoint;
    Bootstrap* bootstrap;
  };
  const auto bootstrap = world_.MakeBootstrap(0);
  Opener opener(endpoint_.get(), bootstrap.get());
  const auto open = [&] {
    ExpectOk(Receive(10, 10, &opener));
    ExpectOk(Send(0, 10, &first_));
    while (endpoint_->Progress()) {
    }
  };
  EXPECT_DEATH(open(), "a callback opens no group");
}

TEST_F(CheckedEndpointDeathTest, ChannelOfNoKind) {
  channel_.kind = static_cast<ChannelKind>(kChannelKinds);
  EXPECT_DEATH((void)Send(0, 10, &first_), "four channel kinds");
}

// A transport that breaks the rules.
class Broken : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  bool SendsInPlace(const Channel&, int, const LayoutRange&) const override { return in_place; }
  SentNow SendNow(const Channel&, int, ConstByteSpan head, const LayoutRange& body, Completion*,
                  size_t* kept_bytes) override {
    *kept_bytes = head.bytes + body.bytes + 1;
    return SentNow::kYes;
  }
  Status PostSend(const Channel&, int, ConstByteSpan, Completion* completion) override {
    sends.push_back(completion);
    if (at_once) completion->callback(completion);
    return outcome;
  }
  Status PostReceive(const Channel&, int, ByteSpan receive_buffer,
                     Completion* completion) override {
    completion->lease = {receive_buffer.data, receive_buffer.bytes + 1, 0};
    completion->callback(completion);
    return Status();
  }

  bool in_place = true;
  bool at_once = false;
  Status outcome;
  std::vector<Completion*> sends;
};

// Each test ends in its death.
class BrokenTransportDeathTest : public CheckedEndpointTest {
 protected:
  BrokenTransportDeathTest() {
    auto broken = std::make_unique<Broken>(other_world_.CreateEndpoint(0));
    broken_ = broken.get();
    checked_ = MakeCheckedEndpoint(std::move(broken));
    ExpectOk(checked_->OpenGroup(other_world_.MakeBootstrap(0).get(), &channel_.group));
  }
  Status Post(Completion* completion) {
    return checked_->PostSend(channel_, 0, ConstByteSpan(memory_, 10), completion);
  }
  void Now() {
    size_t kept_bytes = 0;
    checked_->SendNow(channel_, 0, ConstByteSpan(), {&layout_, memory_, 0, 10}, &first_,
                      &kept_bytes);
  }

  const StridedLayout layout_ = StridedLayout::Contiguous(100);
  InprocWorld other_world_{1};
  Broken* broken_ = nullptr;
  std::unique_ptr<Endpoint> checked_;
};

TEST_F(BrokenTransportDeathTest, EndsSendsOutOfOrder) {
  const auto end_second = [&] {
    ExpectOk(Post(&first_));
    ExpectOk(Post(&second_));
    broken_->sends[1]->callback(broken_->sends[1]);
  };
  EXPECT_DEATH(end_second(), "end in the order of posts");
}

TEST_F(BrokenTransportDeathTest, RunsACallbackOfAPostThatFails) {
  broken_->at_once = true;
  broken_->outcome = Status(StatusCode::kInternal, "no");
  EXPECT_DEATH((void)Post(&first_), "a post that fails runs no callback");
}

TEST_F(BrokenTransportDeathTest, NestsCallbacks) {
  struct Sender : Completion {
    explicit Sender(std::function<void()> s)
        : Completion([](Completion* c) { static_cast<Sender*>(c)->send(); }), send(std::move(s)) {}
    std::function<void()> send;
  } sender([this] { (void)Post(&second_); });
  broken_->at_once = true;
  EXPECT_DEATH((void)Post(&sender), "callbacks do not nest");
}

TEST_F(BrokenTransportDeathTest, FillsMoreThanTheReceiveBuffer) {
  EXPECT_DEATH((void)checked_->PostReceive(channel_, 0, ByteSpan{memory_, 10}, &first_),
               "a lease is no longer than its receive buffer");
}

TEST_F(BrokenTransportDeathTest, KeepsMoreThanIsSent) {
  EXPECT_DEATH(Now(), "no more is kept than is sent");
}

TEST_F(BrokenTransportDeathTest, IsAskedToSendUnsupportedUserMemory) {
  broken_->in_place = false;
  EXPECT_DEATH(Now(), "only what SendsInPlace said yes to");
}

struct Closing final : ControlHandler {
  Closing(Endpoint* e, GroupId g) : endpoint(e), group(g) {}
  void OnControl(int, ConstByteSpan) override { endpoint->CloseGroup(group); }
  Endpoint* endpoint;
  GroupId group;
};

TEST_F(CheckedEndpointDeathTest, AHandlerThatClosesItsGroup) {
  Closing closing(endpoint_.get(), channel_.group);
  endpoint_->SetControlHandler(channel_.group, &closing);
  ExpectOk(endpoint_->SendControl(channel_.group, 0, ConstByteSpan(), Urgency::kUrgent));
  EXPECT_DEATH(endpoint_->Progress(), "a handler closes no group");
  endpoint_->CloseGroup(channel_.group);  // no callback is called
}

TEST_F(CheckedEndpointDeathTest, ASecondHandler) {
  Closing closing(endpoint_.get(), channel_.group);
  endpoint_->SetControlHandler(channel_.group, &closing);
  EXPECT_DEATH(endpoint_->SetControlHandler(channel_.group, &closing), "one handler");
}

TEST_F(CheckedEndpointDeathTest, AControlMessageThatIsTooLong) {
  EXPECT_DEATH((void)endpoint_->SendControl(channel_.group, 0, {memory_, 49}, Urgency::kCanWait),
               "at most 48 bytes");
}

// Over shared memory the wrappers expose the edges of their target.
TEST(CheckedEndpointEdgesDeathTest, AnEdgeIsUsedWhileNoPostWaits) {
  InprocWorld world(1);
  std::unique_ptr<Endpoint> endpoint;
  ASSERT_TRUE(CreateShmEndpoint(&endpoint).ok());
  endpoint = MakeCheckedEndpoint(MakeFaultEndpoint(std::move(endpoint), FaultOptions()));
  Channel channel;
  ASSERT_TRUE(endpoint->OpenGroup(world.MakeBootstrap(0).get(), &channel.group).ok());
  EdgeAccess* const edges = endpoint->edges();
  ASSERT_NE(edges, nullptr);
  OutEdge* const out = edges->EdgeTo(channel, 0);
  InEdge* const in = edges->EdgeFrom(channel, 0);
  ASSERT_NE(out, nullptr);
  Slot* const slot = out->Next();
  slot->kind = Slot::kInline;
  slot->bytes = 0;
  (void)out->Publish(slot);
  ASSERT_NE(in->Peek(), nullptr);
  in->GiveBack(in->Take(), /*is_segment=*/false);
  Completion received(kIgnore);
  ASSERT_TRUE(endpoint->PostReceive(channel, 0, ByteSpan{nullptr, 10}, &received).ok());
  EXPECT_DEATH((void)edges->EdgeFrom(channel, 0), "while no post of its stream waits");
  endpoint->CloseGroup(channel.group);
  EXPECT_DEATH((void)edges->EdgeTo(channel, 0), "open groups");
}

}  // namespace
}  // namespace brigade

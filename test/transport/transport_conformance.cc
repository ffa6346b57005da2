#include "test/transport/transport_conformance.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <iterator>
#include <numeric>
#include <random>
#include <string>

#include "gtest/gtest.h"
#include "membuf/pack.h"
#include "membuf/registered_region.h"

namespace brigade {
namespace {

using Bytes = std::vector<std::byte>;

// A value for every byte that distinguishes messages, senders and positions.
Bytes Pattern(size_t bytes, unsigned seed) {
  constexpr size_t kPeriod = 2048;  // sanitizers look at every byte that is not copied
  Bytes data(bytes);
  for (size_t i = 0; i < std::min(bytes, kPeriod); ++i) {
    data[i] = static_cast<std::byte>((i * 131 + seed * 29) >> 3);
  }
  for (size_t at = kPeriod; at < bytes; at += kPeriod) {
    std::memcpy(&data[at], data.data(), std::min(kPeriod, bytes - at));
  }
  return data;
}

bool Same(const Bytes& a, const Bytes& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size()) == 0;
}

Bytes Read(const Lease& lease) { return Bytes(lease.data, lease.data + lease.bytes); }

struct Operation : Completion {
  Operation() : Completion([](Completion* c) { static_cast<Operation*>(c)->done = true; }) {}
  bool done = false;
};

// Posts on an endpoint, and calls its Progress until a post is accepted or an operation complete.
class Poller {
 public:
  explicit Poller(Endpoint* endpoint) : endpoint_(endpoint) {}

  Status Send(const Channel& channel, int peer, ConstByteSpan segment, Operation* operation) {
    if (endpoint_->capabilities().needs_registered_memory && segment.bytes > 0) {
      BRIGADE_RETURN_IF_ERROR(Stage(&segment));
    }
    return Forward(channel, peer, segment, operation);
  }
  // Memory for what is sent and for what is received to be forwarded.
  Status Register(size_t bytes, ByteSpan* memory) {
    staged_.emplace_back();
    BRIGADE_RETURN_IF_ERROR(
        RegisteredRegion::Create(endpoint_->domain(), 0, bytes, &staged_.back()));
    *memory = staged_.back().memory();
    return Status();
  }
  // Sends what may be sent as it lies: registered, or leased.
  Status Forward(const Channel& channel, int peer, ConstByteSpan segment, Operation* operation) {
    return Retry([&] { return endpoint_->PostSend(channel, peer, segment, operation); });
  }
  Status Receive(const Channel& channel, int peer, ByteSpan receive_buffer, Operation* operation) {
    return Retry([&] { return endpoint_->PostReceive(channel, peer, receive_buffer, operation); });
  }
  Status ReceiveInPlace(const Channel& channel, int peer, const LayoutRange& range,
                        Operation* operation) {
    return Retry([&] { return endpoint_->PostReceiveInPlace(channel, peer, range, operation); });
  }
  Status Control(GroupId group, int peer, ConstByteSpan message, Urgency urgency) {
    return Retry([&] { return endpoint_->SendControl(group, peer, message, urgency); });
  }
  Status Wait(Operation* operation) {
    while (!operation->done) Step();
    return operation->status;
  }
  // Waits for a receive, whose bytes must be `expected`, and releases its lease.
  Status Take(Operation* received, const Bytes& expected) {
    BRIGADE_RETURN_IF_ERROR(Wait(received));
    EXPECT_EQ(Read(received->lease), expected);
    endpoint_->ReleaseLease(received->lease);
    return Status();
  }
  // Receives a segment, which must be `expected`.
  Status ReceiveNow(const Channel& channel, int peer, ByteSpan receive_buffer,
                    const Bytes& expected) {
    Operation received;
    BRIGADE_RETURN_IF_ERROR(Receive(channel, peer, receive_buffer, &received));
    return Take(&received, expected);
  }
  void Poll(int times) {
    for (; times > 0; --times) Step();
  }

 private:
  Status Stage(ConstByteSpan* segment) {
    ByteSpan memory;
    BRIGADE_RETURN_IF_ERROR(Register(segment->bytes, &memory));
    std::memcpy(memory.data, segment->data, segment->bytes);
    segment->data = memory.data;
    return Status();
  }
  template <typename Post>
  Status Retry(Post post) {
    Status status = post();
    for (; status.code() == StatusCode::kNoResource; status = post()) Step();
    return status;
  }
  void Step() {
    if (endpoint_->Progress()) {
      idle_ = 0;
    } else {
      endpoint_->polling()->Pause(idle_++);
    }
  }

  Endpoint* const endpoint_;
  uint64_t idle_ = 0;
  std::deque<RegisteredRegion> staged_;  // until the end: nothing is sent any more then
};

ByteSpan Span(Bytes* bytes) { return ByteSpan{bytes->data(), bytes->size()}; }
ConstByteSpan Span(const Bytes& bytes) { return ConstByteSpan(bytes.data(), bytes.size()); }

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
  // Runs body(rank, poller, group of all ranks) on every rank.
  using Body = std::function<void(ConformanceRank&, Poller&, GroupId)>;
  void Run(const Body& body) {
    GetParam().run([&](ConformanceRank& self) {
      GroupId group = -1;
      ASSERT_OK(self.endpoint->OpenGroup(self.bootstrap(Everyone(self.size)).get(), &group));
      Poller poller(self.endpoint);
      body(self, poller, group);
      if (!::testing::Test::HasFatalFailure()) self.endpoint->CloseGroup(group);
    });
  }
};

constexpr ChannelKind kKinds[] = {ChannelKind::kPointToPoint, ChannelKind::kRow,
                                  ChannelKind::kColumn, ChannelKind::kAll};

TEST_P(TransportConformance, DeliversToThePeer) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    const Channel channel{group, ChannelKind::kPointToPoint};
    const int next = (self.rank + 1) % self.size;
    const int previous = (self.rank + self.size - 1) % self.size;
    const Bytes mine = Pattern(1000000, self.rank);
    Bytes receive_buffer(1000000);
    Operation sent;
    ASSERT_OK(poller.Send(channel, next, Span(mine), &sent));
    ASSERT_OK(
        poller.ReceiveNow(channel, previous, Span(&receive_buffer), Pattern(1000000, previous)));
    ASSERT_OK(poller.Wait(&sent));
  });
}

// All to all on all channels at once; lengths on both sides of every threshold a transport may
// have.
TEST_P(TransportConformance, KeepsOrderPerChannelAndPeer) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    constexpr int kSegments = 24;
    constexpr size_t kLengths[] = {8, 0, 5000, 1, 40000, 300};
    constexpr size_t kLongest = 40000;
    auto seed = [](int from, ChannelKind kind, int number) {
      return static_cast<unsigned>((from * kChannelKinds + static_cast<int>(kind)) * kSegments +
                                   number);
    };
    struct Stream {
      ChannelKind kind;
      int peer;
      std::deque<Bytes> segments;
      std::deque<Operation> sent;
      std::deque<Bytes> receive_buffers;
      std::deque<Operation> received;
    };
    std::deque<Stream> streams;
    for (ChannelKind kind : kKinds) {
      for (int peer = 0; peer < self.size; ++peer) {
        streams.emplace_back();
        streams.back().kind = kind;
        streams.back().peer = peer;
      }
    }
    std::mt19937 random(self.rank);
    for (int number = 0; number < kSegments; ++number) {
      std::shuffle(streams.begin(), streams.end(), random);
      for (Stream& stream : streams) {
        const Channel channel{group, stream.kind};
        const size_t bytes = kLengths[(number + stream.peer) % 6];
        stream.segments.push_back(Pattern(bytes, seed(self.rank, stream.kind, number)));
        stream.sent.emplace_back();
        ASSERT_OK(
            poller.Send(channel, stream.peer, Span(stream.segments.back()), &stream.sent.back()));
        stream.receive_buffers.emplace_back(kLongest);
        stream.received.emplace_back();
        ASSERT_OK(poller.Receive(channel, stream.peer, Span(&stream.receive_buffers.back()),
                                 &stream.received.back()));
        poller.Poll(static_cast<int>(random() % 3));
      }
    }
    for (Stream& stream : streams) {
      for (int number = 0; number < kSegments; ++number) {
        Operation& received = stream.received[number];
        ASSERT_OK(poller.Wait(&received));
        const size_t bytes = kLengths[(number + self.rank) % 6];
        ASSERT_EQ(Read(received.lease), Pattern(bytes, seed(stream.peer, stream.kind, number)));
        self.endpoint->ReleaseLease(received.lease);
      }
    }
    for (Stream& stream : streams) {
      for (Operation& sent : stream.sent) ASSERT_OK(poller.Wait(&sent));
    }
  });
}

// The law all transports are built around: unreceived data of one channel delays no other, neither
// its arrival nor its sender's completion.
TEST_P(TransportConformance, ChannelsDoNotDelayEachOther) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    constexpr int kSegments = 64;
    constexpr size_t kSegmentBytes = 256 << 10;
    const Channel huge{group, ChannelKind::kPointToPoint};
    const Channel other{group, ChannelKind::kAll};
    const Channel after{group, ChannelKind::kRow};
    if (self.rank == 0) {
      const Bytes segment = Pattern(kSegmentBytes, 1);
      std::deque<Operation> sent(kSegments);
      for (Operation& operation : sent) {
        ASSERT_OK(poller.Send(huge, 1, Span(segment), &operation));
      }
      const Bytes broadcast = Pattern(kSegmentBytes, 2);
      Operation broadcast_sent, after_sent;
      ASSERT_OK(poller.Send(other, 1, Span(broadcast), &broadcast_sent));
      ASSERT_OK(poller.Wait(&broadcast_sent));
      ASSERT_OK(poller.Send(after, 1, Span(broadcast), &after_sent));
      ASSERT_OK(poller.Wait(&after_sent));
      for (Operation& operation : sent) ASSERT_OK(poller.Wait(&operation));
    } else if (self.rank == 1) {
      const Bytes segment = Pattern(kSegmentBytes, 1), broadcast = Pattern(kSegmentBytes, 2);
      Bytes receive_buffer(kSegmentBytes);
      for (const Channel& channel : {other, after}) {
        ASSERT_OK(poller.ReceiveNow(channel, 0, Span(&receive_buffer), broadcast));
      }
      for (int i = 0; i < kSegments; ++i) {
        ASSERT_OK(poller.ReceiveNow(huge, 0, Span(&receive_buffer), segment));
      }
    }
  });
}

TEST_P(TransportConformance, CarriesZeroBytes) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    const int peer = self.size - 1 - self.rank;
    for (ChannelKind kind : kKinds) {
      Operation sent, received;
      received.lease.bytes = 99;
      ASSERT_OK(poller.Receive(Channel{group, kind}, peer, ByteSpan(), &received));
      ASSERT_OK(poller.Send(Channel{group, kind}, peer, ConstByteSpan(), &sent));
      ASSERT_OK(poller.Take(&received, Bytes()));
      ASSERT_OK(poller.Wait(&sent));
    }
  });
}

TEST_P(TransportConformance, SendsToItself) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    const Channel channel{group, ChannelKind::kColumn};
    for (size_t bytes : {size_t{1}, size_t{1} << 20}) {
      const Bytes segment = Pattern(bytes, self.rank);
      for (bool send_first : {true, false}) {
        Bytes receive_buffer(bytes);
        Operation sent, received;
        if (send_first) ASSERT_OK(poller.Send(channel, self.rank, Span(segment), &sent));
        ASSERT_OK(poller.Receive(channel, self.rank, Span(&receive_buffer), &received));
        if (!send_first) ASSERT_OK(poller.Send(channel, self.rank, Span(segment), &sent));
        ASSERT_OK(poller.Take(&received, segment));
        ASSERT_OK(poller.Wait(&sent));
      }
    }
  });
}

TEST_P(TransportConformance, KeepsManyOperationsOutstanding) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    constexpr int kSegments = 600;
    constexpr size_t kSegmentBytes = 5000;  // not eager
    const Channel channel{group, ChannelKind::kPointToPoint};
    const int peer = self.size - 1 - self.rank;
    std::deque<Bytes> segments;
    std::deque<Operation> sent(kSegments);
    for (int i = 0; i < kSegments; ++i) {
      segments.push_back(Pattern(kSegmentBytes, i));
      ASSERT_OK(poller.Send(channel, peer, Span(segments.back()), &sent[i]));
    }
    poller.Poll(10);
    std::deque<Bytes> receive_buffers(kSegments, Bytes(kSegmentBytes));
    std::deque<Operation> received(kSegments);
    for (int i = 0; i < kSegments; ++i) {
      ASSERT_OK(poller.Receive(channel, peer, Span(&receive_buffers[i]), &received[i]));
    }
    for (int i = 0; i < kSegments; ++i) {
      ASSERT_OK(poller.Take(&received[i], Pattern(kSegmentBytes, i)));
    }
    for (Operation& operation : sent) ASSERT_OK(poller.Wait(&operation));
  });
}

TEST_P(TransportConformance, RefusesASegmentLongerThanItsReceiveBuffer) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    const Channel channel{group, ChannelKind::kPointToPoint};
    for (size_t bytes : {size_t{123}, size_t{123456}}) {
      if (self.rank == 0) {
        const Bytes segment = Pattern(bytes, 7);
        Operation sent, next_sent;
        ASSERT_OK(poller.Send(channel, 1, Span(segment), &sent));
        ASSERT_OK(poller.Send(channel, 1, Span(segment), &next_sent));
        EXPECT_TRUE(poller.Wait(&sent).ok());
        EXPECT_TRUE(poller.Wait(&next_sent).ok());
      } else if (self.rank == 1) {
        Bytes memory(bytes, std::byte{0x5a});
        Operation received;
        ASSERT_OK(poller.Receive(channel, 0, ByteSpan{memory.data(), 77}, &received));
        const Status status = poller.Wait(&received);
        EXPECT_EQ(status.code(), StatusCode::kMismatch);
        EXPECT_NE(status.message().find(std::to_string(bytes)), std::string::npos)
            << status.message();
        EXPECT_NE(status.message().find("77"), std::string::npos) << status.message();
        if (self.endpoint->CapabilitiesTo(group, 0).kept_receive_buffer_bytes >= 77) {
          for (size_t i = 77; i < bytes; ++i) ASSERT_EQ(memory[i], std::byte{0x5a});
        }
        // The stream goes on behind it.
        ASSERT_OK(poller.ReceiveNow(channel, 0, Span(&memory), Pattern(bytes, 7)));
      }
    }
  });
}

TEST_P(TransportConformance, ShowsASegmentBeforeItsReceive) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    if (self.endpoint->capabilities().name == std::string("sim")) return;
    const Channel channel{group, ChannelKind::kRow};
    constexpr size_t kLengths[] = {32, 1000, 5, 0, 200};
    constexpr size_t kShortReceiveBuffer = 77;  // of the last one
    if (self.rank == 0) {
      std::deque<Bytes> segments;
      std::deque<Operation> sent(std::size(kLengths));
      for (size_t i = 0; i < std::size(kLengths); ++i) {
        segments.push_back(Pattern(kLengths[i], static_cast<unsigned>(i)));
        ASSERT_OK(poller.Send(channel, 1, Span(segments.back()), &sent[i]));
      }
      for (Operation& operation : sent) ASSERT_OK(poller.Wait(&operation));
    } else if (self.rank == 1) {
      for (size_t i = 0; i < std::size(kLengths); ++i) {
        const Bytes expected = Pattern(kLengths[i], static_cast<unsigned>(i));
        Bytes head(std::min<size_t>(kLengths[i], 16));
        size_t seen = 0;
        while (!head.empty() && seen == 0) {
          poller.Poll(1);
          seen = self.endpoint->PeekUnexpected(channel, 0, Span(&head));
        }
        EXPECT_EQ(self.endpoint->PeekUnexpected(channel, 0, Span(&head)), head.size());
        EXPECT_TRUE(std::equal(head.begin(), head.end(), expected.begin()));
        const bool is_last = i + 1 == std::size(kLengths);
        Bytes receive_buffer(is_last ? kShortReceiveBuffer : 2000);
        Operation received;
        ASSERT_OK(poller.Receive(channel, 0, Span(&receive_buffer), &received));
        const Status status = poller.Wait(&received);
        EXPECT_EQ(status.code(), is_last ? StatusCode::kMismatch : StatusCode::kOk);
        if (!status.ok()) continue;
        EXPECT_EQ(Read(received.lease), expected);
        self.endpoint->ReleaseLease(received.lease);
      }
    }
  });
}

TEST_P(TransportConformance, TakesASegmentShorterThanItsReceiveBuffer) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    const Channel channel{group, ChannelKind::kPointToPoint};
    const int peer = self.size - 1 - self.rank;
    const Bytes segment = Pattern(1001, self.rank);
    Bytes receive_buffer(5000, std::byte{0x5a});
    Operation sent, received;
    ASSERT_OK(poller.Receive(channel, peer, Span(&receive_buffer), &received));
    ASSERT_OK(poller.Send(channel, peer, Span(segment), &sent));
    ASSERT_OK(poller.Wait(&received));
    EXPECT_EQ(Read(received.lease), Pattern(1001, peer));
    EXPECT_EQ(Bytes(receive_buffer.begin() + 1001, receive_buffer.end()),
              Bytes(5000 - 1001, std::byte{0x5a}));
    self.endpoint->ReleaseLease(received.lease);
    ASSERT_OK(poller.Wait(&sent));
  });
}

TEST_P(TransportConformance, ReceiveBuffersOfAnyLengthMatchInOrder) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    constexpr size_t kLengths[] = {5000, 8, 40000, 300, 0, 6000, 7000, 8, 8, 100000};
    constexpr size_t kSegments = std::size(kLengths);
    const Channel channel{group, ChannelKind::kRow};
    const int peer = self.size - 1 - self.rank;
    // Columns with gaps of the same length as the segment that lands in them.
    StridedLayout columns;
    ASSERT_OK(StridedLayout::General(700, 10, 800, 1, &columns));
    Bytes matrix(8000, std::byte{0x5a});
    const LayoutRange whole{&columns, matrix.data(), 0, 7000};
    for (const bool receive_first : {true, false}) {
      std::deque<Bytes> segments, receive_buffers;
      std::deque<Operation> sent(kSegments), received(kSegments);
      const auto receive = [&] {
        for (size_t i = 0; i < kSegments; ++i) {
          receive_buffers.emplace_back(kLengths[i]);
          if (kLengths[i] == 7000 && self.endpoint->LandsInPlace(channel, peer, whole)) {
            ASSERT_OK(poller.ReceiveInPlace(channel, peer, whole, &received[i]));
          } else {
            ASSERT_OK(poller.Receive(channel, peer, Span(&receive_buffers[i]), &received[i]));
          }
        }
      };
      if (receive_first) receive();
      for (size_t i = 0; i < kSegments; ++i) {
        segments.push_back(Pattern(kLengths[i], static_cast<unsigned>(i)));
        ASSERT_OK(poller.Send(channel, peer, Span(segments[i]), &sent[i]));
        poller.Poll(1);
      }
      if (!receive_first) receive();
      for (size_t i = 0; i < kSegments; ++i) {
        ASSERT_OK(poller.Wait(&received[i]));
        if (received[i].lease.data != nullptr || kLengths[i] != 7000) {
          ASSERT_EQ(Read(received[i].lease), segments[i]) << i;
        } else {
          for (size_t j = 0; j < 10; ++j) {
            const auto column = matrix.begin() + static_cast<std::ptrdiff_t>(800 * j);
            EXPECT_TRUE(std::equal(column, column + 700,
                                   segments[i].begin() + static_cast<std::ptrdiff_t>(700 * j)));
          }
        }
        self.endpoint->ReleaseLease(received[i].lease);
      }
      for (Operation& operation : sent) ASSERT_OK(poller.Wait(&operation));
    }
  });
}

TEST_P(TransportConformance, ReceivesInPlaceAmongOtherReceives) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    const Channel channel{group, ChannelKind::kPointToPoint};
    const int peer = self.size - 1 - self.rank;
    constexpr size_t kBytes = 9000;
    const StridedLayout layout = StridedLayout::Contiguous(3 * kBytes);
    Bytes matrix(layout.bytes(), std::byte{0x5a});
    const LayoutRange middle{&layout, matrix.data(), kBytes, kBytes};
    if (!self.endpoint->LandsInPlace(channel, peer, middle)) return;  // equal on all ranks
    const Bytes first = Pattern(kBytes, 1), second = Pattern(kBytes - 5, 2), third = Pattern(10, 3);
    Bytes receive_buffer(kBytes);
    Operation sent[3], received[2];
    ASSERT_OK(poller.Receive(channel, peer, Span(&receive_buffer), &received[0]));
    ASSERT_OK(poller.ReceiveInPlace(channel, peer, middle, &received[1]));
    ASSERT_OK(poller.Send(channel, peer, Span(first), &sent[0]));
    ASSERT_OK(poller.Send(channel, peer, Span(second), &sent[1]));
    ASSERT_OK(poller.Send(channel, peer, Span(third), &sent[2]));
    ASSERT_OK(poller.Take(&received[0], first));
    ASSERT_OK(poller.Wait(&received[1]));
    EXPECT_EQ(received[1].lease.data, nullptr);
    EXPECT_EQ(received[1].lease.bytes, second.size());
    Bytes expected(layout.bytes(), std::byte{0x5a});
    std::copy(second.begin(), second.end(), expected.begin() + kBytes);
    EXPECT_EQ(matrix, expected);
    self.endpoint->ReleaseLease(received[1].lease);
    ASSERT_OK(poller.ReceiveNow(channel, peer, Span(&receive_buffer), third));
    for (Operation& operation : sent) ASSERT_OK(poller.Wait(&operation));
  });
}

// Columns that are sent from where they lie and written again at once, among segments that are
// posted. The receivers have places for all but take nothing in meanwhile, so that what is sent
// fills whatever there is between the two.
TEST_P(TransportConformance, SendsFromUserMemoryAmongPosts) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    const Channel channel{group, ChannelKind::kPointToPoint};
    const int next = (self.rank + 1) % self.size;
    const int previous = (self.rank + self.size - 1) % self.size;
    constexpr int kSegments = 30;
    StridedLayout layout;
    ASSERT_OK(StridedLayout::General(/*rows=*/1024, /*cols=*/128, /*ld=*/1100, 8, &layout));
    Bytes matrix(1100 * 128 * 8);
    // A part that starts and ends within columns.
    const LayoutRange range{&layout, matrix.data(), 1000, layout.bytes() - 3000};
    if (!self.endpoint->SendsInPlace(channel, next, range)) return;  // equal on all ranks
    const auto whole = [&](int from, int number) {
      return Pattern(range.bytes + 8, static_cast<unsigned>(from * kSegments + number));
    };
    std::deque<Bytes> receive_buffers;
    std::deque<Operation> sent, received(kSegments);
    for (Operation& operation : received) {
      receive_buffers.emplace_back(range.bytes + 8);
      ASSERT_OK(poller.Receive(channel, previous, Span(&receive_buffers.back()), &operation));
    }
    const Bytes first = whole(self.rank, 0);
    ASSERT_OK(poller.Send(channel, next, Span(first), &sent.emplace_back()));
    ASSERT_OK(poller.Wait(&received[0]));  // connected, with credits
    ASSERT_OK(poller.Wait(&sent[0]));
    std::deque<Bytes> posted;
    int from_user_memory = 0;
    size_t kept_bytes = 0;
    for (int number = 1; number < kSegments; ++number) {
      const Bytes segment = whole(self.rank, number);
      CopyOut(layout, matrix.data(), range.offset, range.bytes, segment.data() + 8);
      sent.emplace_back();
      if (number % 8 != 0 &&
          self.endpoint->SendNow(channel, next, ConstByteSpan(segment.data(), 8), range,
                                 &sent.back(), &kept_bytes) == SentNow::kYes) {
        EXPECT_LE(kept_bytes, range.bytes + 8);
        ++from_user_memory;
        continue;
      }
      posted.push_back(segment);
      ASSERT_OK(poller.Send(channel, next, Span(posted.back()), &sent.back()));
      if (number % 16 == 0) poller.Poll(20);
    }
    std::fill(matrix.begin(), matrix.end(), std::byte{0});
    EXPECT_GT(from_user_memory, 0);
    for (int number = 0; number < kSegments; ++number) {
      ASSERT_OK(poller.Wait(&received[number]));
      EXPECT_TRUE(Same(Read(received[number].lease), whole(previous, number)))
          << "segment " << number;
      self.endpoint->ReleaseLease(received[number].lease);
    }
    for (Operation& operation : sent) ASSERT_OK(poller.Wait(&operation));
  });
}

// Rank 1 forwards a message of rank 0 to all ranks, itself included, out of the lease, and sends a
// message to rank 0 before it releases.
TEST_P(TransportConformance, ForwardsALeaseToSeveralPeers) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    constexpr size_t kBytes = 50000;
    const Channel down{group, ChannelKind::kAll};
    const Channel forward{group, ChannelKind::kRow};
    const Channel word{group, ChannelKind::kPointToPoint};
    const Bytes data = Pattern(kBytes, 3);
    Operation down_sent;
    if (self.rank == 0) ASSERT_OK(poller.Send(down, 1, Span(data), &down_sent));

    Bytes forwarded_receive_buffer(kBytes);
    Operation received, forwarded;
    std::deque<Operation> forwards(self.size);
    ASSERT_OK(poller.Receive(forward, 1, Span(&forwarded_receive_buffer), &forwarded));
    if (self.rank == 1) {
      ByteSpan receive_buffer;
      ASSERT_OK(poller.Register(kBytes, &receive_buffer));
      ASSERT_OK(poller.Receive(down, 0, receive_buffer, &received));
      ASSERT_OK(poller.Wait(&received));
      const ConstByteSpan lease(received.lease.data, received.lease.bytes);
      for (int peer = 0; peer < self.size; ++peer) {
        ASSERT_OK(poller.Forward(forward, peer, lease, &forwards[peer]));
      }
    }
    ASSERT_OK(poller.Take(&forwarded, data));

    Operation word_sent;
    if (self.rank == 0) {
      poller.Poll(50);
      if (self.endpoint->CapabilitiesTo(group, 1).lands_in_peer_memory) {
        EXPECT_FALSE(down_sent.done) << "the lease on the chunk is still held";
      }
      ASSERT_OK(poller.Send(word, 1, ConstByteSpan(), &word_sent));
      ASSERT_OK(poller.Wait(&word_sent));
      ASSERT_OK(poller.Wait(&down_sent));
    } else if (self.rank == 1) {
      for (Operation& operation : forwards) ASSERT_OK(poller.Wait(&operation));
      ASSERT_OK(poller.ReceiveNow(word, 0, ByteSpan(), Bytes()));
      EXPECT_EQ(Read(received.lease), data);
      self.endpoint->ReleaseLease(received.lease);
    }
  });
}

// Chains of segments, each posted by the callback of the one before: callbacks that nested would
// run out of stack on a long message.
TEST_P(TransportConformance, CallbacksMayPost) {
  struct Chain : Completion {
    Chain() : Completion([](Completion* c) { static_cast<Chain*>(c)->Next(); }) {}
    void Next() {
      failed |= !status.ok() || *in_callback;
      *in_callback = true;
      if (receives) endpoint->ReleaseLease(lease);
      --left;
      Post();
      *in_callback = false;
    }
    void Post() {
      refused = false;
      if (left == 0 || failed) return;
      const Status posted = receives ? endpoint->PostReceive(channel, peer, memory, this)
                                     : endpoint->PostSend(channel, peer, memory, this);
      refused = posted.code() == StatusCode::kNoResource;
      failed |= !posted.ok() && !refused;
    }
    Endpoint* endpoint = nullptr;
    Channel channel;
    int peer = 0;
    bool receives = false;
    ByteSpan memory;
    bool* in_callback = nullptr;
    int left = 1000;
    bool refused = false;
    bool failed = false;
  };
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    Bytes segment(8), receive_buffer(8);
    Chain chains[2];
    bool in_callback = false;
    for (Chain& chain : chains) {
      chain.in_callback = &in_callback;
      chain.endpoint = self.endpoint;
      chain.channel = Channel{group, ChannelKind::kAll};
      chain.peer = self.size - 1 - self.rank;
    }
    chains[0].memory = Span(&segment);
    chains[1].memory = Span(&receive_buffer);
    chains[1].receives = true;
    for (Chain& chain : chains) chain.Post();
    while (chains[0].left > 0 || chains[1].left > 0) {
      poller.Poll(1);
      for (Chain& chain : chains) {
        ASSERT_FALSE(chain.failed);
        if (chain.refused) chain.Post();
      }
    }
  });
}

void Exchange(Poller& poller, const Channel& channel, int peer, unsigned mine, unsigned theirs) {
  const Bytes segment = Pattern(6000, mine);
  Bytes receive_buffer(6000);
  Operation sent;
  ASSERT_OK(poller.Send(channel, peer, Span(segment), &sent));
  ASSERT_OK(poller.ReceiveNow(channel, peer, Span(&receive_buffer), Pattern(6000, theirs)));
  ASSERT_OK(poller.Wait(&sent));
}

TEST_P(TransportConformance, GroupsOfTheSameMembersDoNotMix) {
  Run([](ConformanceRank& self, Poller& poller, GroupId first) {
    GroupId second = -1;
    ASSERT_OK(self.endpoint->OpenGroup(self.bootstrap(Everyone(self.size)).get(), &second));
    const int peer = self.size - 1 - self.rank;
    const Bytes on_first = Pattern(6000, 1), on_second = Pattern(6000, 2);
    Operation first_sent, second_sent;
    Bytes first_receive_buffer(6000), second_receive_buffer(6000);
    const ChannelKind kind = ChannelKind::kPointToPoint;
    ASSERT_OK(poller.Send(Channel{second, kind}, peer, Span(on_second), &second_sent));
    ASSERT_OK(poller.Send(Channel{first, kind}, peer, Span(on_first), &first_sent));
    ASSERT_OK(poller.ReceiveNow(Channel{first, kind}, peer, Span(&first_receive_buffer), on_first));
    ASSERT_OK(
        poller.ReceiveNow(Channel{second, kind}, peer, Span(&second_receive_buffer), on_second));
    ASSERT_OK(poller.Wait(&first_sent));
    ASSERT_OK(poller.Wait(&second_sent));
    self.endpoint->CloseGroup(second);
  });
}

// Pairs of neighbours, each opened by its two members only and at their own time; before that some
// ranks have opened more groups than others.
TEST_P(TransportConformance, GroupsAreOpenedByTheirMembersOnly) {
  Run([](ConformanceRank& self, Poller& poller, GroupId everyone) {
    std::vector<GroupId> alone(self.rank * 3);
    for (GroupId& group : alone) {
      ASSERT_OK(self.endpoint->OpenGroup(self.bootstrap({self.rank}).get(), &group));
    }
    // Higher rank first in the group. Rank r opens (r-1, r) before (r, r+1), so no two wait for
    // each other.
    struct Pair {
      GroupId group;
      int peer_in_group;
      int peer;
    };
    std::vector<Pair> pairs;
    for (int low = self.rank - 1; low <= self.rank; ++low) {
      if (low < 0 || low + 1 >= self.size) continue;
      GroupId group = -1;
      ASSERT_OK(self.endpoint->OpenGroup(self.bootstrap({low + 1, low}).get(), &group));
      const bool is_low = self.rank == low;
      pairs.push_back({group, is_low ? 0 : 1, is_low ? low + 1 : low});
    }
    const ChannelKind kind = ChannelKind::kPointToPoint;
    for (const Pair& pair : pairs) {
      Exchange(poller, Channel{pair.group, kind}, pair.peer_in_group, 10 + self.rank,
               10 + pair.peer);
    }
    const int across = self.size - 1 - self.rank;
    Exchange(poller, Channel{everyone, kind}, across, 50 + self.rank, 50 + across);
    for (size_t i = 0; i < alone.size(); ++i) {
      Exchange(poller, Channel{alone[i], kind}, 0, 90 + i, 90 + i);
      self.endpoint->CloseGroup(alone[i]);
    }
    for (const Pair& pair : pairs) self.endpoint->CloseGroup(pair.group);
  });
}

TEST_P(TransportConformance, ClosingCancelsReceives) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    const int peer = self.size - 1 - self.rank;
    GroupId closed = -1;
    ASSERT_OK(self.endpoint->OpenGroup(self.bootstrap(Everyone(self.size)).get(), &closed));
    Exchange(poller, Channel{closed, ChannelKind::kAll}, peer, self.rank, peer);
    std::deque<Bytes> receive_buffers(kChannelKinds, Bytes(6000, std::byte{0x5a}));
    std::deque<Operation> cancelled(2 * kChannelKinds);
    for (ChannelKind kind : kKinds) {
      const int i = static_cast<int>(kind);
      // A short one and a long one, in either order.
      const ByteSpan parts[] = {{receive_buffers[i].data(), 100},
                                {receive_buffers[i].data() + 100, 5900}};
      for (const int j : {i % 2, 1 - i % 2}) {
        ASSERT_OK(poller.Receive(Channel{closed, kind}, peer, parts[j], &cancelled[2 * i + j]));
      }
    }
    self.endpoint->CloseGroup(closed);
    for (ChannelKind kind : kKinds) {
      Exchange(poller, Channel{group, kind}, peer, self.rank, peer);
    }
    for (const Operation& operation : cancelled) EXPECT_FALSE(operation.done);
    for (const Bytes& buffer : receive_buffers) EXPECT_EQ(buffer, Bytes(6000, std::byte{0x5a}));
  });
}

TEST_P(TransportConformance, SendsOutliveTheClosingOfTheirGroup) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    GroupId closed = -1;
    ASSERT_OK(self.endpoint->OpenGroup(self.bootstrap(Everyone(self.size)).get(), &closed));
    const Channel channel{closed, ChannelKind::kPointToPoint};
    if (self.rank == 0) {
      const Bytes segments[] = {Pattern(100000, 0), Pattern(20, 1), Pattern(100000, 2)};
      Operation sent[3];
      for (int i = 0; i < 3; ++i) ASSERT_OK(poller.Send(channel, 1, Span(segments[i]), &sent[i]));
      self.endpoint->CloseGroup(closed);
      Exchange(poller, Channel{group, ChannelKind::kAll}, 1, 0, 1);
      for (Operation& operation : sent) ASSERT_OK(poller.Wait(&operation));
      return;
    }
    if (self.rank == 1) {
      Exchange(poller, Channel{group, ChannelKind::kAll}, 0, 1, 0);
      for (int i = 0; i < 3; ++i) {
        Bytes receive_buffer(100000);
        ASSERT_OK(
            poller.ReceiveNow(channel, 0, Span(&receive_buffer), Pattern(i == 1 ? 20 : 100000, i)));
      }
    }
    self.endpoint->CloseGroup(closed);
  });
}

TEST_P(TransportConformance, OpensAndClosesGroupsWithoutEnd) {
  Run([](ConformanceRank& self, Poller& poller, GroupId) {
    const std::unique_ptr<Bootstrap> bootstrap = self.bootstrap(Everyone(self.size));
    const int peer = self.size - 1 - self.rank;
    for (int i = 0; i < 2000; ++i) {
      GroupId group = -1;
      ASSERT_OK(self.endpoint->OpenGroup(bootstrap.get(), &group));
      if (i % 100 == 0) {
        Exchange(poller, Channel{group, ChannelKind::kRow}, peer, i + self.rank, i + peer);
      }
      self.endpoint->CloseGroup(group);
    }
  });
}

// Records the control messages to a rank, by sender.
class ControlRecorder final : public ControlHandler {
 public:
  explicit ControlRecorder(int size) : messages(static_cast<size_t>(size)) {}
  void OnControl(int from, ConstByteSpan message) override {
    messages[static_cast<size_t>(from)].emplace_back(message.data, message.data + message.bytes);
    ++count;
  }
  std::vector<std::vector<Bytes>> messages;  // by sender
  int count = 0;
};

// Lengths from 0 to the most.
Bytes ControlBytes(int from, int number) {
  return Pattern(static_cast<size_t>(number) % (kMostControlBytes + 1),
                 static_cast<unsigned>(from * 1000 + number));
}

// To all ranks, this one included, some of them urgent, while every stream between the ranks is
// stopped by a segment without a receive.
TEST_P(TransportConformance, ControlMessagesComeInOrderAndWaitForNoReceive) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    constexpr int kControls = 200;
    ControlRecorder handler(self.size);
    self.endpoint->SetControlHandler(group, &handler);
    const Bytes segment = Pattern(300000, 1);
    std::deque<Operation> sent;
    for (int peer = 0; peer < self.size; ++peer) {
      for (ChannelKind kind : kKinds) {
        ASSERT_OK(poller.Send({group, kind}, peer, Span(segment), &sent.emplace_back()));
      }
    }
    for (int number = 0; number < kControls; ++number) {
      for (int peer = 0; peer < self.size; ++peer) {
        constexpr Urgency kUrgencies[] = {Urgency::kUrgent, Urgency::kWithNext, Urgency::kCanWait};
        const Urgency urgency =
            number == kControls - 1 ? Urgency::kCanWait : kUrgencies[number % 3];
        ASSERT_OK(poller.Control(group, peer, Span(ControlBytes(self.rank, number)), urgency));
      }
    }
    while (handler.count < self.size * kControls) poller.Poll(1);
    for (int from = 0; from < self.size; ++from) {
      for (int number = 0; number < kControls; ++number) {
        ASSERT_EQ(handler.messages[static_cast<size_t>(from)][static_cast<size_t>(number)],
                  ControlBytes(from, number));
      }
    }
    Bytes receive_buffer(segment.size());
    for (int peer = 0; peer < self.size; ++peer) {
      for (ChannelKind kind : kKinds) {
        ASSERT_OK(poller.ReceiveNow({group, kind}, peer, Span(&receive_buffer), segment));
      }
    }
    for (Operation& operation : sent) ASSERT_OK(poller.Wait(&operation));
  });
}

// Rank 0 sends control messages to rank 1 until every path between them is full, and closes the
// group. Rank 1 makes no call before that.
TEST_P(TransportConformance, UrgentControlMessagesAreNeverRefused) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    constexpr int kControls = 3000;
    const std::unique_ptr<Bootstrap> all = self.bootstrap(Everyone(self.size));
    GroupId closed = -1;
    ASSERT_OK(self.endpoint->OpenGroup(all.get(), &closed));
    ControlRecorder handler(self.size);
    self.endpoint->SetControlHandler(closed, &handler);
    if (self.rank == 0) {
      for (int number = 0; number < kControls; ++number) {
        ASSERT_OK(
            self.endpoint->SendControl(closed, 1, Span(ControlBytes(0, number)), Urgency::kUrgent));
      }
      self.endpoint->CloseGroup(closed);
    }
    char nothing = 0;
    std::vector<char> everyone(static_cast<size_t>(self.size));
    ASSERT_OK(all->AllGather(&nothing, 1, everyone.data()));
    Operation sent, received;
    if (self.rank == 1) {
      while (handler.count < kControls) poller.Poll(1);
      for (int number = 0; number < kControls; ++number) {
        ASSERT_EQ(handler.messages[0][static_cast<size_t>(number)], ControlBytes(0, number));
      }
      ASSERT_OK(poller.Send({group, ChannelKind::kAll}, 0, ConstByteSpan(), &sent));
      ASSERT_OK(poller.Wait(&sent));
    } else if (self.rank == 0) {
      ASSERT_OK(poller.Receive({group, ChannelKind::kAll}, 1, ByteSpan(), &received));
      ASSERT_OK(poller.Take(&received, Bytes()));
    }
    if (self.rank != 0) self.endpoint->CloseGroup(closed);
  });
}

// Two groups with equal members: handlers get messages of their own group, and none once it is
// closed. They reply from inside, and post.
TEST_P(TransportConformance, HandlersMayPostAndGetMessagesOfTheirOwnGroupOnly) {
  constexpr int kAnswers = 50;
  struct Answerer final : ControlHandler {
    void OnControl(int from, ConstByteSpan message) override {
      ++heard;
      failed |= *in_handler || message.bytes != bytes;
      *in_handler = true;
      if (heard <= kAnswers) {
        failed |= !endpoint->SendControl(group, from, message, Urgency::kUrgent).ok();
      }
      if (heard == 1) {
        const Status posted =
            endpoint->PostReceive({group, ChannelKind::kRow}, from, ByteSpan(), &received);
        refused = posted.code() == StatusCode::kNoResource;
        failed |= !posted.ok() && !refused;
      }
      *in_handler = false;
    }
    Endpoint* endpoint = nullptr;
    GroupId group = -1;
    size_t bytes = 0;
    int heard = 0;
    bool refused = false;
    bool failed = false;
    bool* in_handler = nullptr;
    Operation received;
  };
  Run([](ConformanceRank& self, Poller& poller, GroupId everyone) {
    const int peer = self.size - 1 - self.rank;
    bool in_handler = false;
    Answerer answerers[2];
    for (Answerer& answerer : answerers) {
      answerer.endpoint = self.endpoint;
      answerer.in_handler = &in_handler;
      answerer.bytes = &answerer == answerers ? 7 : 48;
      ASSERT_OK(
          self.endpoint->OpenGroup(self.bootstrap(Everyone(self.size)).get(), &answerer.group));
      self.endpoint->SetControlHandler(answerer.group, &answerer);
    }
    Operation sent[2];
    for (Answerer& answerer : answerers) {
      const Bytes message = Pattern(answerer.bytes, 1);
      ASSERT_OK(poller.Control(answerer.group, peer, Span(message), Urgency::kUrgent));
    }
    for (int i = 0; i < 2; ++i) {
      Answerer& answerer = answerers[i];
      while (answerer.heard <= kAnswers) poller.Poll(1);
      ASSERT_OK(poller.Send({answerer.group, ChannelKind::kRow}, peer, ConstByteSpan(), &sent[i]));
      ASSERT_FALSE(answerer.failed);
      if (answerer.refused) {
        ASSERT_OK(poller.Receive({answerer.group, ChannelKind::kRow}, peer, ByteSpan(),
                                 &answerer.received));
      }
      ASSERT_OK(poller.Take(&answerer.received, Bytes()));
      ASSERT_OK(poller.Wait(&sent[i]));
    }
    // Control messages for a closed group are dropped.
    ASSERT_OK(poller.Control(answerers[0].group, peer, ConstByteSpan(), Urgency::kUrgent));
    self.endpoint->CloseGroup(answerers[0].group);
    const int heard = answerers[0].heard;
    Exchange(poller, Channel{everyone, ChannelKind::kAll}, peer, self.rank, peer);
    poller.Poll(50);
    EXPECT_EQ(answerers[0].heard, heard);
    EXPECT_EQ(answerers[1].heard, kAnswers + 1);
    self.endpoint->CloseGroup(answerers[1].group);
  });
}

TEST_P(TransportConformance, NamesALostPeer) {
  Run([](ConformanceRank& self, Poller& poller, GroupId group) {
    if (!self.vanish) return;
    const Channel channel{group, ChannelKind::kPointToPoint};
    const int lost = self.size - 1;
    const std::string name = "rank " + std::to_string(lost);
    if (self.rank == lost) {
      for (int peer = 0; peer < lost; ++peer) {
        ASSERT_OK(poller.ReceiveNow(channel, peer, ByteSpan(), Bytes()));
      }
      self.vanish();
      return;
    }
    const Bytes segment = Pattern(100, 1);
    Bytes receive_buffer(100);
    Operation go, sent, received, late;
    ASSERT_OK(poller.Receive(channel, lost, Span(&receive_buffer), &received));
    ASSERT_OK(poller.Send(channel, lost, ConstByteSpan(), &go));
    ASSERT_OK(poller.Wait(&go));
    Status status = poller.Send(channel, lost, Span(segment), &sent);  // it may be gone by now
    if (status.ok()) status = poller.Wait(&sent);
    EXPECT_EQ(status.code(), StatusCode::kPeerLost);
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
    status = poller.Wait(&received);
    EXPECT_EQ(status.code(), StatusCode::kPeerLost);
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
    status = poller.Receive(channel, lost, Span(&receive_buffer), &late);
    EXPECT_EQ(status.code(), StatusCode::kPeerLost);
    status = poller.Control(group, lost, ConstByteSpan(), Urgency::kUrgent);
    EXPECT_EQ(status.code(), StatusCode::kPeerLost);
    EXPECT_NE(status.message().find(name), std::string::npos) << status.message();
    // The others reach each other still.
    const int peer = lost - 1 - self.rank;
    Exchange(poller, Channel{group, ChannelKind::kAll}, peer, self.rank, peer);
  });
}

INSTANTIATE_TEST_SUITE_P(All, TransportConformance, ::testing::ValuesIn(ConformanceTransports()),
                         [](const auto& param_info) { return param_info.param.name; });

}  // namespace
}  // namespace brigade

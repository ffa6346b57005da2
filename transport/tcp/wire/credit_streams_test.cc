#include "transport/tcp/wire/credit_streams.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/overflow_budget.h"

namespace brigade {
namespace {

using Bytes = std::vector<std::byte>;

ConstByteSpan Span(const Bytes& bytes) { return ConstByteSpan(bytes.data(), bytes.size()); }
ByteSpan Span(Bytes* bytes) { return ByteSpan{bytes->data(), bytes->size()}; }

// Moves all segments that the sender may send to the receiver; returns their number.
int Move(SendStream* sender, ReceiveStream* receiver) {
  int segments = 0;
  for (; sender->MayTake(); ++segments) {
    const SendStream::Segment segment = sender->Take();
    ByteSpan where;
    ReceiveStream::Arrival arrival;
    EXPECT_TRUE(receiver->Begin(segment.bytes.bytes, &where));
    std::memcpy(where.data, segment.bytes.data, std::min(where.bytes, segment.bytes.bytes));
    receiver->End(&arrival);
  }
  return segments;
}

TEST(SendStreamTest, AShortSegmentGoesAheadOfItsReceiveAndALongOneDoesNot) {
  const Bytes shorter(kEagerBytes);
  const Bytes longer(kEagerBytes + 1);
  SendStream sender;
  sender.Push({Span(shorter), nullptr});
  sender.Push({Span(longer), nullptr});
  ASSERT_TRUE(sender.MayTake());
  EXPECT_EQ(sender.Take().bytes.bytes, shorter.size());
  EXPECT_FALSE(sender.MayTake());
  sender.OnGrant(1);  // of the segment that has gone
  EXPECT_FALSE(sender.MayTake());
  sender.OnGrant(2);
  EXPECT_TRUE(sender.MayTake());
}

TEST(SendStreamTest, NoMoreGoesAheadThanTheAllowance) {
  const Bytes segment(1000);
  SendStream sender;
  for (int i = 0; i < 1000; ++i) sender.Push({Span(segment), nullptr});
  size_t ahead = 0;
  for (; sender.MayTake(); ahead += EagerCost(segment.size())) sender.Take();
  EXPECT_LE(ahead, kEagerWindowBytes);
  EXPECT_GT(ahead + EagerCost(segment.size()), kEagerWindowBytes);
  // One receive makes room for one more.
  sender.OnGrant(1);
  ASSERT_TRUE(sender.MayTake());
  sender.Take();
  EXPECT_FALSE(sender.MayTake());
}

struct Counted : Completion {
  Counted() : Completion([](Completion*) {}) {}
};

// Their sends complete at once except the last, and their bytes are unchanged.
TEST(SendStreamTest, ShortSegmentsThatWaitTakeLittleMoreThanTheirBytes) {
  constexpr uint64_t kSegments = 100000;
  constexpr size_t kBytes = 40;
  const auto budget = std::make_shared<OverflowBudget>(OverflowBudget::kAvailableMemory);
  SendStream sender;
  Counted completions[2];
  Bytes data[2] = {Bytes(kBytes), Bytes(kBytes)};
  for (uint64_t i = 0; i < kSegments; ++i) {
    EXPECT_EQ(sender.KeepLast(budget), i == 0 ? nullptr : &completions[(i - 1) % 2]);
    std::memcpy(data[i % 2].data(), &i, sizeof(i));
    sender.Push({Span(data[i % 2]), &completions[i % 2]});
    data[(i + 1) % 2].assign(kBytes, std::byte{255});  // it is over
  }
  EXPECT_LT(budget->statistics().in_use_bytes, kSegments * 48);
  sender.GrantAll();
  for (uint64_t i = 0; i < kSegments; ++i) {
    ASSERT_TRUE(sender.MayTake());
    const SendStream::Segment segment = sender.Take();
    ASSERT_EQ(segment.bytes.bytes, kBytes);
    EXPECT_EQ(std::memcmp(segment.bytes.data, &i, sizeof(i)), 0) << i;
    EXPECT_EQ(segment.completion == nullptr, i + 1 < kSegments);
    sender.End(segment.completion);
  }
  EXPECT_FALSE(sender.waiting());
  EXPECT_EQ(budget->statistics().in_use_bytes, 0u);
}

// Sends of one stream end in the order of their posts.
TEST(SendStreamTest, NoSegmentIsCopiedBehindAnUnfinishedSend) {
  const auto budget = std::make_shared<OverflowBudget>(size_t{1} << 20);
  const Bytes shorter(40);
  const Bytes longer(KeptSegments::kMostBytes + 1);
  Counted completion;
  SendStream sender;
  sender.Push({Span(shorter), &completion});
  (void)sender.Take();  // on its way
  sender.Push({Span(shorter), &completion});
  EXPECT_EQ(sender.KeepLast(budget), nullptr);
  sender.End(&completion);
  EXPECT_EQ(sender.KeepLast(budget), &completion);
  EXPECT_EQ(sender.KeepLast(budget), nullptr) << "it is done";
  sender.Push({Span(longer), &completion});
  EXPECT_EQ(sender.KeepLast(budget), nullptr) << "too long";
  sender.Push({Span(shorter), &completion});
  EXPECT_EQ(sender.KeepLast(budget), nullptr) << "behind one that is too long";
  for (const size_t bytes : {shorter.size(), longer.size(), shorter.size()}) {
    const SendStream::Segment segment = sender.Take();
    EXPECT_EQ(segment.bytes.bytes, bytes);
    sender.End(segment.completion);
  }
  sender.CountSentNow(10);
  sender.Push({Span(shorter), &completion});
  EXPECT_EQ(sender.KeepLast(budget), nullptr);
}

// Segments of every length, taken and ended while others come; at times there is no memory for
// more.
TEST(SendStreamTest, CopiesAndOthersKeepTheirOrder) {
  std::mt19937 random(1);
  const auto budget = std::make_shared<OverflowBudget>(size_t{40} << 10);
  SendStream sender;
  sender.GrantAll();
  std::deque<Counted> completions;
  std::deque<Bytes> segments;  // pushed and not taken
  std::deque<Completion*> ends;
  Completion* last = nullptr;
  for (int i = 0; i < 200000; ++i) {
    if (random() % 2 == 0) {
      if (Completion* const kept = sender.KeepLast(budget)) {
        EXPECT_EQ(kept, last);
      }
      Bytes segment(random() % 50 == 0 ? KeptSegments::kMostBytes + random() % 2 : random() % 100);
      for (std::byte& byte : segment) byte = static_cast<std::byte>(random());
      completions.emplace_back();
      last = &completions.back();
      segments.push_back(segment);
      sender.Push({Span(segments.back()), last});
    }
    if (random() % 5 < 2 && sender.waiting()) {
      const SendStream::Segment segment = sender.Take();
      ASSERT_EQ(segment.bytes.bytes, segments.front().size());
      EXPECT_TRUE(std::equal(segments.front().begin(), segments.front().end(), segment.bytes.data));
      segments.pop_front();
      ends.push_back(segment.completion);
    }
    while (!ends.empty() && random() % 2 == 0) {
      sender.End(ends.front());
      ends.pop_front();
    }
  }
  EXPECT_GT(budget->statistics().blocks, 0u);
}

// A peer that has two connections can bring two at once, which is its mistake.
TEST(ReceiveStreamTest, ASegmentIsRefusedWhileAnotherIsComing) {
  ReceiveStream receiver;
  Bytes receive_buffer(10);
  ReceiveStream::Arrival arrival;
  ASSERT_FALSE(receiver.Post({Span(&receive_buffer), false, nullptr}, &arrival));
  ByteSpan where;
  ByteSpan second;
  ASSERT_TRUE(receiver.Begin(10, &where));
  EXPECT_FALSE(receiver.Begin(10, &second));
  EXPECT_EQ(second.data, nullptr);
  // The first is as good as before.
  ASSERT_TRUE(receiver.End(&arrival));
  EXPECT_EQ(arrival.bytes, 10u);
  ASSERT_TRUE(receiver.Begin(20, &where));  // nobody waits for it
  EXPECT_FALSE(receiver.Begin(20, &second));
  EXPECT_FALSE(receiver.End(&arrival));
}

TEST(SendStreamTest, EmptySegmentsCostSomething) {
  SendStream sender;
  const int many = static_cast<int>(kEagerWindowBytes);
  for (int i = 0; i < many; ++i) sender.Push({});
  int sent = 0;
  for (; sender.MayTake(); ++sent) sender.Take();
  EXPECT_LT(sent, many / 10);
}

TEST(SendStreamTest, GrantsOfReceivesAheadLetEverythingThrough) {
  const Bytes longer(kEagerBytes * 4);
  SendStream sender;
  sender.OnGrant(3);
  sender.OnGrant(2);  // older news
  for (int i = 0; i < 4; ++i) sender.Push({Span(longer), nullptr});
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(sender.MayTake()) << i;
    sender.Take();
  }
  EXPECT_FALSE(sender.MayTake());
}

TEST(SendStreamTest, CountsWrapAround) {
  const Bytes longer(kEagerBytes * 4);
  SendStream sender;
  sender.Push({Span(longer), nullptr});
  sender.OnGrant(UINT32_MAX);  // that is the one before 0, and no news
  EXPECT_FALSE(sender.MayTake());
}

TEST(SendStreamTest, AClosedReceiverTakesEverything) {
  const Bytes longer(kEagerBytes * 4);
  SendStream sender;
  sender.Push({Span(longer), nullptr});
  EXPECT_FALSE(sender.MayTake());
  sender.GrantAll();
  EXPECT_TRUE(sender.MayTake());
}

TEST(ReceiveStreamTest, LandsWhereTheReceiveSays) {
  Bytes receive_buffer(100);
  ReceiveStream receiver;
  ReceiveStream::Arrival arrival;
  EXPECT_FALSE(receiver.Post({Span(&receive_buffer), false, nullptr}, &arrival));
  ByteSpan where;
  ASSERT_TRUE(receiver.Begin(60, &where));
  EXPECT_EQ(where.data, receive_buffer.data());
  ASSERT_TRUE(receiver.End(&arrival));
  EXPECT_EQ(arrival.bytes, 60u);
  EXPECT_EQ(arrival.receive.buffer.data, receive_buffer.data());
  EXPECT_FALSE(receiver.posted());
}

TEST(ReceiveStreamTest, UnexpectedSegmentsAreKeptInOrder) {
  ReceiveStream receiver;
  for (int i = 0; i < 3; ++i) {
    ByteSpan where;
    ReceiveStream::Arrival arrival;
    ASSERT_TRUE(receiver.Begin(10, &where));
    std::memset(where.data, 'a' + i, 10);
    EXPECT_FALSE(receiver.End(&arrival));
  }
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(receiver.has_unexpected());
    Bytes receive_buffer(20);
    ReceiveStream::Arrival arrival;
    ASSERT_TRUE(receiver.Post({Span(&receive_buffer), false, nullptr}, &arrival));
    EXPECT_EQ(arrival.bytes, 10u);
    EXPECT_EQ(receive_buffer[9], static_cast<std::byte>('a' + i));
    EXPECT_EQ(receive_buffer[10], std::byte{0});
  }
  EXPECT_FALSE(receiver.has_unexpected());
}

TEST(ReceiveStreamTest, AReceivePostedWhileASegmentComesIsItsReceive) {
  ReceiveStream receiver;
  ByteSpan where;
  ASSERT_TRUE(receiver.Begin(10, &where));
  Bytes receive_buffer(10);
  ReceiveStream::Arrival arrival;
  EXPECT_FALSE(receiver.Post({Span(&receive_buffer), false, nullptr}, &arrival));
  std::memset(where.data, 'x', 10);
  ASSERT_TRUE(receiver.End(&arrival));
  EXPECT_EQ(receive_buffer[9], std::byte{'x'});
}

TEST(ReceiveStreamTest, RefusesSegmentsBeyondTheGrant) {
  ReceiveStream receiver;
  ByteSpan where;
  EXPECT_FALSE(receiver.Begin(kEagerBytes + 1, &where));

  ReceiveStream flooded;
  ReceiveStream::Arrival arrival;
  size_t taken = 0;
  while (flooded.Begin(kEagerBytes, &where)) {
    flooded.End(&arrival);
    taken += kEagerBytes;
    ASSERT_LE(taken, kEagerWindowBytes);
  }
}

TEST(ReceiveStreamTest, LongReceivesAreGrantedAtOnceAndShortOnesWhenTheAllowanceRunsDown) {
  ReceiveStream receiver;
  SendStream sender;
  Bytes longer(kEagerBytes + 1);
  ReceiveStream::Arrival arrival;
  receiver.Post({Span(&longer), false, nullptr}, &arrival);
  EXPECT_TRUE(receiver.ShouldGrant());
  EXPECT_EQ(receiver.Grant(), 1u);
  EXPECT_FALSE(receiver.ungranted());
  EXPECT_FALSE(receiver.ShouldGrant());
  Bytes shorter(10);
  receiver.Post({Span(&shorter), false, nullptr}, &arrival);
  EXPECT_TRUE(receiver.ungranted());
  EXPECT_FALSE(receiver.ShouldGrant());

  const Bytes segment(1000);
  Bytes receive_buffer(1000);
  ReceiveStream other;
  for (int i = 0; i < 1000; ++i) sender.Push({Span(segment), nullptr});
  int moved = 0;
  int grants = 0;
  for (int i = 0; i < 1000; ++i) {
    moved += Move(&sender, &other);
    other.Post({Span(&receive_buffer), false, nullptr}, &arrival);
    if (!other.ShouldGrant()) continue;
    ++grants;
    sender.OnGrant(other.Grant());
  }
  EXPECT_EQ(moved, 1000);  // the sender never waited
  EXPECT_LT(grants, 100);
}

// Of a long message that its receiver keeps posting for.
TEST(ReceiveStreamTest, GrantsToASenderWithManyPlacesAreCombined) {
  constexpr size_t kBytes = rules::kTcpSegmentBytes;
  constexpr int kSegments = 64;
  constexpr int kPosted = 4;
  Bytes bytes(kBytes);
  ReceiveStream receiver;
  SendStream sender;
  ReceiveStream::Arrival arrival;
  int grants = 0;
  const auto post = [&] {
    receiver.Post({Span(&bytes), true, nullptr}, &arrival);
    if (!receiver.ShouldGrant()) return;
    ++grants;
    sender.OnGrant(receiver.Grant());
  };
  for (int i = 0; i < kSegments; ++i) sender.Push({Span(bytes), nullptr});
  for (int i = 0; i < kPosted; ++i) post();
  EXPECT_GT(grants, 1) << "the first places, of which it knows too few";
  for (int i = 0; i < kSegments; ++i) {
    ASSERT_TRUE(sender.MayTake()) << i;
    sender.Take();
    ByteSpan where;
    ASSERT_TRUE(receiver.Begin(kBytes, &where));
    ASSERT_TRUE(receiver.End(&arrival));
    post();
  }
  EXPECT_LT(grants, kSegments / 2);
}

// Segments and grants are delayed, and the receiver posts at any time; but a rank that may be
// waited for always sends something.
TEST(ReceiveStreamTest, NoSenderOfAnySegmentsWaitsForAGrantThatIsHeldBack) {
  const Bytes bytes(3 * kEagerBytes);
  Bytes receive_buffer(3 * kEagerBytes);
  for (unsigned seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    ReceiveStream receiver;
    SendStream sender;
    ReceiveStream::Arrival arrival;
    std::deque<size_t> waiting;  // lengths; the receiver knows them as it would from a header
    std::deque<size_t> unposted;
    std::deque<size_t> segments;  // under way
    std::deque<uint32_t> grants;
    bool coming = false;
    const auto grant = [&] {
      if (receiver.ShouldGrant()) grants.push_back(receiver.Grant());
    };
    const auto post = [&] {
      receiver.Post({ByteSpan{receive_buffer.data(), unposted.front()}, false, nullptr}, &arrival);
      unposted.pop_front();
      grant();
    };
    const auto send = [&] {
      for (; sender.MayTake(); waiting.pop_front()) segments.push_back(sender.Take().bytes.bytes);
    };
    const auto begin_or_end = [&] {
      ByteSpan where;
      if (!coming) {
        ASSERT_TRUE(receiver.Begin(segments.front(), &where));
        segments.pop_front();
      } else {
        (void)receiver.End(&arrival);
        grant();
      }
      coming = !coming;
    };
    for (int i = 0; i < 2000; ++i) {
      switch (random() % 5) {
        case 0: {
          const size_t lengths[] = {random() % 200, kEagerBytes, kEagerBytes + 1, bytes.size()};
          waiting.push_back(lengths[random() % (seed % 4 + 1)]);
          unposted.push_back(waiting.back());
          sender.Push({ConstByteSpan(bytes.data(), waiting.back()), nullptr});
          break;
        }
        case 1:
          if (!unposted.empty()) post();
          break;
        case 2:
          send();
          break;
        case 3:
          if (coming || !segments.empty()) begin_or_end();
          break;
        case 4:
          if (grants.empty()) break;
          sender.OnGrant(grants.front());
          grants.pop_front();
          break;
      }
    }
    while (!unposted.empty()) post();
    while (coming || !segments.empty() || !grants.empty() || sender.MayTake()) {
      send();
      if (coming || !segments.empty()) begin_or_end();
      for (; !grants.empty(); grants.pop_front()) sender.OnGrant(grants.front());
    }
    EXPECT_TRUE(waiting.empty()) << seed << ": " << waiting.size() << " segments wait";
  }
}

// Every length of the first of two segments, the second being as long as may be sent ahead.
TEST(ReceiveStreamTest, NoSenderOfShortSegmentsWaitsForAGrantThatIsHeldBack) {
  const Bytes second(kEagerBytes);
  Bytes receive_buffer(kEagerBytes);
  for (size_t bytes = kEagerBytes - 256; bytes <= kEagerBytes; ++bytes) {
    const Bytes first(bytes);
    ReceiveStream receiver;
    SendStream sender;
    ReceiveStream::Arrival arrival;
    sender.Push({Span(first), nullptr});
    sender.Push({Span(second), nullptr});
    receiver.Post({Span(&receive_buffer), false, nullptr}, &arrival);
    receiver.Post({Span(&receive_buffer), false, nullptr}, &arrival);
    int moved = Move(&sender, &receiver);
    if (receiver.ShouldGrant()) sender.OnGrant(receiver.Grant());
    moved += Move(&sender, &receiver);
    EXPECT_EQ(moved, 2) << bytes;
  }
}

}  // namespace
}  // namespace brigade

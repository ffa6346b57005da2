#include "transport/edge/inline_ring.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/overflow_budget.h"
#include "test/support/edge_link.h"
#include "test/support/stress.h"
#include "transport/edge/edge_memory.h"
#include "transport/rules.h"

namespace brigade {

class EdgeTestPeer {
 public:
  // Both sides of an edge that no message has passed yet, and its ring, as if `number` messages
  // had.
  static void StartAt(uint64_t number, OutEdge* out, InEdge* in) {
    for (int i = 1; i <= kRingSlots; ++i) {
      const uint64_t before = number - i;
      out->in_use_.SlotOf(before)->full = static_cast<uint32_t>(before + 1);
      *out->in_use_.EmptyOf(before) = static_cast<uint32_t>(before + 1);
    }
    out->sent_in_ring_ = number;
    ASSERT_EQ(in->Peek(), nullptr);  // attaches it
    in->SetRing(number);
  }
};

namespace {

using Link = EdgeLink;

// All but one of the ring's slots, which is kept for a jump.
constexpr int kRoom = kRingSlots - 1;

TEST(InlineRingTest, ARingIsEmptyBeforeTheFirstMessage) {
  Link link;
  EXPECT_EQ(link.in->Peek(), nullptr);
  *link.entry = 0;
  InEdge unopened(link.entry, link.segment.get(), &link.doorbells[1]);
  EXPECT_EQ(unopened.Peek(), nullptr);
  EXPECT_EQ(unopened.broken(), nullptr);
}

TEST(InlineRingTest, TheRingWrapsWithoutMoreMemory) {
  Link link;
  const size_t before = link.memory->in_use_bytes();
  uint64_t sent = 0, received = 0;
  for (int under_way : {1, 2, kRoom, 3, kRoom}) {
    for (int round = 0; round < 100; ++round) {
      while (sent < received + under_way) link.Send(sent++);
      while (received < sent) link.Receive(received++);
      EXPECT_EQ(link.in->Peek(), nullptr);
    }
  }
  EXPECT_EQ(link.out->sent(), sent);
  EXPECT_EQ(link.memory->in_use_bytes(), before);
}

TEST(InlineRingTest, AFullRingGoesOnInAnExtensionAndThenInTheRingAgain) {
  Link link;
  const size_t before = link.memory->in_use_bytes();
  uint64_t sent = 0, received = 0;
  while (sent < kRoom) link.Send(sent++);
  EXPECT_EQ(link.memory->in_use_bytes(), before);
  link.Send(sent++);
  EXPECT_EQ(link.memory->in_use_bytes(), before + sizeof(RingExtension));
  // An extension is used to its end, but for the slot of its jump.
  for (int i = 2; i < RingExtension::kSlots; ++i) {
    EXPECT_FALSE(link.InRing(link.out->Next()));
    link.Send(sent++);
    link.Receive(received++);
  }
  while (received < sent) link.Receive(received++);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(link.InRing(link.out->Next()));
    link.Send(sent++);
    link.Receive(received++);
  }
}

// A long queue that does not move, then one that only ever shrinks to a few.
TEST(InlineRingTest, ManyExtensionsKeepTheOrder) {
  Link link;
  uint64_t sent = 0, received = 0;
  for (int round = 0; round < 3; ++round) {
    while (sent < received + 20000) link.Send(sent++);
    while (received + 3 < sent) link.Receive(received++);
  }
  while (received < sent) link.Receive(received++);
  EXPECT_EQ(link.in->Peek(), nullptr);
}

// A slot is not reused before it is released, even if all behind it are.
TEST(InlineRingTest, ReceiptsAreGivenInAnyOrder) {
  Link link;
  std::mt19937 random(1);
  struct Open {
    uint64_t number;
    OutEdge::Receipt sent;
    InEdge::Receipt taken;
    const Slot* slot;
  };
  std::vector<Open> open;
  uint64_t released = 0;
  for (uint64_t number = 0; number < 30000; ++number) {
    if (open.empty()) link.out->KeepReceiptsFrom(number);
    const OutEdge::Receipt sent = link.Send(number);
    EXPECT_EQ(sent.number, number);
    const Slot* const slot = link.in->Peek();
    open.push_back({number, sent, link.Take(number), slot});
    while (open.size() > 200 || (!open.empty() && random() % 2 == 0)) {
      // The first of all hardly ever.
      const size_t i = random() % 100 == 0 ? 0 : random() % open.size();
      ASSERT_FALSE(open[i].sent.given()) << open[i].number;
      ASSERT_EQ(Link::NumberIn(open[i].slot), open[i].number) << "used again while it was lent";
      link.in->GiveBack(open[i].taken, /*is_segment=*/true);
      ASSERT_TRUE(open[i].sent.given()) << open[i].number;
      ASSERT_EQ(link.out->released(), ++released);
      open.erase(open.begin() + static_cast<ptrdiff_t>(i));
      link.out->KeepReceiptsFrom(open.empty() ? UINT64_MAX : open.front().number);
    }
  }
}

TEST(InlineRingTest, AReceiptStaysGivenWhenItsSlotIsUsedAgain) {
  Link link;
  const OutEdge::Receipt first = link.Send(0);
  EXPECT_FALSE(first.given());
  for (uint64_t number = 0; number < 100; ++number) {
    link.Receive(number);
    link.Send(number + 1);
    EXPECT_TRUE(first.given());
  }
}

TEST(InlineRingTest, UnreadReceiptsAreKept) {
  Link link;
  link.out->KeepReceiptsFrom(0);
  std::vector<OutEdge::Receipt> receipts;
  for (uint64_t number = 0; number < 200; ++number) receipts.push_back(link.Send(number));
  for (uint64_t number = 0; number < 200; ++number) link.Receive(number);
  for (uint64_t number = 200; number < 1000; ++number) link.Send(number);
  for (const OutEdge::Receipt& receipt : receipts) EXPECT_TRUE(receipt.given()) << receipt.number;
}

TEST(InlineRingTest, ClosingMarksUnreceivedMessages) {
  for (const uint64_t taken : {0, 3, kRoom, 50, 100}) {
    SCOPED_TRACE(taken);
    Link link;
    link.out->KeepReceiptsFrom(0);
    std::vector<OutEdge::Receipt> receipts;
    std::vector<InEdge::Receipt> lent;
    for (uint64_t number = 0; number < 100; ++number) receipts.push_back(link.Send(number));
    for (uint64_t number = 0; number < taken; ++number) lent.push_back(link.Take(number));
    EXPECT_FALSE(link.out->closed());
    EXPECT_FALSE(link.out->NeverTaken(receipts.back()));
    const uint64_t released = link.out->released();
    link.in->Close();
    EXPECT_TRUE(link.out->closed());
    EXPECT_NE(link.out->released(), released) << "the sender would not look";
    for (uint64_t number = 0; number < 100; ++number) {
      EXPECT_EQ(link.out->NeverTaken(receipts[number]), number >= taken);
      EXPECT_FALSE(receipts[number].given());
    }
    for (const InEdge::Receipt& receipt : lent) link.in->GiveBack(receipt, true);
    for (uint64_t number = 0; number < taken; ++number) EXPECT_TRUE(receipts[number].given());
  }
}

TEST(InlineRingTest, MessagesToAClosedEdgeTakeNoMemory) {
  Link link;
  link.in->Close();
  const size_t before = link.memory->in_use_bytes();
  for (uint64_t number = 0; number < 10000; ++number) {
    const OutEdge::Receipt receipt = link.Send(number);
    EXPECT_TRUE(receipt.given() || link.out->NeverTaken(receipt));
  }
  EXPECT_EQ(link.memory->in_use_bytes(), before);
}

TEST(InlineRingTest, AnEdgeClosedBeforeItIsOpenedSaysSo) {
  Link link;
  *link.entry = 0;
  link.in->Close();
  EXPECT_EQ(*link.entry, InEdge::kClosedUnopened);
  EXPECT_EQ(link.in->Peek(), nullptr);
  EXPECT_EQ(link.in->broken(), nullptr);
}

TEST(InlineRingTest, MemoryIsGivenBack) {
  Link link;
  uint64_t sent = 0, received = 0;
  size_t most = 0;
  while (sent < 1000000) {
    for (int i = 0; i < 500; ++i) link.Send(sent++);
    while (received < sent) link.Receive(received++);
    if (sent == 50000) most = link.memory->in_use_bytes();
    if (sent > 50000) {
      ASSERT_LE(link.memory->in_use_bytes(), most) << "after " << sent;
    }
  }
  const size_t before = link.memory->in_use_bytes();
  link.out->FreeMemory();
  EXPECT_LT(link.memory->in_use_bytes(), before);
}

TEST(InlineRingTest, NoMemoryIsNoSlotAndNothingLost) {
  Link link;
  uint64_t sent = 0, received = 0;
  while (link.out->Next() != nullptr) link.Send(sent++);
  EXPECT_GT(sent, 500000u);
  EXPECT_EQ(link.out->Next(), nullptr);
  // It continues once there is room in the ring, at the latest when the last extension has been
  // read.
  while (link.out->Next() == nullptr) link.Receive(received++);
  link.Send(sent++);
  while (received < sent) link.Receive(received++);
  link.Send(sent++);
  link.Receive(received++);
}

TEST(InlineRingTest, ManyMessagesTakeOverflowMemoryAndGiveItBack) {
  Link link;
  constexpr size_t kLimit = size_t{3} << 20;
  const auto budget = std::make_shared<OverflowBudget>(kLimit);
  uint64_t sent = 0, received = 0;
  for (int i = 0; i < 30000; ++i) link.Send(sent++);  // more than is set aside
  link.memory->SetBudget(budget);
  EXPECT_GT(budget->statistics().in_use_bytes, 0u);
  while (link.out->Next() != nullptr) link.Send(sent++);
  EXPECT_EQ(budget->statistics().in_use_bytes, kLimit);
  EXPECT_GT(budget->statistics().refusals, 0u);
  // 4 KiB hold 55 messages; a MiB is set aside.
  EXPECT_GT(sent, (kLimit + (size_t{1} << 20)) / 4096 * 55);
  const size_t most = link.segment->allocated_bytes();
  while (received < sent) link.Receive(received++);
  while (!link.InRing(link.out->Next())) {
    link.Send(sent++);
    link.Receive(received++);
  }
  EXPECT_EQ(budget->statistics().in_use_bytes, 0u);
  EXPECT_LT(link.segment->allocated_bytes(), most / 2) << "it was not given back to the system";
}

// One message that is kept for long keeps no memory but its own.
TEST(InlineRingTest, MemoryBehindAKeptMessageIsReused) {
  Link link;
  uint64_t sent = 0, received = 0;
  while (sent < 20) link.Send(sent++);
  while (received < 10) link.Receive(received++);
  const InEdge::Receipt kept = link.Take(received++);  // in an extension
  while (received < 20) link.Receive(received++);
  const size_t before = link.memory->in_use_bytes();
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 300; ++i) link.Send(sent++);
    while (received < sent) link.Receive(received++);
  }
  EXPECT_LT(link.memory->in_use_bytes(), before + 40 * sizeof(RingExtension));
  link.in->GiveBack(kept, false);
}

// --- long inline messages ---

constexpr size_t kLong = Slot::kInlineBytes + 1;

// Sends an inline message of `bytes`, all of them `value`; a short one where it may not be long.
void SendInline(Link* link, size_t bytes, int value) {
  Slot* slot = link->out->NextForInline(bytes);
  if (slot == nullptr) {
    slot = link->out->Next();
    bytes = sizeof(uint64_t);
  }
  slot->kind = Slot::kInline;
  slot->bytes = static_cast<uint16_t>(bytes);
  std::memset(PayloadOf(slot, bytes), value, bytes);
  link->out->Publish(slot);
}
// Takes it, and returns its length.
size_t TakeLine(Link* link, int value) {
  const Slot* const slot = link->in->Peek();
  EXPECT_NE(slot, nullptr);
  if (slot == nullptr) return 0;
  const ConstByteSpan message = link->in->Inline(*slot);
  EXPECT_TRUE(std::all_of(message.data, message.data + message.bytes,
                          [&](std::byte b) { return b == static_cast<std::byte>(value); }));
  link->in->GiveBack(link->in->Take(), false);
  return message.bytes;
}
// Sends until the edge has a wide ring.
void MakeWide(Link* link) {
  for (int i = 1; i <= rules::kShmInlinesBeforeWide; ++i) {
    SendInline(link, kLong, i);
    ASSERT_EQ(TakeLine(link, i) == kLong, i == rules::kShmInlinesBeforeWide);
  }
}

TEST(InlineRingTest, AnEdgeThatIsUsedForLongLinesGetsAWideRing) {
  Link link;
  const size_t before = link.memory->in_use_bytes();
  for (int i = 0; i < 100; ++i) {
    link.Send(i);
    link.Receive(i);
  }
  EXPECT_EQ(link.memory->in_use_bytes(), before) << "it does not need one";
  MakeWide(&link);
  EXPECT_EQ(link.memory->in_use_bytes(), before + sizeof(WideRing));
  for (size_t bytes = kLong; bytes <= WideSlot::kInlineBytes; ++bytes) {
    SendInline(&link, bytes, static_cast<int>(bytes));
    ASSERT_EQ(TakeLine(&link, static_cast<int>(bytes)), bytes);
    link.Send(bytes);  // short ones lie there, too
    link.Receive(bytes);
  }
  EXPECT_EQ(link.out->NextForInline(WideSlot::kInlineBytes + 1), nullptr);
  link.out->FreeMemory();
  EXPECT_EQ(link.memory->in_use_bytes(), before);
}

TEST(InlineRingTest, AWideRingThatIsFullGoesOnInAnExtensionAndThenInTheWideRingAgain) {
  Link link;
  // Cached values of the narrow ring's slots would suffice for slots of the wide ring.
  for (uint64_t i = 0; i <= kRingSlots; ++i) {
    link.Send(i);
    link.Receive(i);
  }
  MakeWide(&link);
  for (int round = 0; round < 50; ++round) {
    const int messages = 20 - round % 20;  // the wide ring is full at once
    for (int i = 0; i < messages; ++i) SendInline(&link, 1000, i);
    for (int i = 0; i < messages; ++i) {
      ASSERT_EQ(TakeLine(&link, i), i < kRoom ? 1000 : sizeof(uint64_t)) << round << " " << i;
    }
    for (int i = 0; i < RingExtension::kSlots; ++i) {  // an extension is used to its end
      link.Send(i);
      link.Receive(i);
    }
  }
}

TEST(InlineRingTest, ALongLineInAnExtensionIsNone) {
  Link link;
  MakeWide(&link);
  for (uint64_t i = 0; i < kRingSlots; ++i) link.Send(i);
  Slot* const slot = link.out->Next();
  EXPECT_FALSE(link.InRing(slot));
  slot->kind = Slot::kInline;
  slot->bytes = kLong;
  link.out->Publish(slot);
  for (uint64_t i = 0; i < kRingSlots; ++i) link.Receive(i);
  ASSERT_EQ(link.in->Peek(), slot);
  EXPECT_EQ(link.in->Inline(*slot).data, nullptr);
}

TEST(InlineRingTest, AReceiptOfTheNarrowRingIsGivenBackAfterWideMessages) {
  Link link;
  link.out->KeepReceiptsFrom(0);
  const OutEdge::Receipt sent = link.Send(7);
  const InEdge::Receipt taken = link.Take(7);
  MakeWide(&link);
  for (int i = 0; i < 100; ++i) {
    SendInline(&link, 500, i);
    ASSERT_EQ(TakeLine(&link, i), 500u);
    ASSERT_FALSE(sent.given());
  }
  link.in->GiveBack(taken, true);
  EXPECT_TRUE(sent.given());
  EXPECT_EQ(link.out->released(), 1u);
}

TEST(InlineRingTest, WideRingsOfARankAreLimited) {
  Link first;
  size_t rings = 0;
  std::vector<WideRing*> all;
  constexpr size_t kMost = rules::kShmMostWideBytes / sizeof(WideRing);
  while (all.size() <= kMost) {
    WideRing* const ring = first.memory->NewWideRing();
    if (ring == nullptr) break;
    all.push_back(ring);
  }
  ASSERT_EQ(all.size(), kMost);
  for (int i = 0; i < 3 * rules::kShmInlinesBeforeWide; ++i) {
    EXPECT_EQ(first.out->NextForInline(kLong), nullptr);
  }
  first.memory->FreeWideRing(all.back());
  while (first.out->NextForInline(kLong) == nullptr) {
    ASSERT_LT(++rings, 100u) << "it does not look again";
  }
}

TEST(InlineRingTest, LongLinesStopWhereShortOnesDo) {
  Link link;
  MakeWide(&link);
  link.out->SetLost();
  EXPECT_EQ(link.out->NextForInline(kLong), nullptr);
  Link closed;
  closed.in->Close();
  for (int i = 0; i < 2 * rules::kShmInlinesBeforeWide; ++i) {
    EXPECT_EQ(closed.out->NextForInline(kLong), nullptr) << "nobody reads it";
  }
}

TEST(InlineRingTest, LongLinesOfTwoThreads) {
  Link link;
  constexpr int kMessages = 50000;
  std::thread sender([&] {
    std::mt19937 random(4);
    for (int i = 0; i < kMessages; ++i) {
      if (random() % 3 == 0) {
        Slot* const slot = link.out->Next();
        slot->kind = Slot::kInline;
        slot->bytes = 8;
        std::memset(slot->payload, i, 8);
        link.out->Publish(slot);
      } else {
        SendInline(&link, kLong + random() % 4000, i);
      }
      if (random() % 100 == 0) std::this_thread::yield();
    }
  });
  size_t longest = 0;
  for (int i = 0; i < kMessages; ++i) {
    while (link.in->Peek() == nullptr) std::this_thread::yield();
    longest = std::max(longest, TakeLine(&link, i));
  }
  sender.join();
  EXPECT_GT(longest, size_t{3000});
}

// Both in the ring and in an extension: posts report the lost receiver then.
TEST(InlineRingTest, TowardsALostReceiverThereIsNoNextSlot) {
  for (const uint64_t sent : {uint64_t{1}, uint64_t{kRingSlots + 2}}) {
    Link link;
    for (uint64_t i = 0; i < sent; ++i) link.Send(i);
    link.out->SetLost();
    EXPECT_EQ(link.out->Next(), nullptr) << "after " << sent << " messages";
    for (uint64_t i = 0; i < sent; ++i) link.Receive(i);  // what was sent is there still
  }
}

TEST(InlineRingTest, AnEdgeClosedByALostReceiverDropsMessages) {
  Link link;
  link.in->Close();
  link.out->SetLost();
  const OutEdge::Receipt receipt = link.Send(0);
  EXPECT_TRUE(receipt.given() || link.out->NeverTaken(receipt));
}

TEST(InlineRingTest, StampsWrap) {
  for (const uint64_t start : {(uint64_t{1} << 32) - 16, (uint64_t{1} << 31) - 16}) {
    Link link;
    EdgeTestPeer::StartAt(start, link.out.get(), link.in.get());
    const size_t before = link.memory->in_use_bytes();
    std::vector<OutEdge::Receipt> receipts;
    uint64_t sent = 0, received = 0;
    while (sent < 100) {
      while (sent < received + kRoom) {
        receipts.push_back(link.Send(sent++));
        EXPECT_FALSE(receipts.back().given());
      }
      EXPECT_EQ(link.memory->in_use_bytes(), before) << "a free slot looked used";
      while (received < sent) link.Receive(received++);
      for (const OutEdge::Receipt& receipt : receipts) EXPECT_TRUE(receipt.given());
      EXPECT_EQ(link.in->Peek(), nullptr);
    }
    while (sent < received + 300) link.Send(sent++);  // and through extensions
    while (received < sent) link.Receive(received++);
  }
}

TEST(InlineRingTest, TwoThreads) {
  Link link;
  constexpr uint64_t kMessages = 200000;
  std::thread sender([&] {
    std::mt19937 random(2);
    for (uint64_t number = 0; number < kMessages; ++number) {
      link.Send(number);
      if (random() % 1000 == 0) std::this_thread::yield();
    }
  });
  std::mt19937 random(3);
  std::vector<InEdge::Receipt> lent;
  for (uint64_t number = 0; number < kMessages; ++number) {
    while (link.in->Peek() == nullptr) std::this_thread::yield();
    lent.push_back(link.Take(number));
    if (lent.size() < 20 && random() % 8 != 0) continue;
    std::shuffle(lent.begin(), lent.end(), random);
    for (const InEdge::Receipt& receipt : lent) link.in->GiveBack(receipt, random() % 2 == 0);
    lent.clear();
  }
  sender.join();
}

// --- invalid values of a faulty process ---

void PutJump(Slot* slot, uint64_t to) {
  slot->kind = Slot::kJump;
  std::memcpy(slot->payload, &to, sizeof(to));
}

TEST(InlineRingTest, AJumpToNowhereIsSeen) {
  Link link;
  const uint64_t page = link.memory->OffsetOf(link.memory->NewExtension());
  for (const uint64_t to :
       {uint64_t{0}, page + 8, uint64_t{1} << 20, link.segment->address().reserve_bytes - 64,
        uint64_t{1} << 63, ~uint64_t{63}, ~uint64_t{0}}) {
    SCOPED_TRACE(to);
    Link one;
    PutJump(one.out->Next(), to);
    one.out->Publish(one.out->Next());
    EXPECT_EQ(one.in->Peek(), nullptr);
    EXPECT_STREQ(one.in->broken(), "a jump to nowhere");
    EXPECT_EQ(one.in->Peek(), nullptr);
  }
}

// A length is read once: the checked value is the used value.
TEST(InlineRingTest, ALengthThatChangesIsReadOnce) {
  Slot slot{};
  slot.kind = Slot::kInline;
  slot.bytes = 8;
  std::atomic<bool> over{false};
  std::thread wild([&] {
    for (uint16_t bytes = 8; !over; bytes = static_cast<uint16_t>(~bytes)) {
      __atomic_store_n(&slot.bytes, bytes, __ATOMIC_RELAXED);
    }
  });
  while (InlineIn(slot, Slot::kInlineBytes).data != nullptr)
    std::this_thread::yield();  // until it has begun
  int good = 0;
  int bad = 0;
  int wrong = 0;
  // Until both were seen: where processors are shared, the other thread has its turn when it may.
  for (uint64_t look = 0; look < 100000000 || good == 0 || bad == 0; ++look) {
    const ConstByteSpan message = InlineIn(slot, Slot::kInlineBytes);
    ++(message.bytes > Slot::kInlineBytes ? wrong : message.data == nullptr ? bad : good);
  }
  over = true;
  wild.join();
  EXPECT_EQ(wrong, 0);
}

TEST(InlineRingTest, AnEdgeOutsideItsMemoryIsSeen) {
  Link link;
  const uint64_t end = link.segment->address().reserve_bytes;
  for (const uint64_t at : {uint64_t{64} << 20, end - 64, end, ~uint64_t{63}, ~uint64_t{0},
                            link.memory->OffsetOf(link.ring) + 8}) {
    SCOPED_TRACE(at);
    *link.entry = at;
    InEdge in(link.entry, link.segment.get(), &link.doorbells[1]);
    EXPECT_EQ(in.Peek(), nullptr);
    EXPECT_STREQ(in.broken(), "an edge outside its memory");
    in.Close();
  }
}

TEST(InlineRingTest, AWideRingThatIsNowhereIsSeen) {
  Link link;
  const auto widen = [](Link* one, uint64_t to) {
    Slot* const slot = one->out->Next();
    slot->kind = Slot::kWiden;
    std::memcpy(slot->payload, &to, sizeof(to));
    one->out->Publish(slot);
  };
  const uint64_t ring = link.memory->OffsetOf(link.memory->NewWideRing());
  const uint64_t end = link.segment->address().reserve_bytes;
  for (const uint64_t to :
       {uint64_t{0}, ring + 8, uint64_t{1} << 30, end - 64, end, ~uint64_t{63}}) {
    SCOPED_TRACE(to);
    Link one;
    (void)one.memory->NewWideRing();  // so that the head of the shared segment has room for one
    widen(&one, to);
    EXPECT_EQ(one.in->Peek(), nullptr);
    EXPECT_STREQ(one.in->broken(), "a wide ring that is nowhere");
    EXPECT_EQ(one.in->Peek(), nullptr);
  }
  // Nor from a wide ring, or from an extension.
  MakeWide(&link);
  widen(&link, ring);
  EXPECT_EQ(link.in->Peek(), nullptr);
  EXPECT_NE(link.in->broken(), nullptr);
  Link extended;
  for (uint64_t i = 0; i < kRingSlots; ++i) extended.Send(i);
  widen(&extended, extended.memory->OffsetOf(extended.memory->NewWideRing()));
  for (uint64_t i = 0; i < kRingSlots; ++i) extended.Receive(i);
  EXPECT_EQ(extended.in->Peek(), nullptr);
  EXPECT_NE(extended.in->broken(), nullptr);
}

TEST(InlineRingTest, JumpsRoundInACircleEnd) {
  Link link;
  RingExtension* extensions[2] = {link.memory->NewExtension(), link.memory->NewExtension()};
  for (int i = 0; i < 2; ++i) {
    PutJump(&extensions[i]->slots[0], link.memory->OffsetOf(extensions[1 - i]));
    extensions[i]->slots[0].full = 1;
  }
  PutJump(link.out->Next(), link.memory->OffsetOf(extensions[0]));
  link.out->Publish(link.out->Next());
  EXPECT_EQ(link.in->Peek(), nullptr);
  EXPECT_STREQ(link.in->broken(), "a jump to nowhere");
}

// Whatever lies there, the receiver neither hangs nor leaves the shared segment, beyond whose end
// there is nothing: a step outside is a signal.
TEST(InlineRingTest, Garbage) {
  std::mt19937_64 random(StressSeed() + 3);
  uint64_t messages = 0, broken = 0;
  for (int round = 0; round < StressRounds(1000, 100000); ++round) {
    Link link;
    std::vector<uint64_t> extensions;
    for (int i = 0; i < 3; ++i) {
      extensions.push_back(link.memory->OffsetOf(link.memory->NewExtension()));
    }
    WideRing* const wide = link.memory->NewWideRing();
    const auto somewhere = [&]() -> uint64_t {
      switch (random() % 8) {
        case 0:
          return 0;
        case 1:
          return random();
        case 2:
          return random() % (uint64_t{1} << 17);
        case 3:
          return link.memory->OffsetOf(wide);
        default:
          return extensions[random() % extensions.size()];
      }
    };
    const auto scribble = [&](Slot* slots, int count, uint32_t stamp) {
      for (int i = 0; i < count; ++i) {
        slots[i].full = random() % 8 == 0 ? static_cast<uint32_t>(random()) : stamp + i;
        slots[i].kind = static_cast<Slot::Kind>(random() % 4 == 0 ? random() : random() % 5);
        slots[i].bytes = static_cast<uint16_t>(random());
        const uint64_t words[] = {somewhere(), random(), random()};
        std::memcpy(slots[i].payload, words, sizeof(words));
      }
    };
    scribble(link.ring->slots, kRingSlots, 1);
    for (int i = 0; i < kRingSlots; ++i) scribble(&wide->slots[i].slot, 1, i + 1);
    for (const uint64_t offset : extensions) {
      auto* extension = reinterpret_cast<RingExtension*>(link.segment->At(offset, 4096));
      scribble(extension->slots, RingExtension::kSlots, 1);
    }
    if (random() % 8 == 0) *link.entry = somewhere() % 4 == 0 ? somewhere() : somewhere() | 64;
    for (int i = 0; i < 500; ++i) {
      const Slot* const slot = link.in->Peek();
      if (slot == nullptr) break;
      ASSERT_TRUE(link.segment->Contains(reinterpret_cast<const std::byte*>(slot), sizeof(*slot)));
      const ConstByteSpan message = link.in->Inline(*slot);
      ASSERT_TRUE(message.data == nullptr || link.segment->Contains(message.data, message.bytes));
      ++messages;
      link.in->GiveBack(link.in->Take(), random() % 2 == 0);
    }
    if (link.in->broken() != nullptr) {
      ++broken;
      EXPECT_EQ(link.in->Peek(), nullptr);
    }
    link.in->Close();
    link.out->Publish(link.out->Next());  // nor does the sender
  }
  EXPECT_GT(messages, 1000u);
  EXPECT_GT(broken, 100u);
}
}  // namespace
}  // namespace brigade

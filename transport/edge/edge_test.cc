#include "transport/edge/edge.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <iterator>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/overflow_budget.h"
#include "membuf/pack.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "test/support/stress.h"
#include "transport/edge/edge_memory.h"
#include "transport/host/process_watch.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/host_memory/shared_segment.h"
#include "transport/host_memory/shared_source.h"

namespace brigade {

class EdgeTestPeer {
 public:
  // Both sides of an edge that no message has passed yet, and its ring, as if `number` messages
  // had.
  static void StartAt(uint64_t number, OutEdge* out, InEdge* in) {
    for (int i = 1; i <= EdgeRing::kSlots; ++i) {
      const uint64_t before = number - i;
      const int slot = static_cast<int>(before % EdgeRing::kSlots);
      out->ring_->slots[slot].full = static_cast<uint32_t>(before + 1);
      out->ring_->returns.empty[slot] = static_cast<uint32_t>(before + 1);
    }
    out->sent_in_ring_ = number;
    ASSERT_EQ(in->Peek(), nullptr);  // attaches it
    in->SetRing(number);
  }
};

namespace {

// An edge of one rank to itself: both sides, driven by one caller.
class Link {
 public:
  Link() {
    EXPECT_TRUE(SharedSegment::Create(&segment).ok());
    memory = std::make_unique<EdgeMemory>(segment.get());
    bells = static_cast<Bell*>(memory->Allocate(2 * sizeof(Bell)));
    entry = static_cast<std::atomic<uint64_t>*>(memory->Allocate(sizeof(*entry)));
    ring = static_cast<EdgeRing*>(memory->Allocate(sizeof(EdgeRing)));
    out = std::make_unique<OutEdge>(ring, memory.get(), &bells[0]);
    in = std::make_unique<InEdge>(entry, segment.get(), &bells[1]);
    *entry = memory->OffsetOf(ring);
  }

  OutEdge::Receipt Send(uint64_t number) {
    Slot* const slot = out->Next();
    EXPECT_NE(slot, nullptr);
    slot->kind = Slot::kLine;
    slot->bytes = sizeof(number);
    std::memcpy(slot->payload, &number, sizeof(number));
    return out->Publish(slot);
  }
  bool InRing(const Slot* slot) const {
    return slot >= ring->slots && slot < ring->slots + EdgeRing::kSlots;
  }
  // The next message must be there and be this one; it is not given back.
  InEdge::Receipt Take(uint64_t number) {
    const Slot* const slot = in->Peek();
    EXPECT_NE(slot, nullptr) << "message " << number;
    if (slot == nullptr) return {};
    EXPECT_EQ(in->Peek(), slot) << "it stays the next until it is taken";
    EXPECT_EQ(slot->bytes, sizeof(number));
    EXPECT_EQ(NumberIn(slot), number);
    return in->Take();
  }
  void Receive(uint64_t number) { in->GiveBack(Take(number), false); }
  static uint64_t NumberIn(const Slot* slot) {
    uint64_t number = 0;
    std::memcpy(&number, slot->payload, sizeof(number));
    return number;
  }

  std::shared_ptr<SharedSegment> segment;
  std::unique_ptr<EdgeMemory> memory;
  Bell* bells = nullptr;
  std::atomic<uint64_t>* entry = nullptr;
  EdgeRing* ring = nullptr;
  std::unique_ptr<OutEdge> out;
  std::unique_ptr<InEdge> in;
};

// All but one of the ring's slots, which is kept for a jump.
constexpr int kRoom = EdgeRing::kSlots - 1;

TEST(EdgeTest, NothingIsThereBeforeItIsSent) {
  Link link;
  EXPECT_EQ(link.in->Peek(), nullptr);
  *link.entry = 0;
  InEdge unopened(link.entry, link.segment.get(), &link.bells[1]);
  EXPECT_EQ(unopened.Peek(), nullptr);
  EXPECT_EQ(unopened.broken(), nullptr);
}

TEST(EdgeTest, TheRingWrapsWithoutMoreMemory) {
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

TEST(EdgeTest, AFullRingGoesOnInAnExtensionAndThenInTheRingAgain) {
  Link link;
  const size_t before = link.memory->in_use_bytes();
  uint64_t sent = 0, received = 0;
  while (sent < kRoom) link.Send(sent++);
  EXPECT_EQ(link.memory->in_use_bytes(), before);
  link.Send(sent++);
  EXPECT_EQ(link.memory->in_use_bytes(), before + sizeof(EdgeExtension));
  // An extension is used to its end, but for the slot of its jump.
  for (int i = 2; i < EdgeExtension::kSlots; ++i) {
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
TEST(EdgeTest, ManyExtensionsKeepTheOrder) {
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
TEST(EdgeTest, ReceiptsAreGivenInAnyOrder) {
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
      link.in->GiveBack(open[i].taken, /*piece=*/true);
      ASSERT_TRUE(open[i].sent.given()) << open[i].number;
      ASSERT_EQ(link.out->released(), ++released);
      open.erase(open.begin() + static_cast<ptrdiff_t>(i));
      link.out->KeepReceiptsFrom(open.empty() ? UINT64_MAX : open.front().number);
    }
  }
}

TEST(EdgeTest, AReceiptStaysGivenWhenItsSlotIsUsedAgain) {
  Link link;
  const OutEdge::Receipt first = link.Send(0);
  EXPECT_FALSE(first.given());
  for (uint64_t number = 0; number < 100; ++number) {
    link.Receive(number);
    link.Send(number + 1);
    EXPECT_TRUE(first.given());
  }
}

TEST(EdgeTest, ReceiptsThatNobodyHasLookedAtAreKept) {
  Link link;
  link.out->KeepReceiptsFrom(0);
  std::vector<OutEdge::Receipt> receipts;
  for (uint64_t number = 0; number < 200; ++number) receipts.push_back(link.Send(number));
  for (uint64_t number = 0; number < 200; ++number) link.Receive(number);
  for (uint64_t number = 200; number < 1000; ++number) link.Send(number);
  for (const OutEdge::Receipt& receipt : receipts) EXPECT_TRUE(receipt.given()) << receipt.number;
}

TEST(EdgeTest, ClosingSaysWhatIsNeverTaken) {
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

TEST(EdgeTest, WhatIsSentToAClosedEdgeTakesNoMemory) {
  Link link;
  link.in->Close();
  const size_t before = link.memory->in_use_bytes();
  for (uint64_t number = 0; number < 10000; ++number) {
    const OutEdge::Receipt receipt = link.Send(number);
    EXPECT_TRUE(receipt.given() || link.out->NeverTaken(receipt));
  }
  EXPECT_EQ(link.memory->in_use_bytes(), before);
}

TEST(EdgeTest, AnEdgeClosedBeforeItIsOpenedSaysSo) {
  Link link;
  *link.entry = 0;
  link.in->Close();
  EXPECT_EQ(*link.entry, InEdge::kClosedUnopened);
  EXPECT_EQ(link.in->Peek(), nullptr);
  EXPECT_EQ(link.in->broken(), nullptr);
}

TEST(EdgeTest, MemoryIsGivenBack) {
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

TEST(EdgeTest, NoMemoryIsNoSlotAndNothingLost) {
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

TEST(EdgeTest, ManyMessagesTakeOverflowMemoryAndGiveItBack) {
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
TEST(EdgeTest, WhatLiesBehindAMessageThatIsKeptIsGivenBack) {
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
  EXPECT_LT(link.memory->in_use_bytes(), before + 40 * sizeof(EdgeExtension));
  link.in->GiveBack(kept, false);
}

// --- long lines ---

constexpr size_t kLong = Slot::kLineBytes + 1;

// Sends a line of `bytes`, all of them `value`; as a short line where it may not be long.
void SendLine(Link* link, size_t bytes, int value) {
  Slot* slot = link->out->NextForLongLine(bytes);
  if (slot == nullptr) {
    slot = link->out->Next();
    bytes = sizeof(uint64_t);
  }
  slot->kind = Slot::kLine;
  slot->bytes = static_cast<uint16_t>(bytes);
  std::memset(PayloadOf(slot), value, bytes);
  link->out->Publish(slot);
}
// Takes it, and returns its length.
size_t TakeLine(Link* link, int value) {
  const Slot* const slot = link->in->Peek();
  EXPECT_NE(slot, nullptr);
  if (slot == nullptr) return 0;
  const ConstByteSpan line = link->in->Line(*slot);
  EXPECT_TRUE(std::all_of(line.data, line.data + line.bytes,
                          [&](std::byte b) { return b == static_cast<std::byte>(value); }));
  link->in->GiveBack(link->in->Take(), false);
  return line.bytes;
}
// Sends until the edge has a wide ring.
void MakeWide(Link* link) {
  for (int i = 1; i <= rules::kShmLinesBeforeWide; ++i) {
    SendLine(link, kLong, i);
    ASSERT_EQ(TakeLine(link, i) == kLong, i == rules::kShmLinesBeforeWide);
  }
}

TEST(EdgeTest, AnEdgeThatIsUsedForLongLinesGetsAWideRing) {
  Link link;
  const size_t before = link.memory->in_use_bytes();
  for (int i = 0; i < 100; ++i) {
    link.Send(i);
    link.Receive(i);
  }
  EXPECT_EQ(link.memory->in_use_bytes(), before) << "it does not need one";
  MakeWide(&link);
  EXPECT_EQ(link.memory->in_use_bytes(), before + sizeof(EdgeWideRing));
  for (size_t bytes = kLong; bytes <= WideSlot::kLineBytes; ++bytes) {
    SendLine(&link, bytes, static_cast<int>(bytes));
    ASSERT_EQ(TakeLine(&link, static_cast<int>(bytes)), bytes);
    link.Send(bytes);  // short ones lie there, too
    link.Receive(bytes);
  }
  EXPECT_EQ(link.out->NextForLongLine(WideSlot::kLineBytes + 1), nullptr);
  link.out->FreeMemory();
  EXPECT_EQ(link.memory->in_use_bytes(), before);
}

TEST(EdgeTest, AWideRingThatIsFullGoesOnInAnExtensionAndThenInTheWideRingAgain) {
  Link link;
  // Cached values of the narrow ring's slots would suffice for slots of the wide ring.
  for (uint64_t i = 0; i <= EdgeRing::kSlots; ++i) {
    link.Send(i);
    link.Receive(i);
  }
  MakeWide(&link);
  for (int round = 0; round < 50; ++round) {
    const int messages = 20 - round % 20;  // the wide ring is full at once
    for (int i = 0; i < messages; ++i) SendLine(&link, 1000, i);
    for (int i = 0; i < messages; ++i) {
      ASSERT_EQ(TakeLine(&link, i), i < kRoom ? 1000 : sizeof(uint64_t)) << round << " " << i;
    }
    for (int i = 0; i < EdgeExtension::kSlots; ++i) {  // an extension is used to its end
      link.Send(i);
      link.Receive(i);
    }
  }
}

TEST(EdgeTest, ALongLineInAnExtensionIsNone) {
  Link link;
  MakeWide(&link);
  for (uint64_t i = 0; i < EdgeRing::kSlots; ++i) link.Send(i);
  Slot* const slot = link.out->Next();
  EXPECT_FALSE(link.InRing(slot));
  slot->kind = Slot::kLine;
  slot->bytes = kLong;
  link.out->Publish(slot);
  for (uint64_t i = 0; i < EdgeRing::kSlots; ++i) link.Receive(i);
  ASSERT_EQ(link.in->Peek(), slot);
  EXPECT_EQ(link.in->Line(*slot).data, nullptr);
}

TEST(EdgeTest, WhatWasSentBeforeTheWideRingIsGivenBackBehindIt) {
  Link link;
  link.out->KeepReceiptsFrom(0);
  const OutEdge::Receipt sent = link.Send(7);
  const InEdge::Receipt taken = link.Take(7);
  MakeWide(&link);
  for (int i = 0; i < 100; ++i) {
    SendLine(&link, 500, i);
    ASSERT_EQ(TakeLine(&link, i), 500u);
    ASSERT_FALSE(sent.given());
  }
  link.in->GiveBack(taken, true);
  EXPECT_TRUE(sent.given());
  EXPECT_EQ(link.out->released(), 1u);
}

TEST(EdgeTest, WideRingsOfARankAreLimited) {
  Link first;
  size_t rings = 0;
  std::vector<EdgeWideRing*> all;
  constexpr size_t kMost = rules::kShmMostWideBytes / sizeof(EdgeWideRing);
  while (all.size() <= kMost) {
    EdgeWideRing* const ring = first.memory->NewWideRing();
    if (ring == nullptr) break;
    all.push_back(ring);
  }
  ASSERT_EQ(all.size(), kMost);
  for (int i = 0; i < 3 * rules::kShmLinesBeforeWide; ++i) {
    EXPECT_EQ(first.out->NextForLongLine(kLong), nullptr);
  }
  first.memory->FreeWideRing(all.back());
  while (first.out->NextForLongLine(kLong) == nullptr) {
    ASSERT_LT(++rings, 100u) << "it does not look again";
  }
}

TEST(EdgeTest, LongLinesStopWhereShortOnesDo) {
  Link link;
  MakeWide(&link);
  link.out->SetLost();
  EXPECT_EQ(link.out->NextForLongLine(kLong), nullptr);
  Link closed;
  closed.in->Close();
  for (int i = 0; i < 2 * rules::kShmLinesBeforeWide; ++i) {
    EXPECT_EQ(closed.out->NextForLongLine(kLong), nullptr) << "nobody reads it";
  }
}

TEST(EdgeTest, LongLinesOfTwoThreads) {
  Link link;
  constexpr int kMessages = 50000;
  std::thread sender([&] {
    std::mt19937 random(4);
    for (int i = 0; i < kMessages; ++i) {
      if (random() % 3 == 0) {
        Slot* const slot = link.out->Next();
        slot->kind = Slot::kLine;
        slot->bytes = 8;
        std::memset(slot->payload, i, 8);
        link.out->Publish(slot);
      } else {
        SendLine(&link, kLong + random() % 4000, i);
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
TEST(EdgeTest, TowardsALostReceiverThereIsNoNextSlot) {
  for (const uint64_t sent : {uint64_t{1}, uint64_t{EdgeRing::kSlots + 2}}) {
    Link link;
    for (uint64_t i = 0; i < sent; ++i) link.Send(i);
    link.out->SetLost();
    EXPECT_EQ(link.out->Next(), nullptr) << "after " << sent << " messages";
    for (uint64_t i = 0; i < sent; ++i) link.Receive(i);  // what was sent is there still
  }
}

TEST(EdgeTest, WhatAReceiverThatIsGoneHadClosedTakesWhatNobodyReceives) {
  Link link;
  link.in->Close();
  link.out->SetLost();
  const OutEdge::Receipt receipt = link.Send(0);
  EXPECT_TRUE(receipt.given() || link.out->NeverTaken(receipt));
}

TEST(EdgeTest, StampsWrap) {
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

TEST(EdgeTest, TwoThreads) {
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

TEST(EdgeTest, AJumpToNowhereIsSeen) {
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
TEST(EdgeTest, ALengthThatChangesIsReadOnce) {
  Slot slot{};
  slot.kind = Slot::kLine;
  slot.bytes = 8;
  std::atomic<bool> over{false};
  std::thread wild([&] {
    for (uint16_t bytes = 8; !over; bytes = static_cast<uint16_t>(~bytes)) {
      __atomic_store_n(&slot.bytes, bytes, __ATOMIC_RELAXED);
    }
  });
  while (LineIn(slot, Slot::kLineBytes).data != nullptr)
    std::this_thread::yield();  // until it has begun
  int good = 0;
  int bad = 0;
  int wrong = 0;
  // Until both were seen: where processors are shared, the other thread has its turn when it may.
  for (uint64_t look = 0; look < 100000000 || good == 0 || bad == 0; ++look) {
    const ConstByteSpan line = LineIn(slot, Slot::kLineBytes);
    ++(line.bytes > Slot::kLineBytes ? wrong : line.data == nullptr ? bad : good);
  }
  over = true;
  wild.join();
  EXPECT_EQ(wrong, 0);
}

TEST(EdgeTest, AnEdgeOutsideItsMemoryIsSeen) {
  Link link;
  const uint64_t end = link.segment->address().reserve_bytes;
  for (const uint64_t at : {uint64_t{64} << 20, end - 64, end, ~uint64_t{63}, ~uint64_t{0},
                            link.memory->OffsetOf(link.ring) + 8}) {
    SCOPED_TRACE(at);
    *link.entry = at;
    InEdge in(link.entry, link.segment.get(), &link.bells[1]);
    EXPECT_EQ(in.Peek(), nullptr);
    EXPECT_STREQ(in.broken(), "an edge outside its memory");
    in.Close();
  }
}

TEST(EdgeTest, AWideRingThatIsNowhereIsSeen) {
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
    (void)one.memory->NewWideRing();  // so that the head of the segment has room for one
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
  for (uint64_t i = 0; i < EdgeRing::kSlots; ++i) extended.Send(i);
  widen(&extended, extended.memory->OffsetOf(extended.memory->NewWideRing()));
  for (uint64_t i = 0; i < EdgeRing::kSlots; ++i) extended.Receive(i);
  EXPECT_EQ(extended.in->Peek(), nullptr);
  EXPECT_NE(extended.in->broken(), nullptr);
}

TEST(EdgeTest, JumpsRoundInACircleEnd) {
  Link link;
  EdgeExtension* extensions[2] = {link.memory->NewExtension(), link.memory->NewExtension()};
  for (int i = 0; i < 2; ++i) {
    PutJump(&extensions[i]->slots[0], link.memory->OffsetOf(extensions[1 - i]));
    extensions[i]->slots[0].full = 1;
  }
  PutJump(link.out->Next(), link.memory->OffsetOf(extensions[0]));
  link.out->Publish(link.out->Next());
  EXPECT_EQ(link.in->Peek(), nullptr);
  EXPECT_STREQ(link.in->broken(), "a jump to nowhere");
}

// Whatever lies there, the receiver neither hangs nor leaves the segment, beyond whose end there is
// nothing: a step outside is a signal.
TEST(EdgeTest, Garbage) {
  std::mt19937_64 random(StressSeed() + 3);
  uint64_t messages = 0, broken = 0;
  for (int round = 0; round < StressRounds(1000, 100000); ++round) {
    Link link;
    std::vector<uint64_t> extensions;
    for (int i = 0; i < 3; ++i) {
      extensions.push_back(link.memory->OffsetOf(link.memory->NewExtension()));
    }
    EdgeWideRing* const wide = link.memory->NewWideRing();
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
    scribble(link.ring->slots, EdgeRing::kSlots, 1);
    for (int i = 0; i < EdgeRing::kSlots; ++i) scribble(&wide->slots[i].slot, 1, i + 1);
    for (const uint64_t offset : extensions) {
      auto* extension = reinterpret_cast<EdgeExtension*>(link.segment->At(offset, 4096));
      scribble(extension->slots, EdgeExtension::kSlots, 1);
    }
    if (random() % 8 == 0) *link.entry = somewhere() % 4 == 0 ? somewhere() : somewhere() | 64;
    for (int i = 0; i < 500; ++i) {
      const Slot* const slot = link.in->Peek();
      if (slot == nullptr) break;
      ASSERT_TRUE(link.segment->Contains(reinterpret_cast<const std::byte*>(slot), sizeof(*slot)));
      const ConstByteSpan line = link.in->Line(*slot);
      ASSERT_TRUE(line.data == nullptr || link.segment->Contains(line.data, line.bytes));
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

// --- landings ---

constexpr size_t kLandingBytes = 100;

struct LandingLink : Link {
  ProcessWatch watch;  // of none
  LandingLink() {
    const KernelCopyRange range{kLandingBytes / 2, 2 * kLandingBytes};
    out->SetKernelCopies(getpid(), &watch, range);
    in->SetKernelCopies(getpid(), &watch, range);
    EXPECT_EQ(in->Peek(), nullptr);  // attaches it
  }
  bool Lend(std::vector<uint8_t>* landing) const {
    return in->LendLanding(StridedLayout::Contiguous(landing->size()),
                           reinterpret_cast<std::byte*>(landing->data()));
  }
  bool SendToLanding(const std::vector<uint8_t>& data) const {
    const uint64_t head = data.size();
    return out->SendToLanding({reinterpret_cast<const std::byte*>(&head), sizeof(head)},
                              StridedLayout::Contiguous(data.size()),
                              reinterpret_cast<const std::byte*>(data.data()));
  }
};

TEST(EdgeTest, AMessageGoesToTheLandingThatIsLentForIt) {
  LandingLink link;
  const std::vector<uint8_t> data(kLandingBytes, 7);
  std::vector<uint8_t> landing(kLandingBytes + 1, 9);
  EXPECT_FALSE(link.SendToLanding(data)) << "nothing is lent";
  for (int i = 0; i < 3 * EdgeRing::kSlots; ++i) {
    std::fill(landing.begin(), landing.end(), 9);
    ASSERT_TRUE(link.Lend(&landing));
    ASSERT_TRUE(link.SendToLanding(data));
    EXPECT_FALSE(link.in->TakeLandingBack()) << "its message comes";
    EXPECT_FALSE(link.SendToLanding(data)) << "it was lent for one";
    ASSERT_NE(link.in->Peek(), nullptr);
    EXPECT_EQ(link.in->Peek()->kind, Slot::kLanded);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), landing.begin()));
    EXPECT_EQ(landing.back(), 9);
    link.Receive(kLandingBytes);
  }
}

TEST(EdgeTest, ALandingIsForTheNextMessageOnly) {
  LandingLink link;
  const std::vector<uint8_t> data(kLandingBytes, 7);
  std::vector<uint8_t> landing(kLandingBytes, 9);
  ASSERT_TRUE(link.Lend(&landing));
  link.Send(1);
  EXPECT_FALSE(link.SendToLanding(data));
  link.Receive(1);
  EXPECT_FALSE(link.SendToLanding(data));
  EXPECT_EQ(landing, std::vector<uint8_t>(kLandingBytes, 9));
}

TEST(EdgeTest, ALandingThatWasTakenBackIsNotWrittenTo) {
  LandingLink link;
  std::vector<uint8_t> landing(kLandingBytes, 9);
  ASSERT_TRUE(link.Lend(&landing));
  EXPECT_TRUE(link.in->TakeLandingBack());
  EXPECT_FALSE(link.SendToLanding(std::vector<uint8_t>(kLandingBytes, 7)));
  EXPECT_EQ(landing, std::vector<uint8_t>(kLandingBytes, 9));
}

TEST(EdgeTest, NoLandingIsTooShort) {
  LandingLink link;
  std::vector<uint8_t> landing(kLandingBytes, 9);
  ASSERT_TRUE(link.Lend(&landing));
  EXPECT_FALSE(link.SendToLanding(std::vector<uint8_t>(kLandingBytes + 1, 7)));
  EXPECT_TRUE(link.out->CopiesByKernel(StridedLayout::Contiguous(kLandingBytes)));
  EXPECT_TRUE(link.in->TakeLandingBack());
  EXPECT_EQ(landing, std::vector<uint8_t>(kLandingBytes, 9));
  std::vector<uint8_t> shorter(kLandingBytes / 2 - 1);
  EXPECT_FALSE(link.Lend(&shorter)) << "too short for any message that goes there";
}

// The system takes longer to find each of them than staging takes to copy it.
TEST(EdgeTest, ManyShortStretchesAreNoLanding) {
  LandingLink link;
  std::vector<uint8_t> landing(2 * kLandingBytes, 9);
  StridedLayout layout;
  ASSERT_TRUE(StridedLayout::General(1, kLandingBytes, 2, 1, &layout).ok());
  EXPECT_FALSE(link.out->CopiesByKernel(layout));
  EXPECT_FALSE(link.in->LendLanding(layout, reinterpret_cast<std::byte*>(landing.data())));
}

// A receiver that was killed has lent a landing, and its number is another process' by now.
TEST(EdgeTest, WhereTheReceiverHasEndedNothingIsWritten) {
  LandingLink link;
  const pid_t child = fork();
  if (child == 0) _exit(pause());
  link.watch = ProcessWatch(child);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  std::vector<uint8_t> landing(kLandingBytes, 9);
  ASSERT_TRUE(link.Lend(&landing));
  EXPECT_FALSE(link.SendToLanding(std::vector<uint8_t>(kLandingBytes, 7)));
  EXPECT_EQ(landing, std::vector<uint8_t>(kLandingBytes, 9));
}

// A receiver whose memory cannot be written to is not tried again.
TEST(EdgeTest, WhereTheKernelRefusesNothingIsSent) {
  LandingLink link;
  ASSERT_TRUE(link.out->CopiesByKernel(StridedLayout::Contiguous(kLandingBytes)));
  ASSERT_TRUE(link.in->LendLanding(StridedLayout::Contiguous(kLandingBytes), nullptr));
  EXPECT_FALSE(link.SendToLanding(std::vector<uint8_t>(kLandingBytes, 7)));
  EXPECT_FALSE(link.out->CopiesByKernel(StridedLayout::Contiguous(kLandingBytes)));
  EXPECT_TRUE(link.in->TakeLandingBack());
  link.Send(1);
  link.Receive(1);
}

TEST(EdgeTest, LandingsThatAreTakenBackAndSentToAtOnce) {
  const int messages = StressRounds(20000, 1000000);
  const auto both_wait = [](int message) { return message % 16 == 0; };
  LandingLink link;
  int landed = 0;
  std::thread sender([&] {
    for (int i = 0; i < messages; ++i) {
      const auto number = static_cast<uint64_t>(i);
      const auto& state = link.ring->returns.landing.state;
      while (both_wait(i) && state != EdgeLanding::StateOf(number, EdgeLanding::kLent)) {
        std::this_thread::yield();
      }
      const std::vector<uint8_t> data(kLandingBytes, static_cast<uint8_t>(i));
      if (link.SendToLanding(data)) continue;
      while (!link.out->HasRoom()) std::this_thread::yield();
      link.Send(number);
    }
  });
  for (int i = 0; i < messages; ++i) {
    std::vector<uint8_t> landing(kLandingBytes, static_cast<uint8_t>(i + 1));
    ASSERT_TRUE(link.Lend(&landing));
    for (int poll = 0; poll < i % 7 && link.in->Peek() == nullptr; ++poll) {
      std::this_thread::yield();
    }
    const bool back = !both_wait(i) && link.in->TakeLandingBack();
    while (link.in->Peek() == nullptr) std::this_thread::yield();
    const bool is_landed = link.in->Peek()->kind == Slot::kLanded;
    ASSERT_EQ(is_landed, !back);
    ASSERT_EQ(landing[kLandingBytes - 1], static_cast<uint8_t>(is_landed ? i : i + 1));
    link.Receive(is_landed ? kLandingBytes : static_cast<uint64_t>(i));
    landed += is_landed ? 1 : 0;
  }
  sender.join();
  EXPECT_GE(landed, messages / 16);
}

// --- landings in shared memory ---

constexpr size_t kSharedBytes = size_t{48} << 10;

// The kernel copies nothing by default.
struct SharedLandingLink : Link {
  SharedLandingLink() {
    EXPECT_TRUE(SharedAllocations::Here().Allocate(2 * kSharedBytes, &allocated_).ok());
    landing = static_cast<uint8_t*>(allocated_);
    std::fill_n(landing, 2 * kSharedBytes, 9);
    EXPECT_EQ(in->Peek(), nullptr);  // attaches it
  }
  ~SharedLandingLink() { SharedAllocations::Here().Free(allocated_); }
  SharedLandingLink(const SharedLandingLink&) = delete;
  SharedLandingLink& operator=(const SharedLandingLink&) = delete;

  bool Lend(const StridedLayout& layout = StridedLayout::Contiguous(kSharedBytes)) const {
    return in->LendLanding(layout, reinterpret_cast<std::byte*>(landing));
  }
  bool SendToLanding(const std::vector<uint8_t>& data, const StridedLayout& layout) const {
    const uint64_t head = layout.bytes();
    return out->SendToLanding({reinterpret_cast<const std::byte*>(&head), sizeof(head)}, layout,
                              reinterpret_cast<const std::byte*>(data.data()));
  }
  bool SendToLanding(const std::vector<uint8_t>& data) const {
    return SendToLanding(data, StridedLayout::Contiguous(data.size()));
  }
  EdgeLanding* lent() const { return &ring->returns.landing; }

  uint8_t* landing;

 private:
  void* allocated_ = nullptr;
};

std::vector<uint8_t> Numbered(size_t bytes) {
  std::vector<uint8_t> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(i * 7 + i / 251);
  return data;
}

TEST(EdgeTest, AMessageGoesToMemoryThatItsReceiverShares) {
  SharedLandingLink link;
  const std::vector<uint8_t> data = Numbered(kSharedBytes - 1);
  const StridedLayout layout = StridedLayout::Contiguous(data.size());
  EXPECT_FALSE(link.SendToLanding(data)) << "nothing is lent";
  for (int i = 0; i < 3 * EdgeRing::kSlots; ++i) {
    EXPECT_FALSE(link.out->MayLand(layout)) << "nothing is lent";
    std::fill_n(link.landing, kSharedBytes, 9);
    ASSERT_TRUE(link.Lend());
    EXPECT_TRUE(link.out->MayLand(layout));
    ASSERT_TRUE(link.SendToLanding(data));
    EXPECT_FALSE(link.in->TakeLandingBack()) << "its message comes";
    ASSERT_NE(link.in->Peek(), nullptr);
    EXPECT_EQ(link.in->Peek()->kind, Slot::kLanded);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), link.landing));
    EXPECT_EQ(link.landing[kSharedBytes - 1], 9);
    link.Receive(data.size());
  }
}

TEST(EdgeTest, OnlyWhatIsAllocatedIsLent) {
  SharedLandingLink link;
  std::vector<uint8_t> other(kSharedBytes);
  const StridedLayout layout = StridedLayout::Contiguous(kSharedBytes);
  EXPECT_FALSE(link.in->LendLanding(layout, reinterpret_cast<std::byte*>(other.data())));
  EXPECT_FALSE(link.Lend(StridedLayout::Contiguous(8 * kSharedBytes))) << "beyond its end";
  EXPECT_FALSE(link.Lend(StridedLayout::Contiguous(rules::kLeastSharedLandingBytes - 1)));
  EXPECT_TRUE(link.Lend(StridedLayout::Contiguous(rules::kLeastSharedLandingBytes)));
  EXPECT_TRUE(link.in->TakeLandingBack());
  void* freed = nullptr;
  ASSERT_TRUE(SharedAllocations::Here().Allocate(kSharedBytes, &freed).ok());
  SharedAllocations::Here().Free(freed);
  EXPECT_FALSE(link.in->LendLanding(layout, static_cast<std::byte*>(freed)));
}

// Every other half run is a gap.
StridedLayout Columns(size_t run_bytes, size_t bytes = kSharedBytes) {
  StridedLayout layout;
  const auto rows = static_cast<int64_t>(run_bytes);
  const auto cols = static_cast<int64_t>(bytes / run_bytes);
  EXPECT_TRUE(StridedLayout::General(rows, cols, rows + rows / 2, 1, &layout).ok());
  return layout;
}

TEST(EdgeTest, EitherSideOfASharedLandingMayBeStrided) {
  const StridedLayout plain = StridedLayout::Contiguous(kSharedBytes);
  constexpr size_t kHalf = kSharedBytes / 2;
  constexpr size_t kWide = rules::kLeastUnequalRunBytes;
  const struct {
    StridedLayout from;
    StridedLayout to;
    bool lands;
  } cases[] = {
      {plain, Columns(8), true},
      {plain, Columns(kWide), true},
      {Columns(8), plain, true},
      {Columns(12, kHalf), plain, true},
      {Columns(8), Columns(8), true},
      {Columns(24, kHalf), Columns(24), true},
      {Columns(kWide), Columns(3 * kWide), true},
      {Columns(4 * kWide, kHalf), Columns(3 * kWide), true},
      {Columns(3 * kWide), Columns(8), false},
      {Columns(16), Columns(kWide), false},
  };
  for (const auto& one : cases) {
    SharedLandingLink link;
    const size_t bytes = one.from.bytes();
    const std::vector<uint8_t> data = Numbered(2 * kSharedBytes);
    std::vector<std::byte> packed(bytes);
    CopyIn(packed.data(), one.from, reinterpret_cast<const std::byte*>(data.data()), 0, bytes);
    std::vector<uint8_t> expected(2 * kSharedBytes, 9);
    CopyOut(one.to, reinterpret_cast<std::byte*>(expected.data()), 0, one.lands ? bytes : 0,
            packed.data());
    ASSERT_TRUE(link.Lend(one.to));
    EXPECT_EQ(link.SendToLanding(data, one.from), one.lands)
        << one.from.run_bytes() << " to " << one.to.run_bytes();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), link.landing))
        << one.from.run_bytes() << " to " << one.to.run_bytes();
  }
}

// Whatever the receiver has written: nothing is sent, and the message goes another way.
TEST(EdgeTest, OfASharedLandingNothingIsBelieved) {
  SharedLandingLink link;
  const std::vector<uint8_t> data = Numbered(kSharedBytes);
  const uint64_t reserve = SharedAllocations::Here().Find(link.landing, 1)->address().reserve_bytes;
  const auto stretches = [](uint64_t stretch_bytes, uint64_t stride_bytes) {
    return [=](EdgeLanding* landing) {
      landing->memory.stretch_bytes = stretch_bytes;
      landing->memory.stride_bytes = stride_bytes;
    };
  };
  const std::function<void(EdgeLanding*)> wrong[] = {
      [&](EdgeLanding* landing) { landing->offset = reserve - kSharedBytes + 1; },
      [&](EdgeLanding* landing) { landing->offset = reserve - kSharedBytes; },
      [](EdgeLanding* landing) { landing->offset = UINT64_MAX; },
      [](EdgeLanding* landing) { landing->offset = 0; },
      [](EdgeLanding* landing) { landing->memory.bytes = kSharedBytes - 1; },
      stretches(0, 0),
      stretches(0, kSharedBytes),
      stretches(8, 1),
      stretches(8, reserve / (kSharedBytes / 8)),
      stretches(8, UINT64_MAX / 8),
      stretches(8, UINT64_MAX),
      stretches(kSharedBytes - 1, uint64_t{1} << 62),
      stretches(kSharedBytes - 1, INT64_MAX),
      [](EdgeLanding* landing) { landing->segment.token[1] ^= 1; },
      [](EdgeLanding* landing) { landing->segment = SharedSegment::Address(); },
  };
  for (size_t i = 0; i < std::size(wrong); ++i) {
    ASSERT_TRUE(link.Lend());
    wrong[i](link.lent());
    EXPECT_FALSE(link.SendToLanding(data)) << i;
    EXPECT_TRUE(link.in->TakeLandingBack());
    EXPECT_EQ(link.landing[0], 9) << i;
    link.Send(i);
    link.Receive(i);
  }
  ASSERT_TRUE(link.Lend());
  EXPECT_TRUE(link.SendToLanding(data)) << "the right one is opened again";
  EXPECT_TRUE(std::equal(data.begin(), data.end(), link.landing));
}

TEST(EdgeTest, WhatCannotBeMappedTheKernelCopies) {
  SharedLandingLink link;
  const ProcessWatch none;
  const KernelCopyRange range{kSharedBytes / 2, 2 * kSharedBytes};
  link.out->SetKernelCopies(getpid(), &none, range);
  link.in->SetKernelCopies(getpid(), &none, range);
  const std::vector<uint8_t> data = Numbered(kSharedBytes);
  ASSERT_TRUE(link.Lend());
  link.lent()->segment.token[0] ^= 1;
  ASSERT_TRUE(link.SendToLanding(data));
  EXPECT_TRUE(std::equal(data.begin(), data.end(), link.landing));
}

// A process with its own mapping, the case that matters. The result is its exit code.
TEST(EdgeTest, AnotherProcessMapsTheLanding) {
  SharedLandingLink link;
  const std::vector<uint8_t> data = Numbered(kSharedBytes);
  ASSERT_TRUE(link.Lend());
  const pid_t child = fork();
  if (child == 0) {
    SharedSegment::Address& address = link.lent()->segment;
    const SharedSegment::Address right = address;
    address.descriptor = -1;
    if (link.SendToLanding(data)) _exit(1);
    address = right;
    link.lent()->state = EdgeLanding::StateOf(0, EdgeLanding::kLent);
    if (!link.SendToLanding(data)) _exit(2);
    std::shared_ptr<SharedSegment> theirs;
    if (!SharedSegment::Open(right, &theirs).ok()) _exit(3);
    _exit(theirs == SharedAllocations::Here().Find(link.landing, 1) ? 4 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_NE(link.in->Peek(), nullptr);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), link.landing));
  link.Receive(data.size());
}

// --- notices ---

TEST(EdgeTest, ANoticeIsNoMessage) {
  Link link;
  EXPECT_EQ(link.in->notice(), 0);
  for (uint64_t i = 1; i < 3 * EdgeRing::kSlots; ++i) {
    std::memcpy(link.out->notice_text(), &i, sizeof(i));
    link.out->SetNotice(i);
    EXPECT_EQ(link.out->notice(), i);
    ASSERT_EQ(link.in->notice(), i);
    EXPECT_EQ(std::memcmp(link.in->notice_text(), &i, sizeof(i)), 0);
    EXPECT_EQ(link.in->Peek(), nullptr);
  }
  EXPECT_EQ(link.out->sent(), 0);
  (void)link.Send(7);
  (void)link.Take(7);
}

TEST(EdgeTest, OfMemoryInANoticeNothingIsBelieved) {
  SharedLandingLink link;
  StridedLayout layout;
  const SharedSource source =
      SharedSource::Of(Columns(8), reinterpret_cast<const std::byte*>(link.landing));
  const SharedSegment::Address& segment = source.segment->address();
  const auto* const data = reinterpret_cast<const std::byte*>(link.landing);
  ASSERT_EQ(link.in->Map(source.memory, segment, source.offset, &layout), data);
  EXPECT_EQ(layout.bytes(), source.memory.bytes);
  EXPECT_EQ(layout.run_bytes(), source.memory.stretch_bytes);
  EXPECT_EQ(link.in->Map(source.memory, segment, segment.reserve_bytes - 8, &layout), nullptr);
  RemoteStretches wrong = source.memory;
  wrong.stretch_bytes = 0;
  EXPECT_EQ(link.in->Map(wrong, segment, source.offset, &layout), nullptr);
  SharedSegment::Address other = segment;
  other.token[0] ^= 1;
  EXPECT_EQ(link.in->Map(source.memory, other, source.offset, &layout), nullptr);
}

// Returns whether a receiver may read memory of this process as memory of `process`.
bool MayRead(SharedLandingLink* link, pid_t process, const ProcessWatch* watch, const void* memory,
             const StridedLayout& from, const StridedLayout& to) {
  link->in->SetKernelCopies(process, watch, KernelCopyRange{1000, 2000});
  RemoteStretches stretches;
  EXPECT_TRUE(AsStretches(from, static_cast<const std::byte*>(memory), &stretches));
  return link->in->MayRead(stretches, to);
}

// Of two pages the first, and then both are gone.
TEST(EdgeTest, TheKernelReadsLongStretchesThatItDoesNotRefuse) {
  const ProcessWatch none;
  const std::vector<uint8_t> data(kSharedBytes);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const pages =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const StridedLayout both = StridedLayout::Contiguous(2 * page);
  const StridedLayout few = Columns(1000);
  const StridedLayout many = Columns(999);
  {
    SharedLandingLink link;
    const auto may_read = [&](const void* memory, const StridedLayout& from,
                              const StridedLayout& to) {
      return MayRead(&link, getpid(), &none, memory, from, to);
    };
    EXPECT_FALSE(may_read(data.data(), many, few));
    EXPECT_FALSE(may_read(data.data(), few, many));
    for (int i = 0; i < 2; ++i) {
      EXPECT_FALSE(may_read(nullptr, few, few)) << "there is nothing";
      EXPECT_TRUE(may_read(data.data(), few, few)) << "there is something elsewhere";
    }
    EXPECT_TRUE(may_read(pages, both, both));
    ASSERT_EQ(munmap(static_cast<std::byte*>(pages) + page, page), 0);
    EXPECT_FALSE(may_read(pages, both, both)) << "the last byte is gone";
    EXPECT_TRUE(may_read(pages, StridedLayout::Contiguous(page), both));
    ASSERT_EQ(munmap(pages, page), 0);
    EXPECT_FALSE(may_read(pages, StridedLayout::Contiguous(page), both));
  }
  const pid_t child = fork();
  if (child == 0) _exit(0);
  const ProcessWatch ended(child);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  SharedLandingLink link;
  EXPECT_FALSE(MayRead(&link, child, &ended, data.data(), few, few));
  EXPECT_FALSE(MayRead(&link, getpid(), &none, data.data(), few, few)) << "it is not tried again";
}

}  // namespace
}  // namespace brigade

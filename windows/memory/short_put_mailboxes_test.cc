#include "windows/memory/short_put_mailboxes.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "membuf/byte_span.h"
#include "membuf/element.h"
#include "windows/layout/layout_copy.h"
#include "windows/layout/layout_cursor.h"
#include "windows/layout/random_layout.h"
#include "windows/layout/typed_layout.h"
#include "windows/memory/cache_line.h"
#include "windows/memory/member.h"
#include "windows/rules.h"

namespace brigade {
namespace {

constexpr int kMembers = 3;
constexpr size_t kBytes = 1024;

// Memory of `bytes`, zeroed, that begins a line.
std::byte* Zeroed(size_t bytes) {
  struct alignas(kCacheLineBytes) Line {
    std::byte bytes[kCacheLineBytes];
  };
  static auto& all = *new std::deque<std::vector<Line>>;
  all.emplace_back(bytes / sizeof(Line) + 1);
  return all.back()[0].bytes;
}

TypedLayout Byte() { return TypedLayout::One(Element::kByte); }

// All members, in one process.
class ShortPutMailboxesTest : public testing::Test {
 protected:
  ShortPutMailboxesTest() {
    std::vector<std::byte*> areas;
    const MailboxSize area = ShortPutMailboxes::SizeOfArea(kMembers);
    for (int r = 0; r < kMembers; ++r) {
      areas.push_back(Zeroed(area.front_bytes + area.boxes_bytes));
    }
    for (int r = 0; r < kMembers; ++r) {
      members_.emplace_back(r, areas);
      members_.back().OpenBoxes(/*have_memory=*/true);
      memory_.emplace_back(kBytes);
    }
  }

  // Of bytes that are all `value`.
  bool Put(int from, int to, int64_t offset, int64_t bytes, int value, uint64_t start = 0) {
    const std::vector<std::byte> data(static_cast<size_t>(bytes), static_cast<std::byte>(value));
    const TypedLayout byte = Byte();
    LayoutCursor origin(&byte, bytes);
    LayoutCursor target(&byte, bytes);
    return start == 0
               ? members_[from].PutFenced(to, &origin, data.data(), bytes, &target, offset)
               : members_[from].PutStarted(start, to, &origin, data.data(), bytes, &target, offset);
  }
  bool EndFence(int member) { return members_[member].EndFence(memory_[member].data()); }
  // Of all. Returns how often they met.
  int EndEpoch() {
    for (int meetings = 1;; ++meetings) {
      int again = 0;
      for (int r = 0; r < kMembers; ++r) again += EndFence(r) ? 1 : 0;
      if (again == 0) return meetings;
      EXPECT_EQ(again, kMembers) << "all or none meet again";
    }
  }
  int At(int member, size_t offset) const { return static_cast<int>(memory_[member][offset]); }

  std::vector<ShortPutMailboxes> members_;
  std::vector<std::vector<std::byte>> memory_;
};

TEST_F(ShortPutMailboxesTest, FewOrManyMembersHaveNone) {
  EXPECT_EQ(ShortPutMailboxes::SizeOfArea(1).boxes_bytes, 0U);
  EXPECT_EQ(ShortPutMailboxes::SizeOfArea(65).boxes_bytes, 0U);
  for (const int members : {2, 3, 64}) {
    EXPECT_LE(ShortPutMailboxes::SizeOfArea(members).boxes_bytes, rules::kMailboxBytesOfWindow);
    EXPECT_GT(ShortPutMailboxes::SizeOfArea(members).boxes_bytes, rules::kMailboxBytesOfWindow / 2);
  }
}

// Boxes that may not be touched, behind a front that may.
class MailboxesWithoutMemory : public testing::Test {
 protected:
  MailboxesWithoutMemory() {
    std::vector<std::byte*> areas;
    for (int r = 0; r < 2; ++r) {
      void* const pages = mmap(nullptr, kPage + mailboxes_.boxes_bytes, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      EXPECT_NE(pages, MAP_FAILED);
      EXPECT_EQ(mprotect(pages, kPage, PROT_READ | PROT_WRITE), 0);
      pages_.push_back(static_cast<std::byte*>(pages));
      areas.push_back(pages_.back() + kPage - mailboxes_.front_bytes);
    }
    for (int r = 0; r < 2; ++r) members_.emplace_back(r, areas);
  }
  ~MailboxesWithoutMemory() override {
    for (std::byte* const pages : pages_) munmap(pages, kPage + mailboxes_.boxes_bytes);
  }

  // Of one byte of rank 0 to rank 1.
  bool Put(uint64_t start = 0) {
    const TypedLayout byte = Byte();
    LayoutCursor origin(&byte, 1);
    LayoutCursor target(&byte, 1);
    const std::byte data{1};
    return start == 0 ? members_[0].PutFenced(1, &origin, &data, 1, &target, 0)
                      : members_[0].PutStarted(start, 1, &origin, &data, 1, &target, 0);
  }
  void EndAll(uint64_t start) {
    members_[0].Withdraw(
        start, 1, [](uint64_t, ConstByteSpan) { FAIL(); }, [](uint64_t, ByteSpan) { FAIL(); });
    for (int r = 0; r < 2; ++r) EXPECT_FALSE(members_[r].EndFence(nullptr));
    members_[1].EndStart(start, 0, nullptr);
    EXPECT_TRUE(members_[0].HasRead(1));
  }

  const size_t kPage = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  const MailboxSize mailboxes_ = ShortPutMailboxes::SizeOfArea(2);
  std::vector<std::byte*> pages_;
  std::vector<ShortPutMailboxes> members_;
};

TEST_F(MailboxesWithoutMemory, APutFailsAndRequestsThem) {
  EXPECT_FALSE(members_[1].are_wanted());
  EXPECT_FALSE(Put());
  EXPECT_TRUE(members_[1].are_wanted());
  EXPECT_FALSE(members_[0].are_wanted());
  EXPECT_FALSE(Put(1));
  EndAll(1);
  // There is memory.
  ASSERT_EQ(mprotect(pages_[1] + kPage, mailboxes_.boxes_bytes, PROT_READ | PROT_WRITE), 0);
  members_[1].OpenBoxes(/*have_memory=*/true);
  EXPECT_FALSE(members_[1].are_wanted());
  EXPECT_TRUE(Put());
  EXPECT_TRUE(Put(2));
}

// A get needs a mailbox at its target, and one at its origin for the reply.
TEST_F(MailboxesWithoutMemory, AGetRequestsThemOnBothSides) {
  std::byte got{0};
  EXPECT_FALSE(members_[0].GetFenced(1, 0, 1, &got));
  EXPECT_TRUE(members_[0].are_wanted());
  EXPECT_TRUE(members_[1].are_wanted());
  EndAll(1);
  members_[0].OpenBoxes(/*have_memory=*/false);
  EXPECT_FALSE(members_[0].GetFenced(1, 0, 1, &got));
  EndAll(2);
}

TEST_F(MailboxesWithoutMemory, AreNotRequestedAgainIfThereIsNoMemory) {
  EXPECT_FALSE(Put());
  members_[1].OpenBoxes(/*have_memory=*/false);
  for (uint64_t start = 1; start < 4; ++start) {
    EXPECT_FALSE(Put());
    EXPECT_FALSE(Put(start));
    EXPECT_FALSE(members_[1].are_wanted());
    EndAll(start);
  }
}

TEST_F(ShortPutMailboxesTest, OnePutLeavesRoomForOthers) {
  const auto box =
      static_cast<int64_t>(ShortPutMailboxes::SizeOfArea(kMembers).boxes_bytes / (3 * kMembers));
  EXPECT_FALSE(Put(0, 1, 0, box / 4 + 1, 1));
  EXPECT_FALSE(Put(0, 1, 0, box / 4 + 1, 1, /*start=*/1));
  for (int put = 0; put < 3; ++put) EXPECT_TRUE(Put(0, 1, 0, box / 4, 1));
  EXPECT_FALSE(Put(0, 1, 0, box / 4, 1));  // heads of entries take some
  EXPECT_TRUE(Put(0, 1, 0, box / 8, 1));
}

// Data without room are not gathered: the origin's memory is not read.
TEST_F(ShortPutMailboxesTest, ManyShortRunsAreCountedBefore) {
  const auto box =
      static_cast<int64_t>(ShortPutMailboxes::SizeOfArea(kMembers).boxes_bytes / (3 * kMembers));
  const int64_t bytes = box / 8;  // each with a head of twice its length
  TypedLayout apart;
  ASSERT_TRUE(TypedLayout::Repeat(bytes, 16, TypedLayout::Run(Element::kByte, 1), &apart).ok());
  const TypedLayout byte = Byte();
  LayoutCursor origin(&byte, bytes);
  LayoutCursor target(&apart, 1);
  EXPECT_FALSE(members_[0].PutFenced(1, &origin, nullptr, bytes, &target, 0));
  EXPECT_EQ(origin.position(), 0);
  EXPECT_EQ(target.position(), 0);
}

TEST_F(ShortPutMailboxesTest, EntriesAreReadOnceWhenTheEpochEnds) {
  EXPECT_TRUE(Put(0, 1, 8, 4, 1));
  EXPECT_TRUE(Put(2, 1, 12, 4, 2));
  EXPECT_TRUE(Put(0, 1, 16, 1, 3));
  EXPECT_EQ(At(1, 8), 0);
  for (int r = 0; r < kMembers; ++r) EndFence(r);
  for (const auto& [offset, value] : std::vector<std::pair<size_t, int>>{
           {7, 0}, {8, 1}, {11, 1}, {12, 2}, {15, 2}, {16, 3}, {17, 0}}) {
    EXPECT_EQ(At(1, offset), value) << offset;
  }
  std::memset(memory_[1].data(), 0, kBytes);
  for (int fence = 0; fence < 4; ++fence) {
    for (int r = 0; r < kMembers; ++r) EndFence(r);
    EXPECT_EQ(memory_[1], std::vector<std::byte>(kBytes)) << fence;
  }
}

TEST_F(ShortPutMailboxesTest, GetsCompleteWhenTheEpochEnds) {
  for (int epoch = 1; epoch < 5; ++epoch) {
    for (int r = 0; r < kMembers; ++r) {
      for (size_t i = 0; i < kBytes; ++i)
        memory_[r][i] = static_cast<std::byte>(40 * r + epoch + i);
    }
    std::vector<std::vector<std::byte>> got(4, std::vector<std::byte>(8));
    EXPECT_TRUE(members_[0].GetFenced(1, 8, 8, got[0].data()));
    EXPECT_TRUE(Put(0, 1, 500, 4, epoch));
    EXPECT_TRUE(members_[0].GetFenced(1, 100, 8, got[1].data()));
    EXPECT_TRUE(members_[0].GetFenced(2, 8, 8, got[2].data()));
    EXPECT_TRUE(members_[2].GetFenced(0, 16, 8, got[3].data()));
    EXPECT_EQ(EndEpoch(), 2);
    const std::pair<size_t, size_t> places[] = {
        {1, 8}, {1, 100}, {2, 8}, {0, 16}};  // member, offset
    for (size_t i = 0; i < got.size(); ++i) {
      const auto [member, offset] = places[i];
      for (size_t k = 0; k < 8; ++k) ASSERT_EQ(got[i][k], memory_[member][offset + k]) << i;
    }
    EXPECT_EQ(At(1, 500), epoch);
    EXPECT_EQ(EndEpoch(), 1);  // no request has come
  }
}

// A reply has a mailbox of its own, with room for any number of replies.
TEST_F(ShortPutMailboxesTest, GetsFillTheRoomOfAMailbox) {
  const auto box =
      static_cast<int64_t>(ShortPutMailboxes::SizeOfArea(kMembers).boxes_bytes / (3 * kMembers));
  std::vector<std::byte> memory(static_cast<size_t>(box), std::byte{7});
  std::vector<std::byte> got(static_cast<size_t>(2 * box));
  for (int epoch = 0; epoch < 3; ++epoch) {
    std::fill(got.begin(), got.end(), std::byte{0});
    EXPECT_FALSE(members_[0].GetFenced(1, 0, box / 4 + 1, got.data()));
    int64_t asked = 0;
    for (const int64_t bytes : {box / 4, int64_t{100}, int64_t{1}}) {
      while (members_[0].GetFenced(1, 0, bytes, got.data() + asked)) asked += bytes;
    }
    EXPECT_GT(asked, box * 9 / 10);
    for (const bool again : {true, false}) {
      EndFence(0);
      EXPECT_EQ(members_[1].EndFence(memory.data()), again);
      EndFence(2);
    }
    EXPECT_EQ(std::count(got.begin(), got.end(), std::byte{7}), asked);
  }
}

TEST_F(ShortPutMailboxesTest, EntriesOfTheNextEpochWait) {
  EXPECT_TRUE(Put(0, 1, 0, 1, 1));
  EndFence(0);
  EXPECT_TRUE(Put(0, 1, 0, 1, 2));  // before the target has read
  EXPECT_FALSE(members_[0].HasRead(1));
  EndFence(1);
  EXPECT_EQ(At(1, 0), 1);
  EXPECT_TRUE(members_[0].HasRead(1));
  EndFence(0);
  EXPECT_FALSE(members_[0].HasRead(1));
  EndFence(1);
  EXPECT_EQ(At(1, 0), 2);
  EXPECT_TRUE(members_[0].HasRead(1));
}

TEST_F(ShortPutMailboxesTest, AFenceWithoutPutsWaitsForNoRank) {
  for (int fence = 0; fence < 3; ++fence) {
    EndFence(0);
    EXPECT_TRUE(members_[0].HasRead(1));
    EndFence(1);
    EndFence(2);
  }
}

TEST_F(ShortPutMailboxesTest, AnEntryWithoutRoomLeavesNothing) {
  int64_t put = 0;
  while (Put(0, 1, 0, 100, 1)) ++put;
  EXPECT_GT(put, 100);
  // Of two runs of which the second finds no room.
  TypedLayout halves;
  ASSERT_TRUE(TypedLayout::Repeat(2, 200, TypedLayout::Run(Element::kByte, 50), &halves).ok());
  const std::vector<std::byte> data(100, std::byte{9});
  const TypedLayout byte = Byte();
  LayoutCursor origin(&byte, 100);
  LayoutCursor target(&halves, 1);
  EXPECT_FALSE(members_[0].PutFenced(1, &origin, data.data(), 100, &target, 300));
  EXPECT_TRUE(Put(2, 1, 100, 100, 2));  // another's box
  for (int r = 0; r < kMembers; ++r) EndFence(r);
  EXPECT_EQ(At(1, 0), 1);
  EXPECT_EQ(At(1, 100), 2);
  EXPECT_EQ(At(1, 300), 0);
  EXPECT_EQ(At(1, 500), 0);
  for (int64_t again = 0; again < put; ++again) EXPECT_TRUE(Put(0, 1, 0, 100, 1));
  EXPECT_FALSE(Put(0, 1, 0, 100, 1));
}

TEST_F(ShortPutMailboxesTest, EndStartDeliversPutsOfAStartedEpochOnly) {
  EXPECT_TRUE(Put(0, 1, 0, 4, 1));
  EXPECT_TRUE(Put(0, 1, 4, 4, 2, /*start=*/1));
  members_[1].EndStart(1, 0, memory_[1].data());
  EXPECT_EQ(At(1, 0), 0);
  EXPECT_EQ(At(1, 4), 2);
  std::memset(memory_[1].data(), 0, kBytes);
  members_[1].EndStart(2, 0, memory_[1].data());  // nothing was put
  EXPECT_EQ(At(1, 4), 0);
  EXPECT_TRUE(Put(0, 1, 8, 4, 3, /*start=*/3));
  members_[1].EndStart(3, 0, memory_[1].data());
  EXPECT_EQ(At(1, 8), 3);
}

TEST_F(ShortPutMailboxesTest, WithdrawDeliversPutsAndFetches) {
  EXPECT_TRUE(Put(0, 1, 0, 4, 1));
  EXPECT_TRUE(Put(0, 1, 4, 4, 2));
  EXPECT_TRUE(Put(0, 1, 8, 4, 3, /*start=*/1));
  std::byte got[4] = {};
  EXPECT_TRUE(members_[0].GetFenced(1, 16, 4, got));
  std::vector<int> delivered;
  const auto deliver = [&](uint64_t offset, ConstByteSpan bytes) {
    EXPECT_EQ(bytes.bytes, 4U);
    delivered.push_back(static_cast<int>(offset) * 10 + static_cast<int>(bytes.data[0]));
  };
  const auto fetch = [&](uint64_t offset, ByteSpan into) {
    EXPECT_EQ(into.data, got);
    EXPECT_EQ(into.bytes, 4U);
    delivered.push_back(static_cast<int>(offset));
  };
  members_[0].Withdraw(1, 1, deliver, fetch);
  EXPECT_EQ(delivered, (std::vector<int>{1, 42, 16, 83}));
  members_[0].Withdraw(1, 1, deliver, fetch);
  EXPECT_EQ(delivered.size(), 4U);
  EXPECT_TRUE(Put(0, 1, 12, 4, 4));
  memory_[1][16] = std::byte{5};
  EndEpoch();
  EXPECT_EQ(got[0], std::byte{0});
  members_[1].EndStart(1, 0, memory_[1].data());
  EXPECT_EQ(At(1, 0) + At(1, 4) + At(1, 8), 0);
  EXPECT_EQ(At(1, 12), 4);
}

TEST_F(ShortPutMailboxesTest, ValuesLieAsTheirLayoutsSay) {
  Random random(1);
  for (int trial = 0; trial < 200; ++trial) {
    const ListedLayout to = random.Layout(3);
    const auto bytes = static_cast<int64_t>(to.offsets.size());
    if (bytes == 0 || bytes > 1000) continue;
    const std::vector<std::byte> data = random.Bytes(bytes);
    std::vector<std::byte> memory(2 * kRoom);
    std::vector<std::byte> expected(2 * kRoom);
    const TypedLayout byte = Byte();
    LayoutCursor origin(&byte, bytes);
    LayoutCursor target(&to.layout, 1);
    ASSERT_TRUE(members_[0].PutFenced(1, &origin, data.data(), bytes, &target, kRoom));
    EndFence(0);
    members_[1].EndFence(memory.data());
    EndFence(2);
    for (int64_t i = 0; i < bytes; ++i) expected[kRoom + to.offsets[i]] = data[i];
    ASSERT_EQ(memory, expected) << trial;
  }
}

}  // namespace
}  // namespace brigade

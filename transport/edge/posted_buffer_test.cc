#include "transport/edge/posted_buffer.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/pack.h"
#include "membuf/rules.h"
#include "membuf/strided_layout.h"
#include "test/support/edge_link.h"
#include "test/support/stress.h"
#include "transport/host/process_watch.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_allocations.h"
#include "transport/host_memory/shared_segment.h"
#include "transport/rules.h"

namespace brigade {
namespace {

using Link = EdgeLink;

// --- buffers ---

constexpr size_t kBufferBytes = 100;

struct KernelBufferLink : Link {
  ProcessWatch watch;  // of none
  KernelBufferLink() {
    const KernelCopyRange range{kBufferBytes / 2, 2 * kBufferBytes};
    out->peer_memory().SetKernelCopies(getpid(), &watch, KernelCopies::Both(range));
    in->peer_memory().SetKernelCopies(getpid(), &watch, KernelCopies::Both(range));
    EXPECT_EQ(in->Peek(), nullptr);  // attaches it
  }
  bool Post(std::vector<uint8_t>* buffer) const {
    return in->PostBuffer(StridedLayout::Contiguous(buffer->size()),
                          reinterpret_cast<std::byte*>(buffer->data()));
  }
  bool SendToPostedBuffer(const std::vector<uint8_t>& data) const {
    const uint64_t head = data.size();
    return out->SendToPostedBuffer({reinterpret_cast<const std::byte*>(&head), sizeof(head)},
                                   StridedLayout::Contiguous(data.size()),
                                   reinterpret_cast<const std::byte*>(data.data()));
  }
};

TEST(PostedBufferTest, AMessageGoesToTheBufferThatIsPostedForIt) {
  KernelBufferLink link;
  const std::vector<uint8_t> data(kBufferBytes, 7);
  std::vector<uint8_t> buffer(kBufferBytes + 1, 9);
  EXPECT_FALSE(link.SendToPostedBuffer(data)) << "nothing is posted";
  for (int i = 0; i < 3 * kRingSlots; ++i) {
    std::fill(buffer.begin(), buffer.end(), 9);
    ASSERT_TRUE(link.Post(&buffer));
    ASSERT_TRUE(link.SendToPostedBuffer(data));
    EXPECT_FALSE(link.in->WithdrawBuffer()) << "its message comes";
    EXPECT_FALSE(link.SendToPostedBuffer(data)) << "it was posted for one";
    ASSERT_NE(link.in->Peek(), nullptr);
    EXPECT_EQ(link.in->Peek()->kind, Slot::kInPosted);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), buffer.begin()));
    EXPECT_EQ(buffer.back(), 9);
    link.Receive(kBufferBytes);
  }
}

TEST(PostedBufferTest, ABufferIsForTheNextMessageOnly) {
  KernelBufferLink link;
  const std::vector<uint8_t> data(kBufferBytes, 7);
  std::vector<uint8_t> buffer(kBufferBytes, 9);
  ASSERT_TRUE(link.Post(&buffer));
  link.Send(1);
  EXPECT_FALSE(link.SendToPostedBuffer(data));
  link.Receive(1);
  EXPECT_FALSE(link.SendToPostedBuffer(data));
  EXPECT_EQ(buffer, std::vector<uint8_t>(kBufferBytes, 9));
}

TEST(PostedBufferTest, ABufferThatWasWithdrawnIsNotWrittenTo) {
  KernelBufferLink link;
  std::vector<uint8_t> buffer(kBufferBytes, 9);
  ASSERT_TRUE(link.Post(&buffer));
  EXPECT_TRUE(link.in->WithdrawBuffer());
  EXPECT_FALSE(link.SendToPostedBuffer(std::vector<uint8_t>(kBufferBytes, 7)));
  EXPECT_EQ(buffer, std::vector<uint8_t>(kBufferBytes, 9));
}

TEST(PostedBufferTest, NoBufferIsTooShort) {
  KernelBufferLink link;
  std::vector<uint8_t> buffer(kBufferBytes, 9);
  ASSERT_TRUE(link.Post(&buffer));
  EXPECT_FALSE(link.SendToPostedBuffer(std::vector<uint8_t>(kBufferBytes + 1, 7)));
  EXPECT_TRUE(link.out->peer_memory().kernel_copies().writes.Holds(
      StridedLayout::Contiguous(kBufferBytes)));
  EXPECT_TRUE(link.in->WithdrawBuffer());
  EXPECT_EQ(buffer, std::vector<uint8_t>(kBufferBytes, 9));
  std::vector<uint8_t> shorter(kBufferBytes / 2 - 1);
  EXPECT_FALSE(link.Post(&shorter)) << "too short for any message that goes there";
}

// The system takes longer to find each of them than staging takes to copy it.
TEST(PostedBufferTest, ManyShortStretchesAreNoBuffer) {
  KernelBufferLink link;
  std::vector<uint8_t> buffer(2 * kBufferBytes, 9);
  StridedLayout layout;
  ASSERT_TRUE(StridedLayout::General(1, kBufferBytes, 2, 1, &layout).ok());
  EXPECT_FALSE(link.out->peer_memory().kernel_copies().writes.Holds(layout));
  EXPECT_FALSE(link.in->PostBuffer(layout, reinterpret_cast<std::byte*>(buffer.data())));
}

// A receiver that was killed has lent a buffer, and its number is another process' by now.
TEST(PostedBufferTest, MemoryOfAnEndedReceiverIsNotWritten) {
  KernelBufferLink link;
  const pid_t child = fork();
  if (child == 0) _exit(pause());
  link.watch = ProcessWatch(child);
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  std::vector<uint8_t> buffer(kBufferBytes, 9);
  ASSERT_TRUE(link.Post(&buffer));
  EXPECT_FALSE(link.SendToPostedBuffer(std::vector<uint8_t>(kBufferBytes, 7)));
  EXPECT_EQ(buffer, std::vector<uint8_t>(kBufferBytes, 9));
}

// A receiver whose memory cannot be written to is not tried again.
TEST(PostedBufferTest, AMessageThatTheKernelRefusesIsNotSent) {
  KernelBufferLink link;
  ASSERT_TRUE(link.out->peer_memory().kernel_copies().writes.Holds(
      StridedLayout::Contiguous(kBufferBytes)));
  ASSERT_TRUE(link.in->PostBuffer(StridedLayout::Contiguous(kBufferBytes), nullptr));
  EXPECT_FALSE(link.SendToPostedBuffer(std::vector<uint8_t>(kBufferBytes, 7)));
  EXPECT_FALSE(link.out->peer_memory().kernel_copies().writes.Holds(
      StridedLayout::Contiguous(kBufferBytes)));
  EXPECT_TRUE(link.in->WithdrawBuffer());
  link.Send(1);
  link.Receive(1);
}

TEST(PostedBufferTest, BuffersThatAreWithdrawnAndSentToAtOnce) {
  const int messages = StressRounds(20000, 1000000);
  const auto both_wait = [](int message) { return message % 16 == 0; };
  KernelBufferLink link;
  int posted = 0;
  std::thread sender([&] {
    for (int i = 0; i < messages; ++i) {
      const auto number = static_cast<uint64_t>(i);
      const auto& state = link.ring->posted.state;
      while (both_wait(i) && state != PostedBuffer::StateOf(number, PostedBuffer::kPosted)) {
        std::this_thread::yield();
      }
      const std::vector<uint8_t> data(kBufferBytes, static_cast<uint8_t>(i));
      if (link.SendToPostedBuffer(data)) continue;
      while (!link.out->HasRoom()) std::this_thread::yield();
      link.Send(number);
    }
  });
  for (int i = 0; i < messages; ++i) {
    std::vector<uint8_t> buffer(kBufferBytes, static_cast<uint8_t>(i + 1));
    ASSERT_TRUE(link.Post(&buffer));
    for (int poll = 0; poll < i % 7 && link.in->Peek() == nullptr; ++poll) {
      std::this_thread::yield();
    }
    const bool back = !both_wait(i) && link.in->WithdrawBuffer();
    while (link.in->Peek() == nullptr) std::this_thread::yield();
    const bool came_posted = link.in->Peek()->kind == Slot::kInPosted;
    ASSERT_EQ(came_posted, !back);
    ASSERT_EQ(buffer[kBufferBytes - 1], static_cast<uint8_t>(came_posted ? i : i + 1));
    link.Receive(came_posted ? kBufferBytes : static_cast<uint64_t>(i));
    posted += came_posted ? 1 : 0;
  }
  sender.join();
  EXPECT_GE(posted, messages / 16);
}

// --- buffers in shared memory ---

std::vector<uint8_t> Numbered(size_t bytes) {
  std::vector<uint8_t> data(bytes);
  for (size_t i = 0; i < bytes; ++i) data[i] = static_cast<uint8_t>(i * 7 + i / 251);
  return data;
}

TEST(PostedBufferTest, AMessageGoesToMemoryThatItsReceiverShares) {
  SharedBufferLink link;
  const std::vector<uint8_t> data = Numbered(kSharedBytes - 1);
  const StridedLayout layout = StridedLayout::Contiguous(data.size());
  EXPECT_FALSE(link.SendToPostedBuffer(data)) << "nothing is posted";
  for (int i = 0; i < 3 * kRingSlots; ++i) {
    EXPECT_FALSE(link.out->MayWritePostedBuffer(layout)) << "nothing is posted";
    std::fill_n(link.buffer, kSharedBytes, 9);
    ASSERT_TRUE(link.Post());
    EXPECT_TRUE(link.out->MayWritePostedBuffer(layout));
    ASSERT_TRUE(link.SendToPostedBuffer(data));
    EXPECT_FALSE(link.in->WithdrawBuffer()) << "its message comes";
    ASSERT_NE(link.in->Peek(), nullptr);
    EXPECT_EQ(link.in->Peek()->kind, Slot::kInPosted);
    EXPECT_TRUE(std::equal(data.begin(), data.end(), link.buffer));
    EXPECT_EQ(link.buffer[kSharedBytes - 1], 9);
    link.Receive(data.size());
  }
}

TEST(PostedBufferTest, OnlyAllocatedMemoryIsPosted) {
  SharedBufferLink link;
  std::vector<uint8_t> other(kSharedBytes);
  const StridedLayout layout = StridedLayout::Contiguous(kSharedBytes);
  EXPECT_FALSE(link.in->PostBuffer(layout, reinterpret_cast<std::byte*>(other.data())));
  EXPECT_FALSE(link.Post(StridedLayout::Contiguous(8 * kSharedBytes))) << "beyond its end";
  EXPECT_FALSE(link.Post(StridedLayout::Contiguous(rules::kLeastPostedBytes - 1)));
  EXPECT_TRUE(link.Post(StridedLayout::Contiguous(rules::kLeastPostedBytes)));
  EXPECT_TRUE(link.in->WithdrawBuffer());
  void* freed = nullptr;
  ASSERT_TRUE(SharedAllocations::Here().Allocate(kSharedBytes, &freed).ok());
  SharedAllocations::Here().Free(freed);
  EXPECT_FALSE(link.in->PostBuffer(layout, static_cast<std::byte*>(freed)));
}

TEST(PostedBufferTest, EitherSideOfASharedBufferMayBeStrided) {
  const StridedLayout plain = StridedLayout::Contiguous(kSharedBytes);
  constexpr size_t kHalf = kSharedBytes / 2;
  constexpr size_t kWide = rules::kLeastUnequalRunBytes;
  const struct {
    StridedLayout from;
    StridedLayout to;
    bool is_written;
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
    SharedBufferLink link;
    const size_t bytes = one.from.bytes();
    const std::vector<uint8_t> data = Numbered(2 * kSharedBytes);
    std::vector<std::byte> packed(bytes);
    CopyIn(packed.data(), one.from, reinterpret_cast<const std::byte*>(data.data()), 0, bytes);
    std::vector<uint8_t> expected(2 * kSharedBytes, 9);
    CopyOut(one.to, reinterpret_cast<std::byte*>(expected.data()), 0, one.is_written ? bytes : 0,
            packed.data());
    ASSERT_TRUE(link.Post(one.to));
    EXPECT_EQ(link.SendToPostedBuffer(data, one.from), one.is_written)
        << one.from.run_bytes() << " to " << one.to.run_bytes();
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), link.buffer))
        << one.from.run_bytes() << " to " << one.to.run_bytes();
  }
}

// Whatever the receiver has written: nothing is sent, and the message goes another way.
TEST(PostedBufferTest, WrongDescriptionsOfASharedBufferAreRefused) {
  SharedBufferLink link;
  const std::vector<uint8_t> data = Numbered(kSharedBytes);
  const uint64_t reserve = SharedAllocations::Here().Find(link.buffer, 1)->address().reserve_bytes;
  const auto stretches = [](uint64_t stretch_bytes, uint64_t stride_bytes) {
    return [=](PostedBuffer* buffer) {
      buffer->memory.stretch_bytes = stretch_bytes;
      buffer->memory.stride_bytes = stride_bytes;
    };
  };
  const std::function<void(PostedBuffer*)> wrong[] = {
      [&](PostedBuffer* buffer) { buffer->offset = reserve - kSharedBytes + 1; },
      [&](PostedBuffer* buffer) { buffer->offset = reserve - kSharedBytes; },
      [](PostedBuffer* buffer) { buffer->offset = UINT64_MAX; },
      [](PostedBuffer* buffer) { buffer->offset = 0; },
      [](PostedBuffer* buffer) { buffer->memory.bytes = kSharedBytes - 1; },
      stretches(0, 0),
      stretches(0, kSharedBytes),
      stretches(8, 1),
      stretches(8, reserve / (kSharedBytes / 8)),
      stretches(8, UINT64_MAX / 8),
      stretches(8, UINT64_MAX),
      stretches(kSharedBytes - 1, uint64_t{1} << 62),
      stretches(kSharedBytes - 1, INT64_MAX),
      [](PostedBuffer* buffer) { buffer->segment.token[1] ^= 1; },
      [](PostedBuffer* buffer) { buffer->segment = SharedSegment::Address(); },
  };
  for (size_t i = 0; i < std::size(wrong); ++i) {
    ASSERT_TRUE(link.Post());
    wrong[i](link.posted());
    EXPECT_FALSE(link.SendToPostedBuffer(data)) << i;
    EXPECT_TRUE(link.in->WithdrawBuffer());
    EXPECT_EQ(link.buffer[0], 9) << i;
    link.Send(i);
    link.Receive(i);
  }
  ASSERT_TRUE(link.Post());
  EXPECT_TRUE(link.SendToPostedBuffer(data)) << "the right one is opened again";
  EXPECT_TRUE(std::equal(data.begin(), data.end(), link.buffer));
}

TEST(PostedBufferTest, TheKernelCopiesIfMappingFails) {
  SharedBufferLink link;
  const ProcessWatch none;
  const KernelCopyRange range{kSharedBytes / 2, 2 * kSharedBytes};
  link.out->peer_memory().SetKernelCopies(getpid(), &none, KernelCopies::Both(range));
  link.in->peer_memory().SetKernelCopies(getpid(), &none, KernelCopies::Both(range));
  const std::vector<uint8_t> data = Numbered(kSharedBytes);
  ASSERT_TRUE(link.Post());
  link.posted()->segment.token[0] ^= 1;
  ASSERT_TRUE(link.SendToPostedBuffer(data));
  EXPECT_TRUE(std::equal(data.begin(), data.end(), link.buffer));
}

// Of both, mapped and by the kernel, whose lengths are those of the rest.
TEST(PostedBufferTest, TheRestOfAMatrixGoesToItsPlace) {
  constexpr size_t kFrom = kSharedBytes / 2 + 5;
  const std::vector<uint8_t> data = Numbered(kSharedBytes);
  const auto* const base = reinterpret_cast<const std::byte*>(data.data());
  const StridedLayout layout = StridedLayout::Contiguous(kSharedBytes);
  for (const bool by_kernel : {false, true}) {
    SharedBufferLink link;
    const ProcessWatch none;
    const KernelCopyRange range{kSharedBytes / 4, kSharedBytes};
    const KernelCopyRange shorter{kSharedBytes / 4, kSharedBytes - 1};
    EXPECT_FALSE(shorter.Holds(layout, kFrom)) << "the rest of a message that is too long";
    if (by_kernel) {
      link.out->peer_memory().SetKernelCopies(getpid(), &none, KernelCopies::Both(range));
      link.in->peer_memory().SetKernelCopies(getpid(), &none, KernelCopies::Both(range));
    }
    ASSERT_TRUE(link.Post());
    if (by_kernel) link.posted()->segment.token[0] ^= 1;
    EXPECT_FALSE(
        link.out->MayWritePostedBuffer(layout, kSharedBytes - rules::kLeastPostedBytes + 1));
    EXPECT_TRUE(link.out->MayWritePostedBuffer(layout, kFrom));
    ASSERT_TRUE(link.out->SendToPostedBuffer(ConstByteSpan(), layout, base, kFrom));
    EXPECT_EQ(link.buffer[kFrom - 1], 9);
    EXPECT_TRUE(std::equal(data.begin() + kFrom, data.end(), link.buffer + kFrom));
    ASSERT_NE(link.in->Peek(), nullptr);
    EXPECT_EQ(link.in->Inline(*link.in->Peek()).bytes, 0u);
  }
}

TEST(PostedBufferTest, IsForMemoryThatOthersReach) {
  SharedBufferLink link;
  const auto* const shared = reinterpret_cast<const std::byte*>(link.buffer);
  const std::vector<std::byte> own(kSharedBytes);
  const StridedLayout layout = StridedLayout::Contiguous(kSharedBytes);
  const KernelCopyRange longer{kSharedBytes + 1, 2 * kSharedBytes};
  EXPECT_TRUE(PostedBuffer::IsFor(layout, shared, longer));
  EXPECT_FALSE(PostedBuffer::IsFor(layout, own.data(), longer));
  EXPECT_TRUE(PostedBuffer::IsFor(layout, own.data(), {kSharedBytes, kSharedBytes}));
  EXPECT_FALSE(
      PostedBuffer::IsFor(StridedLayout::Contiguous(rules::kLeastPostedBytes - 1), shared, longer));
}

// A process with its own mapping, the case that matters. The result is its exit code.
TEST(PostedBufferTest, AnotherProcessMapsTheBuffer) {
  SharedBufferLink link;
  const std::vector<uint8_t> data = Numbered(kSharedBytes);
  ASSERT_TRUE(link.Post());
  const pid_t child = fork();
  if (child == 0) {
    SharedSegment::Address& address = link.posted()->segment;
    const SharedSegment::Address right = address;
    address.descriptor = -1;
    if (link.SendToPostedBuffer(data)) _exit(1);
    address = right;
    link.posted()->state = PostedBuffer::StateOf(0, PostedBuffer::kPosted);
    if (!link.SendToPostedBuffer(data)) _exit(2);
    std::shared_ptr<SharedSegment> theirs;
    if (!SharedSegment::Open(right, &theirs).ok()) _exit(3);
    _exit(theirs == SharedAllocations::Here().Find(link.buffer, 1) ? 4 : 0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  ASSERT_NE(link.in->Peek(), nullptr);
  EXPECT_TRUE(std::equal(data.begin(), data.end(), link.buffer));
  link.Receive(data.size());
}
}  // namespace
}  // namespace brigade

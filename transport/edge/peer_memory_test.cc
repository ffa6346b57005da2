#include "transport/edge/peer_memory.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "test/support/edge_link.h"
#include "transport/host/process_watch.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/host_memory/shared_segment.h"
#include "transport/host_memory/shared_source.h"

namespace brigade {
namespace {

TEST(PeerMemoryTest, MapRefusesWrongDescriptionsOfAPeer) {
  SharedBufferLink link;
  PeerMemory memory;
  StridedLayout layout;
  const SharedSource source =
      SharedSource::Of(Columns(8), reinterpret_cast<const std::byte*>(link.buffer));
  const SharedSegment::Address& segment = source.segment->address();
  const auto* const data = reinterpret_cast<const std::byte*>(link.buffer);
  ASSERT_EQ(memory.Map(source.memory, segment, source.offset, &layout), data);
  EXPECT_EQ(layout.bytes(), source.memory.bytes);
  EXPECT_EQ(layout.run_bytes(), source.memory.stretch_bytes);
  EXPECT_EQ(memory.Map(source.memory, segment, segment.reserve_bytes - 8, &layout), nullptr);
  RemoteStretches wrong = source.memory;
  wrong.stretch_bytes = 0;
  EXPECT_EQ(memory.Map(wrong, segment, source.offset, &layout), nullptr);
  SharedSegment::Address other = segment;
  other.token[0] ^= 1;
  EXPECT_EQ(memory.Map(source.memory, other, source.offset, &layout), nullptr);
}

// Whether it reads memory of this process, as that of `process`.
bool MayRead(PeerMemory* peer, pid_t process, const ProcessWatch* watch, const void* memory,
             const StridedLayout& from, const StridedLayout& to) {
  peer->SetKernelCopies(process, watch, KernelCopies::Both({1000, 2000}));
  RemoteStretches stretches;
  EXPECT_TRUE(AsStretches(from, static_cast<const std::byte*>(memory), &stretches));
  return peer->ProbeRead(stretches, to);
}

// Of two pages the first, and then both are gone.
TEST(PeerMemoryTest, TheKernelReadsLongStretchesThatItDoesNotRefuse) {
  const ProcessWatch none;
  const std::vector<uint8_t> data(2 * kSharedBytes);  // with gaps
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  void* const pages =
      mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const StridedLayout both = StridedLayout::Contiguous(2 * page);
  const StridedLayout few = Columns(1000);
  const StridedLayout many = Columns(999);
  {
    PeerMemory peer;
    const auto may_read = [&](const void* memory, const StridedLayout& from,
                              const StridedLayout& to) {
      return MayRead(&peer, getpid(), &none, memory, from, to);
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
  PeerMemory peer;
  EXPECT_FALSE(MayRead(&peer, child, &ended, data.data(), few, few));
  EXPECT_FALSE(MayRead(&peer, getpid(), &none, data.data(), few, few)) << "it is not tried again";
}

}  // namespace
}  // namespace brigade

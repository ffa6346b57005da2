// Memory of a SharedSegment for the program, which is charged to the system when it is touched.

#include <sys/stat.h>
#include <sys/statfs.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "gtest/gtest.h"
#include "membuf/status.h"
#include "transport/host_memory/shared_segment.h"

namespace brigade {
namespace {

constexpr size_t kPage = 4096;

std::shared_ptr<SharedSegment> NewSegment() {
  std::shared_ptr<SharedSegment> segment;
  const Status status = SharedSegment::Create(&segment);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return segment;
}

size_t ChargedBytes(const SharedSegment& segment) {
  struct stat info {};
  EXPECT_EQ(fstat(segment.address().descriptor, &info), 0);
  return static_cast<size_t>(info.st_blocks) * 512;
}

// MPI_Alloc_mem of memory that is never touched takes none; docs/user/rma.md.
TEST(MemoryOnTouch, MemoryForTheProgramIsChargedWhenItIsTouched) {
  const auto segment = NewSegment();
  const size_t charged = ChargedBytes(*segment);
  const size_t allocated = segment->allocated_bytes();
  const auto look = [](size_t) { return false; };
  constexpr size_t kBytes = 100 * kPage - 1;
  uint64_t first = 0;
  for (int round = 0; round < 3; ++round) {
    uint64_t at = 0;
    ASSERT_TRUE(segment->AllocateForUser(kBytes, &at, look, /*overcommits=*/true).ok());
    if (round == 0) first = at;
    EXPECT_EQ(at, first) << "freed memory is used again";
    EXPECT_EQ(segment->allocated_bytes(), allocated + 100 * kPage);
    EXPECT_EQ(ChargedBytes(*segment), charged);
    std::byte* const memory = segment->At(at, kBytes);
    ASSERT_EQ(memory, segment->base() + at);
    memory[5 * kPage] = std::byte{1};
    EXPECT_GE(ChargedBytes(*segment), charged + kPage);
    for (size_t b = 0; b < kBytes; ++b) ASSERT_EQ(memory[b], std::byte(b == 5 * kPage ? 1 : 0));
    segment->Free(at, kBytes);
    EXPECT_EQ(ChargedBytes(*segment), charged);
    EXPECT_EQ(segment->allocated_bytes(), allocated);
  }
}

// There, to touch a page that the system cannot back is a signal.
TEST(MemoryOnTouch, MemoryForTheProgramIsChargedAtOnceWhereTheSystemDoesNotOvercommit) {
  const auto segment = NewSegment();
  const size_t charged = ChargedBytes(*segment);
  uint64_t at = 0;
  const auto enough = [](size_t) { return true; };
  ASSERT_TRUE(segment->AllocateForUser(100 * kPage, &at, enough, /*overcommits=*/false).ok());
  EXPECT_EQ(ChargedBytes(*segment), charged + 100 * kPage);
  const auto none = [](size_t) { return false; };
  EXPECT_EQ(segment->AllocateForUser(200 << 20, &at, none, /*overcommits=*/false).code(),
            StatusCode::kOutOfMemory);
}

// A full /dev/shm therefore ends no process.
TEST(MemoryOnTouch, NoFileSystemLimitsIt) {
  struct statfs info {};
  ASSERT_EQ(fstatfs(NewSegment()->address().descriptor, &info), 0);
  EXPECT_EQ(info.f_blocks, 0u);
}

}  // namespace
}  // namespace brigade

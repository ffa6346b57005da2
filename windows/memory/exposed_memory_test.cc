#include "windows/memory/exposed_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "membuf/available_memory.h"
#include "transport/host_memory/shared_segment.h"
#include "windows/memory/member.h"
#include "windows/memory/member_page.h"

namespace brigade {
namespace {

constexpr int kMembers = 5;
constexpr MailboxSize kSize = {192, 100 << 10};

TEST(ExposedMemoryTest, SharedMemoryIsMadeHere) {
  for (const size_t bytes : {0, 1, 4096, 1000000}) {
    std::unique_ptr<ExposedMemory> exposed;
    ASSERT_TRUE(ExposedMemory::Create(WindowMemory::kShared, nullptr, bytes, 8, kMembers, &exposed,
                                      nullptr, kSize)
                    .ok());
    const MemberAttributes& attributes = exposed->attributes();
    EXPECT_TRUE(attributes.host == Host::Here());
    EXPECT_EQ(attributes.kind, WindowMemory::kShared);
    EXPECT_EQ(attributes.bytes, bytes);
    EXPECT_EQ(attributes.unit, 8);
    // Programs have many windows.
    EXPECT_LE(attributes.segment.reserve_bytes, bytes + size_t{4} * 4096);
    ASSERT_NE(exposed->base(), nullptr);
    EXPECT_EQ(reinterpret_cast<uint64_t>(exposed->base()) % 4096, 0U);
    for (size_t i = 0; i < bytes; ++i) ASSERT_EQ(exposed->base()[i], std::byte{0});
    std::memset(exposed->base(), 0x5a, bytes);
    EXPECT_EQ(exposed->page().combining().holder(), -1);
    EXPECT_FALSE(exposed->page().locks().Holds(kMembers - 1));
    EXPECT_EQ(exposed->page().notified(kMembers - 1).load(), 0U);
  }
}

TEST(ExposedMemoryTest, PrivateMemoryIsTheUsers) {
  std::byte memory[100];
  std::unique_ptr<ExposedMemory> exposed;
  ASSERT_TRUE(
      ExposedMemory::Create(WindowMemory::kPrivate, memory, sizeof(memory), 1, kMembers, &exposed)
          .ok());
  EXPECT_EQ(exposed->base(), memory);
  EXPECT_EQ(exposed->attributes().address, reinterpret_cast<uint64_t>(memory));
  EXPECT_EQ(exposed->attributes().kind, WindowMemory::kPrivate);
  EXPECT_EQ(exposed->page().queueing().holder(), -1);
}

Status CreateShared(size_t bytes, std::unique_ptr<ExposedMemory>* exposed) {
  return ExposedMemory::Create(WindowMemory::kShared, nullptr, bytes, 1, kMembers, exposed);
}

// Of memory that is there.
size_t BytesIn(const ExposedMemory& exposed) {
  struct stat info {};
  EXPECT_EQ(fstat(exposed.attributes().segment.descriptor, &info), 0);
  return static_cast<size_t>(info.st_blocks) * 512;
}

TEST(ExposedMemoryTest, MailboxesHaveMemoryOnceItIsMade) {
  std::byte memory[100];
  std::unique_ptr<ExposedMemory> exposed;
  ASSERT_TRUE(ExposedMemory::Create(WindowMemory::kPrivate, memory, sizeof(memory), 1, kMembers,
                                    &exposed, nullptr, kSize)
                  .ok());
  const MemberAttributes& attributes = exposed->attributes();
  EXPECT_EQ(attributes.mailbox_bytes, kSize.front_bytes + kSize.boxes_bytes);
  EXPECT_GE(attributes.memory_offset, attributes.page_offset + MemberPage::BytesFor(kMembers));
  std::shared_ptr<SharedSegment> segment;
  ASSERT_TRUE(SharedSegment::Open(attributes.segment, &segment).ok());
  std::byte* const area = segment->At(attributes.memory_offset, attributes.mailbox_bytes);
  ASSERT_NE(area, nullptr);
  for (size_t i = 0; i < kSize.front_bytes; ++i) ASSERT_EQ(area[i], std::byte{0}) << i;
  const size_t before = BytesIn(*exposed);
  EXPECT_LE(before, size_t{3} * 4096);
  ASSERT_TRUE(exposed->MakeBoxes(kSize).ok());
  EXPECT_EQ(BytesIn(*exposed), before + kSize.boxes_bytes);
  std::memset(area, 1, attributes.mailbox_bytes);
  EXPECT_EQ(exposed->page().combining().holder(), -1);
}

// As MPI_Alloc_mem's is. The library's own memory is charged at once.
TEST(ExposedMemoryTest, SharedMemoryIsChargedWhenItIsTouched) {
  if (!MayOvercommit()) GTEST_SKIP() << "vm.overcommit_memory is 2";
  constexpr size_t kBytes = size_t{1} << 30;
  std::unique_ptr<ExposedMemory> exposed;
  ASSERT_TRUE(CreateShared(kBytes, &exposed).ok());
  const size_t untouched = BytesIn(*exposed);
  EXPECT_GE(untouched, MemberPage::BytesFor(kMembers));
  EXPECT_LE(untouched, kBytes / 100);
  exposed->base()[kBytes - 1] = std::byte{1};
  EXPECT_GE(BytesIn(*exposed), untouched + 4096);
  EXPECT_LE(BytesIn(*exposed), kBytes / 100);
  EXPECT_EQ(exposed->base()[0], std::byte{0});

  MemberAttributes first;
  const std::vector<size_t> parts(kMembers, kBytes / kMembers);
  ASSERT_TRUE(ExposedMemory::CreatePart(0, parts, 1, &first, &exposed).ok());
  EXPECT_GE(BytesIn(*exposed), kMembers * MemberPage::BytesFor(kMembers));
  EXPECT_LE(BytesIn(*exposed), kBytes / 100);
  std::unique_ptr<ExposedMemory> last;
  ASSERT_TRUE(ExposedMemory::CreatePart(kMembers - 1, parts, 1, &first, &last).ok());
  EXPECT_EQ(last->base(), exposed->base() + (kMembers - 1) * (kBytes / kMembers));
  last->base()[kBytes / kMembers - 1] = std::byte{1};
}

// Both run in a child under a limit of 1 MiB, so that nothing happens to the machine if they fail.
// The child's exit code says what was wrong.
int UnderLimit(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{1 << 20, 1 << 20};
    _exit(setrlimit(RLIMIT_FSIZE, &limit) == 0 ? body() : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

TEST(ExposedMemoryTest, MoreMemoryThanThereIsIsAnError) {
  for (const size_t bytes : {size_t{1} << 46, size_t{1} << 62, SIZE_MAX - 5000, SIZE_MAX}) {
    const int status = UnderLimit([&] {
      std::unique_ptr<ExposedMemory> exposed;
      const Status created = CreateShared(bytes, &exposed);
      if (created.code() != StatusCode::kOutOfMemory || exposed != nullptr) return 2;
      return created.message().find("are available") == std::string::npos ? 3 : 0;
    });
    EXPECT_EQ(status, 0) << bytes;
  }
}

TEST(ExposedMemoryTest, MailboxesThatDoNotFitAreNone) {
  const int status = UnderLimit([] {
    std::byte memory[100];
    std::unique_ptr<ExposedMemory> exposed;
    const Status created = ExposedMemory::Create(WindowMemory::kPrivate, memory, sizeof(memory), 1,
                                                 kMembers, &exposed, nullptr, {192, 2 << 20});
    if (!created.ok()) return 2;
    return exposed->attributes().mailbox_bytes == 0 ? 0 : 3;
  });
  EXPECT_EQ(status, 0);
}

TEST(ExposedMemoryTest, MemoryBeyondALimitIsAnError) {
  const int status = UnderLimit([] {
    std::unique_ptr<ExposedMemory> exposed;
    if (CreateShared(2 << 20, &exposed).code() != StatusCode::kOutOfMemory) return 2;
    if (!CreateShared(1 << 19, &exposed).ok()) return 3;
    std::memset(exposed->base(), 1, 1 << 19);
    return 0;
  });
  EXPECT_EQ(status, 0);
}

// It is allocated in several steps.
TEST(ExposedMemoryTest, LargeMemoryIsInOnePiece) {
  constexpr size_t kBytes = (200 << 20) + 5;
  std::unique_ptr<ExposedMemory> exposed;
  const Status status = CreateShared(kBytes, &exposed);
  ASSERT_TRUE(status.ok()) << status.ToString();
  for (size_t i = 0; i < kBytes; i += 4096) exposed->base()[i] = std::byte{1};
  exposed->base()[kBytes - 1] = std::byte{1};
}

}  // namespace
}  // namespace brigade

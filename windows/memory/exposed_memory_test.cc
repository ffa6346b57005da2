#include "windows/memory/exposed_memory.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

namespace brigade {
namespace {

constexpr int kMembers = 5;

TEST(ExposedMemoryTest, SharedMemoryIsMadeHere) {
  for (const size_t bytes : {0, 1, 4096, 1000000}) {
    std::unique_ptr<ExposedMemory> exposed;
    ASSERT_TRUE(
        ExposedMemory::Create(WindowMemory::kShared, nullptr, bytes, 8, kMembers, &exposed).ok());
    const MemberAttributes& attributes = exposed->attributes();
    EXPECT_TRUE(attributes.host == Host::Here());
    EXPECT_EQ(attributes.kind, WindowMemory::kShared);
    EXPECT_EQ(attributes.bytes, bytes);
    EXPECT_EQ(attributes.unit, 8);
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

TEST(ExposedMemoryTest, MoreMemoryThanThereIsIsAnError) {
  for (const size_t bytes : {size_t{1} << 46, size_t{1} << 62, SIZE_MAX - 5000, SIZE_MAX}) {
    std::unique_ptr<ExposedMemory> exposed;
    const Status status =
        ExposedMemory::Create(WindowMemory::kShared, nullptr, bytes, 1, kMembers, &exposed);
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.ToString();
    EXPECT_EQ(exposed, nullptr);
  }
}

// Runs in a child under a limit of 1 MiB; the exit code says what happened.
TEST(ExposedMemoryTest, MemoryBeyondALimitIsAnError) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{1 << 20, 1 << 20};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) _exit(1);
    std::unique_ptr<ExposedMemory> exposed;
    const auto create = [&](size_t bytes) {
      return ExposedMemory::Create(WindowMemory::kShared, nullptr, bytes, 1, kMembers, &exposed);
    };
    if (create(2 << 20).code() != StatusCode::kOutOfMemory) _exit(2);
    if (!create(1 << 19).ok()) _exit(3);
    std::memset(exposed->base(), 1, 1 << 19);
    _exit(0);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace brigade

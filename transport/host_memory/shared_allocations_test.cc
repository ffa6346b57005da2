#include "transport/host_memory/shared_allocations.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/available_memory.h"
#include "transport/host_memory/shared_segment.h"
#include "transport/rules.h"

namespace brigade {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kHugePage = size_t{2} << 20;  // some systems charge as much for the first byte

std::byte* Allocate(SharedAllocations* allocations, size_t bytes) {
  void* memory = nullptr;
  const Status status = allocations->Allocate(bytes, &memory);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return static_cast<std::byte*>(memory);
}

// Returns the exit status of a forked process that runs `body`.
int InChild(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return status;
}

// Programs allocate a few bytes for each of many operations.
TEST(SharedAllocations, ShortAllocationsDoNotQueryTheSystem) {
  SharedAllocations allocations;
  std::vector<std::byte*> all;
  for (int i = 0; i < 100; ++i) {
    all.push_back(Allocate(&allocations, 64));
    EXPECT_EQ(allocations.looks(), 1);
  }
  for (std::byte* const memory : all) EXPECT_TRUE(allocations.Free(memory));
}

// Others may take as much at the same time.
TEST(SharedAllocations, LongAllocationsQueryTheSystemAgain) {
  SharedAllocations allocations(/*overcommits=*/false);
  constexpr size_t kBytes = size_t{200} << 20;
  std::byte* const memory = Allocate(&allocations, kBytes);
  EXPECT_GE(allocations.looks(), 4);
  memory[kBytes - 1] = std::byte{1};
  EXPECT_TRUE(allocations.Free(memory));
}

// Bytes of the segment that are charged to the system.
size_t ChargedBytes(const SharedSegment& segment) {
  struct stat info {};
  EXPECT_EQ(fstat(segment.address().descriptor, &info), 0);
  return static_cast<size_t>(info.st_blocks) * 512;
}

// Programs allocate much that they never touch.
TEST(SharedAllocations, MemoryIsChargedWhenItIsTouched) {
  constexpr size_t kBytes = size_t{1} << 30;
  SharedAllocations allocations(/*overcommits=*/true);
  std::byte* memory = Allocate(&allocations, kBytes);
  const std::shared_ptr<SharedSegment> segment = allocations.Find(memory, kBytes);
  ASSERT_NE(segment, nullptr);
  const size_t untouched = ChargedBytes(*segment);
  EXPECT_LE(untouched, kHugePage) << "what the segment itself has";
  EXPECT_EQ(segment->At(static_cast<uint64_t>(memory - segment->base()), kBytes), memory)
      << "others can map all of it";
  memory[0] = memory[kBytes / 2] = memory[kBytes - 1] = std::byte{1};
  EXPECT_GE(ChargedBytes(*segment), untouched + 3 * kPage);
  EXPECT_LE(ChargedBytes(*segment), untouched + 3 * kHugePage);
  EXPECT_TRUE(allocations.Free(memory));
  EXPECT_EQ(ChargedBytes(*segment), untouched) << "what is too much to be kept goes back";
  EXPECT_EQ(Allocate(&allocations, kBytes), memory) << "in the same place";
  EXPECT_EQ(ChargedBytes(*segment), untouched);
  EXPECT_EQ(memory[0], std::byte{0});
}

// There, touching memory that the system cannot back is a signal.
TEST(SharedAllocations, MemoryIsChargedAtOnceWithoutOvercommit) {
  constexpr size_t kBytes = size_t{64} << 20;
  SharedAllocations allocations(/*overcommits=*/false);
  for (const size_t bytes : {kBytes, size_t{1}}) {
    std::byte* const memory = Allocate(&allocations, bytes);
    const std::shared_ptr<SharedSegment> segment = allocations.Find(memory, bytes);
    ASSERT_NE(segment, nullptr);
    EXPECT_EQ(ChargedBytes(*segment), segment->allocated_bytes());
  }
}

// Memory that the program touched since the last look is gone; untouched memory is still there.
TEST(SharedAllocations, EachLargeOneLooksAtTheSystem) {
  SharedAllocations allocations(/*overcommits=*/true);
  const size_t part = AvailableMemory(Swapping::kAllowed) / 100;
  for (int i = 1; i <= 120; ++i) {
    Allocate(&allocations, part);
    EXPECT_EQ(allocations.looks(), i);
  }
}

TEST(SharedAllocations, SeveralOfModerateLengthShareAQuery) {
  SharedAllocations allocations(/*overcommits=*/true);
  const size_t part = AvailableMemory(Swapping::kAllowed) / 1000;
  for (int i = 1; i <= 120; ++i) Allocate(&allocations, part);
  EXPECT_LE(allocations.looks(), 20);
}

// A list of elements that are allocated one by one.
TEST(SharedAllocations, ShortOnesSharePages) {
  SharedAllocations allocations;
  constexpr size_t kElements = 10000;
  std::vector<std::byte*> elements;
  for (size_t i = 0; i < kElements; ++i) {
    std::byte* const element = Allocate(&allocations, 24);
    ASSERT_EQ(reinterpret_cast<uintptr_t>(element) % 64, 0u);
    std::memset(element, static_cast<int>(i % 256), 24);
    elements.push_back(element);
  }
  const std::shared_ptr<SharedSegment> segment = allocations.Find(elements[0], 24);
  ASSERT_NE(segment, nullptr);
  EXPECT_LE(segment->allocated_bytes(), (kElements / 64 + 2) * kPage);
  for (size_t i = 0; i < kElements; ++i) {
    EXPECT_EQ(allocations.Find(elements[i], 24), segment);
    ASSERT_EQ(elements[i][0], static_cast<std::byte>(i % 256));
    ASSERT_EQ(elements[i][23], static_cast<std::byte>(i % 256));
  }
  for (size_t i = 0; i < kElements; i += 2) EXPECT_TRUE(allocations.Free(elements[i]));
  const size_t before = segment->allocated_bytes();
  for (size_t i = 0; i < kElements; i += 2) elements[i] = Allocate(&allocations, 24);
  EXPECT_EQ(segment->allocated_bytes(), before) << "freed slots are given again";
  EXPECT_EQ(std::set<std::byte*>(elements.begin(), elements.end()).size(), kElements);
  for (size_t i = 1; i < kElements; i += 2) {
    ASSERT_EQ(elements[i][0], static_cast<std::byte>(i % 256));
  }
  for (std::byte* const element : elements) EXPECT_TRUE(allocations.Free(element));
  EXPECT_LE(segment->allocated_bytes(), (rules::kMostKeptBlocks + 1) * kPage);
  EXPECT_EQ(allocations.Find(elements[0], 24), nullptr);
}

TEST(SharedAllocations, AShortOneIsAlignedToItsLength) {
  SharedAllocations allocations;
  for (size_t bytes = 1; bytes <= 2 * kPage; bytes += 7) {
    std::byte* const memory = Allocate(&allocations, bytes);
    size_t alignment = 64;
    while (alignment < bytes && alignment < kPage) alignment *= 2;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u) << bytes;
    std::memset(memory, 1, bytes);
  }
}

TEST(SharedAllocations, FindsAndFreesNoPartOfAnotherShortOne) {
  SharedAllocations allocations;
  std::byte* const first = Allocate(&allocations, 100);
  std::byte* const second = Allocate(&allocations, 100);
  ASSERT_EQ(second, first + 128);
  EXPECT_NE(allocations.Find(first, 128), nullptr);
  EXPECT_NE(allocations.Find(first + 100, 28), nullptr);
  EXPECT_EQ(allocations.Find(first, 129), nullptr) << "of two";
  EXPECT_EQ(allocations.Find(first, SIZE_MAX), nullptr);
  EXPECT_EQ(allocations.Find(second + 128, 1), nullptr) << "nobody's";
  EXPECT_FALSE(allocations.Free(first + 64)) << "none begins there";
  EXPECT_FALSE(allocations.Free(second + 128)) << "nobody's";
  EXPECT_TRUE(allocations.Free(first));
  EXPECT_FALSE(allocations.Free(first)) << "twice";
  EXPECT_EQ(allocations.Find(first, 1), nullptr);
  EXPECT_NE(allocations.Find(second, 100), nullptr);
  EXPECT_TRUE(allocations.Free(second));
  EXPECT_FALSE(allocations.Free(second)) << "its page is nobody's either";
}

TEST(SharedAllocations, FindsRangesInsideOneBlock) {
  SharedAllocations allocations;
  EXPECT_EQ(allocations.Find(&allocations, 1), nullptr);
  std::byte* const first = Allocate(&allocations, 2 * kPage);
  std::byte* const second = Allocate(&allocations, kPage);
  const std::shared_ptr<SharedSegment> segment = allocations.Find(first, 2 * kPage);
  ASSERT_NE(segment, nullptr);
  EXPECT_TRUE(segment->Contains(first, 2 * kPage));
  EXPECT_EQ(allocations.Find(first + 5, 2 * kPage - 5), segment);
  EXPECT_EQ(allocations.Find(second + kPage - 1, 1), segment);
  EXPECT_EQ(allocations.Find(first, 2 * kPage + 1), nullptr) << "of two blocks, or beyond";
  EXPECT_EQ(allocations.Find(first, SIZE_MAX), nullptr);
  EXPECT_EQ(allocations.Find(first - 1, 2), nullptr);
  EXPECT_EQ(allocations.Find(second + kPage, 1), nullptr);
  EXPECT_EQ(allocations.Find(first, 0), nullptr);
  int elsewhere = 0;
  EXPECT_EQ(allocations.Find(&elsewhere, sizeof(elsewhere)), nullptr);
  EXPECT_FALSE(allocations.Free(&elsewhere));
  EXPECT_FALSE(allocations.Free(first + kPage)) << "no block begins there";
  EXPECT_TRUE(allocations.Free(first));
  EXPECT_EQ(allocations.Find(first, 1), nullptr) << "it is kept, and nobody's";
  EXPECT_FALSE(allocations.Free(first)) << "twice";
  EXPECT_EQ(allocations.Find(second, kPage), segment);
}

TEST(SharedAllocations, FreedMemoryIsReused) {
  SharedAllocations allocations;
  std::byte* const first = Allocate(&allocations, 5 * kPage);
  std::byte* const second = Allocate(&allocations, 5 * kPage);
  allocations.Free(first);
  allocations.Free(second);
  EXPECT_NE(Allocate(&allocations, 4 * kPage), first);
  EXPECT_EQ(Allocate(&allocations, 5 * kPage - 1), second) << "the warmest";
  EXPECT_EQ(Allocate(&allocations, 5 * kPage), first);
  EXPECT_NE(allocations.Find(first, 5 * kPage), nullptr);
}

TEST(SharedAllocations, LittleIsKept) {
  SharedAllocations allocations;
  std::byte* const stays = Allocate(&allocations, kPage);
  const std::shared_ptr<SharedSegment> segment = allocations.Find(stays, 1);
  const size_t before = segment->allocated_bytes();
  std::vector<std::byte*> many(3 * rules::kMostKeptBlocks);
  for (std::byte*& memory : many) memory = Allocate(&allocations, kPage);
  for (std::byte* const memory : many) allocations.Free(memory);
  EXPECT_EQ(segment->allocated_bytes(), before + rules::kMostKeptBlocks * kPage);

  std::byte* const huge = Allocate(&allocations, rules::kMostKeptBytes + 1);
  allocations.Free(huge);
  EXPECT_EQ(segment->allocated_bytes(), before + rules::kMostKeptBlocks * kPage);
  EXPECT_EQ(Allocate(&allocations, kPage), many.back()) << "the small ones stay";

  std::vector<std::byte*> large(3);
  for (std::byte*& memory : large) memory = Allocate(&allocations, rules::kMostKeptBytes / 2);
  for (std::byte* const memory : large) allocations.Free(memory);
  EXPECT_EQ(segment->allocated_bytes(), before + kPage + rules::kMostKeptBytes);
}

TEST(SharedAllocations, MoreThanThereIsIsAnError) {
  SharedAllocations allocations;
  for (const size_t bytes : {size_t{1} << 60, size_t{1} << 62, SIZE_MAX - 5, SIZE_MAX}) {
    void* memory = nullptr;
    const Status status = allocations.Allocate(bytes, &memory);
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_NE(status.message().find(std::to_string(bytes) + " bytes are more"), std::string::npos);
    EXPECT_EQ(memory, nullptr);
  }
  EXPECT_NE(Allocate(&allocations, 0), nullptr);
}

TEST(SharedAllocations, WithoutDescriptorsNothingIsShared) {
  EXPECT_EQ(InChild([] {
              const rlimit limit{3, 3};
              if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
              SharedAllocations allocations;
              void* memory = nullptr;
              return allocations.Allocate(1, &memory).code() == StatusCode::kUnavailable ? 0 : 2;
            }),
            0);
}

// A child sees its parent's blocks; later allocations of either are its own.
TEST(SharedAllocations, AForkedChildTakesNothingFromItsParent) {
  SharedAllocations allocations;
  std::byte* const kept = Allocate(&allocations, kPage);
  std::byte* const both = Allocate(&allocations, 2 * kPage);
  *both = std::byte{1};
  allocations.Free(kept);
  const int status = InChild([&] {
    if (*both != std::byte{1}) return 1;
    for (const size_t bytes : {kPage, 2 * kPage, 3 * kPage}) {
      std::byte* const memory = Allocate(&allocations, bytes);
      const auto segment = allocations.Find(memory, bytes);
      if (segment == nullptr || segment->address().process != getpid()) return 2;
    }
    if (!allocations.Free(both)) return 3;
    std::byte* const again = Allocate(&allocations, 2 * kPage);
    return again == both ? 4 : 0;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(*both, std::byte{1});
  EXPECT_EQ(Allocate(&allocations, kPage), kept);
}

TEST(SharedAllocations, AForkedChildTakesNoSlotOfItsParent) {
  SharedAllocations allocations;
  std::byte* const both = Allocate(&allocations, 64);
  std::byte* const other = Allocate(&allocations, 64);
  const int status = InChild([&] {
    if (!allocations.Free(other)) return 1;
    std::byte* const memory = Allocate(&allocations, 64);
    const auto segment = allocations.Find(memory, 64);
    if (segment == nullptr || segment->address().process != getpid()) return 2;
    if (allocations.Find(both, 64) == segment || !allocations.Free(both)) return 3;
    std::byte* const again = Allocate(&allocations, 64);
    return allocations.Find(again, 64) == segment ? 0 : 4;
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(Allocate(&allocations, 64), other + 64) << "what the child did is its own affair";
}

// A child that waits for a thread that it does not have is ended by a signal.
TEST(SharedAllocations, AProcessForksWhileNoThreadAllocates) {
  SharedAllocations& allocations = SharedAllocations::Here();
  std::byte* const memory = Allocate(&allocations, kPage);
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) allocations.Free(Allocate(&allocations, rules::kMostKeptBytes + 1));
  });
  for (int i = 0; i < 20; ++i) {
    const int status = InChild([&] {
      alarm(100);
      if (!allocations.Free(memory)) return 1;
      return allocations.Free(Allocate(&allocations, kPage)) ? 0 : 2;
    });
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  over = true;
  other.join();
  EXPECT_TRUE(allocations.Free(memory));
}

// The child of a process of which another thread opens segments can make its own.
TEST(SharedAllocations, AProcessForksWhileNoThreadOpensASegment) {
  std::shared_ptr<SharedSegment> segment;
  ASSERT_TRUE(SharedSegment::Create(&segment).ok());
  std::atomic<bool> over{false};
  std::thread other([&] {
    std::shared_ptr<SharedSegment> opened;
    while (!over) (void)SharedSegment::Open(segment->address(), &opened);
  });
  for (int i = 0; i < 100; ++i) {
    const int status = InChild([] {
      alarm(100);
      std::shared_ptr<SharedSegment> own;
      return SharedSegment::Create(&own).ok() ? 0 : 1;
    });
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  over = true;
  other.join();
}

TEST(SharedAllocations, ThreadsMayAllocateAtOnce) {
  SharedAllocations allocations;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&allocations, t] {
      const auto mark = static_cast<std::byte>(t);
      for (size_t i = 0; i < 500; ++i) {
        const size_t bytes = i % 2 == 0 ? i + 1 : (i % 5 + 1) * kPage;
        std::byte* const memory = Allocate(&allocations, bytes);
        memory[0] = memory[bytes - 1] = mark;
        EXPECT_NE(allocations.Find(memory, bytes), nullptr);
        EXPECT_TRUE(memory[0] == mark && memory[bytes - 1] == mark);
        EXPECT_TRUE(allocations.Free(memory));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace brigade

// Copies to the memory of another process, and their failures.

#include "transport/host_memory/kernel_copy.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "membuf/strided_layout.h"
#include "transport/host/process_watch.h"

namespace brigade {
namespace {

using Bytes = std::vector<uint8_t>;

const ProcessWatch kThisOne;

// A process with a copy of this one's memory, which checks it on request.
class Child {
 public:
  explicit Child(const std::function<bool()>& is_right) {
    EXPECT_EQ(pipe(go_), 0);
    process_ = fork();
    if (process_ == 0) {
      close(go_[1]);
      char byte;
      (void)!read(go_[0], &byte, 1);
      _exit(is_right() ? 0 : 1);
    }
    close(go_[0]);
    watch_ = ProcessWatch(process_);
  }
  pid_t process() const { return process_; }
  const ProcessWatch* watch() const { return &watch_; }
  bool IsRight() {
    close(go_[1]);
    int status = -1;
    EXPECT_EQ(waitpid(process_, &status, 0), process_);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

 private:
  int go_[2];
  pid_t process_;
  ProcessWatch watch_;
};

Bytes Numbered(size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  return bytes;
}

StridedLayout General(int64_t rows, int64_t cols, int64_t ld, size_t elem_bytes) {
  StridedLayout layout;
  EXPECT_TRUE(StridedLayout::General(rows, cols, ld, elem_bytes, &layout).ok());
  return layout;
}

const std::byte* Base(const Bytes& bytes) {
  return reinterpret_cast<const std::byte*>(bytes.data());
}

TEST(KernelCopy, MovesAnyShapeToAnyOther) {
  const StridedLayout shapes[] = {General(60, 1, 60, 1), General(10, 6, 13, 1),
                                  General(4, 15, 9, 1), General(1, 60, 2, 1), General(5, 6, 7, 2)};
  for (const StridedLayout& from : shapes) {
    for (const StridedLayout& to : shapes) {
      const Bytes source = Numbered(200);
      Bytes target(200);
      RemoteStretches stretches;
      ASSERT_TRUE(AsStretches(to, Base(target), &stretches));
      Bytes expected(200);
      StridedLayout::Cursor read(from, 0);
      StridedLayout::Cursor write(to, 0);
      for (int i = 0; i < 60; ++i) {
        expected[write.Next().memory_offset] = source[read.Next().memory_offset];
        read.Advance(1);
        write.Advance(1);
      }
      Child child([&] { return target == expected; });
      EXPECT_TRUE(CopyToProcess(child.process(), child.watch(), from, Base(source), stretches));
      EXPECT_TRUE(child.IsRight());
      EXPECT_EQ(target, Bytes(200)) << "this process' own";
    }
  }
}

// From the child, which has a copy of this process's memory.
TEST(KernelCopy, ReadsAnyShapeIntoAnyOther) {
  const StridedLayout shapes[] = {General(60, 1, 60, 1), General(10, 6, 13, 1),
                                  General(4, 15, 9, 1), General(1, 60, 2, 1), General(5, 6, 7, 2)};
  Bytes source = Numbered(200);
  const Bytes original = source;
  Child child([] { return true; });
  std::fill(source.begin(), source.end(), 0);
  for (const StridedLayout& from : shapes) {
    for (const StridedLayout& to : shapes) {
      for (const size_t bytes : {1, 33, 60}) {
        RemoteStretches stretches;
        ASSERT_TRUE(AsStretches(from, Base(source), &stretches));
        stretches.bytes = bytes;
        Bytes expected(200, 9);
        StridedLayout::Cursor read(from, 0);
        StridedLayout::Cursor write(to, 0);
        for (size_t i = 0; i < bytes; ++i) {
          expected[write.Next().memory_offset] = original[read.Next().memory_offset];
          read.Advance(1);
          write.Advance(1);
        }
        Bytes target(200, 9);
        const auto copy = [&](const StridedLayout& layout) {
          return CopyRangeFromProcess(child.process(), child.watch(), stretches, 0, bytes, layout,
                                      reinterpret_cast<std::byte*>(target.data()), 0);
        };
        EXPECT_EQ(copy(to), 0);
        EXPECT_EQ(target, expected) << bytes;
      }
    }
  }
  EXPECT_TRUE(child.IsRight());
}

TEST(KernelCopy, ReadsAnyRangeToAnyPlace) {
  constexpr size_t kBytes = 60;
  const StridedLayout shapes[] = {General(60, 1, 60, 1), General(10, 6, 13, 1)};
  const Bytes source = Numbered(200);
  for (const StridedLayout& from : shapes) {
    for (const StridedLayout& to : shapes) {
      RemoteStretches stretches;
      ASSERT_TRUE(AsStretches(from, Base(source), &stretches));
      for (const size_t offset : {0, 7, 20, 59}) {
        for (const size_t at : {0, 13, 40}) {
          const size_t bytes = kBytes - std::max(offset, at);
          Bytes expected(200, 9);
          StridedLayout::Cursor read(from, offset);
          StridedLayout::Cursor write(to, at);
          for (size_t i = 0; i < bytes; ++i) {
            expected[write.Next().memory_offset] = source[read.Next().memory_offset];
            read.Advance(1);
            write.Advance(1);
          }
          Bytes target(200, 9);
          EXPECT_EQ(CopyRangeFromProcess(getpid(), &kThisOne, stretches, offset, bytes, to,
                                         reinterpret_cast<std::byte*>(target.data()), at),
                    0);
          EXPECT_EQ(target, expected) << bytes << " from " << offset << " to " << at;
        }
      }
    }
  }
}

TEST(KernelCopy, SaysWhyNothingIsRead) {
  const StridedLayout layout = StridedLayout::Contiguous(10);
  Bytes target(10);
  const auto read = [&](const RemoteStretches& from, pid_t process, const ProcessWatch& watch) {
    return CopyRangeFromProcess(process, &watch, from, 0, 10, layout,
                                reinterpret_cast<std::byte*>(target.data()), 0);
  };
  void* const hole = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  EXPECT_EQ(read({reinterpret_cast<uint64_t>(hole), 10, 10, 10}, getpid(), kThisOne), EFAULT);
  munmap(hole, 4096);
  RemoteStretches own;
  ASSERT_TRUE(AsStretches(layout, Base(target), &own));
  Child gone([] { return true; });
  EXPECT_TRUE(gone.IsRight());
  EXPECT_EQ(read(own, gone.process(), *gone.watch()), ESRCH);
  own.stretch_bytes = 0;  // of a peer gone wild
  EXPECT_EQ(read(own, getpid(), kThisOne), EFAULT);
}

// More stretches than the system takes at once, and another number of them on either side.
TEST(KernelCopy, MovesManyStretches) {
  constexpr int64_t kCols = 5000;
  const StridedLayout from = General(6, kCols, 7, 1);
  const StridedLayout to = General(4, kCols / 2 * 3, 5, 1);
  ASSERT_EQ(from.bytes(), to.bytes());
  const Bytes source = Numbered(7 * kCols);
  Bytes target(5 * kCols * 2);
  RemoteStretches stretches;
  ASSERT_TRUE(AsStretches(to, Base(target), &stretches));
  Child child([&] {
    for (size_t k = 0; k < from.bytes(); ++k) {
      if (target[k / 4 * 5 + k % 4] != source[k / 6 * 7 + k % 6]) return false;
    }
    return true;
  });
  EXPECT_TRUE(CopyToProcess(child.process(), child.watch(), from, Base(source), stretches));
  EXPECT_TRUE(child.IsRight());
}

TEST(KernelCopy, AShorterMessageLeavesTheRest) {
  const Bytes source = Numbered(10);
  Bytes target(20, 99);
  RemoteStretches stretches;
  ASSERT_TRUE(AsStretches(StridedLayout::Contiguous(20), Base(target), &stretches));
  Child child([&] {
    return std::equal(source.begin(), source.end(), target.begin()) &&
           std::count(target.begin() + 10, target.end(), 99) == 10;
  });
  EXPECT_TRUE(CopyToProcess(child.process(), child.watch(), StridedLayout::Contiguous(10),
                            Base(source), stretches));
  EXPECT_TRUE(child.IsRight());
}

TEST(KernelCopy, InaccessibleMemoryIsNotWritten) {
  const Bytes source = Numbered(10);
  void* const hole = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(hole, MAP_FAILED);
  const StridedLayout layout = StridedLayout::Contiguous(10);
  RemoteStretches stretches{reinterpret_cast<uint64_t>(hole), 10, 10, 10};
  EXPECT_FALSE(CopyToProcess(getpid(), &kThisOne, layout, Base(source), stretches));
  munmap(hole, 4096);
  Bytes target(10);
  ASSERT_TRUE(AsStretches(layout, Base(target), &stretches));
  Child gone([] { return true; });
  EXPECT_TRUE(gone.IsRight());
  EXPECT_FALSE(CopyToProcess(gone.process(), gone.watch(), layout, Base(source), stretches));
  stretches.stretch_bytes = 0;  // of a peer gone wild
  EXPECT_FALSE(CopyToProcess(getpid(), &kThisOne, layout, Base(source), stretches));
}

TEST(KernelCopy, NoStretchesAreEqualInATrapezoid) {
  StridedLayout layout;
  ASSERT_TRUE(StridedLayout::Trapezoid(StridedLayout::Part::kUpper,
                                       StridedLayout::Diagonal::kIncluded, 4, 4, 4, 1, &layout)
                  .ok());
  RemoteStretches stretches;
  const Bytes target(16);
  EXPECT_FALSE(AsStretches(layout, Base(target), &stretches));
  EXPECT_FALSE(AsStretches(StridedLayout(), Base(target), &stretches));
}

TEST(KernelCopy, ManyShortStretchesAreNotWorthIt) {
  const KernelCopyRange range{100, 300};
  EXPECT_TRUE(range.Holds(General(100, 3, 200, 1)));
  EXPECT_FALSE(range.Holds(General(99, 3, 200, 1)));
  EXPECT_TRUE(range.Holds(General(99, 3, 99, 1))) << "one stretch";
  EXPECT_FALSE(range.Holds(General(100, 4, 200, 1)));
  EXPECT_TRUE(range.IsLongEnough(General(100, 4, 200, 1)));
}

}  // namespace
}  // namespace brigade

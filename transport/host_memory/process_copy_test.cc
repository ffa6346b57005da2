// Copies by the kernel between two processes, range by range.

#include "transport/host_memory/process_copy.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "transport/host/process_watch.h"
#include "transport/rules.h"

namespace brigade {
namespace {

using Bytes = std::vector<uint8_t>;
using Direction = ProcessCopy::Direction;

const ProcessWatch kThisOne;

Bytes Numbered(size_t size) {
  Bytes bytes(size);
  std::iota(bytes.begin(), bytes.end(), uint8_t{1});
  return bytes;
}

uint64_t AddressOf(const Bytes& bytes, size_t at = 0) {
  return reinterpret_cast<uint64_t>(bytes.data() + at);
}

// A process with a copy of this one's memory.
class Child {
 public:
  Child() : process_(fork()) {
    if (process_ == 0) _exit(pause());
    watch_ = ProcessWatch(process_);
  }
  ~Child() {
    if (!watch_.HasEnded()) End();
  }
  void End() {
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  pid_t process() const { return process_; }
  const ProcessWatch* watch() const { return &watch_; }

 private:
  const pid_t process_;
  ProcessWatch watch_;
};

// Of `memory` in the child.
Bytes Read(const Child& child, const Bytes& memory) {
  Bytes read(memory.size());
  ProcessCopy copy(child.process(), child.watch(), Direction::kRead);
  EXPECT_EQ(copy.Add(AddressOf(read), AddressOf(memory), read.size()), 0);
  EXPECT_EQ(copy.Finish(), 0);
  return read;
}

TEST(ProcessCopyTest, MoreRangesThanASystemCallTakes) {
  constexpr size_t kBlocks = 5000;
  const Bytes source = Numbered(3 * kBlocks);
  Bytes target(7 * kBlocks);
  Child child;
  ProcessCopy write(child.process(), child.watch(), Direction::kWrite);
  Bytes expected(target.size());
  for (size_t i = 0; i < kBlocks; ++i) {
    ASSERT_EQ(write.Add(AddressOf(source, 3 * i), AddressOf(target, 7 * i), 2), 0);
    expected[7 * i] = source[3 * i];
    expected[7 * i + 1] = source[3 * i + 1];
  }
  ASSERT_EQ(write.Finish(), 0);
  EXPECT_EQ(Read(child, target), expected);
  EXPECT_EQ(target, Bytes(target.size())) << "this process' own";
  Bytes back(3 * kBlocks);
  ProcessCopy read(child.process(), child.watch(), Direction::kRead);
  for (size_t i = 0; i < kBlocks; ++i) {
    ASSERT_EQ(read.Add(AddressOf(back, 3 * i), AddressOf(target, 7 * i), 2), 0);
  }
  ASSERT_EQ(read.Finish(), 0);
  for (size_t i = 0; i < back.size(); ++i) ASSERT_EQ(back[i], i % 3 == 2 ? 0 : source[i]) << i;
}

// Short gaps are read and discarded. Writes leave gaps unchanged.
TEST(ProcessCopyTest, ManyShortBlocksAreReadAsOne) {
  constexpr size_t kBlock = 8;
  for (const size_t gap : {size_t{1}, rules::kReadAcrossBytes, rules::kReadAcrossBytes + 1}) {
    constexpr size_t kBlocks = 100;
    const size_t stride = kBlock + gap;
    const Bytes memory = Numbered(kBlocks * stride);
    Child child;
    Bytes read(kBlocks * kBlock);
    ProcessCopy reading(child.process(), child.watch(), Direction::kRead);
    ProcessCopy writing(child.process(), child.watch(), Direction::kWrite);
    const Bytes zeros(kBlock);
    Bytes expected;
    Bytes left = memory;
    for (size_t i = 0; i < kBlocks; ++i) {
      const size_t at = i * stride;
      ASSERT_EQ(reading.Add(AddressOf(read, i * kBlock), AddressOf(memory, at), kBlock), 0);
      ASSERT_EQ(writing.Add(AddressOf(zeros), AddressOf(memory, at), kBlock), 0);
      expected.insert(expected.end(), memory.begin() + at, memory.begin() + at + kBlock);
      std::fill(left.begin() + at, left.begin() + at + kBlock, 0);
    }
    EXPECT_EQ(reading.ranges(), gap <= rules::kReadAcrossBytes ? 1 : kBlocks);
    EXPECT_EQ(writing.ranges(), kBlocks);
    ASSERT_EQ(reading.Finish(), 0);
    EXPECT_EQ(read, expected);
    ASSERT_EQ(writing.Finish(), 0);
    EXPECT_EQ(Read(child, memory), left);
  }
}

// Backwards, and one on the other, there is no gap.
TEST(ProcessCopyTest, BlocksInAnyOrderAreRead) {
  const Bytes memory = Numbered(40);
  Child child;
  Bytes read(40);
  ProcessCopy copy(child.process(), child.watch(), Direction::kRead);
  Bytes expected(40);
  const size_t places[] = {30, 20, 22, 36, 0, 36};
  for (size_t i = 0; i < 6; ++i) {
    ASSERT_EQ(copy.Add(AddressOf(read, 5 * i), AddressOf(memory, places[i]), 4), 0);
    std::copy_n(memory.begin() + places[i], 4, expected.begin() + 5 * i);
  }
  ASSERT_EQ(copy.Finish(), 0);
  EXPECT_EQ(read, expected);
}

TEST(ProcessCopyTest, FinishedCopiesAreNotRepeated) {
  const Bytes source = Numbered(10);
  Bytes target(10);
  Child child;
  ProcessCopy copy(child.process(), child.watch(), Direction::kWrite);
  EXPECT_EQ(copy.Finish(), 0) << "nothing";
  ASSERT_EQ(copy.Add(AddressOf(source), AddressOf(target), 10), 0);
  ASSERT_EQ(copy.Finish(), 0);
  ASSERT_EQ(copy.Add(AddressOf(source, 5), AddressOf(target), 1), 0);
  ASSERT_EQ(copy.Finish(), 0);
  Bytes expected = source;
  expected[0] = source[5];
  EXPECT_EQ(Read(child, target), expected);
}

TEST(ProcessCopyTest, UnmappedMemoryOrAnEndedProcessIsAnError) {
  constexpr size_t kPage = 4096;
  auto* const pages = static_cast<std::byte*>(
      mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(pages + kPage, kPage), 0);
  const Bytes source = Numbered(2 * kPage);
  Child child;
  ProcessCopy copy(child.process(), child.watch(), Direction::kWrite);
  ASSERT_EQ(copy.Add(AddressOf(source), reinterpret_cast<uint64_t>(pages), 2 * kPage), 0);
  EXPECT_EQ(copy.Finish(), EFAULT) << "behind a page that is there";
  ProcessCopy late(child.process(), child.watch(), Direction::kWrite);
  child.End();
  Bytes target(1);
  ASSERT_EQ(late.Add(AddressOf(source), AddressOf(target), 1), 0);
  EXPECT_EQ(late.Finish(), ESRCH);
  munmap(pages, kPage);
}

// The number of the process that is watched is another's by now.
TEST(ProcessCopyTest, AStrangerIsNotTouched) {
  const Bytes source = Numbered(10);
  Bytes target(10);
  Child gone;
  gone.End();
  Child stranger;
  for (const Direction direction : {Direction::kWrite, Direction::kRead}) {
    ProcessCopy copy(stranger.process(), gone.watch(), direction);
    ASSERT_EQ(copy.Add(AddressOf(source), AddressOf(target), 10), 0);
    EXPECT_EQ(copy.Finish(), ESRCH);
  }
  EXPECT_EQ(Read(stranger, target), Bytes(10));
}

// From here on this process may copy to and from no other, as under a container's filter.
bool RefuseCopies() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {5, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

std::vector<std::string>& Told() {
  static auto& told = *new std::vector<std::string>;
  return told;
}

TEST(ProcessCopyTest, ARefusalIsReportedOnce) {
  const pid_t child = fork();
  if (child == 0) {
    if (!RefuseCopies()) _exit(2);
    LogIfCopiesAreRefused([](const std::string& why) { Told().push_back(why); });
    const Bytes source(1);
    for (const Direction direction : {Direction::kWrite, Direction::kRead}) {
      ProcessCopy copy(getpid(), &kThisOne, direction);
      EXPECT_EQ(copy.Add(AddressOf(source), AddressOf(source), 1), 0);
      EXPECT_EQ(copy.Finish(), EPERM);
      // An endpoint more.
      LogIfCopiesAreRefused([](const std::string& why) { Told().push_back(why); });
    }
    EXPECT_EQ(Told().size(), 1u);
    EXPECT_NE(Told().at(0).find("process_vm_writev: Operation not permitted"), std::string::npos);
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "no filters here";
  EXPECT_EQ(status, 0);
}

TEST(ProcessCopyTest, AnUnmappedAddressIsNotReportedAsARefusal) {
  LogIfCopiesAreRefused([](const std::string& why) { Told().push_back(why); });
  const Bytes source(1);
  ProcessCopy copy(getpid(), &kThisOne, Direction::kWrite);
  ASSERT_EQ(copy.Add(AddressOf(source), 8, 1), 0);
  EXPECT_EQ(copy.Finish(), EFAULT);
  EXPECT_TRUE(Told().empty());
  LogIfCopiesAreRefused(nullptr);
}

}  // namespace
}  // namespace brigade

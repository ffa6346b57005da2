#include "transport/host_memory/shared_segment.h"

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"

// The last range of pages that was removed from its addresses. MPIs and their libraries intercept
// the C library's function in this way.
static void* removed = nullptr;
static size_t removed_bytes = 0;

extern "C" int madvise(void* memory, size_t bytes, int advice) noexcept {
  if (advice == MADV_REMOVE) {
    removed = memory;
    removed_bytes = bytes;
  }
  return static_cast<int>(syscall(SYS_madvise, memory, bytes, advice));
}

// The timer of a profiler, where a call that it interrupts has done nothing, as on Linux 6.1.
static off_t longest_uninterrupted = std::numeric_limits<off_t>::max();

extern "C" int fallocate(int descriptor, int mode, off_t offset, off_t bytes) {
  if ((mode & FALLOC_FL_PUNCH_HOLE) == 0 && bytes > longest_uninterrupted) {
    errno = EINTR;
    return -1;
  }
  return static_cast<int>(syscall(SYS_fallocate, descriptor, mode, offset, bytes));
}

namespace brigade {
namespace {

constexpr size_t kPage = 4096;

std::shared_ptr<SharedSegment> NewSegment() {
  std::shared_ptr<SharedSegment> segment;
  const Status status = SharedSegment::Create(&segment);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return segment;
}

struct stat StatOf(const SharedSegment& segment) {
  struct stat info {};
  EXPECT_EQ(fstat(segment.address().descriptor, &info), 0);
  return info;
}

// Another process, with a copy of this one's memory. The body returns an error text, or nothing.
class Child {
 public:
  explicit Child(const std::function<std::string()>& body) {
    EXPECT_EQ(pipe(pipe_), 0);
    pid_ = fork();
    if (pid_ != 0) return;
    const std::string wrong = body();
    const ssize_t written = write(pipe_[1], wrong.data(), wrong.size());
    _exit(written == static_cast<ssize_t>(wrong.size()) ? 0 : 1);
  }
  pid_t pid() const { return pid_; }
  bool Runs() const {
    siginfo_t info{};
    return waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
  }
  // Returns the text of the body, or how the process ended.
  std::string Wait() {
    close(pipe_[1]);
    char text[1000];
    const ssize_t bytes = read(pipe_[0], text, sizeof(text));
    close(pipe_[0]);
    int status = 0;
    EXPECT_EQ(waitpid(pid_, &status, 0), pid_);
    if (!WIFEXITED(status)) return std::string("ended by ") + strsignal(WTERMSIG(status));
    return std::string(text, bytes > 0 ? bytes : 0);
  }

 private:
  int pipe_[2];
  pid_t pid_;
};

// As documented in docs/user/rma.md.
TEST(SharedSegmentTest, CoreFilesLeaveItOut) {
  const std::shared_ptr<SharedSegment> segment = NewSegment();
  char begin[40];
  snprintf(begin, sizeof(begin), "%lx-", reinterpret_cast<unsigned long>(segment->base()));
  std::ifstream maps("/proc/self/smaps");
  std::string line;
  while (std::getline(maps, line) && line.rfind(begin, 0) != 0) continue;
  ASSERT_TRUE(maps) << "the mapping";
  while (std::getline(maps, line) && line.rfind("VmFlags:", 0) != 0) continue;
  EXPECT_NE(line.find(" dd"), std::string::npos) << line;
}

TEST(SharedSegmentTest, IsPrivateToTheUserAndCannotShrink) {
  const auto segment = NewSegment();
  const int fd = segment->address().descriptor;
  const struct stat info = StatOf(*segment);
  EXPECT_EQ(info.st_mode & 07777, 0600u);
  EXPECT_EQ(info.st_uid, geteuid());
  EXPECT_EQ(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK, F_SEAL_SHRINK);
  EXPECT_EQ(ftruncate(fd, 0), -1);
  EXPECT_EQ(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(info.st_nlink, 0u) << "it has a name";
}

TEST(SharedSegmentTest, AllocatesZeroedPagesAndGivesThemBack) {
  const auto segment = NewSegment();
  const auto blocks = StatOf(*segment).st_blocks;
  const size_t allocated = segment->allocated_bytes();
  std::set<uint64_t> offsets;
  for (int round = 0; round < 3; ++round) {
    uint64_t at[3] = {};
    for (const size_t i : {0, 1, 2}) {
      const size_t bytes = 100 * kPage - i;
      ASSERT_TRUE(segment->Allocate(bytes, &at[i]).ok());
      offsets.insert(at[i]);
      EXPECT_EQ(at[i] % kPage, 0u);
      std::byte* const memory = segment->base() + at[i];
      EXPECT_EQ(segment->At(at[i], bytes), memory);
      for (size_t b = 0; b < bytes; ++b) ASSERT_EQ(memory[b], std::byte{0});
      std::memset(memory, 0x5a, bytes);
    }
    EXPECT_EQ(segment->allocated_bytes(), allocated + 300 * kPage);
    EXPECT_EQ(StatOf(*segment).st_blocks, blocks + 300 * kPage / 512);
    for (const size_t i : {0, 1, 2}) segment->Free(at[i], 100 * kPage - i);
    EXPECT_EQ(segment->allocated_bytes(), allocated);
    EXPECT_EQ(StatOf(*segment).st_blocks, blocks);
  }
  EXPECT_EQ(offsets.size(), 3u) << "freed memory is not used again";
}

// A registration cache keyed by addresses must see that pages are removed.
TEST(SharedSegmentTest, InterceptorsSeeThatFreedPagesAreRemoved) {
  const auto segment = NewSegment();
  uint64_t offset = 0;
  ASSERT_TRUE(segment->Allocate(3 * kPage - 1, &offset).ok());
  segment->Free(offset, 3 * kPage - 1);
  EXPECT_EQ(removed, segment->base() + offset);
  EXPECT_EQ(removed_bytes, 3 * kPage);
}

TEST(SharedSegmentTest, LockedMemoryIsGivenBackLikewise) {
  const auto segment = NewSegment();
  const auto blocks = StatOf(*segment).st_blocks;
  uint64_t offset = 0;
  ASSERT_TRUE(segment->Allocate(kPage, &offset).ok());
  ASSERT_EQ(mlock(segment->base() + offset, kPage), 0);
  segment->Free(offset, kPage);
  EXPECT_EQ(StatOf(*segment).st_blocks, blocks);
}

TEST(SharedSegmentTest, FindsOnlyRangesInTheFile) {
  const auto segment = NewSegment();
  uint64_t at = 0;
  ASSERT_TRUE(segment->Allocate(kPage, &at).ok());
  const uint64_t end = at + kPage;
  const uint64_t reserve = segment->address().reserve_bytes;
  EXPECT_EQ(segment->At(end - 64, 64), segment->base() + end - 64);
  EXPECT_EQ(segment->At(end - 64, 65), nullptr);
  EXPECT_EQ(segment->At(end, 1), nullptr);
  EXPECT_EQ(segment->At(0, SIZE_MAX), nullptr);
  EXPECT_EQ(segment->At(64, SIZE_MAX - 32), nullptr);
  EXPECT_EQ(segment->At(UINT64_MAX, 1), nullptr);
  EXPECT_EQ(segment->At(UINT64_MAX - 63, 64), nullptr);
  EXPECT_EQ(segment->At(reserve, 1), nullptr);
  EXPECT_EQ(segment->At(reserve - 1, 1), nullptr);
  std::byte* const base = segment->base();
  EXPECT_TRUE(segment->Contains(base, 1));
  EXPECT_TRUE(segment->Contains(base + reserve - 1, 1));
  EXPECT_FALSE(segment->Contains(base - 1, 1));
  EXPECT_FALSE(segment->Contains(base + reserve - 1, 2));
  EXPECT_FALSE(segment->Contains(base + 1, SIZE_MAX));
}

TEST(SharedSegmentTest, InItsOwnProcessAllShareOneMapping) {
  auto segment = NewSegment();
  const SharedSegment::Address address = segment->address();
  std::shared_ptr<SharedSegment> again;
  ASSERT_TRUE(SharedSegment::Open(address, &again).ok());
  EXPECT_EQ(again, segment);
  again.reset();
  segment.reset();
  // The number of its descriptor may be that of something else now.
  EXPECT_EQ(SharedSegment::Open(address, &again).code(), StatusCode::kUnavailable);
}

TEST(SharedSegmentTest, AnotherProcessSeesEarlierAndLaterAllocations) {
  const auto segment = NewSegment();
  uint64_t early = 0;
  ASSERT_TRUE(segment->Allocate(kPage, &early).ok());
  // `later` publishes an allocation to the child after it opened the segment.
  auto* const later = reinterpret_cast<std::atomic<uint64_t>*>(segment->base() + early);
  Child child([&]() -> std::string {
    std::shared_ptr<SharedSegment> opened;
    const Status status = SharedSegment::Open(segment->address(), &opened);
    if (!status.ok()) return status.ToString();
    if (opened == segment) return "the mapping of the parent";
    std::shared_ptr<SharedSegment> again;
    if (!SharedSegment::Open(segment->address(), &again).ok()) return "not twice";
    if (again != opened) return "a second mapping";
    const int flags = fcntl(segment->address().descriptor, F_GETFD);
    for (int fd = 3; fd < 100; ++fd) {
      const int own = fcntl(fd, F_GETFD);
      struct stat info {};
      if (own < 0 || fstat(fd, &info) != 0 || info.st_ino != StatOf(*segment).st_ino) continue;
      if ((own & FD_CLOEXEC) == 0) return "a descriptor that programs inherit";
    }
    if ((flags & FD_CLOEXEC) == 0) return "a descriptor that programs inherit";
    auto* const theirs = reinterpret_cast<std::atomic<uint64_t>*>(opened->At(early, 8));
    if (theirs == nullptr) return "nothing there";
    theirs->store(1);
    while (theirs->load() == 1) std::this_thread::yield();
    std::byte* const memory = opened->At(theirs->load(), kPage);
    if (memory == nullptr) return "no later memory";
    return memory[kPage - 1] == std::byte{42} ? "" : "other bytes";
  });
  while (later->load() == 0 && child.Runs()) std::this_thread::yield();
  uint64_t at = 0;
  ASSERT_TRUE(segment->Allocate(kPage, &at).ok());
  segment->base()[at + kPage - 1] = std::byte{42};
  later->store(at);
  EXPECT_EQ(child.Wait(), "");
}

TEST(SharedSegmentTest, MadeForSomeBytesItTakesNoMore) {
  std::shared_ptr<SharedSegment> segment;
  ASSERT_TRUE(SharedSegment::CreateFor(10 * kPage - 1, &segment).ok());
  EXPECT_EQ(segment->address().reserve_bytes, 11 * kPage);
  uint64_t at = 0;
  ASSERT_TRUE(segment->Allocate(10 * kPage - 1, &at).ok());
  Child child([&]() -> std::string {
    const int next = dup(0);
    close(next);
    std::shared_ptr<SharedSegment> opened;
    const Status status = SharedSegment::Open(segment->address(), &opened);
    if (!status.ok()) return status.ToString();
    if (dup(0) != next) return "it keeps a descriptor";
    if (opened->At(at, 10 * kPage + 1) != nullptr) return "more than was allocated";
    std::byte* const memory = opened->At(at, 10 * kPage);
    if (memory == nullptr) return "nothing there";
    memory[10 * kPage - 1] = std::byte{42};
    return "";
  });
  EXPECT_EQ(child.Wait(), "");
  EXPECT_EQ(segment->base()[at + 10 * kPage - 1], std::byte{42});
  EXPECT_EQ(segment->Allocate(1, &at).code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(SharedSegment::CreateFor(SIZE_MAX, &segment).code(), StatusCode::kOutOfMemory);
}

TEST(SharedSegmentTest, MemoryMayBeMadeLaterForAPlace) {
  std::shared_ptr<SharedSegment> segment;
  ASSERT_TRUE(SharedSegment::CreateFor(4 * kPage, &segment).ok());
  uint64_t before = 0;
  uint64_t place = 0;
  ASSERT_TRUE(segment->Allocate(kPage, &before).ok());
  const auto blocks = StatOf(*segment).st_blocks;
  const size_t allocated = segment->allocated_bytes();
  ASSERT_TRUE(segment->AllocateLater(3 * kPage - 1, &place).ok());
  EXPECT_EQ(place, before + kPage);
  EXPECT_EQ(StatOf(*segment).st_blocks, blocks);
  EXPECT_EQ(segment->allocated_bytes(), allocated);
  uint64_t none = 0;
  EXPECT_EQ(segment->AllocateLater(1, &none).code(), StatusCode::kOutOfMemory);
  // The file is complete, so a process that opens it sees the place, and needs no descriptor.
  EXPECT_EQ(segment->At(place, 3 * kPage), segment->base() + place);
  ASSERT_TRUE(segment->AllocateAt(place, 3 * kPage - 1).ok());
  EXPECT_EQ(StatOf(*segment).st_blocks, blocks + 3 * kPage / 512);
  EXPECT_EQ(segment->allocated_bytes(), allocated + 3 * kPage);
  for (size_t i = 0; i < 3 * kPage; ++i) ASSERT_EQ(segment->base()[place + i], std::byte{0});
}

// As of a machine, or, of which it is the least, a control group with so little memory.
TEST(SharedSegmentTest, TakesNoMoreThanTheSystemHasLeft) {
  const std::string little = testing::TempDir() + "/little";
  std::ofstream(little) << "MemAvailable: 64 kB\n";
  const auto segment = NewSegment();
  const std::string said =
      Child([&]() -> std::string {
        if (unshare(CLONE_NEWNS) != 0 ||
            mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
            mount(little.c_str(), "/proc/meminfo", nullptr, MS_BIND, nullptr) != 0) {
          return "not allowed";
        }
        // The share that this process has checked before is small.
        uint64_t at = 0;
        Status status;
        for (int mib = 0; status.ok() && mib < 4096; ++mib) {
          status = segment->Allocate(size_t{1} << 20, &at);
        }
        if (status.code() != StatusCode::kOutOfMemory) return "too much";
        if (!segment->AllocateLater(size_t{1} << 20, &at).ok()) return "a place needs no memory";
        status = segment->AllocateAt(at, size_t{1} << 20);
        if (status.code() != StatusCode::kOutOfMemory) return "too much at a place";
        return status.message();
      }).Wait();
  if (said == "not allowed") GTEST_SKIP() << "no mount namespace can be had";
  EXPECT_NE(said.find("bytes of shared memory: that is more than the system"), std::string::npos)
      << said;
}

TEST(SharedSegmentTest, RefusesWrongAddresses) {
  const auto segment = NewSegment();
  const auto in_another_process = [](const SharedSegment::Address& address) {
    return Child([&]() -> std::string {
             std::shared_ptr<SharedSegment> opened;
             const Status status = SharedSegment::Open(address, &opened);
             if (status.ok()) return "opened";
             return status.code() == StatusCode::kUnavailable ? status.message()
                                                              : status.ToString();
           })
        .Wait();
  };
  const SharedSegment::Address good = segment->address();
  EXPECT_EQ(in_another_process(good), "opened");

  SharedSegment::Address bad = good;
  bad.token[1] ^= 1;
  EXPECT_NE(in_another_process(bad).find("another token"), std::string::npos);

  bad = good;
  bad.descriptor = 10000;
  EXPECT_NE(in_another_process(bad).find("No such file"), std::string::npos);

  bad = good;
  bad.reserve_bytes = 0;
  EXPECT_NE(in_another_process(bad).find("something else"), std::string::npos);

  // A process that has gone.
  Child gone([] { return std::string(); });
  bad = good;
  bad.process = gone.pid();
  EXPECT_EQ(gone.Wait(), "");
  EXPECT_NE(in_another_process(bad).find("process " + std::to_string(bad.process)),
            std::string::npos);

  // Files that only look alike.
  const auto refused = [&](int fd, uint64_t bytes) {
    ASSERT_EQ(ftruncate(fd, static_cast<off_t>(bytes)), 0);
    ASSERT_EQ(pwrite(fd, good.token, sizeof(good.token), 0),
              static_cast<ssize_t>(sizeof(good.token)));
    bad = good;
    bad.descriptor = fd;
    EXPECT_NE(in_another_process(bad).find("something else"), std::string::npos);
    close(fd);
  };
  FILE* const file = tmpfile();
  refused(dup(fileno(file)), kPage);
  fclose(file);
  refused(memfd_create("unsealed", 0), kPage);
  const int open_to_all = memfd_create("open to all", MFD_ALLOW_SEALING);
  ASSERT_EQ(fchmod(open_to_all, 0666), 0);
  ASSERT_EQ(fcntl(open_to_all, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  refused(open_to_all, kPage);
}

TEST(SharedSegmentTest, RefusesAnEmptyFile) {
  const int fd = memfd_create("empty", MFD_ALLOW_SEALING);
  ASSERT_EQ(fchmod(fd, 0600), 0);
  ASSERT_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
  SharedSegment::Address address;
  address.process = getpid();
  address.descriptor = fd;
  address.reserve_bytes = kPage;
  std::shared_ptr<SharedSegment> opened;
  EXPECT_EQ(SharedSegment::Open(address, &opened).code(), StatusCode::kUnavailable);
  close(fd);
}

// The user's limits, each in a process of its own. A signal would end it.
std::string UnderLimit(int resource, rlim_t limit, const std::function<std::string()>& body) {
  return Child([&]() -> std::string {
           const rlimit both{limit, limit};
           if (setrlimit(static_cast<__rlimit_resource>(resource), &both) != 0) return "setrlimit";
           return body();
         })
      .Wait();
}

TEST(SharedSegmentTest, WithoutMemoryAllocationFailsAndTouchesNothing) {
  // Allocated memory can be written to, and freed memory can be allocated again.
  EXPECT_EQ(
      UnderLimit(RLIMIT_FSIZE, 1 << 20,
                 []() -> std::string {
                   std::shared_ptr<SharedSegment> segment;
                   Status status = SharedSegment::Create(&segment);
                   if (!status.ok()) return status.ToString();
                   uint64_t at = 0;
                   uint64_t last = 0;
                   size_t blocks = 0;
                   while ((status = segment->Allocate(16 * kPage, &at)).ok()) {
                     std::memset(segment->base() + at, 1, 16 * kPage);
                     last = at;
                     if (++blocks > 16) return "no limit";
                   }
                   if (status.code() != StatusCode::kOutOfMemory) return status.ToString();
                   if (status.message().find("65536 bytes of shared memory") == std::string::npos) {
                     return status.message();
                   }
                   segment->Free(last, 16 * kPage);
                   status = segment->Allocate(16 * kPage, &at);
                   return status.ok() ? "" : status.ToString();
                 }),
      "");
}

// A signal ends the child if the loop does not end.
TEST(SharedSegmentTest, SignalsThatComeAllTheTimeDoNotKeepItFromMuchMemory) {
  Child child([]() -> std::string {
    constexpr size_t kBytes = (size_t{64} << 20) + kPage;
    const auto segment = NewSegment();
    const auto bytes_before = StatOf(*segment).st_blocks * 512;
    alarm(100);
    longest_uninterrupted = 100000;
    uint64_t offset = 0;
    const Status status = segment->Allocate(kBytes, &offset);
    if (!status.ok()) return status.ToString();
    if (segment->At(offset, kBytes) == nullptr) return "it is not there";
    const auto bytes = static_cast<size_t>(StatOf(*segment).st_blocks * 512 - bytes_before);
    return bytes == kBytes ? "" : "there are " + std::to_string(bytes) + " bytes";
  });
  EXPECT_EQ(child.Wait(), "");
}

TEST(SharedSegmentTest, MuchIsTakenWhileTheSystemHasIt) {
  const auto segment = NewSegment();
  const auto blocks = StatOf(*segment).st_blocks;
  constexpr size_t kBytes = size_t{200} << 20;
  std::vector<size_t> asked;
  const auto have_some = [&](size_t bytes) {
    asked.push_back(bytes);
    return asked.size() < 2;
  };
  uint64_t offset = 0;
  const Status status = segment->Allocate(kBytes, &offset, have_some);
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory) << status.ToString();
  EXPECT_EQ(asked, (std::vector<size_t>{size_t{136} << 20, size_t{72} << 20}));
  EXPECT_EQ(StatOf(*segment).st_blocks, blocks);
  EXPECT_TRUE(segment->Allocate(kBytes, &offset, [](size_t) { return true; }).ok());
  EXPECT_EQ(StatOf(*segment).st_blocks, blocks + static_cast<blkcnt_t>(kBytes / 512));
  segment->Free(offset, kBytes);
}

TEST(SharedSegmentTest, WithoutAddressSpaceThereIsNone) {
  EXPECT_EQ(UnderLimit(RLIMIT_AS, rlim_t{600} << 20,
                       []() -> std::string {
                         std::shared_ptr<SharedSegment> segment;
                         const Status status = SharedSegment::Create(&segment);
                         return status.code() == StatusCode::kOutOfMemory ? "" : status.ToString();
                       }),
            "");
}

TEST(SharedSegmentTest, WithoutDescriptorsThereIsNone) {
  EXPECT_EQ(UnderLimit(RLIMIT_NOFILE, 3,
                       []() -> std::string {
                         std::shared_ptr<SharedSegment> segment;
                         const Status status = SharedSegment::Create(&segment);
                         return status.code() == StatusCode::kUnavailable ? "" : status.ToString();
                       }),
            "");
}

std::set<std::string> Entries(const char* folder) {
  std::set<std::string> names;
  DIR* const dir = opendir(folder);
  while (const dirent* entry = dir == nullptr ? nullptr : readdir(dir)) names.insert(entry->d_name);
  if (dir != nullptr) closedir(dir);
  return names;
}

TEST(SharedSegmentTest, AKilledProcessLeavesNoFile) {
  const char* const kFolders[] = {"/dev/shm", "/tmp", "."};
  std::vector<std::set<std::string>> before;
  for (const char* folder : kFolders) before.push_back(Entries(folder));
  Child child([]() -> std::string {
    const auto segment = NewSegment();
    uint64_t at = 0;
    if (!segment->Allocate(100 * kPage, &at).ok()) return "no memory";
    raise(SIGKILL);
    return "";
  });
  EXPECT_EQ(child.Wait(), std::string("ended by ") + strsignal(SIGKILL));
  for (size_t i = 0; i < before.size(); ++i) {
    for (const std::string& name : Entries(kFolders[i])) {
      if (before[i].count(name) == 0) {
        EXPECT_EQ(name.find("brigade"), std::string::npos) << kFolders[i] << "/" << name;
      }
    }
  }
}

TEST(SharedSegmentTest, EndsWithItsLastUser) {
  std::set<std::string> before = Entries("/proc/self/fd");
  { const auto segment = NewSegment(); }
  EXPECT_EQ(Entries("/proc/self/fd"), before);
}

}  // namespace
}  // namespace brigade

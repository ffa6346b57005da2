// Checks for killed peers are rare, since they take a system call per peer: a rank that wakes for a
// message does not wait for them.

#include "transport/shm/peers.h"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "gtest/gtest.h"
#include "transport/host_memory/shared_segment.h"
#include "transport/rules.h"

namespace {
std::atomic<int> times_asked{0};
}  // namespace

// Replaces the system call of a ProcessWatch.
extern "C" int poll(pollfd* descriptors, nfds_t count, int milliseconds) {
  ++times_asked;
  const timespec limit{milliseconds / 1000, milliseconds % 1000 * 1000000L};
  return static_cast<int>(
      syscall(SYS_ppoll, descriptors, count, milliseconds < 0 ? nullptr : &limit, nullptr, 0));
}

namespace brigade::shm {
namespace {

using Clock = std::chrono::steady_clock;

// A process that has a shared segment, and waits to be killed.
class Process {
 public:
  Process() {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    process_ = fork();
    if (process_ == 0) {
      std::shared_ptr<SharedSegment> segment;
      Meeting mine;
      if (!SharedSegment::Create(&segment).ok() ||
          !segment->Allocate(sizeof(Public), &mine.public_offset).ok()) {
        _exit(1);
      }
      mine.segment = segment->address();
      if (write(ends[1], &mine, sizeof(mine)) != sizeof(mine)) _exit(1);
      for (;;) pause();
    }
    close(ends[1]);
    EXPECT_EQ(read(ends[0], &meeting_, sizeof(meeting_)), static_cast<ssize_t>(sizeof(meeting_)));
    close(ends[0]);
  }
  ~Process() { Kill(); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  void Kill() {
    if (process_ == 0) return;
    kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
    process_ = 0;
  }
  std::shared_ptr<Peer> Meet(Peers* peers) const {
    std::shared_ptr<Peer> peer;
    EXPECT_TRUE(peers->Find(meeting_.segment, meeting_.public_offset, &peer).ok());
    return peer;
  }

 private:
  struct Meeting {
    SharedSegment::Address segment;
    uint64_t public_offset = 0;
  };
  pid_t process_ = 0;
  Meeting meeting_;
};

TEST(PeersTest, ManyLooksAskTheSystemNowAndThen) {
  Process one, other;
  Peers peers(/*own=*/nullptr);
  const std::shared_ptr<Peer> first = one.Meet(&peers);
  const std::shared_ptr<Peer> second = other.Meet(&peers);
  if (!first->process.has_pidfd()) GTEST_SKIP() << "no pidfd here";
  times_asked = 0;
  const Clock::time_point start = Clock::now();
  for (int look = 0; look < 10000; ++look) ASSERT_FALSE(peers.LookForLosses());
  const auto turns = 1 + (Clock::now() - start) / std::chrono::microseconds(rules::kShmLossLookUs);
  EXPECT_GE(times_asked, 2);  // once about each
  EXPECT_LE(times_asked, 2 * turns);

  other.Kill();
  while (!peers.LookForLosses()) continue;
  EXPECT_FALSE(first->lost);
  EXPECT_TRUE(second->lost);
}

TEST(PeersTest, APeerThatNoGroupHasIsUnmapped) {
  Process one;
  Peers peers(/*own=*/nullptr);
  std::shared_ptr<Peer> peer = one.Meet(&peers);
  EXPECT_EQ(one.Meet(&peers), peer);
  const std::weak_ptr<SharedSegment> segment = peer->segment;
  peer.reset();
  EXPECT_TRUE(segment.expired());
  EXPECT_FALSE(peers.LookForLosses());
  EXPECT_FALSE(one.Meet(&peers)->lost);
}

// A rank that publishes its leave is detected at once.
TEST(PeersTest, AWordOfLeavingNeedsNoSystem) {
  Process one;
  Peers peers(/*own=*/nullptr);
  const std::shared_ptr<Peer> peer = one.Meet(&peers);
  ASSERT_FALSE(peers.LookForLosses());
  times_asked = 0;
  peer->shared->departed = 1;
  EXPECT_TRUE(peers.LookForLosses());
  EXPECT_TRUE(peer->lost);
  EXPECT_EQ(times_asked, 0);
}

}  // namespace
}  // namespace brigade::shm

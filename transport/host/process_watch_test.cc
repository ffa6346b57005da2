#include "transport/host/process_watch.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "gtest/gtest.h"

namespace brigade {
namespace {

// From here on this process gets no pidfd, as under a container's filter.
bool RefusePidfds() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter = {4, program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

pid_t Sleeper() {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  return child;
}

void ExpectTheEndNoticed(pid_t child, const ProcessWatch& watch) {
  kill(child, SIGKILL);
  // Has ended, and is not waited for yet.
  siginfo_t info;
  waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  EXPECT_TRUE(watch.HasEnded());
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(watch.HasEnded());
}

void NoticesTheEnd(bool pidfd) {
  const pid_t child = Sleeper();
  const ProcessWatch watch(child);
  EXPECT_EQ(watch.has_pidfd(), pidfd);
  EXPECT_FALSE(watch.HasEnded());
  ExpectTheEndNoticed(child, watch);
}

TEST(ProcessWatchTest, NoticesTheEnd) { NoticesTheEnd(ProcessWatch(getpid()).has_pidfd()); }

// A process whose main thread has ended, and another one not.
pid_t Headless() {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([] { pause(); }).detach();
    syscall(SYS_exit, 0);
  }
  const std::string file = "/proc/" + std::to_string(child) + "/stat";
  for (std::string state; state != "Z";) {
    std::string field;
    std::ifstream(file) >> field >> field >> state;
  }
  return child;
}

void ADeadMainThreadIsNotTheEnd() {
  const pid_t child = Headless();
  const ProcessWatch watch(child);
  EXPECT_FALSE(watch.HasEnded());
  ExpectTheEndNoticed(child, watch);
}

TEST(ProcessWatchTest, ADeadMainThreadIsNotTheEnd) { ADeadMainThreadIsNotTheEnd(); }

TEST(ProcessWatchTest, NoticesTheEndWithoutPidfd) {
  const pid_t child = fork();
  if (child == 0) {
    if (!RefusePidfds()) _exit(2);
    NoticesTheEnd(/*pidfd=*/false);
    ADeadMainThreadIsNotTheEnd();
    _exit(testing::Test::HasFailure() ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) GTEST_SKIP() << "no filters here";
  EXPECT_EQ(status, 0);
}

TEST(ProcessWatchTest, AllShareOneWhileItsProcessRuns) {
  const pid_t child = Sleeper();
  const std::shared_ptr<const ProcessWatch> watch = ProcessWatch::Of(child);
  EXPECT_EQ(ProcessWatch::Of(child), watch);
  EXPECT_NE(ProcessWatch::Of(getpid()), watch);
  EXPECT_FALSE(watch->HasEnded());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(watch->HasEnded());
  EXPECT_NE(ProcessWatch::Of(child), watch) << "the number may be another's";
  EXPECT_TRUE(ProcessWatch::Of(child)->HasEnded());
}

// A child that finds the lock taken waits until its alarm.
TEST(ProcessWatchTest, AProcessForksWhileNoThreadLooksForOne) {
  std::atomic<bool> over{false};
  std::thread other([&] {
    while (!over) (void)ProcessWatch::Of(getppid());
  });
  for (int i = 0; i < 100; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(100);
      _exit(ProcessWatch::Of(getpid())->HasEnded() ? 1 : 0);
    }
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
    if (status != 0) break;
  }
  over = true;
  other.join();
}

TEST(ProcessWatchTest, AMillisecondLaterItIsKnown) {
  const pid_t child = Sleeper();
  const ProcessWatch watch(child);
  EXPECT_TRUE(watch.RanLately());
  usleep(2000);
  EXPECT_TRUE(watch.RanLately());
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  usleep(2000);
  EXPECT_FALSE(watch.RanLately());
}

TEST(ProcessWatchTest, WatchesNothing) {
  EXPECT_FALSE(ProcessWatch().HasEnded());
  EXPECT_TRUE(ProcessWatch().RanLately());
}

}  // namespace
}  // namespace brigade

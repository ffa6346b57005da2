// main() of GoogleTest programs that run as an MPI job: every rank runs all tests, and all exit
// alike, so that one rank's failure is not lost among the others' success.
//
// BRIGADE_TEST_TWO_HOSTS=1: the ranks of odd number stand for another host, in a network namespace
// of their own. What MPI has connected by then stays connected. Where that is not allowed the tests
// are left out, and said to be.

#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace {

// A rank that leaves a test early is out of step: the others would wait for it.
class AbortAfterFatalFailure : public ::testing::EmptyTestEventListener {
  void OnTestEnd(const ::testing::TestInfo& test) override {
    if (!test.result()->HasFatalFailure()) return;
    std::fflush(nullptr);
    sleep(1);  // mpirun drops what it has not yet read from a rank that aborts
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
};

// Leaves out every test, and says so of each.
class SkipEverything : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    GTEST_SKIP() << "no network namespace to be had";
  }
};

// On all ranks, or on none.
bool MoveToTwoHosts() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int moved = rank == 1 ? unshare(CLONE_NEWNET) == 0 : 1;
  int pid = getpid();
  MPI_Bcast(&pid, 1, MPI_INT, /*root=*/1, MPI_COMM_WORLD);
  MPI_Bcast(&moved, 1, MPI_INT, /*root=*/1, MPI_COMM_WORLD);
  if (moved && rank > 1 && rank % 2 == 1) {
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
    const int handle = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    moved = setns(handle, CLONE_NEWNET) == 0;
    close(handle);
  }
  MPI_Allreduce(MPI_IN_PLACE, &moved, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return moved != 0;
}

}  // namespace

int main(int argc, char** argv) {
  // The least a user may ask for; the library must do with it.
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // One report of what was run. Bazel names its file to all ranks.
  if (rank != 0) GTEST_FLAG_SET(output, "");
  ::testing::InitGoogleTest(&argc, argv);
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  const char* const two_hosts = std::getenv("BRIGADE_TEST_TWO_HOSTS");
  if (two_hosts != nullptr && *two_hosts == '1' && !MoveToTwoHosts()) {
    listeners.Append(new SkipEverything);
  }
  listeners.Append(new AbortAfterFatalFailure);
  const int mine = RUN_ALL_TESTS();
  int any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}

// main() of GoogleTest programs that run as an MPI job: every rank runs all tests, and all exit
// with one code, so that one rank's failure is not lost among the others' success. If ranks should
// be on two hosts, and cannot, the tests are skipped, with a message.

#include <mpi.h>
#include <unistd.h>

#include <cstdio>

#include "gtest/gtest.h"
#include "test/support/two_hosts.h"

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

// Skips every test, with a message for each.
class SkipEverything : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override {
    GTEST_SKIP() << "no network namespace to be had";
  }
};

}  // namespace

int main(int argc, char** argv) {
  // The lowest level that a program may request; it must be enough for the library.
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // One report of what was run. Bazel names its file to all ranks.
  if (rank != 0) GTEST_FLAG_SET(output, "");
  ::testing::InitGoogleTest(&argc, argv);
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (!brigade::MoveToTwoHostsIfAsked()) listeners.Append(new SkipEverything);
  listeners.Append(new AbortAfterFatalFailure);
  const int mine = RUN_ALL_TESTS();
  int any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}

// main() of GoogleTest programs that run as an MPI job: every rank runs all tests, and all exit
// alike, so that one rank's failure is not lost among the others' success.

#include <mpi.h>
#include <unistd.h>

#include <cstdio>

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

}  // namespace

int main(int argc, char** argv) {
  // The least a user may ask for; the library must do with it.
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SINGLE, &provided);
  ::testing::InitGoogleTest(&argc, argv);
  ::testing::UnitTest::GetInstance()->listeners().Append(new AbortAfterFatalFailure);
  const int mine = RUN_ALL_TESTS();
  int any = 0;
  MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  return any;
}

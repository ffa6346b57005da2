// brigade.hpp: objects that clean up after themselves, in one process with the BLACS shim.

#include <mpi.h>

#include <string>
#include <vector>

#include "blacs_shim/blacs.h"
#include "brigade/brigade.hpp"
#include "gtest/gtest.h"

namespace brigade {
namespace {

TEST(BrigadeHpp, PatternsBesideTheShim) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int context = 0;
  Cblacs_get(-1, 0, &context);
  char order[] = "R";
  Cblacs_gridinit(&context, order, 1, size);

  direct::Engine engine;
  ASSERT_TRUE(engine.Create());
  direct::Group group;
  ASSERT_TRUE(group.Create(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size));
  std::vector<double> sum(1000, rank + 1);
  brigade_call call = {};
  call.pattern = BRIGADE_ALL_REDUCE;
  call.matrix = direct::MatrixOf(sum.data(), 1000, 1);
  direct::Operation operation;
  ASSERT_TRUE(group.Start(call, &operation));

  // The shim's traffic in between.
  double blacs_sum = rank + 1;
  char scope[] = "All", topology[] = " ";
  Cdgsum2d(context, scope, topology, 1, 1, &blacs_sum, 1, -1, -1);
  EXPECT_EQ(blacs_sum, size * (size + 1) / 2);

  brigade_statistics statistics;
  const direct::Result result = operation.Wait(&statistics);
  EXPECT_TRUE(result) << result.text;
  EXPECT_EQ(sum[999], size * (size + 1) / 2);
  EXPECT_GT(statistics.messages_sent, 0u);

  call.root = -3;
  call.pattern = BRIGADE_BROADCAST;
  const direct::Result wrong = group.Run(call);
  EXPECT_EQ(wrong.status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_NE(wrong.text.find("-3"), std::string::npos);
  Cblacs_gridexit(context);
}

}  // namespace
}  // namespace brigade

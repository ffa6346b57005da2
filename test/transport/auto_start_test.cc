// The cost of starting a job on one host: Open MPI's tool interface, which takes a quarter of a
// second to start, is not used.

#include <mpi.h>

#include <memory>

#include "gtest/gtest.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry/registry.h"

static int tool_starts = 0;

extern "C" int MPI_T_init_thread(int required, int* provided) {
  ++tool_starts;
  return PMPI_T_init_thread(required, provided);
}

namespace brigade {
namespace {

TEST(AutoStart, DoesNotAskForTheFabricOnOneHostAndElsewhereOnce) {
  std::unique_ptr<Endpoint> endpoint;
  ASSERT_TRUE(CreateEndpoint("auto", &endpoint).ok());
  MpiBootstrap bootstrap(MPI_COMM_WORLD);
  GroupId group = -1;
  ASSERT_TRUE(endpoint->OpenGroup(&bootstrap, &group).ok());
  EXPECT_STREQ(endpoint->CapabilitiesOf(group).name, "shm");
  endpoint->CloseGroup(group);
  EXPECT_EQ(tool_starts, 0);
  for (int i = 0; i < 2; ++i) EXPECT_NE(DescribeFabric().find("TCP"), std::string::npos);
  EXPECT_EQ(tool_starts, 1);
}

}  // namespace
}  // namespace brigade

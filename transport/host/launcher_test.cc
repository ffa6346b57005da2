#include "transport/host/launcher.h"

#include <cstdlib>
#include <string>

#include "gtest/gtest.h"

namespace brigade {
namespace {

class LauncherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name :
         {"OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALNRANKS",
          "MPI_LOCALRANKID", "PALS_LOCAL_SIZE", "PALS_LOCAL_RANKID", "SLURM_STEP_TASKS_PER_NODE",
          "SLURM_NODEID", "SLURM_LOCALID", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK",
          "PMI_SIZE", "PMI_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}) {
      unsetenv(name);
    }
  }
  static void Say(const char* name, const char* value) { setenv(name, value, 1); }
};

TEST_F(LauncherTest, NoVariableIsSet) {
  EXPECT_EQ(LocalRanks(), 1);
  EXPECT_EQ(LocalRank(), -1);
  EXPECT_EQ(JobRanks(), 0);
  EXPECT_EQ(JobRank(), -1);
}

TEST_F(LauncherTest, PositionInTheJob) {
  const char* const variables[][2] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                      {"PMI_SIZE", "PMI_RANK"},
                                      {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
  for (const auto& [size, rank] : variables) {
    Say(size, "4");
    Say(rank, "3");
    EXPECT_EQ(JobRanks(), 4) << size;
    EXPECT_EQ(JobRank(), 3) << rank;
    Say(size, "1");  // a batch script, whose processes all have its variables
    EXPECT_EQ(JobRank(), -1) << rank;
    unsetenv(size);
    unsetenv(rank);
  }
}

TEST_F(LauncherTest, OpenMpi) {
  Say("OMPI_COMM_WORLD_LOCAL_SIZE", "12");
  Say("OMPI_COMM_WORLD_LOCAL_RANK", "11");
  Say("SLURM_LOCALID", "0");  // of the daemon that srun has started
  EXPECT_EQ(LocalRanks(), 12);
  EXPECT_EQ(LocalRank(), 11);
}

TEST_F(LauncherTest, Hydra) {
  Say("MPI_LOCALNRANKS", "3");
  Say("MPI_LOCALRANKID", "2");
  EXPECT_EQ(LocalRanks(), 3);
  EXPECT_EQ(LocalRank(), 2);
}

TEST_F(LauncherTest, Srun) {
  Say("SLURM_STEP_TASKS_PER_NODE", "4(x2),3,5(x2)");
  Say("SLURM_LOCALID", "1");
  EXPECT_EQ(LocalRank(), 1);
  EXPECT_EQ(LocalRanks(), 1);  // without the node
  const int tasks[] = {4, 4, 3, 5, 5, 1};
  for (int node = 0; node < 6; ++node) {
    Say("SLURM_NODEID", std::to_string(node).c_str());
    EXPECT_EQ(LocalRanks(), tasks[node]) << node;
  }
}

TEST_F(LauncherTest, NoNumber) {
  Say("MPI_LOCALNRANKS", "many");
  Say("MPI_LOCALRANKID", "-3");
  EXPECT_EQ(LocalRanks(), 1);
  EXPECT_EQ(LocalRank(), -1);
}

// Hydra under a program of Open MPI.
TEST_F(LauncherTest, AProcessThatIsAloneIsOddWhereTheLauncherSaysMore) {
  EXPECT_EQ(WrongLauncher(1), "");
  Say("MPI_LOCALNRANKS", "4");
  EXPECT_NE(WrongLauncher(1).find("has started 4 processes"), std::string::npos);
  EXPECT_EQ(WrongLauncher(4), "");
  EXPECT_EQ(WrongLauncher(2), "");
}

}  // namespace
}  // namespace brigade

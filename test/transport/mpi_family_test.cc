// An MPI whose handles or statuses differ from the <mpi.h> of the build is detected, whatever its
// name. Its calls are defined here, before MPI's own.

#include "transport/mpi/mpi_family.h"

#include <mpi.h>

#include "gtest/gtest.h"

namespace {

enum class Other { kNothing, kHandles, kCount, kTag, kLongerStatus, kWrongBytes };
Other other = Other::kNothing;

}  // namespace

extern "C" int MPI_Type_size(MPI_Datatype type, int* bytes) {
  const int error = PMPI_Type_size(type, bytes);
  if (other == Other::kHandles) *bytes = 8;
  return error;
}

extern "C" int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  const int error = PMPI_Get_count(status, type, count);
  if (other == Other::kCount) *count = 0;
  return error;
}

extern "C" int MPI_Sendrecv(const void* sent, int to_send, MPI_Datatype type_of_sent, int to,
                            int tag_of_sent, void* received, int to_receive,
                            MPI_Datatype type_of_received, int from, int tag_of_received,
                            MPI_Comm comm, MPI_Status* status) {
  const int error =
      PMPI_Sendrecv(sent, to_send, type_of_sent, to, tag_of_sent, received, to_receive,
                    type_of_received, from, tag_of_received, comm, status);
  if (other == Other::kTag) status->MPI_TAG = 0;
  if (other == Other::kLongerStatus) status[1].MPI_ERROR = 0;
  if (other == Other::kWrongBytes) static_cast<char*>(received)[0] = 'x';
  return error;
}

namespace brigade {
namespace {

TEST(MpiFamily, OursPassesTheTest) {
  EXPECT_TRUE(CheckMpi().ok()) << CheckMpi().ToString();
  EXPECT_TRUE(TestMpi().ok()) << TestMpi().ToString();
  EXPECT_TRUE(ReachesOwnMpi());
  EXPECT_EQ(WrongMpiFamily(), "");
}

TEST(MpiFamily, TheErrorNamesTheDifferenceToAnotherMpi) {
  const struct {
    Other other;
    const char* text;
  } cases[] = {
      {Other::kHandles, "none that it can use: its handles are of another kind"},
      {Other::kCount, "none that it can use: the status of a message is of another kind"},
      {Other::kTag, "the status of a message is of another kind"},
      {Other::kLongerStatus, "the status of a message is of another kind"},
      {Other::kWrongBytes, "a message does not arrive as it was sent"},
  };
  for (const auto& one : cases) {
    other = one.other;
    const Status status = TestMpi();
    EXPECT_EQ(status.code(), StatusCode::kUnavailable);
    EXPECT_NE(status.message().find(one.text), std::string::npos) << status.message();
  }
  other = Other::kNothing;
}

}  // namespace
}  // namespace brigade

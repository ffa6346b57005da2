// Blocks arrive where they belong, in as few messages as MPI can count.

#include "li_shim/mpi/blocks.h"

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <numeric>
#include <vector>

namespace brigade {
namespace li {
namespace {

TEST(BlocksTest, ArriveInFewMessages) {
  constexpr size_t kMost = 10;
  std::vector<char> from(100);
  std::iota(from.begin(), from.end(), static_cast<char>(1));
  std::vector<char> to(200);
  Blocks leaving(kMost);
  Blocks arriving(kMost);
  std::vector<char> wanted(200);
  size_t at = 0;
  for (const size_t bytes : std::initializer_list<size_t>{3, 4, 25, 2, 3, 0, 9}) {
    // Backwards, with gaps.
    const size_t place = to.size() - 2 * at - bytes;
    leaving.Add(reinterpret_cast<std::byte*>(&from[at]), bytes);
    arriving.Add(reinterpret_cast<std::byte*>(&to[place]), bytes);
    std::copy_n(&from[at], bytes, &wanted[place]);
    at += bytes + 1;
  }
  std::vector<MPI_Request> requests;
  ASSERT_TRUE(arriving
                  .Start([&](void* buffer, int count, MPI_Datatype type) {
                    MPI_Irecv(buffer, count, type, 0, 0, MPI_COMM_SELF, &requests.emplace_back());
                    return Status();
                  })
                  .ok());
  const size_t messages = requests.size();
  ASSERT_TRUE(leaving
                  .Start([&](void* buffer, int count, MPI_Datatype type) {
                    int bytes;
                    MPI_Type_size(type, &bytes);
                    EXPECT_LE(static_cast<size_t>(count * bytes), kMost);
                    MPI_Isend(buffer, count, type, 0, 0, MPI_COMM_SELF, &requests.emplace_back());
                    return Status();
                  })
                  .ok());
  EXPECT_EQ(messages, 5u);  // 3 + 4, 10, 10, 5 + 2 + 3, 9
  ASSERT_EQ(requests.size(), 2 * messages);
  MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  EXPECT_EQ(to, wanted);
  // They are forgotten.
  EXPECT_TRUE(
      leaving.Start([](void*, int, MPI_Datatype) { return Status(StatusCode::kInternal, ""); })
          .ok());
}

}  // namespace
}  // namespace li
}  // namespace brigade

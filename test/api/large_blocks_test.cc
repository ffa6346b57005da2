// Gathers, scatters, all-to-alls and scans of more than 2^31 bytes, on two ranks. Rank 1 has a long
// block, and rank 0 a short one.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "brigade/brigade.hpp"
#include "gtest/gtest.h"

namespace brigade {
namespace {

// 2 GiB and a bit, in columns with gaps between them.
constexpr int64_t kRows = 32768;
constexpr int64_t kLd = kRows + 1;
constexpr int64_t kCols = 8200;
static_assert(sizeof(double) * kRows * kCols > (uint64_t{1} << 31));

class LargeBlocks : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    ASSERT_TRUE(engine_.Create());
    ASSERT_TRUE(group_.FromMpi(engine_, MPI_Comm_c2f(MPI_COMM_WORLD), 1, 2));
  }

  // One matrix serves all tests: memory limits them.
  static std::vector<double>& Memory() {
    static std::vector<double> memory(static_cast<size_t>(kLd * kCols));
    return memory;
  }
  static View<double> Long() { return {Memory().data(), kRows, kCols, kLd}; }
  static View<double> Of(double* number) { return {number, 1}; }

  static void Fill(double seed) {
    for (int64_t j = 0; j < kCols; ++j) {
      double* const column = Memory().data() + j * kLd;
      for (int64_t i = 0; i < kRows; ++i) column[i] = Value(seed, i, j);
      column[kRows] = -1;
    }
  }
  // Returns the number of elements, gaps included, that differ from `scale` times those of Fill.
  static int64_t Wrong(double seed, double scale = 1) {
    int64_t wrong = 0;
    for (int64_t j = 0; j < kCols; ++j) {
      const double* const column = Memory().data() + j * kLd;
      for (int64_t i = 0; i < kRows; ++i) wrong += column[i] != scale * Value(seed, i, j);
      wrong += column[kRows] != -1;
    }
    return wrong;
  }
  static double Value(double seed, int64_t i, int64_t j) {
    return seed + static_cast<double>(i % 1000 + j * 4096);
  }

  int rank_ = 0;
  Engine engine_;
  Group group_;
};

TEST_F(LargeBlocks, Scatter) {
  Fill(rank_);
  double root_block = 7, short_block = 0;
  const std::vector<View<double>> blocks = {Of(&root_block), Long()};
  const Result result = group_.ScatterV(blocks, rank_ == 0 ? Of(&short_block) : Long(), 0);
  ASSERT_TRUE(result) << result.text;
  EXPECT_EQ(Wrong(0), 0);
  EXPECT_EQ(short_block, rank_ == 0 ? 7 : 0);
}

TEST_F(LargeBlocks, Gather) {
  Fill(rank_);
  double root_block = 0, short_block = 7;
  const std::vector<View<double>> blocks = {Of(&root_block), Long()};
  const Result result = group_.GatherV(rank_ == 0 ? Of(&short_block) : Long(), blocks, 0);
  ASSERT_TRUE(result) << result.text;
  EXPECT_EQ(Wrong(1), 0);
  EXPECT_EQ(root_block, rank_ == 0 ? 7 : 0);
}

// Only the block from rank 0 to rank 1 is long.
TEST_F(LargeBlocks, AllToAll) {
  Fill(rank_);
  double out[2] = {rank_ + 1.0, rank_ + 2.0}, in[2] = {0, 0};
  std::vector<View<double>> sent = {Of(&out[0]), Of(&out[1])};
  std::vector<View<double>> received = {Of(&in[0]), Of(&in[1])};
  (rank_ == 0 ? sent[1] : received[0]) = Long();
  const Result result = group_.AllToAllV(sent, received);
  ASSERT_TRUE(result) << result.text;
  EXPECT_EQ(Wrong(0), 0);
  EXPECT_EQ(in[0], rank_ == 0 ? 1 : 0);
  EXPECT_EQ(in[1], rank_ == 0 ? 2 : 3);
}

TEST_F(LargeBlocks, Scan) {
  Fill(5);
  const Result result = group_.ScanInPlace(Long(), BRIGADE_SUM);
  ASSERT_TRUE(result) << result.text;
  EXPECT_EQ(Wrong(5, rank_ + 1), 0);
}

TEST_F(LargeBlocks, Exscan) {
  Fill(5 + rank_);
  const Result result = group_.ExScanInPlace(Long(), BRIGADE_SUM);
  ASSERT_TRUE(result) << result.text;
  EXPECT_EQ(Wrong(5), 0);  // rank 0 keeps its own matrix, and rank 1 gets it
}

}  // namespace
}  // namespace brigade

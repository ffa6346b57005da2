// Messages of more than 2^31 bytes through the BLACS, on two ranks: every count that some layer
// might keep in an int is beyond one.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "brigade/blacs.h"
#include "gtest/gtest.h"

namespace {

// 2 GiB and a bit, in columns with gaps between them.
constexpr int kRows = 32768;
constexpr int kLd = kRows + 1;
constexpr int kCols = 8200;

size_t At(int i, int j) { return static_cast<size_t>(j) * kLd + i; }

double Value(int seed, int i, int j) { return seed + i % 1000 + j * 4096.0; }

// One matrix serves all tests: memory limits them.
std::vector<double>& Matrix() {
  static std::vector<double> matrix(static_cast<size_t>(kLd) * kCols);
  return matrix;
}

void Fill(int seed) {
  for (int j = 0; j < kCols; ++j) {
    for (int i = 0; i < kRows; ++i) Matrix()[At(i, j)] = Value(seed, i, j);
    Matrix()[At(kRows, j)] = -1;
  }
}

// Returns the number of elements, gaps included, that differ from `scale` times the values of Fill.
int64_t Wrong(int seed, double scale) {
  int64_t wrong = 0;
  for (int j = 0; j < kCols; ++j) {
    for (int i = 0; i < kRows; ++i) wrong += Matrix()[At(i, j)] != scale * Value(seed, i, j);
    wrong += Matrix()[At(kRows, j)] != -1;
  }
  return wrong;
}

class BlacsLarge : public testing::Test {
 protected:
  BlacsLarge() {
    static_assert(sizeof(double) * kRows * kCols > (uint64_t{1} << 31), "not large");
    Cblacs_get(-1, 0, &context_);
    Cblacs_gridinit(&context_, "Row", 1, 2);
    int rows, cols, row;
    Cblacs_gridinfo(context_, &rows, &cols, &row, &rank_);
  }
  ~BlacsLarge() override { Cblacs_gridexit(context_); }

  int context_;
  int rank_;
};

TEST_F(BlacsLarge, PointToPoint) {
  Fill(rank_);
  if (rank_ == 0) {
    Cdgesd2d(context_, kRows, kCols, Matrix().data(), kLd, 0, 1);
  } else {
    Cdgerv2d(context_, kRows, kCols, Matrix().data(), kLd, 0, 0);
    EXPECT_EQ(Wrong(0, 1), 0);
  }
}

TEST_F(BlacsLarge, Broadcast) {
  for (const char* top : {" ", "I"}) {
    Fill(rank_);
    if (rank_ == 1) {
      Cdgebs2d(context_, "Row", top, kRows, kCols, Matrix().data(), kLd);
    } else {
      Cdgebr2d(context_, "Row", top, kRows, kCols, Matrix().data(), kLd, 0, 1);
    }
    EXPECT_EQ(Wrong(1, 1), 0);
  }
}

TEST_F(BlacsLarge, Sum) {
  Fill(5);
  Cdgsum2d(context_, "All", " ", kRows, kCols, Matrix().data(), kLd, -1, -1);
  EXPECT_EQ(Wrong(5, 2), 0);
}

}  // namespace

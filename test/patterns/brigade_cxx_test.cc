// brigade.hpp: objects that clean up after themselves, in one process with the BLACS shim.

#include <mpi.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "brigade/blacs.h"
#include "brigade/brigade.hpp"
#include "gtest/gtest.h"
#include "test/support/load_blas.h"

namespace brigade {
namespace {

// The shim's calls and the program's have one library below them: a timeline of the one shows both.
TEST(BrigadeHpp, OneLibraryInAProcess) {
  int rank = 0, size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  brigade_options options;
  brigade_options_init(&options);
  const std::string file = std::string(std::getenv("TMPDIR")) + "/both";
  options.trace_file = file.c_str();
  {
    direct::Engine engine;
    ASSERT_TRUE(engine.Create(&options));
    int context = 0;
    Cblacs_get(-1, 0, &context);
    char order[] = "R", scope[] = "All", topology[] = " ";
    Cblacs_gridinit(&context, order, 1, size);
    double sum = 1;
    Cdgsum2d(context, scope, topology, 1, 1, &sum, 1, -1, -1);
    Cblacs_gridexit(context);
  }
  std::ifstream part(file + "." + std::to_string(rank));
  const std::string trace((std::istreambuf_iterator<char>(part)), std::istreambuf_iterator<char>());
  EXPECT_NE(trace.find("\"dgsum2d\""), std::string::npos);
}

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

class BrigadeHppOperation : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    ASSERT_TRUE(engine_.Create());
    ASSERT_TRUE(group_.Create(engine_, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size_));
  }
  // A sum over all ranks, in `*values`.
  brigade_call SumOf(std::vector<double>* values) {
    values->assign(1000, rank_ + 1);
    brigade_call call = {};
    call.pattern = BRIGADE_ALL_REDUCE;
    call.matrix = direct::MatrixOf(values->data(), 1000, 1);
    return call;
  }
  std::vector<double> Sum() const { return std::vector<double>(1000, size_ * (size_ + 1) / 2.0); }

  int rank_ = 0;
  int size_ = 0;
  std::vector<double> first_, second_;
  direct::Engine engine_;
  direct::Group group_;
};

TEST_F(BrigadeHppOperation, OfNothingIsDone) {
  direct::Operation operation;
  const auto expect_done = [&] {
    EXPECT_TRUE(operation.Test());
    brigade_statistics statistics;
    statistics.messages_sent = 7;
    EXPECT_TRUE(operation.Wait(&statistics));
    EXPECT_EQ(statistics.messages_sent, 0u);
  };
  expect_done();
  brigade_call call = SumOf(&first_);
  call.op = static_cast<brigade_op>(77);
  EXPECT_EQ(group_.Start(call, &operation).status, BRIGADE_INVALID_ARGUMENT);
  expect_done();
  ASSERT_TRUE(group_.Start(SumOf(&first_), &operation));
  EXPECT_TRUE(operation.Wait());
  EXPECT_EQ(first_, Sum());
  expect_done();
}

TEST_F(BrigadeHppOperation, UnderWayIsNotStartedAgain) {
  direct::Operation operation;
  ASSERT_TRUE(group_.Start(SumOf(&first_), &operation));
  const brigade_call another = SumOf(&second_);
  const direct::Result busy = group_.Start(another, &operation);
  EXPECT_EQ(busy.status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_NE(busy.text.find("not waited for"), std::string::npos) << busy.text;
  while (!operation.Test()) {
  }
  EXPECT_EQ(group_.Start(another, &operation).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_TRUE(operation.Wait());
  EXPECT_EQ(first_, Sum());
  ASSERT_TRUE(group_.Start(another, &operation));
  EXPECT_TRUE(operation.Wait());
  EXPECT_EQ(second_, Sum());
}

TEST_F(BrigadeHppOperation, IsWaitedForWhereAnotherIsPutInItsPlace) {
  direct::Operation operation, other;
  ASSERT_TRUE(group_.Start(SumOf(&first_), &operation));
  ASSERT_TRUE(group_.Start(SumOf(&second_), &other));
  operation = std::move(other);
  EXPECT_EQ(first_, Sum());
  EXPECT_TRUE(operation.Wait());
  EXPECT_EQ(second_, Sum());
}

TEST_F(BrigadeHppOperation, OutlivesGroupAndEngine) {
  direct::Operation waited, left;
  ASSERT_TRUE(group_.Start(SumOf(&first_), &waited));
  ASSERT_TRUE(group_.Start(SumOf(&second_), &left));
  group_ = direct::Group();
  engine_ = direct::Engine();
  EXPECT_TRUE(waited.Wait());
  EXPECT_EQ(first_, Sum());
}

TEST_F(BrigadeHppOperation, WindowsGoWithTheirObjects) {
  const int comm = MPI_Comm_c2f(MPI_COMM_WORLD);
  direct::Window window;
  EXPECT_TRUE(window.Free()) << "of nothing";
  std::vector<double> memory(2);
  EXPECT_EQ(window.Create(engine_, comm, nullptr, 16).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(window.get(), nullptr);
  ASSERT_TRUE(window.Create(engine_, comm, memory.data(), 16, sizeof(double)));
  const double sent = rank_ + 1;
  const auto put_to_next = [&] {
    ASSERT_EQ(brigade_window_fence(window.get(), 0), BRIGADE_OK);
    ASSERT_EQ(
        brigade_window_put(window.get(), &sent, 1, BRIGADE_ELEMENT_DOUBLE, (rank_ + 1) % size_, 1),
        BRIGADE_OK);
    ASSERT_EQ(brigade_window_fence(window.get(), 0), BRIGADE_OK);
  };
  put_to_next();
  EXPECT_EQ(memory[1], (rank_ + size_ - 1) % size_ + 1);

  // Free is refused, and then is not.
  ASSERT_EQ(brigade_window_lock_all(window.get()), BRIGADE_OK);
  const direct::Result locked = window.Free();
  EXPECT_EQ(locked.status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_NE(locked.text.find("lock"), std::string::npos) << locked.text;
  ASSERT_NE(window.get(), nullptr);
  ASSERT_EQ(brigade_window_unlock_all(window.get()), BRIGADE_OK);
  EXPECT_TRUE(window.Free());
  EXPECT_EQ(window.get(), nullptr);

  // It keeps its engine, and ends the others' calls if it goes alone.
  void* allocated = nullptr;
  ASSERT_TRUE(window.Allocate(engine_, comm, 16, sizeof(double), &allocated));
  group_ = direct::Group();
  engine_ = direct::Engine();
  put_to_next();
  EXPECT_EQ(static_cast<double*>(allocated)[1], (rank_ + size_ - 1) % size_ + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) {
    window = direct::Window();
  } else {
    EXPECT_EQ(brigade_window_fence(window.get(), 0), BRIGADE_ABORTED);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(BrigadeHppOperation, MultipliersGoWithTheirObjects) {
  LoadBlas();
  const int comm = MPI_Comm_c2f(MPI_COMM_WORLD);
  direct::Multiplier multiplier;
  EXPECT_TRUE(multiplier.Free()) << "of nothing";
  EXPECT_EQ(multiplier.Create(engine_, comm, size_ + 1, 1).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(multiplier.get(), nullptr);

  // A is size x 1 and B is 1 x size, dealt by single rows and in one block.
  const double one = 1, zero = 0;
  double a = rank_ + 1;
  std::vector<double> b(static_cast<size_t>(size_), 2), c(static_cast<size_t>(size_));
  brigade_product product = {};
  product.element = BRIGADE_ELEMENT_DOUBLE;
  product.m = product.n = size_;
  product.k = 1;
  product.alpha = &one;
  product.beta = &zero;
  product.a = {&a, size_, 1, 1, 1, 0, 0, 1, 0, 0, nullptr};
  product.b = {b.data(), 1, size_, 1, size_, 0, 0, 1, 0, 0, nullptr};
  product.c = {c.data(), size_, size_, 1, size_, 0, 0, 1, 0, 0, nullptr};
  const std::vector<double> wanted(static_cast<size_t>(size_), 2.0 * (rank_ + 1));

  ASSERT_TRUE(multiplier.Create(engine_, comm, size_, 1));
  brigade_multiply_options options;
  brigade_multiply_options_init(&options);
  brigade_multiply_statistics statistics = {};
  const direct::Result result = multiplier.Multiply(product, &options, &statistics);
  EXPECT_TRUE(result) << result.text;
  EXPECT_EQ(c, wanted);
  EXPECT_EQ(statistics.products, 1);
  product.m = -1;
  EXPECT_EQ(multiplier.Multiply(product).status, BRIGADE_INVALID_ARGUMENT);
  product.m = size_;
  EXPECT_TRUE(multiplier.Free());
  EXPECT_EQ(multiplier.get(), nullptr);
  EXPECT_EQ(multiplier.Multiply(product).status, BRIGADE_INVALID_ARGUMENT);

  // It keeps its engine, and ends the others' calls if it goes alone.
  ASSERT_TRUE(multiplier.Create(engine_, comm, size_, 1));
  group_ = direct::Group();
  engine_ = direct::Engine();
  c.assign(c.size(), 0);
  EXPECT_TRUE(multiplier.Multiply(product));
  EXPECT_EQ(c, wanted);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) {
    multiplier = direct::Multiplier();
  } else {
    EXPECT_EQ(multiplier.Multiply(product).status, BRIGADE_ABORTED);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace brigade

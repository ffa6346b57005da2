// brigade.hpp: objects that clean up after themselves, in one process with the BLACS shim.

#include <mpi.h>

#include <cstdint>
#include <cstdlib>
#include <eigen3/Eigen/Dense>
#include <fstream>
#include <iterator>
#include <stdexcept>
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
  EngineOptions options;
  const std::string file = std::string(std::getenv("TMPDIR")) + "/both";
  options.trace_file = file.c_str();
  {
    Engine engine;
    ASSERT_TRUE(engine.Create(options));
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

  Engine engine;
  ASSERT_TRUE(engine.Create());
  Group group;
  ASSERT_TRUE(group.FromMpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size));
  std::vector<double> sum(1000, rank + 1);
  Operation operation;
  ASSERT_TRUE(group.StartAllReduceInPlace(sum, BRIGADE_SUM, &operation));

  // The shim's traffic in between.
  double blacs_sum = rank + 1;
  char scope[] = "All", topology[] = " ";
  Cdgsum2d(context, scope, topology, 1, 1, &blacs_sum, 1, -1, -1);
  EXPECT_EQ(blacs_sum, size * (size + 1) / 2);

  Statistics statistics;
  const Result result = operation.Wait(&statistics);
  EXPECT_TRUE(result) << result.text;
  EXPECT_EQ(sum[999], size * (size + 1) / 2);
  EXPECT_GT(statistics.messages_sent, 0u);

  const Result wrong = group.Broadcast(sum, -3);
  EXPECT_EQ(wrong.status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_NE(wrong.text.find("-3"), std::string::npos);
  Cblacs_gridexit(context);
}

TEST(BrigadeHpp, CallsOfEmptyObjectsReturnErrors) {
  Group group, other;
  std::vector<double> values(3);
  Operation operation;
  Plan plan;
  Window window;
  EXPECT_EQ(group.Broadcast(values, 0).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(group.StartBarrier(&operation).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(group.PlanBarrier(&plan).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(plan.Run().status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(group.Split(0, 0, &other).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(group.Duplicate(&other).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(group.Error().status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(window.Create(group, nullptr, 0).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(group.size(), -1);
  EXPECT_EQ(group.rank(), -1);
  group.Abort("nothing");
  Engine().Progress();
}

class BrigadeHppOperation : public testing::Test {
 protected:
  void SetUp() override {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
    ASSERT_TRUE(engine_.Create());
    ASSERT_TRUE(group_.FromMpi(engine_, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size_));
  }
  // Starts a sum over all ranks, in `*values`.
  Result StartSum(std::vector<double>* values, Operation* operation) {
    values->assign(1000, rank_ + 1);
    return group_.StartAllReduceInPlace(*values, BRIGADE_SUM, operation);
  }
  std::vector<double> Sum() const { return std::vector<double>(1000, size_ * (size_ + 1) / 2.0); }

  int rank_ = 0;
  int size_ = 0;
  std::vector<double> first_, second_;
  Engine engine_;
  Group group_;
};

TEST_F(BrigadeHppOperation, ANullOperationIsComplete) {
  Operation operation;
  const auto expect_done = [&] {
    EXPECT_TRUE(operation.Test());
    Statistics statistics;
    statistics.messages_sent = 7;
    EXPECT_TRUE(operation.Wait(&statistics));
    EXPECT_EQ(statistics.messages_sent, 0u);
  };
  expect_done();
  EXPECT_EQ(group_.StartAllReduceInPlace(first_, static_cast<brigade_op>(77), &operation).status,
            BRIGADE_INVALID_ARGUMENT);
  expect_done();
  ASSERT_TRUE(StartSum(&first_, &operation));
  EXPECT_TRUE(operation.Wait());
  EXPECT_EQ(first_, Sum());
  expect_done();
}

TEST_F(BrigadeHppOperation, AnActiveOperationIsNotStartedAgain) {
  Operation operation;
  ASSERT_TRUE(StartSum(&first_, &operation));
  const Result busy = StartSum(&second_, &operation);
  EXPECT_EQ(busy.status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_NE(busy.text.find("not waited for"), std::string::npos) << busy.text;
  while (!operation.Test()) {
  }
  EXPECT_EQ(StartSum(&second_, &operation).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_TRUE(operation.Wait());
  EXPECT_EQ(first_, Sum());
  ASSERT_TRUE(StartSum(&second_, &operation));
  EXPECT_TRUE(operation.Wait());
  EXPECT_EQ(second_, Sum());
}

TEST_F(BrigadeHppOperation, StaysWhereAWaitIsRefused) {
  Operation operation;
  ASSERT_TRUE(StartSum(&first_, &operation));
  brigade_statistics counters = {};
  EXPECT_EQ(operation.Wait(&counters).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(StartSum(&second_, &operation).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_TRUE(operation.Wait());
  EXPECT_EQ(first_, Sum());
}

TEST_F(BrigadeHppOperation, IsWaitedForWhereAnotherIsPutInItsPlace) {
  Operation operation, other;
  ASSERT_TRUE(StartSum(&first_, &operation));
  ASSERT_TRUE(StartSum(&second_, &other));
  operation = std::move(other);
  EXPECT_EQ(first_, Sum());
  EXPECT_TRUE(operation.Wait());
  EXPECT_EQ(second_, Sum());
}

TEST_F(BrigadeHppOperation, OutlivesGroupAndEngine) {
  Operation waited, left;
  ASSERT_TRUE(StartSum(&first_, &waited));
  ASSERT_TRUE(StartSum(&second_, &left));
  group_ = Group();
  engine_ = Engine();
  EXPECT_TRUE(waited.Wait());
  EXPECT_EQ(first_, Sum());
}

TEST_F(BrigadeHppOperation, SeveralAreWaitedFor) {
  Operation two[2];
  ASSERT_TRUE(StartSum(&first_, &two[0]));
  ASSERT_TRUE(StartSum(&second_, &two[1]));
  EXPECT_TRUE(WaitAll(two));
  EXPECT_EQ(first_, Sum());
  EXPECT_EQ(second_, Sum());
  EXPECT_TRUE(WaitAll(two)) << "all are null";

  // One after the other; the last one is null.
  std::vector<Operation> three(3);
  ASSERT_TRUE(StartSum(&first_, &three[0]));
  ASSERT_TRUE(StartSum(&second_, &three[1]));
  size_t one = 7, other = 7, none = 7;
  ASSERT_TRUE(WaitAny(three, &one));
  ASSERT_TRUE(WaitAny(three, &other));
  EXPECT_EQ(one + other, 1u);
  ASSERT_TRUE(WaitAny(three, &none));
  EXPECT_EQ(none, 3u);
  EXPECT_EQ(first_, Sum());
  EXPECT_EQ(second_, Sum());

  // They keep the group and the engine.
  ASSERT_TRUE(StartSum(&first_, &three[0]));
  ASSERT_TRUE(StartSum(&second_, &three[2]));
  group_ = Group();
  engine_ = Engine();
  std::vector<size_t> indices;
  size_t ended = 0;
  while (ended < 2) {
    ASSERT_TRUE(WaitSome(three, &indices));
    ASSERT_FALSE(indices.empty());
    for (const size_t i : indices) EXPECT_TRUE(i == 0 || i == 2);
    ended += indices.size();
  }
  EXPECT_TRUE(WaitSome(three, &indices));
  EXPECT_TRUE(indices.empty());
}

TEST_F(BrigadeHppOperation, SeveralAreTested) {
  std::vector<Operation> two(2);
  bool done = false;
  ASSERT_TRUE(StartSum(&first_, &two[0]));
  ASSERT_TRUE(StartSum(&second_, &two[1]));
  while (!done) ASSERT_TRUE(TestAll(two, &done));
  EXPECT_EQ(first_, Sum());
  EXPECT_EQ(second_, Sum());

  ASSERT_TRUE(StartSum(&first_, &two[1]));
  size_t index = 7;
  for (done = false; !done;) ASSERT_TRUE(TestAny(two, &index, &done));
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(first_, Sum());

  ASSERT_TRUE(StartSum(&second_, &two[0]));
  std::vector<size_t> indices;
  while (indices.empty()) ASSERT_TRUE(TestSome(two, &indices));
  EXPECT_EQ(indices, std::vector<size_t>{0});
  EXPECT_EQ(second_, Sum());
}

TEST(BrigadeHpp, AGroupIsOfNoIntercommunicator) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm both = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? 0 : 1, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, 0, &both);
  Engine engine;
  Group group;
  ASSERT_TRUE(engine.Create());
  EXPECT_EQ(group.FromMpi(engine, MPI_Comm_c2f(both), 1, 2).status, BRIGADE_INVALID_ARGUMENT);
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

TEST_F(BrigadeHppOperation, SeveralAreOfOneEngine) {
  Engine engine;
  Group group;
  ASSERT_TRUE(engine.Create());
  ASSERT_TRUE(group.FromMpi(engine, MPI_Comm_c2f(MPI_COMM_WORLD), 1, size_));
  Operation two[2];
  ASSERT_TRUE(StartSum(&first_, &two[0]));
  ASSERT_TRUE(group.StartBarrier(&two[1]));
  EXPECT_EQ(WaitAll(two).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_TRUE(two[0].Wait()) << "nothing was freed";
  EXPECT_TRUE(two[1].Wait());
  EXPECT_EQ(first_, Sum());
}

TEST_F(BrigadeHppOperation, PlansKeepTheirGroup) {
  Plan plan;
  first_.assign(10, rank_ + 1);
  std::vector<double> sums(10);
  ASSERT_TRUE(group_.PlanAllReduce(first_, sums, BRIGADE_SUM, &plan));
  group_ = Group();
  engine_ = Engine();
  for (int run = 0; run < 3; ++run) {
    sums.assign(10, 0);
    EXPECT_TRUE(plan.Run());
    EXPECT_EQ(sums, std::vector<double>(10, size_ * (size_ + 1) / 2.0));
  }
  Operation operation;
  EXPECT_TRUE(plan.Start(&operation));
  EXPECT_TRUE(operation.Wait());
}

// Makes a call in its three forms, and checks each time what it has written.
template <typename Run, typename Start, typename Make, typename Verify>
void InThreeForms(const Run& run, const Start& start, const Make& make, const Verify& verify) {
  const auto expect = [&](const Result& result, const char* form) {
    EXPECT_TRUE(result) << form << ": " << result.text;
  };
  expect(run(), "blocking");
  verify();
  Operation operation;
  expect(start(&operation), "started");
  expect(operation.Wait(), "started");
  verify();
  Plan plan;
  expect(make(&plan), "planned");
  expect(plan.Run(), "planned");
  verify();
}

class BrigadeHppBlocks : public BrigadeHppOperation {
 protected:
  // Returns a view of `count` elements for each rank, one behind the other.
  std::vector<View<double>> BlocksOf(std::vector<double>* values, int count) const {
    std::vector<View<double>> blocks;
    for (int q = 0; q < size_; ++q) blocks.emplace_back(values->data() + q * count, count);
    return blocks;
  }
  View<double> Columns(std::vector<double>* values) const { return {values->data(), 2, size_}; }
  // Checks two elements of each rank's, of which `of_rank` returns the value, and clears them.
  template <typename OfRank>
  void Verify(std::vector<double>* values, const OfRank& of_rank) const {
    for (int i = 0; i < 2 * size_; ++i) EXPECT_EQ((*values)[i], of_rank(i / 2));
    values->assign(values->size(), -1);
  }

  int root_ = 0;
};

TEST_F(BrigadeHppBlocks, Gather) {
  const std::vector<double> own(2, rank_);
  std::vector<double> all(2 * size_, -1);
  const auto verify = [&] { Verify(&all, [&](int q) { return rank_ == root_ ? q : -1; }); };
  InThreeForms([&] { return group_.Gather(own, Columns(&all), root_); },
               [&](Operation* o) { return group_.StartGather(own, Columns(&all), root_, o); },
               [&](Plan* p) { return group_.PlanGather(own, Columns(&all), root_, p); }, verify);
  const std::vector<View<double>> blocks = BlocksOf(&all, 2);
  InThreeForms([&] { return group_.GatherV(own, blocks, root_); },
               [&](Operation* o) { return group_.StartGatherV(own, blocks, root_, o); },
               [&](Plan* p) { return group_.PlanGatherV(own, blocks, root_, p); }, verify);
}

TEST_F(BrigadeHppBlocks, AreOneForEachRank) {
  std::vector<double> own(2), all(2 * size_ + 2);
  std::vector<View<double>> blocks = BlocksOf(&all, 2);
  blocks.emplace_back(own.data(), 2);
  const auto refused = [](const Result& result, const std::string& name) {
    EXPECT_EQ(result.status, BRIGADE_INVALID_ARGUMENT);
    EXPECT_EQ(result.text.find(name + " has "), 0u) << result.text;
  };
  refused(group_.AllGatherV(own, blocks), "blocks");
  refused(group_.GatherV(own, blocks, root_), "blocks");
  refused(group_.ScatterV(blocks, own, root_), "blocks");
  refused(group_.ReduceScatterV(blocks, own, BRIGADE_SUM), "blocks");
  refused(group_.AllToAllV(BlocksOf(&all, 1), blocks), "received");
  blocks.resize(size_ - 1);
  refused(group_.AllToAllV(blocks, BlocksOf(&all, 1)), "sent");
}

TEST_F(BrigadeHppBlocks, Scatter) {
  std::vector<double> own(2, -1), all;
  for (int q = 0; q < size_; ++q) all.insert(all.end(), 2, q);
  const auto verify = [&] {
    EXPECT_EQ(own, std::vector<double>(2, rank_));
    own.assign(2, -1);
  };
  InThreeForms([&] { return group_.Scatter(Columns(&all), own, root_); },
               [&](Operation* o) { return group_.StartScatter(Columns(&all), own, root_, o); },
               [&](Plan* p) { return group_.PlanScatter(Columns(&all), own, root_, p); }, verify);
  const std::vector<View<double>> blocks = BlocksOf(&all, 2);
  InThreeForms([&] { return group_.ScatterV(blocks, own, root_); },
               [&](Operation* o) { return group_.StartScatterV(blocks, own, root_, o); },
               [&](Plan* p) { return group_.PlanScatterV(blocks, own, root_, p); }, verify);
}

TEST_F(BrigadeHppBlocks, AllToAll) {
  std::vector<double> sent(2 * size_, rank_), got(2 * size_, -1);
  const auto verify = [&] { Verify(&got, [](int q) { return q; }); };
  InThreeForms([&] { return group_.AllToAll(Columns(&sent), Columns(&got)); },
               [&](Operation* o) { return group_.StartAllToAll(Columns(&sent), Columns(&got), o); },
               [&](Plan* p) { return group_.PlanAllToAll(Columns(&sent), Columns(&got), p); },
               verify);
  const std::vector<View<double>> from = BlocksOf(&sent, 2), to = BlocksOf(&got, 2);
  InThreeForms([&] { return group_.AllToAllV(from, to); },
               [&](Operation* o) { return group_.StartAllToAllV(from, to, o); },
               [&](Plan* p) { return group_.PlanAllToAllV(from, to, p); }, verify);
}

TEST_F(BrigadeHppBlocks, Scans) {
  const std::vector<double> own(3, rank_ + 1);
  std::vector<double> sum(3, -1), here = own;
  const double up_to = (rank_ + 1) * (rank_ + 2) / 2.0, below = up_to - rank_ - 1;
  const auto expect = [&](double wanted) {
    return [&, wanted] {
      EXPECT_EQ(sum, std::vector<double>(3, wanted));
      sum.assign(3, -1);
    };
  };
  const auto expect_here = [&](double wanted) {
    return [&, wanted] {
      EXPECT_EQ(here, std::vector<double>(3, wanted));
      here = own;
    };
  };
  const brigade_op op = BRIGADE_SUM;
  InThreeForms([&] { return group_.Scan(own, sum, op); },
               [&](Operation* o) { return group_.StartScan(own, sum, op, o); },
               [&](Plan* p) { return group_.PlanScan(own, sum, op, p); }, expect(up_to));
  InThreeForms([&] { return group_.ExScan(own, sum, op); },
               [&](Operation* o) { return group_.StartExScan(own, sum, op, o); },
               [&](Plan* p) { return group_.PlanExScan(own, sum, op, p); },
               expect(rank_ == 0 ? -1 : below));
  InThreeForms([&] { return group_.ScanInPlace(here, op); },
               [&](Operation* o) { return group_.StartScanInPlace(here, op, o); },
               [&](Plan* p) { return group_.PlanScanInPlace(here, op, p); }, expect_here(up_to));
  InThreeForms([&] { return group_.ExScanInPlace(here, op); },
               [&](Operation* o) { return group_.StartExScanInPlace(here, op, o); },
               [&](Plan* p) { return group_.PlanExScanInPlace(here, op, p); },
               expect_here(rank_ == 0 ? 1 : below));
}

// A matrix as std::mdspan has it: columns, or rows, are contiguous.
template <bool kByRows>
struct Span {
  double* values;
  int rows, cols;
  static constexpr int rank() { return 2; }
  double* data_handle() const { return values; }
  int extent(int r) const { return r == 0 ? rows : cols; }
  int stride(int r) const { return r == (kByRows ? 1 : 0) ? 1 : (kByRows ? cols : rows); }
};

struct Half {
  uint16_t bits;
};

// A row of it lies in every other column.
struct EveryOther {
  Half* values;
  int count;
};

}  // namespace

template <>
struct ElementType<Half> : std::integral_constant<brigade_type, BRIGADE_FLOAT16> {};
template <>
struct ViewTraits<EveryOther> {
  static View<Half> Of(const EveryOther& row) { return {row.values, 1, row.count, 2}; }
};

namespace {

TEST_F(BrigadeHppOperation, TypesOfTheProgram) {
  constexpr uint16_t kOne = 0x3c00;
  constexpr uint16_t kThree = 0x4200;
  ASSERT_EQ(size_, 3);
  std::vector<Half> values(6, {kOne});
  std::vector<Half> sums(6, {kOne});
  ASSERT_TRUE(
      group_.AllReduce(EveryOther{values.data(), 3}, EveryOther{sums.data(), 3}, BRIGADE_SUM));
  for (size_t i = 0; i < sums.size(); ++i) EXPECT_EQ(sums[i].bits, i % 2 == 0 ? kThree : kOne) << i;
}

TEST_F(BrigadeHppOperation, MatricesOfOtherLibraries) {
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Constant(4, 6, rank_);
  ASSERT_TRUE(group_.Broadcast(matrix.middleCols(2, 3), size_ - 1));
  EXPECT_EQ(matrix(3, 2), size_ - 1);
  EXPECT_EQ(matrix(0, 0), rank_);
  ASSERT_TRUE(group_.Broadcast(matrix.topRows(2), size_ - 1));
  EXPECT_EQ(matrix(1, 0), size_ - 1);
  EXPECT_EQ(matrix(2, 0), rank_);
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Constant(2, 2, 1);
  Eigen::Matrix<double, 2, 2, Eigen::RowMajor> sum;
  ASSERT_TRUE(group_.AllReduce(ones, sum, BRIGADE_SUM));
  EXPECT_EQ(sum(1, 0), size_);

  std::vector<double> values(6, rank_);
  ASSERT_TRUE(group_.Broadcast(Span<true>{values.data(), 2, 3}, size_ - 1));
  EXPECT_EQ(values, std::vector<double>(6, size_ - 1));
  values.assign(6, rank_);
  ASSERT_TRUE(group_.Broadcast(Span<false>{values.data(), 2, 3}, size_ - 1));
  EXPECT_EQ(values, std::vector<double>(6, size_ - 1));
}

// Of one column by rows, and of matrices that no call can take.
TEST_F(BrigadeHppOperation, StridesThatAreOdd) {
  struct Strided : Span<true> {
    int steps[2];
    int stride(int r) const { return steps[r]; }
  };
  struct Repeated : Strided {
    static constexpr int rank() { return 1; }
  };
  std::vector<double> values(6, rank_);
  Strided column;
  column.values = values.data();
  column.rows = 6;
  column.cols = 1;
  column.steps[0] = column.steps[1] = 1;
  const Result result = group_.Broadcast(column, size_ - 1);
  EXPECT_TRUE(result) << result.text;
  EXPECT_EQ(values, std::vector<double>(6, size_ - 1));
  column.rows = 2;
  column.cols = 2;
  for (const auto& [row, col] : {std::pair(2, 3), std::pair(1, 1), std::pair(0, 1)}) {
    column.steps[0] = row;
    column.steps[1] = col;
    EXPECT_EQ(group_.Broadcast(column, size_ - 1).status, BRIGADE_INVALID_ARGUMENT) << row;
  }
  const Repeated one{column};
  EXPECT_EQ(group_.Broadcast(one, size_ - 1).status, BRIGADE_INVALID_ARGUMENT);
}

TEST_F(BrigadeHppOperation, AGroupReplacesItsParent) {
  engine_ = Engine();
  ASSERT_TRUE(group_.Duplicate(&group_));
  ASSERT_TRUE(group_.Split(0, -rank_, &group_));
  EXPECT_EQ(group_.rank(), size_ - 1 - rank_);
  EXPECT_TRUE(group_.Barrier());
}

TEST(BrigadeHpp, AFunctionThatThrowsEndsTheProcess) {
  const auto throws = [](const double&, const double&) -> double { throw std::runtime_error(""); };
  UserFunction<double, decltype(throws)> operation(throws, /*commutes=*/true);
  double value = 0;
  EXPECT_DEATH(operation.combine(&value, &value, &value, 1, operation.context), "");
}

TEST_F(BrigadeHppOperation, NoExceptionLeavesC) {
  const auto throws = [](const void*, void*, size_t, void*) -> int {
    throw std::runtime_error("nothing is gathered here");
  };
  EngineOptions options;
  options.transport = "shm";
  Engine engine;
  Bootstrap bootstrap;
  Group group;
  ASSERT_TRUE(engine.Create(options));
  ASSERT_TRUE(bootstrap.Callback(throws, nullptr, rank_, size_));
  const Result result = group.FromBootstrap(engine, bootstrap, 1, size_);
  EXPECT_EQ(result.status, BRIGADE_INTERNAL);
  EXPECT_NE(result.text.find("nothing is gathered here"), std::string::npos) << result.text;
  EXPECT_TRUE(group_.Barrier());
}

TEST_F(BrigadeHppOperation, AFailureKeepsTheOldObject) {
  Group other;
  ASSERT_TRUE(group_.Duplicate(&other));
  brigade_group* const before = other.get();
  EXPECT_FALSE(other.FromMpi(engine_, MPI_Comm_c2f(MPI_COMM_WORLD), size_ + 1, 1));
  EXPECT_EQ(other.get(), before);
  EXPECT_TRUE(other.Barrier());
}

TEST_F(BrigadeHppOperation, UserFunctionsAreOperations) {
  struct Pair {
    int64_t left, right;
  };
  const auto join = [](const Pair& l, const Pair& r) { return Pair{l.left, r.right}; };
  UserFunction<Pair, decltype(join)> ends(join, /*commutes=*/false);
  CallOptions options;
  options.user_op = &ends;
  Pair own{rank_, rank_};
  EXPECT_EQ(group_.AllReduceInPlace(ViewOfOne(own), BRIGADE_SUM, options).status,
            BRIGADE_INVALID_ARGUMENT);
  std::vector<double> doubles(4);
  EXPECT_EQ(group_.AllReduceInPlace(doubles, BRIGADE_USER, options).status,
            BRIGADE_INVALID_ARGUMENT)
      << "of another size";
  ASSERT_TRUE(group_.AllReduceInPlace(ViewOfOne(own), BRIGADE_USER, options));
  EXPECT_EQ(own.left, 0);
  EXPECT_EQ(own.right, size_ - 1);
}

TEST_F(BrigadeHppOperation, WindowsGoWithTheirObjects) {
  Window window;
  EXPECT_TRUE(window.Free()) << "of nothing";
  std::vector<double> memory(2);
  EXPECT_EQ(window.Create(group_, nullptr, 16).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(window.get(), nullptr);
  ASSERT_TRUE(window.Create(group_, memory.data(), 16, sizeof(double)));
  const double sent = rank_ + 1;
  const auto put_to_next = [&] {
    ASSERT_EQ(brigade_window_fence(window.get(), 0), BRIGADE_OK);
    ASSERT_EQ(brigade_window_put(window.get(), &sent, 1, BRIGADE_DOUBLE, (rank_ + 1) % size_, 1),
              BRIGADE_OK);
    ASSERT_EQ(brigade_window_fence(window.get(), 0), BRIGADE_OK);
  };
  put_to_next();
  EXPECT_EQ(memory[1], (rank_ + size_ - 1) % size_ + 1);

  // Free is refused, and then is not.
  ASSERT_EQ(brigade_window_lock_all(window.get()), BRIGADE_OK);
  const Result locked = window.Free();
  EXPECT_EQ(locked.status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_NE(locked.text.find("lock"), std::string::npos) << locked.text;
  ASSERT_NE(window.get(), nullptr);
  ASSERT_EQ(brigade_window_unlock_all(window.get()), BRIGADE_OK);
  EXPECT_TRUE(window.Free());
  EXPECT_EQ(window.get(), nullptr);

  // It keeps its engine, and ends the others' calls if it goes alone.
  void* allocated = nullptr;
  ASSERT_TRUE(window.Allocate(group_, 16, sizeof(double), &allocated));
  group_ = Group();
  engine_ = Engine();
  put_to_next();
  EXPECT_EQ(static_cast<double*>(allocated)[1], (rank_ + size_ - 1) % size_ + 1);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) {
    window = Window();
  } else {
    EXPECT_EQ(brigade_window_fence(window.get(), 0), BRIGADE_ABORTED);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

TEST_F(BrigadeHppOperation, MultipliersGoWithTheirObjects) {
  LoadBlas();
  Multiplier multiplier;
  EXPECT_TRUE(multiplier.Free()) << "of nothing";
  EXPECT_EQ(multiplier.Create(Group()).status, BRIGADE_INVALID_ARGUMENT);
  EXPECT_EQ(multiplier.get(), nullptr);
  Group column;
  ASSERT_TRUE(column.FromMpi(engine_, MPI_Comm_c2f(MPI_COMM_WORLD), size_, 1));

  // A is size x 1 and B is 1 x size, distributed by single rows and in one block.
  const double one = 1, zero = 0;
  double a = rank_ + 1;
  std::vector<double> b(static_cast<size_t>(size_), 2), c(static_cast<size_t>(size_));
  Product product;
  product.type = BRIGADE_DOUBLE;
  product.m = product.n = size_;
  product.k = 1;
  product.alpha = &one;
  product.beta = &zero;
  product.a = {&a, size_, 1, 1, 1, 0, 0, 1, 0, 0, nullptr};
  product.b = {b.data(), 1, size_, 1, size_, 0, 0, 1, 0, 0, nullptr};
  product.c = {c.data(), size_, size_, 1, size_, 0, 0, 1, 0, 0, nullptr};
  const std::vector<double> wanted(static_cast<size_t>(size_), 2.0 * (rank_ + 1));

  ASSERT_TRUE(multiplier.Create(column));
  const MultiplyOptions options;
  MultiplyStatistics statistics;
  const Result result = multiplier.Multiply(product, &options, &statistics);
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
  ASSERT_TRUE(multiplier.Create(column));
  column = Group();
  group_ = Group();
  engine_ = Engine();
  c.assign(c.size(), 0);
  EXPECT_TRUE(multiplier.Multiply(product));
  EXPECT_EQ(c, wanted);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank_ == 0) {
    multiplier = Multiplier();
  } else {
    EXPECT_EQ(multiplier.Multiply(product).status, BRIGADE_ABORTED);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace brigade

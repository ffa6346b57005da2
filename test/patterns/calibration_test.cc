// Measurements of edges, over TCP on one host and in shared memory: all ranks have equal results,
// to the bit, and the results are plausible. On several hosts: tcp_cluster_test.sh.

#include "patterns/group/calibration.h"

#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/model/candidates.h"
#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry/registry.h"

namespace brigade {
namespace {

// Rank 0's, on all.
std::string TextOfRank0(std::string text) {
  auto bytes = static_cast<int>(text.size());
  MPI_Bcast(&bytes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<size_t>(bytes));
  MPI_Bcast(text.data(), bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

class CalibrationTest : public ::testing::Test {
 protected:
  void SetUp() override {
    cache_ = TextOfRank0(std::string(std::getenv("TMPDIR")) + "/cache");
    setenv("XDG_CACHE_HOME", cache_.c_str(), 1);
    ASSERT_TRUE(CreateEndpoint("tcp", &endpoint_).ok());
  }

  void MakeGroup(EngineOptions::Calibrate calibrate, EngineOptions options = EngineOptions()) {
    options.calibrate = calibrate;
    const Status made = Engine::Create(endpoint_.get(), options, &engine_);
    ASSERT_TRUE(made.ok()) << made.ToString();
    MpiBootstrap bootstrap(MPI_COMM_WORLD);
    const Status status = Group::Create(engine_.get(), &bootstrap, 1, bootstrap.size(), &group_);
    ASSERT_TRUE(status.ok()) << status.ToString();
  }

  std::string cache_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Group> group_;
};

class EachTransport : public CalibrationTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    CalibrationTest::SetUp();
    ASSERT_TRUE(CreateEndpoint(GetParam(), &endpoint_).ok());
  }
};
INSTANTIATE_TEST_SUITE_P(Over, EachTransport, ::testing::Values("tcp", "shm"));

TEST_F(CalibrationTest, AllKnowTheSame) {
  MakeGroup(EngineOptions::Calibrate::kAlways);
  const MachineDescription* machine = group_->machine();
  ASSERT_NE(machine, nullptr);
  const std::string text = machine->ToJson("measured");
  EXPECT_EQ(text, TextOfRank0(text));
  const Link& link = machine->within_host;
  EXPECT_TRUE(std::isfinite(link.mb_s));
  EXPECT_GT(link.mb_s, 0);
  EXPECT_GT(link.latency_us + link.send_overhead.message_us + link.receive_overhead.message_us, 0);
  EXPECT_GT(machine->Copy(0, 0).rate.RateAt(4096), 0);
  EXPECT_GE(machine->ranks_per_processor, 1);
  // A stored machine can be read again.
  MachineDescription again;
  const Status parsed = MachineDescription::Parse(text, "text", &again);
  EXPECT_TRUE(parsed.ok()) << parsed.ToString();
  MPI_Barrier(MPI_COMM_WORLD);
  const std::filesystem::directory_iterator files(cache_ + "/brigade");
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

// Both sides copy, and nothing else keeps bytes.
TEST_F(CalibrationTest, MemoryThatRanksShareIsDescribed) {
  ASSERT_TRUE(CreateEndpoint("shm", &endpoint_).ok());
  MakeGroup(EngineOptions::Calibrate::kAlways);
  const MachineDescription* machine = group_->machine();
  ASSERT_NE(machine, nullptr);
  const std::string text = machine->ToJson("measured");
  EXPECT_EQ(text, TextOfRank0(text));
  MachineDescription again;
  ASSERT_TRUE(MachineDescription::Parse(text, "text", &again).ok());
  EXPECT_TRUE(again.shared_memory.is_shared);
  EXPECT_GT(again.shared_memory.max_inline_bytes, size_t{0});
  EXPECT_TRUE(again.needs_staging);
  const int staging = again.memory_of_kind[0];
  ASSERT_NE(staging, MachineDescription::kUserMemory);
  // Neither side is faster than one that copies within its cache.
  for (const MemoryWork* work : {&again.Copy(0, staging), &again.Copy(staging, 0)}) {
    EXPECT_LE(work->rate.RateAt(32768), again.Copy(0, 0).rate.RateAt(32768));
    EXPECT_GT(work->rate.RateAt(32768), 0);
  }
  EXPECT_LE(again.Add(staging, 0).rate.RateAt(32768), again.Add(0, 0).rate.RateAt(32768));
  const Link& link = again.within_host;
  EXPECT_GT(link.latency_us + 2 * link.send_overhead.message_us, 0);
  EXPECT_GE(link.latency_us, 0);
  EXPECT_EQ(link.mb_s, kUnlimitedRate);
}

// Ranks that send first and receive afterwards would wait for each other.
TEST_F(CalibrationTest, LittleMemoryWillDo) {
  EngineOptions options;
  options.staging_bytes = size_t{256} << 10;
  options.chunk_bytes = size_t{4} << 10;
  options.overflow_bytes = 0;
  options.overflow_wait_seconds = 100;
  MakeGroup(EngineOptions::Calibrate::kAlways, options);
  EXPECT_NE(group_->machine(), nullptr);
}

TEST_F(CalibrationTest, DifferentSettingsAreReported) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const bool hints : {false, true}) {
    EngineOptions options;
    if (!hints && rank == 2) options.calibrate = EngineOptions::Calibrate::kIfUnknown;
    if (hints && rank == 2) options.topology_is_hint = true;
    std::unique_ptr<Engine> engine;
    ASSERT_TRUE(Engine::Create(endpoint_.get(), options, &engine).ok());
    MpiBootstrap bootstrap(MPI_COMM_WORLD);
    std::unique_ptr<Group> group;
    const Status status = Group::Create(engine.get(), &bootstrap, 1, bootstrap.size(), &group);
    EXPECT_EQ(status.code(), StatusCode::kMismatch);
    EXPECT_NE(status.message().find("rank 2 has"), std::string::npos) << status.message();
  }
}

TEST_F(CalibrationTest, RanksOfOneHostAreMeasuredOnlyIfAsked) {
  MakeGroup(EngineOptions::Calibrate::kIfUnknown);
  EXPECT_EQ(group_->machine(), nullptr);
}

// Every candidate gives the right result, each differs from the others, and its time equals the
// prediction for the call that names it.
TEST_P(EachTransport, CandidatesAreRight) {
  MakeGroup(EngineOptions::Calibrate::kAlways);
  const int64_t elems = 20000;
  const auto ranks = static_cast<size_t>(group_->cols());
  std::vector<int64_t> data(elems), own(elems / ranks);
  std::vector<Matrix> blocks(ranks);
  const auto matrix_of = [](std::vector<int64_t>* values, size_t first, size_t count) {
    Matrix matrix;
    matrix.data = reinterpret_cast<std::byte*>(values->data() + first);
    const auto rows = static_cast<int64_t>(count);
    EXPECT_TRUE(StridedLayout::General(rows, 1, rows, sizeof(int64_t), &matrix.layout).ok());
    return matrix;
  };
  for (size_t q = 0; q < ranks; ++q) blocks[q] = matrix_of(&data, q * own.size(), own.size());
  for (const Pattern pattern :
       {Pattern::kAllReduce, Pattern::kMultiReduce, Pattern::kMultiBroadcast}) {
    PatternCall call;
    call.pattern = pattern;
    call.type = Element::kInt64;
    call.blocks = blocks.data();
    call.matrix = pattern == Pattern::kAllReduce ? matrix_of(&data, 0, data.size())
                                                 : matrix_of(&own, 0, own.size());
    const std::vector<Candidate> candidates = group_->Candidates(call);
    std::set<std::string> names;
    for (const Candidate& candidate : candidates) {
      EXPECT_TRUE(names
                      .emplace(TopologyName(candidate.topology) + " " +
                               std::to_string(candidate.cost.segments))
                      .second);
      EXPECT_GT(candidate.cost.us, 0);
      call.topology = candidate.topology;
      call.segment_bytes = candidate.segment_bytes;
      EXPECT_EQ(group_->Predict(call).us, candidate.cost.us);
      std::fill(data.begin(), data.end(), group_->rank() + 1);
      ASSERT_TRUE(group_->Run(call).ok());
      const auto sum = static_cast<int64_t>(ranks * (ranks + 1) / 2);
      const bool gathers = pattern == Pattern::kMultiBroadcast;
      const std::vector<int64_t>& result = pattern == Pattern::kMultiReduce ? own : data;
      for (size_t i = 0; i < result.size(); ++i) {
        ASSERT_EQ(result[i], gathers ? static_cast<int64_t>(i / own.size()) + 1 : sum) << i;
      }
    }
    EXPECT_GT(names.size(), 2u) << PatternName(pattern);
  }
}

TEST_F(CalibrationTest, WithoutMeasurementsThereAreNoCandidates) {
  MakeGroup(EngineOptions::Calibrate::kNever);
  EXPECT_TRUE(group_->Candidates(PatternCall()).empty());
}

// Whatever was found, calls that leave the choice to the library give the right result.
TEST_F(CalibrationTest, ChosenTopologiesGiveTheRightResult) {
  MakeGroup(EngineOptions::Calibrate::kAlways);
  for (const int64_t elems : {1, 100, 1500, 5000, 20000, 300000}) {
    std::vector<double> data(static_cast<size_t>(elems), group_->rank() == 1 ? 3.5 : 0);
    std::vector<int64_t> counts(static_cast<size_t>(elems), group_->rank() + 1);
    PatternCall call;
    call.pattern = Pattern::kBroadcast;
    call.topology.shape = Shape::kFree;
    call.root = 1;
    call.matrix.data = reinterpret_cast<std::byte*>(data.data());
    ASSERT_TRUE(StridedLayout::General(elems, 1, elems, sizeof(double), &call.matrix.layout).ok());
    ASSERT_TRUE(group_->Run(call).ok());
    EXPECT_EQ(data, std::vector<double>(static_cast<size_t>(elems), 3.5));

    call.pattern = Pattern::kAllReduce;
    call.type = Element::kInt64;
    call.matrix.data = reinterpret_cast<std::byte*>(counts.data());
    ASSERT_TRUE(group_->Run(call).ok());
    const int64_t ranks = group_->cols();
    EXPECT_EQ(counts, std::vector<int64_t>(static_cast<size_t>(elems), ranks * (ranks + 1) / 2));
  }
}

}  // namespace
}  // namespace brigade

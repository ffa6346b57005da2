// Runs as an MPI job.

#include "bench/runner/runner.h"

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <set>
#include <thread>

#include "bench/runner/barrier.h"
#include "gtest/gtest.h"

namespace brigade::bench {
namespace {

int Rank() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int Ranks() {
  int ranks;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

RunnerOptions Short() {
  RunnerOptions options;
  options.seconds_per_case = 0.01;
  return options;
}

Subject MakeSubject(const std::function<void(int turn)>& run) {
  Subject subject;
  subject.name = "subject";
  subject.pattern = "pattern";
  subject.run = [run](int turn) {
    run(turn);
    return Status();
  };
  subject.check = [](int) { return std::string(); };
  return subject;
}

Case MakeCase(std::vector<Subject> subjects) {
  Case the_case;
  the_case.name = "case";
  the_case.bytes = 8;
  the_case.prepare = [](int) {};
  the_case.subjects = std::move(subjects);
  return the_case;
}

void Sleep() { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }

TEST(RunnerTest, TheSlowestRankCounts) {
  Runner runner(MPI_COMM_WORLD, Short());
  std::vector<Result> results;
  const Status status = runner.Measure(MakeCase({MakeSubject([](int) {
                                         if (Rank() == Ranks() - 1) Sleep();
                                       })}),
                                       &results);
  ASSERT_TRUE(status.ok()) << status.ToString();
  ASSERT_EQ(results.size(), 1u);
  EXPECT_GE(results[0].microseconds.lo, 2000);
}

TEST(RunnerTest, TimeIsPerHop) {
  Runner runner(MPI_COMM_WORLD, Short());
  Case the_case = MakeCase({MakeSubject([](int) { Sleep(); })});
  the_case.hops = 1000000;
  std::vector<Result> results;
  ASSERT_TRUE(runner.Measure(the_case, &results).ok());
  EXPECT_LT(results[0].microseconds.median, 2000);
}

TEST(RunnerTest, ProcessorTimeIsThatOfAllRanks) {
  Runner runner(MPI_COMM_WORLD, Short());
  std::vector<Result> results;
  ASSERT_TRUE(runner
                  .Measure(MakeCase({MakeSubject([](int) {
                             const std::clock_t start = std::clock();
                             while (std::clock() - start < 2000) {
                             }
                           })}),
                           &results)
                  .ok());
  EXPECT_GE(results[0].cpu_microseconds, 2000 * Ranks());
}

TEST(RunnerTest, LongRunsAreFew) {
  RunnerOptions options = Short();
  options.min_iterations = 3;
  Runner runner(MPI_COMM_WORLD, options);
  int runs = 0;
  std::vector<Result> results;
  ASSERT_TRUE(runner
                  .Measure(MakeCase({MakeSubject([&](int) {
                             ++runs;
                             for (int i = 0; i < 10; ++i) Sleep();
                           })}),
                           &results)
                  .ok());
  EXPECT_EQ(results[0].iterations, 3);
  // Beside the verified one per root there is one to warm up.
  EXPECT_EQ(runs, Ranks() + 1 + 3);
}

TEST(RunnerTest, WrongDataOnOneRankIsRefusedOnAllBeforeAnyTiming) {
  Runner runner(MPI_COMM_WORLD, Short());
  int runs = 0;
  Subject subject = MakeSubject([&](int) { ++runs; });
  subject.check = [](int) { return Rank() == Ranks() - 1 ? "wrong there" : ""; };
  std::vector<Result> results;
  const Status status = runner.Measure(MakeCase({subject}), &results);
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_NE(status.message().find("rank " + std::to_string(Ranks() - 1)), std::string::npos);
  EXPECT_NE(status.message().find("wrong there"), std::string::npos);
  EXPECT_EQ(runs, 1);
}

TEST(RunnerTest, EveryRootIsVerified) {
  Runner runner(MPI_COMM_WORLD, Short());
  std::set<int> checked;
  Subject subject = MakeSubject([](int) {});
  subject.check = [&](int turn) {
    checked.insert(turn % Ranks());
    return std::string();
  };
  std::vector<Result> results;
  ASSERT_TRUE(runner.Measure(MakeCase({subject}), &results).ok());
  EXPECT_EQ(static_cast<int>(checked.size()), Ranks());
}

// A message goes round with every run: ranks that disagreed about order or count would not match.
TEST(RunnerTest, SubjectsRunInTheSameRandomOrderOnAllRanks) {
  Runner runner(MPI_COMM_WORLD, Short());
  std::vector<int> order;
  std::vector<Subject> subjects;
  for (int s = 0; s < 3; ++s) {
    subjects.push_back(MakeSubject([&, s](int turn) {
      Sleep();  // long enough to be a sample of its own
      order.push_back(s);
      int mine[2] = {s, turn}, theirs[2];
      MPI_Sendrecv(mine, 2, MPI_INT, (Rank() + 1) % Ranks(), 0, theirs, 2, MPI_INT,
                   (Rank() + Ranks() - 1) % Ranks(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      EXPECT_EQ(theirs[0], s);
      EXPECT_EQ(theirs[1], turn);
    }));
  }
  std::vector<Result> results;
  ASSERT_TRUE(runner.Measure(MakeCase(subjects), &results).ok());
  const std::vector<int> last(order.end() - 9, order.end());
  for (int i = 0; i < 9; i += 3) {
    EXPECT_EQ(std::set<int>(last.begin() + i, last.begin() + i + 3).size(), 3u)
        << "not interleaved";
  }
  const std::vector<int> timed(order.end() - 3 * results[0].iterations, order.end());
  std::set<std::vector<int>> rounds;
  for (size_t i = 0; i < timed.size(); i += 3) {
    rounds.insert({timed[i], timed[i + 1], timed[i + 2]});
  }
  EXPECT_GT(rounds.size(), 1u) << "always the same order";
}

TEST(RunnerTest, AllSubjectsMeetTheSameRoots) {
  Runner runner(MPI_COMM_WORLD, Short());
  std::vector<int> turns[2];
  std::vector<Subject> subjects;
  for (std::vector<int>& own : turns) {
    subjects.push_back(MakeSubject([&own](int turn) {
      Sleep();
      own.push_back(turn);
    }));
  }
  std::vector<Result> results;
  ASSERT_TRUE(runner.Measure(MakeCase(subjects), &results).ok());
  EXPECT_EQ(turns[0], turns[1]);
  std::vector<int> iterations(results[0].iterations);
  std::iota(iterations.begin(), iterations.end(), 0);
  EXPECT_EQ(std::vector<int>(turns[0].end() - results[0].iterations, turns[0].end()), iterations);
}

// Several runs in a row are faster than the first.
TEST(RunnerTest, SamplesOfAllSubjectsAreAsManyRuns) {
  RunnerOptions options = Short();
  for (const bool asleep : {false, true}) {
    options.asleep = asleep;
    Runner runner(MPI_COMM_WORLD, options);
    int runs[2] = {0, 0};
    std::vector<Subject> subjects = {MakeSubject([&](int) { ++runs[0]; }), MakeSubject([&](int) {
                                       ++runs[1];
                                       std::this_thread::sleep_for(std::chrono::microseconds(100));
                                     })};
    std::vector<Result> results;
    ASSERT_TRUE(runner.Measure(MakeCase(subjects), &results).ok());
    const int untimed = 2 * (Ranks() + 5);  // at most: verified and warmed up
    EXPECT_LE(std::abs(runs[0] - runs[1]), untimed);
    if (asleep) {
      EXPECT_LE(runs[0], results[0].iterations + untimed);
    }
  }
}

TEST(RunnerTest, ProtocolsOfAllRanksAreNamedOnce) {
  Subject subject = MakeSubject([](int) {});
  subject.cost = [](int, Cost* cost) {
    cost->protocol = Rank() == 0 ? "first" : "other";
    return Status();
  };
  Runner runner(MPI_COMM_WORLD, Short());
  std::vector<Result> results;
  ASSERT_TRUE(runner.Measure(MakeCase({subject, MakeSubject([](int) {})}), &results).ok());
  EXPECT_EQ(results[0].cost.protocol, Ranks() == 1 ? "first" : "first, other");
  EXPECT_EQ(results[1].cost.protocol, "");
}

// The steady clock is one clock for all processes of a host.
double Now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TEST(BarrierTest, NoRankLeavesBeforeAllHaveEntered) {
  DisseminationBarrier barrier(MPI_COMM_WORLD);
  for (int late = 0; late < Ranks(); ++late) {
    if (Rank() == late) Sleep();
    double last_entered = Now();
    late % 2 == 0 ? barrier.Wait() : barrier.WaitAsleep();
    double first_left = Now();
    MPI_Allreduce(MPI_IN_PLACE, &last_entered, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &first_left, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    EXPECT_LE(last_entered, first_left) << "rank " << late << " was late";
  }
}

// Everybody knows when the last one came, and sleeps for the same time from then on.
TEST(BarrierTest, AllStartWellAfterTheLastHasCome) {
  DisseminationBarrier barrier(MPI_COMM_WORLD);
  for (int late = 0; late < Ranks(); ++late) {
    if (Rank() == late) Sleep();
    double last_entered = Now();
    barrier.StartTogether();
    const double left = Now();
    MPI_Allreduce(MPI_IN_PLACE, &last_entered, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    EXPECT_GE(left, last_entered + 0.002) << "rank " << late << " was late";
  }
}

}  // namespace
}  // namespace brigade::bench

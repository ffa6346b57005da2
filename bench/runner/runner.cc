#include "bench/runner/runner.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <numeric>
#include <random>
#include <string>

namespace brigade::bench {
namespace {

// As many, unless they would take more than this share of the time for the case.
constexpr int kMostWarmUps = 5;
constexpr double kWarmUpShare = 0.1;

MPI_Comm Duplicate(MPI_Comm comm) {
  MPI_Comm duplicate;
  MPI_Comm_dup(comm, &duplicate);
  return duplicate;
}

int SizeOf(MPI_Comm comm) {
  int size;
  MPI_Comm_size(comm, &size);
  return size;
}

// Returns the names that ranks give, in the order of the first rank of each; equal on all ranks.
std::string NamesOf(MPI_Comm comm, int ranks, const std::string& own) {
  using Name = std::array<char, 64>;
  Name mine{};
  own.copy(mine.data(), mine.size() - 1);
  std::vector<Name> all(ranks);
  MPI_Allgather(mine.data(), mine.size(), MPI_CHAR, all.data(), mine.size(), MPI_CHAR, comm);
  std::string names;
  for (auto name = all.begin(); name != all.end(); ++name) {
    if ((*name)[0] == '\0' || std::find(all.begin(), name, *name) != name) continue;
    names += (names.empty() ? "" : ", ") + std::string(name->data());
  }
  return names;
}

}  // namespace

Runner::Runner(MPI_Comm comm, const RunnerOptions& options)
    : comm_(Duplicate(comm)), ranks_(SizeOf(comm)), options_(options), barrier_(comm) {}

Runner::~Runner() { MPI_Comm_free(&comm_); }

std::vector<double> Runner::OverRanks(MPI_Op op, std::vector<double> values) const {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, op,
                comm_);
  return values;
}

void Runner::Gather() { options_.asleep ? barrier_.StartTogether() : barrier_.Wait(); }

Status Runner::Verify(const Case& the_case, const Subject& subject) {
  // Once per root, where roots rotate.
  for (int turn = 0; turn < (the_case.roots > 0 ? the_case.roots : ranks_); ++turn) {
    the_case.prepare(turn);
    Gather();
    BRIGADE_RETURN_IF_ERROR(subject.run(turn));
    Gather();
    const std::string wrong = subject.check(turn);

    int rank;
    MPI_Comm_rank(comm_, &rank);
    int first_wrong = wrong.empty() ? ranks_ : rank;
    MPI_Allreduce(MPI_IN_PLACE, &first_wrong, 1, MPI_INT, MPI_MIN, comm_);
    if (first_wrong == ranks_) continue;
    char text[128];
    std::snprintf(text, sizeof(text), "%s", wrong.c_str());
    MPI_Bcast(text, sizeof(text), MPI_CHAR, first_wrong, comm_);
    return Status(StatusCode::kInternal, the_case.name + ", " + std::to_string(the_case.bytes) +
                                             " bytes: " + subject.name + " (" + subject.pattern +
                                             ") delivers wrong data at rank " +
                                             std::to_string(first_wrong) + ": " + text);
  }
  return Status();
}

Status Runner::Time(const Subject& subject, int first_turn, int runs, Spent* spent) {
  using Clock = std::chrono::steady_clock;
  static_assert(CLOCKS_PER_SEC == 1000000);
  Gather();
  const std::clock_t cpu_start = std::clock();
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < runs; ++i) BRIGADE_RETURN_IF_ERROR(subject.run(first_turn + i));
  spent->microseconds = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  spent->cpu_microseconds = static_cast<double>(std::clock() - cpu_start);
  return Status();
}

Status Runner::WorstCost(const Subject& subject, Cost* cost) {
  if (!subject.cost) return Status();
  Gather();
  BRIGADE_RETURN_IF_ERROR(subject.cost(0, cost));
  const std::vector<double> most = OverRanks(
      MPI_MAX, {cost->copies_per_byte, static_cast<double>(cost->staging_peak_bytes),
                static_cast<double>(cost->overflow_segments), static_cast<double>(cost->segments)});
  cost->copies_per_byte = most[0];
  cost->staging_peak_bytes = static_cast<size_t>(most[1]);
  cost->overflow_segments = static_cast<uint64_t>(most[2]);
  cost->segments = static_cast<uint64_t>(most[3]);
  cost->protocol = NamesOf(comm_, ranks_, cost->protocol);
  return Status();
}

Status Runner::WarmUp(const Subject& subject, double* microseconds) {
  std::vector<double> runs;
  double together = 0;
  while (runs.size() < kMostWarmUps && together <= kWarmUpShare * options_.seconds_per_case * 1e6) {
    Spent spent;
    BRIGADE_RETURN_IF_ERROR(Time(subject, static_cast<int>(runs.size()), 1, &spent));
    runs.push_back(OverRanks(MPI_MAX, {spent.microseconds})[0]);
    together += runs.back();
  }
  *microseconds = MedianOf(runs).median;
  return Status();
}

Status Runner::Measure(const Case& the_case, std::vector<Result>* results) {
  const size_t subjects = the_case.subjects.size();
  results->assign(subjects, Result());
  for (const Subject& subject : the_case.subjects) {
    BRIGADE_RETURN_IF_ERROR(Verify(the_case, subject));
  }

  if (the_case.before_timing) the_case.before_timing();
  std::vector<double> once(subjects);
  for (size_t s = 0; s < subjects; ++s) {
    BRIGADE_RETURN_IF_ERROR(WarmUp(the_case.subjects[s], &once[s]));
    // Here, since earlier calls may decide which protocol runs one.
    BRIGADE_RETURN_IF_ERROR(WorstCost(the_case.subjects[s], &(*results)[s].cost));
  }
  // Runs in a row overlap, and are faster than the first after a barrier: as many for everybody.
  const int runs =
      options_.asleep ? 1 : RunsPerSample(*std::min_element(once.begin(), once.end()), ranks_);
  const double round_microseconds = runs * std::accumulate(once.begin(), once.end(), 0.0);
  const int iterations = RepetitionsFor(options_.seconds_per_case * 1e6, round_microseconds,
                                        options_.min_iterations, options_.max_iterations);

  std::vector<std::vector<double>> samples(subjects, std::vector<double>(iterations));
  std::vector<double> cpu(subjects);
  std::vector<size_t> order(subjects);
  std::iota(order.begin(), order.end(), size_t{0});
  std::mt19937_64 random(options_.seed);
  for (int i = 0; i < iterations; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    // The iteration is the first turn of all: contenders meet the same roots.
    for (size_t s : order) {
      Spent spent;
      BRIGADE_RETURN_IF_ERROR(Time(the_case.subjects[s], i, runs, &spent));
      samples[s][i] = spent.microseconds / (runs * the_case.hops);
      cpu[s] += spent.cpu_microseconds / (runs * the_case.hops * iterations);
    }
  }
  for (size_t s = 0; s < subjects; ++s) {
    (*results)[s].microseconds = MedianOf(OverRanks(MPI_MAX, samples[s]));
    (*results)[s].iterations = iterations;
  }
  cpu = OverRanks(MPI_SUM, cpu);
  for (size_t s = 0; s < subjects; ++s) (*results)[s].cpu_microseconds = cpu[s];
  return Status();
}

}  // namespace brigade::bench

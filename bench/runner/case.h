// The cases that the runner measures: a case is one communication; its subjects are the
// implementations that are compared.

#ifndef BRIGADE_BENCH_RUNNER_CASE_H_
#define BRIGADE_BENCH_RUNNER_CASE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "membuf/status.h"

namespace brigade::bench {

// The cost of one operation on the rank where it is highest; only Brigade reports it.
struct Cost {
  double copies_per_byte = std::numeric_limits<double>::quiet_NaN();
  size_t staging_peak_bytes = 0;
  uint64_t overflow_segments = 0;  // that found no staging memory free
  uint64_t segments = 0;           // that the message was cut into
  size_t chunk_bytes = 0;
  std::string protocol;  // by which this rank's call ran; in a result, those of all ranks
};

struct Subject {
  std::string name;     // "brigade", "shim", "stock", "plain", "direct", "mpi", "bare ring"
  std::string pattern;  // "tree", "topology I", "MPI_Bcast"

  // One operation; every rank calls it. `turn` is equal on all ranks and over all subjects of an
  // iteration: roots rotate with it.
  std::function<Status(int turn)> run;
  // After a run that began with the case's `prepare`: empty if this rank's data are right.
  std::function<std::string(int turn)> check;
  // Runs one more operation and measures its cost on this rank. May be empty.
  std::function<Status(int turn, Cost*)> cost = nullptr;
  // The time of a run by the cost model; NaN: unknown.
  double predicted_us = std::numeric_limits<double>::quiet_NaN();
  bool chosen = false;  // whether the library chooses this
};

struct Case {
  std::string name;  // "pingpong", "multi-broadcast"
  int64_t rows = 0;
  int64_t cols = 0;
  int64_t ld = 0;    // elements
  size_t bytes = 0;  // counted in MB/s
  int roots = 0;     // that runs are verified with, from turn 0 on; 0: as many as ranks
  int hops = 1;      // the time of a run is divided by it; 2 for a ping and its pong

  // Puts this rank's data in place before a verified run.
  std::function<void(int turn)> prepare;
  // Puts data in place that any number of runs leave finite. May be empty.
  std::function<void()> before_timing;

  std::vector<Subject> subjects;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_RUNNER_CASE_H_

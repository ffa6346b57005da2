// Times every copy routine over run lengths: the measurement behind membuf/copy_routine.h.
//
// As in use, the packed side is one staging chunk, which stays in cache, and the strided side is a
// matrix that lies in the second-level cache or in memory. A sample copies one window of the
// matrix; windows follow each other, so that a matrix in memory is read cold each time. The
// routines take turns, so that a disturbance of the machine meets all of them; the median of many
// samples counts.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "membuf/copy_routine.h"

namespace brigade {
namespace {

constexpr size_t kChunkBytes = size_t{32} << 10;
constexpr size_t kRunLengths[] = {4,   8,   12,  16,  24,   32,   48,   64,   96,    128,
                                  192, 256, 384, 512, 1024, 2048, 4000, 8192, 16384, 65536};

struct Candidate {
  const char* name;
  CopyRoutine routine;
  size_t least_run_bytes;
  size_t most_run_bytes;
};
constexpr Candidate kCandidates[] = {
    {"elements<4>", CopyElements<4>, 4, 4},       {"elements<8>", CopyElements<8>, 8, 8},
    {"elements<16>", CopyElements<16>, 16, 16},   {"blocks<4>", CopyBlocks<4>, 4, SIZE_MAX},
    {"blocks<8>", CopyBlocks<8>, 8, SIZE_MAX},    {"blocks<16>", CopyBlocks<16>, 16, SIZE_MAX},
    {"blocks<32>", CopyBlocks<32>, 32, SIZE_MAX}, {"memcpy", CopyByMemcpy, 1, SIZE_MAX},
};
constexpr size_t kCandidateCount = std::size(kCandidates);

bool Serves(const Candidate& candidate, size_t run_bytes) {
  return candidate.least_run_bytes <= run_bytes && run_bytes <= candidate.most_run_bytes;
}

enum class Direction { kGather, kScatter };

// The strided side, handed out window by window, round and round.
class Matrix {
 public:
  // Written once, so that every page is there.
  explicit Matrix(size_t bytes) : memory_(bytes, std::byte{1}) {}

  size_t bytes() const { return memory_.size(); }
  // REQUIRES: window_bytes <= bytes().
  std::byte* NextWindow(size_t window_bytes) {
    if (window_bytes > memory_.size() - next_) next_ = 0;
    next_ += window_bytes;
    return memory_.data() + next_ - window_bytes;
  }

 private:
  std::vector<std::byte> memory_;
  size_t next_ = 0;
};

// Nanoseconds per run of every candidate, infinite where it cannot serve.
std::vector<double> Measure(size_t run_bytes, Direction direction, int samples, Matrix* matrix) {
  // A gap as long as the run, and no two runs on one cache line.
  const size_t stride = std::max<size_t>(2 * run_bytes, 64);
  const size_t chunk_runs = std::max<size_t>(kChunkBytes / run_bytes, 1);
  // At least a chunk and 256 KiB of matrix, so that a sample is long against the clock's step.
  const size_t window_runs =
      std::min(matrix->bytes() / stride, std::max(chunk_runs, (size_t{256} << 10) / stride));
  std::vector<std::byte> chunk(chunk_runs * run_bytes);

  std::vector<std::vector<double>> ns_per_run(kCandidateCount);
  for (int sample = 0; sample < samples; ++sample) {
    for (size_t c = 0; c < kCandidateCount; ++c) {
      if (!Serves(kCandidates[c], run_bytes)) continue;
      std::byte* const window = matrix->NextWindow(window_runs * stride);
      const auto start = std::chrono::steady_clock::now();
      for (size_t done = 0; done < window_runs; done += chunk_runs) {
        const size_t runs = std::min(chunk_runs, window_runs - done);
        std::byte* const strided = window + done * stride;
        if (direction == Direction::kGather) {
          kCandidates[c].routine({chunk.data(), run_bytes}, {strided, stride}, run_bytes, runs);
        } else {
          kCandidates[c].routine({strided, stride}, {chunk.data(), run_bytes}, run_bytes, runs);
        }
      }
      const std::chrono::duration<double, std::nano> elapsed =
          std::chrono::steady_clock::now() - start;
      ns_per_run[c].push_back(elapsed.count() / static_cast<double>(window_runs));
    }
  }
  std::vector<double> medians;
  for (std::vector<double>& values : ns_per_run) {
    if (values.empty()) {
      medians.push_back(INFINITY);
      continue;
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    medians.push_back(*middle);
  }
  return medians;
}

std::string MachineName() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown processor";
}

void PrintRow(size_t run_bytes, const char* where, const std::vector<double>& ns) {
  std::printf("%8zu  %-16s", run_bytes, where);
  for (size_t c = 0; c < kCandidateCount; ++c) {
    if (std::isinf(ns[c])) {
      std::printf(" %12s", "-");
    } else {
      std::printf(" %12.1f", ns[c]);
    }
  }
  std::printf("  %s\n", kCandidates[std::min_element(ns.begin(), ns.end()) - ns.begin()].name);
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  CLI::App app("Times the copy routines of membuf/copy_routine.h over run lengths.");
  int samples = 101;
  size_t cache_kib = 512;
  size_t memory_mib = 512;
  app.add_option("--samples", samples, "samples per figure, whose median is printed")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--cache-kib", cache_kib, "matrix that fits the second-level cache, in KiB")
      ->check(CLI::Range(size_t{256}, size_t{1} << 20))
      ->capture_default_str();
  app.add_option("--memory-mib", memory_mib, "matrix that fits no cache, in MiB")
      ->check(CLI::Range(size_t{1}, size_t{1} << 20))
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);

  Matrix cached(cache_kib << 10);
  Matrix streamed(memory_mib << 20);

  std::printf("Nanoseconds per run, medians of %d samples, on %s\n", samples,
              MachineName().c_str());
  std::printf("%8s  %-16s", "run B", "matrix");
  for (const Candidate& candidate : kCandidates) std::printf(" %12s", candidate.name);
  std::printf("  fastest\n");

  std::vector<std::string> verdicts;
  for (const size_t run_bytes : kRunLengths) {
    struct Case {
      const char* name;
      Direction direction;
      Matrix* matrix;
    };
    const Case cases[] = {{"cache, gather", Direction::kGather, &cached},
                          {"cache, scatter", Direction::kScatter, &cached},
                          {"memory, gather", Direction::kGather, &streamed},
                          {"memory, scatter", Direction::kScatter, &streamed}};
    std::vector<double> mean(kCandidateCount, 1);  // geometric, over the four cases
    for (const Case& c : cases) {
      const std::vector<double> ns = Measure(run_bytes, c.direction, samples, c.matrix);
      PrintRow(run_bytes, c.name, ns);
      for (size_t k = 0; k < kCandidateCount; ++k) mean[k] *= std::pow(ns[k], 0.25);
    }
    const auto best =
        static_cast<size_t>(std::min_element(mean.begin(), mean.end()) - mean.begin());
    const char* const chosen = CopyRowFor(run_bytes).name;
    size_t table = 0;
    while (std::strcmp(kCandidates[table].name, chosen) != 0) ++table;
    char verdict[160];
    std::snprintf(verdict, sizeof verdict, "%8zu  %-12s %8.1f   %-12s %8.1f   %5.2f", run_bytes,
                  kCandidates[best].name, mean[best], chosen, mean[table],
                  mean[table] / mean[best]);
    verdicts.push_back(verdict);
  }

  std::printf("\nGeometric mean of the four cases, ns per run\n");
  std::printf("%8s  %-12s %8s   %-12s %8s   %5s\n", "run B", "fastest", "", "in the table", "",
              "ratio");
  for (const std::string& verdict : verdicts) std::printf("%s\n", verdict.c_str());
  return 0;
}

}  // namespace
}  // namespace brigade

int main(int argc, char** argv) { return brigade::Main(argc, argv); }

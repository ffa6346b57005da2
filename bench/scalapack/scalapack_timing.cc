// scalapack_timing: times ScaLAPACK's factorizations, matrix product and eigensolver on a process
// grid. It links the distribution's ScaLAPACK and does not use Brigade: one run without and one
// with the preloaded shim show the gain for a program that is not recompiled.

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/scalapack/matrix.h"
#include "bench/scalapack/routines.h"
#include "nlohmann/json.hpp"

extern "C" {
void Cblacs_pinfo(int* rank, int* ranks);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
void Cblacs_exit(int keep_mpi);
}

namespace brigade::bench {
namespace {

// Bytes over this host's network interfaces, headers included, without loopback.
struct Traffic {
  double sent_bytes = 0;
  double received_bytes = 0;
};

Traffic TrafficSoFar() {
  Traffic traffic;
  std::error_code error;
  for (const auto& interface : std::filesystem::directory_iterator("/sys/class/net", error)) {
    if (interface.path().filename() == "lo") continue;
    const auto add = [&](const char* counter, double* sum) {
      double bytes = 0;
      std::ifstream(interface.path() / "statistics" / counter) >> bytes;
      *sum += bytes;
    };
    add("tx_bytes", &traffic.sent_bytes);
    add("rx_bytes", &traffic.received_bytes);
  }
  return traffic;
}

// One run, on the slowest rank.
struct Timing {
  double seconds;
  double link_bytes;  // in the busier direction of the busiest host's link
  double began_s;     // of this rank's steady clock, to find the run in a trace

  bool operator<(const Timing& other) const { return seconds < other.seconds; }
};

Timing Time(const Routine& routine) {
  using Seconds = std::chrono::duration<double>;
  routine.set();
  MPI_Barrier(MPI_COMM_WORLD);
  const Traffic before = TrafficSoFar();
  const auto start = std::chrono::steady_clock::now();
  const int info = routine.run();
  double seconds = Seconds(std::chrono::steady_clock::now() - start).count();
  if (info != 0) {
    std::fprintf(stderr, "scalapack_timing: %s failed with info = %d\n", routine.name.c_str(),
                 info);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  const Traffic after = TrafficSoFar();
  double link_bytes =
      std::max(after.sent_bytes - before.sent_bytes, after.received_bytes - before.received_bytes);
  MPI_Allreduce(MPI_IN_PLACE, &link_bytes, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return {seconds, link_bytes, Seconds(start.time_since_epoch()).count()};
}

constexpr const char* kRoutines[] = {"LU", "Cholesky", "QR", "matrix product", "eigenvalues"};

// As square as can be without `text`, otherwise as its PxQ says. False if that is no grid of all
// ranks.
bool ShapeGrid(const std::string& text, int ranks, Grid* grid) {
  if (text.empty()) {
    grid->rows = static_cast<int>(std::sqrt(ranks));
    while (ranks % grid->rows != 0) --grid->rows;
    grid->cols = ranks / grid->rows;
    return true;
  }
  char beyond;
  return std::sscanf(text.c_str(), "%dx%d%c", &grid->rows, &grid->cols, &beyond) == 2 &&
         grid->rows > 0 && grid->rows * grid->cols == ranks;
}

// ScaLAPACK's own testers accept scaled residuals below about this.
constexpr double kLargestResidual = 30;

struct Settings {
  int n = 1000;
  int eigen_n = 600;
  int block = 32;
  int repetitions = 3;
  int pair = 0;
  std::string json;
  std::string label;
  std::string shape;
  std::vector<std::string> routines{std::begin(kRoutines), std::end(kRoutines)};
};

constexpr int kExitRefused = 2;

// False if there is nothing to run; then `exit_code` is the program's, and rank 0 has said why.
bool ParseSettings(int argc, char** argv, int rank, Settings* settings, int* exit_code) {
  const std::vector<std::string> all = settings->routines;
  CLI::App app(
      "Times LU, Cholesky and QR factorization, the matrix product and the symmetric eigenproblem "
      "of ScaLAPACK; maximum over ranks. Start under mpirun.");
  app.option_defaults()->always_capture_default();
  app.add_option("-n", settings->n, "Order of the matrices")->check(CLI::PositiveNumber);
  app.add_option("--eigen-n", settings->eigen_n, "The same of the eigenproblem")
      ->check(CLI::PositiveNumber);
  app.add_option("--nb", settings->block, "Block size")->check(CLI::PositiveNumber);
  app.add_option("--grid", settings->shape,
                 "Process grid PxQ of all ranks; else as square as can be");
  app.add_option("--routines", settings->routines, "Which")
      ->delimiter(',')
      ->check(CLI::IsMember(all));
  app.add_option("--repetitions", settings->repetitions, "Timed runs of each, after one warm-up")
      ->check(CLI::PositiveNumber);
  app.add_option("--pair", settings->pair,
                 "Recorded, to compare this launch with the one beside it");
  app.add_option("--label", settings->label,
                 "Recorded, to distinguish launches with other settings");
  app.add_option("--json", settings->json, "Append one JSON line per routine to this file");
  try {
    app.parse(argc, argv);
    return true;
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    const bool help = app.exit(error, text, text) == 0;
    if (rank == 0) std::fputs(text.str().c_str(), help ? stdout : stderr);
    *exit_code = help ? 0 : kExitRefused;
    return false;
  }
}

// The process itself finds out whose BLACS it has: a preload that failed must not pass for one.
const char* SubjectName() {
  Dl_info blacs;
  dladdr(dlsym(RTLD_DEFAULT, "Cblacs_gridinit"), &blacs);
  const bool is_shim = std::string(blacs.dli_fname).find("libbrigade_blacs") != std::string::npos;
  return is_shim ? "shim" : "stock";
}

// Prints a line, and appends one to the JSON file.
void Report(const Settings& settings, const Grid& grid, const char* subject, const Routine& routine,
            std::vector<Timing> timings, double residual) {
  std::sort(timings.begin(), timings.end());
  const auto [median, link_bytes, median_began] = timings[timings.size() / 2];
  std::printf("%-6s %-15s n=%d nb=%d %dx%d  %8.4f s  %7.2f Gflop/s  residual %.3f\n", subject,
              routine.name.c_str(), routine.n, settings.block, grid.rows, grid.cols, median,
              routine.flops / median * 1e-9, residual);
  std::fflush(stdout);
  if (settings.json.empty()) return;
  std::vector<double> seconds;
  for (const Timing& timing : timings) seconds.push_back(timing.seconds);
  nlohmann::ordered_json line = {{"case", "scalapack"},      {"routine", routine.name},
                                 {"subject", subject},       {"ranks", grid.rows * grid.cols},
                                 {"rows", grid.rows},        {"cols", grid.cols},
                                 {"n", routine.n},           {"nb", settings.block},
                                 {"pair", settings.pair},    {"seconds", seconds},
                                 {"median_s", median},       {"median_began_s", median_began},
                                 {"flops", routine.flops},   {"residual", residual},
                                 {"link_bytes", link_bytes}, {"label", settings.label}};
  std::ofstream out(settings.json, std::ios::app);
  out << line << std::endl;
  if (out) return;
  std::fprintf(stderr, "scalapack_timing: cannot write %s: %s\n", settings.json.c_str(),
               std::strerror(errno));
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// Whether all results are right.
bool TimeAll(const Settings& settings, const Grid& grid, int rank) {
  const char* subject = SubjectName();
  Problems problems(grid, settings.n, settings.block);
  Problems eigenproblem(grid, settings.eigen_n, settings.block);
  std::vector<Routine> routines = problems.Routines();
  routines.push_back(eigenproblem.Eigenvalues());
  bool right = true;
  for (const Routine& routine : routines) {
    const std::vector<std::string>& wanted = settings.routines;
    if (std::find(wanted.begin(), wanted.end(), routine.name) == wanted.end()) continue;
    (void)Time(routine);
    std::vector<Timing> timings;
    for (int i = 0; i < settings.repetitions; ++i) timings.push_back(Time(routine));
    const double residual = routine.residual();
    right = right && residual < kLargestResidual;  // false for NaN
    if (rank == 0) Report(settings, grid, subject, routine, std::move(timings), residual);
  }
  if (!right && rank == 0) {
    std::fprintf(stderr, "scalapack_timing: a residual exceeds %g\n", kLargestResidual);
  }
  return right;
}

int Main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Settings settings;
  int exit_code;
  if (!ParseSettings(argc, argv, rank, &settings, &exit_code)) {
    MPI_Finalize();
    return exit_code;
  }

  int blacs_rank, ranks;
  Cblacs_pinfo(&blacs_rank, &ranks);
  Grid grid;
  if (!ShapeGrid(settings.shape, ranks, &grid)) {
    if (rank == 0) {
      std::fprintf(stderr, "scalapack_timing: --grid %s is no grid of %d ranks\n",
                   settings.shape.c_str(), ranks);
    }
    MPI_Finalize();
    return kExitRefused;
  }
  Cblacs_get(-1, 0, &grid.context);
  Cblacs_gridinit(&grid.context, "Row", grid.rows, grid.cols);
  Cblacs_gridinfo(grid.context, &grid.rows, &grid.cols, &grid.row, &grid.col);

  const bool right = TimeAll(settings, grid, rank);
  Cblacs_gridexit(grid.context);
  Cblacs_exit(1);
  MPI_Finalize();
  return right ? 0 : 1;
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }

// scalapack_timing: times ScaLAPACK's factorizations, matrix product and eigensolver on a process
// grid. It links the distribution's ScaLAPACK and knows nothing of Brigade: started once as it is
// and once with the shim preloaded, it shows what the shim is worth to a program that was never
// recompiled.

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "CLI/CLI.hpp"
#include "nlohmann/json.hpp"

extern "C" {
void Cblacs_pinfo(int* rank, int* ranks);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int cols);
void Cblacs_gridinfo(int context, int* rows, int* cols, int* row, int* col);
void Cblacs_gridexit(int context);
void Cblacs_exit(int keep_mpi);

int numroc_(const int* n, const int* nb, const int* coord, const int* source, const int* coords);
void descinit_(int* desc, const int* m, const int* n, const int* mb, const int* nb, const int* rsrc,
               const int* csrc, const int* context, const int* lld, int* info);
double pdlange_(const char* norm, const int* m, const int* n, const double* a, const int* ia,
                const int* ja, const int* desca, double* work);
void pdgemm_(const char* transa, const char* transb, const int* m, const int* n, const int* k,
             const double* alpha, const double* a, const int* ia, const int* ja, const int* desca,
             const double* b, const int* ib, const int* jb, const int* descb, const double* beta,
             double* c, const int* ic, const int* jc, const int* descc);
void pdgetrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desca,
              int* ipiv, int* info);
void pdgetrs_(const char* trans, const int* n, const int* nrhs, const double* a, const int* ia,
              const int* ja, const int* desca, const int* ipiv, double* b, const int* ib,
              const int* jb, const int* descb, int* info);
void pdpotrf_(const char* uplo, const int* n, double* a, const int* ia, const int* ja,
              const int* desca, int* info);
void pdpotrs_(const char* uplo, const int* n, const int* nrhs, const double* a, const int* ia,
              const int* ja, const int* desca, double* b, const int* ib, const int* jb,
              const int* descb, int* info);
void pdgeqrf_(const int* m, const int* n, double* a, const int* ia, const int* ja, const int* desca,
              double* tau, double* work, const int* lwork, int* info);
void pdormqr_(const char* side, const char* trans, const int* m, const int* n, const int* k,
              const double* a, const int* ia, const int* ja, const int* desca, const double* tau,
              double* c, const int* ic, const int* jc, const int* descc, double* work,
              const int* lwork, int* info);
void pdtrsm_(const char* side, const char* uplo, const char* transa, const char* diag, const int* m,
             const int* n, const double* alpha, const double* a, const int* ia, const int* ja,
             const int* desca, double* b, const int* ib, const int* jb, const int* descb);
void pdsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* ia,
              const int* ja, const int* desca, double* w, double* z, const int* iz, const int* jz,
              const int* descz, double* work, const int* lwork, int* iwork, const int* liwork,
              int* info);
}

namespace {

constexpr int kOne = 1;
constexpr int kZero = 0;
constexpr double kPlus = 1;
constexpr double kMinus = -1;
constexpr double kNothing = 0;

struct Grid {
  int context, rows, cols, row, col;
};

// A block-cyclic matrix of doubles.
class Matrix {
 public:
  Matrix(const Grid& grid, int rows, int cols, int block) : grid_(grid), block_(block) {
    local_rows_ = numroc_(&rows, &block, &grid.row, &kZero, &grid.rows);
    local_cols_ = numroc_(&cols, &block, &grid.col, &kZero, &grid.cols);
    const int ld = std::max(local_rows_, 1);
    int info;
    descinit_(desc_, &rows, &cols, &block, &block, &kZero, &kZero, &grid.context, &ld, &info);
    local_.resize(static_cast<size_t>(ld) * std::max(local_cols_, 1));
  }

  // Sets every element from its global indices; no communication.
  void Set(const std::function<double(int i, int j)>& value) {
    for (int j = 0; j < local_cols_; ++j) {
      for (int i = 0; i < local_rows_; ++i) {
        local_[static_cast<size_t>(j) * std::max(local_rows_, 1) + i] =
            value(Global(i, grid_.row, grid_.rows), Global(j, grid_.col, grid_.cols));
      }
    }
  }

  // Subtracts from every column that of `other`, of the same shape, times the column's factor.
  void SubtractScaled(const Matrix& other, const std::vector<double>& factors) {
    const size_t ld = std::max(local_rows_, 1);
    for (int j = 0; j < local_cols_; ++j) {
      const double factor = factors[Global(j, grid_.col, grid_.cols)];
      for (int i = 0; i < local_rows_; ++i) local_[j * ld + i] -= factor * other.local_[j * ld + i];
    }
  }

  double* data() { return local_.data(); }
  const int* desc() const { return desc_; }
  int local_rows() const { return local_rows_; }
  int local_cols() const { return local_cols_; }

 private:
  int Global(int local, int coord, int coords) const {
    return (local / block_ * coords + coord) * block_ + local % block_;
  }

  Grid grid_;
  int block_;
  int local_rows_, local_cols_;
  int desc_[9];
  std::vector<double> local_;
};

// Uniform in [-0.5, 0.5), the same on every machine and grid.
double Random(uint64_t seed, int i, int j) {
  uint64_t x =
      seed * 0x9e3779b97f4a7c15 + (static_cast<uint64_t>(i) << 32 | static_cast<uint32_t>(j));
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return static_cast<double>((x ^ x >> 31) >> 11) * 0x1p-53 - 0.5;
}

double General(int i, int j) { return Random(1, i, j); }
double Other(int i, int j) { return Random(2, i, j); }
double Symmetric(int i, int j) { return Random(3, std::max(i, j), std::min(i, j)); }
double Identity(int i, int j) { return i == j ? 1 : 0; }

// One computation: `set` is not timed, `run` is, `residual` checks the last run.
struct Routine {
  std::string name;
  int n;  // order of its matrices
  double flops;
  std::function<void()> set;
  std::function<int()> run;  // returns ScaLAPACK's info
  std::function<double()> residual;
};

class Problems {
 public:
  Problems(const Grid& grid, int n, int block)
      : n_(n),
        a_(grid, n, n, block),
        b_(grid, n, n, block),
        c_(grid, n, n, block),
        x_(grid, n, 1, block),
        y_(grid, n, 1, block),
        pivots_(a_.local_rows() + block),
        tau_(std::max(a_.local_cols(), 1)),
        eigenvalues_(n),
        norm_work_(std::max(a_.local_rows(), 1)) {}

  std::vector<Routine> Routines() {
    const double n = n_;
    const auto definite = [n](int i, int j) { return Symmetric(i, j) + (i == j ? n : 0); };
    return {
        {"LU", n_, 2 * n * n * n / 3, [this] { a_.Set(General); }, [this] { return Lu(); },
         [this] { return SolveResidual(General, [this] { SolveLu(); }); }},
        {"Cholesky", n_, n * n * n / 3, [this, definite] { a_.Set(definite); },
         [this] { return Cholesky(); },
         [this, definite] { return SolveResidual(definite, [this] { SolveCholesky(); }); }},
        {"QR", n_, 4 * n * n * n / 3, [this] { a_.Set(General); }, [this] { return Qr(); },
         [this] { return SolveResidual(General, [this] { SolveQr(); }); }},
        {"matrix product", n_, 2 * n * n * n,
         [this] {
           a_.Set(General);
           b_.Set(Other);
         },
         [this] { return Multiply(); }, [this] { return ProductResidual(); }},
    };
  }

  Routine Eigenvalues() {
    const double n = n_;
    // Reduction to tridiagonal form and back; what lies between depends on the matrix.
    return {"eigenvalues",
            n_,
            10 * n * n * n / 3,
            [this] { a_.Set(Symmetric); },
            [this] { return Eigen(); },
            [this] { return EigenResidual(); }};
  }

 private:
  int Lu() {
    int info;
    pdgetrf_(&n_, &n_, a_.data(), &kOne, &kOne, a_.desc(), pivots_.data(), &info);
    return info;
  }
  void SolveLu() {
    int info;
    pdgetrs_("N", &n_, &kOne, a_.data(), &kOne, &kOne, a_.desc(), pivots_.data(), x_.data(), &kOne,
             &kOne, x_.desc(), &info);
  }
  int Cholesky() {
    int info;
    pdpotrf_("L", &n_, a_.data(), &kOne, &kOne, a_.desc(), &info);
    return info;
  }
  void SolveCholesky() {
    int info;
    pdpotrs_("L", &n_, &kOne, a_.data(), &kOne, &kOne, a_.desc(), x_.data(), &kOne, &kOne,
             x_.desc(), &info);
  }
  int Qr() {
    return WithWork([this](double* work, const int* lwork) {
      int info;
      pdgeqrf_(&n_, &n_, a_.data(), &kOne, &kOne, a_.desc(), tau_.data(), work, lwork, &info);
      return info;
    });
  }
  void SolveQr() {
    WithWork([this](double* work, const int* lwork) {
      int info;
      pdormqr_("L", "T", &n_, &kOne, &n_, a_.data(), &kOne, &kOne, a_.desc(), tau_.data(),
               x_.data(), &kOne, &kOne, x_.desc(), work, lwork, &info);
      return info;
    });
    pdtrsm_("L", "U", "N", "N", &n_, &kOne, &kPlus, a_.data(), &kOne, &kOne, a_.desc(), x_.data(),
            &kOne, &kOne, x_.desc());
  }
  int Multiply() {
    Gemm(n_, kPlus, a_, b_, kNothing, &c_);
    return 0;
  }
  // Eigenvectors in b_.
  int Eigen() {
    const auto solve = [this](double* work, int words, int* integer_work, int integers) {
      int info;
      pdsyevd_("V", "L", &n_, a_.data(), &kOne, &kOne, a_.desc(), eigenvalues_.data(), b_.data(),
               &kOne, &kOne, b_.desc(), work, &words, integer_work, &integers, &info);
      return info;
    };
    constexpr int kQuery = -1;
    double words;
    int integers;
    const int info = solve(&words, kQuery, &integers, kQuery);
    if (info != 0) return info;
    work_.resize(std::max(work_.size(), static_cast<size_t>(words)));
    integer_work_.resize(integers);
    return solve(work_.data(), static_cast<int>(work_.size()), integer_work_.data(), integers);
  }

  // C = alpha op(A) B + beta C with n x cols B and C.
  void Gemm(int cols, double alpha, Matrix& a, Matrix& b, double beta, Matrix* c,
            const char* op = "N") {
    pdgemm_(op, "N", &n_, &cols, &n_, &alpha, a.data(), &kOne, &kOne, a.desc(), b.data(), &kOne,
            &kOne, b.desc(), &beta, c->data(), &kOne, &kOne, c->desc());
  }

  // Asks how much work space `routine` wants, once, then gives it.
  int WithWork(const std::function<int(double*, const int*)>& routine) {
    constexpr int kQuery = -1;
    double wanted;
    const int info = routine(&wanted, &kQuery);
    if (info != 0) return info;
    const int words = static_cast<int>(wanted);
    if (work_.size() < static_cast<size_t>(words)) work_.resize(words);
    return routine(work_.data(), &words);
  }

  double Norm(Matrix& matrix, int cols) {
    return pdlange_("I", &n_, &cols, matrix.data(), &kOne, &kOne, matrix.desc(), norm_work_.data());
  }

  // || A x - y || / (|| A || || x || n eps) for the x that `solve` makes of y with the factors.
  double SolveResidual(const std::function<double(int, int)>& value,
                       const std::function<void()>& solve) {
    y_.Set(Other);
    x_.Set(Other);
    solve();
    a_.Set(value);
    Gemm(1, kPlus, a_, x_, kMinus, &y_);
    return Norm(y_, 1) / (Norm(a_, n_) * Norm(x_, 1) * n_ * 0x1p-53);
  }
  // || A (B x) - C x || / (|| A || || B || || x || n eps)
  double ProductResidual() {
    x_.Set(General);
    const double scale = Norm(a_, n_) * Norm(b_, n_) * Norm(x_, 1) * n_ * 0x1p-53;
    Gemm(1, kPlus, b_, x_, kNothing, &y_);
    Gemm(1, kPlus, c_, x_, kNothing, &x_);
    Gemm(1, kPlus, a_, y_, kMinus, &x_);
    return Norm(x_, 1) / scale;
  }
  // The sum of || A Z - Z W || / (|| A || n eps) and || Z' Z - I || / (n eps).
  double EigenResidual() {
    a_.Set(Symmetric);
    Gemm(n_, kPlus, a_, b_, kNothing, &c_);
    c_.SubtractScaled(b_, eigenvalues_);
    const double residual = Norm(c_, n_) / Norm(a_, n_);
    c_.Set(Identity);
    Gemm(n_, kPlus, b_, b_, kMinus, &c_, "T");
    return (residual + Norm(c_, n_)) / (n_ * 0x1p-53);
  }

  int n_;
  Matrix a_, b_, c_, x_, y_;
  std::vector<int> pivots_;
  std::vector<double> tau_;
  std::vector<double> work_;
  std::vector<int> integer_work_;
  std::vector<double> eigenvalues_;
  std::vector<double> norm_work_;
};

// What has gone over this host's network interfaces, headers included; loopback is none.
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

}  // namespace

int main(int argc, char** argv) {
  constexpr int kExitRefused = 2;
  int n = 1000, eigen_n = 600, block = 32, repetitions = 3, pair = 0;
  std::string json, label, shape;
  std::vector<std::string> wanted(std::begin(kRoutines), std::end(kRoutines));
  const std::vector<std::string> all = wanted;
  CLI::App app(
      "Times LU, Cholesky and QR factorization, the matrix product and the symmetric eigenproblem "
      "of ScaLAPACK; maximum over ranks. Start under mpirun.");
  app.option_defaults()->always_capture_default();
  app.add_option("-n", n, "Order of the matrices")->check(CLI::PositiveNumber);
  app.add_option("--eigen-n", eigen_n, "The same of the eigenproblem")->check(CLI::PositiveNumber);
  app.add_option("--nb", block, "Block size")->check(CLI::PositiveNumber);
  app.add_option("--grid", shape, "Process grid PxQ of all ranks; else as square as can be");
  app.add_option("--routines", wanted, "Which")->delimiter(',')->check(CLI::IsMember(all));
  app.add_option("--repetitions", repetitions, "Timed runs of each, after one that is not")
      ->check(CLI::PositiveNumber);
  app.add_option("--pair", pair, "Recorded, to compare this launch with the one beside it");
  app.add_option("--label", label, "Recorded, to tell launches with other settings apart");
  app.add_option("--json", json, "Append one JSON line per routine to this file");

  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::ostringstream text;
    const bool help = app.exit(error, text, text) == 0;
    if (rank == 0) std::fputs(text.str().c_str(), help ? stdout : stderr);
    MPI_Finalize();
    return help ? 0 : kExitRefused;
  }

  int blacs_rank, ranks;
  Cblacs_pinfo(&blacs_rank, &ranks);
  Grid grid;
  if (!ShapeGrid(shape, ranks, &grid)) {
    if (rank == 0) {
      std::fprintf(stderr, "scalapack_timing: --grid %s is no grid of %d ranks\n", shape.c_str(),
                   ranks);
    }
    MPI_Finalize();
    return kExitRefused;
  }
  Cblacs_get(-1, 0, &grid.context);
  Cblacs_gridinit(&grid.context, "Row", grid.rows, grid.cols);
  Cblacs_gridinfo(grid.context, &grid.rows, &grid.cols, &grid.row, &grid.col);

  // Whose BLACS this is, is asked of the process itself: a preload that failed must not pass for
  // one.
  Dl_info blacs;
  dladdr(dlsym(RTLD_DEFAULT, "Cblacs_gridinit"), &blacs);
  const bool is_shim = std::string(blacs.dli_fname).find("libbrigade_blacs") != std::string::npos;
  const char* subject = is_shim ? "shim" : "stock";

  bool right = true;
  {
    Problems problems(grid, n, block);
    Problems eigenproblem(grid, eigen_n, block);
    std::vector<Routine> routines = problems.Routines();
    routines.push_back(eigenproblem.Eigenvalues());
    for (const Routine& routine : routines) {
      if (std::find(wanted.begin(), wanted.end(), routine.name) == wanted.end()) continue;
      (void)Time(routine);
      std::vector<Timing> timings;
      for (int i = 0; i < repetitions; ++i) timings.push_back(Time(routine));
      const double residual = routine.residual();
      right = right && residual < kLargestResidual;  // false for NaN
      if (rank != 0) continue;
      std::sort(timings.begin(), timings.end());
      const auto [median, link_bytes, median_began] = timings[timings.size() / 2];
      std::vector<double> seconds;
      for (const Timing& timing : timings) seconds.push_back(timing.seconds);
      std::printf("%-6s %-15s n=%d nb=%d %dx%d  %8.4f s  %7.2f Gflop/s  residual %.3f\n", subject,
                  routine.name.c_str(), routine.n, block, grid.rows, grid.cols, median,
                  routine.flops / median * 1e-9, residual);
      std::fflush(stdout);
      if (json.empty()) continue;
      nlohmann::ordered_json line = {{"case", "scalapack"},
                                     {"routine", routine.name},
                                     {"subject", subject},
                                     {"ranks", ranks},
                                     {"rows", grid.rows},
                                     {"cols", grid.cols},
                                     {"n", routine.n},
                                     {"nb", block},
                                     {"pair", pair},
                                     {"seconds", seconds},
                                     {"median_s", median},
                                     {"median_began_s", median_began},
                                     {"flops", routine.flops},
                                     {"residual", residual},
                                     {"link_bytes", link_bytes},
                                     {"label", label}};
      std::ofstream(json, std::ios::app) << line << '\n';
    }
  }
  if (!right && rank == 0) {
    std::fprintf(stderr, "scalapack_timing: a residual exceeds %g\n", kLargestResidual);
  }
  Cblacs_gridexit(grid.context);
  Cblacs_exit(1);
  MPI_Finalize();
  return right ? 0 : 1;
}

// P?GEMM, P?SYRK and P?HERK that are preloaded against ScaLAPACK's own, in one process, on
// descriptors drawn at random: grids, blocks, first blocks, sources, submatrices, transposes,
// halves, types, alpha and beta. And against themselves, when ranks come in another order.
//
// Prints how many products had anything to multiply, for the script that counts those that were
// taken, and a digest of all results, for it to compare runs that fetch in other ways.

#include <dlfcn.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/stress.h"

using Gemm = void(const char* op_a, const char* op_b, const int* m, const int* n, const int* k,
                  const void* alpha, const void* a, const int* ia, const int* ja, const int* desca,
                  const void* b, const int* ib, const int* jb, const int* descb, const void* beta,
                  void* c, const int* ic, const int* jc, const int* descc);
// P?SYRK and P?HERK.
using Update = void(const char* half, const char* op, const int* n, const int* k, const void* alpha,
                    const void* a, const int* ia, const int* ja, const int* desca, const void* beta,
                    void* c, const int* ic, const int* jc, const int* descc);

extern "C" {
void blacs_get_(const int* context, const int* what, int* value);
void blacs_gridinit_(int* context, const char* order, const int* rows, const int* cols);
void blacs_gridinfo_(const int* context, int* rows, int* cols, int* row, int* col);
void blacs_gridexit_(const int* context);
// The loader decides which library defines these.
Gemm psgemm_, pdgemm_, pcgemm_, pzgemm_;
Update pssyrk_, pdsyrk_, pcsyrk_, pzsyrk_, pcherk_, pzherk_;

// In place of ScaLAPACK's own, the first of which ends the job.
void PB_Cabort(int context, char* routine, int info);
void PB_Cwarn(int, int, char*, char*, ...) {}
}

namespace {

using Complex = std::complex<float>;
using DoubleComplex = std::complex<double>;

// Draws the same on all ranks.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  // Between both, inclusive.
  int From(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  bool Once(int times) { return From(1, times) == 1; }

 private:
  std::mt19937 random_;
};

struct Grid {
  int context, rows, cols, row, col;
};

// One dimension of a matrix, and of its submatrix.
struct Axis {
  int size = 0;
  int begin = 0;   // of the submatrix
  int count = 0;   // of the submatrix
  int first = 0;   // how much is in the first block
  int block = 0;   // in any other
  int source = 0;  // who has the first block
  int procs = 0;

  int OwnerOf(int i) const {
    return i < first ? source : ((i - first) / block + 1 + source) % procs;
  }
  std::vector<int> OwnedBy(int proc) const {
    std::vector<int> owned;
    for (int i = 0; i < size; ++i) {
      if (OwnerOf(i) == proc) owned.push_back(i);
    }
    return owned;
  }
};

Axis DrawAxis(Draw* draw, int count, int procs, bool has_first) {
  Axis axis;
  axis.count = count;
  axis.begin = draw->Once(3) ? 0 : draw->From(0, 20);
  axis.size = std::max(1, axis.begin + count + (draw->Once(2) ? 0 : draw->From(0, 9)));
  axis.block = draw->Once(4) ? draw->From(1, 2 * axis.size) : draw->From(1, 12);
  axis.first = has_first ? draw->From(1, 20) : axis.block;
  axis.procs = procs;
  axis.source = draw->From(0, procs - 1);
  return axis;
}

template <typename T>
struct Real {
  using Type = T;
  static constexpr double kLargest = 1;            // of an element
  static constexpr char kTransposes[] = "NTCntc";  // of P?SYRK
};
template <typename T>
struct Real<std::complex<T>> {
  using Type = T;
  static constexpr double kLargest = 1.5;
  static constexpr char kTransposes[] = "NTntNT";
};

// Draws between -1 and 1. Each rank draws its own.
void Fill(std::mt19937* random, float* to) {
  *to = std::uniform_real_distribution<float>(-1, 1)(*random);
}
void Fill(std::mt19937* random, double* to) {
  *to = std::uniform_real_distribution<double>(-1, 1)(*random);
}
template <typename R>
void Fill(std::mt19937* random, std::complex<R>* to) {
  R real, imag;
  Fill(random, &real);
  Fill(random, &imag);
  *to = {real, imag};
}

// This rank's part of a matrix, and its descriptor.
template <typename T>
class Part {
 public:
  // The submatrix is rows x cols.
  Part(Draw* draw, std::mt19937* values, const Grid& grid, int rows, int cols) {
    const bool has_first = draw->Once(2);
    rows_ = DrawAxis(draw, rows, grid.rows, has_first);
    cols_ = DrawAxis(draw, cols, grid.cols, has_first);
    own_rows_ = rows_.OwnedBy(grid.row);
    own_cols_ = cols_.OwnedBy(grid.col);
    const int more = draw->Once(2) ? 0 : draw->From(1, 3);
    ld_ = std::max(1, static_cast<int>(own_rows_.size())) + more;
    memory_.resize(static_cast<size_t>(ld_) * std::max<size_t>(1, own_cols_.size()));
    for (T& value : memory_) Fill(values, &value);
    constexpr int kBlockCyclic = 1, kWithFirstBlock = 2;
    if (has_first) {
      descriptor_ = {kWithFirstBlock, grid.context, rows_.size,  cols_.size,
                     rows_.first,     cols_.first,  rows_.block, cols_.block,
                     rows_.source,    cols_.source, ld_};
    } else {
      descriptor_ = {kBlockCyclic, grid.context, rows_.size,   cols_.size, rows_.block,
                     cols_.block,  rows_.source, cols_.source, ld_};
    }
    row_ = rows_.begin + 1;
    col_ = cols_.begin + 1;
  }

  // visit(index, row and column in the submatrix, which may be before or behind it): all of this
  // rank's memory.
  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (size_t i = 0; i < memory_.size(); ++i) {
      const size_t row = i % static_cast<size_t>(ld_), col = i / static_cast<size_t>(ld_);
      const bool is_owned = row < own_rows_.size() && col < own_cols_.size();
      visit(i, is_owned ? own_rows_[row] - rows_.begin : -1,
            is_owned ? own_cols_[col] - cols_.begin : -1);
    }
  }
  bool Contains(int row, int col) const {
    return row >= 0 && row < rows_.count && col >= 0 && col < cols_.count;
  }
  // Fills elements that must not be read.
  void FillSubmatrixWithNan() {
    ForEach([&](size_t i, int row, int col) {
      if (Contains(row, col)) {
        memory_[i] = T(std::numeric_limits<typename Real<T>::Type>::quiet_NaN());
      }
    });
  }

  std::vector<T>& memory() { return memory_; }
  const int* row() const { return &row_; }
  const int* col() const { return &col_; }
  const int* descriptor() const { return descriptor_.data(); }
  std::string ToString() const {
    std::string text;
    for (const int value : descriptor_) text += " " + std::to_string(value);
    return "(" + std::to_string(row_) + ", " + std::to_string(col_) + ") of" + text;
  }

 private:
  Axis rows_, cols_;
  std::vector<int> own_rows_, own_cols_;
  int ld_ = 0;
  std::vector<T> memory_;
  std::vector<int> descriptor_;
  int row_ = 0, col_ = 0;
};

template <typename T>
bool SameBits(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

// Of the ScaLAPACK that the program is linked with.
template <typename Function>
Function* Stock(const char* name) {
  static void* const scalapack = [] {
    void* const of_open_mpi = dlopen("libscalapack-openmpi.so.2.2", RTLD_NOW | RTLD_NOLOAD);
    return of_open_mpi != nullptr ? of_open_mpi : dlopen("libscalapack-mpich.so.2.2", RTLD_NOW);
  }();
  return reinterpret_cast<Function*>(dlsym(scalapack, name));
}

// FNV-1a, of all that this rank has computed.
class Digest {
 public:
  void Add(const void* data, size_t bytes) {
    const auto* const from = static_cast<const unsigned char*>(data);
    for (size_t i = 0; i < bytes; ++i) value_ = (value_ ^ from[i]) * 0x100000001b3;
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0xcbf29ce484222325;
};

struct Sizes {
  int m, n, k;
};

Sizes DrawSizes(Draw* draw) {
  const auto size = [draw] {
    if (draw->Once(25)) return 0;
    return draw->Once(15) ? draw->From(100, 300) : draw->From(1, 60);
  };
  const int m = size(), n = size(), k = size();
  return {m, n, k};
}

template <typename T>
void DrawScalar(Draw* draw, T* to) {
  std::mt19937 same(static_cast<unsigned>(draw->From(0, 1 << 30)));
  Fill(&same, to);
  const int kind = draw->From(0, 4);
  if (kind < 2) *to = T(static_cast<typename Real<T>::Type>(kind));
}

// The elements of C that are computed: 'U' and 'L': a half of it. `is_hermitian`: its diagonal is
// real.
struct Computed {
  char half = 'A';
  bool is_hermitian = false;

  bool Contains(int row, int col) const {
    return half == 'U' ? row <= col : half == 'L' ? row >= col : true;
  }
};

// run(whether it is ScaLAPACK's own) leaves in C what may differ by so much.
template <typename T, typename Run>
void CompareRuns(const Run& run, const Computed& computed, double bound, const std::string& what,
                 std::mt19937* values, Part<T>* c, Digest* digest) {
  const std::vector<T> before = c->memory();
  run(/*is_stock=*/true);
  const std::vector<T> wanted = c->memory();
  c->memory() = before;
  run(/*is_stock=*/false);
  const std::vector<T> first = c->memory();
  c->memory() = before;
  // Each rank's own.
  const int delay_us = std::uniform_int_distribution<int>(0, 500)(*values);
  std::this_thread::sleep_for(std::chrono::microseconds(delay_us));
  run(/*is_stock=*/false);
  digest->Add(c->memory().data(), c->memory().size() * sizeof(T));

  double worst = 0;
  bool around_is_same = true, diagonal_is_real = true;
  c->ForEach([&](size_t i, int row, int col) {
    const T& value = c->memory()[i];
    if (!c->Contains(row, col) || !computed.Contains(row, col)) {
      around_is_same = around_is_same && SameBits(value, before[i]);
      return;
    }
    const double difference = std::abs(value - wanted[i]);
    if (!(difference <= worst)) worst = difference;
    if (row == col && std::imag(wanted[i]) == 0 && std::imag(value) != 0) diagonal_is_real = false;
  });
  EXPECT_TRUE(worst <= bound) << what << ": they differ by " << worst << ", " << bound
                              << " are allowed";
  EXPECT_EQ(std::memcmp(first.data(), c->memory().data(), first.size() * sizeof(T)), 0)
      << what << ": other bits when it is computed again";
  EXPECT_TRUE(around_is_same) << what << ": what is around C was changed";
  EXPECT_TRUE(diagonal_is_real || !computed.is_hermitian) << what << ": the diagonal is not real";
}

// n eps |A||B|, of either.
template <typename T, typename Scalar>
double BoundOf(int k, Scalar alpha, Scalar beta) {
  const double largest = Real<T>::kLargest;
  const double eps = std::numeric_limits<typename Real<T>::Type>::epsilon();
  return 2 * (k + 2) * eps * (std::abs(alpha) * k * largest * largest + std::abs(beta) * largest);
}

template <typename T>
void Compare(Draw* draw, std::mt19937* values, const Grid& grid, const Sizes& sizes, Gemm* gemm,
             const char* name, Digest* digest) {
  Gemm* const stock = Stock<Gemm>(name);
  ASSERT_NE(stock, nullptr);
  ASSERT_NE(stock, gemm) << "nothing is preloaded";

  const char op_a = "NTCntc"[draw->From(0, 5)], op_b = "NTCntc"[draw->From(0, 5)];
  const int m = sizes.m, n = sizes.n, k = sizes.k;
  const bool a_is_straight = op_a == 'N' || op_a == 'n', b_is_straight = op_b == 'N' || op_b == 'n';
  Part<T> a(draw, values, grid, a_is_straight ? m : k, a_is_straight ? k : m);
  Part<T> b(draw, values, grid, b_is_straight ? k : n, b_is_straight ? n : k);
  Part<T> c(draw, values, grid, m, n);
  T alpha, beta;
  DrawScalar(draw, &alpha);
  DrawScalar(draw, &beta);
  if (beta == T(0) && draw->Once(2)) c.FillSubmatrixWithNan();

  const std::vector<T> a_before = a.memory(), b_before = b.memory();
  const auto run = [&](bool is_stock) {
    (is_stock ? stock : gemm)(&op_a, &op_b, &m, &n, &k, &alpha, a.memory().data(), a.row(), a.col(),
                              a.descriptor(), b.memory().data(), b.row(), b.col(), b.descriptor(),
                              &beta, c.memory().data(), c.row(), c.col(), c.descriptor());
  };
  const std::string what = std::string(name) + " " + op_a + op_b + " " + std::to_string(m) + " x " +
                           std::to_string(n) + " x " + std::to_string(k) + " on " +
                           std::to_string(grid.rows) + " x " + std::to_string(grid.cols) +
                           " ranks, A " + a.ToString() + ", B " + b.ToString() + ", C " +
                           c.ToString();
  CompareRuns(run, Computed(), BoundOf<T>(k, alpha, beta), what, values, &c, digest);
  EXPECT_TRUE(a.memory() == a_before && b.memory() == b_before) << what << ": A or B was changed";
}

// P?SYRK, or with a real Scalar and complex elements P?HERK.
template <typename T, typename Scalar>
void CompareUpdate(Draw* draw, std::mt19937* values, const Grid& grid, const Sizes& sizes,
                   Update* update, const char* name, Digest* digest) {
  Update* const stock = Stock<Update>(name);
  ASSERT_NE(stock, nullptr);
  ASSERT_NE(stock, update) << "nothing is preloaded";

  Computed computed;
  computed.half = draw->Once(2) ? 'U' : 'L';
  computed.is_hermitian = !std::is_same_v<T, Scalar>;
  const char half = draw->Once(2) ? computed.half : static_cast<char>(std::tolower(computed.half));
  const char op = (computed.is_hermitian ? "NCncNC" : Real<T>::kTransposes)[draw->From(0, 5)];
  const bool is_straight = op == 'N' || op == 'n';
  const int n = sizes.n, k = sizes.k;
  Part<T> a(draw, values, grid, is_straight ? n : k, is_straight ? k : n);
  Part<T> c(draw, values, grid, n, n);
  Scalar alpha, beta;
  DrawScalar(draw, &alpha);
  DrawScalar(draw, &beta);
  if (beta == Scalar(0) && draw->Once(2)) c.FillSubmatrixWithNan();

  const std::vector<T> a_before = a.memory();
  const auto run = [&](bool is_stock) {
    (is_stock ? stock : update)(&half, &op, &n, &k, &alpha, a.memory().data(), a.row(), a.col(),
                                a.descriptor(), &beta, c.memory().data(), c.row(), c.col(),
                                c.descriptor());
  };
  const std::string what =
      std::string(name) + " " + half + op + " " + std::to_string(n) + " x " + std::to_string(k) +
      " on " + std::to_string(grid.rows) + " x " + std::to_string(grid.cols) + " ranks, alpha " +
      std::to_string(std::abs(alpha)) + ", beta " + std::to_string(std::abs(beta)) + ", A " +
      a.ToString() + ", C " + c.ToString();
  CompareRuns(run, computed, BoundOf<T>(k, alpha, beta), what, values, &c, digest);
  EXPECT_TRUE(a.memory() == a_before) << what << ": A was changed";
}

TEST(Products, MatchScalapack) {
  const int cases = brigade::StressRounds(300, 10000);
  const unsigned seed = brigade::StressSeed();
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  Draw draw(seed);
  std::mt19937 values(seed + static_cast<unsigned>(rank));
  constexpr int kPerGrid = 12;
  int to_multiply = 0;
  Digest digest;
  for (int number = 0; number < cases; number += kPerGrid) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", from case " + std::to_string(number) + " on");
    const int rows = draw.From(1, ranks);
    const int cols = draw.From(1, ranks / rows);
    const auto seed_of_grid = static_cast<unsigned>(draw.From(0, 1 << 30));
    const int minus_one = -1, default_context = 0;
    Grid grid{};
    blacs_get_(&minus_one, &default_context, &grid.context);
    blacs_gridinit_(&grid.context, "Row", &rows, &cols);
    Draw of_grid(seed_of_grid);
    grid.row = -1;
    if (rank < rows * cols) {
      blacs_gridinfo_(&grid.context, &grid.rows, &grid.cols, &grid.row, &grid.col);
    }
    for (int i = 0; i < kPerGrid && grid.row >= 0; ++i) {
      Sizes sizes = DrawSizes(&of_grid);
      const int which = of_grid.From(0, 9);
      if (which > 3) sizes.m = sizes.n;
      // Once, and once more.
      to_multiply += rank == 0 && std::min({sizes.m, sizes.n, sizes.k}) > 0 ? 2 : 0;
      switch (which) {
        case 0:
          Compare<float>(&of_grid, &values, grid, sizes, psgemm_, "psgemm_", &digest);
          break;
        case 1:
          Compare<double>(&of_grid, &values, grid, sizes, pdgemm_, "pdgemm_", &digest);
          break;
        case 2:
          Compare<Complex>(&of_grid, &values, grid, sizes, pcgemm_, "pcgemm_", &digest);
          break;
        case 3:
          Compare<DoubleComplex>(&of_grid, &values, grid, sizes, pzgemm_, "pzgemm_", &digest);
          break;
        case 4:
          CompareUpdate<float, float>(&of_grid, &values, grid, sizes, pssyrk_, "pssyrk_", &digest);
          break;
        case 5:
          CompareUpdate<double, double>(&of_grid, &values, grid, sizes, pdsyrk_, "pdsyrk_",
                                        &digest);
          break;
        case 6:
          CompareUpdate<Complex, Complex>(&of_grid, &values, grid, sizes, pcsyrk_, "pcsyrk_",
                                          &digest);
          break;
        case 7:
          CompareUpdate<DoubleComplex, DoubleComplex>(&of_grid, &values, grid, sizes, pzsyrk_,
                                                      "pzsyrk_", &digest);
          break;
        case 8:
          CompareUpdate<Complex, float>(&of_grid, &values, grid, sizes, pcherk_, "pcherk_",
                                        &digest);
          break;
        default:
          CompareUpdate<DoubleComplex, double>(&of_grid, &values, grid, sizes, pzherk_, "pzherk_",
                                               &digest);
      }
      if (HasFatalFailure()) return;
    }
    if (grid.row >= 0) blacs_gridexit_(&grid.context);
  }
  const uint64_t mine = digest.value() * (2 * static_cast<uint64_t>(rank) + 1);
  uint64_t all = 0;
  MPI_Reduce(&mine, &all, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("to multiply: %d\n", to_multiply);
    std::printf("digest: %016llx\n", static_cast<unsigned long long>(all));
  }
}

std::string complaint;

}  // namespace

void PB_Cabort(int, char* routine, int info) { complaint += routine + std::to_string(info) + " "; }

namespace {

struct UpdateArguments {
  char half, op;
  int n, k, ia, ja;
  std::array<int, 9> a;
  int ic, jc;
  std::array<int, 9> c;
};

TEST(Products, AreRefusedAsByScalapack) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int minus_one = -1, zero = 0, one = 1, size = 2 * ranks;
  int context = 0;
  blacs_get_(&minus_one, &zero, &context);
  blacs_gridinit_(&context, "Row", &one, &ranks);
  using Arguments = UpdateArguments;
  std::vector<std::function<void(Arguments*)>> mistakes = {
      [](Arguments* x) { x->half = 'X'; },
      [](Arguments* x) { x->op = 'X'; },
      [](Arguments* x) { x->n = -1; },
      [](Arguments* x) { x->k = -1; },
      [=](Arguments* x) { x->n = size + 1; },
      [=](Arguments* x) { x->k = size + 1; },
      [](Arguments* x) { x->ia = 0; },
      [](Arguments* x) { x->ja = 0; },
      [](Arguments* x) { x->ic = 0; },
      [](Arguments* x) { x->jc = 0; },
      [](Arguments* x) { x->half = x->op = 'X'; },
  };
  constexpr size_t kType = 0, kContext = 1, kRows = 2, kCols = 3, kRowBlock = 4, kColBlock = 5,
                   kRowSource = 6, kColSource = 7, kLd = 8;
  for (const auto& [place, value] : {std::pair<size_t, int>(kType, 3),
                                     {kContext, -1},
                                     {kRows, -1},
                                     {kRows, size - 1},
                                     {kCols, size - 1},
                                     {kRowBlock, 0},
                                     {kColBlock, -1},
                                     {kRowSource, 1},
                                     {kColSource, ranks},
                                     {kLd, 0}}) {
    mistakes.push_back([place = place, value = value](Arguments* x) { x->a[place] = value; });
    mistakes.push_back([place = place, value = value](Arguments* x) { x->c[place] = value; });
  }
  const std::vector<std::tuple<const char*, Update*, char>> routines = {
      {"pssyrk_", pssyrk_, 'X'}, {"pdsyrk_", pdsyrk_, 'X'}, {"pcsyrk_", pcsyrk_, 'C'},
      {"pzsyrk_", pzsyrk_, 'C'}, {"pcherk_", pcherk_, 'T'}, {"pzherk_", pzherk_, 'T'}};
  std::vector<std::complex<double>> a(static_cast<size_t>(2 * size), 1), c = a;
  const std::vector<std::complex<double>> before = c;
  const std::complex<double> scalar = 1;
  const std::array<int, 9> descriptor = {1, context, size, size, size, 2, 0, 0, size};
  for (const auto& [name, update, wrong_op] : routines) {
    std::vector<std::function<void(Arguments*)>> all = mistakes;
    all.push_back([op = wrong_op](Arguments* x) { x->op = op; });
    for (size_t i = 0; i < all.size(); ++i) {
      Arguments x = {'U', 'N', size, size, 1, 1, descriptor, 1, 1, descriptor};
      all[i](&x);
      std::string complaints[2];
      for (const bool is_stock : {true, false}) {
        complaint.clear();
        (is_stock ? Stock<Update>(name) : update)(&x.half, &x.op, &x.n, &x.k, &scalar, a.data(),
                                                  &x.ia, &x.ja, x.a.data(), &scalar, c.data(),
                                                  &x.ic, &x.jc, x.c.data());
        complaints[is_stock ? 0 : 1] = complaint;
      }
      EXPECT_NE(complaints[0], "") << name << ", mistake " << i;
      EXPECT_EQ(complaints[0], complaints[1]) << name << ", mistake " << i;
      EXPECT_EQ(c, before) << name << ", mistake " << i;
    }
  }
  blacs_gridexit_(&context);
}

// The PBLAS do not define a product whose C shares memory with B, but programs that use one must
// still run. The script checks which library computed it.
TEST(Products, AreLeftWhereCSharesMemoryWithB) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int minus_one = -1, zero = 0, one = 1, n = 2 * ranks, block = 2;
  int context = 0;
  blacs_get_(&minus_one, &zero, &context);
  blacs_gridinit_(&context, "Row", &one, &ranks);
  const std::vector<int> descriptor = {1, context, n, n, block, block, 0, 0, n};
  std::vector<double> a(static_cast<size_t>(n * block), 1), b = a;
  const double alpha = 1, beta = 0;
  pdgemm_("N", "N", &n, &n, &n, &alpha, a.data(), &one, &one, descriptor.data(), b.data(), &one,
          &one, descriptor.data(), &beta, b.data(), &one, &one, descriptor.data());
  blacs_gridexit_(&context);
}

}  // namespace

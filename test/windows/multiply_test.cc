// Products of matrices spread over a grid, over every way to another rank's memory: against a
// serial reference, and bit by bit against each other. The ranks are threads.

#include "windows/multiply/multiply.h"

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "test/support/endpoints/forwarding_endpoint.h"
#include "test/support/load_blas.h"
#include "test/support/stress.h"
#include "test/windows/window_ranks.h"
#include "windows/message/rma_frame.h"
#include "windows/multiply/distribution.h"

namespace brigade {
namespace {

using Complex = std::complex<double>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kUntouched = 77;

const bool kBlasIsLoaded = [] {
  LoadBlas();
  return true;
}();

void Expect(bool yes, const std::string& what) {
  if (!yes) throw std::runtime_error(what);
}

// An element that everybody knows.
Complex ValueOf(char matrix, int64_t row, int64_t col) {
  uint64_t bits = static_cast<uint64_t>(row) * 0x9E3779B97F4A7C15U +
                  static_cast<uint64_t>(col) * 0xC2B2AE3D27D4EB4FU + static_cast<uint64_t>(matrix);
  bits = (bits ^ (bits >> 29)) * 0xBF58476D1CE4E5B9U;
  bits ^= bits >> 32;
  const auto part = [](uint64_t sixteen) { return static_cast<double>(sixteen) / 32768 - 1; };
  return {part(bits & 0xFFFF), part((bits >> 16) & 0xFFFF)};
}

bool IsComplex(Element element) {
  return element == Element::kComplexFloat || element == Element::kComplexDouble;
}
bool IsSingle(Element element) {
  return element == Element::kFloat || element == Element::kComplexFloat;
}

void Store(Element element, Complex value, std::byte* to) {
  const float singles[2] = {static_cast<float>(value.real()), static_cast<float>(value.imag())};
  const double doubles[2] = {value.real(), value.imag()};
  if (IsSingle(element)) {
    std::memcpy(to, singles, ElementBytes(element));
  } else {
    std::memcpy(to, doubles, ElementBytes(element));
  }
}

Complex Load(Element element, const std::byte* from) {
  float singles[2] = {};
  double doubles[2] = {};
  if (IsSingle(element)) {
    std::memcpy(singles, from, ElementBytes(element));
    return {singles[0], singles[1]};
  }
  std::memcpy(doubles, from, ElementBytes(element));
  return {doubles[0], doubles[1]};
}

// As it is once it was stored.
Complex Rounded(Element element, Complex value) {
  std::byte stored[16];
  Store(element, value, stored);
  return Load(element, stored);
}

struct Grid {
  int rows;
  int cols;
};

// A product, the same on all ranks, without memory.
struct Problem {
  MultiplyCall call;
  Complex alpha{1, 0};
  Complex beta{0, 0};
  std::byte alpha_bytes[16];
  std::byte beta_bytes[16];
  double c_is = 0;  // if it is not 0, all elements of C are this before
  double a_is = 0;  // the same for A

  void Fix() {
    Store(call.element, alpha, alpha_bytes);
    Store(call.element, beta, beta_bytes);
    alpha = Load(call.element, alpha_bytes);
    beta = Load(call.element, beta_bytes);
    call.alpha = alpha_bytes;
    call.beta = beta_bytes;
  }
};

void Shape(DistributedMatrix* matrix, int64_t rows, int64_t cols, int64_t row_block,
           int64_t col_block) {
  matrix->rows = rows;
  matrix->cols = cols;
  matrix->row_block = row_block;
  matrix->col_block = col_block;
}

bool IsWanted(Half half, int64_t row, int64_t col) {
  return half == Half::kBoth || (half == Half::kUpper ? row <= col : row >= col);
}

// One rank's part of a matrix.
class Part {
 public:
  Part(char name, const Problem& problem, const Grid& grid, int rank, DistributedMatrix* matrix,
       WindowRank* windows = nullptr)
      : name_(name), element_(problem.call.element), matrix_(*matrix) {
    row_ = rank / grid.cols;
    col_ = rank % grid.cols;
    rows_ = {matrix->row_block, matrix->row_source, grid.rows, 0, matrix->more_rows};
    cols_ = {matrix->col_block, matrix->col_source, grid.cols, 0, matrix->more_cols};
    own_rows_ = OwnRanges(rows_, matrix->rows, row_);
    own_cols_ = OwnRanges(cols_, matrix->cols, col_);
    ld_ = std::max<int64_t>(1, CountOf(own_rows_)) + (name + rank) % 3;
    const auto bytes = static_cast<size_t>(ld_ * CountOf(own_cols_)) * ElementBytes(element_);
    if (windows != nullptr) {
      window_ = windows->Make(bytes);
      data_ = window_->base();
    } else {
      memory_.resize(bytes);
      data_ = memory_.data();
    }
    const double all = name == 'C' ? problem.c_is : name == 'A' ? problem.a_is : 0;
    for (size_t i = 0; i < bytes; i += ElementBytes(element_)) {
      Store(element_, {kUntouched, kUntouched}, data_ + i);
    }
    ForEach([&](int64_t row, int64_t col, std::byte* at) {
      Store(element_, all != 0 ? Complex{all, all} : ValueOf(name_, row, col), at);
    });
    matrix->data = bytes == 0 ? nullptr : data_;
    matrix->ld = ld_;
    matrix->window = window_.get();
    original_.assign(data_, data_ + bytes);
  }

  // visit(row, col, where) of the whole matrix.
  template <typename Visit>
  void ForEach(const Visit& visit) {
    int64_t local_col = 0;
    for (const IndexRange& cols : own_cols_) {
      for (int64_t col = cols.begin; col < cols.end; ++col, ++local_col) {
        int64_t local_row = 0;
        for (const IndexRange& rows : own_rows_) {
          for (int64_t row = rows.begin; row < rows.end; ++row, ++local_row) {
            visit(
                row, col,
                data_ + static_cast<size_t>(local_row + local_col * ld_) * ElementBytes(element_));
          }
        }
      }
    }
  }

  // All that is not wanted of the whole matrix.
  void FillOtherHalf(Half half, double value) {
    ForEach([&](int64_t row, int64_t col, std::byte* at) {
      if (!IsWanted(half, row, col)) Store(element_, {value, value}, at);
    });
    original_ = Bytes();
  }

  std::vector<std::byte> Bytes() const { return {data_, data_ + original_.size()}; }
  void Restore() { std::copy(original_.begin(), original_.end(), data_); }
  // Behind each column, and where nothing takes part.
  void ExpectUntouchedBut(int64_t rows, int64_t cols, Half half = Half::kBoth) {
    std::vector<std::byte> expected = original_;
    ForEach([&](int64_t row, int64_t col, std::byte* at) {
      const int64_t i = row - matrix_.row;
      const int64_t j = col - matrix_.col;
      if (i < 0 || i >= rows || j < 0 || j >= cols || !IsWanted(half, i, j)) return;
      std::memcpy(expected.data() + (at - data_), at, ElementBytes(element_));
    });
    Expect(expected == Bytes(), std::string("what is around the submatrix was changed: ") + name_);
  }
  void Free() {
    if (window_ != nullptr) Require(window_->Free());
  }

 private:
  const char name_;
  const Element element_;
  const DistributedMatrix matrix_;
  int row_;
  int col_;
  Distribution rows_;
  Distribution cols_;
  std::vector<IndexRange> own_rows_;
  std::vector<IndexRange> own_cols_;
  int64_t ld_;
  std::unique_ptr<Window> window_;
  std::vector<std::byte> memory_;
  std::byte* data_;
  std::vector<std::byte> original_;
};

Complex OpValue(char name, const DistributedMatrix& matrix, Element element, Transpose op,
                int64_t row, int64_t col) {
  if (op != Transpose::kNo) std::swap(row, col);
  const Complex value = Rounded(element, ValueOf(name, matrix.row + row, matrix.col + col));
  return op == Transpose::kConjugate ? std::conj(value) : value;
}

// Against sums in double precision, element by element.
void ExpectProduct(const Problem& problem, Part* c) {
  const MultiplyCall& call = problem.call;
  const double epsilon = IsSingle(call.element) ? std::numeric_limits<float>::epsilon()
                                                : std::numeric_limits<double>::epsilon();
  c->ForEach([&](int64_t row, int64_t col, std::byte* at) {
    const int64_t i = row - call.c.row;
    const int64_t j = col - call.c.col;
    if (i < 0 || i >= call.m || j < 0 || j >= call.n || !IsWanted(call.half, i, j)) return;
    const bool is_real = call.is_hermitian && i == j;
    Complex sum = 0;
    double size = 0;
    if (problem.alpha != 0.0) {
      for (int64_t l = 0; l < call.k; ++l) {
        const Complex term = OpValue('A', call.a, call.element, call.op_a, i, l) *
                             OpValue('B', call.b, call.element, call.op_b, l, j);
        sum += problem.alpha * term;
        size += std::abs(problem.alpha) * 2;
      }
    }
    if (problem.beta != 0.0) {
      const Complex value = Rounded(call.element, ValueOf('C', row, col));
      sum += problem.beta * (is_real ? value.real() : value);
      size += std::abs(problem.beta) * 2;
    }
    const Complex computed = Load(call.element, at);
    if (is_real) {
      Expect(computed.imag() == 0, "the diagonal is not real");
      sum = sum.real();
    }
    const double error = std::abs(computed - sum);
    const double bound = epsilon * static_cast<double>(call.k + 8) * size;
    Expect(error <= bound, "C(" + std::to_string(i) + ", " + std::to_string(j) + ") is wrong by " +
                               std::to_string(error) + ", " + std::to_string(bound) + " allowed");
  });
}

class Random {
 public:
  explicit Random(unsigned seed) : random_(seed) {}

  int64_t Draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(random_);
  }
  bool Happens(int in_ten) { return Draw(1, 10) <= in_ten; }

  Problem DrawProblem(const Grid& grid) {
    constexpr Element kElementsOf[] = {Element::kFloat, Element::kDouble, Element::kComplexFloat,
                                       Element::kComplexDouble};
    Problem problem;
    MultiplyCall& call = problem.call;
    call.element = kElementsOf[Draw(0, 3)];
    call.op_a = static_cast<Transpose>(Draw(0, 2));
    call.op_b = static_cast<Transpose>(Draw(0, 2));
    call.m = Draw(1, 70);
    call.n = Draw(1, 70);
    call.k = Draw(1, 90);
    if (Happens(5)) {
      call.half = Happens(5) ? Half::kUpper : Half::kLower;
      call.n = call.m;
    }
    call.is_hermitian = IsComplex(call.element) && call.half != Half::kBoth && Happens(5);
    const bool a_turned = call.op_a != Transpose::kNo;
    const bool b_turned = call.op_b != Transpose::kNo;
    // Blocks fit each other, or do not; each rank has one, or many.
    const bool fits = Happens(5);
    const bool is_one_block = Happens(3);
    const int64_t block = Draw(1, 12);
    Place(&call.a, a_turned ? call.k : call.m, a_turned ? call.m : call.k, grid, fits, is_one_block,
          block);
    Place(&call.b, b_turned ? call.n : call.k, b_turned ? call.k : call.n, grid, fits, is_one_block,
          block);
    Place(&call.c, call.m, call.n, grid, fits, is_one_block, block);
    const double imaginary = IsComplex(call.element) && !call.is_hermitian ? 0.5 : 0;
    problem.alpha = Complex{Happens(3) ? 1 : -0.75, imaginary};
    problem.beta = Happens(3) ? Complex{0} : Happens(5) ? Complex{1} : Complex{1.25, imaginary};
    problem.Fix();
    return problem;
  }

 private:
  void Place(DistributedMatrix* matrix, int64_t rows, int64_t cols, const Grid& grid, bool fits,
             bool is_one_block, int64_t block) {
    const bool is_part = !fits || Happens(3);
    matrix->row = is_part ? Draw(0, 9) : 0;
    matrix->col = is_part ? Draw(0, 9) : 0;
    const int64_t more_rows = is_part ? Draw(0, 9) : 0;
    const int64_t more_cols = is_part ? Draw(0, 9) : 0;
    Shape(matrix, matrix->row + rows + more_rows, matrix->col + cols + more_cols,
          fits ? block : Draw(1, 12), fits ? block : Draw(1, 12));
    if (is_one_block) {
      matrix->row_block = (matrix->rows + grid.rows - 1) / grid.rows;
      matrix->col_block = (matrix->cols + grid.cols - 1) / grid.cols;
    }
    if (fits) return;
    matrix->more_rows = Draw(1 - matrix->row_block, 4);
    matrix->more_cols = Draw(1 - matrix->col_block, 4);
    matrix->row_source = static_cast<int>(Draw(0, grid.rows - 1));
    matrix->col_source = static_cast<int>(Draw(0, grid.cols - 1));
  }

  std::mt19937 random_;
};

std::unique_ptr<Multiplier> MakeMultiplier(WindowRank* self, const Grid& grid,
                                           size_t buffer_bytes = kLeastMultiplyBuffer) {
  MultiplierOptions options;
  options.rows = grid.rows;
  options.cols = grid.cols;
  options.buffer_bytes = buffer_bytes;
  options.goes_directly = self->setup().goes_directly(self->rank());
  std::unique_ptr<Multiplier> multiplier;
  Require(Multiplier::Create(self->space(), self->MakeBootstrap().get(), options, &multiplier));
  return multiplier;
}

// The results of a product by rank. They must not depend on the transport.
class Results {
 public:
  void ExpectSame(const std::tuple<int, int, int, int>& which,
                  const std::vector<std::byte>& result) {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto [known, is_new] = of_.emplace(which, result);
    Expect(is_new || known->second == result, "another way has other bits");
  }

 private:
  std::mutex mutex_;
  std::map<std::tuple<int, int, int, int>, std::vector<std::byte>> of_;
};

class Multiply : public testing::TestWithParam<WindowSetup> {
 protected:
  void OnRanks(int ranks, const std::function<void(WindowRank&)>& body) {
    OnWindowRanks(GetParam(), ranks, body);
  }
};

constexpr Grid kGrids[] = {{1, 1}, {1, 4}, {2, 2}, {2, 3}, {4, 1}};

TEST_P(Multiply, MatchesASerialProductWithTheSameBitsInAllVariants) {
  static Results results;
  const int trials = StressRounds(4, 1000);
  for (const Grid& grid : kGrids) {
    SCOPED_TRACE(std::to_string(grid.rows) + " x " + std::to_string(grid.cols));
    OnRanks(grid.rows * grid.cols, [&](WindowRank& self) {
      const std::unique_ptr<Multiplier> multiplier = MakeMultiplier(&self, grid);
      for (int trial = 0; trial < trials; ++trial) {
        const unsigned seed = StressSeed() + static_cast<unsigned>(trial);
        Random random(seed);
        Problem problem = random.DrawProblem(grid);
        problem.Fix();
        Part a('A', problem, grid, self.rank(), &problem.call.a);
        Part b('B', problem, grid, self.rank(), &problem.call.b);
        Part c('C', problem, grid, self.rank(), &problem.call.c);
        std::vector<std::byte> first;
        for (int variant = 0; variant < 4; ++variant) {
          MultiplyOptions options;
          options.order = static_cast<MultiplyOrder>((variant / 2 + trial) % kMultiplyOrders);
          options.depth = variant == 3 ? 4 : variant;
          options.in_place = variant % 2 == trial % 2;
          c.Restore();
          MultiplyStatistics statistics;
          Require(multiplier->Multiply(problem.call, options, &statistics)
                      .WithContext("seed " + std::to_string(seed)));
          if (variant == 0) {
            first = c.Bytes();
            ExpectProduct(problem, &c);
            c.ExpectUntouchedBut(problem.call.m, problem.call.n, problem.call.half);
            results.ExpectSame({grid.rows, grid.cols, trial, self.rank()}, first);
          }
          Expect(c.Bytes() == first, "seed " + std::to_string(seed) + ": variant " +
                                         std::to_string(variant) + " has other bits");
        }
        a.ExpectUntouchedBut(0, 0);
        b.ExpectUntouchedBut(0, 0);
      }
      Require(multiplier->Free());
    });
  }
}

// Ranks read matrices in place if a window of the caller exposes them.
TEST_P(Multiply, TakesMatricesThatAreInWindows) {
  const Grid grid{2, 2};
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Multiplier> multiplier = MakeMultiplier(&self, grid, 1 << 16);
    Problem problem;
    MultiplyCall& call = problem.call;
    call.m = call.n = call.k = 64;
    for (DistributedMatrix* const matrix : {&call.a, &call.b, &call.c}) Shape(matrix, 64, 64, 8, 8);
    problem.Fix();
    Part a('A', problem, grid, self.rank(), &call.a, &self);
    Part b('B', problem, grid, self.rank(), &call.b, &self);
    Part c('C', problem, grid, self.rank(), &call.c, &self);
    bool sees_all = true;
    for (int r = 0; r < self.size(); ++r) {
      sees_all = sees_all && call.a.window->PointerTo(r) != nullptr;
    }
    MultiplyStatistics statistics;
    Require(multiplier->Multiply(call, MultiplyOptions(), &statistics));
    ExpectProduct(problem, &c);
    Expect(statistics.products == 2, "two panels");
    if (sees_all) Expect(statistics.in_place == 4 && statistics.gets == 0, "nothing is fetched");
    MultiplyOptions fetching;
    fetching.in_place = false;
    Require(multiplier->Multiply(call, fetching, &statistics));
    const int fetched = 2;  // of four operands two are this rank's
    Expect(statistics.gets == fetched && statistics.bytes_got == fetched * 32 * 32 * 8,
           "each operand of others is fetched once");
    Require(multiplier->Free());
    for (Part* const part : {&a, &b, &c}) part->Free();
  });
}

// Of what 0 multiplies, nothing is read.
TEST_P(Multiply, DoesNotReadOperandsMultipliedByZero) {
  const Grid grid{2, 2};
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Multiplier> multiplier = MakeMultiplier(&self, grid);
    for (const Element element :
         {Element::kFloat, Element::kDouble, Element::kComplexFloat, Element::kComplexDouble}) {
      const auto multiply = [&](Complex alpha, Complex beta, int64_t k, double a_is, double c_is) {
        Problem problem;
        MultiplyCall& call = problem.call;
        call.element = element;
        call.m = 20;
        call.n = 30;
        call.k = k;
        Shape(&call.a, 20, 10, 3, 3);
        Shape(&call.b, 10, 30, 3, 3);
        Shape(&call.c, 20, 30, 3, 3);
        problem.alpha = alpha;
        problem.beta = beta;
        problem.a_is = a_is;
        problem.c_is = c_is;
        problem.Fix();
        Part a('A', problem, grid, self.rank(), &call.a);
        Part b('B', problem, grid, self.rank(), &call.b);
        Part c('C', problem, grid, self.rank(), &call.c);
        Require(multiplier->Multiply(call));
        if (c_is != 0) problem.beta = 0;
        ExpectProduct(problem, &c);
      };
      multiply(1, 0, 10, 0, kNan);
      multiply(0, 2, 10, kNan, 0);
      multiply(0, 0, 10, kNan, kNan);
      multiply(1, 3, 0, kNan, 0);
      multiply(1, 0, 0, kNan, kNan);
      multiply(1, 1, 0, kNan, 0);
    }
    Require(multiplier->Free());
  });
}

// In areas of many sizes, where a rank's part of C is one tile; and half of nothing.
TEST_P(Multiply, ComputesHalvesAndNothingElse) {
  const Grid grid{2, 2};
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Multiplier> multiplier = MakeMultiplier(&self, grid, 1 << 20);
    for (const Half half : {Half::kUpper, Half::kLower}) {
      for (const bool is_hermitian : {false, true}) {
        const auto multiply = [&](double alpha, double beta, int64_t k, double c_is) {
          Problem problem;
          MultiplyCall& call = problem.call;
          if (is_hermitian) call.element = Element::kComplexDouble;
          call.op_b = is_hermitian ? Transpose::kConjugate : Transpose::kYes;
          call.m = call.n = 300;
          call.k = k;
          call.half = half;
          call.is_hermitian = is_hermitian;
          Shape(&call.a, 300, 7, 16, 3);
          Shape(&call.b, 300, 7, 16, 3);
          Shape(&call.c, 300, 300, 16, 16);
          problem.alpha = alpha;
          problem.beta = beta;
          problem.c_is = c_is;
          problem.Fix();
          Part a('A', problem, grid, self.rank(), &call.a);
          Part b('B', problem, grid, self.rank(), &call.b);
          Part c('C', problem, grid, self.rank(), &call.c);
          MultiplyStatistics statistics;
          Require(multiplier->Multiply(call, MultiplyOptions(), &statistics));
          // As in the BLAS, imaginary parts stay where nothing is done.
          if ((k == 0 || alpha == 0) && beta == 1) {
            c.ExpectUntouchedBut(0, 0);
            return;
          }
          ExpectProduct(problem, &c);
          c.ExpectUntouchedBut(300, 300, half);
          if (k != 0 && alpha != 0) Expect(statistics.products > 10, "it is computed in areas");
        };
        multiply(0.75, 1.25, 7, 0);
        multiply(1, 0, 7, kNan);
        multiply(0, 2, 7, 0);
        multiply(0, 1, 7, 0);
        multiply(1, 0, 0, kNan);
        multiply(1, 1, 0, 0);
      }
    }
    Require(multiplier->Free());
  });
}

// Whatever is in the other half, nothing is computed with it.
TEST_P(Multiply, DoesNotReadTheOtherHalf) {
  const Grid grid{2, 2};
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Multiplier> multiplier = MakeMultiplier(&self, grid);
    for (const Half half : {Half::kUpper, Half::kLower}) {
      for (const int64_t k : {0, 20}) {
        Problem problem;
        MultiplyCall& call = problem.call;
        call.op_b = Transpose::kYes;
        call.m = call.n = 100;
        call.k = k;
        call.half = half;
        for (DistributedMatrix* const matrix : {&call.a, &call.b}) Shape(matrix, 100, k, 9, 9);
        Shape(&call.c, 100, 100, 9, 9);
        problem.beta = 1.25;
        problem.Fix();
        Part a('A', problem, grid, self.rank(), &call.a);
        Part b('B', problem, grid, self.rank(), &call.b);
        Part c('C', problem, grid, self.rank(), &call.c);
        c.FillOtherHalf(half, std::numeric_limits<double>::signaling_NaN());
        std::feclearexcept(FE_INVALID);
        Require(multiplier->Multiply(call));
        Expect(std::fetestexcept(FE_INVALID) == 0, "a signal for what is not wanted");
        ExpectProduct(problem, &c);
        c.ExpectUntouchedBut(100, 100, half);
      }
    }
    Require(multiplier->Free());
  });
}

// As a complex number beta would make NaN of them.
TEST_P(Multiply, ScalesInfinitiesByARealBeta) {
  const Grid grid{2, 2};
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Multiplier> multiplier = MakeMultiplier(&self, grid);
    for (const Element element : {Element::kComplexFloat, Element::kComplexDouble}) {
      for (const Half half : {Half::kUpper, Half::kLower}) {
        for (const int64_t k : {0, 20}) {
          Problem problem;
          MultiplyCall& call = problem.call;
          call.element = element;
          call.op_b = Transpose::kConjugate;
          call.m = call.n = 30;
          call.k = k;
          call.half = half;
          call.is_hermitian = true;
          for (DistributedMatrix* const matrix : {&call.a, &call.b}) Shape(matrix, 30, k, 4, 4);
          Shape(&call.c, 30, 30, 4, 4);
          problem.beta = 2;
          problem.c_is = kInfinity;
          problem.Fix();
          Part a('A', problem, grid, self.rank(), &call.a);
          Part b('B', problem, grid, self.rank(), &call.b);
          Part c('C', problem, grid, self.rank(), &call.c);
          Require(multiplier->Multiply(call));
          c.ForEach([&](int64_t row, int64_t col, std::byte* at) {
            if (!IsWanted(half, row, col)) return;
            const Complex value = Load(element, at);
            Expect(value.real() == kInfinity && value.imag() == (row == col ? 0 : kInfinity),
                   "an element is not infinite");
          });
          c.ExpectUntouchedBut(30, 30, half);
        }
      }
    }
    Require(multiplier->Free());
  });
}

TEST_P(Multiply, DoesNothingWhereThereIsNothing) {
  const Grid grid{2, 2};
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Multiplier> multiplier = MakeMultiplier(&self, grid);
    for (const auto& [m, n] : {std::pair<int, int>(0, 5), {5, 0}, {0, 0}, {1, 1}}) {
      Problem problem;
      MultiplyCall& call = problem.call;
      call.m = m;
      call.n = n;
      call.k = 4;
      Shape(&call.a, m, 4, 2, 2);
      Shape(&call.b, 4, n, 2, 2);
      Shape(&call.c, m, n, 2, 2);
      problem.Fix();
      Part a('A', problem, grid, self.rank(), &call.a);
      Part b('B', problem, grid, self.rank(), &call.b);
      Part c('C', problem, grid, self.rank(), &call.c);
      Require(multiplier->Multiply(call));
      ExpectProduct(problem, &c);
    }
    Require(multiplier->Free());
  });
}

// The call ends on all ranks, all with the same error, and the next one works.
TEST_P(Multiply, NamesAMistakeOnAllRanks) {
  struct Mistake {
    const char* text;
    std::function<void(MultiplyCall*, MultiplyOptions*)> make;
    StatusCode code = StatusCode::kInvalidArgument;
  };
  using Call = MultiplyCall;
  using Options = MultiplyOptions;
  const std::vector<Mistake> mistakes = {
      {"m is -1", [](Call* call, Options*) { call->m = -1; }},
      {"k is -5", [](Call* call, Options*) { call->k = -5; }},
      {"element", [](Call* call, Options*) { call->element = Element::kInt32; }},
      {"op_b has no value 3", [](Call* call, Options*) { call->op_b = static_cast<Transpose>(3); }},
      {"order has no value 2",
       [](Call*, Options* options) { options->order = static_cast<MultiplyOrder>(2); }},
      {"depth is 17", [](Call*, Options* options) { options->depth = 17; }},
      {"half has no value 3", [](Call* call, Options*) { call->half = static_cast<Half>(3); }},
      {"half of a C that is not square",
       [](Call* call, Options*) {
         call->half = Half::kLower;
         call->n = 7;
       }},
      {"alpha is a null pointer", [](Call* call, Options*) { call->alpha = nullptr; }},
      {"beta is a null pointer", [](Call* call, Options*) { call->beta = nullptr; }},
      {"a: rows is -2", [](Call* call, Options*) { call->a.rows = -2; }},
      {"b: col_block is 0", [](Call* call, Options*) { call->b.col_block = 0; }},
      {"c: row_source is 2", [](Call* call, Options*) { call->c.row_source = 2; }},
      {"c: row is -1", [](Call* call, Options*) { call->c.row = -1; }},
      {"b: 8 cols from col 1 on, in a matrix that has 8",
       [](Call* call, Options*) { call->b.col = 1; }},
      {"a: ld is 3, for 4 rows", [](Call* call, Options*) { call->a.ld = 3; }},
      {"c: data is a null pointer", [](Call* call, Options*) { call->c.data = nullptr; }},
      {"c shares memory with a", [](Call* call, Options*) { call->c.data = call->a.data; }},
      // With B, and, where that lies behind it, with A.
      {"c shares memory with ",
       [](Call* call, Options*) {
         call->c.data = call->b.data + 3 * call->b.ld * 8;
         call->c.ld = call->b.ld;
       }},
      // From the last row of a column on, which is none of B's.
      {"c shares memory with ",
       [](Call* call, Options*) {
         call->c.data = call->b.data + (3 * call->b.ld - 1) * 8;
         call->c.ld = call->b.ld;
       }},
      {"differ in m: rank 0 has 8, rank 1 has 7", [](Call* call, Options*) { call->m = 7; },
       StatusCode::kMismatch},
      {"differ in b.row_source: rank 0 has 0, rank 1 has 1",
       [](Call* call, Options*) { call->b.row_source = 1; }, StatusCode::kMismatch},
      {"differ in half: rank 0 has 0, rank 1 has 2",
       [](Call* call, Options*) { call->half = Half::kLower; }, StatusCode::kMismatch},
      {"differ in beta: rank 1 has another than rank 0",
       [](Call* call, Options*) { call->beta = call->alpha; }, StatusCode::kMismatch},
  };
  const Grid grid{2, 2};
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Multiplier> multiplier = MakeMultiplier(&self, grid);
    Problem problem;
    MultiplyCall& call = problem.call;
    call.m = call.n = call.k = 8;
    for (DistributedMatrix* const matrix : {&call.a, &call.b, &call.c}) Shape(matrix, 8, 8, 2, 2);
    problem.Fix();
    Part a('A', problem, grid, self.rank(), &call.a);
    Part b('B', problem, grid, self.rank(), &call.b);
    Part c('C', problem, grid, self.rank(), &call.c);
    for (const Mistake& mistake : mistakes) {
      MultiplyCall made = call;
      MultiplyOptions options;
      if (self.rank() == 1) mistake.make(&made, &options);
      const Status status = multiplier->Multiply(made, options);
      Expect(status.code() == mistake.code &&
                 status.message().find(mistake.text) != std::string::npos &&
                 (mistake.code == StatusCode::kMismatch ||
                  status.message().find("rank 1") != std::string::npos),
             std::string(mistake.text) + ": " + status.ToString());
      c.ExpectUntouchedBut(0, 0);
    }
    Require(multiplier->Multiply(call));
    ExpectProduct(problem, &c);
    Require(multiplier->Free());
  });
}

// Has no memory for the first request of a get.
class NoMemoryEndpoint final : public ForwardingEndpoint {
 public:
  using ForwardingEndpoint::ForwardingEndpoint;
  Status SendControl(GroupId group, int peer, ConstByteSpan message, Urgency urgency) override {
    const bool is_get = message.data[0] == static_cast<std::byte>(RmaKind::kGet);
    if (is_get && !std::exchange(has_thrown_, true)) throw std::bad_alloc();
    return ForwardingEndpoint::SendControl(group, peer, message, urgency);
  }

 private:
  bool has_thrown_ = false;
};

// Other ranks wait for rank 0 at the end of the product.
TEST(MultiplyWithoutMemory, BreaksTheMultiplierOnAllRanks) {
  WindowSetup setup;
  setup.wrap = [](int rank, std::unique_ptr<Endpoint> endpoint) -> std::unique_ptr<Endpoint> {
    if (rank != 0) return endpoint;
    return std::make_unique<NoMemoryEndpoint>(std::move(endpoint));
  };
  const Grid grid{2, 2};
  OnWindowRanks(
      setup, 4,
      [&](WindowRank& self) {
        const std::unique_ptr<Multiplier> multiplier = MakeMultiplier(&self, grid);
        Problem problem;
        MultiplyCall& call = problem.call;
        call.m = call.n = call.k = 8;
        for (DistributedMatrix* const matrix : {&call.a, &call.b, &call.c}) {
          Shape(matrix, 8, 8, 2, 2);
        }
        problem.Fix();
        const Part a('A', problem, grid, self.rank(), &call.a);
        const Part b('B', problem, grid, self.rank(), &call.b);
        const Part c('C', problem, grid, self.rank(), &call.c);
        const Status status = multiplier->Multiply(call);
        Expect(status.code() == StatusCode::kOutOfMemory, status.ToString());
        Expect(multiplier->is_broken(), "it can be used still");
        self.Meet();
      },
      /*leave_together=*/false);
}

// As a factorisation has them.
TEST_P(Multiply, TakesThreePartsOfOneMatrix) {
  const Grid grid{2, 2};
  OnRanks(4, [&](WindowRank& self) {
    const std::unique_ptr<Multiplier> multiplier = MakeMultiplier(&self, grid);
    Problem problem;
    MultiplyCall& call = problem.call;
    call.m = 9;
    call.n = 7;
    call.k = 5;
    DistributedMatrix whole;
    Shape(&whole, 14, 12, 3, 3);
    problem.Fix();
    Part all('A', problem, grid, self.rank(), &whole);
    call.a = call.b = call.c = whole;
    call.a.row = call.c.row = call.k;
    call.b.col = call.c.col = call.k;
    Require(multiplier->Multiply(call));
    all.ForEach([&](int64_t row, int64_t col, std::byte* at) {
      Complex wanted = Rounded(call.element, ValueOf('A', row, col));
      if (row >= call.k && col >= call.k) {
        wanted = 0;
        for (int64_t l = 0; l < call.k; ++l) {
          wanted += Rounded(call.element, ValueOf('A', row, l)) *
                    Rounded(call.element, ValueOf('A', l, col)).real();
        }
      }
      Expect(std::abs(Load(call.element, at) - wanted.real()) < 1e-12, "it is another");
    });
    Require(multiplier->Free());
  });
}

TEST_P(Multiply, HasNoGridThatRanksDisagreeOn) {
  OnRanks(4, [&](WindowRank& self) {
    const auto create = [&](const MultiplierOptions& options) {
      std::unique_ptr<Multiplier> multiplier;
      return Multiplier::Create(self.space(), self.MakeBootstrap().get(), options, &multiplier);
    };
    MultiplierOptions options;
    options.rows = self.rank() == 2 ? 3 : 2;
    options.cols = 2;
    Status status = create(options);
    Expect(status.code() == StatusCode::kInvalidArgument &&
               status.message().find("a grid of 3 x 2 for 4 ranks") != std::string::npos,
           status.ToString());
    options.rows = self.rank() == 2 ? 1 : 2;
    options.cols = self.rank() == 2 ? 4 : 2;
    status = create(options);
    Expect(status.code() == StatusCode::kMismatch &&
               status.message().find("rank 2 has 1 x 4") != std::string::npos,
           status.ToString());
    options.rows = options.cols = 2;
    options.buffer_bytes = 100;
    status = create(options);
    Expect(status.code() == StatusCode::kInvalidArgument &&
               status.message().find("buffer_bytes is 100") != std::string::npos,
           status.ToString());
  });
}

INSTANTIATE_TEST_SUITE_P(Over, Multiply, testing::ValuesIn(WindowSetups()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace brigade

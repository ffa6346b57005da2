#include "bench/scalapack/routines.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

extern "C" {
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

namespace brigade::bench {

namespace {

constexpr int kOne = 1;
constexpr double kPlus = 1;
constexpr double kMinus = -1;
constexpr double kNothing = 0;

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

}  // namespace

class Problems::Calls {
 public:
  Calls(const Grid& grid, int n, int block)
      : n_(n),
        a_(grid, n, n, block),
        b_(grid, n, n, block),
        c_(grid, n, n, block),
        x_(grid, n, 1, block),
        y_(grid, n, 1, block),
        z_(grid, n, 1, block),
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
    // Reduction to tridiagonal form and back; the work in between depends on the matrix.
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

  // Queries once how much work space `routine` needs, then passes it.
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
    Gemm(1, kPlus, c_, x_, kNothing, &z_);
    Gemm(1, kPlus, a_, y_, kMinus, &z_);
    return Norm(z_, 1) / scale;
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
  Matrix a_, b_, c_, x_, y_, z_;
  std::vector<int> pivots_;
  std::vector<double> tau_;
  std::vector<double> work_;
  std::vector<int> integer_work_;
  std::vector<double> eigenvalues_;
  std::vector<double> norm_work_;
};

Problems::Problems(const Grid& grid, int n, int block)
    : calls_(std::make_unique<Calls>(grid, n, block)) {}
Problems::~Problems() = default;

std::vector<Routine> Problems::Routines() { return calls_->Routines(); }
Routine Problems::Eigenvalues() { return calls_->Eigenvalues(); }

}  // namespace brigade::bench

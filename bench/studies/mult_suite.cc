// mult_suite: product of square matrices on a square grid of ranks. In each round a rank is brought
// one block of A and one of B: by put or send (MatMul), or by get (MatMulG).
//
// Source: the LI paper, section 4.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/runner/case.h"
#include "bench/studies/li_relations.h"
#include "bench/studies/li_suite.h"
#include "brigade/li.h"

extern "C" void dgemm_(const char* trans_a, const char* trans_b, const int* m, const int* n,
                       const int* k, const double* alpha, const double* a, const int* lda,
                       const double* b, const int* ldb, const double* beta, double* c,
                       const int* ldc);

namespace brigade::bench {
namespace {

// Integers, so that no order of summation rounds: all variants must give the same bits.
double Element(int64_t row, int64_t column, int64_t which) {
  const auto x = static_cast<uint64_t>(row * 7919 + column * 104729 + which * 1299709);
  return static_cast<double>((x * 0x9e3779b97f4a7c15u) >> 54) - 512;
}

// Ranks beyond the largest square stand by. Blocks are by columns.
class Product {
 public:
  Product(LiSuite* suite, int n, const MultPlace& place)
      : suite_(suite),
        place_(place),
        n_(n),
        block_(n / place.side),
        a_(place.works ? static_cast<size_t>(block_) * static_cast<size_t>(block_) : 0),
        b_(a_),
        c_(a_),
        transposed_(a_),
        wanted_(a_),
        arriving_(4 * a_.size() + 1) {
    // The one more is for those that stand by.
    a_.resize(a_.size() + 1);
    b_.resize(b_.size() + 1);
    for (std::vector<double>* memory : {&a_, &b_, &arriving_}) {
      LIREGISTER(memory->data(), memory->size() * sizeof(double));
    }
    LIINIT();
    LICOMMIT();
    Expect();
  }
  ~Product() {
    for (std::vector<double>* memory : {&arriving_, &b_, &a_}) LIDEREGISTER(memory->data());
  }
  Product(const Product&) = delete;
  Product& operator=(const Product&) = delete;

  void Measure(const std::vector<std::string>& kernels) {
    for (const std::string& kernel : kernels) {
      Case product;
      product.name = "matrix product, " + kernel;
      product.rows = product.cols = product.ld = n_;
      product.bytes = static_cast<size_t>(n_) * static_cast<size_t>(n_) * sizeof(double);
      product.roots = 1;
      product.prepare = [this](int) {
        std::fill(c_.begin(), c_.end(), -1.0);
        std::fill(arriving_.begin(), arriving_.end(), -1.0);
      };
      const auto check = [this]() -> std::string {
        return c_ == wanted_ ? "" : "the product differs";
      };
      for (const char* const variant : {"put", "get", "send"}) {
        suite_->Add(
            variant, variant, [=] { Multiply(variant[0], kernel); }, check, &product);
      }
      if (suite_->ranks() == 1) {
        suite_->Add(
            "alone", "sequential",
            [=] {
              std::fill(c_.begin(), c_.end(), 0.0);
              Add(a_.data(), b_.data(), kernel);
            },
            check, &product);
      }
      suite_->Measure(product);
    }
  }

 private:
  size_t elements() const { return c_.size(); }
  size_t bytes() const { return elements() * sizeof(double); }

  // Makes A and B, and what their product is.
  void Expect() {
    if (!place_.works) return;
    const int64_t first_row = int64_t{place_.row} * block_;
    const int64_t first_column = int64_t{place_.column} * block_;
    std::vector<double> row(static_cast<size_t>(n_)), columns(static_cast<size_t>(n_ * block_));
    for (int j = 0; j < block_; ++j) {
      for (int k = 0; k < n_; ++k) {
        columns[static_cast<size_t>(j * n_ + k)] = Element(k, first_column + j, 1);
      }
    }
    for (int i = 0; i < block_; ++i) {
      for (int k = 0; k < n_; ++k) row[static_cast<size_t>(k)] = Element(first_row + i, k, 0);
      for (int j = 0; j < block_; ++j) {
        const auto at = static_cast<size_t>(j * block_ + i);
        a_[at] = Element(first_row + i, first_column + j, 0);
        b_[at] = Element(first_row + i, first_column + j, 1);
        double sum = 0;
        for (int k = 0; k < n_; ++k) {
          sum += row[static_cast<size_t>(k)] * columns[static_cast<size_t>(j * n_ + k)];
        }
        wanted_[at] = sum;
      }
    }
  }

  // C += a b
  void Add(const double* a, const double* b, const std::string& kernel) {
    if (kernel == "dgemm") {
      const double one = 1;
      dgemm_("N", "N", &block_, &block_, &block_, &one, a, &block_, b, &block_, &one, c_.data(),
             &block_);
      return;
    }
    // A sum goes along a row of `a`: neighbours in memory only once it is transposed.
    int to_next = block_, to_row = 1;
    if (kernel == "loops") {
      for (int i = 0; i < block_; ++i) {
        for (int k = 0; k < block_; ++k)
          transposed_[static_cast<size_t>(i * block_ + k)] = a[k * block_ + i];
      }
      a = transposed_.data();
      std::swap(to_next, to_row);
    }
    for (int j = 0; j < block_; ++j) {
      for (int i = 0; i < block_; ++i) {
        const double* const row = a + i * to_row;
        double sum = 0;
        for (int k = 0; k < block_; ++k) sum += row[k * to_next] * b[j * block_ + k];
        c_[static_cast<size_t>(j * block_ + i)] += sum;
      }
    }
  }

  void Multiply(char variant, const std::string& kernel) {
    std::fill(c_.begin(), c_.end(), 0.0);
    for (int round = 0; round < place_.side; ++round) {
      // Two pairs of blocks in turn, also from one product to the next: others may be a round
      // ahead.
      is_odd_ = !is_odd_;
      const size_t place = is_odd_ ? 2 * elements() : 0;
      double* const a = &arriving_[place];
      double* const b = a + elements();
      const auto [row_mate, column_mate] = place_.Mates(round, variant == 'g');
      if (place_.works && variant == 'p') {
        LIPUT(row_mate, a_.data(), arriving_.data(), place * sizeof(double), bytes());
        LIPUT(column_mate, b_.data(), arriving_.data(), (place + elements()) * sizeof(double),
              bytes());
      } else if (place_.works && variant == 'g') {
        LIGET(row_mate, a_.data(), 0, a, bytes());
        LIGET(column_mate, b_.data(), 0, b, bytes());
      } else if (place_.works) {
        // The exchange is its own inverse: each receives from whom it sends to.
        messages_.Receive(a, bytes(), row_mate, 0);
        messages_.Receive(b, bytes(), column_mate, 1);
        messages_.Send(a_.data(), bytes(), row_mate, 0);
        messages_.Send(b_.data(), bytes(), column_mate, 1);
      }
      variant == 's' ? messages_.Wait() : EndSuperstep();
      if (place_.works) Add(a, b, kernel);
    }
  }

  LiSuite* const suite_;
  const MultPlace place_;
  const int n_;
  const int block_;
  std::vector<double> a_;
  std::vector<double> b_;
  std::vector<double> c_;
  std::vector<double> transposed_;
  std::vector<double> wanted_;
  std::vector<double> arriving_;
  bool is_odd_ = false;  // of all rounds so far
  Messages messages_;
};

int Main(int argc, char** argv) {
  std::vector<int> orders = {320, 640};
  std::vector<std::string> kernels = {"loops", "dgemm"};
  CLI::App app(
      "The Mult suite of the LI paper: products of square matrices on a square grid of ranks. "
      "Start "
      "it under mpirun; ranks beyond the largest square stand by.");
  app.option_defaults()->always_capture_default();
  app.add_option("-n", orders, "Orders of the matrices, multiples of the grid's side")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 14));
  app.add_option(
         "--kernels", kernels,
         "How blocks are multiplied: by loops over one transposed, by dgemm, or by the same "
         "loops without the transposition")
      ->delimiter(',')
      ->check(CLI::IsMember({"loops", "dgemm", "untransposed"}));
  return LiSuite::Main(argc, argv, &app, [&](LiSuite* suite) {
    const MultPlace place(suite->rank(), suite->ranks());
    for (const int n : orders) {
      if (n % place.side != 0) {
        std::fprintf(stderr, "mult_suite: -n %d is no multiple of the grid's side, %d\n", n,
                     place.side);
        LIABORT();
      }
      Product(suite, n, place).Measure(kernels);
    }
  });
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }

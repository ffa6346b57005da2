// product_study: products of square matrices by this library's multiplier in all its ways, and by
// the pdgemm of the process, which what is preloaded decides, and by Global Arrays; and what
// PBLAS compute with half of the arithmetic.
//
// Source: SRUMMA, section 4 and figures 8 to 12.

#include <mpi.h>

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "CLI/CLI.hpp"
#include "bench/runner/case.h"
#include "bench/studies/putget/grid_rows.h"
#include "bench/studies/putget/study.h"
#include "bench/studies/srumma/global_arrays.h"
#include "bench/studies/srumma/half_product.h"
#include "bench/studies/srumma/square_product.h"
#include "windows/multiply/multiply.h"

namespace brigade::bench {
namespace {

// A way of the multiplier. `directly`: memory that can be reached without messages is.
struct Variant {
  std::string name;
  MultiplyOptions options;
  bool directly = true;
};

std::vector<Variant> Variants() {
  const auto with = [](MultiplyOrder order, int depth, bool in_place) {
    MultiplyOptions options;
    options.order = order;
    options.depth = depth;
    options.in_place = in_place;
    return options;
  };
  return {
      {"diagonal", with(MultiplyOrder::kDiagonal, 1, true)},
      {"natural", with(MultiplyOrder::kNatural, 1, true)},
      {"blocking", with(MultiplyOrder::kDiagonal, 0, true)},
      {"natural blocking", with(MultiplyOrder::kNatural, 0, true)},
      {"two ahead", with(MultiplyOrder::kDiagonal, 2, true)},
      {"four ahead", with(MultiplyOrder::kDiagonal, 4, true)},
      {"fetched", with(MultiplyOrder::kDiagonal, 1, false)},
      {"staged", with(MultiplyOrder::kDiagonal, 1, false), /*directly=*/false},
      {"staged blocking", with(MultiplyOrder::kDiagonal, 0, false), /*directly=*/false},
  };
}

// Needs windows of MPI, which it does not make everywhere.
constexpr char kGaDgemm[] = "ga_dgemm";
// Half products, and the whole one that is like them.
constexpr char kSyrk[] = "pdsyrk";
constexpr char kTrmm[] = "pdtrmm";
constexpr char kWhole[] = "whole";  // A A'

struct Parameters {
  std::vector<int> orders = {256, 512, 1000, 2000};
  int k = 0;  // that is summed over; 0: the order
  int block = 64;
  std::vector<int> grid;   // rows and columns; empty: as square as can be
  double link_mbytes = 0;  // MB/s of a link; 0: no bound is printed
};

class Products {
 public:
  Products(Study* study, const Parameters& parameters)
      : study_(study), parameters_(parameters), rows_(Rows()), cols_(study->ranks() / rows_) {
    if (rows_ * cols_ != study->ranks()) {
      AbortUnlessOk(Status(StatusCode::kInvalidArgument, "the grid is not of all ranks"));
    }
    grid_ = std::make_unique<BlacsContext>(rows_, cols_);
    if (study->options().Wants(kGaDgemm)) global_arrays_ = std::make_unique<GlobalArrays>();
    for (const bool directly : {true, false}) {
      MultiplierOptions options;
      options.rows = rows_;
      options.cols = cols_;
      options.goes_directly = directly;
      AbortUnlessOk(Multiplier::Create(study->space(), study->group()->bootstrap(), options,
                                       &multipliers_[directly ? 1 : 0]));
    }
  }

  void Measure(int n) {
    const int k = parameters_.k != 0 ? parameters_.k : n;
    std::unique_ptr<SquareProduct> product;
    AbortUnlessOk(SquareProduct::Create(study_->space(), study_->group()->bootstrap(),
                                        {rows_, cols_, n, k, parameters_.block}, study_->rank(),
                                        &product));
    MeasureProducts(product.get());
    if (k == n) MeasureHalves(product.get());
    AbortUnlessOk(product->Free());
  }

  void Free() {
    for (const auto& multiplier : multipliers_) AbortUnlessOk(multiplier->Free());
  }

 private:
  Case CaseOf(const std::string& name, int n) const {
    Case lines;
    lines.name = name + ", " + std::to_string(rows_) + " x " + std::to_string(cols_) + " ranks";
    lines.rows = lines.cols = n;
    lines.ld = parameters_.block;
    lines.bytes = static_cast<size_t>(n) * static_cast<size_t>(n) * sizeof(double);
    lines.roots = 1;
    return lines;
  }

  // False: it is not selected.
  bool Add(const std::string& name, const std::string& variant, const std::function<Status()>& run,
           const std::function<std::string()>& check, Case* lines) const {
    if (!study_->options().Wants(variant)) return false;
    Subject subject;
    subject.name = name;
    subject.pattern = variant;
    subject.run = [run](int) { return run(); };
    subject.check = [check](int) { return check(); };
    lines->subjects.push_back(std::move(subject));
    return true;
  }

  void MeasureProducts(SquareProduct* product) {
    const auto [rows, cols, n, k, block] = product->shape();
    std::unique_ptr<GlobalArraysProduct> by_global_arrays;
    if (global_arrays_ != nullptr && k == n) {
      by_global_arrays = std::make_unique<GlobalArraysProduct>(product, n, study_->rank());
    }
    Case lines = CaseOf("matrix product", n);
    if (k != n) lines.name += ", k = " + std::to_string(k);
    lines.prepare = [product, other = by_global_arrays.get()](int) {
      product->ClearResult();
      if (other != nullptr) other->ClearResult();
    };
    const auto add = [&](const std::string& name, const std::string& variant,
                         const std::function<Status()>& run,
                         const std::function<std::string()>& check) {
      if (!Add(name, variant, run, check, &lines)) return;
      if (parameters_.link_mbytes > 0 && variant != "dgemm") {
        lines.subjects.back().predicted_us =
            static_cast<double>(product->BytesToFetch()) / parameters_.link_mbytes;
      }
    };
    const auto check = [product] { return product->Check(); };
    for (const Variant& variant : Variants()) {
      Multiplier* const multiplier = multipliers_[variant.directly ? 1 : 0].get();
      add(
          "brigade", variant.name,
          [product, multiplier, how = variant.options] {
            return product->RunByMultiplier(multiplier, how);
          },
          check);
    }
    add(
        study_->session()->PeerName("pdgemm"), "pdgemm",
        [this, product] {
          product->RunByPdgemm(*grid_);
          return Status();
        },
        check);
    if (by_global_arrays != nullptr) {
      add(
          "Global Arrays", kGaDgemm,
          [other = by_global_arrays.get()] {
            other->Run();
            return Status();
          },
          [other = by_global_arrays.get()] { return other->Check(); });
    }
    add(
        "alone", "dgemm",
        [product] {
          product->RunAlone();
          return Status();
        },
        [product] { return product->CheckAlone(); });
    if (!lines.subjects.empty()) study_->session()->Measure(lines);
  }

  void MeasureHalves(SquareProduct* product) {
    HalfProduct half(product);
    Case lines = CaseOf("half product", product->shape().n);
    lines.prepare = [&half, product](int) {
      product->ClearResult();
      half.Prepare();
    };
    lines.before_timing = [&half] { half.Clear(); };
    const auto add = [&](const std::string& name, const std::string& variant,
                         const std::function<Status()>& run,
                         const std::function<std::string()>& check) {
      (void)Add(name, variant, run, check, &lines);
    };
    add(
        "brigade", kWhole, [&] { return half.RunWhole(multipliers_[1].get()); },
        [&] { return half.CheckWhole(); });
    const auto of_pblas = [&](const std::function<void()>& run) {
      return [run] {
        run();
        return Status();
      };
    };
    add(study_->session()->PeerName(kSyrk), kSyrk, of_pblas([&] { half.RunSyrk(*grid_); }),
        [&] { return half.CheckSyrk(); });
    add(study_->session()->PeerName(kTrmm), kTrmm, of_pblas([&] { half.RunTrmm(*grid_); }),
        [&] { return half.CheckTrmm(); });
    if (lines.subjects.empty()) return;
    add("alone", "dgemm", of_pblas([product] { product->RunAlone(); }),
        [product] { return product->CheckAlone(); });
    study_->session()->Measure(lines);
  }

  int Rows() const {
    return parameters_.grid.empty() ? GridRows(study_->ranks()) : parameters_.grid[0];
  }

  Study* const study_;
  const Parameters& parameters_;
  const int rows_;
  const int cols_;
  std::unique_ptr<BlacsContext> grid_;
  std::unique_ptr<GlobalArrays> global_arrays_;
  std::unique_ptr<Multiplier> multipliers_[2];
};

int Main(int argc, char** argv) {
  Parameters parameters;
  std::vector<std::string> variants;
  for (const Variant& variant : Variants()) variants.push_back(variant.name);
  variants.insert(variants.end(), {"pdgemm", "dgemm"});
  CLI::App app(
      "Products of square matrices on a grid of ranks by SRUMMA, by pdgemm, and, if named, by "
      "Global Arrays' ga_dgemm; if named, pdsyrk and pdtrmm beside the whole product. Start it "
      "under mpirun.");
  app.option_defaults()->always_capture_default();
  app.add_option("-n", parameters.orders, "Orders of the matrices")
      ->delimiter(',')
      ->check(CLI::Range(1, 1 << 15));
  app.add_option("-k", parameters.k, "Columns of A and rows of B; 0: as C")
      ->check(CLI::Range(0, 1 << 15));
  app.add_option("--block", parameters.block, "Rows and columns of a block")
      ->check(CLI::Range(1, 1 << 15));
  app.add_option("--grid", parameters.grid,
                 "Rows and columns of the grid; else as square as can be")
      ->delimiter('x')
      ->expected(2)
      ->check(CLI::Range(1, 1 << 15));
  app.add_option("--link-mbytes", parameters.link_mbytes,
                 "MB per second of a link, for a lower bound of the time; 0: none is printed")
      ->check(CLI::NonNegativeNumber);
  return StudyMain(argc, argv, &app, variants,
                   [&](Study* study) {
                     study->session()->StartTable("products of square matrices");
                     Products products(study, parameters);
                     for (const int n : parameters.orders) products.Measure(n);
                     products.Free();
                   },
                   {kGaDgemm, kSyrk, kTrmm, kWhole});
}

}  // namespace
}  // namespace brigade::bench

int main(int argc, char** argv) { return brigade::bench::Main(argc, argv); }

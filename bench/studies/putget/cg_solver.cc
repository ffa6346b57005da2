#include "bench/studies/putget/cg_solver.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace brigade::bench {
namespace {

constexpr int kInnerIterations = 25;
constexpr double kTolerance = 1e-10;

struct GridShape {
  int rows = 1;
  int columns = 1;
};

GridShape ShapeFor(int ranks) {
  GridShape shape;
  while (shape.rows * shape.columns < ranks) {
    (shape.columns > shape.rows ? shape.rows : shape.columns) *= 2;
  }
  return shape;
}

double Dot(const double* a, const double* b, size_t count) {
  double sum = 0;
  for (size_t i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

std::string CgSolver::WhyNot(const CgClass& of, int ranks) {
  const GridShape shape = ShapeFor(ranks);
  if (shape.rows * shape.columns != ranks) return "CG needs a power of two of ranks";
  if (of.n % shape.columns != 0) return "the matrix does not divide by so many ranks";
  return "";
}

CgSolver::CgSolver(const CgClass& of, int rank, int ranks) : class_(of) {
  const GridShape shape = ShapeFor(ranks);
  const int row = rank / shape.columns;
  const int column = rank % shape.columns;
  const int wider = shape.columns / shape.rows;
  block_.columns = (of.n + shape.columns - 1) / shape.columns;
  block_.first_column = column * block_.columns;
  block_.rows = wider * block_.columns;
  block_.first_row = row * block_.rows;
  // Few of the products of two entries fall on one place.
  entries_ = double(of.n) * (of.nonzeros + 1) * (of.nonzeros + 1) / ranks;

  for (const int64_t doubles : {int64_t{block_.rows}, int64_t{2}}) {
    for (int bit = 1; bit < shape.columns; bit *= 2) {
      const int partner = row * shape.columns + (column ^ bit);
      channels_.push_back({partner, partner, doubles});
    }
  }
  stages_ = channels_.size() / 2;
  // The rank with the rows that are this rank's columns; it needs this rank's, too.
  const int partner = column / wider * shape.columns + wider * row + column % wider;
  kept_ = column % wider * block_.columns;
  // Channels are the same everywhere: a rank that is its own partner has one without use.
  if (ranks > 1) channels_.push_back({partner, partner, block_.columns});
  if (partner != rank) transpose_ = channels_.size() - 1;

  const auto columns = static_cast<size_t>(block_.columns);
  own_.resize(std::max(columns, static_cast<size_t>(block_.rows)));
  for (Vector* vector : {&x_, &z_, &r_, &p_}) vector->resize(columns);
}

void CgSolver::MultiplyRows(const Vector& p, int first, int end, double* result) const {
  exchange_->Compute(2 * entries_ * (end - first) / block_.rows, [&] {
    for (auto i = static_cast<size_t>(first); i < static_cast<size_t>(end); ++i) {
      double sum = 0;
      for (size_t k = block_.starts[i]; k < block_.starts[i + 1]; ++k) {
        sum += block_.value[k] * p[static_cast<size_t>(block_.column[k])];
      }
      result[i] = sum;
    }
  });
}

void CgSolver::Add(size_t stage, int first, int end, double* sum) const {
  const double* const mine = exchange_->Outgoing(stage) + first;
  const double* const theirs = exchange_->Incoming(stage) + first;
  exchange_->Compute(end - first, [&] {
    for (int i = 0; i < end - first; ++i) sum[i] = mine[i] + theirs[i];
  });
}

double* CgSolver::Kept() {
  return transpose_ == kNoChannel ? own_.data() : exchange_->Outgoing(transpose_);
}

Status CgSolver::Transpose(const double** q) {
  if (transpose_ == kNoChannel) {
    *q = own_.data();
    return Status();
  }
  *q = exchange_->Incoming(transpose_);
  return exchange_->End(transpose_);
}

// Each stage's sum is made where the next stage sends it from.
Status CgSolver::Multiply(const Vector& p, const double** q) {
  const int rows = block_.rows;
  MultiplyRows(p, 0, rows, stages_ == 0 ? own_.data() : exchange_->Outgoing(0));
  for (size_t stage = 0; stage < stages_; ++stage) {
    BRIGADE_RETURN_IF_ERROR(exchange_->Begin(stage, 0, rows));
    BRIGADE_RETURN_IF_ERROR(exchange_->Await(stage));
    if (stage + 1 < stages_) {
      Add(stage, 0, rows, exchange_->Outgoing(stage + 1));
    } else {
      Add(stage, kept_, kept_ + block_.columns, Kept());
    }
    BRIGADE_RETURN_IF_ERROR(exchange_->End(stage));
  }
  if (transpose_ != kNoChannel) {
    BRIGADE_RETURN_IF_ERROR(exchange_->Begin(transpose_, 0, block_.columns));
    BRIGADE_RETURN_IF_ERROR(exchange_->Await(transpose_));
  }
  return Transpose(q);
}

Status CgSolver::MultiplyInHalves(const Vector& p, const double** q) {
  if (stages_ == 0) return Multiply(p, q);
  const int bounds[] = {0, block_.rows / 2, block_.rows};
  for (int half = 0; half < 2; ++half) {
    MultiplyRows(p, bounds[half], bounds[half + 1], exchange_->Outgoing(0));
    BRIGADE_RETURN_IF_ERROR(exchange_->Begin(0, bounds[half], bounds[half + 1] - bounds[half]));
  }
  int transposed = 0;  // parts
  for (size_t stage = 0; stage < stages_; ++stage) {
    const bool is_last = stage + 1 == stages_;
    for (int half = 0; half < 2; ++half) {
      BRIGADE_RETURN_IF_ERROR(exchange_->Await(stage));
      const int first = is_last ? std::max(bounds[half], kept_) : bounds[half];
      const int end =
          is_last ? std::min(bounds[half + 1], kept_ + block_.columns) : bounds[half + 1];
      if (first >= end) continue;
      const size_t next = is_last ? transpose_ : stage + 1;
      const int moved = first - (is_last ? kept_ : 0);
      Add(stage, first, end, (is_last ? Kept() : exchange_->Outgoing(next)) + moved);
      if (next == kNoChannel) continue;
      BRIGADE_RETURN_IF_ERROR(exchange_->Begin(next, moved, end - first));
      if (is_last) ++transposed;
    }
    BRIGADE_RETURN_IF_ERROR(exchange_->End(stage));
  }
  while (transposed-- > 0) BRIGADE_RETURN_IF_ERROR(exchange_->Await(transpose_));
  return Transpose(q);
}

Status CgSolver::Sum(double* values) {
  for (size_t channel = stages_; channel < 2 * stages_; ++channel) {
    std::memcpy(exchange_->Outgoing(channel), values, 2 * sizeof(double));
    BRIGADE_RETURN_IF_ERROR(exchange_->Begin(channel, 0, 2));
    BRIGADE_RETURN_IF_ERROR(exchange_->Await(channel));
    for (int i = 0; i < 2; ++i) values[i] += exchange_->Incoming(channel)[i];
    BRIGADE_RETURN_IF_ERROR(exchange_->End(channel));
  }
  return Status();
}

// z = 1/matrix x, as near as conjugate gradients come; *residual = |x - matrix z|.
Status CgSolver::Solve(double* residual) {
  const size_t count = x_.size();
  const auto columns = static_cast<double>(count);
  const double* q;
  double sums[2] = {0, 0};
  exchange_->Compute(2 * columns, [&] {
    std::fill(z_.begin(), z_.end(), 0.0);
    r_ = x_;
    p_ = x_;
    sums[0] = Dot(r_.data(), r_.data(), count);
  });
  BRIGADE_RETURN_IF_ERROR(Sum(sums));
  double rho = sums[0];
  for (int i = 0; i < kInnerIterations; ++i) {
    BRIGADE_RETURN_IF_ERROR(ahead_ ? MultiplyInHalves(p_, &q) : Multiply(p_, &q));
    exchange_->Compute(2 * columns, [&] { sums[0] = Dot(p_.data(), q, count); });
    BRIGADE_RETURN_IF_ERROR(Sum(sums));
    exchange_->Compute(6 * columns, [&] {
      const double alpha = rho / sums[0];
      for (size_t j = 0; j < count; ++j) {
        z_[j] += alpha * p_[j];
        r_[j] -= alpha * q[j];
      }
      sums[0] = Dot(r_.data(), r_.data(), count);
    });
    BRIGADE_RETURN_IF_ERROR(Sum(sums));
    exchange_->Compute(2 * columns, [&] {
      const double beta = sums[0] / rho;
      for (size_t j = 0; j < count; ++j) p_[j] = r_[j] + beta * p_[j];
    });
    rho = sums[0];
  }
  BRIGADE_RETURN_IF_ERROR(ahead_ ? MultiplyInHalves(z_, &q) : Multiply(z_, &q));
  exchange_->Compute(3 * columns, [&] {
    sums[0] = 0;
    for (size_t j = 0; j < count; ++j) sums[0] += (x_[j] - q[j]) * (x_[j] - q[j]);
  });
  BRIGADE_RETURN_IF_ERROR(Sum(sums));
  *residual = std::sqrt(sums[0]);
  return Status();
}

Status CgSolver::Run(PairExchange* exchange, bool ahead) {
  exchange_ = exchange;
  ahead_ = ahead;
  std::fill(x_.begin(), x_.end(), 1.0);
  for (int i = 0; i < class_.iterations; ++i) {
    double residual;
    BRIGADE_RETURN_IF_ERROR(Solve(&residual));
    double sums[2] = {0, 0};
    exchange_->Compute(4.0 * block_.columns, [&] {
      sums[0] = Dot(x_.data(), z_.data(), x_.size());
      sums[1] = Dot(z_.data(), z_.data(), z_.size());
    });
    BRIGADE_RETURN_IF_ERROR(Sum(sums));
    exchange_->Compute(block_.columns, [&] {
      zeta_ = class_.shift + 1 / sums[0];
      const double scale = 1 / std::sqrt(sums[1]);
      for (size_t j = 0; j < x_.size(); ++j) x_[j] = scale * z_[j];
    });
  }
  return Status();
}

std::string CgSolver::Check() const {
  if (std::abs(zeta_ - class_.zeta) <= kTolerance * class_.zeta) return "";
  char text[96];
  std::snprintf(text, sizeof(text), "zeta is %.13g, not %.13g", zeta_, class_.zeta);
  return text;
}

}  // namespace brigade::bench

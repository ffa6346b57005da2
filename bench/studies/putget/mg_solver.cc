#include "bench/studies/putget/mg_solver.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <queue>
#include <utility>

#include "bench/studies/putget/nas_random.h"

namespace brigade::bench {
namespace {

constexpr MgWeights kSmoother = {-3.0 / 8, 1.0 / 32, -1.0 / 64, 0};
constexpr MgWeights kSmootherOfLarge = {-3.0 / 17, 1.0 / 33, -1.0 / 61, 0};
// W and C as in NPB 3; README.md says how NPB 2 differs.
constexpr MgClass kClasses[] = {{'S', 32, 4, kSmoother, 0.5307707005734e-04},
                                {'W', 128, 4, kSmoother, 0.6467329375339e-05},
                                {'A', 256, 4, kSmoother, 0.2433365309069e-05},
                                {'B', 256, 20, kSmootherOfLarge, 0.1800564401355e-05},
                                {'C', 512, 20, kSmootherOfLarge, 0.5706732285740e-06}};
constexpr size_t kCharges = 10;  // of each sign
constexpr double kTolerance = 1e-8;
// Operations per point, as the loops of mg_grid have them: together the 58 per point and cycle that
// NPB counts.
constexpr double kResidual = 15;
constexpr double kSmooth = 15;
constexpr double kRestrict = 20;  // of the coarse grid
constexpr double kInterpolate = 3;

}  // namespace

const MgClass* FindMgClass(char name) {
  const auto* const found = std::find_if(std::begin(kClasses), std::end(kClasses),
                                         [name](const MgClass& one) { return one.name == name; });
  return found == std::end(kClasses) ? nullptr : found;
}

std::string MgSolver::WhyNot(int ranks) {
  for (const int possible : {1, 2, 4, 8}) {
    if (ranks == possible) return "";
  }
  return "MG needs 1, 2, 4 or 8 ranks: its coarsest grid has two points a side";
}

MgSolver::MgSolver(const MgClass& of, int rank, int ranks, bool has_values)
    : class_(of), halo_(rank, ranks, of.points), v_(halo_.levels().back().points, has_values) {
  for (const MgLevel& part : halo_.levels()) {
    const MgGrid grid(part.points, has_values);
    levels_.push_back({&part, grid, grid});
  }
  if (has_values) PlaceCharges();
}

// Where the ten largest of as many random numbers as points are, and the ten smallest. Every rank
// makes them all.
void MgSolver::PlaceCharges() {
  using Number = std::pair<double, int64_t>;  // and its place
  std::priority_queue<Number, std::vector<Number>, std::greater<>> largest;
  std::priority_queue<Number> smallest;
  NasRandom random;
  const int64_t side = class_.points;
  for (int64_t place = 0; place < side * side * side; ++place) {
    const double number = random.Next();
    if (largest.size() < kCharges || number > largest.top().first) {
      largest.emplace(number, place);
      if (largest.size() > kCharges) largest.pop();
    }
    if (smallest.size() < kCharges || number < smallest.top().first) {
      smallest.emplace(number, place);
      if (smallest.size() > kCharges) smallest.pop();
    }
  }
  const auto put = [&](int64_t place, double charge) {
    int at[3];
    for (int i = 0; i < 3; ++i, place /= side) {
      at[i] = static_cast<int>(place % side) - halo_.Part(i) * v_.points(i) + 1;
      if (at[i] < 1 || at[i] > v_.points(i)) return;
    }
    v_.Row(at[1], at[2])[at[0]] = charge;
  };
  for (; !largest.empty(); largest.pop()) put(largest.top().second, 1);
  for (; !smallest.empty(); smallest.pop()) put(smallest.top().second, -1);
}

Status MgSolver::UpdateResidual(const MgGrid& v, Level* level) {
  exchange_->Compute(kResidual * level->part->volume(), [&] { Residual(level->u, v, &level->r); });
  return Fill(*level, &level->r);
}

Status MgSolver::Improve(Level* level) {
  exchange_->Compute(kSmooth * level->part->volume(),
                     [&] { Smooth(level->r, class_.smoother, &level->u); });
  return Fill(*level, &level->u);
}

// Down, then up; the coarser level reduces each level's residual.
Status MgSolver::Cycle() {
  const size_t top = levels_.size() - 1;
  for (size_t k = top; k > 0 && levels_[k - 1].part->takes_part; --k) {
    Level* const coarse = &levels_[k - 1];
    exchange_->Compute(kRestrict * coarse->part->volume(),
                       [&] { Restrict(levels_[k].r, &coarse->r); });
    BRIGADE_RETURN_IF_ERROR(Fill(*coarse, &coarse->r));
  }
  for (size_t k = 0; k <= top; ++k) {
    Level* const level = &levels_[k];
    if (!level->part->takes_part) continue;
    if (k < top) level->u.Clear();
    if (k > 0) {
      BRIGADE_RETURN_IF_ERROR(halo_.BringBack(*level->part, exchange_));
      exchange_->Compute(kInterpolate * level->part->volume(),
                         [&] { Interpolate(levels_[k - 1].u, &level->u); });
      BRIGADE_RETURN_IF_ERROR(UpdateResidual(k < top ? level->r : v_, level));
    }
    BRIGADE_RETURN_IF_ERROR(Improve(level));
  }
  return Status();
}

Status MgSolver::Run(PairExchange* exchange, bool ahead) {
  exchange_ = exchange;
  ahead_ = ahead;
  levels_.back().u.Clear();
  BRIGADE_RETURN_IF_ERROR(UpdateResidual(v_, &levels_.back()));
  for (int i = 0; i < class_.iterations; ++i) BRIGADE_RETURN_IF_ERROR(Iterate(exchange, ahead));
  return Status();
}

Status MgSolver::Iterate(PairExchange* exchange, bool ahead) {
  exchange_ = exchange;
  ahead_ = ahead;
  BRIGADE_RETURN_IF_ERROR(Cycle());
  return UpdateResidual(v_, &levels_.back());
}

std::string MgSolver::Check(double sum_of_squares) const {
  const double norm = std::sqrt(sum_of_squares / std::pow(class_.points, 3));
  if (std::abs(norm - class_.norm) <= kTolerance * class_.norm) return "";
  char text[96];
  std::snprintf(text, sizeof(text), "the residual's norm is %.13g, not %.13g", norm, class_.norm);
  return text;
}

}  // namespace brigade::bench

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

MgSolver::MgSolver(const MgClass& of, int rank, int ranks)
    : class_(of), halo_(rank, ranks, of.points), v_(halo_.PointsOf(of.points)) {
  for (int points = 2; points <= of.points; points *= 2) {
    const MgGrid grid(halo_.PointsOf(points));
    levels_.push_back({grid, grid});
  }
  PlaceCharges();
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
  Residual(level->u, v, &level->r);
  return Fill(&level->r);
}

Status MgSolver::Improve(Level* level) {
  Smooth(level->r, class_.smoother, &level->u);
  return Fill(&level->u);
}

// Down, then up; the coarser level reduces each level's residual.
Status MgSolver::Cycle() {
  const size_t top = levels_.size() - 1;
  for (size_t k = top; k > 0; --k) {
    Restrict(levels_[k].r, &levels_[k - 1].r);
    BRIGADE_RETURN_IF_ERROR(Fill(&levels_[k - 1].r));
  }
  levels_[0].u.Clear();
  BRIGADE_RETURN_IF_ERROR(Improve(&levels_[0]));
  for (size_t k = 1; k <= top; ++k) {
    if (k < top) levels_[k].u.Clear();
    Interpolate(levels_[k - 1].u, &levels_[k].u);
    BRIGADE_RETURN_IF_ERROR(UpdateResidual(k < top ? levels_[k].r : v_, &levels_[k]));
    BRIGADE_RETURN_IF_ERROR(Improve(&levels_[k]));
  }
  return Status();
}

Status MgSolver::Run(PairExchange* exchange, bool ahead) {
  exchange_ = exchange;
  ahead_ = ahead;
  levels_.back().u.Clear();
  BRIGADE_RETURN_IF_ERROR(UpdateResidual(v_, &levels_.back()));
  for (int i = 0; i < class_.iterations; ++i) {
    BRIGADE_RETURN_IF_ERROR(Cycle());
    BRIGADE_RETURN_IF_ERROR(UpdateResidual(v_, &levels_.back()));
  }
  return Status();
}

std::string MgSolver::Check(double sum_of_squares) const {
  const double norm = std::sqrt(sum_of_squares / std::pow(class_.points, 3));
  if (std::abs(norm - class_.norm) <= kTolerance * class_.norm) return "";
  char text[96];
  std::snprintf(text, sizeof(text), "the residual's norm is %.13g, not %.13g", norm, class_.norm);
  return text;
}

}  // namespace brigade::bench

#include "bench/studies/putget/md_system.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>

namespace brigade::bench {
namespace {

constexpr double kDensity = 0.8442;
constexpr double kTemperature = 0.72;

// The largest divisor of `of` that is no more than its root of this degree.
int DivisorNearRoot(int of, double degree) {
  int divisor = static_cast<int>(std::pow(of, 1 / degree) + 1e-9);
  while (of % divisor != 0) --divisor;
  return divisor;
}

}  // namespace

MdSystem::MdSystem(int atoms, bool has_values) : atoms_(atoms) {
  if (!has_values) return;
  PlaceAtoms();
  SetInMotion();
}

// Cells of four atoms, in a box as near to a cube as their number allows.
void MdSystem::PlaceAtoms() {
  const double cell = std::cbrt(4 / kDensity);
  const int cells = atoms_ / 4;
  std::array<int, 3> along;
  along[0] = DivisorNearRoot(cells, 3);
  along[1] = DivisorNearRoot(cells / along[0], 2);
  along[2] = cells / along[0] / along[1];
  for (size_t i = 0; i < 3; ++i) {
    side_[i] = along[i] * cell;
    half_[i] = side_[i] / 2;
  }
  constexpr double kInCell[4][3] = {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}};
  for (int x = 0; x < along[0]; ++x) {
    for (int y = 0; y < along[1]; ++y) {
      for (int z = 0; z < along[2]; ++z) {
        for (const auto& in_cell : kInCell) {
          positions_.push_back((x + in_cell[0]) * cell);
          positions_.push_back((y + in_cell[1]) * cell);
          positions_.push_back((z + in_cell[2]) * cell);
        }
      }
    }
  }
}

void MdSystem::SetInMotion() {
  std::mt19937_64 random(1);
  std::normal_distribution<double> any;
  for (size_t i = 0; i < positions_.size(); ++i) velocities_.push_back(any(random));
  std::array<double, 3> mean = {0, 0, 0};
  for (size_t i = 0; i < velocities_.size(); ++i) mean[i % 3] += velocities_[i] / atoms_;
  double squares = 0;
  for (size_t i = 0; i < velocities_.size(); ++i) {
    velocities_[i] -= mean[i % 3];
    squares += velocities_[i] * velocities_[i];
  }
  const double scale = std::sqrt(3 * kTemperature * atoms_ / squares);
  for (double& velocity : velocities_) velocity *= scale;
}

MdRange MdSystem::Owned(int rank, int ranks) const {
  const auto begin = [&](int64_t r) { return static_cast<int>(r * atoms_ / ranks); };
  return {begin(rank), begin(int64_t{rank} + 1) - begin(rank)};
}

void MdSystem::Wrap(double* position) const {
  for (size_t i = 0; i < 3; ++i) {
    position[i] -= side_[i] * std::floor(position[i] / side_[i]);
  }
}

}  // namespace brigade::bench

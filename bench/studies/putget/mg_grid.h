// Grids of NAS MG, and what is done on one: the operators on 27 points, and the moves to the next
// coarser and finer grid. A grid here is a rank's part, with a layer of halo around it.
//
// Sources: The NAS Parallel Benchmarks, RNR-91-002, section 2.2; NPB 2.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MG_GRID_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MG_GRID_H_

#include <array>
#include <cstddef>
#include <vector>

namespace brigade::bench {

class MgGrid {
 public:
  // Points along x, y and z without the halo; zero, or without values.
  MgGrid(const std::array<int, 3>& points, bool has_values)
      : points_(points), values_(has_values ? At(0, points[2] + 2) : 0) {}

  int points(int dimension) const { return points_[static_cast<size_t>(dimension)]; }
  // Points are counted from 1, halo is 0 and points + 1. A row goes along x, and begins with halo.
  double* Row(int y, int z) { return &values_[At(y, z)]; }
  const double* Row(int y, int z) const { return &values_[At(y, z)]; }
  void Clear() { values_.assign(values_.size(), 0.0); }

 private:
  size_t At(int y, int z) const {
    return (static_cast<size_t>(z) * static_cast<size_t>(points_[1] + 2) + static_cast<size_t>(y)) *
           static_cast<size_t>(points_[0] + 2);
  }

  std::array<int, 3> points_;
  std::vector<double> values_;
};

// Weights of a point and its neighbours, by how many coordinates they differ in.
using MgWeights = std::array<double, 4>;

// r = v - A u on the points; `v` may be `r`. Reads u's halo.
void Residual(const MgGrid& u, const MgGrid& v, MgGrid* r);
// u += S r on the points. Reads r's halo.
void Smooth(const MgGrid& r, const MgWeights& smoother, MgGrid* u);
// The points of `coarse` from those of `fine`. Reads fine's halo.
void Restrict(const MgGrid& fine, MgGrid* coarse);
// fine += what lies between coarse's points, on points and halo. Reads coarse's halo.
void Interpolate(const MgGrid& coarse, MgGrid* fine);
double SumOfSquares(const MgGrid& r);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MG_GRID_H_

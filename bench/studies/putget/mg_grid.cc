#include "bench/studies/putget/mg_grid.h"

namespace brigade::bench {
namespace {

constexpr MgWeights kOperator = {-8.0 / 3, 0, 1.0 / 6, 1.0 / 12};

// Sums over the neighbours of a row's points that differ in y or z: in one of them, and in both.
// All three operators read their neighbours so, each sum once instead of three times.
struct Around {
  explicit Around(int points)
      : sides(static_cast<size_t>(points + 2)), corners(static_cast<size_t>(points + 2)) {}

  void Sum(const MgGrid& grid, int y, int z) {
    const double *const south = grid.Row(y - 1, z), *const north = grid.Row(y + 1, z),
                        *const below = grid.Row(y, z - 1), *const above = grid.Row(y, z + 1);
    const double *const a = grid.Row(y - 1, z - 1), *const b = grid.Row(y + 1, z - 1),
                        *const c = grid.Row(y - 1, z + 1), *const d = grid.Row(y + 1, z + 1);
    for (size_t x = 0; x < sides.size(); ++x) {
      sides[x] = south[x] + north[x] + below[x] + above[x];
      corners[x] = a[x] + b[x] + c[x] + d[x];
    }
  }

  std::vector<double> sides;
  std::vector<double> corners;
};

}  // namespace

void Residual(const MgGrid& u, const MgGrid& v, MgGrid* r) {
  const auto points = static_cast<size_t>(u.points(0));
  Around around(u.points(0));
  for (int z = 1; z <= u.points(2); ++z) {
    for (int y = 1; y <= u.points(1); ++y) {
      around.Sum(u, y, z);
      const double *const side = around.sides.data(), *const corner = around.corners.data();
      const double *const from = u.Row(y, z), *const right = v.Row(y, z);
      double* const to = r->Row(y, z);
      for (size_t x = 1; x <= points; ++x) {  // those that differ in one coordinate weigh nothing
        to[x] = right[x] - kOperator[0] * from[x] -
                kOperator[2] * (corner[x] + side[x - 1] + side[x + 1]) -
                kOperator[3] * (corner[x - 1] + corner[x + 1]);
      }
    }
  }
}

void Smooth(const MgGrid& r, const MgWeights& smoother, MgGrid* u) {
  const auto points = static_cast<size_t>(r.points(0));
  Around around(r.points(0));
  for (int z = 1; z <= r.points(2); ++z) {
    for (int y = 1; y <= r.points(1); ++y) {
      around.Sum(r, y, z);
      const double *const side = around.sides.data(), *const corner = around.corners.data();
      const double* const from = r.Row(y, z);
      double* const to = u->Row(y, z);
      for (size_t x = 1; x <= points; ++x) {  // corners weigh nothing
        to[x] += smoother[0] * from[x] + smoother[1] * (from[x - 1] + from[x + 1] + side[x]) +
                 smoother[2] * (corner[x] + side[x - 1] + side[x + 1]);
      }
    }
  }
}

// Coarse point j is fine point 2 j.
void Restrict(const MgGrid& fine, MgGrid* coarse) {
  Around around(fine.points(0));
  for (int z = 1; z <= coarse->points(2); ++z) {
    for (int y = 1; y <= coarse->points(1); ++y) {
      around.Sum(fine, 2 * y, 2 * z);
      const double *const side = around.sides.data(), *const corner = around.corners.data();
      const double* const from = fine.Row(2 * y, 2 * z);
      double* const to = coarse->Row(y, z);
      for (int point = 1; point <= coarse->points(0); ++point) {
        const auto x = static_cast<size_t>(2 * point);
        to[point] = 0.5 * from[x] + 0.25 * (from[x - 1] + from[x + 1] + side[x]) +
                    0.125 * (side[x - 1] + side[x + 1] + corner[x]) +
                    0.0625 * (corner[x - 1] + corner[x + 1]);
      }
    }
  }
}

void Interpolate(const MgGrid& coarse, MgGrid* fine) {
  const auto points = static_cast<size_t>(coarse.points(0));
  std::vector<double> y_pair(points + 2), z_pair(points + 2), both(points + 2);
  for (int z = 0; z <= coarse.points(2); ++z) {
    for (int y = 0; y <= coarse.points(1); ++y) {
      const double *const here = coarse.Row(y, z), *const north = coarse.Row(y + 1, z),
                          *const above = coarse.Row(y, z + 1),
                          *const beyond = coarse.Row(y + 1, z + 1);
      for (size_t x = 0; x < points + 2; ++x) {
        y_pair[x] = here[x] + north[x];
        z_pair[x] = here[x] + above[x];
        both[x] = y_pair[x] + above[x] + beyond[x];
      }
      const auto spread = [points](const double* from, double weight, double* to) {
        for (size_t x = 0; x <= points; ++x) {
          to[2 * x] += weight * from[x];
          to[2 * x + 1] += weight / 2 * (from[x] + from[x + 1]);
        }
      };
      spread(here, 1, fine->Row(2 * y, 2 * z));
      spread(y_pair.data(), 0.5, fine->Row(2 * y + 1, 2 * z));
      spread(z_pair.data(), 0.5, fine->Row(2 * y, 2 * z + 1));
      spread(both.data(), 0.25, fine->Row(2 * y + 1, 2 * z + 1));
    }
  }
}

double SumOfSquares(const MgGrid& r) {
  double sum = 0;
  for (int z = 1; z <= r.points(2); ++z) {
    for (int y = 1; y <= r.points(1); ++y) {
      const double* const row = r.Row(y, z);
      for (int x = 1; x <= r.points(0); ++x) sum += row[x] * row[x];
    }
  }
  return sum;
}

}  // namespace brigade::bench

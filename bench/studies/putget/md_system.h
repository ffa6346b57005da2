// Atoms that attract and repel each other after Lennard-Jones, in a periodic box, in reduced units.
// They begin as a face-centred cubic crystal. There is no cutoff: each atom feels the nearest image
// of every other.
//
// Source: ARMCI, section 3.3: density 0.8442, temperature 0.72.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MD_SYSTEM_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MD_SYSTEM_H_

#include <vector>

namespace brigade::bench {

// Atoms from `first` on, of which all coordinates lie together, x, y, z.
struct MdRange {
  int first = 0;
  int count = 0;
};

class MdSystem {
 public:
  // Of AddPair: the distance in a periodic box, its powers, and three components for each atom.
  static constexpr double kOperationsOfPair = 40;

  // `atoms` is a multiple of 4. In virtual time, any: they have no positions.
  explicit MdSystem(int atoms, bool has_values = true);

  int atoms() const { return atoms_; }
  const std::vector<double>& positions() const { return positions_; }
  // Random, of the temperature, and without momentum in all.
  const std::vector<double>& velocities() const { return velocities_; }
  // The atoms of a rank.
  MdRange Owned(int rank, int ranks) const;
  // Moves coordinates back into the box.
  void Wrap(double* position) const;

  // Adds to `on_a` and `on_b`, three each, what atoms at `a` and `b` do to each other. Returns
  // their potential energy.
  double AddPair(const double* a, const double* b, double* on_a, double* on_b) const {
    double distance[3];
    double square = 0;
    for (int i = 0; i < 3; ++i) {
      double d = a[i] - b[i];
      d -= d > half_[i] ? side_[i] : 0;
      d += d < -half_[i] ? side_[i] : 0;
      distance[i] = d;
      square += d * d;
    }
    const double inverse = 1 / square;
    const double sixth = inverse * inverse * inverse;
    const double strength = 24 * sixth * (2 * sixth - 1) * inverse;
    for (int i = 0; i < 3; ++i) {
      on_a[i] += strength * distance[i];
      on_b[i] -= strength * distance[i];
    }
    return 4 * sixth * (sixth - 1);
  }

 private:
  void PlaceAtoms();
  void SetInMotion();

  const int atoms_;
  double side_[3];
  double half_[3];
  std::vector<double> positions_;
  std::vector<double> velocities_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MD_SYSTEM_H_

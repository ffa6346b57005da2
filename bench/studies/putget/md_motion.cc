#include "bench/studies/putget/md_motion.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>

namespace brigade::bench {
namespace {

constexpr double kTimeStep = 0.004;
constexpr double kForceTolerance = 1e-12;  // of the largest force
constexpr double kEnergyTolerance = 1e-4;  // of the energy at the beginning

}  // namespace

MdMotion::MdMotion(MPI_Comm comm, const MdSystem& system, int steps)
    : comm_(comm), system_(system), steps_(steps) {
  MPI_Comm_rank(comm, &rank_);
  MPI_Comm_size(comm, &ranks_);
  owned_ = system.Owned(rank_, ranks_);
  forces_.resize(static_cast<size_t>(3 * owned_.count));
}

double MdMotion::KineticEnergy() const {
  double energy = 0;
  for (const double velocity : velocities_) energy += velocity * velocity / 2;
  return energy;
}

Status MdMotion::Run(MdForces* forces) {
  const auto own = [this](const std::vector<double>& all) {
    const auto first = all.begin() + ptrdiff_t{3} * owned_.first;
    return std::vector<double>(first, first + ptrdiff_t{3} * owned_.count);
  };
  positions_ = own(system_.positions());
  velocities_ = own(system_.velocities());
  energies_.clear();
  double potential;
  BRIGADE_RETURN_IF_ERROR(forces->Compute(positions_, &forces_, &potential));
  energies_.push_back(potential + KineticEnergy());
  const auto kick = [this] {
    for (size_t i = 0; i < forces_.size(); ++i) velocities_[i] += kTimeStep / 2 * forces_[i];
  };
  for (int step = 0; step < steps_; ++step) {
    kick();
    for (size_t i = 0; i < positions_.size(); ++i) positions_[i] += kTimeStep * velocities_[i];
    for (size_t i = 0; i < positions_.size(); i += 3) system_.Wrap(&positions_[i]);
    BRIGADE_RETURN_IF_ERROR(forces->Compute(positions_, &forces_, &potential));
    kick();
    energies_.push_back(potential + KineticEnergy());
  }
  return Status();
}

std::vector<double> MdMotion::SerialForces() const {
  std::vector<int> counts, places;
  for (int rank = 0; rank < ranks_; ++rank) {
    counts.push_back(3 * system_.Owned(rank, ranks_).count);
    places.push_back(3 * system_.Owned(rank, ranks_).first);
  }
  std::vector<double> all(system_.positions().size());
  MPI_Allgatherv(positions_.data(), static_cast<int>(positions_.size()), MPI_DOUBLE, all.data(),
                 counts.data(), places.data(), MPI_DOUBLE, comm_);
  std::vector<double> forces(forces_.size());
  for (size_t i = 0; i < forces.size(); i += 3) {
    for (size_t other = 0; other < all.size(); other += 3) {
      if (other == i + static_cast<size_t>(3 * owned_.first)) continue;
      double reaction[3] = {0, 0, 0};
      system_.AddPair(&positions_[i], &all[other], &forces[i], reaction);
    }
  }
  return forces;
}

std::string MdMotion::Check() {
  const std::vector<double> wanted = SerialForces();
  double worst[2] = {0, 0};  // difference, and force
  for (size_t i = 0; i < wanted.size(); ++i) {
    worst[0] = std::max(worst[0], std::abs(forces_[i] - wanted[i]));
    worst[1] = std::max(worst[1], std::abs(wanted[i]));
  }
  MPI_Allreduce(MPI_IN_PLACE, worst, 2, MPI_DOUBLE, MPI_MAX, comm_);
  std::vector<double> energies = energies_;
  MPI_Allreduce(MPI_IN_PLACE, energies.data(), static_cast<int>(energies.size()), MPI_DOUBLE,
                MPI_SUM, comm_);
  const double first = energies.front();
  double drift = 0;
  for (const double energy : energies) {
    const double change = std::abs((energy - first) / first);
    if (!(change <= drift)) drift = change;
    if (std::isnan(drift)) break;
  }
  if (!(drift <= furthest_drift_)) furthest_drift_ = drift;
  char text[96] = "";
  if (!(worst[0] <= kForceTolerance * worst[1])) {
    std::snprintf(text, sizeof(text), "a force of up to %.3g differs by %.3g", worst[1], worst[0]);
  } else if (!(drift <= kEnergyTolerance)) {
    std::snprintf(text, sizeof(text), "energy drifts by %.3g of itself", drift);
  }
  return text;
}

}  // namespace brigade::bench

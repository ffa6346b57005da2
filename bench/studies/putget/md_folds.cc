#include <algorithm>
#include <cstddef>

#include "bench/studies/putget/grid_rows.h"
#include "bench/studies/putget/md_forces.h"

namespace brigade::bench {

MdFolds::MdFolds(MPI_Comm comm, const MdSystem& system, int times)
    : system_(system), times_(times) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const int columns = ranks / GridRows(ranks);
  Split(comm, rank / columns, rank % columns, &row_);
  Split(comm, rank % columns, rank / columns, &column_);
}

MdFolds::~MdFolds() {
  MPI_Comm_free(&column_.comm);
  MPI_Comm_free(&row_.comm);
}

void MdFolds::Split(MPI_Comm comm, int color, int key, Line* line) const {
  int rank, ranks, members;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  MPI_Comm_split(comm, color, key, &line->comm);
  MPI_Comm_size(line->comm, &members);
  const MdRange own = system_.Owned(rank, ranks);
  line->atoms.resize(static_cast<size_t>(members));
  static_assert(sizeof(MdRange) == 2 * sizeof(int));
  MPI_Allgather(&own, 2, MPI_INT, line->atoms.data(), 2, MPI_INT, line->comm);
  int place = 0;
  for (const MdRange& atoms : line->atoms) {
    line->counts.push_back(3 * atoms.count);
    line->places.push_back(place);
    place += line->counts.back();
  }
  line->positions.resize(static_cast<size_t>(place));
  line->forces.resize(static_cast<size_t>(place));
}

void MdFolds::Gather(const std::vector<double>& own, Line* line) {
  MPI_Allgatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, line->positions.data(),
                 line->counts.data(), line->places.data(), MPI_DOUBLE, line->comm);
}

void MdFolds::Fold(Line* line, double* own) {
  MPI_Reduce_scatter(line->forces.data(), own, line->counts.data(), MPI_DOUBLE, MPI_SUM,
                     line->comm);
}

// Returns the potential of the pairs.
double MdFolds::ComputeOnce() {
  double potential = 0;
  for (Line* line : {&row_, &column_}) line->forces.assign(line->forces.size(), 0.0);
  for (size_t r = 0; r < row_.atoms.size(); ++r) {
    for (int i = 0; i < row_.atoms[r].count; ++i) {
      const int atom = row_.atoms[r].first + i;
      const auto at = static_cast<size_t>(row_.places[r] + 3 * i);
      for (size_t c = 0; c < column_.atoms.size(); ++c) {
        const MdRange others = column_.atoms[c];
        const int end = others.first + others.count;
        const auto add = [&](int from, int to) {
          for (int other = from; other < to; other += 2) {
            const auto other_at =
                static_cast<size_t>(column_.places[c] + 3 * (other - others.first));
            potential += system_.AddPair(&row_.positions[at], &column_.positions[other_at],
                                         &row_.forces[at], &column_.forces[other_at]);
          }
        };
        // Smaller ones of the same parity, larger ones of the other.
        const int above = std::max(others.first, atom + 1);
        add(others.first + ((others.first ^ atom) & 1), std::min(end, atom));
        add(above + (((above ^ atom) & 1) ^ 1), end);
      }
    }
  }
  return potential;
}

Status MdFolds::Compute(const std::vector<double>& positions, std::vector<double>* forces,
                        double* potential) {
  Gather(positions, &row_);
  Gather(positions, &column_);
  for (int time = 0; time < times_; ++time) *potential = ComputeOnce();
  std::vector<double> of_column(forces->size());
  Fold(&row_, forces->data());
  Fold(&column_, of_column.data());
  for (size_t i = 0; i < forces->size(); ++i) (*forces)[i] += of_column[i];
  return Status();
}

}  // namespace brigade::bench

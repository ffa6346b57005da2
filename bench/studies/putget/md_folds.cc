#include "bench/studies/putget/md_folds.h"

#include <algorithm>
#include <cstddef>

#include "bench/studies/putget/grid_rows.h"

namespace brigade::bench {
namespace {

int AtomsOf(const MdLine& line) { return static_cast<int>(line.positions.size() / 3); }

}  // namespace

MdFolds::MdFolds(const MdSystem& system, Messages* messages, int rank, int ranks, int times)
    : system_(system), messages_(messages), times_(times) {
  const int columns = ranks / GridRows(ranks);
  const auto add = [&](int member, MdLine* line) {
    line->atoms.push_back(system.Owned(member, ranks));
    line->places.push_back(static_cast<int>(line->positions.size()));
    line->counts.push_back(3 * line->atoms.back().count);
    line->positions.resize(line->positions.size() + static_cast<size_t>(line->counts.back()));
  };
  for (int column = 0; column < columns; ++column) add(rank - rank % columns + column, &row_);
  for (int member = rank % columns; member < ranks; member += columns) add(member, &column_);
}

// Returns the potential of the pairs.
double MdFolds::ComputeOnce() {
  double potential = 0;
  for (MdLine* line : {&row_, &column_}) line->forces.assign(line->positions.size(), 0.0);
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
  BRIGADE_RETURN_IF_ERROR(messages_->Gather(true, positions, &row_));
  BRIGADE_RETURN_IF_ERROR(messages_->Gather(false, positions, &column_));
  const double pairs = double(AtomsOf(row_)) * AtomsOf(column_) / 2;
  for (int time = 0; time < times_; ++time) {
    if (!messages_->TakesTimeOf(MdSystem::kOperationsOfPair * pairs)) *potential = ComputeOnce();
  }
  std::vector<double> of_column(forces->size());
  BRIGADE_RETURN_IF_ERROR(messages_->Fold(true, row_, forces->data()));
  BRIGADE_RETURN_IF_ERROR(messages_->Fold(false, column_, of_column.data()));
  for (size_t i = 0; i < forces->size(); ++i) (*forces)[i] += of_column[i];
  return Status();
}

}  // namespace brigade::bench

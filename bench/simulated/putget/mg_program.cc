#include "bench/simulated/putget/mg_program.h"

#include <algorithm>

namespace brigade::bench {
namespace {

// Operations per point, as MgGrid's loops have them: together the 58 per point and cycle that NPB
// counts.
constexpr double kResidual = 15;
constexpr double kSmooth = 15;
constexpr double kRestrict = 20;  // of the coarse grid
constexpr double kInterpolate = 3;

std::array<int, 3> PartsFor(int ranks) {
  std::array<int, 3> parts = {1, 1, 1};
  for (size_t dimension = 2; parts[0] * parts[1] * parts[2] < ranks;) {
    parts[dimension] *= 2;
    dimension = (dimension + 2) % 3;
  }
  return parts;
}

}  // namespace

bool MgProgram::Fits(int points, int ranks) {
  const std::array<int, 3> parts = PartsFor(ranks);
  return parts[0] * parts[1] * parts[2] == ranks && parts[2] <= points;
}

MgProgram::MgProgram(int points, int rank, int ranks) : parts_(PartsFor(ranks)) {
  for (size_t i = 0; i < 3; rank /= parts_[i++]) part_[i] = rank % parts_[i];
  for (int of_all = 2; of_all <= points; of_all *= 2) {
    Level level;
    for (size_t i = 0; i < 3; ++i) {
      level.points[i] = std::max(1, of_all / parts_[i]);
      level.stride[i] = std::max(1, parts_[i] / of_all);
      if (part_[i] % level.stride[i] != 0) level.takes_part = false;
    }
    // Equal places on all ranks, also on those that do not take part.
    MakeHalo(&level);
    if (!levels_.empty()) MakeBack(levels_.back(), &level);
    levels_.push_back(level);
  }
}

int MgProgram::RankAt(std::array<int, 3> part) const {
  for (size_t i = 0; i < 3; ++i) part[i] = (part[i] + parts_[i]) % parts_[i];
  return part[0] + parts_[0] * (part[1] + parts_[1] * part[2]);
}

Slot MgProgram::MakeSlot(int to, int from, size_t bytes) {
  const Slot slot{to, from, bytes_, bytes, 0};
  bytes_ += 2 * bytes;
  return slot;
}

size_t MgProgram::Face(const Level& level, size_t dimension, bool inner_only) const {
  size_t points = level.halo[dimension].size() == 1 ? 2 : 1;  // layers to that neighbour
  for (size_t i = 0; i < 3; ++i) {
    if (i == dimension) continue;
    const bool has_halo = i < dimension && !(inner_only && IsCut(i));
    points *= static_cast<size_t>(level.points[i] + (has_halo ? 2 : 0));
  }
  return points * sizeof(double);
}

void MgProgram::MakeHalo(Level* level) {
  for (size_t i = 0; i < 3; ++i) {
    if (!IsCut(i)) continue;
    std::array<int, 3> above = part_, below = part_;
    above[i] += level->stride[i];
    below[i] -= level->stride[i];
    const int up = RankAt(above), down = RankAt(below);
    std::vector<Slot>* const halo = &level->halo[i];
    halo->resize(up == down ? 1 : 2);
    const size_t bytes = Face(*level, i, /*inner_only=*/false);
    halo->at(0) = MakeSlot(up, down, bytes);
    if (up != down) halo->at(1) = MakeSlot(down, up, bytes);
  }
}

// Between a rank that has points of `coarse` and those near it that have some of `level` only.
void MgProgram::MakeBack(const Level& coarse, Level* level) {
  size_t bytes = sizeof(double);  // of a coarse point and its neighbours, as many as lie between
  std::array<int, 3> nearest = part_;
  std::vector<std::array<int, 3>> others = {{0, 0, 0}};
  for (size_t i = 0; i < 3; ++i) {
    if (coarse.stride[i] == level->stride[i]) {
      bytes *= static_cast<size_t>(coarse.points[i]) + 1;
      continue;
    }
    bytes *= 2;
    nearest[i] -= part_[i] % coarse.stride[i];
    for (size_t j = 0, count = others.size(); j < count; ++j) {
      others.push_back(others[j]);
      others.back()[i] = level->stride[i];
    }
  }
  if (others.size() == 1) return;
  const Slot slot = MakeSlot(0, 0, bytes);
  if (!level->takes_part) return;
  const int owner = RankAt(nearest);
  level->sends_back = RankAt(part_) == owner;
  if (!level->sends_back) {
    level->back = {slot};
    level->back[0].from = owner;
    return;
  }
  for (auto other = others.begin() + 1; other != others.end(); ++other) {
    std::array<int, 3> part = part_;
    for (size_t i = 0; i < 3; ++i) part[i] += (*other)[i];
    level->back.push_back(slot);
    level->back.back().to = RankAt(part);
  }
}

// Packs and sends; the same bytes come.
Status MgProgram::Send(const Level& level, size_t dimension, size_t first, size_t bytes) {
  if (bytes == 0) return Status();
  const size_t run = dimension == 0 ? 1 : static_cast<size_t>(level.points[0]);
  for (const Slot& slot : level.halo[dimension]) {
    me_->Copy(bytes, run * sizeof(double));
    BRIGADE_RETURN_IF_ERROR(me_->Begin(slot, first, bytes));
  }
  return Status();
}

Status MgProgram::Receive(const Level& level, size_t dimension, size_t first, size_t bytes) {
  if (bytes == 0) return Status();
  const size_t run = dimension == 0 ? 1 : static_cast<size_t>(level.points[0]);
  for (const Slot& slot : level.halo[dimension]) {
    BRIGADE_RETURN_IF_ERROR(me_->Await(slot, first, bytes));
    me_->Copy(bytes, run * sizeof(double));
  }
  return Status();
}

void MgProgram::End(Level* level, size_t dimension) {
  for (Slot& slot : level->halo[dimension]) ProgramRank::End(&slot);
}

Status MgProgram::Fill(Level* level) {
  if (me_->ahead()) return FillAhead(level);
  for (size_t i = 0; i < 3; ++i) {
    const size_t face = Face(*level, i, /*inner_only=*/false);
    if (!IsCut(i)) {
      me_->Copy(2 * face, static_cast<size_t>(level->points[0]) * sizeof(double));
      continue;
    }
    BRIGADE_RETURN_IF_ERROR(Send(*level, i, 0, face));
    BRIGADE_RETURN_IF_ERROR(Receive(*level, i, 0, face));
    End(level, i);
  }
  return Status();
}

// Dimensions that are not cut come first.
Status MgProgram::FillAhead(Level* level) {
  size_t i = 0;
  for (; i < 3 && !IsCut(i); ++i) {
    me_->Copy(2 * Face(*level, i, false), static_cast<size_t>(level->points[0]) * sizeof(double));
  }
  if (i == 3) return Status();
  BRIGADE_RETURN_IF_ERROR(Send(*level, i, 0, Face(*level, i, true)));
  for (; i < 3; ++i) {
    const size_t inner = Face(*level, i, true);
    const size_t rim = Face(*level, i, false) - inner;
    BRIGADE_RETURN_IF_ERROR(Send(*level, i, inner, rim));
    if (i < 2) BRIGADE_RETURN_IF_ERROR(Send(*level, i + 1, 0, Face(*level, i + 1, true)));
    BRIGADE_RETURN_IF_ERROR(Receive(*level, i, 0, inner));
    BRIGADE_RETURN_IF_ERROR(Receive(*level, i, inner, rim));
    End(level, i);
  }
  return Status();
}

// One place is enough: the receiver takes part in the next Fill, which the sender does not end
// before.
Status MgProgram::BringBack(const Level& level) {
  for (const Slot& slot : level.back) {
    BRIGADE_RETURN_IF_ERROR(level.sends_back ? me_->Begin(slot, 0, slot.bytes)
                                             : me_->Await(slot, 0, slot.bytes));
  }
  return Status();
}

Status MgProgram::UpdateResidual(Level* level) {
  me_->Compute(kResidual * level->volume());
  return Fill(level);
}

Status MgProgram::Improve(Level* level) {
  me_->Compute(kSmooth * level->volume());
  return Fill(level);
}

Status MgProgram::Run(ProgramRank* me) {
  me_ = me;
  const size_t top = levels_.size() - 1;
  for (size_t k = top; k > 0 && levels_[k - 1].takes_part; --k) {
    me->Compute(kRestrict * levels_[k - 1].volume());
    BRIGADE_RETURN_IF_ERROR(Fill(&levels_[k - 1]));
  }
  for (size_t k = 0; k <= top; ++k) {
    if (!levels_[k].takes_part) continue;
    if (k > 0) {
      BRIGADE_RETURN_IF_ERROR(BringBack(levels_[k]));
      me->Compute(kInterpolate * levels_[k].volume());
      BRIGADE_RETURN_IF_ERROR(UpdateResidual(&levels_[k]));
    }
    BRIGADE_RETURN_IF_ERROR(Improve(&levels_[k]));
  }
  return UpdateResidual(&levels_[top]);
}

}  // namespace brigade::bench

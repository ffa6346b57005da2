#include "bench/studies/putget/mg_halo.h"

#include <algorithm>

namespace brigade::bench {
namespace {

size_t At(int dimension) { return static_cast<size_t>(dimension); }

// Rows along x stay whole as long as possible. Dimensions that are not cut come first.
std::array<int, 3> PartsFor(int ranks) {
  std::array<int, 3> parts = {1, 1, 1};
  for (size_t dimension = 2; parts[0] * parts[1] * parts[2] < ranks;) {
    parts[dimension] *= 2;
    dimension = (dimension + 2) % 3;
  }
  return parts;
}

// Calls `with` for each run of a box's points along x, with the layers of `dimension` at `layer`.
template <typename Box, typename Grid, typename Function>
void ForRows(const Box& box, int dimension, int layer, Grid* grid, const Function& with) {
  Box at = box;
  at.first[At(dimension)] = at.last[At(dimension)] = layer;
  for (int z = at.first[2]; z <= at.last[2]; ++z) {
    for (int y = at.first[1]; y <= at.last[1]; ++y) {
      with(grid->Row(y, z) + at.first[0], at.last[0] - at.first[0] + 1);
    }
  }
}

template <typename Boxes>
int64_t PointsIn(const Boxes& boxes) {
  int64_t points = 0;
  for (const auto& box : boxes) {
    int64_t volume = 1;
    for (size_t i = 0; i < 3; ++i) volume *= box.last[i] - box.first[i] + 1;
    points += volume;
  }
  return points;
}

size_t BytesOf(int64_t doubles) { return static_cast<size_t>(doubles) * sizeof(double); }

// Of the points of a face that lie in a row.
size_t RunBytes(const MgLevel& level, int dimension) {
  return BytesOf(dimension == 0 ? 1 : level.points[0]);
}

}  // namespace

bool MgHalo::Fits(int points_of_all, int ranks) {
  const std::array<int, 3> parts = PartsFor(ranks);
  return parts[0] * parts[1] * parts[2] == ranks && parts[2] <= points_of_all;
}

MgHalo::MgHalo(int rank, int ranks, int points_of_all) : parts_(PartsFor(ranks)) {
  for (size_t i = 0; i < 3; rank /= parts_[i++]) part_[i] = rank % parts_[i];
  for (int of_all = 2; of_all <= points_of_all; of_all *= 2) {
    MgLevel level;
    for (size_t i = 0; i < 3; ++i) {
      level.points[i] = std::max(1, of_all / parts_[i]);
      level.stride[i] = std::max(1, parts_[i] / of_all);
      if (part_[i] % level.stride[i] != 0) level.takes_part = false;
    }
    // Channels are equal on all ranks, also on those that do not take part.
    AddSides(&level);
    if (!levels_.empty()) AddBack(levels_.back(), &level);
    levels_.push_back(level);
  }
}

int MgHalo::RankAt(std::array<int, 3> part) const {
  for (size_t i = 0; i < 3; ++i) part[i] = (part[i] + parts_[i]) % parts_[i];
  return part[0] + parts_[0] * (part[1] + parts_[1] * part[2]);
}

void MgHalo::AddSides(MgLevel* level) {
  for (int i = 0; i < 3; ++i) {
    if (!IsCut(i)) continue;
    std::array<int, 3> above = part_, below = part_;
    above[At(i)] += level->stride[At(i)];
    below[At(i)] -= level->stride[At(i)];
    const int up = RankAt(above), down = RankAt(below);
    const int last = level->points[At(i)];
    const int64_t face = PointsIn(Whole(*level, i));
    const size_t channel = channels_.size();
    if (up == down) {
      level->sides[At(i)] = {{channel, {1, last}, {last + 1, 0}}};
      channels_.push_back({up, up, 2 * face});
    } else {
      level->sides[At(i)] = {{channel, {last}, {0}}, {channel + 1, {1}, {last + 1}}};
      channels_.push_back({up, down, face});
      channels_.push_back({down, up, face});
    }
  }
}

// Between a rank that has points of `coarse` and those near it that have some of `level` only. Bit
// i of a number says whether a rank is one of the latter along dimension i.
void MgHalo::AddBack(const MgLevel& coarse, MgLevel* level) {
  constexpr int kNobody = -1;
  int all = 0, mine = 0;
  int64_t doubles = 1;  // a coarse point and its neighbours, as many as lie between
  std::array<int, 3> nearest = part_;
  for (size_t i = 0; i < 3; ++i) {
    const bool is_halved = coarse.stride[i] != level->stride[i];
    doubles *= is_halved ? 2 : coarse.points[i] + 1;
    if (!is_halved) continue;
    all |= 1 << i;
    if (part_[i] % coarse.stride[i] != 0) mine |= 1 << i;
    nearest[i] -= part_[i] % coarse.stride[i];
  }
  level->sends_back = mine == 0;
  for (int other = 1; other <= all; ++other) {
    if ((other & ~all) != 0) continue;
    Channel channel{kNobody, kNobody, doubles};
    if (level->takes_part && (mine == 0 || mine == other)) {
      std::array<int, 3> part = part_;
      for (size_t i = 0; i < 3; ++i) part[i] += (other >> i & 1) * level->stride[i];
      (mine == 0 ? channel.to : channel.from) = RankAt(mine == 0 ? part : nearest);
      level->back.push_back(channels_.size());
    }
    channels_.push_back(channel);
  }
}

MgHalo::Boxes MgHalo::Whole(const MgLevel& level, int dimension) {
  Box box;
  for (int i = 0; i < 3; ++i) {
    const int halo = i < dimension ? 1 : 0;  // what is filled before
    box.first[At(i)] = 1 - halo;
    box.last[At(i)] = level.points[At(i)] + halo;
  }
  box.first[At(dimension)] = box.last[At(dimension)] = 0;
  return {box};
}

MgHalo::Boxes MgHalo::Inner(const MgLevel& level, int dimension) const {
  Boxes boxes = Whole(level, dimension);
  for (int i = 0; i < dimension; ++i) {
    if (!IsCut(i)) continue;
    boxes[0].first[At(i)] = 1;
    boxes[0].last[At(i)] = level.points[At(i)];
  }
  return boxes;
}

MgHalo::Boxes MgHalo::Rim(const MgLevel& level, int dimension) const {
  Boxes rim;
  Box box = Whole(level, dimension)[0];
  for (int i = 0; i < dimension; ++i) {
    if (!IsCut(i)) continue;
    for (const int layer : {0, level.points[At(i)] + 1}) {
      rim.push_back(box);
      rim.back().first[At(i)] = rim.back().last[At(i)] = layer;
    }
    box.first[At(i)] = 1;
    box.last[At(i)] = level.points[At(i)];
  }
  return rim;
}

Status MgHalo::Send(const MgLevel& level, const MgGrid& grid, int dimension, const Boxes& boxes,
                    int64_t before, PairExchange* exchange) {
  if (boxes.empty()) return Status();
  for (const MgLevel::Side& side : level.sides[At(dimension)]) {
    const auto layers = static_cast<int64_t>(side.sent.size());
    const int64_t first = layers * before;
    const int64_t count = layers * PointsIn(boxes);
    exchange->Copy(BytesOf(count), RunBytes(level, dimension), [&] {
      double* to = exchange->Outgoing(side.channel) + first;
      for (const int layer : side.sent) {
        for (const Box& box : boxes) {
          ForRows(box, dimension, layer, &grid,
                  [&to](const double* from, int run) { to = std::copy_n(from, run, to); });
        }
      }
    });
    BRIGADE_RETURN_IF_ERROR(exchange->Begin(side.channel, first, count));
  }
  return Status();
}

Status MgHalo::Receive(const MgLevel& level, MgGrid* grid, int dimension, const Boxes& boxes,
                       int64_t before, PairExchange* exchange) {
  if (boxes.empty()) return Status();
  for (const MgLevel::Side& side : level.sides[At(dimension)]) {
    const auto layers = static_cast<int64_t>(side.filled.size());
    BRIGADE_RETURN_IF_ERROR(exchange->Await(side.channel));
    exchange->Copy(BytesOf(layers * PointsIn(boxes)), RunBytes(level, dimension), [&] {
      const double* from = exchange->Incoming(side.channel) + layers * before;
      for (const int layer : side.filled) {
        for (const Box& box : boxes) {
          ForRows(box, dimension, layer, grid, [&from](double* to, int run) {
            std::copy_n(from, run, to);
            from += run;
          });
        }
      }
    });
  }
  return Status();
}

Status MgHalo::End(const MgLevel& level, int dimension, PairExchange* exchange) {
  for (const MgLevel::Side& side : level.sides[At(dimension)]) {
    BRIGADE_RETURN_IF_ERROR(exchange->End(side.channel));
  }
  return Status();
}

Status MgHalo::Fill(const MgLevel& level, MgGrid* grid, PairExchange* exchange, bool ahead) const {
  for (int dimension = 0; dimension < 3; ++dimension) {
    const Boxes face = Whole(level, dimension);
    const int points = level.points[At(dimension)];
    if (!IsCut(dimension)) {  // none of those before it is, either
      exchange->Copy(BytesOf(2 * PointsIn(face)), BytesOf(level.points[0]), [&] {
        for (const int layer : {0, points + 1}) {
          const int from = layer == 0 ? points : 1;
          std::vector<double> copied;
          ForRows(face[0], dimension, from, grid, [&copied](const double* row, int count) {
            copied.insert(copied.end(), row, row + count);
          });
          const double* next = copied.data();
          ForRows(face[0], dimension, layer, grid, [&next](double* row, int count) {
            std::copy_n(next, count, row);
            next += count;
          });
        }
      });
    } else if (!ahead) {
      BRIGADE_RETURN_IF_ERROR(Send(level, *grid, dimension, face, 0, exchange));
      BRIGADE_RETURN_IF_ERROR(Receive(level, grid, dimension, face, 0, exchange));
      BRIGADE_RETURN_IF_ERROR(End(level, dimension, exchange));
    }
  }
  return ahead ? FillAhead(level, grid, exchange) : Status();
}

Status MgHalo::FillAhead(const MgLevel& level, MgGrid* grid, PairExchange* exchange) const {
  int dimension = 0;
  while (dimension < 3 && !IsCut(dimension)) ++dimension;
  if (dimension == 3) return Status();
  BRIGADE_RETURN_IF_ERROR(Send(level, *grid, dimension, Inner(level, dimension), 0, exchange));
  for (; dimension < 3; ++dimension) {
    const Boxes inner = Inner(level, dimension);
    const Boxes rim = Rim(level, dimension);
    const int64_t behind = PointsIn(inner);
    BRIGADE_RETURN_IF_ERROR(Send(level, *grid, dimension, rim, behind, exchange));
    if (dimension < 2) {
      const Boxes next = Inner(level, dimension + 1);
      BRIGADE_RETURN_IF_ERROR(Send(level, *grid, dimension + 1, next, 0, exchange));
    }
    BRIGADE_RETURN_IF_ERROR(Receive(level, grid, dimension, inner, 0, exchange));
    BRIGADE_RETURN_IF_ERROR(Receive(level, grid, dimension, rim, behind, exchange));
    BRIGADE_RETURN_IF_ERROR(End(level, dimension, exchange));
  }
  return Status();
}

// One place is enough: the receiver takes part in the next Fill, which the sender does not end
// before.
Status MgHalo::BringBack(const MgLevel& level, PairExchange* exchange) const {
  for (const size_t channel : level.back) {
    BRIGADE_RETURN_IF_ERROR(exchange->Begin(channel, 0, channels_[channel].doubles));
    if (!level.sends_back) BRIGADE_RETURN_IF_ERROR(exchange->Await(channel));
  }
  return Status();
}

}  // namespace brigade::bench

#include "bench/studies/putget/mg_halo.h"

#include <algorithm>

namespace brigade::bench {
namespace {

size_t At(int dimension) { return static_cast<size_t>(dimension); }

}  // namespace

MgHalo::MgHalo(int rank, int ranks, int points_of_all) {
  // Rows along x stay whole as long as possible. Dimensions that are not cut come first.
  for (int dimension = 2, bit = 1; bit < ranks; --dimension, bit *= 2) {
    part_[At(dimension)] = (rank & bit) != 0 ? 1 : 0;
    channel_[At(dimension)] = static_cast<int>(channels_.size());
    channels_.push_back({rank ^ bit, 0});
  }
  const MgGrid largest(PointsOf(points_of_all));
  for (int dimension = 0; dimension < 3; ++dimension) {
    if (!IsCut(dimension)) continue;
    int64_t face = 1;
    for (int other = 0; other < 3; ++other) {
      if (other != dimension) face *= largest.points(other) + 2;
    }
    channels_[At(channel_[At(dimension)])].doubles = 2 * face;
  }
}

std::array<int, 3> MgHalo::PointsOf(int points_of_all) const {
  std::array<int, 3> points;
  for (int i = 0; i < 3; ++i) points[At(i)] = IsCut(i) ? points_of_all / 2 : points_of_all;
  return points;
}

MgHalo::Boxes MgHalo::Whole(const MgGrid& grid, int dimension) {
  Box box;
  for (int i = 0; i < 3; ++i) {
    const int halo = i < dimension ? 1 : 0;  // what is filled before
    box.first[At(i)] = 1 - halo;
    box.last[At(i)] = grid.points(i) + halo;
  }
  box.first[At(dimension)] = box.last[At(dimension)] = 0;
  return {box};
}

MgHalo::Boxes MgHalo::Inner(const MgGrid& grid, int dimension) const {
  Boxes boxes = Whole(grid, dimension);
  for (int i = 0; i < dimension; ++i) {
    if (!IsCut(i)) continue;
    boxes[0].first[At(i)] = 1;
    boxes[0].last[At(i)] = grid.points(i);
  }
  return boxes;
}

MgHalo::Boxes MgHalo::Rim(const MgGrid& grid, int dimension) const {
  Boxes rim;
  Box box = Whole(grid, dimension)[0];
  for (int i = 0; i < dimension; ++i) {
    if (!IsCut(i)) continue;
    for (const int layer : {0, grid.points(i) + 1}) {
      rim.push_back(box);
      rim.back().first[At(i)] = rim.back().last[At(i)] = layer;
    }
    box.first[At(i)] = 1;
    box.last[At(i)] = grid.points(i);
  }
  return rim;
}

namespace {

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

}  // namespace

// The first points' face leaves before the last points'.
Status MgHalo::Send(const MgGrid& grid, int dimension, const Boxes& boxes, int64_t first,
                    PairExchange* exchange) const {
  const size_t channel = At(channel_[At(dimension)]);
  double* to = exchange->Outgoing(channel) + first;
  for (const int layer : {1, grid.points(dimension)}) {
    for (const Box& box : boxes) {
      ForRows(box, dimension, layer, &grid,
              [&to](const double* from, int count) { to = std::copy_n(from, count, to); });
    }
  }
  return exchange->Begin(channel, first, 2 * PointsIn(boxes));
}

// The first points' face of the neighbour lies behind the last points here, and the other way
// around.
Status MgHalo::Receive(MgGrid* grid, int dimension, const Boxes& boxes, int64_t first,
                       PairExchange* exchange) const {
  const size_t channel = At(channel_[At(dimension)]);
  BRIGADE_RETURN_IF_ERROR(exchange->Await(channel));
  const double* from = exchange->Incoming(channel) + first;
  for (const int layer : {grid->points(dimension) + 1, 0}) {
    for (const Box& box : boxes) {
      ForRows(box, dimension, layer, grid, [&from](double* to, int count) {
        std::copy_n(from, count, to);
        from += count;
      });
    }
  }
  return Status();
}

Status MgHalo::Fill(MgGrid* grid, PairExchange* exchange, bool ahead) const {
  for (int dimension = 0; dimension < 3; ++dimension) {
    const Boxes face = Whole(*grid, dimension);
    const int points = grid->points(dimension);
    if (!IsCut(dimension)) {  // none of those before it is, either
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
    } else if (!ahead) {
      BRIGADE_RETURN_IF_ERROR(Send(*grid, dimension, face, 0, exchange));
      BRIGADE_RETURN_IF_ERROR(Receive(grid, dimension, face, 0, exchange));
      BRIGADE_RETURN_IF_ERROR(exchange->End(At(channel_[At(dimension)])));
    }
  }
  return ahead ? FillAhead(grid, exchange) : Status();
}

Status MgHalo::FillAhead(MgGrid* grid, PairExchange* exchange) const {
  int dimension = 0;
  while (dimension < 3 && !IsCut(dimension)) ++dimension;
  if (dimension == 3) return Status();
  BRIGADE_RETURN_IF_ERROR(Send(*grid, dimension, Inner(*grid, dimension), 0, exchange));
  for (; dimension < 3; ++dimension) {
    const Boxes inner = Inner(*grid, dimension);
    const Boxes rim = Rim(*grid, dimension);
    const int64_t behind = 2 * PointsIn(inner);
    if (!rim.empty()) BRIGADE_RETURN_IF_ERROR(Send(*grid, dimension, rim, behind, exchange));
    if (dimension < 2) {
      BRIGADE_RETURN_IF_ERROR(Send(*grid, dimension + 1, Inner(*grid, dimension + 1), 0, exchange));
    }
    BRIGADE_RETURN_IF_ERROR(Receive(grid, dimension, inner, 0, exchange));
    if (!rim.empty()) BRIGADE_RETURN_IF_ERROR(Receive(grid, dimension, rim, behind, exchange));
    BRIGADE_RETURN_IF_ERROR(exchange->End(At(channel_[At(dimension)])));
  }
  return Status();
}

}  // namespace brigade::bench

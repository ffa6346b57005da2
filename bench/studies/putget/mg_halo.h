// MgHalo: which points of each grid a rank has, and how it fills their halo from its neighbours.
// The whole grid is periodic, and each dimension is cut into a power of two of parts. A rank that
// has the same neighbour on both sides sends it both faces in one message.
//
// Dimensions follow one another, since halo is sent on: the corners of z come by way of x and y.
// Non-blocking, what does not depend on halo under way goes ahead: the inner part of the next
// dimension's faces leaves before this one's are waited for, and only their rims follow.
//
// In virtual time, a grid may have fewer points along a dimension than there are parts. Then every
// second, fourth or so on has a point, and the other ranks rest. On the way back to finer grids,
// ranks with a point send the values between to those without.
//
// Source: ARMCI, section 3.1.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MG_HALO_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MG_HALO_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "bench/studies/putget/mg_grid.h"
#include "bench/studies/putget/pair_exchange.h"
#include "membuf/status.h"

namespace brigade::bench {

// A rank's part of a grid, along each dimension.
struct MgLevel {
  // The layers of a dimension that a channel takes to a neighbour, and those that it fills.
  struct Side {
    size_t channel;
    std::vector<int> sent;
    std::vector<int> filled;
  };

  std::array<int, 3> points;
  std::array<int, 3> stride;  // parts from one that has points to the next
  bool takes_part = true;
  std::array<std::vector<Side>, 3> sides;
  // Channels to the neighbours that have no points on the next coarser grid, or from the one that
  // has.
  std::vector<size_t> back;
  bool sends_back = false;

  double volume() const { return double(points[0]) * points[1] * points[2]; }
};

class MgHalo {
 public:
  // Returns whether every rank has points of the finest grid.
  static bool Fits(int points_of_all, int ranks);
  // For grids of 2 to `points_of_all` points a side. REQUIRES: Fits(points_of_all, ranks).
  MgHalo(int rank, int ranks, int points_of_all);

  // From the coarsest on.
  const std::vector<MgLevel>& levels() const { return levels_; }
  // The number of the rank's part along a dimension.
  int Part(int dimension) const { return part_[static_cast<size_t>(dimension)]; }

  const std::vector<Channel>& channels() const { return channels_; }
  // Collective over the ranks that take part.
  Status Fill(const MgLevel& level, MgGrid* grid, PairExchange* exchange, bool ahead) const;
  // Collective over the ranks that take part.
  Status BringBack(const MgLevel& level, PairExchange* exchange) const;

 private:
  // Points from `first` to `last`, both included, along each dimension.
  struct Box {
    std::array<int, 3> first;
    std::array<int, 3> last;
  };
  using Boxes = std::vector<Box>;

  bool IsCut(int dimension) const { return parts_[static_cast<size_t>(dimension)] > 1; }
  int RankAt(std::array<int, 3> part) const;
  void AddSides(MgLevel* level);
  void AddBack(const MgLevel& coarse, MgLevel* level);

  // The face of a dimension in its layer 0, to be moved to another: what its message has first, and
  // what can only be sent once earlier cut dimensions have their halo.
  static Boxes Whole(const MgLevel& level, int dimension);
  Boxes Inner(const MgLevel& level, int dimension) const;
  Boxes Rim(const MgLevel& level, int dimension) const;

  // `before`: the points of the face that precede those of `boxes` in a message.
  static Status Send(const MgLevel& level, const MgGrid& grid, int dimension, const Boxes& boxes,
                     int64_t before, PairExchange* exchange);
  static Status Receive(const MgLevel& level, MgGrid* grid, int dimension, const Boxes& boxes,
                        int64_t before, PairExchange* exchange);
  static Status End(const MgLevel& level, int dimension, PairExchange* exchange);
  Status FillAhead(const MgLevel& level, MgGrid* grid, PairExchange* exchange) const;

  std::array<int, 3> parts_;
  std::array<int, 3> part_;
  std::vector<MgLevel> levels_;
  std::vector<Channel> channels_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MG_HALO_H_

// MgHalo: fills the halo of a grid from its neighbours. The whole grid is periodic, and each
// dimension is cut in two or not at all, because the coarsest grid has two points along each: a
// rank has the same neighbour on both sides, and sends it both faces in one message.
//
// Dimensions follow one another, since halo is sent on: the corners of z come by way of x and y.
// Non-blocking, what does not depend on halo under way goes ahead: the inner part of the next
// dimension's faces leaves before this one's are waited for, and only their rims follow.
//
// Source: ARMCI, section 3.1.

#ifndef BRIGADE_BENCH_STUDIES_PUTGET_MG_HALO_H_
#define BRIGADE_BENCH_STUDIES_PUTGET_MG_HALO_H_

#include <array>
#include <cstdint>
#include <vector>

#include "bench/studies/putget/mg_grid.h"
#include "bench/studies/putget/pair_exchange.h"
#include "membuf/status.h"

namespace brigade::bench {

class MgHalo {
 public:
  // For grids of so many points at most, without halo. `ranks` is 1, 2, 4 or 8.
  MgHalo(int rank, int ranks, int points_of_all);

  // Which dimensions are cut, the part of the rank along each, 0 or 1, and its points of a grid.
  bool IsCut(int dimension) const { return channel_[static_cast<size_t>(dimension)] >= 0; }
  int Part(int dimension) const { return part_[static_cast<size_t>(dimension)]; }
  std::array<int, 3> PointsOf(int points_of_all) const;

  const std::vector<Channel>& channels() const { return channels_; }
  // Collective.
  Status Fill(MgGrid* grid, PairExchange* exchange, bool ahead) const;

 private:
  // Points from `first` to `last`, both included, along each dimension.
  struct Box {
    std::array<int, 3> first;
    std::array<int, 3> last;
  };
  using Boxes = std::vector<Box>;

  // The face of a dimension in its layer 0, to be moved to another: what its message has first, and
  // what can only be sent once earlier cut dimensions have their halo.
  static Boxes Whole(const MgGrid& grid, int dimension);
  Boxes Inner(const MgGrid& grid, int dimension) const;
  Boxes Rim(const MgGrid& grid, int dimension) const;

  Status Send(const MgGrid& grid, int dimension, const Boxes& boxes, int64_t first,
              PairExchange* exchange) const;
  Status Receive(MgGrid* grid, int dimension, const Boxes& boxes, int64_t first,
                 PairExchange* exchange) const;
  Status FillAhead(MgGrid* grid, PairExchange* exchange) const;

  std::array<int, 3> part_ = {0, 0, 0};
  std::array<int, 3> channel_ = {-1, -1, -1};
  std::vector<Channel> channels_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_STUDIES_PUTGET_MG_HALO_H_

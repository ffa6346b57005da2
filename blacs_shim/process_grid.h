// ProcessGrid: a BLACS context. GridTable: the numbers of contexts.

#ifndef BRIGADE_BLACS_SHIM_PROCESS_GRID_H_
#define BRIGADE_BLACS_SHIM_PROCESS_GRID_H_

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "blacs_shim/topology_letters.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"

namespace brigade {
namespace blacs {

// A grid this process is part of. Numbering inside is always row by row.
struct ProcessGrid {
  // Makes a grid. Collective over `members` only, which are ranks in `parent` in row-major order;
  // this process must be one of them. Waits inside MPI. `engine` must outlive the grid; `parent`
  // need not.
  static Status Create(Engine* engine, MPI_Comm parent, const std::vector<int>& members, int rows,
                       int cols, std::unique_ptr<ProcessGrid>* grid);

  ProcessGrid() = default;
  ProcessGrid(const ProcessGrid&) = delete;
  ProcessGrid& operator=(const ProcessGrid&) = delete;
  // Local. Sends that have returned still reach their receivers.
  ~ProcessGrid();

  bool Contains(int64_t r, int64_t c) const { return r >= 0 && r < rows && c >= 0 && c < cols; }
  int RankAt(int r, int c) const { return r * cols + c; }

  int rows = 0;
  int cols = 0;
  int row = 0;  // this process' place
  int col = 0;
  std::unique_ptr<Group> group;
  // For callers (blacs_get 10), with the ranks of the grid. The library does not use it.
  MPI_Comm communicator = MPI_COMM_NULL;

  // blacs_set. The two flags are stored for blacs_get only: every combine is repeatable and
  // coherent anyway.
  TopologySettings topologies;
  int repeatable = 0;
  int coherent = 0;
  // The next return values of kbsid and kbrid, by ChannelKind.
  std::array<int, kChannelKinds> broadcast_ids{};
};

class GridTable {
 public:
  // Adds a grid, and returns its context: the lowest free number.
  int Insert(std::unique_ptr<ProcessGrid> grid);
  // Null if there is no such context. Any number is legal.
  ProcessGrid* Find(int64_t context) const {
    const size_t index = static_cast<size_t>(context);  // a negative number becomes a huge one
    return index < grids_.size() ? grids_[index].get() : nullptr;
  }
  // REQUIRES: Find(context) is not null.
  std::unique_ptr<ProcessGrid> Remove(int context) { return std::move(grids_[context]); }
  // Ends the grids one by one, with those that delete callbacks on their communicators make
  // meanwhile: these callbacks may also look at other grids, or end them.
  void Clear() {
    while (count() > 0) {
      for (size_t i = 0; i < grids_.size(); ++i) Remove(static_cast<int>(i));
    }
    grids_.clear();
  }
  // Contexts that exist.
  size_t count() const {
    return grids_.size() - static_cast<size_t>(std::count(grids_.begin(), grids_.end(), nullptr));
  }

 private:
  std::vector<std::unique_ptr<ProcessGrid>> grids_;  // null: free
};

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_PROCESS_GRID_H_

// PaperRank: one rank of the benchmark behind Table 1 of the AP3000 paper, in simulation. A panel
// of M x N doubles is distributed over Q ranks column by column; every rank has a workspace for all
// of it.
//
// Two ways to the same result, both over the Group API:
// - staged (column B): this project's patterns;
// - plain (column A): the same trees and rings of sends and receives, each message contiguous:
//   strided blocks are packed into a buffer first, and unpacked or added from one.

#ifndef BRIGADE_BENCH_SIMULATED_PAPER_PATTERNS_H_
#define BRIGADE_BENCH_SIMULATED_PAPER_PATTERNS_H_

#include <cstddef>
#include <string>
#include <vector>

#include "membuf/status.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/group/group.h"
#include "transport/simulated_processor.h"

namespace brigade::bench {

struct PaperCell {
  bool reduces = false;  // multi-reduce; otherwise multi-broadcast
  bool ring = false;     // one ring; otherwise a tree from, or to, each rank in turn
  bool staged = false;   // column B; otherwise A
  int ranks = 1;         // Q
  int rows = 1;          // M
  int cols = 1;          // N, a multiple of Q

  // Of the whole panel.
  size_t bytes() const {
    return sizeof(double) * static_cast<size_t>(rows) * static_cast<size_t>(cols);
  }
  std::string Describe() const;
};

class PaperRank {
 public:
  // `group` and `processor`, the rank's own, must outlive the object.
  PaperRank(const PaperCell& cell, Group* group, SimulatedProcessor* processor);

  // Fill writes the initial data of the operation; IsRight returns whether the result is right.
  void Fill();
  bool IsRight() const;

  // One operation: this rank's block is copied from its own matrix into the workspace; then
  // broadcast: the workspace has all blocks; reduce: this rank has the sum of all ranks' blocks
  // of its number, in the workspace (tree) or in a matrix beside it (ring).
  Status Run();

 private:
  // Value of an element of the workspace, as `rank` contributes it.
  static double ValueAt(int rank, int row, int col) {
    return (rank + 1) * static_cast<double>((row * 7 + col * 13) % 101);
  }
  double* Column(int col) { return workspace_.data() + static_cast<size_t>(col) * rows(); }
  const double* Column(int col) const {
    return workspace_.data() + static_cast<size_t>(col) * rows();
  }
  size_t rows() const { return static_cast<size_t>(cell_.rows); }

  Status Staged();
  Status PlainTreeBroadcast(int root);
  Status PlainTreeReduce(int root);
  Status PlainRingBroadcast();
  Status PlainRingReduce();

  // --- parts of the plain patterns; a message is contiguous and as long as a block ---
  Status Send(int peer, std::byte* message);
  Status Receive(int peer, std::byte* message);
  // The block as it lies if that is contiguous; else packed into `buffer`.
  std::byte* Packed(int block, std::byte* buffer);
  // Where a block can be received: as above.
  std::byte* BufferOf(int block, std::byte* buffer);
  // The other half of BufferOf.
  void Unpack(int block, const std::byte* message);
  // dst = a block + message. `dst_layout`: of the block, or contiguous.
  void Add(std::byte* dst, const StridedLayout& dst_layout, int block, const std::byte* message);
  void CopyOwnIn();

  const PaperCell cell_;
  Group* const group_;
  SimulatedProcessor* const processor_;
  const int rank_;
  std::vector<double> own_;        // this rank's part of the panel
  std::vector<double> result_;     // the same of the sum, where it is not left in the workspace
  std::vector<double> workspace_;  // all of it, column by column
  std::vector<double> buffers_[2];
  StridedLayout own_layout_;
  StridedLayout message_layout_;
  std::vector<Matrix> blocks_;  // of the workspace
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PAPER_PATTERNS_H_

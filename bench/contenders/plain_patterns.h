// The patterns as a simple program implements them: pack the whole message, move it with MPI,
// unpack it. No chunks, no overlap, one more buffer than Brigade needs. A baseline that Brigade
// must beat.

#ifndef BRIGADE_BENCH_CONTENDERS_PLAIN_PATTERNS_H_
#define BRIGADE_BENCH_CONTENDERS_PLAIN_PATTERNS_H_

#include <mpi.h>

#include <vector>

#include "bench/runner/panel.h"

namespace brigade::bench {

class PlainPatterns {
 public:
  // Collective over `comm`, which is duplicated.
  explicit PlainPatterns(MPI_Comm comm);
  ~PlainPatterns();
  PlainPatterns(const PlainPatterns&) = delete;
  PlainPatterns& operator=(const PlainPatterns&) = delete;

  // All are collective. Panels have equal shapes on all ranks.
  void TreeBroadcast(int root, const PanelView& panel);
  void RingBroadcast(int root, const PanelView& panel);
  // The sum lands in the root's panel; the others' are left alone.
  void TreeReduce(int root, const PanelView& panel);
  void RingReduce(int root, const PanelView& panel);
  // blocks[q] is read at rank q and written elsewhere.
  void MultiBroadcast(const std::vector<PanelView>& blocks);
  // The sum of all blocks[q] lands in `result` of rank q.
  void MultiReduce(const std::vector<PanelView>& blocks, const PanelView& result);

 private:
  int Right() const { return (rank_ + 1) % ranks_; }
  int Left() const { return (rank_ - 1 + ranks_) % ranks_; }

  MPI_Comm comm_;
  int rank_;
  int ranks_;
  std::vector<double> mine_;
  std::vector<double> theirs_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_PLAIN_PATTERNS_H_

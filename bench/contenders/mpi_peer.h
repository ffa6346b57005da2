// The patterns by MPI itself: in place if the data are contiguous, otherwise by derived datatypes
// if MPI accepts them, and on packed buffers if not (reductions, and gathers of blocks that
// differ in size).

#ifndef BRIGADE_BENCH_CONTENDERS_MPI_PEER_H_
#define BRIGADE_BENCH_CONTENDERS_MPI_PEER_H_

#include <mpi.h>

#include <functional>
#include <map>
#include <tuple>
#include <vector>

#include "bench/runner/panel.h"

namespace brigade::bench {

class MpiPeer {
 public:
  // Collective over `comm`, which is duplicated.
  explicit MpiPeer(MPI_Comm comm);
  ~MpiPeer();
  MpiPeer(const MpiPeer&) = delete;
  MpiPeer& operator=(const MpiPeer&) = delete;

  // MPI_Isend and MPI_Irecv of one's own panel out and the peer's in: the side that `begins` sends
  // while its receive is posted, the other answers.
  // Calls `received` when the message has come.
  void PingPong(const PanelView& out, const PanelView& in, int peer, bool begins,
                const std::function<void()>& received);

  // To be waited for with MPI_Wait; the panel is contiguous. The broadcast is collective.
  MPI_Request StartSend(const PanelView& panel, int receiver);
  MPI_Request StartReceive(const PanelView& panel, int sender);
  MPI_Request StartBroadcast(int root, const PanelView& panel);

  void Barrier();

  // Collective; as in plain_patterns.h.
  void Broadcast(int root, const PanelView& panel);
  void Reduce(int root, const PanelView& panel);
  // As Reduce, with the sum at every rank.
  void Allreduce(const PanelView& panel);
  void Allgather(const std::vector<PanelView>& blocks);
  // From and to `blocks`: the root's own stays where it is.
  void Gather(int root, const std::vector<PanelView>& blocks);
  void Scatter(int root, const std::vector<PanelView>& blocks);
  // REQUIRES: equal blocks.
  void Alltoall(const std::vector<PanelView>& sent, const std::vector<PanelView>& blocks);
  // As Allreduce, with the sum of ranks 0 to one's own, which is left out if `exclusive`.
  void Scan(const PanelView& panel, bool exclusive);
  void ReduceScatter(const std::vector<PanelView>& blocks, const PanelView& result);
  // Multi-reduce by MPI_Reduce_scatter_block. REQUIRES: equal blocks, adjacent in order, and all
  // contiguous.
  void ReduceScatterBlock(const std::vector<PanelView>& blocks, const PanelView& result);

 private:
  // A committed datatype for the panel's shape, made once.
  MPI_Datatype TypeOf(const PanelView& panel);
  // Element counts of the blocks, and where each begins when packed.
  void Measure(const std::vector<PanelView>& blocks);

  MPI_Comm comm_;
  int rank_;
  std::map<std::tuple<int64_t, int64_t, int64_t>, MPI_Datatype> types_;
  std::vector<int> counts_;
  std::vector<int> starts_;
  std::vector<double> packed_;
  std::vector<double> sum_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_MPI_PEER_H_

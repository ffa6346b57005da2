// BrigadeGroup: Brigade's own patterns on a transport, called through the C++ Group API.

#ifndef BRIGADE_BENCH_CONTENDERS_BRIGADE_GROUP_H_
#define BRIGADE_BENCH_CONTENDERS_BRIGADE_GROUP_H_

#include <mpi.h>

#include <memory>
#include <vector>

#include "bench/runner/case.h"
#include "bench/runner/options.h"
#include "bench/runner/panel.h"
#include "membuf/status.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "transport/bootstrap.h"
#include "transport/endpoint.h"

namespace brigade::bench {

// Adds the counters of one operation to those of several on a rank. The last protocol counts.
void Accumulate(const OperationStatistics& one, OperationStatistics* all);

class BrigadeGroup {
 public:
  // Collective over `comm`: a 1 x ranks group over the transport, chunk and budget of `options`.
  static Status Create(MPI_Comm comm, const Options& options, std::unique_ptr<BrigadeGroup>* group);

  // Locally blocking; and its other half.
  Status Send(const PanelView& panel, int receiver, OperationStatistics* statistics);
  Status Receive(const PanelView& panel, int sender, OperationStatistics* statistics);

  // Without waiting; the panel's memory stays untouched until the operation is done. The broadcast
  // is collective.
  Status StartSend(const PanelView& panel, int receiver, std::unique_ptr<Operation>* operation);
  Status StartReceive(const PanelView& panel, int sender, std::unique_ptr<Operation>* operation);
  Status StartBroadcast(const Topology& topology, int root, const PanelView& panel,
                        std::unique_ptr<Operation>* operation);

  // All are collective. Panels have equal shapes on all ranks; `statistics` may be null.
  Status Broadcast(const Topology& topology, int root, const PanelView& panel,
                   OperationStatistics* statistics);
  Status Reduce(const Topology& topology, int root, const PanelView& panel,
                OperationStatistics* statistics);
  Status AllReduce(const Topology& topology, const PanelView& panel,
                   OperationStatistics* statistics);
  Status Barrier(OperationStatistics* statistics);
  Status MultiBroadcast(const Topology& topology, const std::vector<PanelView>& blocks,
                        OperationStatistics* statistics);
  Status MultiReduce(const Topology& topology, const std::vector<PanelView>& blocks,
                     const PanelView& result, OperationStatistics* statistics);
  Status Gather(const Topology& topology, int root, const std::vector<PanelView>& blocks,
                OperationStatistics* statistics);
  Status Scatter(const Topology& topology, int root, const std::vector<PanelView>& blocks,
                 OperationStatistics* statistics);
  // All blocks are equally long.
  Status AllToAll(const Topology& topology, const std::vector<PanelView>& sent,
                  const std::vector<PanelView>& blocks, OperationStatistics* statistics);
  // `pattern`: scan or exscan.
  Status Scan(Pattern pattern, const Topology& topology, const PanelView& panel,
              OperationStatistics* statistics);

  // Returns the cost of an operation on `bytes`, or of several added up, on this rank.
  Cost CostOf(const OperationStatistics& statistics, size_t bytes) const;

  // Null if its edges were not measured.
  const MachineDescription* machine() const { return group_->machine(); }
  Group* group() { return group_.get(); }
  Endpoint* endpoint() { return endpoint_.get(); }
  Bootstrap* bootstrap() { return bootstrap_.get(); }

 private:
  BrigadeGroup() = default;
  Status RunBlocks(Pattern pattern, const Topology& topology, int root,
                   const std::vector<PanelView>& blocks, OperationStatistics* statistics);

  size_t chunk_bytes_ = 0;
  std::unique_ptr<Bootstrap> bootstrap_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Group> group_;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_BRIGADE_GROUP_H_

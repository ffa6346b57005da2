#include "bench/contenders/brigade_group.h"

#include <algorithm>
#include <utility>

#include "transport/mpi/mpi_bootstrap.h"
#include "transport/registry/registry.h"

namespace brigade::bench {
namespace {

Status MatrixOf(const PanelView& panel, Matrix* matrix) {
  matrix->data = reinterpret_cast<std::byte*>(panel.data);
  return StridedLayout::General(panel.rows, panel.cols, panel.ld, sizeof(double), &matrix->layout);
}

// Fills in the fields that calls on one matrix have in common; `root` is the peer of a send or a
// receive.
Status CallOf(Pattern pattern, const Topology& topology, int root, const PanelView& panel,
              PatternCall* call) {
  call->pattern = pattern;
  call->topology = topology;
  call->root = root;
  return MatrixOf(panel, &call->matrix);
}

Status MatricesOf(const std::vector<PanelView>& panels, std::vector<Matrix>* matrices) {
  matrices->resize(panels.size());
  for (size_t i = 0; i < panels.size(); ++i) {
    BRIGADE_RETURN_IF_ERROR(MatrixOf(panels[i], &(*matrices)[i]));
  }
  return Status();
}

}  // namespace

void Accumulate(const OperationStatistics& one, OperationStatistics* all) {
  all->bytes_copied += one.bytes_copied;
  all->overflow_segments += one.overflow_segments;
  all->segments += one.segments;
  all->peak_staging_bytes = std::max(all->peak_staging_bytes, one.peak_staging_bytes);
  all->protocol = one.protocol;
}

Cost BrigadeGroup::CostOf(const OperationStatistics& statistics, size_t bytes) const {
  Cost cost;
  cost.copies_per_byte = static_cast<double>(statistics.bytes_copied) / static_cast<double>(bytes);
  cost.staging_peak_bytes = statistics.peak_staging_bytes;
  cost.overflow_segments = statistics.overflow_segments;
  cost.segments = statistics.segments;
  cost.chunk_bytes = chunk_bytes_;
  if (statistics.protocol != nullptr) cost.protocol = statistics.protocol;
  return cost;
}

Status BrigadeGroup::Create(MPI_Comm comm, const Options& options,
                            std::unique_ptr<BrigadeGroup>* result) {
  std::unique_ptr<BrigadeGroup> group(new BrigadeGroup);
  EngineOptions engine;
  engine.calibrate = options.calibrate;
  engine.explain = options.explained;
  group->chunk_bytes_ = engine.chunk_bytes;
  group->bootstrap_ = std::make_unique<MpiBootstrap>(comm);
  BRIGADE_RETURN_IF_ERROR(CreateEndpoint(options.transport, &group->endpoint_));
  BRIGADE_RETURN_IF_ERROR(Engine::Create(group->endpoint_.get(), engine, &group->engine_));
  BRIGADE_RETURN_IF_ERROR(Group::Create(group->engine_.get(), group->bootstrap_.get(), 1,
                                        group->bootstrap_->size(), &group->group_));
  *result = std::move(group);
  return Status();
}

Status BrigadeGroup::Send(const PanelView& panel, int receiver, OperationStatistics* statistics) {
  PatternCall call;
  BRIGADE_RETURN_IF_ERROR(CallOf(Pattern::kSend, Topology(), receiver, panel, &call));
  return group_->Run(call, statistics);
}

Status BrigadeGroup::Receive(const PanelView& panel, int sender, OperationStatistics* statistics) {
  PatternCall call;
  BRIGADE_RETURN_IF_ERROR(CallOf(Pattern::kReceive, Topology(), sender, panel, &call));
  return group_->Run(call, statistics);
}

Status BrigadeGroup::StartSend(const PanelView& panel, int receiver,
                               std::unique_ptr<Operation>* operation) {
  PatternCall call;
  BRIGADE_RETURN_IF_ERROR(CallOf(Pattern::kSend, Topology(), receiver, panel, &call));
  return group_->Start(call, operation);
}

Status BrigadeGroup::StartReceive(const PanelView& panel, int sender,
                                  std::unique_ptr<Operation>* operation) {
  PatternCall call;
  BRIGADE_RETURN_IF_ERROR(CallOf(Pattern::kReceive, Topology(), sender, panel, &call));
  return group_->Start(call, operation);
}

Status BrigadeGroup::StartBroadcast(const Topology& topology, int root, const PanelView& panel,
                                    std::unique_ptr<Operation>* operation) {
  PatternCall call;
  BRIGADE_RETURN_IF_ERROR(CallOf(Pattern::kBroadcast, topology, root, panel, &call));
  return group_->Start(call, operation);
}

Status BrigadeGroup::Broadcast(const Topology& topology, int root, const PanelView& panel,
                               OperationStatistics* statistics) {
  PatternCall call;
  BRIGADE_RETURN_IF_ERROR(CallOf(Pattern::kBroadcast, topology, root, panel, &call));
  return group_->Run(call, statistics);
}

Status BrigadeGroup::Reduce(const Topology& topology, int root, const PanelView& panel,
                            OperationStatistics* statistics) {
  PatternCall call;
  BRIGADE_RETURN_IF_ERROR(CallOf(Pattern::kReduce, topology, root, panel, &call));
  return group_->Run(call, statistics);
}

Status BrigadeGroup::AllReduce(const Topology& topology, const PanelView& panel,
                               OperationStatistics* statistics) {
  PatternCall call;
  BRIGADE_RETURN_IF_ERROR(CallOf(Pattern::kAllReduce, topology, /*root=*/0, panel, &call));
  return group_->Run(call, statistics);
}

Status BrigadeGroup::Barrier(OperationStatistics* statistics) {
  return group_->Run(PatternCall(), statistics);  // which by default is one
}

Status BrigadeGroup::MultiBroadcast(const Topology& topology, const std::vector<PanelView>& blocks,
                                    OperationStatistics* statistics) {
  std::vector<Matrix> matrices;
  BRIGADE_RETURN_IF_ERROR(MatricesOf(blocks, &matrices));
  PatternCall call;
  call.pattern = Pattern::kMultiBroadcast;
  call.topology = topology;
  call.blocks = matrices.data();
  return group_->Run(call, statistics);
}

Status BrigadeGroup::MultiReduce(const Topology& topology, const std::vector<PanelView>& blocks,
                                 const PanelView& result, OperationStatistics* statistics) {
  std::vector<Matrix> matrices;
  BRIGADE_RETURN_IF_ERROR(MatricesOf(blocks, &matrices));
  PatternCall call;
  call.pattern = Pattern::kMultiReduce;
  call.topology = topology;
  call.blocks = matrices.data();
  BRIGADE_RETURN_IF_ERROR(MatrixOf(result, &call.matrix));
  return group_->Run(call, statistics);
}

Status BrigadeGroup::RunBlocks(Pattern pattern, const Topology& topology, int root,
                               const std::vector<PanelView>& blocks,
                               OperationStatistics* statistics) {
  std::vector<Matrix> matrices;
  BRIGADE_RETURN_IF_ERROR(MatricesOf(blocks, &matrices));
  PatternCall call;
  call.pattern = pattern;
  call.topology = topology;
  call.root = root;
  call.blocks = matrices.data();
  return group_->Run(call, statistics);
}

Status BrigadeGroup::Gather(const Topology& topology, int root,
                            const std::vector<PanelView>& blocks, OperationStatistics* statistics) {
  return RunBlocks(Pattern::kGather, topology, root, blocks, statistics);
}

Status BrigadeGroup::Scatter(const Topology& topology, int root,
                             const std::vector<PanelView>& blocks,
                             OperationStatistics* statistics) {
  return RunBlocks(Pattern::kScatter, topology, root, blocks, statistics);
}

Status BrigadeGroup::AllToAll(const Topology& topology, const std::vector<PanelView>& sent,
                              const std::vector<PanelView>& blocks,
                              OperationStatistics* statistics) {
  std::vector<Matrix> sources;
  std::vector<Matrix> targets;
  BRIGADE_RETURN_IF_ERROR(MatricesOf(sent, &sources));
  BRIGADE_RETURN_IF_ERROR(MatricesOf(blocks, &targets));
  PatternCall call;
  call.pattern = Pattern::kAllToAll;
  call.topology = topology;
  call.equal_blocks = true;
  call.sent = sources.data();
  call.blocks = targets.data();
  return group_->Run(call, statistics);
}

Status BrigadeGroup::Scan(Pattern pattern, const Topology& topology, const PanelView& panel,
                          OperationStatistics* statistics) {
  PatternCall call;
  BRIGADE_RETURN_IF_ERROR(CallOf(pattern, topology, /*root=*/0, panel, &call));
  return group_->Run(call, statistics);
}

}  // namespace brigade::bench

#include "bench/simulated/scale_cells.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "bench/simulated/peer_rank.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "patterns/model/candidates.h"
#include "patterns/model/free_topology.h"
#include "transport/sim/sim_transport.h"

namespace brigade::bench {
namespace {

constexpr int kLeastRanks = 8;
constexpr size_t kTotalBytes[] = {8, size_t{8} << 10, size_t{64} << 10, size_t{1} << 20,
                                  size_t{16} << 20};
constexpr size_t kStackBytes = size_t{64} << 10;

// Each rank's body on a world of lengths only. `us`: until the last has returned.
using Body = std::function<Status(SimWorld*, int rank, double* end_us)>;

Status RunOnAll(const MachineDescription& machine, int ranks, const Body& body, double* us) {
  SimOptions options;
  options.carries_payload = false;
  options.stack_bytes = kStackBytes;
  SimWorld world(machine, ranks, options);
  Status failure;
  *us = 0;
  BRIGADE_RETURN_IF_ERROR(world.Run([&](int rank) {
    double end_us = 0;
    const Status status = body(&world, rank, &end_us);
    if (failure.ok()) failure = status;
    *us = std::max(*us, end_us);
  }));
  return failure;
}

}  // namespace

std::vector<ScaleCell> ScaleCells(Pattern pattern, int most_ranks) {
  std::vector<ScaleCell> cells;
  for (int ranks = kLeastRanks; ranks <= most_ranks; ranks *= 2) {
    for (const size_t total_bytes : kTotalBytes) {
      ScaleCell cell{pattern, ranks, total_bytes};
      if (cell.multi()) {
        const size_t block_bytes = total_bytes / static_cast<size_t>(ranks);
        if (total_bytes > sizeof(double) && block_bytes <= sizeof(double)) continue;
        cell.bytes = std::max(block_bytes, sizeof(double));
      }
      cells.push_back(cell);
    }
  }
  return cells;
}

ScaleChoice ChooseFor(const MachineDescription& machine, const ScaleCell& cell, Chooser chooser) {
  const bool named = chooser == Chooser::kBestByName;
  const int hosts = machine.HostOf(cell.ranks - 1) + 1;
  const bool mixed = hosts > 1 && hosts < cell.ranks;
  const bool sums = EntryOf(cell.pattern).combines;
  const EngineOptions defaults;
  const SegmentSettings settings =
      SettingsOn(machine, hosts > 1 ? machine.between_hosts : machine.within_host,
                 defaults.chunk_bytes, defaults.staging_bytes);
  CostQuery query;
  query.pattern = cell.pattern;
  query.ranks = cell.ranks;
  query.bytes = cell.bytes;
  query.topology.by_host = !named && !sums && mixed;
  const bool fixed = !named && sums;
  if (fixed) {
    Capabilities transport;
    transport.tuning.segment_cost_bytes = machine.segment_cost_bytes;
    query.topology = FreeTopology(cell.pattern, {cell.ranks, hosts, &transport}, cell.total_bytes(),
                                  /*order_free=*/false);
  }
  const Candidate best = RankCandidates(machine, settings, query, fixed).front();
  ScaleChoice choice;
  choice.topology = best.topology;
  choice.segment_bytes = best.segment_bytes;
  choice.cost = best.cost;
  choice.messages = best.cost.segments * (cell.ranks - 1);
  if (best.topology.shape == Shape::kCirculant) {
    int64_t rounds = 0;
    while ((int64_t{1} << rounds) < cell.ranks) ++rounds;
    choice.messages = best.cost.segments * rounds;
  }
  if (cell.multi()) choice.messages *= cell.ranks;
  // To make a schedule by host each rank looks at all: as long as a message takes for 2000 of them.
  if (best.topology.by_host) choice.messages += int64_t{cell.ranks} * cell.ranks / 2000;
  return choice;
}

Status SimulateChoice(const MachineDescription& machine, const ScaleCell& cell,
                      const ScaleChoice& choice, double* us) {
  std::byte nothing{};  // never touched
  const auto elems = static_cast<int64_t>(cell.bytes / sizeof(double));
  Matrix matrix;
  matrix.data = &nothing;
  BRIGADE_RETURN_IF_ERROR(StridedLayout::General(elems, 1, elems, sizeof(double), &matrix.layout));
  const std::vector<Matrix> blocks(cell.multi() ? static_cast<size_t>(cell.ranks) : 0, matrix);
  PatternCall call;
  call.pattern = cell.pattern;
  call.topology = choice.topology;
  call.segment_bytes = choice.segment_bytes;
  call.matrix = matrix;
  call.blocks = blocks.data();
  const auto body = [&](SimWorld* world, int rank, double* end_us) -> Status {
    const std::unique_ptr<Endpoint> endpoint = world->CreateEndpoint(rank);
    std::unique_ptr<Engine> engine;
    BRIGADE_RETURN_IF_ERROR(Engine::Create(endpoint.get(), EngineOptions(), &engine));
    std::unique_ptr<Group> group;
    BRIGADE_RETURN_IF_ERROR(
        Group::Create(engine.get(), world->MakeBootstrap(rank).get(), 1, cell.ranks, &group));
    const Status status = group->Run(call);
    *end_us = world->Clock(rank);
    return status;
  };
  return RunOnAll(machine, cell.ranks, body, us);
}

Status SimulatePeer(const MachineDescription& machine, const ScaleCell& cell,
                    PeerAlgorithm algorithm, PeerResult* result) {
  *result = PeerResult();
  const auto body = [&](SimWorld* world, int rank, double* end_us) -> Status {
    const std::unique_ptr<Endpoint> endpoint = world->CreateEndpoint(rank);
    GroupId group;
    BRIGADE_RETURN_IF_ERROR(endpoint->OpenGroup(world->MakeBootstrap(rank).get(), &group));
    PeerRank peer(endpoint.get(), group, rank, cell.ranks);
    const Status status = peer.Run(cell.pattern, algorithm, cell.bytes);
    *end_us = world->Clock(rank);
    result->messages += peer.messages_sent();
    result->bytes_sent += peer.bytes_sent();
    result->bytes_combined += peer.bytes_combined();
    return status;
  };
  return RunOnAll(machine, cell.ranks, body, &result->us);
}

}  // namespace brigade::bench

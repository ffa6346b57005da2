#include "bench/simulated/paper_cells.h"

#include <algorithm>
#include <functional>
#include <memory>

#include "patterns/engine/engine.h"
#include "transport/sim/sim_transport.h"

namespace brigade::bench {
namespace {

// Of the 12 MiB of each special memory: more than any cell has under way at once.
constexpr size_t kStagingBytes = size_t{8} << 20;
// Round trips of a ping-pong.
constexpr int kRoundTrips = 4;

// To be called by a rank when it is ready: from then on time counts, the same on all ranks.
using Start = std::function<void()>;
using Body = std::function<Status(Endpoint*, Group*, const Start&)>;

// Runs `body` on every rank of a simulation, each with a group of all. `us`: from the start until
// the last has returned.
Status RunOnAll(const MachineDescription& machine, int ranks, bool carries_payload,
                const Body& body, double* us) {
  SimOptions sim_options;
  sim_options.carries_payload = carries_payload;
  SimWorld world(machine, ranks, sim_options);
  Status failure;
  double begin = 0;
  double end = 0;
  const auto run = [&](int rank) -> Status {
    const std::unique_ptr<Endpoint> endpoint = world.CreateEndpoint(rank);
    EngineOptions options;
    options.staging_bytes = kStagingBytes;
    std::unique_ptr<Engine> engine;
    BRIGADE_RETURN_IF_ERROR(Engine::Create(endpoint.get(), options, &engine));
    const std::unique_ptr<Bootstrap> bootstrap = world.MakeBootstrap(rank);
    std::unique_ptr<Group> group;
    BRIGADE_RETURN_IF_ERROR(Group::Create(engine.get(), bootstrap.get(), 1, ranks, &group));
    Status met;
    const auto start = [&] {
      met = bootstrap->AllGather(nullptr, 0, nullptr);
      begin = std::max(begin, world.Clock(rank));
    };
    BRIGADE_RETURN_IF_ERROR(body(endpoint.get(), group.get(), start));
    end = std::max(end, world.Clock(rank));
    return met;
  };
  BRIGADE_RETURN_IF_ERROR(world.Run([&](int rank) {
    const Status status = run(rank);
    if (failure.ok()) failure = status;
  }));
  *us = end - begin;
  return failure;
}

}  // namespace

std::vector<PaperCell> PaperCells() {
  struct Size {
    int rows;
    int cols;
    bool per_rank;
  };
  constexpr Size kSizes[] = {
      {1000, 1, true}, {1000, 2, true}, {1000, 32, false}, {4000, 32, false}};
  std::vector<PaperCell> cells;
  for (bool reduces : {false, true}) {
    for (const Size& size : kSizes) {
      for (int ranks : {2, 4, 8}) {
        for (bool ring : {false, true}) {
          for (bool staged : {false, true}) {
            const int cols = size.per_rank ? size.cols * ranks : size.cols;
            cells.push_back({reduces, ring, staged, ranks, size.rows, cols});
          }
        }
      }
    }
  }
  return cells;
}

Status SimulateCell(const MachineDescription& machine, const PaperCell& cell, bool carries_payload,
                    double* us) {
  const auto body = [&](Endpoint* endpoint, Group* group, const Start& start) -> Status {
    PaperRank rank(cell, group, endpoint->simulated_processor());
    if (carries_payload) rank.Fill();
    start();
    BRIGADE_RETURN_IF_ERROR(rank.Run());
    if (!carries_payload || rank.IsRight()) return Status();
    return Status(StatusCode::kInternal, "wrong result of " + cell.Describe());
  };
  return RunOnAll(machine, cell.ranks, carries_payload, body, us);
}

Status SimulateMessage(const MachineDescription& machine, size_t bytes, double* us) {
  const auto body = [&](Endpoint*, Group* group, const Start& start) -> Status {
    const int rank = group->rank();
    std::vector<std::byte> data(bytes);
    PatternCall call;
    call.root = 1 - rank;
    call.matrix.data = data.data();
    call.matrix.layout = StridedLayout::Contiguous(bytes);
    start();
    for (int i = 0; i < 2 * kRoundTrips; ++i) {
      call.pattern = i % 2 == rank ? Pattern::kSend : Pattern::kReceive;
      BRIGADE_RETURN_IF_ERROR(group->Run(call));
    }
    return Status();
  };
  BRIGADE_RETURN_IF_ERROR(RunOnAll(machine, 2, /*carries_payload=*/false, body, us));
  *us /= 2 * kRoundTrips;
  return Status();
}

}  // namespace brigade::bench

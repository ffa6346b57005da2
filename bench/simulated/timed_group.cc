#include "bench/simulated/timed_group.h"

#include <algorithm>
#include <memory>

#include "patterns/engine/engine.h"
#include "transport/sim/sim_transport.h"

namespace brigade::bench {
namespace {

// Of the 12 MiB of each special memory: more than any cell has under way at once.
constexpr size_t kStagingBytes = size_t{8} << 20;

}  // namespace

Status RunTimed(const MachineDescription& machine, int ranks, bool carries_payload,
                const TimedBody& body, double* us) {
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

}  // namespace brigade::bench

// Ranks whose calls take all protocols: an engine over each transport.

#ifndef BRIGADE_TEST_PATTERNS_PROTOCOL_RANKS_H_
#define BRIGADE_TEST_PATTERNS_PROTOCOL_RANKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "patterns/engine/engine.h"
#include "patterns/group/group.h"
#include "test/support/group_member.h"
#include "test/support/rank_memory.h"
#include "transport/auto/auto_endpoint.h"
#include "transport/host_memory/kernel_copy.h"
#include "transport/shm/shm_transport.h"
#include "transport/tcp/tcp_transport.h"

namespace brigade {

// Shared memory without kernel copies and with kernel copies of all lengths, TCP, and both: on one
// host, or on two hosts of every other rank.
enum class Over { kShm, kShmByKernel, kTcp, kAuto, kTwoHosts };

inline std::unique_ptr<Endpoint> NewEndpoint(Over over, int rank) {
  std::unique_ptr<Endpoint> endpoint;
  if (over == Over::kTcp) {
    TcpOptions options;
    options.interface = "lo";
    options.log = [](const std::string&) {};
    Require(CreateTcpEndpoint(options, &endpoint));
    return endpoint;
  }
  ShmOptions options;
  options.spans_hosts = over == Over::kAuto || over == Over::kTwoHosts;
  if (over == Over::kTwoHosts) options.host.network_namespace += static_cast<uint64_t>(rank % 2);
  if (over == Over::kShmByKernel)
    options.kernel_copies = KernelCopies::Both({256, size_t{64} << 20});
  Require(CreateShmEndpoint(options, &endpoint));
  if (!options.spans_hosts) return endpoint;
  std::vector<AutoTransport> transports;
  transports.push_back({std::move(endpoint), AutoTransport::Reach::kHost});
  transports.push_back({NewEndpoint(Over::kTcp, rank), AutoTransport::Reach::kEverywhere});
  return MakeAutoEndpoint(std::move(transports));
}

struct RankOver {
  RankOver(Over over, Bootstrap* bootstrap, int rows, const EngineOptions& options)
      : endpoint(NewEndpoint(over, bootstrap->rank())) {
    Require(Engine::Create(endpoint.get(), options, &engine));
    Require(Group::Create(engine.get(), bootstrap, rows, bootstrap->size() / rows, &group));
  }
  std::unique_ptr<Endpoint> endpoint;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<Group> group;
};

}  // namespace brigade

#endif  // BRIGADE_TEST_PATTERNS_PROTOCOL_RANKS_H_

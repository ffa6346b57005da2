#include "patterns/group/group_scopes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "patterns/schedule/segment_plan.h"

namespace brigade {
namespace {

const EdgeConfig* EdgeConfigFor(const EngineOptions& options, const Capabilities& has,
                                bool of_pairs, GroupState* group) {
  for (const EdgeConfig& config : group->edge_configs) {
    if (config.capabilities == &has && config.of_pairs == of_pairs) return &config;
  }
  EdgeConfig config;
  config.capabilities = &has;
  config.of_pairs = of_pairs;
  config.settings = SegmentSettingsFor(options.chunk_bytes, options.staging_bytes,
                                       has.tuning.preferred_segment_bytes);
  if (of_pairs) config.settings = OfPairs(config.settings);
  config.settings.write_unit_bytes = has.tuning.write_unit_bytes;
  config.settings.overlap_bytes = has.tuning.overlap_segment_bytes;
  config.settings.segment_cost_bytes = has.tuning.segment_cost_bytes;
  if (has.max_inline_bytes > 0 && group->out_edges.empty()) {
    group->in_edges.resize(group->members() * kChannelKinds);
    group->out_edges.resize(group->in_edges.size());  // the last: they say that there are both
  }
  const size_t eager = has.eager_segment_bytes;
  if (eager != SIZE_MAX) config.settings.eager_bytes = eager - std::min(eager, kHeaderBytes);
  config.settings.ahead_bytes =
      has.tuning.first_segment_bytes - std::min(has.tuning.first_segment_bytes, kHeaderBytes);
  group->edge_configs.push_back(config);
  return &group->edge_configs.back();
}

}  // namespace

void SetScopes(int rows, int cols, int rank, GroupState* group) {
  group->rows = rows;
  group->cols = cols;
  group->rank = rank;
  const int row = rank / cols;
  const int col = rank % cols;
  group->scopes[static_cast<int>(ChannelKind::kPointToPoint)] = {rows * cols, rank, 0, 1};
  group->scopes[static_cast<int>(ChannelKind::kAll)] = {rows * cols, rank, 0, 1};
  group->scopes[static_cast<int>(ChannelKind::kRow)] = {cols, col, row * cols, 1};
  group->scopes[static_cast<int>(ChannelKind::kColumn)] = {rows, row, col, cols};
}

void SetEdgeConfigs(const Endpoint& endpoint, const EngineOptions& options, GroupState* group) {
  group->capabilities = &endpoint.CapabilitiesOf(group->id);
  for (Scope& scope : group->scopes) {
    // A scope all of whose ranks are on one host, or each on another, has edges of one kind.
    scope.hosts = endpoint.CountHosts(group->id, scope.first, scope.stride, scope.size);
    const int another = scope.GroupRank((scope.rank + 1) % scope.size);
    const bool one_kind = scope.hosts == 1 || scope.hosts == scope.size;
    scope.config = EdgeConfigFor(
        options, one_kind ? endpoint.CapabilitiesTo(group->id, another) : *group->capabilities,
        /*of_pairs=*/false, group);
  }
}

void PrepareForPairs(const Endpoint& endpoint, const EngineOptions& options, GroupState* group) {
  group->send_sequence.resize(group->members());
  group->receive_sequence.resize(group->members());
  std::vector<const EdgeConfig*> config_to;  // all or none: a later call may find memory
  for (size_t peer = 0; peer < group->members(); ++peer) {
    const Capabilities& has = endpoint.CapabilitiesTo(group->id, static_cast<int>(peer));
    config_to.push_back(EdgeConfigFor(options, has, /*of_pairs=*/true, group));
  }
  group->config_to = std::move(config_to);
}

}  // namespace brigade

// ScheduleCache: the schedules of a group, each compiled once.

#ifndef BRIGADE_PATTERNS_PLAN_SCHEDULE_CACHE_H_
#define BRIGADE_PATTERNS_PLAN_SCHEDULE_CACHE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/scope.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

// Returns the host of a rank of the group: a number, equal on all ranks.
using HostOfRank = std::function<int(int rank)>;

class ScheduleCache {
 public:
  // The calling rank's schedule for `call`, which is in normal form and was checked; it lives as
  // long as the cache. `scope`: of the call's channel, always the same for one kind of channel.
  const Schedule* Find(const CatalogueEntry& entry, const PatternCall& call, const Scope& scope,
                       const HostOfRank& host_of) {
    // Blocks of one rank, and blocks on a ring, wait for relay: not in another rank's memory, so
    // some ranks that share memory leave it to one of them.
    const bool circulant = call.topology.shape == Shape::kCirculant;
    const bool waits =
        scope.some_share_memory() && (call.pattern == Pattern::kBroadcast
                                          ? circulant
                                          : call.pattern == Pattern::kMultiBroadcast && !circulant);
    const bool by_host = scope.hosts > 1 && (waits || call.topology.by_host);
    const Key key = Key::Of(call, by_host);
    return FindOrCompile(key, entry, call, scope, by_host, host_of);
  }

 private:
  // Everything that a schedule depends on, packed so that comparing is cheap.
  struct Key {
    uint64_t kinds = 0;    // pattern, channel, shape, direction, by host, order of ranks
    uint64_t numbers = 0;  // parameter, root

    static Key Of(const PatternCall& call, bool by_host) {
      const bool in_rank_order = EntryOf(call.pattern).combines && IsInRankOrder(call);
      const auto bits = [](auto value) {
        return static_cast<uint64_t>(static_cast<uint32_t>(value));
      };
      return {bits(call.pattern) | bits(ChannelOf(call)) << 8 | bits(call.topology.shape) << 16 |
                  bits(call.decreasing) << 24 | bits(by_host) << 25 | bits(in_rank_order) << 26,
              bits(call.topology.parameter) | bits(call.root) << 32};
    }
    bool operator==(const Key& o) const { return kinds == o.kinds && numbers == o.numbers; }
  };
  struct Hash {
    size_t operator()(const Key& k) const {
      return static_cast<size_t>((k.numbers ^ k.kinds << 20) * 0x9E3779B97F4A7C15u >> 16);
    }
  };
  const Schedule* FindOrCompile(const Key& key, const CatalogueEntry& entry,
                                const PatternCall& call, const Scope& scope, bool by_host,
                                const HostOfRank& host_of);

  std::unordered_map<Key, std::unique_ptr<const Schedule>, Hash> schedules_;
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PLAN_SCHEDULE_CACHE_H_

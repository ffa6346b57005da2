// Exchange: each rank that is to have the result of a combine gets all contributions, and combines
// them in the order of a tree. One round of messages, and the bits of that tree. For ranks that
// share memory: there one copy serves all readers.

#ifndef BRIGADE_PATTERNS_CATALOGUE_EXCHANGE_H_
#define BRIGADE_PATTERNS_CATALOGUE_EXCHANGE_H_

#include "patterns/catalogue/compilers.h"
#include "patterns/rules.h"
#include "patterns/schedule/schedule.h"
#include "patterns/schedule/topology.h"

namespace brigade {

// Whether the ranks exchange contributions, where the topology is Shape::kExchange; if not they go
// along the tree. Not where that has more than `most_levels` below its root, for which the core has
// no slots.
bool Exchanges(const ScheduleParameters& p, int most_levels);
inline constexpr int kMostLevelsToOne = 2;
inline constexpr int kMostLevelsToAll = 1;

// REQUIRES: Exchanges().
Schedule ExchangeReduce(const ScheduleParameters& p);
Schedule ExchangeAllReduce(const ScheduleParameters& p);

// The same of a multi-reduce along a circulant graph: each sends every other its contribution to
// that one's block.
inline bool ExchangesBlocks(const Topology& topology, int size, bool shares_memory) {
  return topology.shape == Shape::kCirculant && shares_memory && size <= rules::kMostRanksOfBlocks;
}
static_assert(rules::kMostRanksOfBlocks <= 8, "the core has no slots for more partials");
// REQUIRES: ExchangesBlocks(), 1 < p.size.
Schedule ExchangeMultiReduce(const ScheduleParameters& p);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CATALOGUE_EXCHANGE_H_

// Catalogue: every pattern there is, once. The checker, the engine's tests and the benchmarks walk
// this table, so a new pattern is one compiler file and one row here.

#ifndef BRIGADE_PATTERNS_CATALOGUE_CATALOGUE_H_
#define BRIGADE_PATTERNS_CATALOGUE_CATALOGUE_H_

#include <vector>

#include "membuf/status.h"
#include "patterns/catalogue/compilers.h"
#include "patterns/schedule/pattern.h"
#include "patterns/schedule/schedule.h"

namespace brigade {

struct CatalogueEntry {
  Pattern pattern;
  const char* name;
  Schedule (*compile)(const ScheduleParameters&);
  bool rooted;
  // The last sends of a returned operation need not have reached their receivers, and its slots may
  // move on to overflow memory rather than wait: what BLACS calls locally blocking.
  bool locally_blocking;
  // Uses blocks, one per rank of the scope.
  bool multi;
  bool combines;
  // The topologies it distinguishes; empty if it has just one form.
  std::vector<Topology> topologies;
  // The schedule of zero-copy reads; null: the pattern has none.
  ReadSchedule (*compile_reads)(const ScheduleParameters&) = nullptr;
};

// Rows in the order of Pattern.
const std::vector<CatalogueEntry>& Catalogue();
const CatalogueEntry& EntryOf(Pattern pattern);

// Returns the number of blocks that steps name: those of the call, and the blocks that it sends.
inline int BlockCount(const CatalogueEntry& entry, int size) {
  if (!entry.multi) return 0;
  return entry.pattern == Pattern::kAllToAll ? 2 * size : size;
}

// kInvalidArgument if `topology` is none that `pattern` knows.
Status CheckTopology(Pattern pattern, const Topology& topology);

// Returns the topology that calls of `topology` take if contributions must be combined in the order
// of ranks: itself, if it combines in this order for that root.
Topology InRankOrder(Pattern pattern, const Topology& topology, int root);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CATALOGUE_CATALOGUE_H_

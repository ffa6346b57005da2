// ModelChoice: what the cost model says of calls of about one length, worked out once.

#ifndef BRIGADE_PATTERNS_MODEL_MODEL_CHOICE_H_
#define BRIGADE_PATTERNS_MODEL_MODEL_CHOICE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "patterns/model/candidates.h"
#include "patterns/schedule/segment_plan.h"

namespace brigade {

// Lengths are taken together in steps of a quarter of an octave, which end with powers of two:
// these are the most frequent, and what links pass at once may be one. They also end with the
// longest that a segment holds: what is longer is cut, and what is no longer need not be. The
// number of `bytes`'s class, and the longest length in it.
inline int SizeClassOf(const SegmentSettings& settings, size_t bytes) {
  int step = static_cast<int>(bytes);
  if (bytes > 4) {
    const size_t before = bytes - 1;
    const int octave = 63 - __builtin_clzll(before);
    step = octave * 4 + static_cast<int>(before >> (octave - 2) & 3);
  }
  return 2 * step + (bytes > MostPayload(settings) ? 1 : 0);
}
size_t LongestOfClass(const SegmentSettings& settings, int size_class);

struct ModelChoice {
  Topology topology;
  // Segments of so many of so many bytes; those of other lengths in proportion. 0: by the rule.
  size_t segment_bytes = 0;
  size_t of_bytes = 1;

  size_t SegmentBytes(size_t bytes) const {
    if (segment_bytes == 0) return 0;
    return std::max<size_t>((bytes * segment_bytes + of_bytes - 1) / of_bytes, 1);
  }
};

// The properties of a call that the model may choose.
enum class Latitude : uint8_t {
  kAll,       // topology and segments
  kHint,      // the same, but the named topology stays unless it is too slow
  kSegments,  // how it is cut: the topology is part of its result
};

// Returns the model's choice for `query`, whose topology is the one that the call names, or the one
// that gives the order to be kept. *reason, for people: the choice, its predicted cost, why, and,
// each on a line of its own, the alternatives that come next.
ModelChoice ChooseByModel(const MachineDescription& machine, const SegmentSettings& settings,
                          const CostQuery& query, Latitude latitude, std::string* reason);

// The same for people where nothing was measured, and a rule chose (free_topology.h).
std::string ExplainRule(const CostQuery& query);

// The same where the model knows what that costs, but does not do better: where ranks share memory.
// `fixed`: as in RankCandidates.
std::string ExplainRule(const MachineDescription& machine, const SegmentSettings& settings,
                        const CostQuery& query, bool fixed);

// Returns a candidate and its predicted cost, for people.
std::string DescribePrediction(const Candidate& candidate);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_MODEL_CHOICE_H_

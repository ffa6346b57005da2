// ModelChoice: what the cost model says of calls of about one length, worked out once.

#ifndef BRIGADE_PATTERNS_MODEL_CHOICE_H_
#define BRIGADE_PATTERNS_MODEL_CHOICE_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "patterns/choice.h"

namespace brigade {

// Lengths are taken together in steps of a quarter of an octave. The number of `bytes`'s class, and
// the longest length in it.
int SizeClassOf(size_t bytes);
size_t LongestOfClass(int size_class);

struct ModelChoice {
  Topology topology;
  int64_t pieces = 1;

  // How long the pieces of a message are.
  size_t PieceBytes(size_t bytes) const {
    const auto n = static_cast<size_t>(pieces);
    return bytes == 0 ? 1 : (bytes + n - 1) / n;
  }
};

// The first of `candidates`.
ModelChoice FirstOf(const std::vector<Candidate>& candidates);

// Two or three lines for people: what was chosen for `query`, why, and what else there was.
std::string Explain(const CostQuery& query, const std::vector<Candidate>& candidates, bool fixed);

// The same where nothing was measured, and a rule chose (free_topology.h).
std::string ExplainRule(const CostQuery& query);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_MODEL_CHOICE_H_

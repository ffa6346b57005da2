#include "patterns/model_choice.h"

#include <algorithm>
#include <cstdio>

namespace brigade {
namespace {

std::string Call(const CostQuery& query) {
  return std::string(PatternName(query.pattern)) + " of up to " + std::to_string(query.bytes) +
         " bytes on " + std::to_string(query.ranks) + " ranks: ";
}

std::string Describe(const Candidate& candidate) {
  char text[160];
  std::snprintf(text, sizeof(text), "%s in %lld piece%s, %.1f us",
                TopologyName(candidate.topology).c_str(),
                static_cast<long long>(candidate.cost.pieces),
                candidate.cost.pieces == 1 ? "" : "s", candidate.cost.us);
  return text;
}

}  // namespace

int SizeClassOf(size_t bytes) {
  if (bytes < 4) return static_cast<int>(bytes);
  int octave = 2;
  while (bytes >> (octave + 1) != 0) ++octave;
  return octave * 4 + static_cast<int>(bytes >> (octave - 2) & 3);
}

size_t LongestOfClass(int size_class) {
  if (size_class < 4) return static_cast<size_t>(size_class);
  const int octave = size_class / 4;
  const auto quarter = static_cast<size_t>(size_class % 4);
  return ((quarter + 5) << (octave - 2)) - 1;
}

ModelChoice FirstOf(const std::vector<Candidate>& candidates) {
  return {candidates.front().topology, candidates.front().cost.pieces};
}

std::string Explain(const CostQuery& query, const std::vector<Candidate>& candidates, bool fixed) {
  std::string text = Call(query) + Describe(candidates.front());
  if (fixed) return text + "; the order of a sum is part of its result, only pieces are chosen";
  for (size_t i = 1; i < std::min<size_t>(candidates.size(), 4); ++i) {
    text += std::string(i == 1 ? "; slower by the model: " : ", ") + Describe(candidates[i]);
  }
  return text;
}

std::string ExplainRule(const CostQuery& query) {
  return Call(query) + TopologyName(query.topology) +
         ", by rule: the edges were not measured (they are where a group is on several hosts)";
}

}  // namespace brigade

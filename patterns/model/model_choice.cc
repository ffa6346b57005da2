#include "patterns/model/model_choice.h"

#include <algorithm>
#include <cstdio>

#include "membuf/rules.h"
#include "patterns/schedule/piece_plan.h"

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

// Steps of a quarter of an octave.
int StepOf(size_t bytes) {
  if (bytes <= 4) return static_cast<int>(bytes);
  const size_t before = bytes - 1;
  int octave = 2;
  while (before >> (octave + 1) != 0) ++octave;
  return octave * 4 + static_cast<int>(before >> (octave - 2) & 3);
}

size_t LongestOfStep(int step) {
  if (step <= 4) return static_cast<size_t>(step);
  const int octave = step / 4;
  const auto quarter = static_cast<size_t>(step % 4);
  return (quarter + 5) << (octave - 2);
}

}  // namespace

int SizeClassOf(const PieceSettings& settings, size_t bytes) {
  return 2 * StepOf(bytes) + (bytes > MostPayload(settings) ? 1 : 0);
}

size_t LongestOfClass(const PieceSettings& settings, int size_class) {
  const size_t longest = LongestOfStep(size_class / 2);
  return size_class % 2 == 1 ? longest : std::min(longest, MostPayload(settings));
}

ModelChoice ChooseByModel(const MachineDescription& machine, const PieceSettings& settings,
                          const CostQuery& query, Latitude latitude, std::string* reason) {
  const auto chosen = [&](const Candidate& candidate, const std::string& because) {
    *reason = Call(query) + Describe(candidate) + because;
    return ModelChoice{candidate.topology, candidate.piece_bytes, std::max<size_t>(query.bytes, 1)};
  };
  if (latitude == Latitude::kPieces) {
    return chosen(RankCandidates(machine, settings, query, /*fixed=*/true).front(),
                  "; the order of a sum is part of its result, only pieces are chosen");
  }
  const std::vector<Candidate> candidates =
      RankCandidates(machine, settings, query, /*fixed=*/false);
  if (latitude == Latitude::kHint) {
    const Candidate named = RankCandidates(machine, settings, query, /*fixed=*/true).front();
    if (named.cost.us <= rules::kTooSlow * candidates.front().cost.us) {
      return chosen(named,
                    ", as asked for; by the model the best is " + Describe(candidates.front()));
    }
    return chosen(candidates.front(),
                  "; asked for was " + Describe(named) + ", by the model too slow to keep");
  }
  std::string others;
  for (size_t i = 1; i < std::min<size_t>(candidates.size(), 4); ++i) {
    others += (i == 1 ? "; slower by the model: " : ", ") + Describe(candidates[i]);
  }
  return chosen(candidates.front(), others);
}

std::string ExplainRule(const CostQuery& query) {
  return Call(query) + TopologyName(query.topology) +
         ", by rule: the edges were not measured (they are where a group is on several hosts)";
}

std::string ExplainRule(const MachineDescription& machine, const PieceSettings& settings,
                        const CostQuery& query, bool fixed) {
  CostQuery by_rule = query;
  by_rule.piece_bytes = 0;
  const Candidate ruled{query.topology, 0, PredictCost(machine, settings, by_rule)};
  const Candidate first = RankCandidates(machine, settings, query, fixed).front();
  return Call(query) + Describe(ruled) + " by the model, whose first is " + Describe(first) +
         "; the rule decides where ranks share memory" +
         (fixed ? ", and the order of a sum is part of its result" : "");
}

}  // namespace brigade

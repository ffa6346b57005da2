#include "patterns/model/model_choice.h"

#include <algorithm>
#include <cstdio>
#include <vector>

#include "patterns/rules.h"
#include "patterns/schedule/segment_plan.h"

namespace brigade {
namespace {

// A line of the table of alternatives.
std::string Row(const Candidate& candidate) {
  char text[160];
  std::snprintf(text, sizeof(text), "\n  %12.1f us  %s", candidate.cost.us,
                DescribeCandidate(candidate).c_str());
  return text;
}

size_t LongestOfStep(int step) {
  if (step <= 4) return static_cast<size_t>(step);
  const int octave = step / 4;
  const auto quarter = static_cast<size_t>(step % 4);
  return (quarter + 5) << (octave - 2);
}

}  // namespace

size_t LongestOfClass(const SegmentSettings& settings, int size_class) {
  const size_t longest = LongestOfStep(size_class / 2);
  return size_class % 2 == 1 ? longest : std::min(longest, MostPayload(settings));
}

std::string DescribePrediction(const Candidate& candidate) {
  char text[160];
  std::snprintf(text, sizeof(text), "%s, predicted %.1f us", DescribeCandidate(candidate).c_str(),
                candidate.cost.us);
  return text;
}

ModelChoice ChooseByModel(const MachineDescription& machine, const SegmentSettings& settings,
                          const CostQuery& query, Latitude latitude, std::string* reason) {
  const auto chosen = [&](const Candidate& candidate, const std::string& because) {
    *reason = DescribePrediction(candidate) + ". " + because;
    return ModelChoice{candidate.topology, candidate.segment_bytes,
                       std::max<size_t>(query.bytes, 1)};
  };
  if (latitude == Latitude::kSegments) {
    return chosen(
        RankCandidates(machine, settings, query, /*fixed=*/true).front(),
        "The model has chosen the segments only: the topology gives a sum its order, which "
        "is part of the result");
  }
  const std::vector<Candidate> candidates =
      RankCandidates(machine, settings, query, /*fixed=*/false);
  const Candidate& first = candidates.front();
  if (latitude == Latitude::kHint) {
    const Candidate named = RankCandidates(machine, settings, query, /*fixed=*/true).front();
    if (named.cost.us <= rules::kTooSlow * first.cost.us) {
      return chosen(named, "The program has named this topology. The model would choose " +
                               DescribePrediction(first));
    }
    return chosen(first,
                  "The model has chosen this instead of the topology that the program has "
                  "named, which is too slow: " +
                      DescribePrediction(named));
  }
  std::string because = "Chosen by the model";
  if (candidates.size() > 1) because += ". Alternatives:";
  for (size_t i = 1; i < std::min<size_t>(candidates.size(), 4); ++i) because += Row(candidates[i]);
  return chosen(first, because);
}

std::string ExplainRule(const CostQuery& query) {
  return TopologyName(query.topology) +
         ". Chosen by rule: the cost of messages was not measured (it is measured for groups on "
         "several hosts)";
}

std::string ExplainRule(const MachineDescription& machine, const SegmentSettings& settings,
                        const CostQuery& query, bool fixed) {
  CostQuery by_rule = query;
  by_rule.segment_bytes = 0;
  const Candidate ruled{query.topology, 0, PredictCost(machine, settings, by_rule)};
  const Candidate first = RankCandidates(machine, settings, query, fixed).front();
  std::string text = DescribePrediction(ruled) + ". Chosen by the rule for ranks that share memory";
  if (fixed) text += "; the topology gives a sum its order, which is part of the result";
  text += ". The model would choose ";
  if (first.topology == ruled.topology && first.cost.segments == ruled.cost.segments) {
    return text + "the same";
  }
  text += DescribePrediction(first);
  // RankCandidates takes a steadier candidate that is slower by little.
  if (first.cost.us > ruled.cost.us) text += ": about as fast, and in fewer or steadier messages";
  return text;
}

}  // namespace brigade

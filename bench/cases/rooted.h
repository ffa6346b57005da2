// Broadcasts and reductions: all ways of all contenders, and the cases made of them.

#ifndef BRIGADE_BENCH_CASES_ROOTED_H_
#define BRIGADE_BENCH_CASES_ROOTED_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/cases/spread_data.h"

namespace brigade::bench {

// One way to broadcast, or to reduce, a panel from or to a root.
struct RootedPattern {
  std::string name;
  std::string pattern;
  std::function<Status(int root, const PanelView&, OperationStatistics*)> run;
  bool tells_cost = false;
};

std::vector<RootedPattern> Broadcasts(const Contenders& all);
std::vector<RootedPattern> Reductions(const Contenders& all);

// Every rank the root of its block, one after the other.
Operation FromEveryRoot(const RootedPattern& pattern, const SpreadData& data);

void MeasureBroadcast(const Contenders& all, const PanelShape& shape);
void MeasureReduce(const Contenders& all, const PanelShape& shape);
void MeasureAllReduce(const Contenders& all, const PanelShape& shape);

// Q broadcasts, one after the other, from roots in order: those along increasing rings follow each
// other without a bubble.
void MeasureSuccessiveBroadcasts(const Contenders& all, const PanelShape& shape);

constexpr const char* kSmallBroadcast = "small-broadcast";

// The broadcast of one column of few elements, where the engine's own work would show.
void MeasureSmallBroadcast(const Contenders& all, int64_t elements);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_ROOTED_H_

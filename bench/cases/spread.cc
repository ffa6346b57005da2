#include "bench/cases/spread.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bench/cases/barrier_case.h"
#include "bench/cases/blocks.h"
#include "bench/cases/multi.h"
#include "bench/cases/rooted.h"
#include "bench/cases/spread_data.h"

namespace brigade::bench {
namespace {

// ScaLAPACK's panels lie in larger local matrices: columns are never adjacent.
constexpr int64_t kGapElements = 8;

constexpr int64_t kSmallElements[] = {1, 8, 64, 512, 2048};

struct SpreadCase {
  const char* name;
  const char* title;
  void (*measure)(const Contenders& all, const PanelShape& shape);
};

constexpr SpreadCase kSpreadCases[] = {
    {"multi-broadcast", "Multi-broadcast: every rank's block to all", MeasureMultiBroadcast},
    {"multi-reduce", "Multi-reduce: block q summed at rank q", MeasureMultiReduce},
    {"broadcast", "Broadcast from one rank", MeasureBroadcast},
    {"reduce", "Reduction to one rank", MeasureReduce},
    {"all-reduce", "Reduction to all ranks", MeasureAllReduce},
    {"gather", "Gather: every rank's block to one rank", MeasureGather},
    {"scatter", "Scatter: a block of one rank to every rank", MeasureScatter},
    {"all-to-all", "All-to-all: a block from every rank to every rank", MeasureAllToAll},
    {"scan", "Prefix sum", MeasureScan},
    {"exscan", "Prefix sum of the ranks before", MeasureExscan},
    {"successive-broadcasts", "Broadcasts from every rank in turn", MeasureSuccessiveBroadcasts},
};

// Returns the shapes to measure, with their names.
std::vector<std::pair<std::string, PanelShape>> ShapesOf(const Options& options, int ranks) {
  std::vector<std::pair<std::string, PanelShape>> shapes;
  if (options.contiguous_bytes.empty()) {
    for (const SpreadSize& size : options.sizes) {
      const int64_t cols = size.cols * (size.cols_per_rank ? ranks : 1);
      shapes.push_back({size.text, {size.rows, cols, kGapElements}});
    }
  }
  for (const size_t bytes : options.contiguous_bytes) {
    const auto rows = static_cast<int64_t>(bytes / sizeof(double)) / ranks;
    shapes.push_back({std::to_string(bytes) + " bytes", {std::max<int64_t>(rows, 1), ranks, 0}});
  }
  return shapes;
}

}  // namespace

void RunSpread(Session* session) {
  const Options& options = session->options();
  Contenders all(session);
  AbortUnlessOk(BrigadeGroup::Create(session->comm(), options, &all.brigade));
  if (options.HasPeer("plain")) all.plain = std::make_unique<PlainPatterns>(session->comm());
  if (options.HasPeer("mpi")) all.mpi = std::make_unique<MpiPeer>(session->comm());

  const auto wanted = [&](const char* name) {
    return std::find(options.cases.begin(), options.cases.end(), name) != options.cases.end();
  };
  const std::vector<std::pair<std::string, PanelShape>> shapes =
      ShapesOf(options, session->ranks());
  for (const SpreadCase& spread_case : kSpreadCases) {
    if (!wanted(spread_case.name)) continue;
    for (const auto& [text, shape] : shapes) {
      session->StartTable(std::string(spread_case.title) + ", " + text);
      spread_case.measure(all, shape);
    }
  }
  if (wanted(kBarrier)) {
    session->StartTable("Barrier");
    MeasureBarrier(all);
  }
  if (!wanted(kSmallBroadcast)) return;
  session->StartTable("Small broadcast from one rank");
  for (int64_t elements : kSmallElements) {
    MeasureSmallBroadcast(all, elements);
  }
}

}  // namespace brigade::bench

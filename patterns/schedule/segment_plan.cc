#include "patterns/schedule/segment_plan.h"

#include <algorithm>
#include <cmath>

#include "patterns/rules.h"
#include "patterns/schedule/schedule.h"

namespace brigade {
namespace {

// Of the schedule that needs most of them (segment_plan_test looks).
constexpr int kMostSlots = 3 * kMinSlots;

size_t PayloadOf(const SegmentSettings& settings, int chunks) {
  return static_cast<size_t>(chunks) * settings.chunk_bytes - kHeaderRoom;
}

}  // namespace

int CoreChunks(const SegmentSettings& settings) { return kMostSlots * settings.most_chunks; }

SegmentSettings SegmentSettingsFor(size_t chunk_bytes, size_t staging_bytes,
                                   size_t preferred_segment_bytes) {
  SegmentSettings settings;
  settings.chunk_bytes = chunk_bytes;
  const int chunks = static_cast<int>(staging_bytes / std::max<size_t>(chunk_bytes, 1));
  while (static_cast<size_t>(settings.most_chunks + 1) * chunk_bytes <= preferred_segment_bytes) {
    SegmentSettings larger = settings;
    ++larger.most_chunks;
    if (2 * CoreChunks(larger) > chunks) break;
    settings = larger;
  }
  // One slot then takes as much as the two that others have at least.
  settings.pair_chunks = settings.most_chunks;
  const auto preferred_chunks = static_cast<int>(preferred_segment_bytes / chunk_bytes);
  if (2 * CoreChunks(settings) <= chunks && preferred_chunks > settings.most_chunks) {
    settings.pair_chunks = std::min(preferred_chunks, kMinSlots * settings.most_chunks);
  }
  return settings;
}

SegmentSettings OfPairs(SegmentSettings settings) {
  settings.most_chunks = settings.pair_chunks;
  return settings;
}

SegmentPlan PlanSegments(const SegmentSettings& settings, size_t total_bytes, size_t elem_bytes,
                         size_t wire_bytes, int ranks, size_t wanted_bytes) {
  const size_t wire_total = total_bytes / elem_bytes * wire_bytes;
  int chunks = settings.most_chunks;
  if (ranks > 1) {
    const size_t share = wire_total / rules::kLeastSegments;
    chunks = static_cast<int>(std::min<size_t>(chunks, share / settings.chunk_bytes + 1));
  }
  SegmentPlan plan;
  plan.total_bytes = total_bytes;
  size_t payload_bytes = PayloadOf(settings, chunks);
  if (settings.segment_cost_bytes > 0 && ranks > 1) {
    // n segments of T/n bytes through r relays take T + n cost + r T/n.
    const double total = static_cast<double>(wire_total);
    const double cost = static_cast<double>(settings.segment_cost_bytes);
    const double best = std::sqrt(total * cost / std::max(ranks - 2, 1));
    const double segments = std::round(total / std::max(best, rules::kLeastSegmentInCosts * cost));
    const double even = std::ceil(total / std::max(segments, 1.0));
    payload_bytes = std::min(PayloadOf(settings, settings.most_chunks),
                             static_cast<size_t>(even) + wire_bytes - 1);
  }
  if (wanted_bytes > 0) payload_bytes = std::min(MostPayload(settings), wanted_bytes);
  const size_t elems = std::max<size_t>(payload_bytes / wire_bytes, 1);
  plan.segment_bytes = elems * elem_bytes;
  return plan;
}

SegmentPlan PlanMessage(const SegmentSettings& settings, size_t total_bytes) {
  SegmentPlan plan = PlanSegments(settings, total_bytes, 1, 1, /*ranks=*/1);
  const size_t write_unit_bytes = settings.write_unit_bytes;
  if (write_unit_bytes > 0 && plan.segment_bytes >= 2 * write_unit_bytes) {
    plan.segment_bytes -= plan.segment_bytes % write_unit_bytes;
  }
  if (settings.overlap_bytes > 0) {
    const size_t share =
        (total_bytes + rules::kOverlappingSegments - 1) / rules::kOverlappingSegments;
    plan.segment_bytes = std::min(plan.segment_bytes, std::max(settings.overlap_bytes, share));
  }
  plan.header_ahead = total_bytes > settings.eager_bytes;
  if (plan.header_ahead) {
    // The second segment shall be one that waits until its receiver has a place for it.
    const size_t rest_bytes = settings.eager_bytes + kHeaderBytes + 1;
    plan.ahead_bytes = std::min({settings.ahead_bytes, plan.segment_bytes,
                                 total_bytes - std::min(total_bytes, rest_bytes)});
    plan.ahead_bytes -= plan.ahead_bytes % kHeaderRoom;  // so that the rest starts on a cache line
  }
  return plan;
}

size_t MostPayload(const SegmentSettings& settings) {
  return PayloadOf(settings, settings.most_chunks);
}

int ChunksFor(const SegmentSettings& settings, size_t payload_bytes) {
  return static_cast<int>((payload_bytes + kHeaderRoom + settings.chunk_bytes - 1) /
                          settings.chunk_bytes);
}

}  // namespace brigade

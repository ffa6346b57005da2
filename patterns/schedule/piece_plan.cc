#include "patterns/schedule/piece_plan.h"

#include <algorithm>
#include <cmath>

#include "patterns/rules.h"
#include "patterns/schedule/schedule.h"

namespace brigade {
namespace {

// Of the schedule that needs most of them (piece_plan_test looks).
constexpr int kMostSlots = 3 * kMinSlots;

size_t PayloadOf(const PieceSettings& settings, int chunks) {
  return static_cast<size_t>(chunks) * settings.chunk_bytes - kHeaderRoom;
}

}  // namespace

int CoreChunks(const PieceSettings& settings) { return kMostSlots * settings.most_chunks; }

PieceSettings PieceSettingsFor(size_t chunk_bytes, size_t staging_bytes,
                               size_t preferred_piece_bytes) {
  PieceSettings settings;
  settings.chunk_bytes = chunk_bytes;
  const int chunks = static_cast<int>(staging_bytes / std::max<size_t>(chunk_bytes, 1));
  while (static_cast<size_t>(settings.most_chunks + 1) * chunk_bytes <= preferred_piece_bytes) {
    PieceSettings larger = settings;
    ++larger.most_chunks;
    if (2 * CoreChunks(larger) > chunks) break;
    settings = larger;
  }
  // One slot then takes as much as the two that others have at least.
  settings.pair_chunks = settings.most_chunks;
  const auto preferred_chunks = static_cast<int>(preferred_piece_bytes / chunk_bytes);
  if (2 * CoreChunks(settings) <= chunks && preferred_chunks > settings.most_chunks) {
    settings.pair_chunks = std::min(preferred_chunks, kMinSlots * settings.most_chunks);
  }
  return settings;
}

PieceSettings OfPairs(PieceSettings settings) {
  settings.most_chunks = settings.pair_chunks;
  return settings;
}

PiecePlan PlanPieces(const PieceSettings& settings, size_t total_bytes, size_t elem_bytes,
                     size_t wire_bytes, int ranks, size_t wanted_bytes) {
  const size_t wire_total = total_bytes / elem_bytes * wire_bytes;
  int chunks = settings.most_chunks;
  if (ranks > 1) {
    const size_t share = wire_total / rules::kLeastPieces;
    chunks = static_cast<int>(std::min<size_t>(chunks, share / settings.chunk_bytes + 1));
  }
  PiecePlan plan;
  plan.total_bytes = total_bytes;
  size_t payload_bytes = PayloadOf(settings, chunks);
  if (settings.piece_cost_bytes > 0 && ranks > 1) {
    // n pieces of T/n bytes through r relays take T + n cost + r T/n.
    const double total = static_cast<double>(wire_total);
    const double cost = static_cast<double>(settings.piece_cost_bytes);
    const double best = std::sqrt(total * cost / std::max(ranks - 2, 1));
    const double pieces = std::round(total / std::max(best, rules::kLeastPieceInCosts * cost));
    const double even = std::ceil(total / std::max(pieces, 1.0));
    payload_bytes = std::min(PayloadOf(settings, settings.most_chunks),
                             static_cast<size_t>(even) + wire_bytes - 1);
  }
  if (wanted_bytes > 0) payload_bytes = std::min(MostPayload(settings), wanted_bytes);
  const size_t elems = std::max<size_t>(payload_bytes / wire_bytes, 1);
  plan.piece_bytes = elems * elem_bytes;
  return plan;
}

PiecePlan PlanMessage(const PieceSettings& settings, size_t total_bytes) {
  PiecePlan plan = PlanPieces(settings, total_bytes, 1, 1, /*ranks=*/1);
  const size_t segment_bytes = settings.segment_bytes;
  if (segment_bytes > 0 && plan.piece_bytes >= 2 * segment_bytes) {
    plan.piece_bytes -= plan.piece_bytes % segment_bytes;
  }
  if (settings.overlap_bytes > 0) {
    const size_t share = (total_bytes + rules::kOverlappingPieces - 1) / rules::kOverlappingPieces;
    plan.piece_bytes = std::min(plan.piece_bytes, std::max(settings.overlap_bytes, share));
  }
  plan.header_ahead = total_bytes > settings.eager_bytes;
  if (plan.header_ahead) {
    // The second piece shall be one that waits until its receiver has a place for it.
    const size_t rest_bytes = settings.eager_bytes + kHeaderBytes + 1;
    plan.ahead_bytes = std::min(
        {settings.ahead_bytes, plan.piece_bytes, total_bytes - std::min(total_bytes, rest_bytes)});
    plan.ahead_bytes -= plan.ahead_bytes % kHeaderRoom;  // so that the rest starts on a cache line
  }
  return plan;
}

size_t MostPayload(const PieceSettings& settings) {
  return PayloadOf(settings, settings.most_chunks);
}

int ChunksFor(const PieceSettings& settings, size_t payload_bytes) {
  return static_cast<int>((payload_bytes + kHeaderRoom + settings.chunk_bytes - 1) /
                          settings.chunk_bytes);
}

}  // namespace brigade

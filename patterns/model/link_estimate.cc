#include "patterns/model/link_estimate.h"

#include <algorithm>

#include "patterns/rules.h"
#include "patterns/schedule/segment_plan.h"

namespace brigade {
namespace {

constexpr double kLongerBy = kLongerProbeBytes - kLongProbeBytes;

// On a busy machine the longer message may arrive before the long one.
double LongerByUs(const EdgeTimes& times) {
  return times.longer_us > times.long_us ? times.longer_us - times.long_us
                                         : times.longer_us * kLongerBy / kLongerProbeBytes;
}

}  // namespace

bool IsSensible(const EdgeTimes& times) {
  return times.hop_us > 0 && times.long_us > 0 && times.longer_us > 0;
}

Link LinkFrom(const EdgeTimes& times, const EdgeKind& kind) {
  Link link;
  const double long_us = LongerByUs(times);
  const double works_us = kLongerBy * times.processor_byte_us * kind.ranks_per_processor;
  const double most_work_us =
      kLongerBy * rules::kMostCopiesPerByte * kind.copy_byte_us * kind.ranks_per_processor;
  const bool busy = works_us >= rules::kBusyShare * long_us;
  const bool waits_for_link = !kind.within_host && !(busy && long_us < most_work_us);
  // In shared memory all work on bytes is copies, which the model has apart. The processor clock of
  // a rank that waits for a link includes the wait if the rank does not yield, or no other rank
  // shares its processor. Then work after the call delays no rank.
  double byte_us = times.processor_byte_us;
  if (waits_for_link && (busy || kind.ranks_per_processor == 1)) byte_us = times.call_byte_us;
  if (kind.shares_memory) byte_us = 0;
  link.mb_s = kLongerBy / long_us * (waits_for_link ? 1 : rules::kFasterThanProcessors);
  // The processor time of one segment on one rank; half of a hop if no rank forwarded segments.
  const double segment_us =
      times.segment_us / kind.ranks_per_processor - kSegmentProbeBytes * byte_us;
  const double message_us = segment_us > 0 ? std::min(segment_us, times.hop_us) : times.hop_us / 2;
  link.send_overhead.message_us = link.receive_overhead.message_us = message_us / 2;
  if (byte_us > 0) link.send_overhead.mb_s = link.receive_overhead.mb_s = 2 / byte_us;
  link.latency_us =
      std::max(0.0, times.hop_us - message_us - (kShortProbeBytes + kHeaderBytes) / link.mb_s);
  // The time that a long message gains over its bytes at that rate: a token bucket, unless it is
  // noise.
  const double ahead_us = kLongProbeBytes / link.mb_s + times.hop_us - times.long_us;
  if (waits_for_link && ahead_us > times.hop_us / 2) {
    link.burst_bytes = std::min(kLongProbeBytes, static_cast<size_t>(ahead_us * link.mb_s));
  }
  link.eager_bytes = kind.eager_bytes;
  link.grant_us = link.latency_us + link.receive_overhead.message_us;
  return link;
}

double StagedByteUs(const EdgeTimes& times, double ranks_per_processor) {
  return LongerByUs(times) / (kLongerBy * 2 * ranks_per_processor);
}

Link SharedMemoryLink(const EdgeTimes& times, int ranks, double ranks_per_processor) {
  Link link;
  // A rank copies each segment once, but of two ranks each only sends or only receives it.
  const double part = ranks == 2 ? 2 : 1;
  const double segment_us = times.segment_us / ranks_per_processor -
                            kSegmentProbeBytes * StagedByteUs(times, ranks_per_processor);
  const double message_us = std::min(std::max(part * segment_us, 0.0), times.hop_us);
  link.send_overhead.message_us = link.receive_overhead.message_us = message_us / 2;
  link.latency_us = times.hop_us - message_us;
  link.grant_us = link.latency_us + link.receive_overhead.message_us;
  return link;
}

}  // namespace brigade

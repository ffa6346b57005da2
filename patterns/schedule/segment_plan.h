// SegmentPlan: how a message is cut into segments. A pure function of values that all ranks of an
// operation share, so that all cut alike; of a point-to-point message the sender's plan rules and
// travels in its header.

#ifndef BRIGADE_PATTERNS_SCHEDULE_SEGMENT_PLAN_H_
#define BRIGADE_PATTERNS_SCHEDULE_SEGMENT_PLAN_H_

#include <cstddef>
#include <cstdint>

namespace brigade {

// In front of the first segment of every message; see wire_header.h.
inline constexpr size_t kHeaderBytes = 32;
// Kept for it at the start of every chunk, so that payloads start on a cache line.
inline constexpr size_t kHeaderRoom = 64;
// No chunk is shorter. It has room for 60 elements of any type: what a rank of 120 sends at once
// along a circulant graph if each block is one of them (FreeTopology).
inline constexpr size_t kLeastChunkBytes = 1024;

// Bytes here are packed bytes of user memory. On the wire an element may be followed by its
// location.
struct SegmentPlan {
  size_t begin = 0;  // of the matrix: where a share of it begins
  size_t total_bytes = 0;
  size_t segment_bytes = 0;  // of every segment but the last
  // The header goes ahead, with so many bytes of the message, in a segment more.
  bool header_ahead = false;
  size_t ahead_bytes = 0;

  struct Range {
    size_t offset;
    size_t bytes;
  };
  // REQUIRES: segment < Count(...).
  Range RangeOf(int64_t segment) const {
    if (header_ahead && segment-- == 0) return {0, ahead_bytes};
    const size_t offset = ahead_bytes + static_cast<size_t>(segment) * segment_bytes;
    const size_t left = total_bytes - offset;
    return {begin + offset, left < segment_bytes ? left : segment_bytes};
  }
  // But for a header that goes ahead alone.
  bool IsOneSegment() const { return total_bytes <= segment_bytes && ahead_bytes == 0; }
  // An empty message still is one segment.
  int64_t Count() const {
    if (total_bytes == 0) return 1;
    return static_cast<int64_t>((total_bytes - ahead_bytes + segment_bytes - 1) / segment_bytes) +
           header_ahead;
  }
};

// The ranks of a group agreed on these settings when it was made.
struct SegmentSettings {
  size_t chunk_bytes = 0;
  int most_chunks = 1;  // adjacent chunks that one segment may take
  // The same for point-to-point messages, whose schedules can do with one slot.
  int pair_chunks = 1;
  // The longest point-to-point message that travels with its header (of the transport, equal on all
  // ranks).
  size_t eager_bytes = SIZE_MAX;
  // The most that goes with the header of a longer one (of the transport, equal on all ranks).
  size_t ahead_bytes = 0;
  // Segments of point-to-point messages that are twice as long hold a multiple of it (of the
  // transport).
  size_t write_unit_bytes = 0;
  // Messages of more than this are cut into segments of at least this, so that sender and receiver
  // copy at the same time; 0: they are not (of the transport).
  size_t overlap_bytes = 0;
  // The cost of a segment where links are slow, as the bytes that a link moves meanwhile; 0: links
  // are not slow (of the transport).
  size_t segment_cost_bytes = 0;
};

// The settings that a pool of `staging_bytes` allows over a transport that prefers segments of
// `preferred_segment_bytes`: as many chunks per segment as the transport likes, while the core of
// every schedule takes no more than half of the pool.
SegmentSettings SegmentSettingsFor(size_t chunk_bytes, size_t staging_bytes,
                                   size_t preferred_segment_bytes);

// The settings of the same group for point-to-point messages.
SegmentSettings OfPairs(SegmentSettings settings);

// Chunks the core needs so that every schedule of the catalogue can run with segments of
// `most_chunks`.
int CoreChunks(const SegmentSettings& settings);

// `elem_bytes` and `wire_bytes`: of one element, in user memory and on the wire. Segments hold
// whole elements. Long messages get the largest segment, unless ranks relay: of `ranks` in a row,
// all but the first and the last may. Each segment then has a cost, and each relay adds the time of
// a segment: over slow links segments are as long as makes the sum least. `wanted_bytes`, if not 0,
// is what segments get instead, on the wire, as far as they can hold it.
SegmentPlan PlanSegments(const SegmentSettings& settings, size_t total_bytes, size_t elem_bytes,
                         size_t wire_bytes, int ranks, size_t wanted_bytes = 0);

// The plan of a point-to-point message, a function of its length and the settings (OfPairs) alone.
SegmentPlan PlanMessage(const SegmentSettings& settings, size_t total_bytes);

// The longest payload of any segment.
size_t MostPayload(const SegmentSettings& settings);

// Chunks that a segment of `payload_bytes` on the wire takes, header included.
int ChunksFor(const SegmentSettings& settings, size_t payload_bytes);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_SCHEDULE_SEGMENT_PLAN_H_

// WireHeader: the header of the first segment of every message. Later segments are bare data.
//
// It describes the sender's call, so that ranks whose calls differ detect it at once, with the
// names of both calls. It is forwarded with the segment, so it does not name its sender.

#ifndef BRIGADE_PATTERNS_ENGINE_WIRE_HEADER_H_
#define BRIGADE_PATTERNS_ENGINE_WIRE_HEADER_H_

#include <cstddef>
#include <cstdint>

#include "membuf/status.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/scope.h"
#include "patterns/schedule/segment_plan.h"

namespace brigade {

struct WireHeader {
  // The flags in `shape`, behind the shape itself.
  enum ShapeFlag { kEqualBlocks = 1 << 5, kByHost = 1 << 6, kDecreasing = 1 << 7 };
  // The places in `arithmetic` of the operation, the type, locations behind the values, and the
  // order of ranks.
  enum ArithmeticShift {
    kOpShift = 1,
    kTypeShift = 5,
    kLocationsShift = 9,
    kInRankOrderShift = 10
  };
  static_assert(kCallOps <= 16 && kCallElements <= 16, "four bits each");

  uint16_t magic = 0x4247;  // "GB"; the wire format's version is compared when a group is made
  uint8_t pattern = 0;      // kSend for both halves of a point-to-point message
  uint8_t shape = 0;        // the shape, and ShapeFlag
  uint16_t arithmetic = 0;  // 0, or bit 0 and the fields of ArithmeticShift
  uint16_t lengths = 0;     // of the blocks, if there are several in the message, or of all
                            // blocks of a gather or scatter: a digest
  int32_t parameter = 0;
  int32_t root = 0;
  int32_t block = -1;
  uint32_t sequence =
      0;  // of the operation on its channel (point to point: of the pair), modulo 2^32
  uint64_t total_bytes : 48;    // of the message, in user memory
  uint64_t element_bytes : 16;  // of a user operation; 0: the operation is another one

  WireHeader() : total_bytes(0), element_bytes(0) {}
};
// The longest collective call, and element of a user operation, that a header can describe. A
// point-to-point message is shorter, since no process has so much memory.
inline constexpr size_t kMostTotalBytes = (size_t{1} << 48) - 1;
inline constexpr size_t kMostUserElementBytes = UINT16_MAX;
static_assert(sizeof(WireHeader) == kHeaderBytes, "the header's size is part of the wire format");

// Writes this rank's call to `*header`, which is newly made.
void SetHeader(const CatalogueEntry& entry, const PatternCall& call, uint64_t sequence,
               size_t total_bytes, WireHeader* header);

// Returns a digest of the lengths of all blocks of a gather or scatter, which its ranks agree on; 0
// for other patterns. `ranks`: of the call's scope.
uint16_t DigestOfBlocks(const PatternCall& call, int ranks);

// Returns the number in headers of the message of the steps' block `block`. The receiver of
// a sent block calls it by the rank of its sender.
inline int32_t BlockInHeader(int block, const Scope& scope) {
  return block < scope.size ? block : scope.rank;
}

Status DifferInLength(size_t announced_bytes, size_t bytes);
// kMismatch if a message, or a segment of one, is not as long as announced.
inline Status CheckLength(size_t announced_bytes, size_t bytes) {
  return bytes == announced_bytes ? Status() : DifferInLength(announced_bytes, bytes);
}

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_ENGINE_WIRE_HEADER_H_

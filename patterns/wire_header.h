// WireHeader: what stands in front of the first piece of every message. Later pieces are bare data.
//
// It says what the sender thinks it is doing, so that ranks that disagree find out at once and by
// name. It is forwarded with the piece, hence says nothing about who sent it.

#ifndef BRIGADE_PATTERNS_WIRE_HEADER_H_
#define BRIGADE_PATTERNS_WIRE_HEADER_H_

#include <cstdint>
#include <string>

#include "membuf/status.h"
#include "patterns/pattern_call.h"
#include "patterns/piece_plan.h"

namespace brigade {

struct WireHeader {
  uint32_t magic = 0x31475242;  // "BRG1"
  uint8_t pattern = 0;          // kSend for both halves of a point-to-point message
  uint8_t op = 0;
  uint8_t type = 0;
  uint8_t flags = 0;  // bit 0: locations follow the values; bit 1: decreasing
  uint8_t shape = 0;
  uint8_t unused[3] = {0, 0, 0};
  int32_t parameter = 0;
  int32_t root = 0;
  int32_t portion = -1;
  uint64_t sequence = 0;     // of the operation on its channel; point to point: of the pair
  uint64_t total_bytes = 0;  // of the message, in user memory
  uint64_t piece_bytes = 0;
  uint64_t unused_tail[2] = {0, 0};
};
static_assert(sizeof(WireHeader) == kHeaderBytes, "the header's size is part of the wire format");

// The first difference that makes the two calls incompatible, as "ours here, theirs there"; OK if
// there is none. Point-to-point receives accept any total up to their own.
Status CompareHeaders(const WireHeader& ours, const WireHeader& theirs);

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_WIRE_HEADER_H_

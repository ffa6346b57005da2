#include "patterns/engine/wire_header.h"

#include <string>

namespace brigade {

void SetHeader(const CatalogueEntry& entry, const PatternCall& call, uint64_t sequence,
               size_t total_bytes, WireHeader* header) {
  const bool pair = IsPair(entry.pattern);
  header->pattern = static_cast<uint8_t>(pair ? Pattern::kSend : entry.pattern);
  header->sequence = static_cast<uint32_t>(sequence);
  header->total_bytes = total_bytes;
  if (pair) return;
  if (entry.combines) {
    header->arithmetic =
        static_cast<uint16_t>(1 | static_cast<int>(call.op) << WireHeader::kOpShift |
                              static_cast<int>(call.type) << WireHeader::kTypeShift |
                              (call.locations != nullptr ? 1 << WireHeader::kLocationsShift : 0) |
                              (IsInRankOrder(call) ? 1 << WireHeader::kInRankOrderShift : 0));
    if (call.op == CombineOp::kUser) {
      header->element_bytes = static_cast<uint16_t>(ElementBytes(call));
    }
  }
  const bool equal_blocks = entry.pattern == Pattern::kAllToAll && call.equal_blocks;
  header->shape = static_cast<uint8_t>(static_cast<int>(call.topology.shape) |
                                       (equal_blocks ? WireHeader::kEqualBlocks : 0) |
                                       (call.topology.by_host ? WireHeader::kByHost : 0) |
                                       (call.decreasing ? WireHeader::kDecreasing : 0));
  header->parameter = call.topology.parameter;
  header->root = entry.rooted ? call.root : 0;
}

uint16_t DigestOfBlocks(const PatternCall& call, int ranks) {
  if (!IsRootedBlocks(call.pattern)) return 0;
  uint64_t digest = 0;
  for (int q = 0; q < ranks; ++q) {
    digest = (digest + call.blocks[q].layout.bytes() + 1) * 0x9e3779b97f4a7c15;
  }
  return static_cast<uint16_t>(digest >> 48);
}

Status DifferInLength(size_t announced_bytes, size_t bytes) {
  return Status(StatusCode::kMismatch, "a segment of " + std::to_string(bytes) +
                                           " bytes came where " + std::to_string(announced_bytes) +
                                           " were announced: the ranks' calls differ in lengths");
}

}  // namespace brigade

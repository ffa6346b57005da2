#include "patterns/engine/wire_header.h"

#include <cstring>

namespace brigade {
namespace {

Status Differ(const std::string& what, const std::string& ours, const std::string& theirs) {
  return Status(StatusCode::kMismatch,
                "the ranks' calls differ in " + what + ": " + ours + " here, " + theirs + " there");
}

std::string PatternText(uint8_t pattern) {
  if (pattern >= kPatterns) return "unknown pattern " + std::to_string(pattern);
  return PatternName(static_cast<Pattern>(pattern));
}

std::string ArithmeticText(uint8_t arithmetic) {
  if (arithmetic == 0) return "none";
  const int op = arithmetic >> 1 & 3;
  const int type = arithmetic >> 3 & 7;
  if (op > static_cast<int>(CombineOp::kAbsMin) ||
      type > static_cast<int>(ElementType::kComplexDouble)) {
    return "unknown arithmetic " + std::to_string(arithmetic);
  }
  return std::string(CombineOpName(static_cast<CombineOp>(op))) + " of " +
         ElementTypeName(static_cast<ElementType>(type)) +
         ((arithmetic & 1 << 6) != 0 ? " with locations" : "");
}

}  // namespace

void SetHeader(const CatalogueEntry& entry, const PatternCall& call, uint64_t sequence,
               size_t total_bytes, WireHeader* header) {
  const bool pair = IsPair(entry.pattern);
  header->pattern = static_cast<uint8_t>(pair ? Pattern::kSend : entry.pattern);
  header->sequence = static_cast<uint32_t>(sequence);
  header->total_bytes = total_bytes;
  if (pair) return;
  if (entry.combines) {
    header->arithmetic =
        static_cast<uint8_t>(1 | static_cast<int>(call.op) << 1 | static_cast<int>(call.type) << 3 |
                             (call.locations != nullptr ? 1 << 6 : 0));
  }
  header->shape =
      static_cast<uint8_t>(static_cast<int>(call.topology.shape) |
                           (call.topology.by_host ? 1 << 6 : 0) | (call.decreasing ? 1 << 7 : 0));
  header->parameter = call.topology.parameter;
  header->root = entry.rooted ? call.root : 0;
}

Status ReadHeader(const WireHeader& ours, const Lease& piece, WireHeader* theirs) {
  if (piece.bytes < kHeaderBytes) {
    return Status(StatusCode::kMismatch, "a first piece of " + std::to_string(piece.bytes) +
                                             " bytes has no room for a header");
  }
  std::memcpy(theirs, piece.data, sizeof(*theirs));
  return CompareHeaders(ours, *theirs);
}

Status DifferInLength(size_t announced_bytes, size_t bytes) {
  return Status(StatusCode::kMismatch, "a piece of " + std::to_string(bytes) +
                                           " bytes came where " + std::to_string(announced_bytes) +
                                           " were announced");
}

Status CompareHeaders(const WireHeader& ours, const WireHeader& theirs) {
  if (std::memcmp(&ours, &theirs, sizeof(ours)) == 0) return Status();
  const auto number = [](auto n) { return std::to_string(n); };
  if (theirs.magic != ours.magic) {
    return Differ("the wire format", number(ours.magic), number(theirs.magic));
  }
  if (theirs.pattern != ours.pattern) {
    return Differ("the pattern", PatternText(ours.pattern), PatternText(theirs.pattern));
  }
  if (theirs.sequence != ours.sequence) {
    return Differ("their number on this channel", number(ours.sequence), number(theirs.sequence));
  }
  if (static_cast<Pattern>(ours.pattern) == Pattern::kSend) {
    if (theirs.total_bytes > ours.total_bytes) {
      return Status(StatusCode::kMismatch, "a message of " + number(theirs.total_bytes) +
                                               " bytes meets a receive of " +
                                               number(ours.total_bytes) + " bytes");
    }
    return Status();
  }
  if (theirs.root != ours.root) return Differ("the root", number(ours.root), number(theirs.root));
  if (theirs.total_bytes != ours.total_bytes) {
    return Differ("bytes", number(ours.total_bytes), number(theirs.total_bytes));
  }
  if (theirs.lengths != ours.lengths) {
    return Differ("the lengths of portions", "digest " + number(ours.lengths),
                  "digest " + number(theirs.lengths));
  }
  if (theirs.shape != ours.shape || theirs.parameter != ours.parameter) {
    return Differ("the topology", number(ours.shape) + "/" + number(ours.parameter),
                  number(theirs.shape) + "/" + number(theirs.parameter));
  }
  if (theirs.arithmetic != ours.arithmetic) {
    return Differ("the arithmetic", ArithmeticText(ours.arithmetic),
                  ArithmeticText(theirs.arithmetic));
  }
  if (theirs.portion != ours.portion) {
    return Differ("the portion", number(ours.portion), number(theirs.portion));
  }
  return Status();
}

}  // namespace brigade

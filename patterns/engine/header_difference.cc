#include "patterns/engine/header_difference.h"

#include <cstring>

#include "patterns/schedule/topology.h"

namespace brigade {
namespace {

std::string PatternText(uint8_t pattern) {
  if (pattern >= kPatterns) return "unknown pattern " + std::to_string(pattern);
  return PatternName(static_cast<Pattern>(pattern));
}

std::string ArithmeticText(const WireHeader& header) {
  const int arithmetic = header.arithmetic;
  if (arithmetic == 0) return "none";
  const int op = arithmetic >> WireHeader::kOpShift & 15;
  const int type = arithmetic >> WireHeader::kTypeShift & 15;
  if (op >= kCallOps || type >= kCallElements) {
    return "unknown arithmetic " + std::to_string(arithmetic);
  }
  // Short: of the texts of both ranks, others learn 200 bytes at most.
  if (static_cast<CombineOp>(op) == CombineOp::kUser) {
    return std::string((arithmetic >> WireHeader::kInRankOrderShift & 1) != 0 ? "non-" : "") +
           "commutative user op on " + std::to_string(header.element_bytes) + " bytes";
  }
  return std::string(CombineOpName(static_cast<CombineOp>(op))) + " of " +
         ElementName(static_cast<Element>(type)) +
         ((arithmetic >> WireHeader::kLocationsShift & 1) != 0 ? " with locations" : "");
}

// Of an all-to-all.
std::string BlocksText(const WireHeader& header) {
  return (header.shape & WireHeader::kEqualBlocks) != 0 ? "equal, as of brigade_alltoall"
                                                        : "any, as of brigade_alltoallv";
}

std::string TopologyText(const WireHeader& header) {
  const int shape = header.shape & (WireHeader::kEqualBlocks - 1);
  if (shape > static_cast<int>(Shape::kFree)) return "unknown shape " + std::to_string(shape);
  const Topology topology{static_cast<Shape>(shape), header.parameter,
                          (header.shape & WireHeader::kByHost) != 0};
  return TopologyName(topology) +
         ((header.shape & WireHeader::kDecreasing) != 0 ? ", decreasing" : "");
}

}  // namespace

std::optional<HeaderDifference> FindDifference(const WireHeader& ours, const WireHeader& theirs) {
  if (std::memcmp(&ours, &theirs, sizeof(ours)) == 0) return std::nullopt;
  const auto numbers = [](const char* what, auto mine, auto other) {
    return HeaderDifference{what, std::to_string(mine), std::to_string(other)};
  };
  if (theirs.magic != ours.magic) return numbers("the wire format", ours.magic, theirs.magic);
  if (theirs.sequence != ours.sequence) {
    return HeaderDifference{"the number of earlier calls in this scope", CallName(ours),
                            CallName(theirs)};
  }
  if (theirs.pattern != ours.pattern) {
    return HeaderDifference{"the pattern", PatternText(ours.pattern), PatternText(theirs.pattern)};
  }
  if (theirs.root != ours.root) return numbers("the root", ours.root, theirs.root);
  // Before the bytes of a message, which may have several blocks.
  if (((theirs.shape ^ ours.shape) & WireHeader::kEqualBlocks) != 0) {
    return HeaderDifference{"the lengths of blocks", BlocksText(ours), BlocksText(theirs)};
  }
  if (theirs.total_bytes != ours.total_bytes) {
    return numbers("bytes", size_t{ours.total_bytes}, size_t{theirs.total_bytes});
  }
  if (theirs.lengths != ours.lengths) {
    return HeaderDifference{"the lengths of blocks", "checksum " + std::to_string(ours.lengths),
                            "checksum " + std::to_string(theirs.lengths)};
  }
  // Before the topology, which may depend on it.
  if (theirs.arithmetic != ours.arithmetic || theirs.element_bytes != ours.element_bytes) {
    return HeaderDifference{"the arithmetic", ArithmeticText(ours), ArithmeticText(theirs)};
  }
  if (theirs.shape != ours.shape || theirs.parameter != ours.parameter) {
    return HeaderDifference{"the topology", TopologyText(ours), TopologyText(theirs)};
  }
  if (theirs.block != ours.block) {
    return numbers("the block", ours.block, theirs.block);
  }
  return std::nullopt;
}

std::string CallName(const WireHeader& header) {
  return PatternText(header.pattern) + " number " + std::to_string(header.sequence);
}

namespace {

Status CompareHeaders(const WireHeader& ours, const WireHeader& theirs) {
  const bool pair = static_cast<Pattern>(ours.pattern) == Pattern::kSend;
  if (pair && theirs.magic == ours.magic && theirs.pattern == ours.pattern &&
      theirs.sequence == ours.sequence) {
    if (theirs.total_bytes <= ours.total_bytes) return Status();
    return Status(StatusCode::kMismatch, "a message of " + std::to_string(theirs.total_bytes) +
                                             " bytes meets a receive of " +
                                             std::to_string(ours.total_bytes) + " bytes");
  }
  const std::optional<HeaderDifference> differ = FindDifference(ours, theirs);
  if (!differ) return Status();
  return Status(StatusCode::kMismatch, "the ranks' calls differ in " + differ->what + ": " +
                                           differ->ours + " here, " + differ->theirs + " there");
}

}  // namespace

Status ReadHeader(const WireHeader& ours, const Lease& segment, WireHeader* theirs) {
  if (segment.bytes < kHeaderBytes) {
    return Status(StatusCode::kMismatch, "a first segment of " + std::to_string(segment.bytes) +
                                             " bytes has no room for a header");
  }
  std::memcpy(theirs, segment.data, sizeof(*theirs));
  return CompareHeaders(ours, *theirs);
}

}  // namespace brigade

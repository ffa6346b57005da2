#include "patterns/wire_header.h"

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

}  // namespace

Status CompareHeaders(const WireHeader& ours, const WireHeader& theirs) {
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
  if (theirs.piece_bytes != ours.piece_bytes) {
    return Differ("bytes per piece", number(ours.piece_bytes), number(theirs.piece_bytes));
  }
  if (theirs.shape != ours.shape || theirs.parameter != ours.parameter) {
    return Differ("the topology", number(ours.shape) + "/" + number(ours.parameter),
                  number(theirs.shape) + "/" + number(theirs.parameter));
  }
  if (theirs.op != ours.op || theirs.type != ours.type || theirs.flags != ours.flags) {
    const auto text = [&](const WireHeader& h) {
      return number(h.op) + "/" + number(h.type) + "/" + number(h.flags);
    };
    return Differ("operation/type/flags", text(ours), text(theirs));
  }
  if (theirs.portion != ours.portion) {
    return Differ("the portion", number(ours.portion), number(theirs.portion));
  }
  return Status();
}

}  // namespace brigade

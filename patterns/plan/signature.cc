#include "patterns/plan/signature.h"

#include <algorithm>
#include <array>

#include "patterns/model/model_choice.h"
#include "patterns/schedule/pattern.h"

namespace brigade {
namespace {

// Where the fields are in Signature::kinds.
enum Shift {
  kPattern = 0,
  kScope = 4,
  kShape = 6,
  kByHost = 10,
  kHint = 11,
  kDecreasing = 12,
  kOp = 13,
  kType = 17,
  kLocations = 21,
  kLong = 22,
  kEqualBlocks = 23,
  kLongest = 24,
  kTotal = 40,
};
constexpr uint64_t kClassMask = 0xffff;
static_assert(kCallOps <= 16 && kCallElements <= 16, "four bits each");

template <typename Value>
uint64_t Bits(Value value) {
  return static_cast<uint64_t>(static_cast<uint32_t>(value));
}

// The fields that count in the signatures of a pattern.
struct Fields {
  uint64_t kinds = 0;
  uint64_t numbers = 0;
  bool pair = false;
  bool multi = false;
  bool combines = false;
};

Fields FieldsOf(const CatalogueEntry& entry) {
  const auto bits = [](int from, int to) { return (uint64_t{1} << to) - (uint64_t{1} << from); };
  Fields fields;
  fields.pair = IsPair(entry.pattern);
  fields.multi = entry.multi;
  fields.combines = entry.combines;
  // A pattern that has no use for locations refuses them (CheckSignature).
  fields.kinds = bits(kPattern, kScope) | bits(kLocations, kLong);
  if (entry.rooted || fields.pair) fields.numbers |= uint64_t{UINT32_MAX} << 32;
  if (fields.pair) {
    fields.kinds |= bits(kLong, kLong + 1);
    return fields;
  }
  fields.kinds |= bits(kScope, kShape);
  if (!entry.topologies.empty()) {
    fields.kinds |= bits(kShape, kDecreasing);
    fields.numbers |= UINT32_MAX;
  }
  if (HasDirection(entry.pattern)) fields.kinds |= bits(kDecreasing, kOp);
  if (entry.combines) fields.kinds |= bits(kOp, kLong);
  if (entry.pattern == Pattern::kAllToAll) fields.kinds |= bits(kEqualBlocks, kLongest);
  if (entry.multi || HasMatrix(entry.pattern)) fields.kinds |= ~bits(0, kLongest);
  return fields;
}

const Fields& FieldsOf(Pattern pattern) {
  static const auto all = [] {
    std::array<Fields, kPatterns> fields;
    for (const CatalogueEntry& entry : Catalogue()) {
      fields[static_cast<size_t>(entry.pattern)] = FieldsOf(entry);
    }
    return fields;
  }();
  return all[static_cast<size_t>(pattern)];
}

}  // namespace

ByteCounts ByteCounts::OfBlocks(const PatternCall& call, int ranks) {
  constexpr size_t kMostBytes = size_t{1} << 62;  // as of one layout, so that no sum wraps
  ByteCounts counts;
  const auto count = [&](const Matrix* matrices) {
    size_t total = 0;
    for (int q = 0; matrices != nullptr && q < ranks; ++q) {
      const size_t bytes = matrices[q].layout.bytes();
      counts.longest = std::max(counts.longest, bytes);
      total = std::min(total + bytes, kMostBytes);
    }
    counts.total = std::max(counts.total, total);
  };
  count(call.blocks);
  if (call.pattern == Pattern::kAllToAll) count(call.sent);
  return counts;
}

Signature Signature::Of(const PatternCall& call, const Scope& scope) {
  const Fields& fields = FieldsOf(call.pattern);
  const size_t bytes = call.matrix.layout.bytes();
  Signature signature;
  signature.kinds = Bits(call.pattern) | Bits(call.scope) << kScope |
                    Bits(call.topology.shape) << kShape | Bits(call.topology.by_host) << kByHost |
                    Bits(call.topology_is_hint) << kHint | Bits(call.decreasing) << kDecreasing |
                    Bits(call.op) << kOp | Bits(call.type) << kType |
                    Bits(call.locations != nullptr) << kLocations | Bits(IsLong(call)) << kLong |
                    Bits(call.equal_blocks) << kEqualBlocks;
  signature.numbers = Bits(call.topology.parameter) | Bits(call.root) << 32;
  if (!fields.pair) {
    const SegmentSettings& settings = scope.config->settings;
    const ByteCounts counts =
        fields.multi ? ByteCounts::OfBlocks(call, scope.size) : ByteCounts{bytes, bytes};
    const uint64_t longest = Bits(SizeClassOf(settings, counts.longest));
    const uint64_t total = fields.multi ? Bits(SizeClassOf(settings, counts.total)) : longest;
    signature.kinds |= longest << kLongest | total << kTotal;
    signature.segment_bytes = call.segment_bytes;
    if (fields.combines && call.op == CombineOp::kUser) {
      signature.user_op = ElementBytes(call) << 1 | (IsInRankOrder(call) ? 1 : 0);
    }
  }
  signature.kinds &= fields.kinds;
  signature.numbers &= fields.numbers;
  return signature;
}

bool Signature::is_long() const { return (kinds >> kLong & 1) != 0; }

ByteCounts Signature::Greatest(const SegmentSettings& settings) const {
  return {LongestOfClass(settings, static_cast<int>(kinds >> kLongest & kClassMask)),
          LongestOfClass(settings, static_cast<int>(kinds >> kTotal & kClassMask))};
}

}  // namespace brigade

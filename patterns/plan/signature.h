// Signature: all that the plan of a call depends on. Calls with equal signatures have one plan.

#ifndef BRIGADE_PATTERNS_PLAN_SIGNATURE_H_
#define BRIGADE_PATTERNS_PLAN_SIGNATURE_H_

#include <cstddef>
#include <cstdint>

#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/engine/scope.h"
#include "patterns/rules.h"
#include "transport/rules.h"

namespace brigade {

// The byte counts of a call. Equal on all ranks of its scope, but for an all-to-all whose blocks
// may differ: nothing that its ranks must agree on depends on them. An all-to-all counts the blocks
// that its rank sends, too.
struct ByteCounts {
  size_t longest = 0;  // of the matrix, or of the longest block
  // Of the matrix, or of all blocks; of an all-to-all, of all blocks received or all sent.
  size_t total = 0;

  // `ranks`: of the call's scope.
  static ByteCounts Of(const CatalogueEntry& entry, const PatternCall& call, int ranks) {
    return entry.multi ? OfBlocks(call, ranks)
                       : ByteCounts{call.matrix.layout.bytes(), call.matrix.layout.bytes()};
  }
  // Whether the ranks expose enough for zero-copy reads, in the mean.
  bool IsLongToExpose(int ranks) const {
    return total / static_cast<size_t>(ranks) >= rules::kLeastExposedBytes;
  }
  static ByteCounts OfBlocks(const PatternCall& call, int ranks);
};

struct Signature {
  // Whether the buffer of a point-to-point call is long enough to be posted.
  static bool IsLong(const PatternCall& call) {
    return call.matrix.layout.bytes() >= rules::kLeastPostedBytes;
  }
  bool is_long() const;

  // Pattern, scope, shape, arithmetic, whether blocks are equal, and the classes of byte counts.
  uint64_t kinds = 0;
  uint64_t numbers = 0;  // the topology's parameter; the root or the peer
  uint64_t segment_bytes = 0;
  uint64_t user_op = 0;  // element bytes, and whether it combines in the order of ranks; 0: none

  // Fields that the pattern ignores do not count. Byte counts of one class (SizeClassOf) have equal
  // signatures. Of a message from point to point only this counts: whether its buffer may be
  // posted.
  static Signature Of(const PatternCall& call, const Scope& scope);
  // The greatest byte counts of the signature's classes. A plan is made for these.
  ByteCounts Greatest(const SegmentSettings& settings) const;

  bool operator==(const Signature& other) const {
    return kinds == other.kinds && numbers == other.numbers &&
           segment_bytes == other.segment_bytes && user_op == other.user_op;
  }
  size_t Hash() const {
    return static_cast<size_t>(
        (numbers * 31 + kinds + segment_bytes + user_op) * 0x9E3779B97F4A7C15u >> 32);
  }
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_PLAN_SIGNATURE_H_

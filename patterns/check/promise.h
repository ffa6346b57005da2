// Promise: what a pattern promises, in symbols: what each rank has at first, what it must have in
// the end, and in which order contributions are combined.

#ifndef BRIGADE_PATTERNS_CHECK_PROMISE_H_
#define BRIGADE_PATTERNS_CHECK_PROMISE_H_

#include <cstdint>
#include <vector>

#include "membuf/status.h"
#include "patterns/check/check_case.h"
#include "patterns/check/symbols.h"
#include "patterns/schedule/circulant_graph.h"
#include "patterns/schedule/geometry.h"
#include "patterns/schedule/shares.h"

namespace brigade {

class Promise {
 public:
  // `shares`: what the matrix is cut into. The case must outlive the object.
  Promise(const CheckCase& c, const Shares& shares);

  // Whether there are blocks, or shares, rather than segments of the matrix.
  bool in_blocks() const { return blocks_ > 0; }
  // How many blocks, or shares, steps speak of.
  int blocks() const { return blocks_; }
  // Of the matrix (-1), or of a block or share of `rank`.
  int Segments(int rank, int block) const {
    if (case_.pattern == Pattern::kAllToAll) {
      const int from = block < case_.size ? block : rank;
      const int to = block < case_.size ? rank : block - case_.size;
      return case_.segments[static_cast<size_t>(from * case_.size + to)];
    }
    return case_.segments[block < 0 ? 0 : static_cast<size_t>(block)];
  }

  UserMemory AtFirst(int rank) const;
  // kInternal, with what is wrong, if that is not what `rank` must have in the end. `all`: what
  // every rank has.
  Status Check(int rank, const std::vector<UserMemory>& all);

 private:
  // A contribution, or several put together.
  struct Sum {
    uint64_t association = 0;
    int ranks = 0;
  };

  // Where a rank's contribution stands in the documented order of combination.
  int Position(int rank, int block) const;
  Value Contribution(int rank, int block, int64_t segment) const;
  // Whether `rank`, which gets no result, has in its matrix what was there before.
  bool IsAsBefore(const Value& v, int rank, int block, int64_t segment) const {
    return case_.separate_source ? v.is_nothing() : IsContribution(v, rank, block, segment);
  }
  bool IsContribution(const Value& v, int rank, int block, int64_t segment) const {
    return SameData(v, Contribution(rank, block, segment));
  }
  // Whether every contribution is in it once, whatever the association; or in that of a chain, on
  // the right of all before it; or in that of `sum`.
  bool HasAll(const Value& v, int block, int64_t segment) const {
    return v.block == block && v.segment == segment && v.low == 0 && v.high == case_.size - 1;
  }
  bool IsChainOfAll(const Value& v, int block, int64_t segment) const {
    return HasAll(v, block, segment) && v.association == chain_;
  }
  bool IsSumOfAll(const Value& v, const Sum& sum, int block, int64_t segment) const {
    return sum.ranks == case_.size && v.block == block && v.segment == segment &&
           v.association == sum.association;
  }

  Sum CirculantSum(const CirculantGraph& graph, const std::vector<std::vector<int>>& receives,
                   int relative, int share) const;
  std::vector<Sum> CirculantSums() const;
  uint64_t TreeAssociation(int relative) const;
  Sum SumByDistance() const;

  Status CheckShare(int rank, int share, const std::vector<Value>& values);
  Status CheckBarrier(const UserMemory& memory) const;
  Status CheckCombined(int rank, const std::vector<UserMemory>& all) const;
  Status CheckBlocks(const UserMemory& memory) const;
  Status CheckOwnBlock(int rank, const UserMemory& memory);
  Status CheckMovedBlocks(int rank, const UserMemory& memory) const;
  bool HoldsAtFirst(int rank, int block) const;
  uint64_t PrefixAssociation(int rank) const;
  Status CheckPrefix(int rank, const UserMemory& memory) const;

  const CheckCase& case_;
  const bool multi_;
  const bool combines_;
  const int blocks_;
  const RankTree tree_;
  const RankTree ring_;
  const uint64_t chain_;
  std::vector<Sum> sums_;  // on circulant graphs, by share; once needed
};

}  // namespace brigade

#endif  // BRIGADE_PATTERNS_CHECK_PROMISE_H_

#include "patterns/check/promise.h"

#include <string>

#include "patterns/catalogue/catalogue.h"

namespace brigade {
namespace {

// Of a chain: every contribution on the right of all before it.
uint64_t ChainAssociation(int size) {
  uint64_t association = AssociationOf(0);
  for (int i = 1; i < size; ++i) association = Associate(association, AssociationOf(i));
  return association;
}

// Of the `count` contributions that end with rank `last`, or of all up to it, by recursive
// doubling: the nearer half on the right.
uint64_t DoublingAssociation(int last, int count) {
  if (count == 1) return AssociationOf(last);
  const int half = count / 2;
  const uint64_t right = DoublingAssociation(last, half);
  return last < half ? right : Associate(DoublingAssociation(last - half, half), right);
}

Status Wrong(const std::string& what) { return Status(StatusCode::kInternal, what); }

}  // namespace

Promise::Promise(const CheckCase& c, const Shares& shares)
    : case_(c),
      multi_(EntryOf(c.pattern).multi),
      combines_(EntryOf(c.pattern).combines),
      blocks_(multi_ ? BlockCount(EntryOf(c.pattern), c.size) : shares.count),
      tree_(c.topology, c.size, c.pattern == Pattern::kAllReduce || c.in_rank_order ? 0 : c.root,
            c.HostsToGoBy()),
      ring_(Topology{Shape::kIncreasingRings, 1}, c.size, /*root=*/0, c.HostsToGoBy()),
      chain_(ChainAssociation(c.size)) {}

int Promise::Position(int rank, int block) const {
  if (!combines_ || case_.in_rank_order || IsScan(case_.pattern) ||
      case_.topology.shape == Shape::kHypercube) {
    return rank;
  }
  if (case_.topology.shape != Shape::kReduceScatterAllgather && !multi_)
    return tree_.ToRelative(rank);
  const int n = case_.size;
  if (case_.topology.shape == Shape::kCirculant) return (block - rank + n) % n;
  const int behind = ring_.ToRelative(rank) - ring_.ToRelative(block);
  return ((case_.decreasing ? -behind : behind) - 1 + 2 * n) % n;
}

Value Promise::Contribution(int rank, int block, int64_t segment) const {
  Value v;
  v.block = block;
  v.segment = segment;
  v.low = v.high = Position(rank, block);
  v.association = AssociationOf(v.low);
  return v;
}

bool Promise::HoldsAtFirst(int rank, int block) const {
  if (combines_ || !multi_) return true;
  if (case_.pattern == Pattern::kAllToAll) return block >= case_.size;
  return case_.pattern == Pattern::kScatter ? rank == case_.root : block == rank;
}

UserMemory Promise::AtFirst(int rank) const {
  UserMemory memory;
  memory.knows = uint64_t{1} << (rank % 64);
  if (!in_blocks()) {
    for (int i = 0; i < Segments(rank, -1); ++i) memory.matrix.push_back(Contribution(rank, -1, i));
    if (case_.separate_source) {
      memory.source.resize(memory.matrix.size());
      memory.source.swap(memory.matrix);
    }
    return memory;
  }
  if (multi_) memory.matrix.resize(static_cast<size_t>(Segments(rank, rank)));
  memory.blocks.resize(static_cast<size_t>(blocks_));
  for (int q = 0; q < blocks_; ++q) {
    std::vector<Value>& block = memory.blocks[static_cast<size_t>(q)];
    block.resize(static_cast<size_t>(Segments(rank, q)));
    if (!HoldsAtFirst(rank, q)) continue;
    for (int i = 0; i < Segments(rank, q); ++i) {
      block[static_cast<size_t>(i)] = Contribution(rank, q, i);
    }
  }
  if (case_.separate_source) {
    memory.source_blocks = memory.blocks;
    for (std::vector<Value>& share : memory.blocks) share.assign(share.size(), Value());
  }
  return memory;
}

// Returns the sum, in the documented order, of share `share` below `relative` in a circulant
// reduce: its own contribution, then, by falling skip, the sums of those that send it that share;
// of two operands the one of the lower rank is on the left.
Promise::Sum Promise::CirculantSum(const CirculantGraph& graph,
                                   const std::vector<std::vector<int>>& receives, int relative,
                                   int share) const {
  Sum sum{AssociationOf(relative), 1};
  const int q = graph.rounds();
  for (int i = 2 * q - 1; i >= 0; --i) {
    const int k = i % q;
    const int child = graph.RankAt(relative, graph.skip(k));
    if (child == 0) continue;
    const int block = receives[static_cast<size_t>(child)][static_cast<size_t>(k)];
    const bool later = i >= q;  // among those
    if (later ? block >= 0 || block + q != share : block < 0 || (share != block && share != q)) {
      continue;
    }
    const Sum other = CirculantSum(graph, receives, child, share);
    sum.association = relative < child ? Associate(sum.association, other.association)
                                       : Associate(other.association, sum.association);
    sum.ranks += other.ranks;
  }
  return sum;
}

// The sums of all shares, in their documented order.
std::vector<Promise::Sum> Promise::CirculantSums() const {
  const CirculantGraph graph(case_.size);
  std::vector<std::vector<int>> receives;
  for (int r = 0; r < case_.size; ++r) receives.push_back(graph.Receives(r));
  std::vector<Sum> sums;
  for (int share = 0; share < blocks_; ++share) {
    sums.push_back(CirculantSum(graph, receives, 0, share));
  }
  return sums;
}

// Returns the sum, in the documented order, of a block in a circulant multi-reduce. By falling
// skip, the sum of the ranks at a distance of `skip` and more from the block's rank is added to the
// sum of the ranks that are nearer by `skip`.
Promise::Sum Promise::SumByDistance() const {
  const CirculantGraph graph(case_.size);
  std::vector<Sum> sums;
  for (int distance = 0; distance < case_.size; ++distance) {
    sums.push_back({AssociationOf(distance), 1});
  }
  for (int k = graph.rounds() - 1; k >= 0; --k) {
    const auto skip = static_cast<size_t>(graph.skip(k));
    for (size_t far = skip; far < sums.size(); ++far) {
      Sum& near = sums[far - skip];
      near.association = Associate(near.association, sums[far].association);
      near.ranks += sums[far].ranks;
    }
    sums.resize(skip);
  }
  return sums[0];
}

Status Promise::Check(int rank, const std::vector<UserMemory>& all) {
  const UserMemory& memory = all[static_cast<size_t>(rank)];
  if (in_blocks() && !multi_) {
    for (int q = 0; q < blocks_; ++q) {
      BRIGADE_RETURN_IF_ERROR(CheckShare(rank, q, memory.blocks[static_cast<size_t>(q)]));
    }
    return Status();
  }
  switch (case_.pattern) {
    case Pattern::kBarrier:
      return CheckBarrier(memory);
    case Pattern::kSend:
    case Pattern::kReceive:
    case Pattern::kBroadcast:
      for (int i = 0; i < Segments(rank, -1); ++i) {
        const Value& v = memory.matrix[static_cast<size_t>(i)];
        if (!IsContribution(v, case_.root, -1, i)) return Wrong("not the root's");
      }
      return Status();
    case Pattern::kReduce:
    case Pattern::kAllReduce:
      return CheckCombined(rank, all);
    case Pattern::kMultiBroadcast:
      return CheckBlocks(memory);
    case Pattern::kMultiReduce:
      return CheckOwnBlock(rank, memory);
    case Pattern::kGather:
    case Pattern::kScatter:
    case Pattern::kAllToAll:
      return CheckMovedBlocks(rank, memory);
    case Pattern::kScan:
    case Pattern::kExscan:
      return CheckPrefix(rank, memory);
  }
  return Wrong("no such pattern");
}

Status Promise::CheckShare(int rank, int share, const std::vector<Value>& values) {
  const bool broadcast = case_.pattern == Pattern::kBroadcast;
  const bool circulant = case_.topology.shape == Shape::kCirculant;
  const std::string name = "share " + std::to_string(share);
  for (int i = 0; i < Segments(rank, share); ++i) {
    const Value& v = values[static_cast<size_t>(i)];
    if (case_.pattern == Pattern::kAllReduce) {
      if (!IsChainOfAll(v, share, i)) return Wrong(name);
    } else if (broadcast) {
      if (!IsContribution(v, case_.root, share, i)) return Wrong(name);
    } else if (rank != case_.root) {
      if (!IsAsBefore(v, rank, share, i)) return Wrong(name);
    } else if (circulant) {
      if (sums_.empty()) sums_ = CirculantSums();
      if (!IsSumOfAll(v, sums_[static_cast<size_t>(share)], share, i)) {
        return Wrong(name + " is put together otherwise");
      }
    } else if (!HasAll(v, share, i)) {
      return Wrong(name + " has not every contribution once");
    }
  }
  return Status();
}

Status Promise::CheckBarrier(const UserMemory& memory) const {
  if (case_.size > 64) return Status();
  const uint64_t all = case_.size == 64 ? ~uint64_t{0} : (uint64_t{1} << case_.size) - 1;
  return memory.knows == all ? Status() : Wrong("left before all had come");
}

// Returns the association that the tree gives to the subtree at `relative`, child after child.
uint64_t Promise::TreeAssociation(int relative) const {
  uint64_t association = AssociationOf(relative);
  for (const int child : tree_.NodeOf(relative).children) {
    association = Associate(association, TreeAssociation(child));
  }
  return association;
}

Status Promise::CheckCombined(int rank, const std::vector<UserMemory>& all) const {
  const bool everywhere = case_.pattern == Pattern::kAllReduce;
  for (int i = 0; i < Segments(rank, -1); ++i) {
    const auto segment = static_cast<size_t>(i);
    const Value& v = all[static_cast<size_t>(rank)].matrix[segment];
    if (!everywhere && rank != case_.root) {
      if (!IsAsBefore(v, rank, -1, i)) return Wrong("a contribution was overwritten");
    } else if (!HasAll(v, -1, i)) {
      return Wrong("not every contribution once");
    } else if (everywhere && v.association != all[0].matrix[segment].association) {
      return Wrong("associated otherwise than at rank 0");
    } else if (case_.topology.shape == Shape::kExchange && v.association != TreeAssociation(0)) {
      return Wrong("associated otherwise than by the tree");
    }
  }
  return Status();
}

Status Promise::CheckBlocks(const UserMemory& memory) const {
  for (int q = 0; q < case_.size; ++q) {
    for (int i = 0; i < Segments(q, q); ++i) {
      const Value& v = memory.blocks[static_cast<size_t>(q)][static_cast<size_t>(i)];
      if (!IsContribution(v, q, q, i)) return Wrong("block " + std::to_string(q));
    }
  }
  return Status();
}

Status Promise::CheckOwnBlock(int rank, const UserMemory& memory) {
  const bool circulant = case_.topology.shape == Shape::kCirculant;
  if (circulant && sums_.empty()) sums_ = {SumByDistance()};
  for (int i = 0; i < Segments(rank, rank); ++i) {
    const Value& v = memory.matrix[static_cast<size_t>(i)];
    if (circulant && !IsSumOfAll(v, sums_[0], rank, i)) return Wrong("put together otherwise");
    if (!circulant && !IsChainOfAll(v, rank, i)) {
      return Wrong("not every contribution once, one after the other");
    }
  }
  return Status();
}

// Blocks that `rank` neither holds at first nor receives are as they were.
Status Promise::CheckMovedBlocks(int rank, const UserMemory& memory) const {
  for (int q = 0; q < case_.size; ++q) {
    const bool gathers = case_.pattern == Pattern::kGather;
    const bool scatters = case_.pattern == Pattern::kScatter;
    const bool has = rank == case_.root || rank == q || !(gathers || scatters);
    const int owner = scatters ? case_.root : q;
    const int block = gathers || scatters ? q : case_.size + rank;
    for (int i = 0; i < Segments(rank, q); ++i) {
      const Value& v = memory.blocks[static_cast<size_t>(q)][static_cast<size_t>(i)];
      if (has ? !IsContribution(v, owner, block, i) : !v.is_nothing()) {
        return Wrong("block " + std::to_string(q));
      }
    }
  }
  return Status();
}

// Returns the documented order of the contributions up to `rank`: that of the rank itself, then, on
// the left, the sums of the nearest 1, 2, 4, ... ranks before; of an exclusive scan, that of the
// rank before, then the sums of the nearest 2, 4, 8, ... ranks.
uint64_t Promise::PrefixAssociation(int rank) const {
  const bool exclusive = case_.pattern == Pattern::kExscan;
  if (case_.topology.shape != Shape::kHypercube) {
    return ChainAssociation(exclusive ? rank : rank + 1);
  }
  uint64_t sum = AssociationOf(exclusive ? rank - 1 : rank);
  for (int count = exclusive ? 2 : 1; count <= rank; count *= 2) {
    sum = Associate(DoublingAssociation(rank - count, count), sum);
  }
  return sum;
}

Status Promise::CheckPrefix(int rank, const UserMemory& memory) const {
  const bool exclusive = case_.pattern == Pattern::kExscan;
  for (int i = 0; i < Segments(rank, -1); ++i) {
    const Value& v = memory.matrix[static_cast<size_t>(i)];
    // With a source, rank 0 of a scan copies its result without a schedule.
    if (rank == 0 && (exclusive || case_.separate_source)) {
      if (!IsAsBefore(v, 0, -1, i)) return Wrong("rank 0 has no result");
    } else if (v.segment != i || v.low != 0 || v.high != (exclusive ? rank - 1 : rank)) {
      return Wrong("not the contributions of the lower ranks, once each");
    } else if (v.association != PrefixAssociation(rank)) {
      return Wrong("associated otherwise than documented");
    }
  }
  return Status();
}

}  // namespace brigade

#include "patterns/plan/normal_form.h"

#include "patterns/catalogue/catalogue.h"
#include "patterns/rules.h"

namespace brigade {
namespace {

constexpr Topology kRing{Shape::kIncreasingRings, 1};
constexpr Topology kRingByHost{Shape::kIncreasingRings, 1, /*by_host=*/true};

bool HasParameter(Shape shape) {
  return shape == Shape::kTree || shape == Shape::kIncreasingRings ||
         shape == Shape::kDecreasingRings || shape == Shape::kExchange || shape == Shape::kFree;
}

// Whether messages along `shape` never go by host, whatever the call says.
bool NeverGoesByHost(const CatalogueEntry& entry, const PatternCall& call, Shape shape) {
  if (KeepsToRanks(entry.pattern)) return true;
  if (shape == Shape::kTwoTree) return true;
  if (shape == Shape::kIncreasingRings && IsRootedBlocks(entry.pattern)) return true;
  if (shape == Shape::kCirculant) return entry.combines || entry.multi;
  return entry.multi && entry.combines && !IsOrderFree(call.op, call.type);
}

}  // namespace

Topology NormalTopology(const CatalogueEntry& entry, const PatternCall& call, size_t bytes) {
  if (entry.topologies.empty()) return Topology();
  Topology topology = call.topology;
  if (entry.combines && IsInRankOrder(call)) {
    topology = InRankOrder(call.pattern, topology, call.root);
  }
  // Blocks that are given no form of their own take the ring, by host if that can be.
  const bool has_ring = entry.multi && !IsRootedBlocks(entry.pattern);
  if (has_ring && topology.shape != Shape::kCirculant && topology.shape != Shape::kFree &&
      !(topology == kRing)) {
    topology = kRingByHost;
  }
  if (NeverGoesByHost(entry, call, topology.shape)) topology.by_host = false;
  const bool has_one_ring = IsScan(entry.pattern) || IsRootedBlocks(entry.pattern);
  if (has_one_ring && topology.shape == Shape::kIncreasingRings) topology.parameter = 1;
  if (IsTooShortToCut(call.pattern, call.topology, bytes)) {
    return {Shape::kTree, 2, topology.by_host};
  }
  if (!HasParameter(topology.shape)) topology.parameter = 0;
  return topology;
}

bool IsTooShortToCut(Pattern pattern, const Topology& topology, size_t bytes) {
  return (topology.shape == Shape::kCirculant || topology.shape == Shape::kTwoTree) &&
         (pattern == Pattern::kBroadcast || pattern == Pattern::kReduce) &&
         bytes <= rules::kUncutBytes;
}

const PatternCall& NormalForm(const CatalogueEntry& entry, const PatternCall& call,
                              const Topology& topology, std::optional<PatternCall>* copy) {
  const int root = entry.rooted ? call.root : 0;
  const Matrix* const blocks = entry.multi ? call.blocks : nullptr;
  const bool decreasing =
      HasDirection(entry.pattern) && call.decreasing && !(entry.combines && IsInRankOrder(call));
  const bool drops_matrix =
      !HasMatrix(call.pattern) && (call.matrix.data != nullptr || call.matrix.layout.bytes() > 0);
  if (topology == call.topology && root == call.root && blocks == call.blocks &&
      decreasing == call.decreasing && !drops_matrix) {
    return call;
  }
  *copy = call;
  PatternCall& normal = **copy;
  normal.topology = topology;
  normal.root = root;
  normal.blocks = blocks;
  normal.decreasing = decreasing;
  if (drops_matrix) normal.matrix = Matrix();
  return normal;
}

}  // namespace brigade

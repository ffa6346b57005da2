#include "patterns/catalogue/catalogue.h"

#include <string>

#include "membuf/check.h"
#include "patterns/schedule/geometry.h"

namespace brigade {
namespace {

// One of each shape, with the parameters at which a shape changes its nature. Others work as well;
// these are what the checker proves and the tests run.
std::vector<Topology> Trees() {
  return {{Shape::kTree, 2},
          {Shape::kTree, 3},
          {Shape::kTree, 5},
          {Shape::kTree, 10},
          {Shape::kIncreasingRings, 1},
          {Shape::kIncreasingRings, 3},
          {Shape::kIncreasingRings, 1 << 20},
          {Shape::kDecreasingRings, 1},
          {Shape::kDecreasingRings, 2},
          {Shape::kSplitRing, 0}};
}

// Where memory is shared; elsewhere they are those trees.
void AddExchanges(std::vector<Topology>* topologies) {
  for (const int k : {2, 3, 8}) topologies->push_back({Shape::kExchange, k});
}

std::vector<Topology> Rooted() {
  std::vector<Topology> rooted = Trees();
  rooted.push_back({Shape::kTwoTree, 0});
  rooted.push_back({Shape::kCirculant, 0});
  return rooted;
}

std::vector<Topology> ToOne() {
  std::vector<Topology> one = Rooted();
  AddExchanges(&one);
  return one;
}

std::vector<Topology> ToAll() {
  std::vector<Topology> all = Trees();
  all.push_back({Shape::kHypercube, 0});
  all.push_back({Shape::kReduceScatterAllgather, 0});
  AddExchanges(&all);
  return all;
}

// Of gather and scatter.
std::vector<Topology> OfBlocks() {
  return {{Shape::kTree, 2},
          {Shape::kTree, 3},
          {Shape::kTree, kFlatBranches},
          {Shape::kIncreasingRings, 1}};
}

std::vector<Topology> OfScans() { return {{Shape::kIncreasingRings, 1}, {Shape::kHypercube, 0}}; }

// Of blocks that every rank sends, and every rank receives.
std::vector<Topology> RingOrCirculant() {
  return {{Shape::kIncreasingRings, 1}, {Shape::kCirculant, 0}};
}

}  // namespace

const std::vector<CatalogueEntry>& Catalogue() {
  static const auto& table = *new std::vector<CatalogueEntry>{
      {Pattern::kSend, "send", CompileSend, true, true, false, false, {}},
      {Pattern::kReceive, "receive", CompileReceive, true, false, false, false, {}},
      {Pattern::kBroadcast, "broadcast", CompileBroadcast, true, true, false, false, Rooted()},
      {Pattern::kReduce, "reduce", CompileReduce, true, false, false, true, ToOne()},
      {Pattern::kAllReduce, "all_reduce", CompileAllReduce, false, false, false, true, ToAll(),
       ReadAllReduce},
      {Pattern::kMultiBroadcast, "multi_broadcast", CompileMultiBroadcast, false, false, true,
       false, RingOrCirculant(), ReadMultiBroadcast},
      {Pattern::kMultiReduce, "multi_reduce", CompileMultiReduce, false, false, true, true,
       RingOrCirculant(), ReadMultiReduce},
      {Pattern::kBarrier, "barrier", CompileBarrier, false, false, false, false, {}},
      {Pattern::kGather, "gather", CompileGather, true, false, true, false, OfBlocks()},
      {Pattern::kScatter, "scatter", CompileScatter, true, false, true, false, OfBlocks()},
      {Pattern::kAllToAll, "all_to_all", CompileAllToAll, false, false, true, false,
       RingOrCirculant(), ReadAllToAll},
      {Pattern::kScan, "scan", CompileScan, false, false, false, true, OfScans()},
      {Pattern::kExscan, "exscan", CompileExscan, false, false, false, true, OfScans()},
  };
  return table;
}

const CatalogueEntry& EntryOf(Pattern pattern) {
  static const CatalogueEntry* const rows = Catalogue().data();
  const CatalogueEntry& entry = rows[static_cast<size_t>(pattern)];
  BRIGADE_CHECK(entry.pattern == pattern);
  return entry;
}

const char* PatternName(Pattern pattern) { return EntryOf(pattern).name; }

Status CheckTopology(Pattern pattern, const Topology& topology) {
  bool known = EntryOf(pattern).topologies.empty() || topology.shape == Shape::kFree;
  for (const Topology& t : EntryOf(pattern).topologies) known |= t.shape == topology.shape;
  if (!known) {
    return Status(StatusCode::kInvalidArgument, std::string("pattern ") + PatternName(pattern) +
                                                    " has no topology '" + TopologyName(topology) +
                                                    "'");
  }
  const bool needs_parameter =
      topology.shape == Shape::kTree || topology.shape == Shape::kIncreasingRings ||
      topology.shape == Shape::kDecreasingRings || topology.shape == Shape::kExchange;
  const bool of_tree = topology.shape == Shape::kTree || topology.shape == Shape::kExchange;
  const int least = of_tree ? 2 : 1;
  if (!EntryOf(pattern).topologies.empty() && needs_parameter && topology.parameter < least) {
    return Status(StatusCode::kInvalidArgument, "topology parameter " +
                                                    std::to_string(topology.parameter) +
                                                    " is below " + std::to_string(least));
  }
  return Status();
}

Topology InRankOrder(Pattern pattern, const Topology& topology, int root) {
  constexpr Topology kChain{Shape::kIncreasingRings, 1};
  if (IsScan(pattern)) return topology;  // all have this order
  if (pattern == Pattern::kMultiReduce) return kChain;
  switch (topology.shape) {
    case Shape::kDecreasingRings:
      return {Shape::kIncreasingRings, topology.parameter};
    case Shape::kReduceScatterAllgather:
      return kChain;
    case Shape::kCirculant:
      return {Shape::kTree, 2};
    case Shape::kTwoTree:
      return root == 0 ? topology : Topology{Shape::kTree, 2};
    default:
      return {topology.shape, topology.parameter};  // by rank, not by host
  }
}

}  // namespace brigade

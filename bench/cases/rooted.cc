#include "bench/cases/rooted.h"

#include <functional>
#include <memory>
#include <utility>

#include "bench/contenders/blacs_grid.h"
#include "bench/contenders/direct_tree.h"

namespace brigade::bench {
namespace {

// The shapes of the BLACS letters of --topologies, as far as they differ on few ranks.
constexpr NamedTopology kTopologies[] = {{"free", {Shape::kFree, 0}},
                                         {"tree", {Shape::kTree, 2}},
                                         {"4-nomial tree", {Shape::kTree, 4}},
                                         {"ring", {Shape::kIncreasingRings, 1}},
                                         {"fully connected", {Shape::kIncreasingRings, 1 << 20}}};
// Of broadcast and reduce only.
constexpr NamedTopology kRootedTopologies[] = {{"two trees", {Shape::kTwoTree, 0}},
                                               {"circulant", {Shape::kCirculant, 0}}};
constexpr NamedTopology kTopologiesToAll[] = {
    {"hypercube", {Shape::kHypercube, 0}},
    {"reduce-scatter + allgather", {Shape::kReduceScatterAllgather, 0}}};
std::string TopologyName(char letter) { return std::string("topology '") + letter + "'"; }

// A peer's operation as a RootedPattern.
template <typename Function>
RootedPattern Peer(std::string name, std::string pattern, Function function) {
  return {std::move(name), std::move(pattern),
          [function](int root, const PanelView& panel, OperationStatistics*) {
            function(root, panel);
            return Status();
          },
          false};
}

// Along all of kTopologies, and more. `operation` takes the group and the arguments of a broadcast.
template <typename Function>
void AddBrigade(const Contenders& all, const NamedTopology (&more)[2], Function operation,
                std::vector<RootedPattern>* patterns) {
  BrigadeGroup* group = all.brigade.get();
  const auto add = [&](const NamedTopology& named) {
    if (!all.WantsShape(named.name)) return;
    const auto run = [=, shape = named.topology](int root, const PanelView& panel,
                                                 OperationStatistics* statistics) {
      return operation(group, shape, root, panel, statistics);
    };
    patterns->push_back({"brigade", named.name, run, true});
  };
  for (const NamedTopology& named : kTopologies) add(named);
  for (const NamedTopology& named : more) add(named);
}

void AddPlain(const Contenders& all, const char* pattern,
              void (PlainPatterns::*operation)(int root, const PanelView&),
              std::vector<RootedPattern>* patterns) {
  PlainPatterns* plain = all.plain.get();
  if (plain == nullptr) return;
  patterns->push_back(Peer("plain", pattern, [=](int root, const PanelView& panel) {
    (plain->*operation)(root, panel);
  }));
}

// The shim and the reference BLACS, with each topology. `operation` takes the grid, the letter of
// the topology, the root and the panel.
template <typename Function>
void AddBlacs(const Contenders& all, Function operation, std::vector<RootedPattern>* patterns) {
  const auto add = [&](const std::string& name, BlacsGrid* grid) {
    if (grid == nullptr) return;
    for (char letter : all.session->options().topologies) {
      patterns->push_back(Peer(name, TopologyName(letter), [=](int root, const PanelView& panel) {
        operation(grid, letter, root, panel);
      }));
    }
  };
  add("shim", all.session->shim());
  add(all.session->PeerName("stock"), all.session->stock());
}

void AddMpi(const Contenders& all, const char* pattern,
            void (MpiPeer::*operation)(int root, const PanelView&),
            std::vector<RootedPattern>* patterns) {
  MpiPeer* mpi = all.mpi.get();
  if (mpi == nullptr) return;
  patterns->push_back(
      Peer(all.session->PeerName("mpi"), pattern,
           [=](int root, const PanelView& panel) { (mpi->*operation)(root, panel); }));
}

// The root means nothing to them.
std::vector<RootedPattern> ReductionsToAll(const Contenders& all) {
  std::vector<RootedPattern> patterns;
  AddBrigade(
      all, kTopologiesToAll,
      [](BrigadeGroup* group, const Topology& topology, int, const PanelView& panel,
         OperationStatistics* statistics) { return group->AllReduce(topology, panel, statistics); },
      &patterns);
  AddBlacs(
      all,
      [](BlacsGrid* grid, char letter, int, const PanelView& panel) {
        grid->SumToAll(letter, panel);
      },
      &patterns);
  if (MpiPeer* mpi = all.mpi.get()) {
    patterns.push_back(Peer(all.session->PeerName("mpi"), "MPI_Allreduce",
                            [=](int, const PanelView& panel) { mpi->Allreduce(panel); }));
  }
  return patterns;
}

// The pattern alone: the whole panel, the root rotating from run to run.
Operation FromOneRoot(const RootedPattern& pattern, const SpreadData& data) {
  return [run = pattern.run, &data](int turn, OperationStatistics* statistics) {
    return run(turn % data.ranks, data.panel.view(), statistics);
  };
}

// Adds every pattern to the case, then measures.
void MeasureAll(const Contenders& all, const std::vector<RootedPattern>& patterns,
                const std::function<Operation(const RootedPattern&)>& operation, const Check& check,
                Case* the_case) {
  for (const RootedPattern& pattern : patterns) {
    AddSubject(all, pattern.name, pattern.pattern, pattern.tells_cost, operation(pattern), check,
               the_case);
  }
  all.session->Measure(*the_case);
}

void MeasureSum(const Contenders& all, const PanelShape& shape, const char* name,
                const std::vector<RootedPattern>& patterns, bool to_all) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeCase(name, data.panel.view());
  the_case.prepare = [&](int) {
    data.panel.Poison();
    Fill(data.panel.view(), data.rank);
  };
  the_case.before_timing = [&] { Clear(data.panel.view()); };
  const Check check = [&](int turn) -> std::string {
    if (!to_all && turn % data.ranks != data.rank) return "";
    return WithGaps(data.panel, CheckSum(data.panel.view(), 0, data.ranks));
  };
  MeasureAll(
      all, patterns, [&](const RootedPattern& pattern) { return FromOneRoot(pattern, data); },
      check, &the_case);
}

}  // namespace

std::vector<RootedPattern> Broadcasts(const Contenders& all) {
  std::vector<RootedPattern> patterns;
  AddBrigade(all, kRootedTopologies, std::mem_fn(&BrigadeGroup::Broadcast), &patterns);
  AddPlain(all, "tree", &PlainPatterns::TreeBroadcast, &patterns);
  AddPlain(all, "ring", &PlainPatterns::RingBroadcast, &patterns);
  AddBlacs(all, std::mem_fn(&BlacsGrid::Broadcast), &patterns);
  AddMpi(all, "MPI_Bcast", &MpiPeer::Broadcast, &patterns);
  return patterns;
}

std::vector<RootedPattern> Reductions(const Contenders& all) {
  std::vector<RootedPattern> patterns;
  AddBrigade(all, kRootedTopologies, std::mem_fn(&BrigadeGroup::Reduce), &patterns);
  AddPlain(all, "tree", &PlainPatterns::TreeReduce, &patterns);
  AddPlain(all, "ring", &PlainPatterns::RingReduce, &patterns);
  AddBlacs(all, std::mem_fn(&BlacsGrid::Sum), &patterns);
  AddMpi(all, "MPI_Reduce", &MpiPeer::Reduce, &patterns);
  return patterns;
}

Operation FromEveryRoot(const RootedPattern& pattern, const SpreadData& data) {
  return [run = pattern.run, &data](int, OperationStatistics* statistics) {
    for (int q = 0; q < data.ranks; ++q) {
      OperationStatistics one;
      BRIGADE_RETURN_IF_ERROR(run(q, data.blocks[q], statistics == nullptr ? nullptr : &one));
      if (statistics != nullptr) Accumulate(one, statistics);
    }
    return Status();
  };
}

void MeasureBroadcast(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeCase("broadcast", data.panel.view());
  the_case.prepare = [&](int turn) {
    data.panel.Poison();
    if (turn % data.ranks == data.rank) Fill(data.panel.view(), data.rank);
  };
  const Check check = [&](int turn) {
    return WithGaps(data.panel, CheckSum(data.panel.view(), turn % data.ranks, 1));
  };
  MeasureAll(
      all, Broadcasts(all),
      [&](const RootedPattern& pattern) { return FromOneRoot(pattern, data); }, check, &the_case);
}

void MeasureReduce(const Contenders& all, const PanelShape& shape) {
  MeasureSum(all, shape, "reduce", Reductions(all), /*to_all=*/false);
}

void MeasureAllReduce(const Contenders& all, const PanelShape& shape) {
  MeasureSum(all, shape, "all-reduce", ReductionsToAll(all), /*to_all=*/true);
}

void MeasureSuccessiveBroadcasts(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeGatherCase("successive-broadcasts", &data);
  MeasureAll(
      all, Broadcasts(all),
      [&](const RootedPattern& pattern) { return FromEveryRoot(pattern, data); },
      [&](int) { return CheckGathered(data); }, &the_case);
}

void MeasureSmallBroadcast(const Contenders& all, int64_t elements) {
  SpreadData data(*all.session, {elements, 1, 0});
  PanelView column = data.panel.view();
  Case the_case = MakeCase(kSmallBroadcast, column);
  the_case.prepare = [&](int turn) {
    data.panel.Poison();
    if (turn % data.ranks == data.rank) Fill(column, data.rank);
  };
  const Check check = [&](int turn) { return CheckSum(column, turn % data.ranks, 1); };

  std::unique_ptr<DirectTreeBroadcast> direct;
  AbortUnlessOk(DirectTreeBroadcast::Create(all.brigade->endpoint(), all.brigade->bootstrap(),
                                            column.bytes(), &direct));
  AddSubject(
      all, "direct", "tree", false,
      [&](int turn, OperationStatistics*) {
        return direct->Run(turn % data.ranks,
                           ByteSpan{reinterpret_cast<std::byte*>(column.data), column.bytes()});
      },
      check, &the_case);
  MeasureAll(
      all, Broadcasts(all),
      [&](const RootedPattern& pattern) { return FromOneRoot(pattern, data); }, check, &the_case);
}

}  // namespace brigade::bench

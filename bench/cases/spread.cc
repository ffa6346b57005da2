#include "bench/cases/spread.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/contenders/brigade_group.h"
#include "bench/contenders/direct_tree.h"
#include "bench/contenders/mpi_peer.h"
#include "bench/contenders/plain_patterns.h"
#include "bench/runner/panel.h"

namespace brigade::bench {
namespace {

// The shapes of the BLACS letters of --topologies, as far as they differ on few ranks.
struct NamedTopology {
  const char* name;
  Topology topology;
};
constexpr NamedTopology kTopologies[] = {{"free", {Shape::kFree, 0}},
                                         {"tree", {Shape::kTree, 2}},
                                         {"4-nomial tree", {Shape::kTree, 4}},
                                         {"ring", {Shape::kIncreasingRings, 1}},
                                         {"fully connected", {Shape::kIncreasingRings, 1 << 20}}};
// Of broadcast and reduce only.
constexpr NamedTopology kRootedTopologies[] = {{"two trees", {Shape::kTwoTree, 0}},
                                               {"circulant", {Shape::kCirculant, 0}}};
// Of multi-broadcast and multi-reduce, beside the free one.
constexpr NamedTopology kMultiTopologies[] = {{"ring", {Shape::kIncreasingRings, 1}},
                                              {"circulant", {Shape::kCirculant, 0}}};

// ScaLAPACK's panels lie in larger local matrices: columns are never adjacent.
constexpr int64_t kGapElements = 8;

// The panels of a case.
struct PanelShape {
  int64_t rows;
  int64_t cols;
  int64_t gap;  // elements between columns
};

constexpr const char* kBarrier = "barrier";
constexpr const char* kSmallBroadcast = "small-broadcast";
constexpr int64_t kSmallElements[] = {1, 8, 64, 512, 2048};

// All contenders, made once per launch. Null where left out.
struct Contenders {
  explicit Contenders(Session* s) : session(s) {}

  bool WantsShape(const std::string& name) const {
    const std::vector<std::string>& shapes = session->options().shapes;
    return std::find(shapes.begin(), shapes.end(), name) != shapes.end();
  }

  Session* session;
  std::unique_ptr<BrigadeGroup> brigade;
  std::unique_ptr<PlainPatterns> plain;
  std::unique_ptr<MpiPeer> mpi;
};

// One way to broadcast, or to reduce, a panel from or to a root.
struct RootedPattern {
  std::string name;
  std::string pattern;
  std::function<Status(int root, const PanelView&, OperationStatistics*)> run;
  bool tells_cost = false;
};

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

void AddBrigade(const Contenders& all,
                Status (BrigadeGroup::*operation)(const Topology&, int root, const PanelView&,
                                                  OperationStatistics*),
                std::vector<RootedPattern>* patterns) {
  BrigadeGroup* group = all.brigade.get();
  const auto add = [&](const NamedTopology& named) {
    if (!all.WantsShape(named.name)) return;
    const auto run = [=, shape = named.topology](int root, const PanelView& panel,
                                                 OperationStatistics* statistics) {
      return (group->*operation)(shape, root, panel, statistics);
    };
    patterns->push_back({"brigade", named.name, run, true});
  };
  for (const NamedTopology& named : kTopologies) add(named);
  for (const NamedTopology& named : kRootedTopologies) add(named);
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

// The shim and stock BLACS, with each topology.
void AddBlacs(const Contenders& all,
              void (BlacsGrid::*operation)(char topology, int root, const PanelView&),
              std::vector<RootedPattern>* patterns) {
  const auto add = [&](const std::string& name, BlacsGrid* grid) {
    if (grid == nullptr) return;
    for (char letter : all.session->options().topologies) {
      patterns->push_back(Peer(name, TopologyName(letter), [=](int root, const PanelView& panel) {
        (grid->*operation)(letter, root, panel);
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

std::vector<RootedPattern> Broadcasts(const Contenders& all) {
  std::vector<RootedPattern> patterns;
  AddBrigade(all, &BrigadeGroup::Broadcast, &patterns);
  AddPlain(all, "tree", &PlainPatterns::TreeBroadcast, &patterns);
  AddPlain(all, "ring", &PlainPatterns::RingBroadcast, &patterns);
  AddBlacs(all, &BlacsGrid::Broadcast, &patterns);
  AddMpi(all, "MPI_Bcast", &MpiPeer::Broadcast, &patterns);
  return patterns;
}

std::vector<RootedPattern> Reductions(const Contenders& all) {
  std::vector<RootedPattern> patterns;
  AddBrigade(all, &BrigadeGroup::Reduce, &patterns);
  AddPlain(all, "tree", &PlainPatterns::TreeReduce, &patterns);
  AddPlain(all, "ring", &PlainPatterns::RingReduce, &patterns);
  AddBlacs(all, &BlacsGrid::Sum, &patterns);
  AddMpi(all, "MPI_Reduce", &MpiPeer::Reduce, &patterns);
  return patterns;
}

// The root means nothing to them.
std::vector<RootedPattern> ReductionsToAll(const Contenders& all) {
  std::vector<RootedPattern> patterns;
  const auto add_brigade = [&](const char* name, Topology topology) {
    if (!all.WantsShape(name)) return;
    BrigadeGroup* group = all.brigade.get();
    const auto run = [=](int, const PanelView& panel, OperationStatistics* statistics) {
      return group->AllReduce(topology, panel, statistics);
    };
    patterns.push_back({"brigade", name, run, true});
  };
  for (const auto& [name, topology] : kTopologies) add_brigade(name, topology);
  add_brigade("hypercube", Topology{Shape::kHypercube, 0});
  add_brigade("dealt", Topology{Shape::kDealt, 0});

  const auto add_blacs = [&](const std::string& name, BlacsGrid* grid) {
    if (grid == nullptr) return;
    for (char letter : all.session->options().topologies) {
      patterns.push_back(Peer(name, TopologyName(letter),
                              [=](int, const PanelView& panel) { grid->SumToAll(letter, panel); }));
    }
  };
  add_blacs("shim", all.session->shim());
  add_blacs(all.session->PeerName("stock"), all.session->stock());

  if (MpiPeer* mpi = all.mpi.get()) {
    patterns.push_back(Peer(all.session->PeerName("mpi"), "MPI_Allreduce",
                            [=](int, const PanelView& panel) { mpi->Allreduce(panel); }));
  }
  return patterns;
}

// The panel a case works on, and its portions.
struct SpreadData {
  SpreadData(const Session& session, const PanelShape& shape)
      : rank(session.rank()),
        ranks(session.ranks()),
        panel(shape.rows, shape.cols, shape.rows + shape.gap),
        result(shape.rows, std::max<int64_t>(panel.Columns(rank, ranks).cols, 1),
               shape.rows + shape.gap) {
    for (int q = 0; q < ranks; ++q) portions.push_back(panel.Columns(q, ranks));
    own_result = result.view();
    own_result.cols = portions[rank].cols;
  }

  const int rank;
  const int ranks;
  Panel panel;
  std::vector<PanelView> portions;
  // Where a multi-reduce that does not work in place leaves this rank's sum.
  Panel result;
  PanelView own_result;
};

Case MakeCase(const std::string& name, const PanelView& panel) {
  Case the_case;
  the_case.name = name;
  the_case.rows = panel.rows;
  the_case.cols = panel.cols;
  the_case.ld = panel.ld;
  the_case.bytes = panel.bytes();
  return the_case;
}

std::string WithGaps(const Panel& panel, std::string wrong) {
  if (!wrong.empty() || panel.GapsUntouched()) return wrong;
  return "gaps between columns were written";
}

using Check = std::function<std::string(int turn)>;
using Operation = std::function<Status(int turn, OperationStatistics*)>;

Subject MakeSubject(const Contenders& all, const std::string& name, const std::string& pattern,
                    bool tells_cost, size_t bytes, Operation operation, Check check) {
  Subject subject;
  subject.name = name;
  subject.pattern = pattern;
  subject.run = [operation](int turn) { return operation(turn, nullptr); };
  subject.check = std::move(check);
  if (tells_cost) {
    const BrigadeGroup* group = all.brigade.get();
    subject.cost = [=](int turn, Cost* cost) {
      OperationStatistics statistics;
      BRIGADE_RETURN_IF_ERROR(operation(turn, &statistics));
      *cost = group->CostOf(statistics, bytes);
      return Status();
    };
  }
  return subject;
}

// The pattern alone: the whole panel, the root rotating from run to run.
Operation FromOneRoot(const RootedPattern& pattern, const SpreadData& data) {
  return [run = pattern.run, &data](int turn, OperationStatistics* statistics) {
    return run(turn % data.ranks, data.panel.view(), statistics);
  };
}

// Every rank the root of its portion, one after the other.
Operation FromEveryRoot(const RootedPattern& pattern, const SpreadData& data) {
  return [run = pattern.run, &data](int, OperationStatistics* statistics) {
    for (int q = 0; q < data.ranks; ++q) {
      OperationStatistics one;
      BRIGADE_RETURN_IF_ERROR(run(q, data.portions[q], statistics == nullptr ? nullptr : &one));
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
  for (const RootedPattern& pattern : Broadcasts(all)) {
    the_case.subjects.push_back(MakeSubject(all, pattern.name, pattern.pattern, pattern.tells_cost,
                                            the_case.bytes, FromOneRoot(pattern, data), check));
  }
  all.session->Measure(the_case);
}

void MeasureReduce(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeCase("reduce", data.panel.view());
  the_case.prepare = [&](int) {
    data.panel.Poison();
    Fill(data.panel.view(), data.rank);
  };
  the_case.before_timing = [&] { Clear(data.panel.view()); };
  const Check check = [&](int turn) -> std::string {
    if (turn % data.ranks != data.rank) return "";
    return WithGaps(data.panel, CheckSum(data.panel.view(), 0, data.ranks));
  };
  for (const RootedPattern& pattern : Reductions(all)) {
    the_case.subjects.push_back(MakeSubject(all, pattern.name, pattern.pattern, pattern.tells_cost,
                                            the_case.bytes, FromOneRoot(pattern, data), check));
  }
  all.session->Measure(the_case);
}

void MeasureAllReduce(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeCase("all-reduce", data.panel.view());
  the_case.prepare = [&](int) {
    data.panel.Poison();
    Fill(data.panel.view(), data.rank);
  };
  the_case.before_timing = [&] { Clear(data.panel.view()); };
  const Check check = [&](int) {
    return WithGaps(data.panel, CheckSum(data.panel.view(), 0, data.ranks));
  };
  for (const RootedPattern& pattern : ReductionsToAll(all)) {
    the_case.subjects.push_back(MakeSubject(all, pattern.name, pattern.pattern, pattern.tells_cost,
                                            the_case.bytes, FromOneRoot(pattern, data), check));
  }
  all.session->Measure(the_case);
}

// The case in which every rank has its own portion before and all have all afterwards.
Case MakeGatherCase(const std::string& name, SpreadData* data) {
  Case the_case = MakeCase(name, data->panel.view());
  the_case.prepare = [data](int) {
    data->panel.Poison();
    Fill(data->portions[data->rank], data->rank);
  };
  return the_case;
}

std::string CheckGathered(const SpreadData& data) {
  std::string wrong;
  for (int q = 0; q < data.ranks && wrong.empty(); ++q) {
    wrong = CheckSum(data.portions[q], q, 1);
    if (!wrong.empty()) wrong = "portion " + std::to_string(q) + ", " + wrong;
  }
  return WithGaps(data.panel, wrong);
}

// Q broadcasts, one after the other, from roots in order: those along increasing rings follow each
// other without a bubble.
void MeasureSuccessiveBroadcasts(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeGatherCase("successive-broadcasts", &data);
  for (const RootedPattern& pattern : Broadcasts(all)) {
    the_case.subjects.push_back(MakeSubject(all, pattern.name, pattern.pattern, pattern.tells_cost,
                                            the_case.bytes, FromEveryRoot(pattern, data),
                                            [&](int) { return CheckGathered(data); }));
  }
  all.session->Measure(the_case);
}

void MeasureMultiBroadcast(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeGatherCase("multi-broadcast", &data);
  const Check check = [&](int) { return CheckGathered(data); };
  const auto add = [&](const std::string& name, const std::string& pattern, bool tells_cost,
                       Operation operation) {
    the_case.subjects.push_back(
        MakeSubject(all, name, pattern, tells_cost, the_case.bytes, std::move(operation), check));
  };
  add("brigade", "multi-broadcast", true, [&](int, OperationStatistics* statistics) {
    return all.brigade->MultiBroadcast({Shape::kFree, 0}, data.portions, statistics);
  });
  for (const NamedTopology& named : kMultiTopologies) {
    if (!all.WantsShape(named.name)) continue;
    add("brigade", std::string("multi-broadcast, ") + named.name, true,
        [&, topology = named.topology](int, OperationStatistics* statistics) {
          return all.brigade->MultiBroadcast(topology, data.portions, statistics);
        });
  }
  if (all.plain) {
    add("plain", "multi-broadcast", false, [&](int, OperationStatistics*) {
      all.plain->MultiBroadcast(data.portions);
      return Status();
    });
  }
  if (all.mpi) {
    add(all.session->PeerName("mpi"), shape.gap == 0 ? "MPI_Allgather" : "MPI_Allgatherv", false,
        [&](int, OperationStatistics*) {
          all.mpi->Allgather(data.portions);
          return Status();
        });
  }
  if (shape.gap == 0) return all.session->Measure(the_case);  // pattern beside collective, no more
  for (const RootedPattern& pattern : Broadcasts(all)) {
    add(pattern.name, "Q x " + pattern.pattern, pattern.tells_cost, FromEveryRoot(pattern, data));
  }
  all.session->Measure(the_case);
}

void MeasureMultiReduce(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeCase("multi-reduce", data.panel.view());
  the_case.prepare = [&](int) {
    data.panel.Poison();
    data.result.Poison();
    for (int q = 0; q < data.ranks; ++q) Fill(data.portions[q], q * data.ranks + data.rank);
  };
  the_case.before_timing = [&] { Clear(data.panel.view()); };
  const int first_source = data.rank * data.ranks;
  const Check in_place = [&](int) {
    return WithGaps(data.panel, CheckSum(data.portions[data.rank], first_source, data.ranks));
  };
  const Check apart = [&](int) {
    return WithGaps(data.result, CheckSum(data.own_result, first_source, data.ranks));
  };
  const auto add = [&](const std::string& name, const std::string& pattern, bool tells_cost,
                       Operation operation, const Check& check) {
    the_case.subjects.push_back(
        MakeSubject(all, name, pattern, tells_cost, the_case.bytes, std::move(operation), check));
  };
  add(
      "brigade", "multi-reduce", true,
      [&](int, OperationStatistics* statistics) {
        return all.brigade->MultiReduce({Shape::kFree, 0}, data.portions, data.own_result,
                                        statistics);
      },
      apart);
  for (const NamedTopology& named : kMultiTopologies) {
    if (!all.WantsShape(named.name)) continue;
    add(
        "brigade", std::string("multi-reduce, ") + named.name, true,
        [&, topology = named.topology](int, OperationStatistics* statistics) {
          return all.brigade->MultiReduce(topology, data.portions, data.own_result, statistics);
        },
        apart);
  }
  if (all.plain) {
    add(
        "plain", "multi-reduce", false,
        [&](int, OperationStatistics*) {
          all.plain->MultiReduce(data.portions, data.own_result);
          return Status();
        },
        apart);
  }
  if (all.mpi) {
    add(
        all.session->PeerName("mpi"), "MPI_Reduce_scatter", false,
        [&](int, OperationStatistics*) {
          all.mpi->ReduceScatter(data.portions, data.own_result);
          return Status();
        },
        apart);
  }
  if (all.mpi && shape.gap == 0) {
    add(
        all.session->PeerName("mpi"), "MPI_Reduce_scatter_block", false,
        [&](int, OperationStatistics*) {
          all.mpi->ReduceScatterBlock(data.portions, data.own_result);
          return Status();
        },
        apart);
  }
  if (shape.gap == 0) return all.session->Measure(the_case);  // as above
  for (const RootedPattern& pattern : Reductions(all)) {
    add(pattern.name, "Q x " + pattern.pattern, pattern.tells_cost, FromEveryRoot(pattern, data),
        in_place);
  }
  all.session->Measure(the_case);
}

// The broadcast of one column of few elements, where the engine's own work would show.
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
  the_case.subjects.push_back(MakeSubject(
      all, "direct", "tree", false, the_case.bytes,
      [&](int turn, OperationStatistics*) {
        return direct->Run(turn % data.ranks,
                           ByteSpan{reinterpret_cast<std::byte*>(column.data), column.bytes()});
      },
      check));
  for (const RootedPattern& pattern : Broadcasts(all)) {
    the_case.subjects.push_back(MakeSubject(all, pattern.name, pattern.pattern, pattern.tells_cost,
                                            the_case.bytes, FromOneRoot(pattern, data), check));
  }
  all.session->Measure(the_case);
}

// Nobody may leave before all have come. That is checked by the clock, which ranks of one machine
// share, with one rank late; no time is asserted but the order.
void MeasureBarrier(const Contenders& all) {
  using Clock = std::chrono::steady_clock;
  Session* session = all.session;
  bool verifying = false;
  Clock::time_point came, left;
  Case the_case;
  the_case.name = kBarrier;
  the_case.prepare = [&](int) { verifying = true; };
  the_case.before_timing = [&] { verifying = false; };
  const auto add = [&](const std::string& name, const std::string& pattern,
                       std::function<Status(OperationStatistics*)> barrier) {
    const auto run = [&, barrier](int turn, OperationStatistics* statistics) {
      if (!verifying) return barrier(statistics);
      if (turn == session->rank()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      came = Clock::now();
      BRIGADE_RETURN_IF_ERROR(barrier(statistics));
      left = Clock::now();
      return Status();
    };
    const auto check = [&](int) -> std::string {
      int64_t last = came.time_since_epoch().count();
      MPI_Allreduce(MPI_IN_PLACE, &last, 1, MPI_INT64_T, MPI_MAX, session->comm());
      return left.time_since_epoch().count() >= last ? "" : "left before all had come";
    };
    the_case.subjects.push_back(MakeSubject(all, name, pattern, false, 0, run, check));
  };
  add("brigade", kBarrier,
      [&](OperationStatistics* statistics) { return all.brigade->Barrier(statistics); });
  if (all.mpi) {
    add(session->PeerName("mpi"), "MPI_Barrier", [&](OperationStatistics*) {
      all.mpi->Barrier();
      return Status();
    });
  }
  session->Measure(the_case);
}

struct SpreadCase {
  const char* name;
  const char* title;
  void (*measure)(const Contenders& all, const PanelShape& shape);
};

constexpr SpreadCase kSpreadCases[] = {
    {"multi-broadcast", "Multi-broadcast: every rank's portion to all", MeasureMultiBroadcast},
    {"multi-reduce", "Multi-reduce: portion q summed at rank q", MeasureMultiReduce},
    {"broadcast", "Broadcast from one rank", MeasureBroadcast},
    {"reduce", "Reduction to one rank", MeasureReduce},
    {"all-reduce", "Reduction to all ranks", MeasureAllReduce},
    {"successive-broadcasts", "Broadcasts from every rank in turn", MeasureSuccessiveBroadcasts},
};

// What is to be measured, and what to call it.
std::vector<std::pair<std::string, PanelShape>> ShapesOf(const Options& options, int ranks) {
  std::vector<std::pair<std::string, PanelShape>> shapes;
  if (options.contiguous_bytes.empty()) {
    for (const SpreadSize& size : options.sizes) {
      const int64_t cols = size.cols * (size.cols_per_rank ? ranks : 1);
      shapes.push_back({size.text, {size.rows, cols, kGapElements}});
    }
  }
  for (const size_t bytes : options.contiguous_bytes) {
    const auto rows = static_cast<int64_t>(bytes / sizeof(double)) / ranks;
    shapes.push_back({std::to_string(bytes) + " bytes", {std::max<int64_t>(rows, 1), ranks, 0}});
  }
  return shapes;
}

}  // namespace

void RunSpread(Session* session) {
  const Options& options = session->options();
  Contenders all(session);
  AbortUnlessOk(BrigadeGroup::Create(session->comm(), options, &all.brigade));
  if (options.HasPeer("plain")) all.plain = std::make_unique<PlainPatterns>(session->comm());
  if (options.HasPeer("mpi")) all.mpi = std::make_unique<MpiPeer>(session->comm());

  const auto wanted = [&](const char* name) {
    return std::find(options.cases.begin(), options.cases.end(), name) != options.cases.end();
  };
  const std::vector<std::pair<std::string, PanelShape>> shapes =
      ShapesOf(options, session->ranks());
  for (const SpreadCase& spread_case : kSpreadCases) {
    if (!wanted(spread_case.name)) continue;
    for (const auto& [text, shape] : shapes) {
      session->StartTable(std::string(spread_case.title) + ", " + text);
      spread_case.measure(all, shape);
    }
  }
  if (wanted(kBarrier)) {
    session->StartTable("Barrier");
    MeasureBarrier(all);
  }
  if (!wanted(kSmallBroadcast)) return;
  session->StartTable("Small broadcast from one rank");
  for (int64_t elements : kSmallElements) {
    MeasureSmallBroadcast(all, elements);
  }
}

}  // namespace brigade::bench

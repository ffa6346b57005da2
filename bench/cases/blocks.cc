#include "bench/cases/blocks.h"

#include <functional>
#include <string>

#include "patterns/schedule/geometry.h"

namespace brigade::bench {
namespace {

constexpr NamedTopology kTrees[] = {{"free", {Shape::kFree, 0}},
                                    {"tree", {Shape::kTree, 2}},
                                    {"ring", {Shape::kIncreasingRings, 1}},
                                    {"fully connected", {Shape::kTree, kFlatBranches}}};
constexpr NamedTopology kOfAllToAll[] = {{"free", {Shape::kFree, 0}},
                                         {"ring", {Shape::kIncreasingRings, 1}},
                                         {"circulant", {Shape::kCirculant, 0}}};
constexpr NamedTopology kOfScans[] = {{"free", {Shape::kFree, 0}},
                                      {"ring", {Shape::kIncreasingRings, 1}},
                                      {"hypercube", {Shape::kHypercube, 0}}};

template <size_t kCount>
void AddBrigade(const Contenders& all, const NamedTopology (&topologies)[kCount],
                const std::function<Status(const Topology&, int turn, OperationStatistics*)>& run,
                const Check& check, Case* the_case) {
  for (const NamedTopology& named : topologies) {
    if (!all.WantsShape(named.name)) continue;
    const Operation operation = [run, topology = named.topology](int turn,
                                                                 OperationStatistics* statistics) {
      return run(topology, turn, statistics);
    };
    AddSubject(all, "brigade", named.name, /*tells_cost=*/true, operation, check, the_case);
  }
}

void AddMpi(const Contenders& all, const char* pattern, const std::function<void(int turn)>& run,
            const Check& check, Case* the_case) {
  if (all.mpi == nullptr) return;
  const Operation operation = [run](int turn, OperationStatistics*) {
    run(turn);
    return Status();
  };
  AddSubject(all, all.session->PeerName("mpi"), pattern, /*tells_cost=*/false, operation, check,
             the_case);
}

// `pattern`: scan, or exscan, which leaves rank 0 without a result.
void MeasurePrefixes(const Contenders& all, const PanelShape& shape, Pattern pattern) {
  const bool exclusive = pattern == Pattern::kExscan;
  SpreadData data(*all.session, shape);
  Case the_case = MakeCase(exclusive ? "exscan" : "scan", data.panel.view());
  the_case.prepare = [&](int) {
    data.panel.Poison();
    Fill(data.panel.view(), data.rank);
  };
  the_case.before_timing = [&] { Clear(data.panel.view()); };
  const Check check = [&](int) {
    const int summed = data.rank + (exclusive ? 0 : 1);
    return WithGaps(data.panel, summed == 0 ? "" : CheckSum(data.panel.view(), 0, summed));
  };
  const auto run = [&](const Topology& topology, int, OperationStatistics* statistics) {
    return all.brigade->Scan(pattern, topology, data.panel.view(), statistics);
  };
  AddBrigade(all, kOfScans, run, check, &the_case);
  AddMpi(
      all, exclusive ? "MPI_Exscan" : "MPI_Scan",
      [&](int) { all.mpi->Scan(data.panel.view(), exclusive); }, check, &the_case);
  all.session->Measure(the_case);
}

}  // namespace

void MeasureGather(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeGatherCase("gather", &data);
  const Check check = [&](int turn) {
    if (data.rank == turn % data.ranks) return CheckGathered(data);
    return WithGaps(data.panel, CheckSum(data.blocks[data.rank], data.rank, 1));
  };
  const auto run = [&](const Topology& topology, int turn, OperationStatistics* statistics) {
    return all.brigade->Gather(topology, turn % data.ranks, data.blocks, statistics);
  };
  AddBrigade(all, kTrees, run, check, &the_case);
  AddMpi(
      all, "MPI_Gather", [&](int turn) { all.mpi->Gather(turn % data.ranks, data.blocks); }, check,
      &the_case);
  all.session->Measure(the_case);
}

void MeasureScatter(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeCase("scatter", data.panel.view());
  the_case.prepare = [&](int turn) {
    data.panel.Poison();
    if (data.rank != turn % data.ranks) return;
    for (int q = 0; q < data.ranks; ++q) Fill(data.blocks[q], q);
  };
  const Check check = [&](int) {
    return WithGaps(data.panel, CheckSum(data.blocks[data.rank], data.rank, 1));
  };
  const auto run = [&](const Topology& topology, int turn, OperationStatistics* statistics) {
    return all.brigade->Scatter(topology, turn % data.ranks, data.blocks, statistics);
  };
  AddBrigade(all, kTrees, run, check, &the_case);
  AddMpi(
      all, "MPI_Scatter", [&](int turn) { all.mpi->Scatter(turn % data.ranks, data.blocks); },
      check, &the_case);
  all.session->Measure(the_case);
}

void MeasureAllToAll(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  SpreadData sent(*all.session, shape);
  const int64_t cols = shape.cols / data.ranks;
  for (int q = 0; q < data.ranks; ++q) data.blocks[q].cols = sent.blocks[q].cols = cols;
  Case the_case = MakeCase("all-to-all", data.panel.view());
  the_case.prepare = [&](int) {
    data.panel.Poison();
    for (int q = 0; q < data.ranks; ++q) Fill(sent.blocks[q], data.rank * data.ranks + q);
  };
  const Check check = [&](int) {
    std::string wrong;
    for (int q = 0; q < data.ranks && wrong.empty(); ++q) {
      wrong = CheckSum(data.blocks[q], q * data.ranks + data.rank, 1);
    }
    return WithGaps(data.panel, wrong);
  };
  const auto run = [&](const Topology& topology, int, OperationStatistics* statistics) {
    return all.brigade->AllToAll(topology, sent.blocks, data.blocks, statistics);
  };
  AddBrigade(all, kOfAllToAll, run, check, &the_case);
  AddMpi(
      all, "MPI_Alltoall", [&](int) { all.mpi->Alltoall(sent.blocks, data.blocks); }, check,
      &the_case);
  all.session->Measure(the_case);
}

void MeasureScan(const Contenders& all, const PanelShape& shape) {
  MeasurePrefixes(all, shape, Pattern::kScan);
}

void MeasureExscan(const Contenders& all, const PanelShape& shape) {
  MeasurePrefixes(all, shape, Pattern::kExscan);
}

}  // namespace brigade::bench

#include "bench/cases/multi.h"

#include <functional>
#include <string>
#include <utility>

#include "bench/cases/rooted.h"

namespace brigade::bench {
namespace {

// Beside the free one.
constexpr NamedTopology kTopologies[] = {{"ring", {Shape::kIncreasingRings, 1}},
                                         {"circulant", {Shape::kCirculant, 0}}};

// Adds subjects that share a check to a case.
class Adder {
 public:
  Adder(const Contenders& all, Case* the_case, Check check)
      : all_(all), case_(the_case), check_(std::move(check)) {}

  // `run` takes a topology, and statistics or null.
  void Brigade(const std::string& pattern,
               const std::function<Status(const Topology&, OperationStatistics*)>& run) const {
    const auto along = [run](const Topology& topology) {
      return [=](int, OperationStatistics* statistics) { return run(topology, statistics); };
    };
    Add("brigade", pattern, true, along({Shape::kFree, 0}));
    for (const NamedTopology& named : kTopologies) {
      if (!all_.WantsShape(named.name)) continue;
      Add("brigade", pattern + ", " + named.name, true, along(named.topology));
    }
  }

  void Peer(const std::string& name, const std::string& pattern,
            const std::function<void()>& run) const {
    Add(name, pattern, false, [run](int, OperationStatistics*) {
      run();
      return Status();
    });
  }

  void FromEveryRoot(const RootedPattern& pattern, const SpreadData& data) const {
    Add(pattern.name, "Q x " + pattern.pattern, pattern.tells_cost,
        bench::FromEveryRoot(pattern, data));
  }

 private:
  void Add(const std::string& name, const std::string& pattern, bool tells_cost,
           const Operation& operation) const {
    AddSubject(all_, name, pattern, tells_cost, operation, check_, case_);
  }

  const Contenders& all_;
  Case* case_;
  Check check_;
};

// On contiguous panels a pattern is compared with its collective, no more.
bool IsContiguous(const PanelShape& shape) { return shape.gap == 0; }

}  // namespace

void MeasureMultiBroadcast(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeGatherCase("multi-broadcast", &data);
  const Adder add(all, &the_case, [&](int) { return CheckGathered(data); });
  add.Brigade("multi-broadcast", [&](const Topology& topology, OperationStatistics* statistics) {
    return all.brigade->MultiBroadcast(topology, data.blocks, statistics);
  });
  if (all.plain) {
    add.Peer("plain", "multi-broadcast", [&] { all.plain->MultiBroadcast(data.blocks); });
  }
  if (all.mpi) {
    add.Peer(all.session->PeerName("mpi"), IsContiguous(shape) ? "MPI_Allgather" : "MPI_Allgatherv",
             [&] { all.mpi->Allgather(data.blocks); });
  }
  if (!IsContiguous(shape)) {
    for (const RootedPattern& pattern : Broadcasts(all)) add.FromEveryRoot(pattern, data);
  }
  all.session->Measure(the_case);
}

void MeasureMultiReduce(const Contenders& all, const PanelShape& shape) {
  SpreadData data(*all.session, shape);
  Case the_case = MakeCase("multi-reduce", data.panel.view());
  the_case.prepare = [&](int) {
    data.panel.Poison();
    data.result.Poison();
    for (int q = 0; q < data.ranks; ++q) Fill(data.blocks[q], q * data.ranks + data.rank);
  };
  the_case.before_timing = [&] { Clear(data.panel.view()); };
  const int first_source = data.rank * data.ranks;
  const Adder apart(all, &the_case, [&](int) {
    return WithGaps(data.result, CheckSum(data.own_result, first_source, data.ranks));
  });
  const Adder in_place(all, &the_case, [&](int) {
    return WithGaps(data.panel, CheckSum(data.blocks[data.rank], first_source, data.ranks));
  });
  apart.Brigade("multi-reduce", [&](const Topology& topology, OperationStatistics* statistics) {
    return all.brigade->MultiReduce(topology, data.blocks, data.own_result, statistics);
  });
  if (all.plain) {
    apart.Peer("plain", "multi-reduce",
               [&] { all.plain->MultiReduce(data.blocks, data.own_result); });
  }
  if (all.mpi) {
    apart.Peer(all.session->PeerName("mpi"), "MPI_Reduce_scatter",
               [&] { all.mpi->ReduceScatter(data.blocks, data.own_result); });
  }
  if (all.mpi && IsContiguous(shape)) {
    apart.Peer(all.session->PeerName("mpi"), "MPI_Reduce_scatter_block",
               [&] { all.mpi->ReduceScatterBlock(data.blocks, data.own_result); });
  }
  if (!IsContiguous(shape)) {
    for (const RootedPattern& pattern : Reductions(all)) in_place.FromEveryRoot(pattern, data);
  }
  all.session->Measure(the_case);
}

}  // namespace brigade::bench

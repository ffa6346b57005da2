// Common parts of the cases of `spread`: contenders, the panel of a case, and its check.

#ifndef BRIGADE_BENCH_CASES_SPREAD_DATA_H_
#define BRIGADE_BENCH_CASES_SPREAD_DATA_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/cases/allocate.h"
#include "bench/cases/session.h"
#include "bench/contenders/brigade_group.h"
#include "bench/contenders/mpi_peer.h"
#include "bench/contenders/plain_patterns.h"
#include "bench/runner/case.h"
#include "bench/runner/panel.h"

namespace brigade::bench {

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

// A topology of Brigade that is measured, as --shapes names it.
struct NamedTopology {
  const char* name;
  Topology topology;
};

// The panels of a case.
struct PanelShape {
  int64_t rows;
  int64_t cols;
  int64_t gap;  // elements between columns
};

// The panel a case works on, and its blocks.
struct SpreadData {
  SpreadData(const Session& session, const PanelShape& shape)
      : rank(session.rank()),
        ranks(session.ranks()),
        panel(shape.rows, shape.cols, shape.rows + shape.gap,
              AllocateIf(session.options().allocated, (shape.rows + shape.gap) * shape.cols)),
        result(shape.rows, std::max<int64_t>(panel.Columns(rank, ranks).cols, 1),
               shape.rows + shape.gap) {
    for (int q = 0; q < ranks; ++q) blocks.push_back(panel.Columns(q, ranks));
    own_result = result.view();
    own_result.cols = blocks[rank].cols;
  }

  const int rank;
  const int ranks;
  Panel panel;
  std::vector<PanelView> blocks;
  // Where a multi-reduce that does not work in place leaves this rank's sum.
  Panel result;
  PanelView own_result;
};

// A case on `panel`, without subjects.
Case MakeCase(const std::string& name, const PanelView& panel);

// The case in which every rank has its own block before and all have all afterwards.
Case MakeGatherCase(const std::string& name, SpreadData* data);

// Each returns an error text, or nothing.
std::string WithGaps(const Panel& panel, std::string wrong);
std::string CheckGathered(const SpreadData& data);

using Check = std::function<std::string(int turn)>;
using Operation = std::function<Status(int turn, OperationStatistics*)>;

// `tells_cost`: the operation fills the statistics that it is given.
void AddSubject(const Contenders& all, const std::string& name, const std::string& pattern,
                bool tells_cost, const Operation& operation, Check check, Case* the_case);

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CASES_SPREAD_DATA_H_

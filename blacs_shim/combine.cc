#include "blacs_shim/combine.h"

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <exception>
#include <vector>

#include "blacs_shim/runtime.h"
#include "blacs_shim/topology_letters.h"

namespace brigade {
namespace blacs {
namespace {

// A combine ready to run, except for its locations.
struct Prepared {
  Scope scope;
  bool result_to_all;
  PatternCall pattern_call;
};

Prepared Prepare(const Call& call, CombineOp op, Element type, const char* scope, const char* top,
                 const MatrixArguments& matrix, int64_t row, int64_t col) {
  Prepared prepared;
  prepared.scope = call.ScopeOf(scope);
  prepared.result_to_all = row == -1 || col == -1;
  PatternCall& pattern_call = prepared.pattern_call;
  pattern_call.pattern = prepared.result_to_all ? Pattern::kAllReduce : Pattern::kReduce;
  pattern_call.scope = prepared.scope.kind;
  if (!CombineTopology(*top, call.grid().topologies, prepared.result_to_all,
                       &pattern_call.topology)) {
    call.FailUnknownTopology(top);
  }
  if (!prepared.result_to_all) {
    pattern_call.root = call.RankOf(prepared.scope, "destination", row, col);
  }
  call.SetMatrix(matrix, &pattern_call.matrix);
  pattern_call.op = op;
  pattern_call.type = type;
  pattern_call.topology_is_hint = true;
  return prepared;
}

// False if there is not so much memory.
bool Resize(std::vector<int32_t>* locations, size_t size) {
  try {
    locations->resize(size);
  } catch (const std::exception&) {
    return false;
  }
  return true;
}

// Writes the winners' grid coordinates. A location is the winner's distance from the destination
// (from rank 0 if all are), so that the order of locations is the order in which processes win
// ties.
void WriteWinners(const Call& call, const Prepared& prepared, const MatrixArguments& matrix,
                  const int32_t* locations, const WinnerArguments& winners) {
  const ProcessGrid& grid = call.grid();
  const int64_t ldia = std::max(winners.ldia, matrix.m);
  for (int64_t j = 0; j < matrix.n; ++j) {
    for (int64_t i = 0; i < matrix.m; ++i) {
      int rank = *locations++ + prepared.pattern_call.root;
      if (rank >= prepared.scope.size) rank -= prepared.scope.size;
      int row = grid.row;
      int col = grid.col;
      switch (prepared.scope.kind) {
        case ChannelKind::kRow:
          col = rank;
          break;
        case ChannelKind::kColumn:
          row = rank;
          break;
        default:
          row = rank / grid.cols;
          col = rank % grid.cols;
      }
      winners.rows.Set(j * ldia + i, row);
      winners.cols.Set(j * ldia + i, col);
    }
  }
}

}  // namespace

void Sum(const Routine& routine, int64_t context, const char* scope, const char* top,
         const MatrixArguments& matrix, int64_t row, int64_t col) {
  const Call call(routine, context);
  const Prepared prepared =
      Prepare(call, CombineOp::kSum, routine.type, scope, top, matrix, row, col);
  call.Run(prepared.scope, *top, prepared.pattern_call);
}

void Extreme(const Routine& routine, int64_t context, const char* scope, const char* top,
             const MatrixArguments& matrix, const WinnerArguments& winners, int64_t row,
             int64_t col) {
  const Call call(routine, context);
  const CombineOp op = routine.verb == Verb::kGamx2d ? CombineOp::kAbsMax : CombineOp::kAbsMin;
  Prepared prepared = Prepare(call, op, routine.type, scope, top, matrix, row, col);
  const int size = prepared.scope.size;
  PatternCall& pattern_call = prepared.pattern_call;
  const bool delivered_here = prepared.result_to_all || prepared.scope.rank == pattern_call.root;
  const bool names_winners = winners.ldia != -1;
  const size_t elems = static_cast<size_t>(matrix.m) * matrix.n;
  if (names_winners && delivered_here && elems > 0 &&
      (winners.rows.null() || winners.cols.null())) {
    Fail(call.origin(),
         "rA or cA is null, but ldia = %" PRId64
         " requests the winners: pass both arrays, or ldia = -1",
         winners.ldia);
  }
  std::vector<int32_t>& locations = Runtime::Current()->location_scratch();
  if (names_winners) {
    // One more than needed: an empty combine has locations, too, and they are not null.
    if (locations.size() <= elems && !Resize(&locations, elems + 1)) {
      Fail(call.origin(), "no memory for the winners of %" PRId64 " x %" PRId64 " elements",
           matrix.m, matrix.n);
    }
    std::fill_n(locations.begin(), elems, (prepared.scope.rank - pattern_call.root + size) % size);
    pattern_call.locations = locations.data();
  }
  call.Run(prepared.scope, *top, pattern_call);
  if (names_winners && delivered_here) {
    WriteWinners(call, prepared, matrix, locations.data(), winners);
  }
}

}  // namespace blacs
}  // namespace brigade

#include "blacs_shim/call.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>

#include "blacs_shim/statistics.h"
#include "patterns/catalogue/catalogue.h"
#include "patterns/engine/out_of_memory.h"

namespace brigade {
namespace blacs {
namespace {

bool StartsWith(const char* text, char upper) { return (*text & ~0x20) == upper; }

uint64_t NowNs() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

}  // namespace

MatrixArguments General(const void* data, int64_t m, int64_t n, int64_t lda) {
  return MatrixArguments{const_cast<void*>(data), m, n, lda};
}

MatrixArguments Trapezoid(const char* uplo, const char* diag, const void* data, int64_t m,
                          int64_t n, int64_t lda) {
  MatrixArguments arguments = General(data, m, n, lda);
  arguments.part =
      StartsWith(uplo, 'U') ? StridedLayout::Part::kUpper : StridedLayout::Part::kLower;
  if (StartsWith(diag, 'U')) arguments.diagonal = StridedLayout::Diagonal::kLeftOut;
  return arguments;
}

bool FindScope(const ProcessGrid& grid, const char* letter, Scope* scope) {
  if (StartsWith(letter, 'R')) {
    *scope = Scope{ChannelKind::kRow, grid.cols, grid.col};
  } else if (StartsWith(letter, 'C')) {
    *scope = Scope{ChannelKind::kColumn, grid.rows, grid.row};
  } else if (StartsWith(letter, 'A')) {
    *scope = Scope{ChannelKind::kAll, grid.rows * grid.cols, grid.RankAt(grid.row, grid.col)};
  } else {
    return false;
  }
  return true;
}

Scope Call::ScopeOf(const char* letter) const {
  Scope scope;
  if (!FindScope(grid_, letter, &scope)) {
    Fail(origin(), "unknown scope '%.1s': must be R, C or A", letter);
  }
  return scope;
}

void Call::SetMatrix(const MatrixArguments& arguments, Matrix* matrix) const {
  if (arguments.m < 0) Fail(origin(), "m = %" PRId64 " is negative", arguments.m);
  if (arguments.n < 0) Fail(origin(), "n = %" PRId64 " is negative", arguments.n);
  matrix->data = static_cast<std::byte*>(arguments.data);
  const int64_t ld = std::max(arguments.lda, arguments.m);
  const size_t elem_bytes = ElementBytes(routine_.type);
  const Status status =
      arguments.part == StridedLayout::Part::kGeneral
          ? StridedLayout::General(arguments.m, arguments.n, ld, elem_bytes, &matrix->layout)
          : StridedLayout::Trapezoid(arguments.part, arguments.diagonal, arguments.m, arguments.n,
                                     ld, elem_bytes, &matrix->layout);
  if (!status.ok()) Fail(origin(), status);
}

int Call::RankOf(const char* what, int64_t row, int64_t col) const {
  if (!grid_.Contains(row, col)) {
    Fail(origin(), "%s {%" PRId64 ",%" PRId64 "} is outside the %d x %d grid", what, row, col,
         grid_.rows, grid_.cols);
  }
  return grid_.RankAt(static_cast<int>(row), static_cast<int>(col));
}

int Call::RankOf(const Scope& scope, const char* what, int64_t row, int64_t col) const {
  switch (scope.kind) {
    case ChannelKind::kRow:
      return RankOf(what, grid_.row, col) - grid_.RankAt(grid_.row, 0);
    case ChannelKind::kColumn:
      return RankOf(what, row, grid_.col) / grid_.cols;
    default:
      return RankOf(what, row, col);
  }
}

void Call::FailUnknownTopology(const char* letter) const {
  Fail(origin(), "unknown topology '%.1s': must be a space, 1 to 9, D, F, H, I, M, S or T", letter);
}

TraceSpan Call::Record(char letter, const PatternCall& call) const {
  if (Trace::current() == nullptr) return TraceSpan(routine_.name);
  const int peer = EntryOf(call.pattern).rooted ? call.root : -1;
  const size_t bytes = call.matrix.layout.bytes();
  if (call.scope == ChannelKind::kPointToPoint) return TraceSpan(routine_.name, bytes, peer);
  return TraceSpan(routine_.name, bytes, peer, "RCA"[static_cast<int>(call.scope) - 1], letter);
}

void Call::Run(char letter, const PatternCall& call) const {
  const TraceSpan span = Record(letter, call);
  Statistics* const statistics = Runtime::Current()->statistics();
  const Status status = CatchOutOfMemory([&] {
    if (statistics == nullptr) return grid_.group->Run(call);
    OperationStatistics operation;
    const uint64_t start_ns = NowNs();
    Status ran = grid_.group->Run(call, &operation);
    statistics->Add(routine_, letter, call.matrix.layout.bytes(), NowNs() - start_ns,
                    operation.wait_ns);
    return ran;
  });
  if (!status.ok()) Fail(origin(), status);
}

void Call::Run(const Scope& scope, char letter, const PatternCall& call) const {
  if (scope.size > 1) {
    Run(letter, call);
    return;
  }
  const TraceSpan span = Record(letter, call);
  if (Statistics* statistics = Runtime::Current()->statistics()) {
    statistics->Add(routine_, letter, call.matrix.layout.bytes(), /*elapsed_ns=*/0, /*wait_ns=*/0);
  }
}

}  // namespace blacs
}  // namespace brigade

// Call: the common part of all communication routines: it lets one caller in, finds the grid,
// checks and translates the arguments, runs the pattern, and turns a failure into an error.

#ifndef BRIGADE_BLACS_SHIM_CALL_H_
#define BRIGADE_BLACS_SHIM_CALL_H_

#include <cstdint>

#include "blacs_shim/errors.h"
#include "blacs_shim/process_grid.h"
#include "blacs_shim/routine.h"
#include "blacs_shim/runtime.h"
#include "membuf/strided_layout.h"
#include "patterns/engine/pattern_call.h"
#include "patterns/trace/trace.h"
#include "transport/endpoint.h"

namespace brigade {
namespace blacs {

// A matrix as a caller describes it. An `lda` below `m` counts as `m`.
struct MatrixArguments {
  void* data;
  int64_t m;
  int64_t n;
  int64_t lda;
  StridedLayout::Part part = StridedLayout::Part::kGeneral;
  StridedLayout::Diagonal diagonal = StridedLayout::Diagonal::kIncluded;
};

// `data` of a routine that only reads is const to its caller and stays unwritten.
MatrixArguments General(const void* data, int64_t m, int64_t n, int64_t lda);
// Upper if `uplo` begins with U, else lower; without diagonal if `diag` begins with U.
MatrixArguments Trapezoid(const char* uplo, const char* diag, const void* data, int64_t m,
                          int64_t n, int64_t lda);

// The ranks of an operation, as seen from the calling rank.
struct Scope {
  ChannelKind kind;
  int size;
  int rank;
};

// False if there is no such scope.
bool FindScope(const ProcessGrid& grid, const char* letter, Scope* scope);

class Call {
 public:
  Call(const Routine& routine, int64_t context)
      : entry_(routine.name),
        routine_(routine),
        grid_(GridOf(routine.name, context)),
        context_(static_cast<int>(context)) {}

  ProcessGrid& grid() const { return grid_; }
  Origin origin() const { return OriginOf(routine_.name, context_); }

  Scope ScopeOf(const char* letter) const;
  void SetMatrix(const MatrixArguments& arguments, Matrix* matrix) const;
  // Rank of {row,col} in the whole grid. `what` names the process in messages ("source").
  int RankOf(const char* what, int64_t row, int64_t col) const;
  // Rank of {row,col} in a scope. In a row or column only one coordinate counts.
  int RankOf(const Scope& scope, const char* what, int64_t row, int64_t col) const;
  [[noreturn]] void FailUnknownTopology(const char* letter) const;

  // Runs a call. `letter`: for statistics.
  void Run(char letter, const PatternCall& call) const;
  // Runs a call over a scope. In a scope of one process it has no effect except in statistics.
  void Run(const Scope& scope, char letter, const PatternCall& call) const;

 private:
  // Records the call in the trace, if there is one.
  TraceSpan Record(char letter, const PatternCall& call) const;

  const Entry entry_;
  const Routine& routine_;
  ProcessGrid& grid_;
  const int context_;
};

}  // namespace blacs
}  // namespace brigade

#endif  // BRIGADE_BLACS_SHIM_CALL_H_

#include "blacs_shim/broadcast.h"

#include <cinttypes>

#include "blacs_shim/topology_letters.h"

namespace brigade {
namespace blacs {
namespace {

constexpr Routine kBarrierRoutine{"blacs_barrier", Verb::kBarrier, Element::kInt32};

void Broadcast(const Call& call, const Scope& scope, const char* top, const MatrixArguments& matrix,
               int root) {
  PatternCall pattern_call;
  pattern_call.pattern = Pattern::kBroadcast;
  pattern_call.scope = scope.kind;
  if (!BroadcastTopology(*top, call.grid().topologies, &pattern_call.topology)) {
    call.FailUnknownTopology(top);
  }
  pattern_call.root = root;
  call.SetMatrix(matrix, &pattern_call.matrix);
  pattern_call.topology_is_hint = true;
  call.Run(scope, *top, pattern_call);
}

}  // namespace

void BroadcastSend(const Routine& routine, int64_t context, const char* scope, const char* top,
                   const MatrixArguments& matrix) {
  const Call call(routine, context);
  const Scope found = call.ScopeOf(scope);
  Broadcast(call, found, top, matrix, found.rank);
}

void BroadcastReceive(const Routine& routine, int64_t context, const char* scope, const char* top,
                      const MatrixArguments& matrix, int64_t row, int64_t col) {
  const Call call(routine, context);
  const Scope found = call.ScopeOf(scope);
  const int root = call.RankOf(found, "source", row, col);
  if (root == found.rank && found.size > 1) {
    Fail(call.origin(),
         "source {%" PRId64 ",%" PRId64 "} is the receiver itself; the source calls ?gebs2d", row,
         col);
  }
  Broadcast(call, found, top, matrix, root);
}

void Barrier(int64_t context, const char* scope) {
  const Call call(kBarrierRoutine, context);
  Scope found;
  if (!FindScope(call.grid(), scope, &found)) return;
  PatternCall pattern_call;
  pattern_call.pattern = Pattern::kBarrier;
  pattern_call.scope = found.kind;
  call.Run(found, ' ', pattern_call);
}

}  // namespace blacs
}  // namespace brigade

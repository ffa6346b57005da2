#include "blacs_shim/point_to_point.h"

namespace brigade {
namespace blacs {
namespace {

void Transfer(Pattern pattern, const Call& call, const MatrixArguments& matrix, int peer) {
  PatternCall pattern_call;
  pattern_call.pattern = pattern;
  pattern_call.scope = ChannelKind::kPointToPoint;
  pattern_call.root = peer;
  call.SetMatrix(matrix, &pattern_call.matrix);
  call.Run(' ', pattern_call);
}

}  // namespace

void Send(const Routine& routine, int64_t context, const MatrixArguments& matrix, int64_t row,
          int64_t col) {
  const Call call(routine, context);
  Transfer(Pattern::kSend, call, matrix, call.RankOf("destination", row, col));
}

void Receive(const Routine& routine, int64_t context, const MatrixArguments& matrix, int64_t row,
             int64_t col) {
  const Call call(routine, context);
  Transfer(Pattern::kReceive, call, matrix, call.RankOf("source", row, col));
}

}  // namespace blacs
}  // namespace brigade

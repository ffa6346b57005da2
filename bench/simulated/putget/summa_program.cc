#include "bench/simulated/putget/summa_program.h"

namespace brigade::bench {

void SummaProgram::Expose(ProgramRank* me) const {
  me->Expose(0, Chunk());
  me->Expose(Chunk(), Chunk());
}

Status SummaProgram::Start(int step, Landings* landings) {
  // Each begins elsewhere, so that not all get from the same rank at once.
  const int chunk = (step + chunks_ * (row_ + column_)) % steps();
  if (ColumnOf(chunk) != column_) {
    BRIGADE_RETURN_IF_ERROR(
        me_->StartGet(row_ * columns_ + ColumnOf(chunk), 0, Chunk(), &landings->at(0)));
  }
  if (RowOf(chunk) != row_) {
    BRIGADE_RETURN_IF_ERROR(
        me_->StartGet(RowOf(chunk) * columns_ + column_, Chunk(), Chunk(), &landings->at(1)));
  }
  return Status();
}

Status SummaProgram::RunByGets() {
  const int lead = me_->ahead() ? 1 : 0;  // steps between a get and its use
  if (lead > 0) BRIGADE_RETURN_IF_ERROR(Start(0, &arriving_[0]));
  for (int step = 0; step < steps(); ++step) {
    const int next = step + lead;
    if (next < steps()) {
      BRIGADE_RETURN_IF_ERROR(Start(next, &arriving_[static_cast<size_t>(next % 2)]));
    }
    for (ProgramRank::Landing& landing : arriving_[static_cast<size_t>(step % 2)]) {
      BRIGADE_RETURN_IF_ERROR(me_->AwaitGet(&landing));
    }
    me_->Compute(2.0 * block_ * block_ * width_);
  }
  return Status();
}

Status SummaProgram::RunByBroadcasts() {
  for (int step = 0; step < steps(); ++step) {
    BRIGADE_RETURN_IF_ERROR(me_->Broadcast(/*along_row=*/true, ColumnOf(step), 0, Chunk()));
    BRIGADE_RETURN_IF_ERROR(me_->Broadcast(/*along_row=*/false, RowOf(step), Chunk(), Chunk()));
    me_->Compute(2.0 * block_ * block_ * width_);
  }
  return Status();
}

Status SummaProgram::Run(ProgramRank* me) {
  me_ = me;
  return me->way() == ProgramWay::kMessages ? RunByBroadcasts() : RunByGets();
}

}  // namespace brigade::bench

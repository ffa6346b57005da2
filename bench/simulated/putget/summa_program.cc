#include "bench/simulated/putget/summa_program.h"

namespace brigade::bench {

void SummaProgram::Expose(ProgramRank* me) const {
  me->Expose(0, Chunk());
  me->Expose(Chunk(), Chunk());
}

Status SummaProgram::Start(int step, Landings* landings) {
  // Each begins elsewhere, so that not all get from the same rank at once.
  const int chunks = block_ / width_;
  const int steps = side_ * chunks;
  const int owner = (step + steps * (row_ + column_) / side_) % steps / chunks;
  if (owner != column_) {
    BRIGADE_RETURN_IF_ERROR(me_->StartGet(row_ * side_ + owner, 0, Chunk(), &landings->at(0)));
  }
  if (owner != row_) {
    BRIGADE_RETURN_IF_ERROR(
        me_->StartGet(owner * side_ + column_, Chunk(), Chunk(), &landings->at(1)));
  }
  return Status();
}

Status SummaProgram::RunByGets() {
  const int steps = side_ * (block_ / width_);
  const int lead = me_->ahead() ? 1 : 0;  // steps between a get and its use
  if (lead > 0) BRIGADE_RETURN_IF_ERROR(Start(0, &arriving_[0]));
  for (int step = 0; step < steps; ++step) {
    const int next = step + lead;
    if (next < steps) {
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
  const int chunks = block_ / width_;
  for (int step = 0; step < side_ * chunks; ++step) {
    const int root = step / chunks;
    BRIGADE_RETURN_IF_ERROR(me_->Broadcast(/*along_row=*/true, root, 0, Chunk()));
    BRIGADE_RETURN_IF_ERROR(me_->Broadcast(/*along_row=*/false, root, Chunk(), Chunk()));
    me_->Compute(2.0 * block_ * block_ * width_);
  }
  return Status();
}

Status SummaProgram::Run(ProgramRank* me) {
  me_ = me;
  return me->way() == ProgramWay::kMessages ? RunByBroadcasts() : RunByGets();
}

}  // namespace brigade::bench

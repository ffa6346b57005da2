// ProgramChunks: the chunks of SUMMA (bench/studies/putget) between ranks in virtual time, by gets
// or by this library's broadcasts.

#ifndef BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_CHUNKS_H_
#define BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_CHUNKS_H_

#include <array>
#include <cstddef>

#include "bench/simulated/putget/program_rank.h"
#include "bench/studies/putget/summa.h"
#include "membuf/status.h"

namespace brigade::bench {

class ProgramChunks final : public Summa::Source {
 public:
  // `bytes`: of every piece of A, and of B. A rank's pieces of a matrix are all the same memory.
  ProgramChunks(ProgramRank* me, const std::array<size_t, 2>& bytes) : me_(me), bytes_(bytes) {}

  size_t bytes() const { return bytes_[0] + bytes_[1]; }
  void Expose() {
    for (const size_t matrix : {0, 1}) me_->Expose(PlaceOf(matrix), bytes_[matrix]);
  }
  bool is_one_sided() const override { return me_->variant() != ProgramVariant::kMessages; }
  Status Start(const Summa::Piece& piece, double* /*data*/, size_t turn) override {
    const size_t place = PlaceOf(piece.matrix), bytes = bytes_[piece.matrix];
    if (!is_one_sided()) return me_->Broadcast(piece.matrix == 0, piece.owner, place, bytes);
    if (piece.is_own) return Status();
    return me_->StartGet(piece.rank, place, bytes, &arriving_[turn][piece.matrix]);
  }
  Status Await(size_t turn) override {
    for (ProgramRank::PendingGet& pending : arriving_[turn]) {
      BRIGADE_RETURN_IF_ERROR(me_->AwaitGet(&pending));
    }
    return Status();
  }
  bool TakesTimeOf(double operations) override {
    me_->Compute(operations);
    return true;
  }

 private:
  size_t PlaceOf(size_t matrix) const { return matrix == 0 ? 0 : bytes_[0]; }

  ProgramRank* const me_;
  const std::array<size_t, 2> bytes_;
  std::array<std::array<ProgramRank::PendingGet, 2>, 2> arriving_;  // by turn and matrix
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_SIMULATED_PUTGET_PROGRAM_CHUNKS_H_

// BlockType: a layout of blocks with gaps as a datatype of MPI and of Brigade.

#ifndef BRIGADE_BENCH_CONTENDERS_BLOCK_TYPE_H_
#define BRIGADE_BENCH_CONTENDERS_BLOCK_TYPE_H_

#include <mpi.h>

#include <cstdint>
#include <string>

#include "bench/contenders/block_layout.h"
#include "windows/layout/typed_layout.h"

namespace brigade::bench {

class BlockType {
 public:
  static constexpr int64_t kBytes = BlockLayout::kBytes;

  explicit BlockType(BlockKind kind);
  ~BlockType();
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;

  std::string name() const { return kind_ == BlockKind::kVector ? "vector" : "struct"; }
  MPI_Datatype mpi() const { return mpi_; }
  const TypedLayout& layout() const { return layout_.layout(); }
  void Forget() { layout_.Forget(); }

  // Doubles that `count` values lie in.
  int64_t DoublesOf(int64_t count) const;
  // Copies the blocks of `count` values from `from` to `to`; gaps are unchanged.
  void Copy(const double* from, int64_t count, double* to) const;

 private:
  const BlockKind kind_;
  BlockLayout layout_;
  MPI_Datatype mpi_ = MPI_DATATYPE_NULL;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_BLOCK_TYPE_H_

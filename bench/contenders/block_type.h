// BlockType: datatypes of small blocks of ints with gaps between them, for Brigade and for MPI.
//
// Source: MPI/SX, section 5, Table 4, which does not say how wide the gaps are.

#ifndef BRIGADE_BENCH_CONTENDERS_BLOCK_TYPE_H_
#define BRIGADE_BENCH_CONTENDERS_BLOCK_TYPE_H_

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "windows/layout/typed_layout.h"

namespace brigade::bench {

class BlockType {
 public:
  static constexpr int64_t kBytes = 1024;  // of the blocks of one value

  enum class Kind {
    kVector,  // 64 times 4 blocks of an int, every other one: its description is short
    kStruct,  // 128 blocks of two ints, at uneven distances: its description is long
  };

  explicit BlockType(Kind kind);
  ~BlockType();
  BlockType(const BlockType&) = delete;
  BlockType& operator=(const BlockType&) = delete;

  std::string name() const { return kind_ == Kind::kVector ? "vector" : "struct"; }
  MPI_Datatype mpi() const { return mpi_; }
  const TypedLayout& layout() const { return layouts_[turn_]; }
  // From here on layout() is one that no target has kept, though it describes the same.
  void Forget();

  // Doubles that `count` values lie in.
  int64_t DoublesOf(int64_t count) const;
  // Copies the blocks of `count` values from `from` to `to`; gaps are unchanged.
  void Copy(const double* from, int64_t count, double* to) const;

 private:
  const Kind kind_;
  std::vector<TypedLayout> layouts_;
  size_t turn_ = 0;
  MPI_Datatype mpi_ = MPI_DATATYPE_NULL;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_BLOCK_TYPE_H_

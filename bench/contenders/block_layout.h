// Layouts of small blocks of ints with gaps between them.
//
// Source: MPI/SX, section 5, Table 4, which does not say how wide the gaps are.

#ifndef BRIGADE_BENCH_CONTENDERS_BLOCK_LAYOUT_H_
#define BRIGADE_BENCH_CONTENDERS_BLOCK_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "windows/layout/typed_layout.h"

namespace brigade::bench {

enum class BlockKind {
  kVector,  // 64 times 4 blocks of an int, every other one: its description is short
  kStruct,  // 128 blocks of two ints, at uneven distances: its description is long
};

class BlockLayout {
 public:
  static constexpr int64_t kBytes = 1024;  // of the blocks of one value
  static constexpr int kVectors = 64;
  static constexpr int kVectorBlocks = 4;
  static constexpr int kStructBlocks = 128;
  // Returns the distance of a block of kStruct from the first.
  static int64_t OffsetOf(int block);

  explicit BlockLayout(BlockKind kind);

  const TypedLayout& layout() const { return layouts_[turn_]; }
  // From here on layout() is one that no target has kept, though it describes the same.
  void Forget();

 private:
  const BlockKind kind_;
  std::vector<TypedLayout> layouts_;
  size_t turn_ = 0;
};

}  // namespace brigade::bench

#endif  // BRIGADE_BENCH_CONTENDERS_BLOCK_LAYOUT_H_

#include "bench/contenders/block_type.h"

#include <vector>

#include "membuf/check.h"
#include "windows/layout/layout_copy.h"
#include "windows/layout/layout_cursor.h"

namespace brigade::bench {
namespace {

MPI_Datatype MakeMpi(BlockKind kind) {
  MPI_Datatype made;
  if (kind == BlockKind::kVector) {
    MPI_Datatype vector;
    MPI_Type_vector(BlockLayout::kVectorBlocks, 1, 2, MPI_INT, &vector);
    MPI_Type_contiguous(BlockLayout::kVectors, vector, &made);
    MPI_Type_free(&vector);
  } else {
    const std::vector<int> lengths(BlockLayout::kStructBlocks, 2);
    const std::vector<MPI_Datatype> types(BlockLayout::kStructBlocks, MPI_INT);
    std::vector<MPI_Aint> offsets;
    for (int block = 0; block < BlockLayout::kStructBlocks; ++block) {
      offsets.push_back(BlockLayout::OffsetOf(block));
    }
    MPI_Type_create_struct(BlockLayout::kStructBlocks, lengths.data(), offsets.data(), types.data(),
                           &made);
  }
  MPI_Type_commit(&made);
  return made;
}

}  // namespace

BlockType::BlockType(BlockKind kind) : kind_(kind), layout_(kind), mpi_(MakeMpi(kind)) {
  MPI_Aint least = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(mpi_, &least, &extent);
  BRIGADE_CHECK_EQ(extent, layout().extent());
}

BlockType::~BlockType() { MPI_Type_free(&mpi_); }

int64_t BlockType::DoublesOf(int64_t count) const {
  const auto each = static_cast<int64_t>(sizeof(double));
  return (count * layout().extent() + each - 1) / each;
}

void BlockType::Copy(const double* from, int64_t count, double* to) const {
  LayoutCursor source(&layout(), count);
  LayoutCursor target(&layout(), count);
  CopyLayout(&source, reinterpret_cast<const std::byte*>(from), count * kBytes, &target,
             reinterpret_cast<std::byte*>(to));
}

}  // namespace brigade::bench

#include "bench/contenders/block_type.h"

#include "membuf/check.h"
#include "membuf/status.h"
#include "windows/elements/element.h"
#include "windows/layout/layout_copy.h"
#include "windows/layout/layout_cursor.h"
#include "windows/layout/layout_names.h"

namespace brigade::bench {
namespace {

constexpr int kVectors = 64;
constexpr int kVectorBlocks = 4;
constexpr int kStructBlocks = 128;
constexpr int64_t kInt = sizeof(int);

int64_t OffsetOf(int block) { return kInt * (3 * block + block / 3); }

TypedLayout MakeLayout(BlockType::Kind kind) {
  TypedLayout made;
  Status status;
  if (kind == BlockType::Kind::kVector) {
    TypedLayout vector;
    status =
        TypedLayout::Repeat(kVectorBlocks, 2 * kInt, TypedLayout::One(Element::kInt32), &vector);
    BRIGADE_CHECK(status.ok());
    status = TypedLayout::Repeat(kVectors, vector.extent(), vector, &made);
  } else {
    const TypedLayout pair = TypedLayout::Run(Element::kInt32, 2);
    std::vector<TypedLayout::Part> parts;
    for (int block = 0; block < kStructBlocks; ++block) parts.push_back({OffsetOf(block), &pair});
    status = TypedLayout::List(parts, &made);
  }
  BRIGADE_CHECK(status.ok());
  return made;
}

MPI_Datatype MakeMpi(BlockType::Kind kind) {
  MPI_Datatype made;
  if (kind == BlockType::Kind::kVector) {
    MPI_Datatype vector;
    MPI_Type_vector(kVectorBlocks, 1, 2, MPI_INT, &vector);
    MPI_Type_contiguous(kVectors, vector, &made);
    MPI_Type_free(&vector);
  } else {
    const std::vector<int> lengths(kStructBlocks, 2);
    const std::vector<MPI_Datatype> types(kStructBlocks, MPI_INT);
    std::vector<MPI_Aint> offsets;
    for (int block = 0; block < kStructBlocks; ++block) offsets.push_back(OffsetOf(block));
    MPI_Type_create_struct(kStructBlocks, lengths.data(), offsets.data(), types.data(), &made);
  }
  MPI_Type_commit(&made);
  return made;
}

}  // namespace

BlockType::BlockType(Kind kind) : kind_(kind), layouts_(1, MakeLayout(kind)), mpi_(MakeMpi(kind)) {
  MPI_Aint least = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(mpi_, &least, &extent);
  BRIGADE_CHECK_EQ(extent, layout().extent());
  BRIGADE_CHECK_EQ(layout().size(), kBytes);
}

BlockType::~BlockType() { MPI_Type_free(&mpi_); }

void BlockType::Forget() {
  // In turn one more than there are names: each has lost its own when its turn comes.
  while (layouts_.size() <= LayoutName::kNames) layouts_.push_back(MakeLayout(kind_));
  turn_ = (turn_ + 1) % layouts_.size();
}

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

#include "rma_shim/datatype/translate.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rma_shim/datatype/predefined.h"

namespace brigade {
namespace rma {
namespace {

// How a derived datatype was made: the arguments of the call that did.
class Contents {
 public:
  explicit Contents(MPI_Datatype type) {
    int counts[3] = {};
    MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
    integers.resize(static_cast<size_t>(counts[0]));
    addresses.resize(static_cast<size_t>(counts[1]));
    types.resize(static_cast<size_t>(counts[2]));
    MPI_Type_get_contents(type, counts[0], counts[1], counts[2], integers.data(), addresses.data(),
                          types.data());
  }
  // Derived ones among them are new handles.
  ~Contents() {
    for (MPI_Datatype& type : types) {
      if (!IsPredefined(type)) MPI_Type_free(&type);
    }
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};

// Lists blocks of children in a row, each block at its offset. What has no bytes says nothing of
// the elements, and is left out.
class Blocks {
 public:
  Status Add(int64_t offset, int64_t length, const TypedLayout& child) {
    if (length == 0 || child.size() == 0) return Status();
    BRIGADE_RETURN_IF_ERROR(
        TypedLayout::Repeat(length, child.extent(), child, &layouts_.emplace_back()));
    offsets_.push_back(offset);
    return Status();
  }
  // Blocks of one child share a layout per length.
  Status AddAlike(int64_t offset, int64_t length, const TypedLayout& child) {
    const auto known = by_length_.find(length);
    if (known != by_length_.end()) {
      layouts_.push_back(layouts_[known->second]);
      offsets_.push_back(offset);
      return Status();
    }
    if (length > 0 && child.size() > 0) by_length_.emplace(length, layouts_.size());
    return Add(offset, length, child);
  }
  Status List(TypedLayout* layout) const {
    std::vector<TypedLayout::Part> parts;
    parts.reserve(layouts_.size());
    for (size_t i = 0; i < layouts_.size(); ++i) parts.push_back({offsets_[i], &layouts_[i]});
    return TypedLayout::List(parts, layout);
  }

 private:
  std::vector<TypedLayout> layouts_;
  std::vector<int64_t> offsets_;
  std::map<int64_t, size_t> by_length_;
};

Status Vector(int64_t count, int64_t length, int64_t stride, const TypedLayout& child,
              TypedLayout* layout) {
  TypedLayout block;
  BRIGADE_RETURN_IF_ERROR(TypedLayout::Repeat(length, child.extent(), child, &block));
  return TypedLayout::Repeat(count, stride, block, layout);
}

// The dimensions of an array, the fastest first.
std::vector<int> Dimensions(int count, int order) {
  std::vector<int> dimensions;
  for (int d = 0; d < count; ++d) dimensions.push_back(order == MPI_ORDER_C ? count - 1 - d : d);
  return dimensions;
}

Status Subarray(const std::vector<int>& integers, const TypedLayout& child, TypedLayout* layout) {
  const int count = integers[0];
  const int* const sizes = &integers[1];
  const int* const parts = sizes + count;
  const int* const starts = parts + count;
  int64_t stride = child.extent();
  int64_t offset = 0;
  TypedLayout part = child;
  for (const int d : Dimensions(count, starts[count])) {
    BRIGADE_RETURN_IF_ERROR(TypedLayout::Repeat(parts[d], stride, part, &part));
    offset += starts[d] * stride;
    stride *= sizes[d];
  }
  return TypedLayout::List({{offset, &part}}, layout);
}

// What process `at` of `processes` has of a dimension that is dealt in blocks of `block`.
Status Dealt(int64_t size, int64_t block, int64_t at, int64_t processes, int64_t stride,
             const TypedLayout& child, TypedLayout* layout) {
  const TypedLayout one = child.Resized(stride);
  Blocks dealt;
  for (int64_t start = at * block; start < size; start += processes * block) {
    BRIGADE_RETURN_IF_ERROR(dealt.AddAlike(start * stride, std::min(block, size - start), one));
  }
  return dealt.List(layout);
}

Status Darray(const std::vector<int>& integers, const TypedLayout& child, TypedLayout* layout) {
  int rank = integers[1];
  const int count = integers[2];
  const int* const sizes = &integers[3];
  const int* const ways = sizes + count;
  const int* const arguments = ways + count;
  const int* const grid = arguments + count;
  // Ranks are numbered row by row in the grid, whatever the order of the array.
  std::vector<int> at(static_cast<size_t>(count));
  for (int d = count; d-- > 0; rank /= grid[d]) at[static_cast<size_t>(d)] = rank % grid[d];

  int64_t stride = child.extent();
  TypedLayout part = child;
  for (const int d : Dimensions(count, grid[count])) {
    int64_t block = arguments[d];
    if (ways[d] == MPI_DISTRIBUTE_NONE) {
      block = sizes[d];
    } else if (arguments[d] == MPI_DISTRIBUTE_DFLT_DARG) {
      block = ways[d] == MPI_DISTRIBUTE_BLOCK ? (sizes[d] + grid[d] - 1) / grid[d] : 1;
    }
    BRIGADE_RETURN_IF_ERROR(
        Dealt(sizes[d], block, at[static_cast<size_t>(d)], grid[d], stride, part, &part));
    stride *= sizes[d];
  }
  *layout = part;
  return Status();
}

// Blocks of one child: `length(i)` of them at `offset(i)`.
template <typename Length, typename Offset>
Status Indexed(int count, const TypedLayout& child, const Length& length, const Offset& offset,
               TypedLayout* layout) {
  Blocks blocks;
  for (int i = 0; i < count; ++i) {
    BRIGADE_RETURN_IF_ERROR(blocks.AddAlike(offset(i), length(i), child));
  }
  return blocks.List(layout);
}

Status Struct(const Contents& made, TypedLayout* layout) {
  Blocks blocks;
  for (size_t i = 0; i < made.types.size(); ++i) {
    TypedLayout child;
    BRIGADE_RETURN_IF_ERROR(TranslateDatatype(made.types[i], &child));
    BRIGADE_RETURN_IF_ERROR(blocks.Add(made.addresses[i], made.integers[i + 1], child));
  }
  return blocks.List(layout);
}

// All but its extent.
Status TranslateDerived(const Contents& made, TypedLayout* layout) {
  if (made.combiner == MPI_COMBINER_STRUCT) return Struct(made, layout);
  TypedLayout child;
  BRIGADE_RETURN_IF_ERROR(TranslateDatatype(made.types[0], &child));
  const int64_t extent = child.extent();
  const std::vector<int>& integers = made.integers;
  const std::vector<MPI_Aint>& addresses = made.addresses;
  const auto nth_length = [&](int i) { return integers[static_cast<size_t>(1 + i)]; };
  const auto same_length = [&](int) { return integers[1]; };
  const auto nth_address = [&](int i) { return addresses[static_cast<size_t>(i)]; };
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      *layout = child;
      return Status();
    case MPI_COMBINER_CONTIGUOUS:
      return TypedLayout::Repeat(integers[0], extent, child, layout);
    case MPI_COMBINER_VECTOR:
      return Vector(integers[0], integers[1], integers[2] * extent, child, layout);
    case MPI_COMBINER_HVECTOR:
      return Vector(integers[0], integers[1], addresses[0], child, layout);
    case MPI_COMBINER_INDEXED:
      return Indexed(
          integers[0], child, nth_length,
          [&](int i) { return extent * integers[static_cast<size_t>(1 + integers[0] + i)]; },
          layout);
    case MPI_COMBINER_HINDEXED:
      return Indexed(integers[0], child, nth_length, nth_address, layout);
    case MPI_COMBINER_INDEXED_BLOCK:
      return Indexed(
          integers[0], child, same_length,
          [&](int i) { return extent * integers[static_cast<size_t>(2 + i)]; }, layout);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return Indexed(integers[0], child, same_length, nth_address, layout);
    case MPI_COMBINER_SUBARRAY:
      return Subarray(integers, child, layout);
    case MPI_COMBINER_DARRAY:
      return Darray(integers, child, layout);
    default:
      return {StatusCode::kInvalidArgument,
              "a datatype made by combiner " + std::to_string(made.combiner)};
  }
}

}  // namespace

bool IsPredefined(MPI_Datatype type) {
  int integers = 0;
  int addresses = 0;
  int types = 0;
  int combiner = MPI_COMBINER_NAMED;
  MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

Status TranslateDatatype(MPI_Datatype type, TypedLayout* layout) {
  if (IsPredefined(type)) {
    *layout = PredefinedLayout(type);
  } else {
    const Contents made(type);
    BRIGADE_RETURN_IF_ERROR(TranslateDerived(made, layout));
  }
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &low, &extent);
  *layout = layout->Resized(extent);
  return Status();
}

}  // namespace rma
}  // namespace brigade

#include "rma_shim/datatype/translate.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "rma_shim/datatype/predefined.h"

// Since MPI 4; an MPI of the same binary interface may be older.
#if MPI_VERSION >= 4
#pragma weak MPI_Type_get_envelope_c
#pragma weak MPI_Type_get_contents_c
#endif

namespace brigade {
namespace rma {
namespace {

// The kind of call that made a datatype, and how many arguments of each kind it had.
struct Envelope {
  explicit Envelope(MPI_Datatype type) {
#if MPI_VERSION >= 4
    if (MPI_Type_get_envelope_c != nullptr) {
      MPI_Type_get_envelope_c(type, &integers, &addresses, &large_counts, &types, &combiner);
      return;
    }
#endif
    int counts[3] = {};
    MPI_Type_get_envelope(type, &counts[0], &counts[1], &counts[2], &combiner);
    integers = counts[0];
    addresses = counts[1];
    types = counts[2];
  }

  int combiner = MPI_COMBINER_NAMED;
  MPI_Count integers = 0;
  MPI_Count addresses = 0;
  MPI_Count large_counts = 0;  // of a call for these
  MPI_Count types = 0;
};

// How a derived datatype was made: the arguments of the call that made it. Arguments of calls for
// large counts stand where the other calls have theirs.
class Contents {
 public:
  explicit Contents(MPI_Datatype type) {
    const Envelope envelope(type);
    combiner = envelope.combiner;
    std::vector<int> ints(static_cast<size_t>(envelope.integers));
    addresses.resize(static_cast<size_t>(envelope.addresses));
    types.resize(static_cast<size_t>(envelope.types));
#if MPI_VERSION >= 4
    if (envelope.large_counts > 0) {
      std::vector<MPI_Count> large(static_cast<size_t>(envelope.large_counts));
      MPI_Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.large_counts,
                              envelope.types, ints.data(), addresses.data(), large.data(),
                              types.data());
      Arrange(ints, large);
      return;
    }
#endif
    MPI_Type_get_contents(type, static_cast<int>(ints.size()), static_cast<int>(addresses.size()),
                          static_cast<int>(types.size()), ints.data(), addresses.data(),
                          types.data());
    integers.assign(ints.begin(), ints.end());
  }
  // Derived ones among them are new handles.
  ~Contents() {
    for (MPI_Datatype& type : types) {
      if (!IsPredefined(type)) MPI_Type_free(&type);
    }
  }
  Contents(const Contents&) = delete;
  Contents& operator=(const Contents&) = delete;

  int combiner;
  std::vector<int64_t> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;

 private:
  // Sets integers, and addresses that are among the large counts.
  void Arrange(const std::vector<int>& ints, const std::vector<MPI_Count>& large) {
    auto addresses_begin = large.end();
    if (combiner == MPI_COMBINER_HVECTOR || combiner == MPI_COMBINER_HINDEXED_BLOCK) {
      addresses_begin = large.begin() + 2;
    } else if (combiner == MPI_COMBINER_HINDEXED || combiner == MPI_COMBINER_STRUCT) {
      addresses_begin = large.begin() + 1 + large[0];
    }
    // Counts of an array stand behind its number of dimensions.
    const auto behind = ints.begin() + (combiner == MPI_COMBINER_DARRAY     ? 3
                                        : combiner == MPI_COMBINER_SUBARRAY ? 1
                                                                            : 0);
    integers.assign(ints.begin(), behind);
    integers.insert(integers.end(), large.begin(), addresses_begin);
    integers.insert(integers.end(), behind, ints.end());
    addresses.assign(addresses_begin, large.end());
  }
};

// Lists blocks of children in a row, each block at its offset. Leaves out blocks without bytes,
// which do not decide the kind of the elements.
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

// Multiplies a number of elements by their extent.
Status ToBytes(int64_t elements, int64_t extent, int64_t* bytes) {
  if (!__builtin_mul_overflow(elements, extent, bytes) && TypedLayout::IsInRange(*bytes)) {
    return Status();
  }
  return {StatusCode::kInvalidArgument, "a datatype with an offset of " + std::to_string(elements) +
                                            " elements of " + std::to_string(extent) + " bytes"};
}

Status Vector(int64_t count, int64_t length, int64_t stride, const TypedLayout& child,
              TypedLayout* layout) {
  TypedLayout block;
  BRIGADE_RETURN_IF_ERROR(TypedLayout::Repeat(length, child.extent(), child, &block));
  return TypedLayout::Repeat(count, stride, block, layout);
}

// The dimensions of an array, the fastest first.
std::vector<int64_t> Dimensions(int64_t count, int64_t order) {
  std::vector<int64_t> dimensions;
  for (int64_t d = 0; d < count; ++d) {
    dimensions.push_back(order == MPI_ORDER_C ? count - 1 - d : d);
  }
  return dimensions;
}

Status Subarray(const std::vector<int64_t>& integers, const TypedLayout& child,
                TypedLayout* layout) {
  const int64_t count = integers[0];
  const int64_t* const sizes = &integers[1];
  const int64_t* const parts = sizes + count;
  const int64_t* const starts = parts + count;
  int64_t stride = child.extent();
  int64_t offset = 0;
  TypedLayout part = child;
  for (const int64_t d : Dimensions(count, starts[count])) {
    BRIGADE_RETURN_IF_ERROR(TypedLayout::Repeat(parts[d], stride, part, &part));
    int64_t next_stride = 0;
    BRIGADE_RETURN_IF_ERROR(ToBytes(sizes[d], stride, &next_stride));
    offset += starts[d] * stride;  // less than the next stride
    stride = next_stride;
  }
  return TypedLayout::List({{offset, &part}}, layout);
}

// Describes the part of process `at` of `processes` in a dimension that is distributed in blocks of
// `block`. REQUIRES: `size` strides are in the range of layouts.
Status Distributed(int64_t size, int64_t block, int64_t at, int64_t processes, int64_t stride,
                   const TypedLayout& child, TypedLayout* layout) {
  const TypedLayout one = child.Resized(stride);
  Blocks blocks;
  for (int64_t start = at * block; start < size; start += processes * block) {
    BRIGADE_RETURN_IF_ERROR(blocks.AddAlike(start * stride, std::min(block, size - start), one));
  }
  return blocks.List(layout);
}

Status Darray(const std::vector<int64_t>& integers, const TypedLayout& child, TypedLayout* layout) {
  int64_t rank = integers[1];
  const int64_t count = integers[2];
  const int64_t* const sizes = &integers[3];
  const int64_t* const distributions = sizes + count;
  const int64_t* const arguments = distributions + count;
  const int64_t* const grid = arguments + count;
  // Ranks are numbered row by row in the grid, whatever the order of the array.
  std::vector<int64_t> at(static_cast<size_t>(count));
  for (int64_t d = count; d-- > 0; rank /= grid[d]) at[static_cast<size_t>(d)] = rank % grid[d];

  int64_t stride = child.extent();
  TypedLayout part = child;
  for (const int64_t d : Dimensions(count, grid[count])) {
    int64_t block = arguments[d];
    if (distributions[d] == MPI_DISTRIBUTE_NONE) {
      block = sizes[d];
    } else if (arguments[d] == MPI_DISTRIBUTE_DFLT_DARG) {
      block = distributions[d] == MPI_DISTRIBUTE_BLOCK ? (sizes[d] + grid[d] - 1) / grid[d] : 1;
    }
    int64_t next_stride = 0;
    BRIGADE_RETURN_IF_ERROR(ToBytes(sizes[d], stride, &next_stride));
    BRIGADE_RETURN_IF_ERROR(
        Distributed(sizes[d], block, at[static_cast<size_t>(d)], grid[d], stride, part, &part));
    stride = next_stride;
  }
  *layout = part;
  return Status();
}

// Blocks of one child: `length(i)` of them at `offset(i)` units of `unit` bytes.
template <typename Length, typename Offset>
Status Indexed(int64_t count, const TypedLayout& child, const Length& length, const Offset& offset,
               int64_t unit, TypedLayout* layout) {
  Blocks blocks;
  for (int64_t i = 0; i < count; ++i) {
    int64_t bytes = 0;
    BRIGADE_RETURN_IF_ERROR(ToBytes(offset(i), unit, &bytes));
    BRIGADE_RETURN_IF_ERROR(blocks.AddAlike(bytes, length(i), child));
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

// Empty: it has none.
std::string NameOf(MPI_Datatype type) {
  char name[MPI_MAX_OBJECT_NAME + 1] = "";
  int length = 0;
  MPI_Type_get_name(type, name, &length);
  return name;
}

// A datatype that Fortran requests by digits (MPI_Type_create_f90_real) has a handle of its own.
// Returns the datatype of C that is as long, or `type` if there is none.
MPI_Datatype AsInC(MPI_Datatype type) {
  static const struct {
    int combiner;
    MPI_Datatype in_c;
  } kChosen[] = {
      {MPI_COMBINER_F90_REAL, MPI_FLOAT},
      {MPI_COMBINER_F90_REAL, MPI_DOUBLE},
      {MPI_COMBINER_F90_COMPLEX, MPI_C_FLOAT_COMPLEX},
      {MPI_COMBINER_F90_COMPLEX, MPI_C_DOUBLE_COMPLEX},
      {MPI_COMBINER_F90_INTEGER, MPI_INT8_T},
      {MPI_COMBINER_F90_INTEGER, MPI_INT16_T},
      {MPI_COMBINER_F90_INTEGER, MPI_INT32_T},
      {MPI_COMBINER_F90_INTEGER, MPI_INT64_T},
  };
  const int combiner = Envelope(type).combiner;
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  for (const auto& chosen : kChosen) {
    int bytes_in_c = 0;
    MPI_Type_size(chosen.in_c, &bytes_in_c);
    if (chosen.combiner == combiner && bytes_in_c == bytes) return chosen.in_c;
  }
  return type;
}

// All but its extent.
Status TranslateDerived(const Contents& made, TypedLayout* layout) {
  if (made.combiner == MPI_COMBINER_STRUCT) return Struct(made, layout);
  TypedLayout child;
  BRIGADE_RETURN_IF_ERROR(TranslateDatatype(made.types[0], &child));
  const int64_t extent = child.extent();
  const std::vector<int64_t>& integers = made.integers;
  const std::vector<MPI_Aint>& addresses = made.addresses;
  const auto nth_length = [&](int64_t i) { return integers[static_cast<size_t>(1 + i)]; };
  const auto same_length = [&](int64_t) { return integers[1]; };
  const auto nth_address = [&](int64_t i) { return addresses[static_cast<size_t>(i)]; };
  switch (made.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      *layout = child;
      return Status();
    case MPI_COMBINER_CONTIGUOUS:
      return TypedLayout::Repeat(integers[0], extent, child, layout);
    case MPI_COMBINER_VECTOR: {
      int64_t stride = 0;
      BRIGADE_RETURN_IF_ERROR(ToBytes(integers[2], extent, &stride));
      return Vector(integers[0], integers[1], stride, child, layout);
    }
    case MPI_COMBINER_HVECTOR:
      return Vector(integers[0], integers[1], addresses[0], child, layout);
    case MPI_COMBINER_INDEXED:
      return Indexed(
          integers[0], child, nth_length,
          [&](int64_t i) { return integers[static_cast<size_t>(1 + integers[0] + i)]; }, extent,
          layout);
    case MPI_COMBINER_HINDEXED:
      return Indexed(integers[0], child, nth_length, nth_address, 1, layout);
    case MPI_COMBINER_INDEXED_BLOCK:
      return Indexed(
          integers[0], child, same_length,
          [&](int64_t i) { return integers[static_cast<size_t>(2 + i)]; }, extent, layout);
    case MPI_COMBINER_HINDEXED_BLOCK:
      return Indexed(integers[0], child, same_length, nth_address, 1, layout);
    case MPI_COMBINER_SUBARRAY:
      return Subarray(integers, child, layout);
    case MPI_COMBINER_DARRAY:
      return Darray(integers, child, layout);
    default:
      return {StatusCode::kInvalidArgument,
              "a datatype made by combiner " + std::to_string(made.combiner)};
  }
}

// The names of the predefined datatypes that `type` consists of, each once.
void ListParts(MPI_Datatype type, std::vector<std::string>* names) {
  if (!IsPredefined(type)) {
    const Contents made(type);
    for (const MPI_Datatype part : made.types) ListParts(part, names);
    return;
  }
  const std::string name = NameOf(AsInC(type));
  if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
}

}  // namespace

std::string DescribeDatatype(MPI_Datatype type) {
  const std::string own = NameOf(type);
  if (!own.empty()) return own;
  std::vector<std::string> names;
  ListParts(type, &names);
  std::string text = "a datatype of ";
  for (size_t i = 0; i < names.size(); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return text;
}

bool IsPredefined(MPI_Datatype type) {
  const int combiner = Envelope(type).combiner;
  return combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
         combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

Status TranslateDatatype(MPI_Datatype type, TypedLayout* layout) {
  if (IsPredefined(type)) {
    *layout = PredefinedLayout(AsInC(type));
  } else {
    const Contents made(type);
    BRIGADE_RETURN_IF_ERROR(TranslateDerived(made, layout));
  }
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &low, &extent);
  if (!TypedLayout::IsInRange(extent)) {
    return {StatusCode::kInvalidArgument,
            "a datatype with an extent of " + std::to_string(extent) + " bytes"};
  }
  *layout = layout->Resized(extent);
  return Status();
}

}  // namespace rma
}  // namespace brigade

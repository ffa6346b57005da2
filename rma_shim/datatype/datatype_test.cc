// A translated datatype must walk along the bytes of its datatype in the order of the type map (MPI
// 4.0, section 5.1). Here each type map is written out byte by byte, from the arguments that made
// the datatype. MPI_Pack is the reference of predefined datatypes alone: that of Open MPI 4.1 packs
// some derived ones wrongly.

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rma_shim/datatype/datatype_cache.h"
#include "rma_shim/datatype/predefined.h"
#include "rma_shim/datatype/translate.h"
#include "windows/layout/layout_copy.h"
#include "windows/layout/layout_cursor.h"
#include "windows/layout/typed_layout.h"

namespace brigade {
namespace rma {
namespace {

// A datatype that is freed at the end of its scope.
class Type {
 public:
  explicit Type(MPI_Datatype type) : type_(type) { MPI_Type_commit(&type_); }
  ~Type() {
    if (!IsPredefined(type_)) MPI_Type_free(&type_);
  }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_;
};

TypedLayout LayoutOf(MPI_Datatype type) {
  TypedLayout layout;
  const Status status = TranslateDatatype(type, &layout);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return layout;
}

// Where the bytes of a value lie, in packed order.
using TypeMap = std::vector<int64_t>;

TypeMap PredefinedMap(MPI_Datatype type) {
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &low, &extent);
  std::vector<uint8_t> value(static_cast<size_t>(extent));
  std::iota(value.begin(), value.end(), uint8_t{0});
  int room = 0;
  MPI_Pack_size(1, type, MPI_COMM_SELF, &room);
  std::vector<uint8_t> packed(static_cast<size_t>(room));
  int bytes = 0;
  MPI_Pack(value.data(), 1, type, packed.data(), room, &bytes, MPI_COMM_SELF);
  return TypeMap(packed.begin(), packed.begin() + bytes);
}

// Adds `count` values of `child`, the first at `offset`.
void AddValues(int64_t offset, int64_t count, int64_t extent, const TypeMap& child, TypeMap* map) {
  for (int64_t i = 0; i < count; ++i) {
    for (const int64_t byte : child) map->push_back(offset + i * extent + byte);
  }
}

void ExpectWalk(MPI_Datatype type, const TypeMap& map, int count) {
  const TypedLayout layout = LayoutOf(type);
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &low, &extent);
  EXPECT_EQ(layout.extent(), extent);
  TypeMap expected;
  AddValues(0, count, extent, map, &expected);
  int64_t first = 0;
  int64_t last = 0;
  int64_t bytes = 0;
  ASSERT_TRUE(layout.Bounds(count, &first, &last, &bytes));
  ASSERT_EQ(bytes, static_cast<int64_t>(expected.size()));
  if (bytes == 0) return;
  const auto [least, most] = std::minmax_element(expected.begin(), expected.end());
  ASSERT_EQ(first, *least);
  ASSERT_EQ(last, *most + 1);

  std::vector<std::byte> memory(static_cast<size_t>(last - first));
  std::mt19937 random(1);
  for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
  std::vector<std::byte> packed(expected.size());
  LayoutCursor cursor(&layout, count);
  Gather(&cursor, memory.data() - first, bytes, packed.data());
  for (size_t i = 0; i < packed.size(); ++i) {
    ASSERT_EQ(packed[i], memory[static_cast<size_t>(expected[i] - first)]) << "byte " << i;
  }
}

// A datatype, and what the arguments that made it say.
struct Made {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  TypeMap map;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  int Between(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(engine_);
  }

  // A datatype of `depth` derivations. The caller frees it, if it is derived. It has bytes: Open
  // MPI makes no distributed array of a datatype without.
  Made Nested(int depth) {
    if (depth == 0) return Predefined();
    const Made child = Nested(depth - 1);
    const Type freed_at_end(child.type);
    for (;;) {
      Made made = Derive(depth, child);
      constexpr size_t kMostBytes = 1 << 18;
      if (!made.map.empty() && made.map.size() <= kMostBytes) return made;
      MPI_Type_free(&made.type);
    }
  }

 private:
  Made Predefined() {
    const MPI_Datatype types[] = {MPI_CHAR,      MPI_SHORT,          MPI_INT,       MPI_DOUBLE,
                                  MPI_SHORT_INT, MPI_DOUBLE_INT,     MPI_BYTE,      MPI_LONG_DOUBLE,
                                  MPI_2INT,      MPI_COMPLEX,        MPI_LOGICAL,   MPI_C_BOOL,
                                  MPI_LONG_INT,  MPI_FLOAT_INT,      MPI_CHARACTER, MPI_INTEGER,
                                  MPI_REAL,      MPI_LONG_DOUBLE_INT};
    const MPI_Datatype type = types[Between(0, static_cast<int>(std::size(types)) - 1)];
    return {type, PredefinedMap(type)};
  }

  template <typename Integer>
  std::vector<Integer> Several(int count, int least, int most) {
    std::vector<Integer> numbers(static_cast<size_t>(count));
    for (Integer& number : numbers) number = Between(least, most);
    return numbers;
  }

  Made Derive(int depth, const Made& child) {
    MPI_Aint low = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(child.type, &low, &extent);
    const int n = Between(0, 4);
    const int length = Between(0, 3);
    const std::vector<int> lengths = Several<int>(n, 0, 3);
    const std::vector<int> places = Several<int>(n, -9, 9);
    const std::vector<MPI_Aint> offsets = Several<MPI_Aint>(n, -300, 300);
    Made made;
    const auto add = [&](int64_t offset, int64_t count) {
      AddValues(offset, count, extent, child.map, &made.map);
    };
    switch (Between(0, 11)) {
      case 0:
        MPI_Type_contiguous(n, child.type, &made.type);
        add(0, n);
        break;
      case 1: {
        const int stride = Between(-6, 6);
        MPI_Type_vector(n, length, stride, child.type, &made.type);
        for (int i = 0; i < n; ++i) add(i * stride * extent, length);
        break;
      }
      case 2: {
        const int stride = Between(-90, 90);
        MPI_Type_create_hvector(n, length, stride, child.type, &made.type);
        for (int i = 0; i < n; ++i) add(i * stride, length);
        break;
      }
      case 3:
        MPI_Type_indexed(n, lengths.data(), places.data(), child.type, &made.type);
        for (size_t i = 0; i < places.size(); ++i) add(places[i] * extent, lengths[i]);
        break;
      case 4:
        MPI_Type_create_hindexed(n, lengths.data(), offsets.data(), child.type, &made.type);
        for (size_t i = 0; i < offsets.size(); ++i) add(offsets[i], lengths[i]);
        break;
      case 5:
        MPI_Type_create_indexed_block(n, length, places.data(), child.type, &made.type);
        for (const int place : places) add(place * extent, length);
        break;
      case 6:
        MPI_Type_create_hindexed_block(n, length, offsets.data(), child.type, &made.type);
        for (const MPI_Aint offset : offsets) add(offset, length);
        break;
      case 7:
        return Struct(depth, lengths, offsets);
      case 8: {
        const int lower_bound = Between(-20, 20);
        MPI_Type_create_resized(child.type, lower_bound, Between(-50, 200), &made.type);
        made.map = child.map;
        break;
      }
      case 9:
        MPI_Type_dup(child.type, &made.type);
        made.map = child.map;
        break;
      case 10:
        return Subarray(child, extent);
      default:
        return Darray(child, extent);
    }
    return made;
  }

  Made Struct(int depth, const std::vector<int>& lengths, const std::vector<MPI_Aint>& offsets) {
    Made made;
    std::vector<MPI_Datatype> types;
    for (size_t i = 0; i < lengths.size(); ++i) {
      const Made part = Nested(Between(0, depth - 1));
      MPI_Aint low = 0;
      MPI_Aint extent = 0;
      MPI_Type_get_extent(part.type, &low, &extent);
      AddValues(offsets[i], lengths[i], extent, part.map, &made.map);
      types.push_back(part.type);
    }
    MPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), offsets.data(),
                           types.data(), &made.type);
    for (MPI_Datatype& type : types) {
      if (!IsPredefined(type)) MPI_Type_free(&type);
    }
    return made;
  }

  // The elements of an array at `indices`, which a dimension lists each.
  static TypeMap OfArray(const std::vector<int>& sizes, int order,
                         const std::vector<std::vector<int>>& indices, int64_t extent,
                         const TypeMap& element) {
    TypeMap map = element;
    int64_t stride = extent;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const size_t d = order == MPI_ORDER_C ? sizes.size() - 1 - i : i;
      TypeMap larger;
      for (const int index : indices[d]) AddValues(index * stride, 1, 0, map, &larger);
      map = std::move(larger);
      stride *= sizes[d];
    }
    return map;
  }

  Made Subarray(const Made& child, int64_t extent) {
    const int dimensions = Between(1, 3);
    const std::vector<int> sizes = Several<int>(dimensions, 1, 5);
    std::vector<int> parts;
    std::vector<int> starts;
    std::vector<std::vector<int>> indices;
    for (const int size : sizes) {
      parts.push_back(Between(1, size));
      starts.push_back(Between(0, size - parts.back()));
      indices.emplace_back(static_cast<size_t>(parts.back()));
      std::iota(indices.back().begin(), indices.back().end(), starts.back());
    }
    const int order = Order();
    Made made;
    MPI_Type_create_subarray(dimensions, sizes.data(), parts.data(), starts.data(), order,
                             child.type, &made.type);
    made.map = OfArray(sizes, order, indices, extent, child.map);
    return made;
  }

  Made Darray(const Made& child, int64_t extent) {
    const int dimensions = Between(1, 3);
    const std::vector<int> sizes = Several<int>(dimensions, 1, 7);
    std::vector<int> distributions;
    std::vector<int> arguments;
    std::vector<int> grid;
    std::vector<std::vector<int>> indices(sizes.size());
    int ranks = 1;
    int rank = 0;  // in the grid, row by row
    for (size_t d = 0; d < sizes.size(); ++d) {
      const int distribution = Between(0, 2);
      const bool is_given = distribution != 0 && Between(0, 1) == 1;
      const int processes = distribution == 0 ? 1 : Between(1, 3);
      const int at = Between(0, processes - 1);
      const int even = (sizes[d] + processes - 1) / processes;
      const int block = distribution == 0   ? sizes[d]
                        : distribution == 1 ? even + (is_given ? Between(0, 1) : 0)
                        : is_given          ? Between(1, 3)
                                            : 1;
      for (int i = 0; i < sizes[d]; ++i) {
        if (i / block % processes == at) indices[d].push_back(i);
      }
      ranks *= processes;
      rank = rank * processes + at;
      grid.push_back(processes);
      distributions.push_back(distribution == 0   ? MPI_DISTRIBUTE_NONE
                              : distribution == 1 ? MPI_DISTRIBUTE_BLOCK
                                                  : MPI_DISTRIBUTE_CYCLIC);
      arguments.push_back(is_given ? block : MPI_DISTRIBUTE_DFLT_DARG);
    }
    const int order = Order();
    Made made;
    MPI_Type_create_darray(ranks, rank, dimensions, sizes.data(), distributions.data(),
                           arguments.data(), grid.data(), order, child.type, &made.type);
    made.map = OfArray(sizes, order, indices, extent, child.map);
    return made;
  }

  int Order() { return Between(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN; }

  std::mt19937 engine_;
};

TEST(Datatype, PredefinedOnesWalkAsMpiPacksThem) {
  for (const MPI_Datatype type : {MPI_CHAR,
                                  MPI_SHORT,
                                  MPI_INT,
                                  MPI_LONG,
                                  MPI_UNSIGNED_LONG_LONG,
                                  MPI_FLOAT,
                                  MPI_DOUBLE,
                                  MPI_LONG_DOUBLE,
                                  MPI_WCHAR,
                                  MPI_PACKED,
                                  MPI_C_DOUBLE_COMPLEX,
                                  MPI_C_LONG_DOUBLE_COMPLEX,
                                  MPI_FLOAT_INT,
                                  MPI_DOUBLE_INT,
                                  MPI_LONG_INT,
                                  MPI_SHORT_INT,
                                  MPI_2INT,
                                  MPI_LONG_DOUBLE_INT,
                                  MPI_INTEGER,
                                  MPI_REAL,
                                  MPI_DOUBLE_PRECISION,
                                  MPI_COMPLEX,
                                  MPI_LOGICAL,
                                  MPI_2REAL,
                                  MPI_2DOUBLE_PRECISION,
                                  MPI_2INTEGER,
                                  MPI_AINT,
                                  MPI_OFFSET,
                                  MPI_COUNT}) {
    for (const int count : {0, 1, 3}) ExpectWalk(type, PredefinedMap(type), count);
  }
}

TEST(Datatype, NestedOnesWalkAlongTheirTypeMap) {
  constexpr int kTypes = 3000;
  Random random(20);
  for (int i = 0; i < kTypes; ++i) {
    SCOPED_TRACE("datatype " + std::to_string(i));
    const Made made = random.Nested(random.Between(1, 4));
    const Type type(made.type);
    ExpectWalk(type.get(), made.map, random.Between(0, 3));
    if (HasFailure()) return;
  }
}

TEST(Datatype, ElementsAreKnownThroughDerivation) {
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 2, 5, MPI_SHORT_INT, &vector);
  const Type pairs(vector);
  EXPECT_EQ(LayoutOf(pairs.get()).element(), Element::kShortAndInt);
  EXPECT_EQ(LayoutOf(MPI_LONG).element(), Element::kInt64);
  EXPECT_EQ(LayoutOf(MPI_WCHAR).element(), Element::kByte);
  EXPECT_EQ(LayoutOf(MPI_CHAR).element(), Element::kInt8);
  EXPECT_EQ(LayoutOf(MPI_BYTE).element(), Element::kUint8);

  const int lengths[] = {1, 0, 2};
  const MPI_Aint offsets[] = {0, 8, 16};
  const MPI_Datatype alike[] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths, offsets, alike, &made);
  const Type doubles(made);
  EXPECT_EQ(LayoutOf(doubles.get()).element(), Element::kDouble);
  const MPI_Datatype mixed[] = {MPI_DOUBLE, MPI_DOUBLE, MPI_INT};
  MPI_Type_create_struct(3, lengths, offsets, mixed, &made);
  const Type both(made);
  EXPECT_EQ(LayoutOf(both.get()).element(), Element::kMixed);
}

TEST(Datatype, FortranTypesByDigitsMapToElements) {
  const auto element_of = [](int create(int, MPI_Datatype*), int digits) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    create(digits, &type);
    EXPECT_EQ(LayoutOf(type).extent(), LayoutOf(type).size());
    return LayoutOf(type).element();
  };
  const auto real = [](int digits, MPI_Datatype* type) {
    return MPI_Type_create_f90_real(digits, MPI_UNDEFINED, type);
  };
  const auto complex = [](int digits, MPI_Datatype* type) {
    return MPI_Type_create_f90_complex(digits, MPI_UNDEFINED, type);
  };
  EXPECT_EQ(element_of(real, 6), Element::kFloat);
  EXPECT_EQ(element_of(real, 15), Element::kDouble);
  EXPECT_EQ(element_of(complex, 6), Element::kComplexFloat);
  EXPECT_EQ(element_of(complex, 15), Element::kComplexDouble);
  EXPECT_EQ(element_of(MPI_Type_create_f90_integer, 2), Element::kInt8);
  EXPECT_EQ(element_of(MPI_Type_create_f90_integer, 4), Element::kInt16);
  EXPECT_EQ(element_of(MPI_Type_create_f90_integer, 9), Element::kInt32);
  EXPECT_EQ(element_of(MPI_Type_create_f90_integer, 18), Element::kInt64);
}

TEST(Datatype, NamesAreMpisOrListTheParts) {
  EXPECT_EQ(DescribeDatatype(MPI_DOUBLE), "MPI_DOUBLE");
  const int lengths[] = {1, 1, 2};
  const MPI_Aint offsets[] = {0, 8, 16};
  MPI_Datatype row = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_DOUBLE, &row);
  const Type rows(row);
  EXPECT_EQ(DescribeDatatype(row), "a datatype of MPI_DOUBLE");
  const MPI_Datatype parts[] = {MPI_INT, MPI_FLOAT, row};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths, offsets, parts, &made);
  const Type several(made);
  EXPECT_EQ(DescribeDatatype(made), "a datatype of MPI_INT, MPI_FLOAT, MPI_DOUBLE");
  MPI_Type_set_name(made, "particle");
  EXPECT_EQ(DescribeDatatype(made), "particle");
  MPI_Type_create_f90_integer(9, &made);
  EXPECT_NE(DescribeDatatype(made), "");
}

TEST(Datatype, AnExtentBeyondAnyMemoryIsRefused) {
  for (const MPI_Aint extent : {MPI_Aint{1} << 62, -(MPI_Aint{1} << 62)}) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_resized(MPI_INT, 0, extent, &type);
    TypedLayout layout;
    EXPECT_EQ(TranslateDatatype(type, &layout).code(), StatusCode::kInvalidArgument);
    MPI_Type_free(&type);
  }
}

// MPI's extents of these datatypes overflow, some to 0.
TEST(Datatype, ProductsBeyondAnyMemoryAreRefused) {
  MPI_Datatype child = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, MPI_Aint{1} << 61, &child);
  const int sizes[] = {8, 2};
  const int parts[] = {1, 2};
  const int starts[] = {0, 0};
  const int whole[] = {2, 2};
  const int distributions[] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  const int arguments[] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  const int grid[] = {1, 1};
  const int lengths[] = {1, 1};
  const int offsets[] = {0, 8};
  MPI_Datatype types[5];
  MPI_Type_vector(2, 1, 8, child, &types[0]);
  MPI_Type_indexed(2, lengths, offsets, child, &types[1]);
  MPI_Type_create_indexed_block(2, 1, offsets, child, &types[2]);
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_FORTRAN, child, &types[3]);
  MPI_Type_create_darray(1, 0, 2, whole, distributions, arguments, grid, MPI_ORDER_FORTRAN, child,
                         &types[4]);
  for (MPI_Datatype& type : types) {
    TypedLayout layout;
    EXPECT_EQ(TranslateDatatype(type, &layout).code(), StatusCode::kInvalidArgument);
    MPI_Type_free(&type);
  }
  MPI_Type_free(&child);
}

TEST(Datatype, OperationsOfUsersAreTold) {
  CombineOp op = CombineOp::kReplace;
  EXPECT_TRUE(FindAccumulateOp(MPI_MAXLOC, &op));
  EXPECT_EQ(op, CombineOp::kMaxLocation);
  MPI_Op own = MPI_OP_NULL;
  MPI_Op_create([](void*, void*, int*, MPI_Datatype*) {}, 1, &own);
  EXPECT_FALSE(FindAccumulateOp(own, &op));
  MPI_Op_free(&own);
  EXPECT_FALSE(FindAccumulateOp(MPI_OP_NULL, &op));
}

TEST(Datatype, CacheForgetsFreedDatatypes) {
  // MPI keeps it for as long as it lives.
  static DatatypeCache* const cache = new DatatypeCache;
  const DatatypeCache::Known* known = nullptr;
  EXPECT_EQ(cache->Find(MPI_DATATYPE_NULL, &known).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(cache->Find(MPI_INT, &known).ok());
  EXPECT_TRUE(known->is_predefined);
  const DatatypeCache::Known* const of_int = known;
  for (int length = 1; length <= 50; ++length) {
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(length, MPI_INT, &type);
    ASSERT_TRUE(cache->Find(type, &known).ok());
    EXPECT_FALSE(known->is_predefined);
    EXPECT_EQ(known->layout.size(), length * int64_t{sizeof(int)});
    const DatatypeCache::Known* again = nullptr;
    ASSERT_TRUE(cache->Find(type, &again).ok());
    EXPECT_EQ(again, known);
    MPI_Type_free(&type);
    EXPECT_EQ(cache->Find(type, &known).code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(cache->size(), 1);
  }
  ASSERT_TRUE(cache->Find(MPI_INT, &known).ok());
  EXPECT_EQ(known, of_int);
  EXPECT_EQ(cache->Find(MPI_DATATYPE_NULL, &known).code(), StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace rma
}  // namespace brigade

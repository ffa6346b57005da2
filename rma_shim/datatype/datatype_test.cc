// MPI_Pack says where the bytes of a datatype lie; what is translated must walk along the same
// ones.

#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
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

void ExpectAsPacked(MPI_Datatype type, int count) {
  const TypedLayout layout = LayoutOf(type);
  MPI_Aint low = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &low, &extent);
  EXPECT_EQ(layout.extent(), extent);
  int64_t first = 0;
  int64_t last = 0;
  int64_t bytes = 0;
  ASSERT_TRUE(layout.Bounds(count, &first, &last, &bytes));
  std::vector<std::byte> memory(static_cast<size_t>(last - first + 1));  // never null
  std::mt19937 random(1);
  for (std::byte& byte : memory) byte = static_cast<std::byte>(random());
  const std::byte* const base = memory.data() - first;

  std::vector<std::byte> ours(static_cast<size_t>(bytes));
  LayoutCursor cursor(&layout, count);
  Gather(&cursor, base, bytes, ours.data());

  int room = 0;
  MPI_Pack_size(count, type, MPI_COMM_SELF, &room);
  std::vector<std::byte> theirs(static_cast<size_t>(room + 1));
  int packed = 0;
  MPI_Pack(base, count, type, theirs.data(), room, &packed, MPI_COMM_SELF);
  ASSERT_EQ(bytes, packed);
  EXPECT_TRUE(std::equal(ours.begin(), ours.end(), theirs.begin()));
}

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}

  int Between(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(engine_);
  }
  std::vector<int> Several(int count, int least, int most) {
    std::vector<int> numbers(static_cast<size_t>(count));
    for (int& number : numbers) number = Between(least, most);
    return numbers;
  }

  MPI_Datatype Predefined() {
    const MPI_Datatype types[] = {MPI_CHAR,      MPI_SHORT,          MPI_INT,       MPI_DOUBLE,
                                  MPI_SHORT_INT, MPI_DOUBLE_INT,     MPI_BYTE,      MPI_LONG_DOUBLE,
                                  MPI_2INT,      MPI_COMPLEX,        MPI_LOGICAL,   MPI_C_BOOL,
                                  MPI_LONG_INT,  MPI_FLOAT_INT,      MPI_CHARACTER, MPI_INTEGER,
                                  MPI_REAL,      MPI_LONG_DOUBLE_INT};
    return types[Between(0, static_cast<int>(std::size(types)) - 1)];
  }

  // A new datatype, of `depth` derivations. It has bytes: Open MPI packs the wrong ones where parts
  // have none.
  MPI_Datatype Nested(int depth) {
    if (depth == 0) return Predefined();
    const Type child(Nested(depth - 1));
    for (;;) {
      MPI_Datatype made = MPI_DATATYPE_NULL;
      Derive(depth, child.get(), &made);
      int bytes = 0;
      MPI_Type_size(made, &bytes);
      if (bytes > 0) return made;
      MPI_Type_free(&made);
    }
  }

 private:
  void Derive(int depth, MPI_Datatype child, MPI_Datatype* made) {
    const int n = Between(0, 4);
    const std::vector<int> lengths = Several(n, 0, 3);
    const std::vector<int> places = Several(n, -9, 9);
    std::vector<MPI_Aint> offsets;
    for (const int place : Several(n, -300, 300)) offsets.push_back(place);
    switch (Between(0, 11)) {
      case 0:
        MPI_Type_contiguous(n, child, made);
        break;
      case 1:
        // Parts do not overlap: Open MPI takes some that do for contiguous.
        MPI_Type_vector(n, 3, Between(0, 1) == 0 ? Between(3, 6) : Between(-6, -3), child, made);
        break;
      case 2:
        MPI_Type_create_hvector(n, Between(0, 3), Between(-90, 90), child, made);
        break;
      case 3:
        MPI_Type_indexed(n, lengths.data(), places.data(), child, made);
        break;
      case 4:
        MPI_Type_create_hindexed(n, lengths.data(), offsets.data(), child, made);
        break;
      case 5:
        MPI_Type_create_indexed_block(n, Between(0, 3), places.data(), child, made);
        break;
      case 6:
        MPI_Type_create_hindexed_block(n, Between(0, 3), offsets.data(), child, made);
        break;
      case 7:
        Struct(depth, lengths, offsets, made);
        break;
      case 8:
        MPI_Type_create_resized(child, Between(-20, 20), Between(-50, 200), made);
        break;
      case 9:
        MPI_Type_dup(child, made);
        break;
      case 10:
        Subarray(child, made);
        break;
      default:
        Darray(child, made);
        break;
    }
  }

  void Struct(int depth, const std::vector<int>& lengths, const std::vector<MPI_Aint>& offsets,
              MPI_Datatype* made) {
    std::vector<MPI_Datatype> types;
    for (size_t i = 0; i < lengths.size(); ++i) types.push_back(Nested(Between(0, depth - 1)));
    MPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), offsets.data(),
                           types.data(), made);
    for (MPI_Datatype& type : types) {
      if (!IsPredefined(type)) MPI_Type_free(&type);
    }
  }

  void Subarray(MPI_Datatype child, MPI_Datatype* made) {
    const int dimensions = Between(1, 3);
    const std::vector<int> sizes = Several(dimensions, 1, 5);
    std::vector<int> parts;
    std::vector<int> starts;
    for (const int size : sizes) {
      parts.push_back(Between(1, size));
      starts.push_back(Between(0, size - parts.back()));
    }
    MPI_Type_create_subarray(dimensions, sizes.data(), parts.data(), starts.data(), Order(), child,
                             made);
  }

  void Darray(MPI_Datatype child, MPI_Datatype* made) {
    const int dimensions = Between(1, 3);
    const std::vector<int> sizes = Several(dimensions, 1, 7);
    std::vector<int> distributions;
    std::vector<int> arguments;
    std::vector<int> grid;
    int ranks = 1;
    for (const int size : sizes) {
      const int distribution = Between(0, 2);
      const bool given = Between(0, 1) == 1;
      grid.push_back(distribution == 0 ? 1 : Between(1, 3));
      ranks *= grid.back();
      const int even = (size + grid.back() - 1) / grid.back();
      distributions.push_back(distribution == 0   ? MPI_DISTRIBUTE_NONE
                              : distribution == 1 ? MPI_DISTRIBUTE_BLOCK
                                                  : MPI_DISTRIBUTE_CYCLIC);
      arguments.push_back(distribution == 0 || !given ? MPI_DISTRIBUTE_DFLT_DARG
                          : distribution == 1         ? even + Between(0, 1)
                                                      : Between(1, 3));
    }
    MPI_Type_create_darray(ranks, Between(0, ranks - 1), dimensions, sizes.data(),
                           distributions.data(), arguments.data(), grid.data(), Order(), child,
                           made);
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
    for (const int count : {0, 1, 3}) ExpectAsPacked(type, count);
  }
}

TEST(Datatype, NestedOnesWalkAsMpiPacksThem) {
  constexpr int kTypes = 3000;
  Random random(20);
  for (int i = 0; i < kTypes; ++i) {
    SCOPED_TRACE("datatype " + std::to_string(i));
    const Type type(random.Nested(random.Between(1, 4)));
    ExpectAsPacked(type.get(), random.Between(0, 3));
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

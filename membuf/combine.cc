#include "membuf/combine.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "membuf/check.h"
#include "membuf/pack.h"
#include "membuf/processor_loop.h"
#include "membuf/rules.h"

namespace brigade {
namespace {

template <typename T>
struct Complex {
  T re;
  T im;
};

// Unsigned integer of T's size.
template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <typename T>
BitsOf<T> ToBits(T x) {
  BitsOf<T> bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// Values lie in chunks and user matrices as bytes, at any alignment.
template <typename T>
T Load(const std::byte* values, size_t i) {
  T x;
  std::memcpy(&x, values + i * sizeof(T), sizeof x);
  return x;
}
template <typename T>
void Store(std::byte* values, size_t i, T x) {
  std::memcpy(values + i * sizeof(T), &x, sizeof x);
}

// Sum --------------------------------------------------------------------------------------------

template <typename T>
T Sum(T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(ToBits(left) + ToBits(right));
  } else {
    const T sum = left + right;
    return std::isnan(sum) ? std::numeric_limits<T>::quiet_NaN() : sum;
  }
}

// Absolute maximum and minimum -------------------------------------------------------------------
//
// Each is "the larger rank wins", where a rank is an unsigned integer made of the magnitude, and
// that of a NaN is the largest there is.

template <CombineOp kOp, typename T>
BitsOf<T> Rank(T x) {
  constexpr auto kNanRank = static_cast<BitsOf<T>>(-1);
  if constexpr (std::is_integral_v<T>) {
    const BitsOf<T> magnitude = x < 0 ? BitsOf<T>{0} - ToBits(x) : ToBits(x);
    return kOp == CombineOp::kAbsMax ? magnitude : ~magnitude;
  } else {
    // The bits of non-negative numbers are in the order of the numbers, and below kNanRank / 2.
    const BitsOf<T> magnitude = ToBits(std::abs(x));
    const BitsOf<T> rank = kOp == CombineOp::kAbsMax ? magnitude : kNanRank / 2 - magnitude;
    return std::isnan(x) ? kNanRank : rank;
  }
}
template <CombineOp kOp, typename T>
BitsOf<T> Rank(Complex<T> x) {
  return Rank<kOp>(std::abs(x.re) + std::abs(x.im));
}

// Left is at least right as a signed value. Floating bits are sign and magnitude; flipping the
// magnitude of negative ones gives integers in the same order, -0 before +0.
template <typename T>
bool AtLeast(T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    return left >= right;
  } else {
    using Ordered = std::make_signed_t<BitsOf<T>>;
    const auto ordered = [](T x) {
      const auto bits = static_cast<Ordered>(ToBits(x));
      return bits < 0 ? bits ^ std::numeric_limits<Ordered>::max() : bits;
    };
    return ordered(left) >= ordered(right);
  }
}
template <typename T>
bool AtLeast(Complex<T> left, Complex<T> right) {
  const bool same_re = ToBits(left.re) == ToBits(right.re);
  return same_re ? AtLeast(left.im, right.im) : AtLeast(left.re, right.re);
}

template <typename T>
T Canonical(T x) {
  if constexpr (std::is_integral_v<T>) {
    return x;
  } else {
    return std::isnan(x) ? std::numeric_limits<T>::quiet_NaN() : x;
  }
}
template <typename T>
Complex<T> Canonical(Complex<T> x) {
  constexpr T kNan = std::numeric_limits<T>::quiet_NaN();
  return std::isnan(x.re) || std::isnan(x.im) ? Complex<T>{kNan, kNan} : x;
}

// Kernels: contiguous values ---------------------------------------------------------------------

struct Piece {
  std::byte* dst;
  const std::byte* left;
  const std::byte* right;
  // Null without locations.
  int32_t* dst_locations;
  const int32_t* left_locations;
  const int32_t* right_locations;
};

using Kernel = void (*)(const Piece& piece, size_t elems);

// The loops read element i of both operands before they write element i, and the destination is
// either an operand itself or apart from both: no iteration depends on another (ivdep), which the
// compiler cannot know.

// kParts: numbers per element, 2 if complex.
template <typename T, size_t kParts>
struct SumLoop {
  BRIGADE_PART_OF_CALLER static void Run(const Piece& piece, size_t elems) {
    std::byte* const dst = piece.dst;
    const std::byte* const left = piece.left;
    const std::byte* const right = piece.right;
#pragma GCC ivdep
    for (size_t i = 0; i < elems * kParts; ++i) {
      Store(dst, i, Sum(Load<T>(left, i), Load<T>(right, i)));
    }
  }
};

template <CombineOp kOp, typename T>
struct AbsLoop {
  BRIGADE_PART_OF_CALLER static void Run(const Piece& piece, size_t elems) {
    std::byte* const dst = piece.dst;
    const std::byte* const left = piece.left;
    const std::byte* const right = piece.right;
#pragma GCC ivdep
    for (size_t i = 0; i < elems; ++i) {
      const T l = Load<T>(left, i);
      const T r = Load<T>(right, i);
      const auto l_rank = Rank<kOp>(l);
      const auto r_rank = Rank<kOp>(r);
      const bool left_wins = l_rank > r_rank || (l_rank == r_rank && AtLeast(l, r));
      Store(dst, i, Canonical(left_wins ? l : r));
    }
  }
};

template <CombineOp kOp, typename T>
struct AbsLocationLoop {
  BRIGADE_PART_OF_CALLER static void Run(const Piece& piece, size_t elems) {
    std::byte* const dst = piece.dst;
    const std::byte* const left = piece.left;
    const std::byte* const right = piece.right;
    int32_t* const dst_locations = piece.dst_locations;
    const int32_t* const left_locations = piece.left_locations;
    const int32_t* const right_locations = piece.right_locations;
#pragma GCC ivdep
    for (size_t i = 0; i < elems; ++i) {
      const T l = Load<T>(left, i);
      const T r = Load<T>(right, i);
      const int32_t l_location = left_locations[i];
      const int32_t r_location = right_locations[i];
      const auto l_rank = Rank<kOp>(l);
      const auto r_rank = Rank<kOp>(r);
      const bool left_first =
          l_location < r_location || (l_location == r_location && AtLeast(l, r));
      const bool left_wins = l_rank > r_rank || (l_rank == r_rank && left_first);
      Store(dst, i, Canonical(left_wins ? l : r));
      dst_locations[i] = left_wins ? l_location : r_location;
    }
  }
};

template <typename Loop>
void RunKernel(const Piece& piece, size_t elems) {
  RunForProcessor<Loop>(piece, elems);
}

struct TypeRow {
  const char* name;
  size_t bytes;
  Kernel sum;
  Kernel abs_max;
  Kernel abs_min;
  Kernel abs_max_location;
  Kernel abs_min_location;
};

template <typename T, typename Part, size_t kParts>
constexpr TypeRow MakeRow(const char* name) {
  return {name,
          sizeof(T),
          RunKernel<SumLoop<Part, kParts>>,
          RunKernel<AbsLoop<CombineOp::kAbsMax, T>>,
          RunKernel<AbsLoop<CombineOp::kAbsMin, T>>,
          RunKernel<AbsLocationLoop<CombineOp::kAbsMax, T>>,
          RunKernel<AbsLocationLoop<CombineOp::kAbsMin, T>>};
}

// In the order of ElementType.
constexpr TypeRow kTypes[] = {
    MakeRow<int32_t, int32_t, 1>("int32"),
    MakeRow<int64_t, int64_t, 1>("int64"),
    MakeRow<float, float, 1>("float"),
    MakeRow<double, double, 1>("double"),
    MakeRow<Complex<float>, float, 2>("complex float"),
    MakeRow<Complex<double>, double, 2>("complex double"),
};

const TypeRow& RowOf(ElementType type) { return kTypes[static_cast<size_t>(type)]; }

Kernel KernelFor(CombineOp op, ElementType type, bool locations) {
  const TypeRow& row = RowOf(type);
  switch (op) {
    case CombineOp::kSum:
      return row.sum;
    case CombineOp::kAbsMax:
      return locations ? row.abs_max_location : row.abs_max;
    case CombineOp::kAbsMin:
      return locations ? row.abs_min_location : row.abs_min;
  }
  return nullptr;
}

// The next `bytes` of an operand, contiguous: where they lie, or gathered into `block`.
const std::byte* Fetch(StridedLayout::Cursor* cursor, const std::byte* base, size_t bytes,
                       std::byte* block) {
  const StridedLayout::Run run = cursor->Next();
  if (run.bytes >= bytes) {
    cursor->Advance(bytes);
    return base + run.memory_offset;
  }
  CopyIn(block, cursor, base, bytes);
  return block;
}

}  // namespace

size_t ElementBytes(ElementType type) { return RowOf(type).bytes; }

const char* ElementTypeName(ElementType type) { return RowOf(type).name; }

const char* CombineOpName(CombineOp op) {
  switch (op) {
    case CombineOp::kSum:
      return "sum";
    case CombineOp::kAbsMax:
      return "absolute maximum";
    case CombineOp::kAbsMin:
      return "absolute minimum";
  }
  return "unknown";
}

void Combine(CombineOp op, ElementType type, size_t elems, const MutableOperand& dst,
             const ConstOperand& left, const ConstOperand& right) {
  if (elems == 0) return;  // nothing has an address then, locations included
  const bool locations = dst.locations != nullptr;
  BRIGADE_CHECK_EQ(left.locations != nullptr, locations);
  BRIGADE_CHECK_EQ(right.locations != nullptr, locations);
  BRIGADE_CHECK(!locations || op != CombineOp::kSum);

  const Kernel kernel = KernelFor(op, type, locations);
  const size_t elem_bytes = ElementBytes(type);
  if (dst.layout->plain() && left.layout->plain() && right.layout->plain()) {
    Piece piece;
    piece.left = left.base + left.offset;
    piece.right = right.base + right.offset;
    piece.dst = dst.base + dst.offset;
    piece.left_locations = left.locations;
    piece.right_locations = right.locations;
    piece.dst_locations = dst.locations;
    kernel(piece, elems);
    return;
  }
  StridedLayout::Cursor dst_cursor(*dst.layout, dst.offset);
  StridedLayout::Cursor left_cursor(*left.layout, left.offset);
  StridedLayout::Cursor right_cursor(*right.layout, right.offset);
  alignas(64) std::byte left_block[rules::kCombineBlockBytes];
  alignas(64) std::byte right_block[rules::kCombineBlockBytes];

  for (size_t done = 0; done < elems;) {
    const size_t bytes_left = (elems - done) * elem_bytes;
    const StridedLayout::Run dst_run = dst_cursor.Next();
    const size_t direct_bytes =
        std::min({bytes_left, dst_run.bytes, left_cursor.Next().bytes, right_cursor.Next().bytes});
    const size_t bytes = direct_bytes >= rules::kCombinedInPlaceBytes
                             ? direct_bytes
                             : std::min(bytes_left, rules::kCombineBlockBytes);

    Piece piece;
    piece.left = Fetch(&left_cursor, left.base, bytes, left_block);
    piece.right = Fetch(&right_cursor, right.base, bytes, right_block);
    // A block that is not an operand's by now is free, and one that is may be overwritten in place.
    const bool lands = dst_run.bytes >= bytes;
    piece.dst = lands ? dst.base + dst_run.memory_offset : left_block;
    piece.dst_locations = locations ? dst.locations + done : nullptr;
    piece.left_locations = locations ? left.locations + done : nullptr;
    piece.right_locations = locations ? right.locations + done : nullptr;
    kernel(piece, bytes / elem_bytes);
    if (lands) {
      dst_cursor.Advance(bytes);
    } else {
      CopyOut(&dst_cursor, dst.base, bytes, left_block);
    }
    done += bytes / elem_bytes;
  }
}

}  // namespace brigade

#include "membuf/combine_kernels.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "membuf/arithmetic.h"
#include "membuf/processor_loop.h"

namespace brigade {
namespace {

// Values and locations lie in chunks and user matrices as bytes, at any alignment.
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

// The loops read element i of both operands before they write element i, and the destination is
// either an operand itself or apart from both: no iteration depends on another (ivdep), which the
// compiler cannot know.

// kParts: values per element.
template <CombineOp kOp, Nans kNans, typename T, size_t kParts = 1>
struct Loop {
  BRIGADE_PART_OF_CALLER static void Run(const CombinePiece& piece, size_t elems) {
    std::byte* const dst = piece.dst;
    const std::byte* const left = piece.left;
    const std::byte* const right = piece.right;
#pragma GCC ivdep
    for (size_t i = 0; i < elems * kParts; ++i) {
      Store(dst, i, Combined<kOp, kNans>(Load<T>(left, i), Load<T>(right, i)));
    }
  }
};

template <CombineOp kOp, typename T>
struct LocationLoop {
  BRIGADE_PART_OF_CALLER static void Run(const CombinePiece& piece, size_t elems) {
    std::byte* const dst = piece.dst;
    const std::byte* const left = piece.left;
    const std::byte* const right = piece.right;
    auto* const dst_locations = reinterpret_cast<std::byte*>(piece.dst_locations);
    const auto* const left_locations = reinterpret_cast<const std::byte*>(piece.left_locations);
    const auto* const right_locations = reinterpret_cast<const std::byte*>(piece.right_locations);
#pragma GCC ivdep
    for (size_t i = 0; i < elems; ++i) {
      const T l = Load<T>(left, i);
      const T r = Load<T>(right, i);
      const int32_t l_location = Load<int32_t>(left_locations, i);
      const int32_t r_location = Load<int32_t>(right_locations, i);
      const auto l_rank = Rank<kOp>(l);
      const auto r_rank = Rank<kOp>(r);
      const bool left_first =
          l_location < r_location || (l_location == r_location && AtLeast(l, r));
      const bool left_wins = l_rank > r_rank || (l_rank == r_rank && left_first);
      Store(dst, i, Canonical(left_wins ? l : r));
      Store(dst_locations, i, left_wins ? l_location : r_location);
    }
  }
};

template <typename Loop>
void RunOnProcessor(const CombinePiece& piece, size_t elems) {
  RunForProcessor<Loop>(piece, elems);
}

constexpr bool IsLogical(CombineOp op) {
  return op == CombineOp::kLogicalAnd || op == CombineOp::kLogicalOr ||
         op == CombineOp::kLogicalXor;
}
constexpr bool IsBitwise(CombineOp op) {
  return op == CombineOp::kBitAnd || op == CombineOp::kBitOr || op == CombineOp::kBitXor;
}

// Returns whether the operation has arithmetic for T: in calls (kCanonical), in accumulates.
// std::byte: bits without a meaning.
template <typename T>
constexpr bool HasArithmetic(CombineOp op, Nans nans) {
  constexpr bool kIsInteger = std::is_integral_v<T>;
  constexpr bool kIsNumber = kIsInteger || kIsFloating<T> || kIsComplex<T>;
  constexpr bool kIsForCalls = !kIsLogical<T> && !kHasLocation<T> && sizeof(PartOf<T>) <= 8;
  const bool in_calls = nans == Nans::kCanonical;
  if (in_calls ? !kIsForCalls : kIsHalf<T>) return false;
  switch (op) {
    case CombineOp::kSum:
    case CombineOp::kProduct:
      return kIsNumber;
    case CombineOp::kMax:
    case CombineOp::kMin:
      return kIsNumber && !kIsComplex<T>;
    case CombineOp::kAbsMax:
    case CombineOp::kAbsMin:
      return kIsNumber && in_calls;
    case CombineOp::kMaxLocation:
    case CombineOp::kMinLocation:
      return kHasLocation<T>;
    default:
      if (IsBitwise(op)) return kIsInteger || std::is_same_v<T, std::byte>;
      return IsLogical(op) && !in_calls && (kIsInteger || kIsLogical<T>);
  }
}

template <typename T, CombineOp kOp, Nans kWanted>
constexpr CombineKernel KernelOf() {
  // One loop of calls and accumulates where there are no NaNs.
  constexpr Nans kNans = kIsFloating<T> || kIsComplex<T> ? kWanted : Nans::kCanonical;
  constexpr bool kSums = kOp == CombineOp::kSum || kOp == CombineOp::kProduct;
  if constexpr (!HasArithmetic<T>(kOp, kWanted)) {
    return nullptr;
  } else if constexpr (kOp == CombineOp::kSum && kIsComplex<T>) {
    return RunOnProcessor<Loop<kOp, kNans, PartOf<T>, 2>>;
  } else if constexpr (IsBitwise(kOp) || IsLogical(kOp) || (kSums && std::is_integral_v<T>)) {
    return RunOnProcessor<Loop<kOp, kNans, BitsOf<T>>>;
  } else {
    return RunOnProcessor<Loop<kOp, kNans, T>>;
  }
}

template <typename T, CombineOp kOp>
constexpr CombineKernel LocationKernelOf() {
  if constexpr (HasLocations(kOp) && HasArithmetic<T>(kOp, Nans::kCanonical)) {
    return RunOnProcessor<LocationLoop<kOp, T>>;
  } else {
    return nullptr;
  }
}

struct Row {
  const char* name;
  size_t bytes;
  CombineKernel in_calls[kCombineOps];
  CombineKernel with_locations[kCombineOps];
  CombineKernel in_accumulates[kCombineOps];
};

template <typename T, int... kOps>
constexpr Row MakeRow(const char* name, std::integer_sequence<int, kOps...>) {
  static_assert(sizeof(T) <= kMostElementBytes);
  return {name,
          sizeof(T),
          {KernelOf<T, static_cast<CombineOp>(kOps), Nans::kCanonical>()...},
          {LocationKernelOf<T, static_cast<CombineOp>(kOps)>()...},
          {KernelOf<T, static_cast<CombineOp>(kOps), Nans::kAsComputed>()...}};
}
template <typename T>
constexpr Row MakeRow(const char* name) {
  return MakeRow<T>(name, std::make_integer_sequence<int, kCombineOps>());
}

// In the order of Element.
constexpr Row kRows[] = {
    MakeRow<std::byte>("byte"),
    MakeRow<int8_t>("int8"),
    MakeRow<int16_t>("int16"),
    MakeRow<int32_t>("int32"),
    MakeRow<int64_t>("int64"),
    MakeRow<uint8_t>("uint8"),
    MakeRow<uint16_t>("uint16"),
    MakeRow<uint32_t>("uint32"),
    MakeRow<uint64_t>("uint64"),
    MakeRow<Float16>("float16"),
    MakeRow<Bfloat16>("bfloat16"),
    MakeRow<float>("float"),
    MakeRow<double>("double"),
    MakeRow<Complex<float>>("complex float"),
    MakeRow<Complex<double>>("complex double"),
    MakeRow<long double>("long double"),
    MakeRow<Complex<long double>>("complex long double"),
    MakeRow<Logical<uint8_t>>("bool"),
    MakeRow<Logical<uint32_t>>("logical"),
    MakeRow<WithLocation<double, int>>("double and int"),
    MakeRow<WithLocation<float, int>>("float and int"),
    MakeRow<WithLocation<long double, int>>("long double and int"),
    MakeRow<WithLocation<long, int>>("long and int"),
    MakeRow<WithLocation<short, int>>("short and int"),
    MakeRow<WithLocation<int, int>>("int and int"),
    MakeRow<WithLocation<float, float>>("float and float"),
    MakeRow<WithLocation<double, double>>("double and double"),
    {"mixed", 0, {}, {}, {}},
};
static_assert(sizeof(kRows) / sizeof(kRows[0]) == kElements + 1);

// In the order of CombineOp.
constexpr const char* kOpNames[] = {"sum",
                                    "product",
                                    "maximum",
                                    "minimum",
                                    "absolute maximum",
                                    "absolute minimum",
                                    "bitwise and",
                                    "bitwise or",
                                    "bitwise exclusive or",
                                    "user operation",
                                    "logical and",
                                    "logical or",
                                    "logical exclusive or",
                                    "maximum with location",
                                    "minimum with location",
                                    "replace",
                                    "no-op"};
static_assert(sizeof(kOpNames) / sizeof(kOpNames[0]) == kCombineOps);

const Row& RowOf(Element element) { return kRows[static_cast<size_t>(element)]; }

}  // namespace

CombineKernel CombineKernelFor(CombineOp op, Element type, bool with_locations) {
  const Row& row = RowOf(type);
  return (with_locations ? row.with_locations : row.in_calls)[static_cast<size_t>(op)];
}
CombineKernel AccumulateKernelFor(CombineOp op, Element element) {
  return RowOf(element).in_accumulates[static_cast<size_t>(op)];
}

size_t ElementBytes(Element element) { return RowOf(element).bytes; }
const char* ElementName(Element element) { return RowOf(element).name; }
const char* CombineOpName(CombineOp op) { return kOpNames[static_cast<size_t>(op)]; }

bool Combines(CombineOp op, Element type) {
  if (op == CombineOp::kUser) return type == Element::kByte;
  return CombineKernelFor(op, type, /*with_locations=*/false) != nullptr;
}

}  // namespace brigade

#include "membuf/combine_kernels.h"

#include <cstring>
#include <type_traits>

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
template <CombineOp kOp, typename T, size_t kParts>
struct Loop {
  BRIGADE_PART_OF_CALLER static void Run(const CombinePiece& piece, size_t elems) {
    std::byte* const dst = piece.dst;
    const std::byte* const left = piece.left;
    const std::byte* const right = piece.right;
#pragma GCC ivdep
    for (size_t i = 0; i < elems * kParts; ++i) {
      Store(dst, i, Combined<kOp>(Load<T>(left, i), Load<T>(right, i)));
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

// Short integers and bits take the baseline alone: half of the code, and 128-bit registers do.
template <typename Loop>
void RunOnBaseline(const CombinePiece& piece, size_t elems) {
  Loop::Run(piece, elems);
}
template <typename Loop>
void RunOnProcessor(const CombinePiece& piece, size_t elems) {
  RunForProcessor<Loop>(piece, elems);
}

constexpr bool IsBitwise(CombineOp op) {
  return op == CombineOp::kAnd || op == CombineOp::kOr || op == CombineOp::kXor;
}

// std::byte: bits without a meaning.
template <typename T>
constexpr bool Combines(CombineOp op) {
  if (op == CombineOp::kUser) return false;
  if (IsBitwise(op)) return std::is_integral_v<T> || std::is_same_v<T, std::byte>;
  if (op == CombineOp::kMax || op == CombineOp::kMin)
    return std::is_integral_v<T> || kIsFloating<T>;
  return !std::is_same_v<T, std::byte>;
}

template <typename T, CombineOp kOp, bool kWithLocations>
constexpr CombineKernel KernelOf() {
  constexpr bool kIsShort = sizeof(T) < 4 && !kIsFloating<T>;
  if constexpr (!Combines<T>(kOp) || (kWithLocations && !HasLocations(kOp))) {
    return nullptr;
  } else if constexpr (kWithLocations) {
    return kIsShort ? RunOnBaseline<LocationLoop<kOp, T>> : RunOnProcessor<LocationLoop<kOp, T>>;
  } else if constexpr (IsBitwise(kOp)) {
    return RunOnBaseline<Loop<kOp, BitsOf<T>, 1>>;
  } else if constexpr (kOp == CombineOp::kSum && kIsComplex<T>) {
    return RunOnProcessor<Loop<kOp, PartOf<T>, 2>>;
  } else if constexpr (std::is_integral_v<T> && !HasLocations(kOp)) {
    using Loop = Loop<kOp, BitsOf<T>, 1>;
    return kIsShort ? RunOnBaseline<Loop> : RunOnProcessor<Loop>;
  } else {
    return kIsShort ? RunOnBaseline<Loop<kOp, T, 1>> : RunOnProcessor<Loop<kOp, T, 1>>;
  }
}

struct TypeRow {
  const char* name;
  size_t bytes;
  CombineKernel kernels[2][kCombineOps];  // without and with locations
};

template <typename T, int... kOps>
constexpr TypeRow MakeRow(const char* name, std::integer_sequence<int, kOps...>) {
  return {name,
          sizeof(T),
          {{KernelOf<T, static_cast<CombineOp>(kOps), false>()...},
           {KernelOf<T, static_cast<CombineOp>(kOps), true>()...}}};
}
template <typename T>
constexpr TypeRow MakeRow(const char* name) {
  return MakeRow<T>(name, std::make_integer_sequence<int, kCombineOps>());
}

// In the order of ElementType.
constexpr TypeRow kTypes[kElementTypes] = {
    MakeRow<std::byte>("byte"),
    MakeRow<int8_t>("int8"),
    MakeRow<uint8_t>("uint8"),
    MakeRow<int16_t>("int16"),
    MakeRow<uint16_t>("uint16"),
    MakeRow<int32_t>("int32"),
    MakeRow<uint32_t>("uint32"),
    MakeRow<int64_t>("int64"),
    MakeRow<uint64_t>("uint64"),
    MakeRow<Float16>("float16"),
    MakeRow<Bfloat16>("bfloat16"),
    MakeRow<float>("float"),
    MakeRow<double>("double"),
    MakeRow<Complex<float>>("complex float"),
    MakeRow<Complex<double>>("complex double"),
};

// In the order of CombineOp.
constexpr const char* kOpNames[kCombineOps] = {"sum",
                                               "product",
                                               "maximum",
                                               "minimum",
                                               "bitwise and",
                                               "bitwise or",
                                               "bitwise exclusive or",
                                               "absolute maximum",
                                               "absolute minimum",
                                               "user operation"};

const TypeRow& RowOf(ElementType type) { return kTypes[static_cast<size_t>(type)]; }

}  // namespace

CombineKernel CombineKernelFor(CombineOp op, ElementType type, bool with_locations) {
  return RowOf(type).kernels[with_locations ? 1 : 0][static_cast<size_t>(op)];
}

size_t ElementBytes(ElementType type) { return RowOf(type).bytes; }
const char* ElementTypeName(ElementType type) { return RowOf(type).name; }
const char* CombineOpName(CombineOp op) { return kOpNames[static_cast<size_t>(op)]; }

bool Combines(CombineOp op, ElementType type) {
  if (op == CombineOp::kUser) return type == ElementType::kByte;
  return CombineKernelFor(op, type, /*with_locations=*/false) != nullptr;
}

}  // namespace brigade

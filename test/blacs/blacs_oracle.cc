#include "test/blacs/blacs_oracle.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>

#include "membuf/check.h"

namespace brigade {
namespace {

constexpr size_t kBackBytes = 256;

// Is the 1-based element (i, j) in the region?
bool Contains(const Region& r, int i, int j) {
  if (!r.trapezoid) return true;
  const int d = r.unit_diagonal ? 1 : 0;
  // The diagonal starts in the upper left corner, except where the trapezoid has its full rows
  // above (upper, m > n) or its full columns to the left (lower, m < n) of it.
  if (r.upper) return i <= j + std::max(r.m - r.n, 0) - d;
  return j <= i + std::max(r.n - r.m, 0) - d;
}

// Calls `function` with a value of the C++ type of BLACS type `type`.
template <typename Function>
auto WithType(char type, Function function) {
  switch (type) {
    case 'i':
      return function(int32_t{});
    case 's':
      return function(float{});
    case 'd':
      return function(double{});
    case 'c':
      return function(std::complex<float>{});
    default:
      BRIGADE_CHECK_EQ(type, 'z');
      return function(std::complex<double>{});
  }
}

template <typename T>
struct IsComplex : std::false_type {};
template <typename T>
struct IsComplex<std::complex<T>> : std::true_type {};

// A whole number of at most 1000 (sums) or 4 (so that ties abound) in absolute value.
template <typename T>
T SmallNumber(CombineOp op, uint64_t hash) {
  const int limit = op == CombineOp::kSum || hash % 8 == 0 ? 1000 : 4;
  const T value = static_cast<T>(static_cast<int>((hash >> 8) % (2 * limit + 1)) - limit);
  if constexpr (std::is_floating_point_v<T>) {
    if (op == CombineOp::kSum && value == 0 && (hash >> 40) % 2 != 0) return -value;
  }
  return value;
}

template <typename T>
T Operand(CombineOp op, uint64_t key, int rank, size_t index) {
  const uint64_t hash = Mix(Mix(key, static_cast<uint64_t>(rank)), index);
  if constexpr (IsComplex<T>::value) {
    using Part = typename T::value_type;
    return T(SmallNumber<Part>(op, hash), SmallNumber<Part>(op, Mix(hash, 1)));
  } else if constexpr (std::is_same_v<T, int32_t>) {
    if (op == CombineOp::kSum && hash % 2 != 0) return static_cast<T>(hash >> 32);
    return SmallNumber<T>(op, hash);
  } else {
    return SmallNumber<T>(op, hash);
  }
}

template <typename T>
T Sum(T a, T b) {
  return a + b;
}
template <>
int32_t Sum(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}

// Complex numbers are measured by |re| + |im|.
template <typename T>
auto Magnitude(T x) {
  if constexpr (IsComplex<T>::value) {
    return std::abs(x.real()) + std::abs(x.imag());
  } else {
    return std::abs(x);
  }
}

template <typename T>
bool LargerSigned(T a, T b) {
  if constexpr (IsComplex<T>::value) {
    return a.real() != b.real() ? a.real() > b.real() : a.imag() > b.imag();
  } else {
    return a > b;
  }
}

// Does b, the more distant, replace a?
template <typename T>
bool Replaces(CombineOp op, bool signed_ties, T a, T b) {
  if (Magnitude(a) != Magnitude(b)) {
    return (Magnitude(b) > Magnitude(a)) == (op == CombineOp::kAbsMax);
  }
  return signed_ties && LargerSigned(b, a);
}

}  // namespace

std::string ToString(const Region& r) {
  std::string text = std::to_string(r.m) + " x " + std::to_string(r.n);
  if (r.trapezoid) {
    text += r.upper ? " upper" : " lower";
    text += r.unit_diagonal ? " unit" : " non-unit";
  }
  return text;
}

std::vector<size_t> ElementOffsets(const Region& region, int lda) {
  const size_t stride = static_cast<size_t>(std::max(lda, region.m));
  std::vector<size_t> offsets;
  for (int j = 1; j <= region.n; ++j) {
    for (int i = 1; i <= region.m; ++i) {
      if (Contains(region, i, j)) offsets.push_back((j - 1) * stride + (i - 1));
    }
  }
  return offsets;
}

size_t ElementCount(const Region& region) { return ElementOffsets(region, region.m).size(); }

Image::Image(uint64_t key, int m, int n, int lda, size_t element_bytes, size_t front_bytes)
    : m_(m),
      n_(n),
      lda_(static_cast<size_t>(std::max(lda, m))),
      element_bytes_(element_bytes),
      front_bytes_(front_bytes),
      bytes_(front_bytes + lda_ * n * element_bytes + kBackBytes) {
  for (size_t i = 0; i < bytes_.size(); i += sizeof(uint64_t)) {
    const uint64_t canary = Mix(key, i);
    std::memcpy(&bytes_[i], &canary, std::min(sizeof(canary), bytes_.size() - i));
  }
}

void Image::Scribble() { std::fill(bytes_.begin(), bytes_.end(), 0xEE); }

std::string Image::Locate(size_t byte) const {
  const std::string text = "byte " + std::to_string(byte);
  if (byte < front_bytes_) return text + ", before the matrix";
  const size_t element = (byte - front_bytes_) / element_bytes_;
  if (element >= lda_ * n_) return text + ", after the matrix";
  const size_t i = element % lda_;
  const size_t j = element / lda_;
  return text + ", byte " + std::to_string((byte - front_bytes_) % element_bytes_) +
         " of 0-based element (" + std::to_string(i) + ", " + std::to_string(j) + ")" +
         (i >= static_cast<size_t>(m_) ? ", below the column" : "");
}

// The finaliser of splitmix64.
uint64_t Mix(uint64_t a, uint64_t b) {
  uint64_t x = a * 0x9E3779B97F4A7C15u + b + 0x632BE59BD9B4E019u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

size_t ElementBytes(char type) {
  return WithType(type, [](auto zero) { return sizeof(zero); });
}

size_t ScalarBytes(char type) {
  const bool is_complex = type == 'c' || type == 'z';
  return is_complex ? ElementBytes(type) / 2 : ElementBytes(type);
}

void FillArbitrary(uint64_t key, size_t index, size_t element_bytes, void* element) {
  const uint64_t bits[2] = {Mix(key, 2 * index), Mix(key, 2 * index + 1)};
  std::memcpy(element, bits, element_bytes);
}

void FillOperand(CombineOp op, char type, uint64_t key, int rank, size_t index, void* element) {
  WithType(type, [&](auto zero) {
    const auto value = Operand<decltype(zero)>(op, key, rank, index);
    std::memcpy(element, &value, sizeof(value));
  });
}

size_t CombineOperands(CombineOp op, char type, bool signed_ties, uint64_t key,
                       const std::vector<int>& ranks, size_t index, void* result) {
  return WithType(type, [&](auto zero) {
    using T = decltype(zero);
    T value = Operand<T>(op, key, ranks[0], index);
    size_t winner = 0;
    for (size_t k = 1; k < ranks.size(); ++k) {
      const T other = Operand<T>(op, key, ranks[k], index);
      if (op == CombineOp::kSum) {
        value = Sum(value, other);
      } else if (Replaces(op, signed_ties, value, other)) {
        value = other;
        winner = k;
      }
    }
    std::memcpy(result, &value, sizeof(value));
    return winner;
  });
}

}  // namespace brigade

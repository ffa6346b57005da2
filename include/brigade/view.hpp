/// @file
/// Brigade for C++: element types and matrices.

#ifndef BRIGADE_VIEW_HPP_
#define BRIGADE_VIEW_HPP_

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "brigade/brigade.h"

namespace brigade {
/// The C++ interface of libbrigade.so. Programs write brigade::Group, without `v1`.
inline namespace v1 {

/// `ElementType<T>::value` is the brigade_type of the C++ type T. If ElementType<T> has no `value`,
/// only reductions with #BRIGADE_USER accept elements of type T. Programs may specialise this
/// template for further types that have the representation of a brigade_type, for example a
/// half-precision float.
template <typename T, typename = void>
struct ElementType {};

/// @cond
template <brigade_type kType>
using ElementConstant = std::integral_constant<brigade_type, kType>;
template <>
struct ElementType<std::byte> : ElementConstant<BRIGADE_BYTE> {};
template <>
struct ElementType<float> : ElementConstant<BRIGADE_FLOAT> {};
template <>
struct ElementType<double> : ElementConstant<BRIGADE_DOUBLE> {};
template <>
struct ElementType<std::complex<float>> : ElementConstant<BRIGADE_COMPLEX_FLOAT> {};
template <>
struct ElementType<std::complex<double>> : ElementConstant<BRIGADE_COMPLEX_DOUBLE> {};
template <typename T>
struct ElementType<
    T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8>>
    : ElementConstant<sizeof(T) == 1   ? (std::is_signed_v<T> ? BRIGADE_INT8 : BRIGADE_UINT8)
                      : sizeof(T) == 2 ? (std::is_signed_v<T> ? BRIGADE_INT16 : BRIGADE_UINT16)
                      : sizeof(T) == 4 ? (std::is_signed_v<T> ? BRIGADE_INT32 : BRIGADE_UINT32)
                                       : (std::is_signed_v<T> ? BRIGADE_INT64 : BRIGADE_UINT64)> {};
/// @endcond

/// A column-major matrix in memory of the program, like brigade_matrix. A call cannot write to a
/// View of const elements.
template <typename T>
struct View {
  using Element = T;  ///< const if the matrix must not be written
  T* data = nullptr;  ///< the first element of the matrix
  int64_t rows = 0;   ///< the number of rows
  int64_t cols = 0;   ///< the number of columns
  int64_t ld = 0;     ///< leading dimension, in elements; at least `rows`; 0 means `rows`

  View() = default;
  /// A matrix of `rows_` x `cols_` elements.
  View(T* data_, int64_t rows_, int64_t cols_ = 1, int64_t ld_ = 0)
      : data(data_), rows(rows_), cols(cols_), ld(ld_) {}
};

/// The static function `ViewTraits<Matrix>::Of` returns the View of an object of type Matrix.
/// Programs may specialise this template for types that the library does not know.
///
/// The library knows these types:
///
/// - View.
/// - Containers with `data()` and `size()`. Their View has one column.
/// - Matrices with `data()`, `rows()`, `cols()` and `outerStride()`, such as matrices of Eigen.
/// - Types with `data_handle()`, `extent()` and `stride()` and one or two dimensions, such as
///   std::mdspan.
///
/// The View of a matrix with contiguous rows (row-major) is the transpose of the matrix.
template <typename Matrix, typename = void>
struct ViewTraits;

/// @cond
// Clang takes std::void_t of different expressions for one type.
template <typename T>
struct ViewTraits<View<T>> {
  static View<T> Of(const View<T>& view) { return view; }
};

template <typename M>
struct ViewTraits<M, decltype(void(std::declval<M&>().data()),
                              void(std::declval<M&>().outerStride()))> {
  template <typename Matrix>
  static auto Of(Matrix& m) {
    using T = std::remove_pointer_t<decltype(m.data())>;
    static_assert(M::InnerStrideAtCompileTime == 1, "the elements of a column must be adjacent");
    return M::IsRowMajor ? View<T>(m.data(), m.cols(), m.rows(), m.outerStride())
                         : View<T>(m.data(), m.rows(), m.cols(), m.outerStride());
  }
};

template <typename M>
struct ViewTraits<M, decltype(void(std::declval<M&>().data_handle()),
                              void(std::declval<M&>().stride(0)))> {
  template <typename Matrix>
  static auto Of(Matrix& m) {
    using T = std::remove_pointer_t<decltype(m.data_handle())>;
    static_assert(M::rank() == 1 || M::rank() == 2, "a matrix has one or two dimensions");
    const auto extent = [&](int r) { return static_cast<int64_t>(m.extent(r)); };
    const auto stride = [&](int r) { return static_cast<int64_t>(m.stride(r)); };
    // A matrix of one column may have any stride. If columns overlap, the call refuses the matrix.
    const auto Ld = [](int64_t apart, int64_t rows, int64_t cols) {
      return cols <= 1 ? rows : apart < rows ? -1 : apart;
    };
    if constexpr (M::rank() == 1) {
      return stride(0) == 1 ? View<T>(m.data_handle(), extent(0))
                            : View<T>(m.data_handle(), 1, extent(0), Ld(stride(0), 1, extent(0)));
    } else {
      const bool by_columns = stride(0) == 1 && (extent(1) <= 1 || stride(1) >= extent(0));
      if (by_columns) {
        return View<T>(m.data_handle(), extent(0), extent(1), Ld(stride(1), extent(0), extent(1)));
      }
      // If the elements of a row are not adjacent, the call refuses the matrix.
      const int64_t ld = stride(1) == 1 ? Ld(stride(0), extent(1), extent(0)) : -1;
      return View<T>(m.data_handle(), extent(1), extent(0), ld);
    }
  }
};

template <typename M, typename = void>
struct HasOuterStride : std::false_type {};
template <typename M>
struct HasOuterStride<M, std::void_t<decltype(std::declval<M&>().outerStride())>> : std::true_type {
};
template <typename M>
struct ViewTraits<M, std::enable_if_t<!HasOuterStride<M>::value &&
                                      std::is_pointer_v<decltype(std::declval<M&>().data())> &&
                                      std::is_integral_v<decltype(std::declval<M&>().size())>>> {
  template <typename Container>
  static auto Of(Container& c) {
    using T = std::remove_pointer_t<decltype(c.data())>;
    return View<T>(c.data(), static_cast<int64_t>(c.size()));
  }
};
/// @endcond

/// Returns the view of `matrix`.
template <typename Matrix>
auto ViewOf(Matrix&& matrix) {
  return ViewTraits<std::remove_cv_t<std::remove_reference_t<Matrix>>>::Of(matrix);
}
/// Returns a view of `number` as a matrix of one element.
template <typename T>
View<T> ViewOfOne(T& number) {
  return View<T>(&number, 1);
}

}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_VIEW_HPP_

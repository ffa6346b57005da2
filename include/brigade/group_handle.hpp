/// @file
/// Brigade for C++: the base class of brigade::Group.

#ifndef BRIGADE_GROUP_HANDLE_HPP_
#define BRIGADE_GROUP_HANDLE_HPP_

#include <cstddef>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "brigade/brigade.h"
#include "brigade/engine.hpp"
#include "brigade/operation.hpp"
#include "brigade/view.hpp"

namespace brigade {
inline namespace v1 {

class Group;
class Multiplier;
class Window;

namespace detail {

/// Holds a group, and converts arguments of calls to C. Programs use brigade::Group.
class GroupHandle {
 public:
  /// Returns the handle for the C functions; null if there is no group.
  brigade_group* get() const { return group_.get(); }
  /// See brigade_scope_size().
  int size(brigade_scope scope = BRIGADE_ALL) const { return brigade_scope_size(get(), scope); }
  /// See brigade_scope_rank().
  int rank(brigade_scope scope = BRIGADE_ALL) const { return brigade_scope_rank(get(), scope); }

 private:
  friend class BlockCalls;
  friend class ReductionCalls;
  friend class v1::Group;
  friend class v1::Multiplier;
  friend class v1::Window;

  struct MatrixInC {
    brigade_matrix matrix;
    brigade_type type;
  };
  template <typename T>
  static brigade_matrix MatrixToC(const View<T>& view) {
    return {const_cast<std::remove_const_t<T>*>(view.data), view.rows, view.cols, view.ld};
  }
  template <typename M>
  using ElementOf = typename decltype(ViewOf(std::declval<M&>()))::Element;
  template <typename T, typename = void>
  struct HasType : std::false_type {};
  template <typename T>
  struct HasType<T, std::void_t<decltype(ElementType<std::remove_cv_t<T>>::value)>>
      : std::true_type {};

  template <typename T>
  static constexpr brigade_type TypeOf() {
    static_assert(HasType<T>::value, "the elements have no brigade::ElementType");
    return ElementType<std::remove_cv_t<T>>::value;
  }
  template <typename M>
  static MatrixInC ToC(M&& matrix) {
    return {MatrixToC(ViewOf(matrix)), TypeOf<ElementOf<M>>()};
  }
  // Like ToC, for the matrices of reductions. An element type without an ElementType becomes
  // BRIGADE_BYTE, because only the program's function (user_op) knows the type.
  template <typename M>
  static MatrixInC ToOperand(M&& matrix) {
    using T = std::remove_cv_t<ElementOf<M>>;
    static_assert(std::is_trivially_copyable_v<T>);
    const brigade_matrix in_c = MatrixToC(ViewOf(matrix));
    if constexpr (HasType<T>::value) {
      return {in_c, ElementType<T>::value};
    } else {
      return {in_c, BRIGADE_BYTE};
    }
  }
  // Checks a call with BRIGADE_USER, or with elements that have no ElementType. The call must have
  // BRIGADE_USER, and a user_op whose element_bytes is the size of an element.
  template <typename M>
  static Result CheckFunction(brigade_op op, const brigade_call_options& options) {
    using T = std::remove_cv_t<ElementOf<M>>;
    if (HasType<T>::value && op != BRIGADE_USER) return Result();
    if (op == BRIGADE_USER && options.user_op != nullptr &&
        options.user_op->element_bytes == sizeof(T)) {
      return Result();
    }
    return {BRIGADE_INVALID_ARGUMENT, "elements of " + std::to_string(sizeof(T)) +
                                          " bytes need BRIGADE_USER, and a user_op for elements of "
                                          "this size"};
  }
  // Checks that an array of blocks has one block for each rank of the scope.
  Result CheckNumber(const char* name, std::size_t blocks,
                     const brigade_call_options& options) const {
    const int ranks = size(options.scope);
    if (ranks < 0 || blocks == static_cast<std::size_t>(ranks)) return Result();
    return {BRIGADE_INVALID_ARGUMENT, std::string(name) + " has " + std::to_string(blocks) +
                                          " matrices for " + std::to_string(ranks) + " ranks"};
  }
  template <typename M>
  static constexpr bool IsWritable() {
    static_assert(!std::is_const_v<ElementOf<M>>, "the matrix is written: its elements are const");
    return true;
  }
  template <typename A, typename B>
  static constexpr bool HaveOneType() {
    static_assert(std::is_same_v<std::remove_cv_t<ElementOf<A>>, std::remove_cv_t<ElementOf<B>>>,
                  "the matrices have elements of different types");
    return true;
  }
  template <typename T>
  static std::vector<brigade_matrix> BlocksToC(const std::vector<View<T>>& blocks) {
    std::vector<brigade_matrix> matrices;
    for (const View<T>& block : blocks) matrices.push_back(MatrixToC(block));
    return matrices;
  }

  // Returns a function that makes the blocking call `run`. `in_c` are the arguments of the C
  // function `run` between the group and the options.
  template <typename Function>
  auto Run(Function* run) {
    return [this, run](const brigade_call_options& options, auto... in_c) -> Result {
      return run(get(), in_c..., &options);
    };
  }
  // Like Run, for a C function that makes an operation or a plan. `object` is an Operation or a
  // Plan: it owns what the C function made, and keeps the group alive until the operation is
  // complete, or the plan is destroyed.
  template <typename Function, typename Object>
  auto Make(Function* make, Object* object) {
    return [this, make, object](const brigade_call_options& options, auto... in_c) -> Result {
      return object->Keep(group_,
                          [&](auto** made) { return make(get(), in_c..., &options, made); });
    };
  }

  std::shared_ptr<brigade_engine> engine_;
  std::shared_ptr<brigade_group> group_;
};

}  // namespace detail
}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_GROUP_HANDLE_HPP_

/// @file
/// Brigade for C++: windows and products of distributed matrices.

#ifndef BRIGADE_WINDOW_HPP_
#define BRIGADE_WINDOW_HPP_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "brigade/group.hpp"
#include "brigade/multiply.h"
#include "brigade/window.h"

namespace brigade {
inline namespace v1 {

/// See brigade_product.
struct Product : brigade_product {
  Product() : brigade_product(brigade_product_init()) {}
};
/// See brigade_multiply_options.
struct MultiplyOptions : brigade_multiply_options {
  MultiplyOptions() : brigade_multiply_options(brigade_multiply_options_init()) {}
};
/// See brigade_multiply_statistics.
struct MultiplyStatistics : brigade_multiply_statistics {
  MultiplyStatistics() : brigade_multiply_statistics(brigade_multiply_statistics_init()) {}
};

/// Owns a window. The object is null before a window is made, after Free, and after a move from the
/// object. Pass get() to the functions of window.h.
///
/// If Free was not called, the destructor calls brigade_window_destroy(): calls of other ranks on
/// the window then fail. Before that, the caller must have waited for all its requests
/// (brigade_window_request) of the window.
class Window {
 public:
  /// See brigade_window_create(). Replaces the object's window.
  Result Create(const Group& group, void* memory, size_t bytes, int64_t unit = 1) {
    brigade_window* window = nullptr;
    return Keep(group, brigade_window_create(group.get(), memory, bytes, unit, &window), &window);
  }
  /// See brigade_window_allocate(). Replaces the object's window.
  Result Allocate(const Group& group, size_t bytes, int64_t unit, void** memory) {
    brigade_window* window = nullptr;
    return Keep(group, brigade_window_allocate(group.get(), bytes, unit, memory, &window), &window);
  }
  /// See brigade_window_create_dynamic(). Replaces the object's window.
  Result CreateDynamic(const Group& group) {
    brigade_window* window = nullptr;
    return Keep(group, brigade_window_create_dynamic(group.get(), &window), &window);
  }
  /// See brigade_window_free().
  Result Free() {
    const Result result = brigade_window_free(get());
    if (result.status == BRIGADE_INVALID_ARGUMENT) return result;
    Held freed = std::move(window_);
    (void)freed.release();
    return result;
  }
  /// Returns the window for C functions; null if there is none.
  brigade_window* get() const { return window_.get(); }

 private:
  struct GiveUp {
    void operator()(brigade_window* window) const { brigade_window_destroy(window); }
    std::shared_ptr<brigade_engine> engine;
  };
  using Held = std::unique_ptr<brigade_window, GiveUp>;
  Result Keep(const Group& group, const Result& made, brigade_window** window) {
    if (made) window_ = Held(*window, {group.engine_});
    return made;
  }
  Held window_;
};

/// Owns a multiplier (multiply.h). The object is null before a multiplier is made, after Free, and
/// after a move from the object.
///
/// If Free was not called, the destructor calls brigade_multiplier_destroy(): calls of other ranks
/// on the multiplier then fail.
class Multiplier {
 public:
  /// See brigade_multiplier_create(). Replaces the object's multiplier.
  Result Create(const Group& group, size_t buffer_bytes = 0) {
    brigade_multiplier* multiplier = nullptr;
    const Result result = brigade_multiplier_create(group.get(), buffer_bytes, &multiplier);
    if (result) multiplier_ = Held(multiplier, {group.engine_});
    return result;
  }
  /// See brigade_multiplier_free(). The object is null afterwards, also on failure.
  Result Free() {
    Held freed = std::move(multiplier_);
    return brigade_multiplier_free(freed.release());
  }
  /// See brigade_multiply().
  Result Multiply(const brigade_product& product, const brigade_multiply_options* options = nullptr,
                  brigade_multiply_statistics* statistics = nullptr) {
    return brigade_multiply(get(), &product, options, statistics);
  }
  /// Returns the multiplier for C functions; null if there is none.
  brigade_multiplier* get() const { return multiplier_.get(); }

 private:
  struct GiveUp {
    void operator()(brigade_multiplier* multiplier) const {
      brigade_multiplier_destroy(multiplier);
    }
    std::shared_ptr<brigade_engine> engine;
  };
  using Held = std::unique_ptr<brigade_multiplier, GiveUp>;
  Held multiplier_;
};

}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_WINDOW_HPP_

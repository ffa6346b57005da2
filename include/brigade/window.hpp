/// @file
/// Brigade for C++: windows and products of distributed matrices. The classes own objects of the C
/// interface; window.h and multiply.h document the operations.

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
/// object. Pass get() to the functions of window.h for operations and synchronisation.
///
/// If Free was not called, the destructor calls brigade_window_destroy(): calls of other ranks on
/// the window fail. The caller must have waited for all its requests of the window.
class Window {
 public:
  /// Makes a window of memory that the caller owns. The new window replaces the object's old one.
  /// See brigade_window_create().
  Result Create(const Group& group, void* memory, size_t bytes, int64_t unit = 1) {
    brigade_window* window = nullptr;
    return Keep(group, brigade_window_create(group.get(), memory, bytes, unit, &window), &window);
  }
  /// Makes a window of memory that the library allocates; see brigade_window_allocate().
  Result Allocate(const Group& group, size_t bytes, int64_t unit, void** memory) {
    brigade_window* window = nullptr;
    return Keep(group, brigade_window_allocate(group.get(), bytes, unit, memory, &window), &window);
  }
  /// Makes a window to which memory is attached later; see brigade_window_create_dynamic().
  Result CreateDynamic(const Group& group) {
    brigade_window* window = nullptr;
    return Keep(group, brigade_window_create_dynamic(group.get(), &window), &window);
  }
  /// Frees the window. Collective; see brigade_window_free(). After #BRIGADE_INVALID_ARGUMENT the
  /// window still exists.
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

/// Owns a multiplier. The object is null before a multiplier is made, after Free, and after a move
/// from the object.
///
/// If Free was not called, the destructor calls brigade_multiplier_destroy(): calls of other ranks
/// on the multiplier fail.
class Multiplier {
 public:
  /// Makes a multiplier, which replaces the object's old one. Collective over the group; see
  /// brigade_multiplier_create().
  Result Create(const Group& group, size_t buffer_bytes = 0) {
    brigade_multiplier* multiplier = nullptr;
    const Result result = brigade_multiplier_create(group.get(), buffer_bytes, &multiplier);
    if (result) multiplier_ = Held(multiplier, {group.engine_});
    return result;
  }
  /// Frees the multiplier. Collective; see brigade_multiplier_free(). The object is null
  /// afterwards, also on failure.
  Result Free() {
    Held freed = std::move(multiplier_);
    return brigade_multiplier_free(freed.release());
  }
  /// Computes a product. Collective; see brigade_multiply().
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

/// @file
/// Brigade for C++ programs: owning classes for the objects of brigade.h, window.h and multiply.h.
/// Header only, so the library's binary interface is C. The C headers document arguments, equality
/// on all ranks, and the state after errors.

#ifndef BRIGADE_BRIGADE_HPP_
#define BRIGADE_BRIGADE_HPP_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "brigade/brigade.h"
#include "brigade/multiply.h"
#include "brigade/window.h"

namespace brigade {
/// The C++ interface of libbrigade.so.
namespace direct {

/// The outcome of a call: false if the call failed, with the error text.
struct Result {
  brigade_status status = BRIGADE_OK;  ///< the kind of failure
  std::string text;                    ///< what was wrong, where, and what to do

  Result() = default;
  /// Converts `s`, which a call has just returned in this thread.
  Result(brigade_status s) : status(s), text(s == BRIGADE_OK ? "" : brigade_error_text()) {}
  /// Returns whether the call succeeded.
  explicit operator bool() const { return status == BRIGADE_OK; }
};

/// Returns the matrix at `data`; see brigade_matrix.
template <typename T>
brigade_matrix MatrixOf(T* data, int64_t rows, int64_t cols, int64_t ld = 0) {
  return {const_cast<std::remove_const_t<T>*>(data), rows, cols, ld};
}

/// Deleter of memory of brigade_alloc().
struct FreeMemory {
  /// Calls brigade_free().
  void operator()(void* memory) const { brigade_free(memory); }
};
/// Allocates `count` values with brigade_alloc(), uninitialised. Null: no memory is left.
template <typename T>
std::unique_ptr<T[], FreeMemory> Allocate(size_t count) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  void* const memory = count <= SIZE_MAX / sizeof(T) ? brigade_alloc(count * sizeof(T)) : nullptr;
  return std::unique_ptr<T[], FreeMemory>(static_cast<T*>(memory));
}

/// An engine, one per process; see brigade_engine_create(). Copies share one engine. The engine
/// ends when no copy of it and no group made with it is left. This must be before MPI_Finalize.
class Engine {
 public:
  /// Makes an engine, and replaces the old one.
  Result Create(const brigade_options* options = nullptr) {
    brigade_engine* engine = nullptr;
    const Result result = brigade_engine_create(options, &engine);
    engine_.reset(engine, brigade_engine_destroy);
    return result;
  }
  /// The engine of the C functions; null before Create.
  brigade_engine* get() const { return engine_.get(); }
  /// See brigade_progress().
  void Progress() { brigade_progress(get()); }

 private:
  friend class Group;
  friend class Multiplier;
  friend class Window;
  std::shared_ptr<brigade_engine> engine_;
};

/// A started call, or a null operation: before a start, after a failed start, after a wait, and
/// after a move. A null operation counts as complete, like MPI_REQUEST_NULL.
///
/// The destructor, and an assignment, block until a pending operation is complete, and discard its
/// outcome.
class Operation {
 public:
  /// Progresses. Returns whether the operation is complete, successfully or not. Null: true.
  bool Test() { return brigade_test(operation_.get()) != 0; }
  /// Blocks until the operation is complete, and returns its outcome. The object is null
  /// afterwards. Null: returns #BRIGADE_OK at once, with counters of 0.
  Result Wait(brigade_statistics* statistics = nullptr) {
    Started ended = std::move(operation_);
    return brigade_wait(ended.release(), statistics);
  }

 private:
  friend class Group;
  /// Waits for the operation, and keeps its group alive until then.
  struct WaitFor {
    void operator()(brigade_operation* operation) const { (void)brigade_wait(operation, nullptr); }
    std::shared_ptr<brigade_group> group;
  };
  using Started = std::unique_ptr<brigade_operation, WaitFor>;
  Started operation_;
};

/// A group; see brigade_group_create(). Copies share one group. The group ends when no copy of it
/// and no operation is left.
class Group {
 public:
  /// Makes a group, and replaces the old one. Collective over the communicator.
  Result Create(const Engine& engine, int mpi_comm, int rows, int cols) {
    brigade_group* group = nullptr;
    const Result result = brigade_group_create(engine.get(), mpi_comm, rows, cols, &group);
    group_.reset();
    if (result) {
      group_.reset(group, [kept = engine.engine_](brigade_group* g) { brigade_group_destroy(g); });
    }
    return result;
  }
  /// The group of the C functions; null before Create.
  brigade_group* get() const { return group_.get(); }
  /// Returns the number of ranks in the calling rank's scope.
  int size(brigade_scope scope = BRIGADE_ALL) const { return brigade_scope_size(get(), scope); }
  /// Returns the calling rank's number in its scope.
  int rank(brigade_scope scope = BRIGADE_ALL) const { return brigade_scope_rank(get(), scope); }

  /// See brigade_group_error().
  Result Error() const { return brigade_group_error(get()); }
  /// See brigade_group_abort().
  void Abort(const std::string& text) { brigade_group_abort(get(), text.c_str()); }
  /// See brigade_run().
  Result Run(const brigade_call& call, brigade_statistics* statistics = nullptr) {
    return brigade_run(get(), &call, statistics);
  }
  /// See brigade_start(). Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is
  /// still pending or was not waited for.
  Result Start(const brigade_call& call, Operation* operation) {
    if (operation->operation_ != nullptr) {
      Result busy;
      busy.status = BRIGADE_INVALID_ARGUMENT;
      busy.text = "the operation was started before and not waited for: wait, or take another";
      return busy;
    }
    brigade_operation* started = nullptr;
    const Result result = brigade_start(get(), &call, &started);
    if (result) operation->operation_ = Operation::Started(started, {group_});
    return result;
  }

 private:
  std::shared_ptr<brigade_group> group_;
};

/// A window, or null: before it is made, after Free, and after a move. Pass get() to the functions
/// of window.h for operations and synchronisation.
///
/// The destructor without Free destroys the window (brigade_window_destroy()): calls of other ranks
/// on the window fail. All requests of the window must have been waited for.
class Window {
 public:
  /// Makes a window of memory that the caller owns, and replaces the old one; see
  /// brigade_window_create().
  Result Create(const Engine& engine, int mpi_comm, void* memory, size_t bytes, int64_t unit = 1) {
    brigade_window* window = nullptr;
    return Keep(engine, brigade_window_create(engine.get(), mpi_comm, memory, bytes, unit, &window),
                &window);
  }
  /// Makes a window of memory that the library allocates; see brigade_window_allocate().
  Result Allocate(const Engine& engine, int mpi_comm, size_t bytes, int64_t unit, void** memory) {
    brigade_window* window = nullptr;
    return Keep(engine,
                brigade_window_allocate(engine.get(), mpi_comm, bytes, unit, memory, &window),
                &window);
  }
  /// Makes a window to which memory is attached later; see brigade_window_create_dynamic().
  Result CreateDynamic(const Engine& engine, int mpi_comm) {
    brigade_window* window = nullptr;
    return Keep(engine, brigade_window_create_dynamic(engine.get(), mpi_comm, &window), &window);
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
  /// The window of the C functions; null if there is none.
  brigade_window* get() const { return window_.get(); }

 private:
  struct GiveUp {
    void operator()(brigade_window* window) const { brigade_window_destroy(window); }
    std::shared_ptr<brigade_engine> engine;
  };
  using Held = std::unique_ptr<brigade_window, GiveUp>;
  Result Keep(const Engine& engine, const Result& made, brigade_window** window) {
    window_ = Held(*window, {engine.engine_});
    return made;
  }
  Held window_;
};

/// A multiplier, or null: before it is made, after Free, and after a move.
///
/// The destructor without Free destroys the multiplier: calls of other ranks on the multiplier
/// fail.
class Multiplier {
 public:
  /// Makes a multiplier, and replaces the old one. Collective over the communicator; see
  /// brigade_multiplier_create().
  Result Create(const Engine& engine, int mpi_comm, int rows, int cols, size_t buffer_bytes = 0) {
    brigade_multiplier* multiplier = nullptr;
    const Result result =
        brigade_multiplier_create(engine.get(), mpi_comm, rows, cols, buffer_bytes, &multiplier);
    multiplier_ = Held(multiplier, {engine.engine_});
    return result;
  }
  /// Frees the multiplier. Collective; see brigade_multiplier_free(). The object is null
  /// afterwards, also on failure.
  Result Free() {
    Held freed = std::move(multiplier_);
    return brigade_multiplier_free(freed.release());
  }
  /// Collective; see brigade_multiply().
  Result Multiply(const brigade_product& product, const brigade_multiply_options* options = nullptr,
                  brigade_multiply_statistics* statistics = nullptr) {
    return brigade_multiply(get(), &product, options, statistics);
  }
  /// The multiplier of the C functions; null if there is none.
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

}  // namespace direct
}  // namespace brigade

#endif  // BRIGADE_BRIGADE_HPP_

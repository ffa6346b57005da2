/// @file
/// Brigade for C++ programs: what brigade.h, window.h and multiply.h make, as objects that clean up
/// after themselves. Header only, so that the library's binary interface is that of C. Those say
/// what arguments mean, which must be equal on all ranks, and what state errors leave.

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
/// The face of libbrigade.so.
namespace direct {

/// The outcome of a call: false when it failed, with a text that says why.
struct Result {
  brigade_status status = BRIGADE_OK;  ///< what kind of failure
  std::string text;                    ///< what was wrong, where, and what to do

  Result() = default;
  /// What `s`, just returned in this thread, stands for.
  Result(brigade_status s) : status(s), text(s == BRIGADE_OK ? "" : brigade_error_text()) {}
  /// Whether it went well.
  explicit operator bool() const { return status == BRIGADE_OK; }
};

/// The matrix at `data`; see brigade_matrix.
template <typename T>
brigade_matrix MatrixOf(T* data, int64_t rows, int64_t cols, int64_t ld = 0) {
  return {const_cast<std::remove_const_t<T>*>(data), rows, cols, ld};
}

/// Gives memory back; see brigade_free().
struct FreeMemory {
  /// Of brigade_alloc().
  void operator()(void* memory) const { brigade_free(memory); }
};
/// So many values in memory of brigade_alloc(), unspecified. Null: there is no memory.
template <typename T>
std::unique_ptr<T[], FreeMemory> Allocate(size_t count) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  void* const memory = count <= SIZE_MAX / sizeof(T) ? brigade_alloc(count * sizeof(T)) : nullptr;
  return std::unique_ptr<T[], FreeMemory>(static_cast<T*>(memory));
}

/// One per process; see brigade_engine_create(). Copies are one engine. It ends when neither they
/// nor a group made with it are left, which must be before MPI_Finalize.
class Engine {
 public:
  /// Makes it, in place of what there was.
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

/// A started call, or nothing: before a start, after one that failed, once it was waited for, and
/// when it was moved from. Nothing is done, as MPI_REQUEST_NULL is.
///
/// What is under way when its object goes, or gets another one's operation, is waited for there,
/// and its outcome is lost.
class Operation {
 public:
  /// Progresses; whether it is done, well or not. Of nothing: true.
  bool Test() { return brigade_test(operation_.get()) != 0; }
  /// Waits until done; the outcome, and nothing is left. Of nothing: #BRIGADE_OK at once, and
  /// statistics of zeros.
  Result Wait(brigade_statistics* statistics = nullptr) {
    Started ended = std::move(operation_);
    return brigade_wait(ended.release(), statistics);
  }

 private:
  friend class Group;
  /// Ends it; until then its group stays.
  struct WaitFor {
    void operator()(brigade_operation* operation) const { (void)brigade_wait(operation, nullptr); }
    std::shared_ptr<brigade_group> group;
  };
  using Started = std::unique_ptr<brigade_operation, WaitFor>;
  Started operation_;
};

/// Ranks that communicate; see brigade_group_create(). Copies are one group. It ends when neither
/// they nor an operation of it are left.
class Group {
 public:
  /// Collective over the communicator. Makes the group, in place of what there was.
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
  /// Ranks in the calling rank's scope.
  int size(brigade_scope scope = BRIGADE_ALL) const { return brigade_scope_size(get(), scope); }
  /// The calling rank's number there.
  int rank(brigade_scope scope = BRIGADE_ALL) const { return brigade_scope_rank(get(), scope); }

  /// See brigade_group_error().
  Result Error() const { return brigade_group_error(get()); }
  /// See brigade_group_abort().
  void Abort(const std::string& text) { brigade_group_abort(get(), text.c_str()); }
  /// See brigade_run().
  Result Run(const brigade_call& call, brigade_statistics* statistics = nullptr) {
    return brigade_run(get(), &call, statistics);
  }
  /// See brigade_start(). #BRIGADE_INVALID_ARGUMENT, and nothing happens, if `operation` is still
  /// under way or was not waited for.
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

/// Memory that ranks expose to each other, or nothing: before it is made, once it was freed, and
/// when it was moved from. Operations and synchronisation are the functions of window.h, on get().
///
/// One that goes without Free is given up, which ends the others' calls on it. No request of it may
/// be left then.
class Window {
 public:
  /// Makes it of memory that the caller has, in place of what there was; see
  /// brigade_window_create().
  Result Create(const Engine& engine, int mpi_comm, void* memory, size_t bytes, int64_t unit = 1) {
    brigade_window* window = nullptr;
    return Keep(engine, brigade_window_create(engine.get(), mpi_comm, memory, bytes, unit, &window),
                &window);
  }
  /// The same with memory of the library's; see brigade_window_allocate().
  Result Allocate(const Engine& engine, int mpi_comm, size_t bytes, int64_t unit, void** memory) {
    brigade_window* window = nullptr;
    return Keep(engine,
                brigade_window_allocate(engine.get(), mpi_comm, bytes, unit, memory, &window),
                &window);
  }
  /// The same with memory that is attached later; see brigade_window_create_dynamic().
  Result CreateDynamic(const Engine& engine, int mpi_comm) {
    brigade_window* window = nullptr;
    return Keep(engine, brigade_window_create_dynamic(engine.get(), mpi_comm, &window), &window);
  }
  /// Collective; see brigade_window_free(). After #BRIGADE_INVALID_ARGUMENT it is still there.
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

/// A grid that multiplies, or nothing, as of a window.
///
/// One that goes without Free is given up, which ends the others' calls on it.
class Multiplier {
 public:
  /// Collective over the communicator. Makes it, in place of what there was; see
  /// brigade_multiplier_create().
  Result Create(const Engine& engine, int mpi_comm, int rows, int cols, size_t buffer_bytes = 0) {
    brigade_multiplier* multiplier = nullptr;
    const Result result =
        brigade_multiplier_create(engine.get(), mpi_comm, rows, cols, buffer_bytes, &multiplier);
    multiplier_ = Held(multiplier, {engine.engine_});
    return result;
  }
  /// Collective; see brigade_multiplier_free(). Nothing is left, whatever the outcome.
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

/// @file
/// Brigade for C++: results, options, memory, engines and bootstraps.

#ifndef BRIGADE_ENGINE_HPP_
#define BRIGADE_ENGINE_HPP_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "brigade/brigade.h"

namespace brigade {
inline namespace v1 {

/// The outcome of a call, with the error text if the call failed. Converts to true on success.
struct [[nodiscard]] Result {
  brigade_status status = BRIGADE_OK;  ///< #BRIGADE_OK, or the failure
  std::string text;                    ///< what was wrong, where, and what to do; empty on success

  Result() = default;
  /// Makes a result of `s`, the status of the C function that this thread has called last.
  Result(brigade_status s) : status(s), text(s == BRIGADE_OK ? "" : brigade_error_text()) {}
  /// A failure that was found before a C function was called.
  Result(brigade_status s, std::string t) : status(s), text(std::move(t)) {}
  /// Returns whether the call succeeded.
  explicit operator bool() const { return status == BRIGADE_OK; }
};

/// See brigade_options.
struct EngineOptions : brigade_options {
  EngineOptions() : brigade_options(brigade_options_init()) {}
};
/// See brigade_bootstrap_options.
struct BootstrapOptions : brigade_bootstrap_options {
  BootstrapOptions() : brigade_bootstrap_options(brigade_bootstrap_options_init()) {}
};
/// See brigade_call_options.
struct CallOptions : brigade_call_options {
  CallOptions() : brigade_call_options(brigade_call_options_init()) {}
};
/// See brigade_statistics.
struct Statistics : brigade_statistics {
  Statistics() : brigade_statistics(brigade_statistics_init()) {}
};
/// See brigade_failure.
struct Failure : brigade_failure {
  Failure() : brigade_failure(brigade_failure_init()) {}
};

/// An operation for reductions that the program defines by a function
/// `T f(const T& left, const T& right)`; see brigade_user_op. An exception that leaves the function
/// ends the process (std::terminate). To reduce with a UserFunction `u`, pass #BRIGADE_USER, and
/// set brigade::CallOptions::user_op to `&u`. `u` must live until all calls with `u` are complete,
/// and all plans with `u` are destroyed.
template <typename T, typename F>
struct UserFunction : brigade_user_op {
  static_assert(std::is_trivially_copyable_v<T>);
  /// `f` is the function. `commutes`, equal on all ranks, says whether `f` is commutative.
  UserFunction(F f, bool commutes)
      : brigade_user_op{Combine, nullptr, sizeof(T), commutes ? 1 : 0}, function(std::move(f)) {
    context = this;
  }
  UserFunction(const UserFunction&) = delete;
  UserFunction& operator=(const UserFunction&) = delete;

  F function;  ///< the function of the program

 private:
  static void Combine(void* result, const void* left, const void* right, int64_t count,
                      void* context) noexcept {
    const F& f = static_cast<UserFunction*>(context)->function;
    const auto* const l = static_cast<const T*>(left);
    const auto* const r = static_cast<const T*>(right);
    for (int64_t i = 0; i < count; ++i) static_cast<T*>(result)[i] = f(l[i], r[i]);
  }
};

/// Deleter of memory that brigade_alloc() has allocated.
struct FreeMemory {
  /// Calls brigade_free().
  void operator()(void* memory) const { brigade_free(memory); }
};
/// Allocates `count` uninitialised values with brigade_alloc(). Returns null if no memory is left.
template <typename T>
std::unique_ptr<T[], FreeMemory> Allocate(size_t count) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  void* const memory = count <= SIZE_MAX / sizeof(T) ? brigade_alloc(count * sizeof(T)) : nullptr;
  return std::unique_ptr<T[], FreeMemory>(static_cast<T*>(memory));
}

/// Owns an engine; see brigade_engine_create(). Copies of an object share one engine. The engine
/// lives as long as a copy, or a group, window or multiplier that uses the engine.
class Engine {
 public:
  /// See brigade_engine_create(). Replaces the object's engine. If this function fails, the object
  /// keeps its old engine. This rule holds for all functions of the C++ interface that replace a
  /// handle.
  Result Create(const brigade_options& options = EngineOptions()) {
    brigade_engine* engine = nullptr;
    Result result = brigade_engine_create(&options, &engine);
    if (result) engine_.reset(engine, brigade_engine_destroy);
    return result;
  }
  /// Returns the handle for the C functions; null if there is no engine.
  brigade_engine* get() const { return engine_.get(); }
  /// See brigade_progress().
  void Progress() { brigade_progress(get()); }
  /// See brigade_engine_fd().
  Result GetDescriptor(int* fd) const { return brigade_engine_fd(get(), fd); }

 private:
  friend class Group;
  std::shared_ptr<brigade_engine> engine_;
};

/// Owns a brigade_bootstrap, for groups without MPI; see Group::FromBootstrap().
class Bootstrap {
 public:
  /// See brigade_bootstrap_tcp(). Replaces the object's bootstrap.
  Result Tcp(const std::string& address, int rank, int size,
             const brigade_bootstrap_options& options = BootstrapOptions()) {
    brigade_bootstrap* bootstrap = nullptr;
    Result result = brigade_bootstrap_tcp(address.c_str(), rank, size, &options, &bootstrap);
    if (result) bootstrap_.reset(bootstrap);
    return result;
  }
  /// See brigade_bootstrap_callback(). Replaces the object's bootstrap.
  Result Callback(brigade_allgather_callback allgather, void* context, int rank, int size) {
    brigade_bootstrap* bootstrap = nullptr;
    Result result = brigade_bootstrap_callback(allgather, context, rank, size, &bootstrap);
    if (result) bootstrap_.reset(bootstrap);
    return result;
  }
  /// Returns the handle for the C functions; null if there is no bootstrap.
  brigade_bootstrap* get() const { return bootstrap_.get(); }

 private:
  struct End {
    void operator()(brigade_bootstrap* bootstrap) const { brigade_bootstrap_destroy(bootstrap); }
  };
  std::unique_ptr<brigade_bootstrap, End> bootstrap_;
};

}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_ENGINE_HPP_

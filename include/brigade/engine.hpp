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

/// The outcome of a call: false if the call failed, with the error text.
struct [[nodiscard]] Result {
  brigade_status status = BRIGADE_OK;  ///< the kind of failure
  std::string text;                    ///< what was wrong, where, and what to do

  Result() = default;
  /// Converts `s`, which a call has just returned in this thread.
  Result(brigade_status s) : status(s), text(s == BRIGADE_OK ? "" : brigade_error_text()) {}
  /// A failure that the C interface has not seen.
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

/// A function of the program as an operation on elements of type T: `T f(const T& left, const T&
/// right)`, associative. Pass brigade::CallOptions::user_op = &function and #BRIGADE_USER. Must
/// live as long as the calls that use it.
template <typename T, typename F>
struct UserFunction : brigade_user_op {
  static_assert(std::is_trivially_copyable_v<T>);
  /// `commutes`: whether the operation is commutative; equal on all ranks.
  UserFunction(F f, bool commutes)
      : brigade_user_op{Combine, nullptr, sizeof(T), commutes ? 1 : 0}, function(std::move(f)) {
    context = this;
  }
  UserFunction(const UserFunction&) = delete;
  UserFunction& operator=(const UserFunction&) = delete;

  F function;  ///< of the program

 private:
  static void Combine(void* result, const void* left, const void* right, int64_t count,
                      void* context) {
    const F& f = static_cast<UserFunction*>(context)->function;
    const auto* const l = static_cast<const T*>(left);
    const auto* const r = static_cast<const T*>(right);
    for (int64_t i = 0; i < count; ++i) static_cast<T*>(result)[i] = f(l[i], r[i]);
  }
};

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
/// ends when no copy of it and no group made with it is left. This must be before MPI_Finalize, if
/// a group or the transport uses MPI.
class Engine {
 public:
  /// Makes an engine, and replaces the old one. On failure the old one stays, as in all functions
  /// here that replace.
  Result Create(const brigade_options& options = EngineOptions()) {
    brigade_engine* engine = nullptr;
    Result result = brigade_engine_create(&options, &engine);
    if (result) engine_.reset(engine, brigade_engine_destroy);
    return result;
  }
  /// The engine of the C functions; null before Create.
  brigade_engine* get() const { return engine_.get(); }
  /// See brigade_progress().
  void Progress() { brigade_progress(get()); }
  /// See brigade_engine_fd().
  Result GetDescriptor(int* fd) const { return brigade_engine_fd(get(), fd); }

 private:
  friend class Group;
  std::shared_ptr<brigade_engine> engine_;
};

/// A bootstrap of groups without MPI.
class Bootstrap {
 public:
  /// See brigade_bootstrap_tcp(). Replaces the old bootstrap.
  Result Tcp(const std::string& address, int rank, int size,
             const brigade_bootstrap_options& options = BootstrapOptions()) {
    brigade_bootstrap* bootstrap = nullptr;
    Result result = brigade_bootstrap_tcp(address.c_str(), rank, size, &options, &bootstrap);
    if (result) bootstrap_.reset(bootstrap);
    return result;
  }
  /// See brigade_bootstrap_callback(). Replaces the old bootstrap.
  Result Callback(brigade_allgather_callback allgather, void* context, int rank, int size) {
    brigade_bootstrap* bootstrap = nullptr;
    Result result = brigade_bootstrap_callback(allgather, context, rank, size, &bootstrap);
    if (result) bootstrap_.reset(bootstrap);
    return result;
  }
  /// The bootstrap of the C functions; null if there is none.
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

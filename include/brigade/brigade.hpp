/// @file
/// Brigade for C++ programs: the functions of brigade.h as objects that clean up after themselves.
/// Header only, so that the library's binary interface is that of C. brigade.h says what arguments
/// mean, which must be equal on all ranks, and what state errors leave.

#ifndef BRIGADE_BRIGADE_HPP_
#define BRIGADE_BRIGADE_HPP_

#include <memory>
#include <string>
#include <type_traits>

#include "brigade/brigade.h"

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

/// @cond
namespace internal {
struct Destroy {
  void operator()(brigade_engine* e) const { brigade_engine_destroy(e); }
  void operator()(brigade_group* g) const { brigade_group_destroy(g); }
  void operator()(brigade_operation* o) const { (void)brigade_wait(o, nullptr); }
};
}  // namespace internal
/// @endcond

/// The matrix at `data`; see brigade_matrix.
template <typename T>
brigade_matrix MatrixOf(T* data, int64_t rows, int64_t cols, int64_t ld = 0) {
  return {const_cast<std::remove_const_t<T>*>(data), rows, cols, ld};
}

/// One per process, and gone before MPI_Finalize; see brigade_engine_create().
class Engine {
 public:
  /// Makes it, in place of what there was.
  Result Create(const brigade_options* options = nullptr) {
    brigade_engine* engine = nullptr;
    const Result result = brigade_engine_create(options, &engine);
    engine_.reset(engine);
    return result;
  }
  /// The engine of the C functions; null before Create.
  brigade_engine* get() const { return engine_.get(); }
  /// See brigade_progress().
  void Progress() { brigade_progress(get()); }

 private:
  std::unique_ptr<brigade_engine, internal::Destroy> engine_;
};

/// A started call; waits in its destructor if nobody did.
class Operation {
 public:
  /// Progresses; whether it is done, well or not.
  bool Test() { return brigade_test(operation_.get()) != 0; }
  /// Waits until done; the outcome. Once per start.
  Result Wait(brigade_statistics* statistics = nullptr) {
    return brigade_wait(operation_.release(), statistics);
  }

 private:
  friend class Group;
  std::unique_ptr<brigade_operation, internal::Destroy> operation_;
};

/// Ranks that communicate; see brigade_group_create(). The engine must outlive the group.
class Group {
 public:
  /// Collective over the communicator. Makes the group, in place of what there was.
  Result Create(const Engine& engine, int mpi_comm, int rows, int cols) {
    brigade_group* group = nullptr;
    const Result result = brigade_group_create(engine.get(), mpi_comm, rows, cols, &group);
    group_.reset(group);
    return result;
  }
  /// The group of the C functions; null before Create.
  brigade_group* get() const { return group_.get(); }
  /// Ranks in the calling rank's scope.
  int size(brigade_scope scope = BRIGADE_ALL) const { return brigade_scope_size(get(), scope); }
  /// The calling rank's number there.
  int rank(brigade_scope scope = BRIGADE_ALL) const { return brigade_scope_rank(get(), scope); }

  /// See brigade_run().
  Result Run(const brigade_call& call, brigade_statistics* statistics = nullptr) {
    return brigade_run(get(), &call, statistics);
  }
  /// See brigade_start().
  Result Start(const brigade_call& call, Operation* operation) {
    brigade_operation* started = nullptr;
    const Result result = brigade_start(get(), &call, &started);
    operation->operation_.reset(started);
    return result;
  }

 private:
  std::unique_ptr<brigade_group, internal::Destroy> group_;
};

}  // namespace direct
}  // namespace brigade

#endif  // BRIGADE_BRIGADE_HPP_

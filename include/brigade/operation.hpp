/// @file
/// Brigade for C++: started calls and persistent operations.

#ifndef BRIGADE_OPERATION_HPP_
#define BRIGADE_OPERATION_HPP_

#include <cstddef>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "brigade/brigade.h"
#include "brigade/engine.hpp"

namespace brigade {
inline namespace v1 {

namespace detail {
class GroupHandle;
class OperationArray;
}  // namespace detail

/// A started call, or a null operation. An object is null before a call has started, after a wait,
/// and after a move from the object. A null operation is always complete, like MPI_REQUEST_NULL.
///
/// If the object holds a pending operation, the destructor, and an assignment to the object, block
/// until the operation is complete, and discard the outcome.
class Operation {
 public:
  /// See brigade_test().
  bool Test() { return brigade_test(operation_.get()) != 0; }
  /// See brigade_wait(). The object is null afterwards. If `statistics` was not initialised by
  /// brigade_statistics_init(), returns #BRIGADE_INVALID_ARGUMENT, without effect.
  Result Wait(brigade_statistics* statistics = nullptr) {
    if (statistics != nullptr && statistics->size != sizeof(*statistics)) {
      return {BRIGADE_INVALID_ARGUMENT, "brigade_statistics has a size of " +
                                            std::to_string(statistics->size) +
                                            ": initialise it with brigade_statistics_init()"};
    }
    Started ended = std::move(operation_);
    return brigade_wait(ended.release(), statistics);
  }

 private:
  friend class detail::GroupHandle;
  friend class detail::OperationArray;
  friend class Plan;
  /// Waits for the operation. `kept`, the group or plan of the operation, stays alive until then.
  struct WaitFor {
    void operator()(brigade_operation* operation) const { (void)brigade_wait(operation, nullptr); }
    std::shared_ptr<void> kept;
  };
  using Started = std::unique_ptr<brigade_operation, WaitFor>;
  /// Calls `start`, and holds the operation that `start` makes.
  template <typename Start>
  Result Keep(const std::shared_ptr<void>& kept, const Start& start) {
    if (operation_ != nullptr) {
      return {BRIGADE_INVALID_ARGUMENT,
              "the operation was started before and not waited for: wait, or take another"};
    }
    brigade_operation* started = nullptr;
    Result result = start(&started);
    if (result) operation_ = Started(started, {kept});
    return result;
  }
  Started operation_;
};

namespace detail {

/// Calls the C functions on arrays of operations. Programs use brigade::WaitAll and the other
/// functions below.
class OperationArray {
 public:
  /// Passes the operations to `call`. Operations that `call` frees become null.
  template <typename Operations, typename Call>
  static Result Run(Operations& operations, const Call& call) {
    std::vector<brigade_operation*> array;
    array.reserve(std::size(operations));
    for (Operation& operation : operations) array.push_back(operation.operation_.get());
    Result result = call(array.data(), array.size());
    std::size_t i = 0;
    for (Operation& operation : operations) {
      if (array[i++] != nullptr) continue;
      (void)operation.operation_.release();
      operation.operation_ = Operation::Started();  // releases the group
    }
    return result;
  }
  /// Sets `*indices` to the indices that `function` returns.
  template <typename Operations, typename Function>
  static Result RunSome(Operations& operations, std::vector<std::size_t>* indices,
                        Function* function) {
    return Run(operations, [&](brigade_operation** array, std::size_t count) {
      std::size_t ended = 0;
      indices->resize(count);
      const brigade_status status = function(array, count, indices->data(), &ended);
      indices->resize(ended);
      return status;
    });
  }
};

}  // namespace detail

/// @name Completion of several operations
/// `operations` is an array, a `std::array` or a `std::vector` of Operation. If the C function
/// frees an operation, its Operation object becomes null.
/// @{

/// See brigade_wait_all().
template <typename Operations>
Result WaitAll(Operations& operations) {
  return detail::OperationArray::Run(operations, brigade_wait_all);
}
/// See brigade_wait_any().
template <typename Operations>
Result WaitAny(Operations& operations, std::size_t* index) {
  return detail::OperationArray::Run(operations, [&](brigade_operation** array, std::size_t count) {
    return brigade_wait_any(array, count, index);
  });
}
/// See brigade_wait_some().
template <typename Operations>
Result WaitSome(Operations& operations, std::vector<std::size_t>* indices) {
  return detail::OperationArray::RunSome(operations, indices, brigade_wait_some);
}
/// See brigade_test_all().
template <typename Operations>
Result TestAll(Operations& operations, bool* done) {
  return detail::OperationArray::Run(operations, [&](brigade_operation** array, std::size_t count) {
    int all = 0;
    const brigade_status status = brigade_test_all(array, count, &all);
    *done = all != 0;
    return status;
  });
}
/// See brigade_test_any().
template <typename Operations>
Result TestAny(Operations& operations, std::size_t* index, bool* done) {
  return detail::OperationArray::Run(operations, [&](brigade_operation** array, std::size_t count) {
    int any = 0;
    const brigade_status status = brigade_test_any(array, count, index, &any);
    *done = any != 0;
    return status;
  });
}
/// See brigade_test_some().
template <typename Operations>
Result TestSome(Operations& operations, std::vector<std::size_t>* indices) {
  return detail::OperationArray::RunSome(operations, indices, brigade_test_some);
}

/// @}

/// A persistent operation, or null. An object is null before a method of Group such as
/// PlanBroadcast has made the plan, and after a move from the object. Copies of an object share one
/// plan. The plan is destroyed when all copies are destroyed, and all operations started with the
/// plan are freed.
class Plan {
 public:
  /// See brigade_plan_run().
  Result Run(brigade_statistics* statistics = nullptr) {
    return brigade_plan_run(plan_.get(), statistics);
  }
  /// See brigade_plan_start(). If `operation` holds an operation that was not waited for, returns
  /// #BRIGADE_INVALID_ARGUMENT, without effect.
  Result Start(Operation* operation) {
    return operation->Keep(plan_, [this](brigade_operation** started) {
      return brigade_plan_start(plan_.get(), started);
    });
  }

 private:
  friend class detail::GroupHandle;
  // Calls `make`, and holds the plan that `make` makes, and the group of the plan.
  template <typename Make>
  Result Keep(const std::shared_ptr<void>& group, const Make& make) {
    brigade_plan* made = nullptr;
    Result result = make(&made);
    if (result) {
      plan_.reset(made, [group](brigade_plan* plan) { brigade_plan_destroy(plan); });
    }
    return result;
  }
  std::shared_ptr<brigade_plan> plan_;
};

}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_OPERATION_HPP_

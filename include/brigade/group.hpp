/// @file
/// Brigade for C++: groups and calls.

#ifndef BRIGADE_GROUP_HPP_
#define BRIGADE_GROUP_HPP_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "brigade/brigade.h"
#include "brigade/engine.hpp"
#include "brigade/operation.hpp"
#include "brigade/reductions.hpp"
#include "brigade/view.hpp"

namespace brigade {
inline namespace v1 {

/// A group; see brigade_group_from_mpi(). Copies of an object share one group. The group lives as
/// long as an object, operation or plan that uses the group. Calls on an object without a group
/// return #BRIGADE_INVALID_ARGUMENT.
///
/// Calls take matrices of all types for which ViewTraits (view.hpp) is defined. The C function of a
/// call documents its arguments and errors. Every call has three forms:
///
/// - `Broadcast` blocks.
/// - `StartBroadcast` starts a call, whose handle is `operation`. If the program has not waited for
///   an earlier call of `operation`, StartBroadcast returns #BRIGADE_INVALID_ARGUMENT, without
///   effect.
/// - `PlanBroadcast` makes a persistent operation, which replaces `plan`.
class Group : public detail::ReductionCalls {
 public:
  /// See brigade_group_from_mpi(). Replaces the object's group.
  Result FromMpi(const Engine& engine, int mpi_comm, int rows, int cols) {
    return Keep(engine.engine_, [&](brigade_group** made) {
      return brigade_group_from_mpi(engine.get(), mpi_comm, rows, cols, made);
    });
  }
  /// @cond
  template <typename... Arguments>
  void Create(const Arguments&...) = delete;  // the name is now FromMpi
  /// @endcond
  /// See brigade_group_from_bootstrap(). Replaces the object's group.
  Result FromBootstrap(const Engine& engine, const Bootstrap& bootstrap, int rows, int cols) {
    return Keep(engine.engine_, [&](brigade_group** made) {
      return brigade_group_from_bootstrap(engine.get(), bootstrap.get(), rows, cols, made);
    });
  }
  /// See brigade_group_split(). Replaces the group of `members`. If `colour` is negative, `members`
  /// has no group afterwards.
  Result Split(int colour, int key, Group* members) const {
    return members->Keep(engine_, [&](brigade_group** made) {
      return brigade_group_split(get(), colour, key, made);
    });
  }
  /// See brigade_group_from_ranks(). Replaces the group of `members`. If this rank is not listed,
  /// `members` has no group afterwards.
  Result FromRanks(const std::vector<int>& ranks, int rows, int cols, Group* members) const {
    const int64_t wanted = int64_t{rows} * cols;
    if (wanted != static_cast<int64_t>(ranks.size())) {
      return {BRIGADE_INVALID_ARGUMENT,
              std::to_string(ranks.size()) + " ranks for a grid of " + std::to_string(wanted)};
    }
    return members->Keep(engine_, [&](brigade_group** made) {
      return brigade_group_from_ranks(get(), ranks.data(), rows, cols, made);
    });
  }
  /// See brigade_group_duplicate(). Replaces the group of `duplicate`.
  Result Duplicate(Group* duplicate) const {
    return duplicate->Keep(
        engine_, [&](brigade_group** made) { return brigade_group_duplicate(get(), made); });
  }

  /// See brigade_group_error().
  Result Error() const { return brigade_group_error(get()); }
  /// See brigade_group_failure().
  Result GetFailure(brigade_failure* failure) const {
    return brigade_group_failure(get(), failure);
  }
  /// See brigade_group_abort().
  void Abort(const std::string& text) { brigade_group_abort(get(), text.c_str()); }

  /// See brigade_send().
  template <typename Source>
  Result Send(const Source& source, int destination,
              const brigade_call_options& options = CallOptions()) {
    return OneMatrix(Run(brigade_send), options, source, destination);
  }
  /// Starts Send.
  template <typename Source>
  Result StartSend(const Source& source, int destination, Operation* operation,
                   const brigade_call_options& options = CallOptions()) {
    return OneMatrix(Make(brigade_send_start, operation), options, source, destination);
  }
  /// Makes a persistent Send.
  template <typename Source>
  Result PlanSend(const Source& source, int destination, Plan* plan,
                  const brigade_call_options& options = CallOptions()) {
    return OneMatrix(Make(brigade_plan_send, plan), options, source, destination);
  }

  /// See brigade_recv().
  template <typename Destination>
  Result Receive(Destination&& destination, int source,
                 const brigade_call_options& options = CallOptions()) {
    return WrittenMatrix(Run(brigade_recv), options, destination, source);
  }
  /// Starts Receive.
  template <typename Destination>
  Result StartReceive(Destination&& destination, int source, Operation* operation,
                      const brigade_call_options& options = CallOptions()) {
    return WrittenMatrix(Make(brigade_recv_start, operation), options, destination, source);
  }
  /// Makes a persistent Receive.
  template <typename Destination>
  Result PlanReceive(Destination&& destination, int source, Plan* plan,
                     const brigade_call_options& options = CallOptions()) {
    return WrittenMatrix(Make(brigade_plan_recv, plan), options, destination, source);
  }

  /// See brigade_sendrecv().
  template <typename Sent, typename Received>
  Result SendReceive(const Sent& sent, int destination, Received&& received, int source,
                     const brigade_call_options& options = CallOptions()) {
    return SentAndReceived(Run(brigade_sendrecv), options, sent, destination, received, source);
  }
  /// Starts SendReceive.
  template <typename Sent, typename Received>
  Result StartSendReceive(const Sent& sent, int destination, Received&& received, int source,
                          Operation* operation,
                          const brigade_call_options& options = CallOptions()) {
    return SentAndReceived(Make(brigade_sendrecv_start, operation), options, sent, destination,
                           received, source);
  }
  /// Makes a persistent SendReceive.
  template <typename Sent, typename Received>
  Result PlanSendReceive(const Sent& sent, int destination, Received&& received, int source,
                         Plan* plan, const brigade_call_options& options = CallOptions()) {
    return SentAndReceived(Make(brigade_plan_sendrecv, plan), options, sent, destination, received,
                           source);
  }

  /// See brigade_bcast().
  template <typename Buffer>
  Result Broadcast(Buffer&& buffer, int root, const brigade_call_options& options = CallOptions()) {
    return WrittenMatrix(Run(brigade_bcast), options, buffer, root);
  }
  /// Starts Broadcast.
  template <typename Buffer>
  Result StartBroadcast(Buffer&& buffer, int root, Operation* operation,
                        const brigade_call_options& options = CallOptions()) {
    return WrittenMatrix(Make(brigade_bcast_start, operation), options, buffer, root);
  }
  /// Makes a persistent Broadcast.
  template <typename Buffer>
  Result PlanBroadcast(Buffer&& buffer, int root, Plan* plan,
                       const brigade_call_options& options = CallOptions()) {
    return WrittenMatrix(Make(brigade_plan_bcast, plan), options, buffer, root);
  }

  /// See brigade_barrier().
  Result Barrier(const brigade_call_options& options = CallOptions()) {
    return Run(brigade_barrier)(options);
  }
  /// Starts Barrier.
  Result StartBarrier(Operation* operation, const brigade_call_options& options = CallOptions()) {
    return Make(brigade_barrier_start, operation)(options);
  }
  /// Makes a persistent Barrier.
  Result PlanBarrier(Plan* plan, const brigade_call_options& options = CallOptions()) {
    return Make(brigade_plan_barrier, plan)(options);
  }

 private:
  // Each function converts its arguments to C. `form` makes the call with the converted arguments.
  template <typename Form, typename Matrix>
  static Result OneMatrix(const Form& form, const brigade_call_options& options, Matrix& matrix,
                          int rank) {
    const auto matrix_c = ToC(matrix);
    return form(options, &matrix_c.matrix, matrix_c.type, rank);
  }
  template <typename Form, typename Matrix>
  static Result WrittenMatrix(const Form& form, const brigade_call_options& options, Matrix& matrix,
                              int rank) {
    static_assert(IsWritable<Matrix>());
    return OneMatrix(form, options, matrix, rank);
  }
  template <typename Form, typename Sent, typename Received>
  static Result SentAndReceived(const Form& form, const brigade_call_options& options,
                                const Sent& sent, int destination, Received& received, int source) {
    static_assert(IsWritable<Received>() && HaveOneType<const Sent, Received>());
    const auto sent_c = ToC(sent);
    const auto received_c = ToC(received);
    return form(options, &sent_c.matrix, destination, &received_c.matrix, source, sent_c.type);
  }
  // `engine` is passed by value, because the argument can be this object's own engine_, which this
  // function resets.
  template <typename Make>
  Result Keep(std::shared_ptr<brigade_engine> engine, const Make& make) {
    brigade_group* made = nullptr;
    Result result = make(&made);
    if (!result) return result;
    group_.reset();
    engine_.reset();
    if (made == nullptr) return result;  // this rank is no member
    group_.reset(made, [engine](brigade_group* group) { brigade_group_destroy(group); });
    engine_ = std::move(engine);
    return result;
  }
};

}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_GROUP_HPP_

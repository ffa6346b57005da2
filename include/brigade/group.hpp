/// @file
/// Brigade for C++: groups and calls. The C++ interface is header-only, so the library's binary
/// interface is C. The C headers document the arguments of each call, which arguments must be equal
/// on all ranks, and the state of the group after an error.

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

/// A group; see brigade_group_from_mpi(). Copies of an object share one group. The group is
/// destroyed when no copy, operation, or plan of the group is left. Calls on an object without a
/// group return #BRIGADE_INVALID_ARGUMENT.
///
/// Every call takes matrices of the types that ViewTraits lists. Every call has three forms:
/// `Broadcast` blocks, `StartBroadcast` starts an operation, and `PlanBroadcast` makes a persistent
/// operation. The comment of each method names the C function that documents arguments and errors.
class Group : public detail::ReductionCalls {
 public:
  /// See brigade_group_from_mpi(). Replaces the old group.
  Result FromMpi(const Engine& engine, int mpi_comm, int rows, int cols) {
    return Keep(engine.engine_, [&](brigade_group** made) {
      return brigade_group_from_mpi(engine.get(), mpi_comm, rows, cols, made);
    });
  }
  /// See brigade_group_from_bootstrap(). Replaces the old group.
  Result FromBootstrap(const Engine& engine, const Bootstrap& bootstrap, int rows, int cols) {
    return Keep(engine.engine_, [&](brigade_group** made) {
      return brigade_group_from_bootstrap(engine.get(), bootstrap.get(), rows, cols, made);
    });
  }
  /// See brigade_group_split(). Replaces `members`, with null if `colour` is negative.
  Result Split(int colour, int key, Group* members) const {
    return members->Keep(engine_, [&](brigade_group** made) {
      return brigade_group_split(get(), colour, key, made);
    });
  }
  /// See brigade_group_from_ranks(). Replaces `members`, with null if this rank is not listed.
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
  /// See brigade_group_duplicate(). Replaces `duplicate`.
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
    const auto source_c = ToC(source);
    return brigade_send(get(), &source_c.matrix, source_c.type, destination, &options);
  }
  /// Starts Send. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source>
  Result StartSend(const Source& source, int destination, Operation* operation,
                   const brigade_call_options& options = CallOptions()) {
    const auto source_c = ToC(source);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_send_start(get(), &source_c.matrix, source_c.type, destination, &options,
                                started);
    });
  }
  /// Plans Send. `plan` is replaced.
  template <typename Source>
  Result PlanSend(const Source& source, int destination, Plan* plan,
                  const brigade_call_options& options = CallOptions()) {
    const auto source_c = ToC(source);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_send(get(), &source_c.matrix, source_c.type, destination, &options, made);
    });
  }

  /// See brigade_recv().
  template <typename Destination>
  Result Receive(Destination&& destination, int source,
                 const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>());
    const auto destination_c = ToC(destination);
    return brigade_recv(get(), &destination_c.matrix, destination_c.type, source, &options);
  }
  /// Starts Receive. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Destination>
  Result StartReceive(Destination&& destination, int source, Operation* operation,
                      const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>());
    const auto destination_c = ToC(destination);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_recv_start(get(), &destination_c.matrix, destination_c.type, source, &options,
                                started);
    });
  }
  /// Plans Receive. `plan` is replaced.
  template <typename Destination>
  Result PlanReceive(Destination&& destination, int source, Plan* plan,
                     const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>());
    const auto destination_c = ToC(destination);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_recv(get(), &destination_c.matrix, destination_c.type, source, &options,
                               made);
    });
  }

  /// See brigade_sendrecv().
  template <typename Sent, typename Received>
  Result SendReceive(const Sent& sent, int destination, Received&& received, int source,
                     const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Received>() && HaveOneType<const Sent, Received>());
    const auto sent_c = ToC(sent);
    const auto received_c = ToC(received);
    return brigade_sendrecv(get(), &sent_c.matrix, destination, &received_c.matrix, source,
                            sent_c.type, &options);
  }
  /// Starts SendReceive. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Sent, typename Received>
  Result StartSendReceive(const Sent& sent, int destination, Received&& received, int source,
                          Operation* operation,
                          const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Received>() && HaveOneType<const Sent, Received>());
    const auto sent_c = ToC(sent);
    const auto received_c = ToC(received);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_sendrecv_start(get(), &sent_c.matrix, destination, &received_c.matrix, source,
                                    sent_c.type, &options, started);
    });
  }
  /// Plans SendReceive. `plan` is replaced.
  template <typename Sent, typename Received>
  Result PlanSendReceive(const Sent& sent, int destination, Received&& received, int source,
                         Plan* plan, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Received>() && HaveOneType<const Sent, Received>());
    const auto sent_c = ToC(sent);
    const auto received_c = ToC(received);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_sendrecv(get(), &sent_c.matrix, destination, &received_c.matrix, source,
                                   sent_c.type, &options, made);
    });
  }

  /// See brigade_bcast().
  template <typename Buffer>
  Result Broadcast(Buffer&& buffer, int root, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    const auto buffer_c = ToC(buffer);
    return brigade_bcast(get(), &buffer_c.matrix, buffer_c.type, root, &options);
  }
  /// Starts Broadcast. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Buffer>
  Result StartBroadcast(Buffer&& buffer, int root, Operation* operation,
                        const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    const auto buffer_c = ToC(buffer);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_bcast_start(get(), &buffer_c.matrix, buffer_c.type, root, &options, started);
    });
  }
  /// Plans Broadcast. `plan` is replaced.
  template <typename Buffer>
  Result PlanBroadcast(Buffer&& buffer, int root, Plan* plan,
                       const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    const auto buffer_c = ToC(buffer);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_bcast(get(), &buffer_c.matrix, buffer_c.type, root, &options, made);
    });
  }

  /// See brigade_barrier().
  Result Barrier(const brigade_call_options& options = CallOptions()) {
    return brigade_barrier(get(), &options);
  }
  /// Starts Barrier. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  Result StartBarrier(Operation* operation, const brigade_call_options& options = CallOptions()) {
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_barrier_start(get(), &options, started);
    });
  }
  /// Plans Barrier. `plan` is replaced.
  Result PlanBarrier(Plan* plan, const brigade_call_options& options = CallOptions()) {
    return Prepare(
        plan, [&](brigade_plan** made) { return brigade_plan_barrier(get(), &options, made); });
  }

 private:
  template <typename Make>
  Result Keep(const std::shared_ptr<brigade_engine>& engine, const Make& make) {
    brigade_group* made = nullptr;
    Result result = make(&made);
    if (!result) return result;
    group_.reset();
    engine_.reset();
    if (made == nullptr) return result;  // this rank is no member
    group_.reset(made, [engine](brigade_group* group) { brigade_group_destroy(group); });
    engine_ = engine;
    return result;
  }
};

}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_GROUP_HPP_

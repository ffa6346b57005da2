/// @file
/// Brigade for C++: groups and calls. Header only, so the library's binary interface is C. The C
/// headers document arguments, equality on all ranks, and the state after errors.

#ifndef BRIGADE_GROUP_HPP_
#define BRIGADE_GROUP_HPP_

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "brigade/brigade.h"
#include "brigade/engine.hpp"
#include "brigade/operation.hpp"
#include "brigade/view.hpp"

namespace brigade {
inline namespace v1 {

/// A group; see brigade_group_from_mpi(). Copies share one group. The group ends when no copy of it
/// and no operation or plan of it is left. Calls on a group that was not made return
/// #BRIGADE_INVALID_ARGUMENT.
///
/// Every call takes matrices as ViewTraits describes them, and has three forms: `Broadcast` blocks,
/// `StartBroadcast` starts an operation, and `PlanBroadcast` makes a persistent operation. The C
/// function that a method names documents arguments and errors.
class Group {
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
  /// See brigade_group_split(). `members` is replaced; it becomes null if `colour` is negative.
  Result Split(int colour, int key, Group* members) const {
    return members->Keep(engine_, [&](brigade_group** made) {
      return brigade_group_split(get(), colour, key, made);
    });
  }
  /// See brigade_group_from_ranks(). `members` is replaced; it becomes null if this rank is not
  /// listed.
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
  /// See brigade_group_duplicate(). `duplicate` is replaced.
  Result Duplicate(Group* duplicate) const {
    return duplicate->Keep(
        engine_, [&](brigade_group** made) { return brigade_group_duplicate(get(), made); });
  }
  /// The group of the C functions; null if there is none.
  brigade_group* get() const { return group_.get(); }
  /// Returns the number of ranks in the calling rank's scope; -1 if there is no group.
  int size(brigade_scope scope = BRIGADE_ALL) const { return brigade_scope_size(get(), scope); }
  /// Returns the calling rank's number in its scope; -1 if there is no group.
  int rank(brigade_scope scope = BRIGADE_ALL) const { return brigade_scope_rank(get(), scope); }

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
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_send_start(get(), &source_c.matrix, source_c.type, destination, &options,
                                started);
    });
  }
  /// Plans Send. `plan` is replaced.
  template <typename Source>
  Result PlanSend(const Source& source, int destination, Plan* plan,
                  const brigade_call_options& options = CallOptions()) {
    const auto source_c = ToC(source);
    return plan->Keep(group_, [&](brigade_plan** made) {
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
    return operation->Keep(group_, [&](brigade_operation** started) {
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
    return plan->Keep(group_, [&](brigade_plan** made) {
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
    return operation->Keep(group_, [&](brigade_operation** started) {
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
    return plan->Keep(group_, [&](brigade_plan** made) {
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
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_bcast_start(get(), &buffer_c.matrix, buffer_c.type, root, &options, started);
    });
  }
  /// Plans Broadcast. `plan` is replaced.
  template <typename Buffer>
  Result PlanBroadcast(Buffer&& buffer, int root, Plan* plan,
                       const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    const auto buffer_c = ToC(buffer);
    return plan->Keep(group_, [&](brigade_plan** made) {
      return brigade_plan_bcast(get(), &buffer_c.matrix, buffer_c.type, root, &options, made);
    });
  }

  /// See brigade_reduce().
  template <typename Source, typename Destination>
  Result Reduce(const Source& source, Destination&& result, brigade_op op, int root,
                const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return brigade_reduce(get(), &source_c.matrix, &result_c.matrix, source_c.type, op, root,
                          &options);
  }
  /// Starts Reduce. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source, typename Destination>
  Result StartReduce(const Source& source, Destination&& result, brigade_op op, int root,
                     Operation* operation, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_reduce_start(get(), &source_c.matrix, &result_c.matrix, source_c.type, op,
                                  root, &options, started);
    });
  }
  /// Plans Reduce. `plan` is replaced.
  template <typename Source, typename Destination>
  Result PlanReduce(const Source& source, Destination&& result, brigade_op op, int root, Plan* plan,
                    const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return plan->Keep(group_, [&](brigade_plan** made) {
      return brigade_plan_reduce(get(), &source_c.matrix, &result_c.matrix, source_c.type, op, root,
                                 &options, made);
    });
  }

  /// See brigade_reduce() in place.
  template <typename Buffer>
  Result ReduceInPlace(Buffer&& buffer, brigade_op op, int root,
                       const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return brigade_reduce(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, root, &options);
  }
  /// Starts ReduceInPlace. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is
  /// still pending or was not waited for.
  template <typename Buffer>
  Result StartReduceInPlace(Buffer&& buffer, brigade_op op, int root, Operation* operation,
                            const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_reduce_start(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, root,
                                  &options, started);
    });
  }
  /// Plans ReduceInPlace. `plan` is replaced.
  template <typename Buffer>
  Result PlanReduceInPlace(Buffer&& buffer, brigade_op op, int root, Plan* plan,
                           const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return plan->Keep(group_, [&](brigade_plan** made) {
      return brigade_plan_reduce(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, root,
                                 &options, made);
    });
  }

  /// See brigade_allreduce().
  template <typename Source, typename Destination>
  Result AllReduce(const Source& source, Destination&& result, brigade_op op,
                   const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return brigade_allreduce(get(), &source_c.matrix, &result_c.matrix, source_c.type, op,
                             &options);
  }
  /// Starts AllReduce. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source, typename Destination>
  Result StartAllReduce(const Source& source, Destination&& result, brigade_op op,
                        Operation* operation, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_allreduce_start(get(), &source_c.matrix, &result_c.matrix, source_c.type, op,
                                     &options, started);
    });
  }
  /// Plans AllReduce. `plan` is replaced.
  template <typename Source, typename Destination>
  Result PlanAllReduce(const Source& source, Destination&& result, brigade_op op, Plan* plan,
                       const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return plan->Keep(group_, [&](brigade_plan** made) {
      return brigade_plan_allreduce(get(), &source_c.matrix, &result_c.matrix, source_c.type, op,
                                    &options, made);
    });
  }

  /// See brigade_allreduce() in place.
  template <typename Buffer>
  Result AllReduceInPlace(Buffer&& buffer, brigade_op op,
                          const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return brigade_allreduce(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, &options);
  }
  /// Starts AllReduceInPlace. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is
  /// still pending or was not waited for.
  template <typename Buffer>
  Result StartAllReduceInPlace(Buffer&& buffer, brigade_op op, Operation* operation,
                               const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_allreduce_start(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, &options,
                                     started);
    });
  }
  /// Plans AllReduceInPlace. `plan` is replaced.
  template <typename Buffer>
  Result PlanAllReduceInPlace(Buffer&& buffer, brigade_op op, Plan* plan,
                              const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return plan->Keep(group_, [&](brigade_plan** made) {
      return brigade_plan_allreduce(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, &options,
                                    made);
    });
  }

  /// See brigade_allgather().
  template <typename Source, typename Destination>
  Result AllGather(const Source& source, Destination&& result,
                   const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return brigade_allgather(get(), &source_c.matrix, &result_c.matrix, source_c.type, &options);
  }
  /// Starts AllGather. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source, typename Destination>
  Result StartAllGather(const Source& source, Destination&& result, Operation* operation,
                        const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_allgather_start(get(), &source_c.matrix, &result_c.matrix, source_c.type,
                                     &options, started);
    });
  }
  /// Plans AllGather. `plan` is replaced.
  template <typename Source, typename Destination>
  Result PlanAllGather(const Source& source, Destination&& result, Plan* plan,
                       const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return plan->Keep(group_, [&](brigade_plan** made) {
      return brigade_plan_allgather(get(), &source_c.matrix, &result_c.matrix, source_c.type,
                                    &options, made);
    });
  }

  /// See brigade_allgatherv(); `blocks` has a view per rank of the scope.
  template <typename Source, typename T>
  Result AllGatherV(const Source& source, const std::vector<View<T>>& blocks,
                    const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<View<T>>() && HaveOneType<const Source, View<T>>());
    const auto source_c = ToC(source);
    const auto blocks_c = BlocksToC(blocks);
    return brigade_allgatherv(get(), &source_c.matrix, blocks_c.data(), sizeof(brigade_matrix),
                              source_c.type, &options);
  }
  /// Starts AllGatherV. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source, typename T>
  Result StartAllGatherV(const Source& source, const std::vector<View<T>>& blocks,
                         Operation* operation,
                         const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<View<T>>() && HaveOneType<const Source, View<T>>());
    const auto source_c = ToC(source);
    const auto blocks_c = BlocksToC(blocks);
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_allgatherv_start(get(), &source_c.matrix, blocks_c.data(),
                                      sizeof(brigade_matrix), source_c.type, &options, started);
    });
  }
  /// Plans AllGatherV. `plan` is replaced.
  template <typename Source, typename T>
  Result PlanAllGatherV(const Source& source, const std::vector<View<T>>& blocks, Plan* plan,
                        const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<View<T>>() && HaveOneType<const Source, View<T>>());
    const auto source_c = ToC(source);
    const auto blocks_c = BlocksToC(blocks);
    return plan->Keep(group_, [&](brigade_plan** made) {
      return brigade_plan_allgatherv(get(), &source_c.matrix, blocks_c.data(),
                                     sizeof(brigade_matrix), source_c.type, &options, made);
    });
  }

  /// See brigade_reduce_scatter().
  template <typename Source, typename Destination>
  Result ReduceScatter(const Source& source, Destination&& result, brigade_op op,
                       const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return brigade_reduce_scatter(get(), &source_c.matrix, &result_c.matrix, source_c.type, op,
                                  &options);
  }
  /// Starts ReduceScatter. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is
  /// still pending or was not waited for.
  template <typename Source, typename Destination>
  Result StartReduceScatter(const Source& source, Destination&& result, brigade_op op,
                            Operation* operation,
                            const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_reduce_scatter_start(get(), &source_c.matrix, &result_c.matrix, source_c.type,
                                          op, &options, started);
    });
  }
  /// Plans ReduceScatter. `plan` is replaced.
  template <typename Source, typename Destination>
  Result PlanReduceScatter(const Source& source, Destination&& result, brigade_op op, Plan* plan,
                           const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return plan->Keep(group_, [&](brigade_plan** made) {
      return brigade_plan_reduce_scatter(get(), &source_c.matrix, &result_c.matrix, source_c.type,
                                         op, &options, made);
    });
  }

  /// See brigade_reduce_scatterv(); `blocks` has a view per rank of the scope.
  template <typename T, typename Destination>
  Result ReduceScatterV(const std::vector<View<T>>& blocks, Destination&& result, brigade_op op,
                        const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<View<T>, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto blocks_c = BlocksToC(blocks);
    const auto result_c = ToOperand(result);
    return brigade_reduce_scatterv(get(), blocks_c.data(), sizeof(brigade_matrix), &result_c.matrix,
                                   result_c.type, op, &options);
  }
  /// Starts ReduceScatterV. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is
  /// still pending or was not waited for.
  template <typename T, typename Destination>
  Result StartReduceScatterV(const std::vector<View<T>>& blocks, Destination&& result,
                             brigade_op op, Operation* operation,
                             const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<View<T>, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto blocks_c = BlocksToC(blocks);
    const auto result_c = ToOperand(result);
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_reduce_scatterv_start(get(), blocks_c.data(), sizeof(brigade_matrix),
                                           &result_c.matrix, result_c.type, op, &options, started);
    });
  }
  /// Plans ReduceScatterV. `plan` is replaced.
  template <typename T, typename Destination>
  Result PlanReduceScatterV(const std::vector<View<T>>& blocks, Destination&& result, brigade_op op,
                            Plan* plan, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<View<T>, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto blocks_c = BlocksToC(blocks);
    const auto result_c = ToOperand(result);
    return plan->Keep(group_, [&](brigade_plan** made) {
      return brigade_plan_reduce_scatterv(get(), blocks_c.data(), sizeof(brigade_matrix),
                                          &result_c.matrix, result_c.type, op, &options, made);
    });
  }

  /// See brigade_barrier().
  Result Barrier(const brigade_call_options& options = CallOptions()) {
    return brigade_barrier(get(), &options);
  }
  /// Starts Barrier. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  Result StartBarrier(Operation* operation, const brigade_call_options& options = CallOptions()) {
    return operation->Keep(group_, [&](brigade_operation** started) {
      return brigade_barrier_start(get(), &options, started);
    });
  }
  /// Plans Barrier. `plan` is replaced.
  Result PlanBarrier(Plan* plan, const brigade_call_options& options = CallOptions()) {
    return plan->Keep(
        group_, [&](brigade_plan** made) { return brigade_plan_barrier(get(), &options, made); });
  }

 private:
  struct MatrixInC {
    brigade_matrix matrix;
    brigade_type type;
  };
  template <typename T>
  static brigade_matrix MatrixToC(const View<T>& view) {
    return {const_cast<std::remove_const_t<T>*>(view.data), view.rows, view.cols, view.ld};
  }
  template <typename M>
  using ElementOf = typename decltype(ViewOf(std::declval<M&>()))::Element;
  template <typename T, typename = void>
  struct HasType : std::false_type {};
  template <typename T>
  struct HasType<T, std::void_t<decltype(ElementType<std::remove_cv_t<T>>::value)>>
      : std::true_type {};

  template <typename M>
  static MatrixInC ToC(M&& matrix) {
    using T = ElementOf<M>;
    static_assert(HasType<T>::value, "the elements have no brigade::ElementType");
    return {MatrixToC(ViewOf(matrix)), ElementType<std::remove_cv_t<T>>::value};
  }
  // Of a reduction, whose elements may have a type that only the program's function knows.
  template <typename M>
  static MatrixInC ToOperand(M&& matrix) {
    using T = std::remove_cv_t<ElementOf<M>>;
    static_assert(std::is_trivially_copyable_v<T>);
    const brigade_matrix in_c = MatrixToC(ViewOf(matrix));
    if constexpr (HasType<T>::value) {
      return {in_c, ElementType<T>::value};
    } else {
      return {in_c, BRIGADE_BYTE};
    }
  }
  // The program's function must be for such elements.
  template <typename M>
  static Result CheckFunction(brigade_op op, const brigade_call_options& options) {
    using T = std::remove_cv_t<ElementOf<M>>;
    if (HasType<T>::value && op != BRIGADE_USER) return Result();
    if (op == BRIGADE_USER && options.user_op != nullptr &&
        options.user_op->element_bytes == sizeof(T)) {
      return Result();
    }
    return {BRIGADE_INVALID_ARGUMENT, "elements of " + std::to_string(sizeof(T)) +
                                          " bytes need BRIGADE_USER, and a user_op for elements of "
                                          "this size"};
  }
  template <typename M>
  static constexpr bool IsWritable() {
    static_assert(!std::is_const_v<ElementOf<M>>, "the matrix is written: its elements are const");
    return true;
  }
  template <typename A, typename B>
  static constexpr bool HaveOneType() {
    static_assert(std::is_same_v<std::remove_cv_t<ElementOf<A>>, std::remove_cv_t<ElementOf<B>>>,
                  "the matrices have elements of different types");
    return true;
  }
  template <typename T>
  static std::vector<brigade_matrix> BlocksToC(const std::vector<View<T>>& blocks) {
    std::vector<brigade_matrix> matrices;
    for (const View<T>& block : blocks) matrices.push_back(MatrixToC(block));
    return matrices;
  }

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

  friend class Multiplier;
  friend class Window;
  std::shared_ptr<brigade_engine> engine_;
  std::shared_ptr<brigade_group> group_;
};

}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_GROUP_HPP_

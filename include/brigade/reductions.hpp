/// @file
/// Brigade for C++: calls that combine the contributions of ranks.

#ifndef BRIGADE_REDUCTIONS_HPP_
#define BRIGADE_REDUCTIONS_HPP_

#include <vector>

#include "brigade/blocks.hpp"
#include "brigade/brigade.h"
#include "brigade/engine.hpp"
#include "brigade/operation.hpp"
#include "brigade/view.hpp"

namespace brigade {
inline namespace v1 {
namespace detail {

/// The calls of reductions.h. Programs make these calls on a brigade::Group. There are more than 25
/// methods, because each call has three forms.
class ReductionCalls : public BlockCalls {
 public:
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
    return Begin(operation, [&](brigade_operation** started) {
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
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_reduce(get(), &source_c.matrix, &result_c.matrix, source_c.type, op, root,
                                 &options, made);
    });
  }

  /// Reduce in place: see brigade_reduce() with a NULL `source`.
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
    return Begin(operation, [&](brigade_operation** started) {
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
    return Prepare(plan, [&](brigade_plan** made) {
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
    return Begin(operation, [&](brigade_operation** started) {
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
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_allreduce(get(), &source_c.matrix, &result_c.matrix, source_c.type, op,
                                    &options, made);
    });
  }

  /// AllReduce in place: see brigade_allreduce() with a NULL `source`.
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
    return Begin(operation, [&](brigade_operation** started) {
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
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_allreduce(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, &options,
                                    made);
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
    return Begin(operation, [&](brigade_operation** started) {
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
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_reduce_scatter(get(), &source_c.matrix, &result_c.matrix, source_c.type,
                                         op, &options, made);
    });
  }

  /// See brigade_reduce_scatterv(); `blocks` has one view per rank of the scope.
  template <typename T, typename Destination>
  Result ReduceScatterV(const std::vector<View<T>>& blocks, Destination&& result, brigade_op op,
                        const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<View<T>, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
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
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto blocks_c = BlocksToC(blocks);
    const auto result_c = ToOperand(result);
    return Begin(operation, [&](brigade_operation** started) {
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
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto blocks_c = BlocksToC(blocks);
    const auto result_c = ToOperand(result);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_reduce_scatterv(get(), blocks_c.data(), sizeof(brigade_matrix),
                                          &result_c.matrix, result_c.type, op, &options, made);
    });
  }

  /// See brigade_scan().
  template <typename Source, typename Destination>
  Result Scan(const Source& source, Destination&& result, brigade_op op,
              const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return brigade_scan(get(), &source_c.matrix, &result_c.matrix, source_c.type, op, &options);
  }
  /// Starts Scan. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source, typename Destination>
  Result StartScan(const Source& source, Destination&& result, brigade_op op, Operation* operation,
                   const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_scan_start(get(), &source_c.matrix, &result_c.matrix, source_c.type, op,
                                &options, started);
    });
  }
  /// Plans Scan. `plan` is replaced.
  template <typename Source, typename Destination>
  Result PlanScan(const Source& source, Destination&& result, brigade_op op, Plan* plan,
                  const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_scan(get(), &source_c.matrix, &result_c.matrix, source_c.type, op,
                               &options, made);
    });
  }

  /// Scan in place: see brigade_scan() with a NULL `source`.
  template <typename Buffer>
  Result ScanInPlace(Buffer&& buffer, brigade_op op,
                     const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return brigade_scan(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, &options);
  }
  /// Starts ScanInPlace. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Buffer>
  Result StartScanInPlace(Buffer&& buffer, brigade_op op, Operation* operation,
                          const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_scan_start(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, &options,
                                started);
    });
  }
  /// Plans ScanInPlace. `plan` is replaced.
  template <typename Buffer>
  Result PlanScanInPlace(Buffer&& buffer, brigade_op op, Plan* plan,
                         const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_scan(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, &options, made);
    });
  }

  /// See brigade_exscan().
  template <typename Source, typename Destination>
  Result ExScan(const Source& source, Destination&& result, brigade_op op,
                const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return brigade_exscan(get(), &source_c.matrix, &result_c.matrix, source_c.type, op, &options);
  }
  /// Starts ExScan. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source, typename Destination>
  Result StartExScan(const Source& source, Destination&& result, brigade_op op,
                     Operation* operation, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_exscan_start(get(), &source_c.matrix, &result_c.matrix, source_c.type, op,
                                  &options, started);
    });
  }
  /// Plans ExScan. `plan` is replaced.
  template <typename Source, typename Destination>
  Result PlanExScan(const Source& source, Destination&& result, brigade_op op, Plan* plan,
                    const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_exscan(get(), &source_c.matrix, &result_c.matrix, source_c.type, op,
                                 &options, made);
    });
  }

  /// ExScan in place: see brigade_exscan() with a NULL `source`.
  template <typename Buffer>
  Result ExScanInPlace(Buffer&& buffer, brigade_op op,
                       const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return brigade_exscan(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, &options);
  }
  /// Starts ExScanInPlace. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is
  /// still pending or was not waited for.
  template <typename Buffer>
  Result StartExScanInPlace(Buffer&& buffer, brigade_op op, Operation* operation,
                            const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_exscan_start(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, &options,
                                  started);
    });
  }
  /// Plans ExScanInPlace. `plan` is replaced.
  template <typename Buffer>
  Result PlanExScanInPlace(Buffer&& buffer, brigade_op op, Plan* plan,
                           const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_exscan(get(), nullptr, &buffer_c.matrix, buffer_c.type, op, &options,
                                 made);
    });
  }
};

}  // namespace detail
}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_REDUCTIONS_HPP_

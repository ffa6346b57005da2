/// @file
/// Brigade for C++: collective calls that combine matrices of all ranks.

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

/// The methods of brigade::Group for the calls of reductions.h. There are more than 25 methods,
/// because each call has three forms: blocking, started and planned.
class ReductionCalls : public BlockCalls {
 public:
  /// See brigade_reduce().
  template <typename Source, typename Destination>
  Result Reduce(const Source& source, Destination&& result, brigade_op op, int root,
                const brigade_call_options& options = CallOptions()) {
    return Combine(Run(brigade_reduce), options, source, result, op, root);
  }
  /// Starts Reduce.
  template <typename Source, typename Destination>
  Result StartReduce(const Source& source, Destination&& result, brigade_op op, int root,
                     Operation* operation, const brigade_call_options& options = CallOptions()) {
    return Combine(Make(brigade_reduce_start, operation), options, source, result, op, root);
  }
  /// Makes a persistent Reduce.
  template <typename Source, typename Destination>
  Result PlanReduce(const Source& source, Destination&& result, brigade_op op, int root, Plan* plan,
                    const brigade_call_options& options = CallOptions()) {
    return Combine(Make(brigade_plan_reduce, plan), options, source, result, op, root);
  }

  /// Reduce in place: see brigade_reduce() with a NULL `source`.
  template <typename Buffer>
  Result ReduceInPlace(Buffer&& buffer, brigade_op op, int root,
                       const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Run(brigade_reduce), options, buffer, op, root);
  }
  /// Starts ReduceInPlace.
  template <typename Buffer>
  Result StartReduceInPlace(Buffer&& buffer, brigade_op op, int root, Operation* operation,
                            const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Make(brigade_reduce_start, operation), options, buffer, op, root);
  }
  /// Makes a persistent ReduceInPlace.
  template <typename Buffer>
  Result PlanReduceInPlace(Buffer&& buffer, brigade_op op, int root, Plan* plan,
                           const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Make(brigade_plan_reduce, plan), options, buffer, op, root);
  }

  /// See brigade_allreduce().
  template <typename Source, typename Destination>
  Result AllReduce(const Source& source, Destination&& result, brigade_op op,
                   const brigade_call_options& options = CallOptions()) {
    return Combine(Run(brigade_allreduce), options, source, result, op);
  }
  /// Starts AllReduce.
  template <typename Source, typename Destination>
  Result StartAllReduce(const Source& source, Destination&& result, brigade_op op,
                        Operation* operation, const brigade_call_options& options = CallOptions()) {
    return Combine(Make(brigade_allreduce_start, operation), options, source, result, op);
  }
  /// Makes a persistent AllReduce.
  template <typename Source, typename Destination>
  Result PlanAllReduce(const Source& source, Destination&& result, brigade_op op, Plan* plan,
                       const brigade_call_options& options = CallOptions()) {
    return Combine(Make(brigade_plan_allreduce, plan), options, source, result, op);
  }

  /// AllReduce in place: see brigade_allreduce() with a NULL `source`.
  template <typename Buffer>
  Result AllReduceInPlace(Buffer&& buffer, brigade_op op,
                          const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Run(brigade_allreduce), options, buffer, op);
  }
  /// Starts AllReduceInPlace.
  template <typename Buffer>
  Result StartAllReduceInPlace(Buffer&& buffer, brigade_op op, Operation* operation,
                               const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Make(brigade_allreduce_start, operation), options, buffer, op);
  }
  /// Makes a persistent AllReduceInPlace.
  template <typename Buffer>
  Result PlanAllReduceInPlace(Buffer&& buffer, brigade_op op, Plan* plan,
                              const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Make(brigade_plan_allreduce, plan), options, buffer, op);
  }

  /// See brigade_reduce_scatter().
  template <typename Source, typename Destination>
  Result ReduceScatter(const Source& source, Destination&& result, brigade_op op,
                       const brigade_call_options& options = CallOptions()) {
    return Combine(Run(brigade_reduce_scatter), options, source, result, op);
  }
  /// Starts ReduceScatter.
  template <typename Source, typename Destination>
  Result StartReduceScatter(const Source& source, Destination&& result, brigade_op op,
                            Operation* operation,
                            const brigade_call_options& options = CallOptions()) {
    return Combine(Make(brigade_reduce_scatter_start, operation), options, source, result, op);
  }
  /// Makes a persistent ReduceScatter.
  template <typename Source, typename Destination>
  Result PlanReduceScatter(const Source& source, Destination&& result, brigade_op op, Plan* plan,
                           const brigade_call_options& options = CallOptions()) {
    return Combine(Make(brigade_plan_reduce_scatter, plan), options, source, result, op);
  }

  /// See brigade_reduce_scatterv().
  template <typename T, typename Destination>
  Result ReduceScatterV(const std::vector<View<T>>& blocks, Destination&& result, brigade_op op,
                        const brigade_call_options& options = CallOptions()) {
    return CombineBlocks(Run(brigade_reduce_scatterv), options, blocks, result, op);
  }
  /// Starts ReduceScatterV.
  template <typename T, typename Destination>
  Result StartReduceScatterV(const std::vector<View<T>>& blocks, Destination&& result,
                             brigade_op op, Operation* operation,
                             const brigade_call_options& options = CallOptions()) {
    return CombineBlocks(Make(brigade_reduce_scatterv_start, operation), options, blocks, result,
                         op);
  }
  /// Makes a persistent ReduceScatterV.
  template <typename T, typename Destination>
  Result PlanReduceScatterV(const std::vector<View<T>>& blocks, Destination&& result, brigade_op op,
                            Plan* plan, const brigade_call_options& options = CallOptions()) {
    return CombineBlocks(Make(brigade_plan_reduce_scatterv, plan), options, blocks, result, op);
  }

  /// See brigade_scan().
  template <typename Source, typename Destination>
  Result Scan(const Source& source, Destination&& result, brigade_op op,
              const brigade_call_options& options = CallOptions()) {
    return Combine(Run(brigade_scan), options, source, result, op);
  }
  /// Starts Scan.
  template <typename Source, typename Destination>
  Result StartScan(const Source& source, Destination&& result, brigade_op op, Operation* operation,
                   const brigade_call_options& options = CallOptions()) {
    return Combine(Make(brigade_scan_start, operation), options, source, result, op);
  }
  /// Makes a persistent Scan.
  template <typename Source, typename Destination>
  Result PlanScan(const Source& source, Destination&& result, brigade_op op, Plan* plan,
                  const brigade_call_options& options = CallOptions()) {
    return Combine(Make(brigade_plan_scan, plan), options, source, result, op);
  }

  /// Scan in place: see brigade_scan() with a NULL `source`.
  template <typename Buffer>
  Result ScanInPlace(Buffer&& buffer, brigade_op op,
                     const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Run(brigade_scan), options, buffer, op);
  }
  /// Starts ScanInPlace.
  template <typename Buffer>
  Result StartScanInPlace(Buffer&& buffer, brigade_op op, Operation* operation,
                          const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Make(brigade_scan_start, operation), options, buffer, op);
  }
  /// Makes a persistent ScanInPlace.
  template <typename Buffer>
  Result PlanScanInPlace(Buffer&& buffer, brigade_op op, Plan* plan,
                         const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Make(brigade_plan_scan, plan), options, buffer, op);
  }

  /// See brigade_exscan().
  template <typename Source, typename Destination>
  Result ExScan(const Source& source, Destination&& result, brigade_op op,
                const brigade_call_options& options = CallOptions()) {
    return Combine(Run(brigade_exscan), options, source, result, op);
  }
  /// Starts ExScan.
  template <typename Source, typename Destination>
  Result StartExScan(const Source& source, Destination&& result, brigade_op op,
                     Operation* operation, const brigade_call_options& options = CallOptions()) {
    return Combine(Make(brigade_exscan_start, operation), options, source, result, op);
  }
  /// Makes a persistent ExScan.
  template <typename Source, typename Destination>
  Result PlanExScan(const Source& source, Destination&& result, brigade_op op, Plan* plan,
                    const brigade_call_options& options = CallOptions()) {
    return Combine(Make(brigade_plan_exscan, plan), options, source, result, op);
  }

  /// ExScan in place: see brigade_exscan() with a NULL `source`.
  template <typename Buffer>
  Result ExScanInPlace(Buffer&& buffer, brigade_op op,
                       const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Run(brigade_exscan), options, buffer, op);
  }
  /// Starts ExScanInPlace.
  template <typename Buffer>
  Result StartExScanInPlace(Buffer&& buffer, brigade_op op, Operation* operation,
                            const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Make(brigade_exscan_start, operation), options, buffer, op);
  }
  /// Makes a persistent ExScanInPlace.
  template <typename Buffer>
  Result PlanExScanInPlace(Buffer&& buffer, brigade_op op, Plan* plan,
                           const brigade_call_options& options = CallOptions()) {
    return CombineInPlace(Make(brigade_plan_exscan, plan), options, buffer, op);
  }

 private:
  // Each function converts its arguments to C. `form` makes the call with the converted arguments.
  template <typename Form, typename Source, typename Destination, typename... Root>
  static Result Combine(const Form& form, const brigade_call_options& options, const Source& source,
                        Destination& result, brigade_op op, Root... root) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    const auto source_c = ToOperand(source);
    const auto result_c = ToOperand(result);
    return form(options, &source_c.matrix, &result_c.matrix, source_c.type, op, root...);
  }
  template <typename Form, typename Buffer, typename... Root>
  static Result CombineInPlace(const Form& form, const brigade_call_options& options,
                               Buffer& buffer, brigade_op op, Root... root) {
    static_assert(IsWritable<Buffer>());
    if (Result wrong = CheckFunction<Buffer>(op, options); !wrong) return wrong;
    const auto buffer_c = ToOperand(buffer);
    return form(options, nullptr, &buffer_c.matrix, buffer_c.type, op, root...);
  }
  template <typename Form, typename T, typename Destination>
  Result CombineBlocks(const Form& form, const brigade_call_options& options,
                       const std::vector<View<T>>& blocks, Destination& result, brigade_op op) {
    static_assert(IsWritable<Destination>() && HaveOneType<View<T>, Destination>());
    if (Result wrong = CheckFunction<Destination>(op, options); !wrong) return wrong;
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto blocks_c = BlocksToC(blocks);
    const auto result_c = ToOperand(result);
    return form(options, blocks_c.data(), sizeof(brigade_matrix), &result_c.matrix, result_c.type,
                op);
  }
};

}  // namespace detail
}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_REDUCTIONS_HPP_

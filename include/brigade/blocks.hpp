/// @file
/// Brigade for C++: calls that move a block of each rank.

#ifndef BRIGADE_BLOCKS_HPP_
#define BRIGADE_BLOCKS_HPP_

#include <vector>

#include "brigade/brigade.h"
#include "brigade/engine.hpp"
#include "brigade/group_handle.hpp"
#include "brigade/operation.hpp"
#include "brigade/view.hpp"

namespace brigade {
inline namespace v1 {

/// The calls of blocks.h. Programs use Group.
class BlockCalls : public GroupHandle {
 public:
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
    return Begin(operation, [&](brigade_operation** started) {
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
    return Prepare(plan, [&](brigade_plan** made) {
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
    return Begin(operation, [&](brigade_operation** started) {
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
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_allgatherv(get(), &source_c.matrix, blocks_c.data(),
                                     sizeof(brigade_matrix), source_c.type, &options, made);
    });
  }
};

}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_BLOCKS_HPP_

/// @file
/// Brigade for C++: collective calls that gather, scatter or exchange one block per rank.

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
namespace detail {

/// The calls of blocks.h. Programs make these calls on a brigade::Group.
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

  /// See brigade_allgatherv(); `blocks` has one view per rank of the scope.
  template <typename Source, typename T>
  Result AllGatherV(const Source& source, const std::vector<View<T>>& blocks,
                    const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<View<T>>() && HaveOneType<const Source, View<T>>());
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
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
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
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
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto source_c = ToC(source);
    const auto blocks_c = BlocksToC(blocks);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_allgatherv(get(), &source_c.matrix, blocks_c.data(),
                                     sizeof(brigade_matrix), source_c.type, &options, made);
    });
  }

  /// See brigade_gather().
  template <typename Source, typename Destination>
  Result Gather(const Source& source, Destination&& result, int root,
                const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return brigade_gather(get(), &source_c.matrix, &result_c.matrix, source_c.type, root, &options);
  }
  /// Starts Gather. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source, typename Destination>
  Result StartGather(const Source& source, Destination&& result, int root, Operation* operation,
                     const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_gather_start(get(), &source_c.matrix, &result_c.matrix, source_c.type, root,
                                  &options, started);
    });
  }
  /// Plans Gather. `plan` is replaced.
  template <typename Source, typename Destination>
  Result PlanGather(const Source& source, Destination&& result, int root, Plan* plan,
                    const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_gather(get(), &source_c.matrix, &result_c.matrix, source_c.type, root,
                                 &options, made);
    });
  }

  /// See brigade_gatherv(); `blocks` has one view per rank of the scope.
  template <typename Source, typename T>
  Result GatherV(const Source& source, const std::vector<View<T>>& blocks, int root,
                 const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<View<T>>() && HaveOneType<const Source, View<T>>());
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto source_c = ToC(source);
    const auto blocks_c = BlocksToC(blocks);
    return brigade_gatherv(get(), &source_c.matrix, blocks_c.data(), sizeof(brigade_matrix),
                           source_c.type, root, &options);
  }
  /// Starts GatherV. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source, typename T>
  Result StartGatherV(const Source& source, const std::vector<View<T>>& blocks, int root,
                      Operation* operation, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<View<T>>() && HaveOneType<const Source, View<T>>());
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto source_c = ToC(source);
    const auto blocks_c = BlocksToC(blocks);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_gatherv_start(get(), &source_c.matrix, blocks_c.data(), sizeof(brigade_matrix),
                                   source_c.type, root, &options, started);
    });
  }
  /// Plans GatherV. `plan` is replaced.
  template <typename Source, typename T>
  Result PlanGatherV(const Source& source, const std::vector<View<T>>& blocks, int root, Plan* plan,
                     const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<View<T>>() && HaveOneType<const Source, View<T>>());
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto source_c = ToC(source);
    const auto blocks_c = BlocksToC(blocks);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_gatherv(get(), &source_c.matrix, blocks_c.data(), sizeof(brigade_matrix),
                                  source_c.type, root, &options, made);
    });
  }

  /// See brigade_scatter().
  template <typename Source, typename Destination>
  Result Scatter(const Source& source, Destination&& result, int root,
                 const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return brigade_scatter(get(), &source_c.matrix, &result_c.matrix, result_c.type, root,
                           &options);
  }
  /// Starts Scatter. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source, typename Destination>
  Result StartScatter(const Source& source, Destination&& result, int root, Operation* operation,
                      const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_scatter_start(get(), &source_c.matrix, &result_c.matrix, result_c.type, root,
                                   &options, started);
    });
  }
  /// Plans Scatter. `plan` is replaced.
  template <typename Source, typename Destination>
  Result PlanScatter(const Source& source, Destination&& result, int root, Plan* plan,
                     const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_scatter(get(), &source_c.matrix, &result_c.matrix, result_c.type, root,
                                  &options, made);
    });
  }

  /// See brigade_scatterv(); `blocks` has one view per rank of the scope.
  template <typename T, typename Destination>
  Result ScatterV(const std::vector<View<T>>& blocks, Destination&& result, int root,
                  const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<View<T>, Destination>());
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto blocks_c = BlocksToC(blocks);
    const auto result_c = ToC(result);
    return brigade_scatterv(get(), blocks_c.data(), sizeof(brigade_matrix), &result_c.matrix,
                            result_c.type, root, &options);
  }
  /// Starts ScatterV. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename T, typename Destination>
  Result StartScatterV(const std::vector<View<T>>& blocks, Destination&& result, int root,
                       Operation* operation, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<View<T>, Destination>());
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto blocks_c = BlocksToC(blocks);
    const auto result_c = ToC(result);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_scatterv_start(get(), blocks_c.data(), sizeof(brigade_matrix),
                                    &result_c.matrix, result_c.type, root, &options, started);
    });
  }
  /// Plans ScatterV. `plan` is replaced.
  template <typename T, typename Destination>
  Result PlanScatterV(const std::vector<View<T>>& blocks, Destination&& result, int root,
                      Plan* plan, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<View<T>, Destination>());
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto blocks_c = BlocksToC(blocks);
    const auto result_c = ToC(result);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_scatterv(get(), blocks_c.data(), sizeof(brigade_matrix), &result_c.matrix,
                                   result_c.type, root, &options, made);
    });
  }

  /// See brigade_alltoall().
  template <typename Source, typename Destination>
  Result AllToAll(const Source& source, Destination&& result,
                  const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return brigade_alltoall(get(), &source_c.matrix, &result_c.matrix, source_c.type, &options);
  }
  /// Starts AllToAll. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename Source, typename Destination>
  Result StartAllToAll(const Source& source, Destination&& result, Operation* operation,
                       const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_alltoall_start(get(), &source_c.matrix, &result_c.matrix, source_c.type,
                                    &options, started);
    });
  }
  /// Plans AllToAll. `plan` is replaced.
  template <typename Source, typename Destination>
  Result PlanAllToAll(const Source& source, Destination&& result, Plan* plan,
                      const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_alltoall(get(), &source_c.matrix, &result_c.matrix, source_c.type,
                                   &options, made);
    });
  }

  /// See brigade_alltoallv(); `sent` and `received` have one view per rank of the scope.
  template <typename S, typename T>
  Result AllToAllV(const std::vector<View<S>>& sent, const std::vector<View<T>>& received,
                   const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<View<T>>() && HaveOneType<View<S>, View<T>>());
    if (Result wrong = CheckNumber("sent", sent.size(), options); !wrong) return wrong;
    if (Result wrong = CheckNumber("received", received.size(), options); !wrong) return wrong;
    const auto sent_c = BlocksToC(sent);
    const auto received_c = BlocksToC(received);
    return brigade_alltoallv(get(), sent_c.data(), received_c.data(), sizeof(brigade_matrix),
                             TypeOf<T>(), &options);
  }
  /// Starts AllToAllV. Returns #BRIGADE_INVALID_ARGUMENT, without effect, if `operation` is still
  /// pending or was not waited for.
  template <typename S, typename T>
  Result StartAllToAllV(const std::vector<View<S>>& sent, const std::vector<View<T>>& received,
                        Operation* operation, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<View<T>>() && HaveOneType<View<S>, View<T>>());
    if (Result wrong = CheckNumber("sent", sent.size(), options); !wrong) return wrong;
    if (Result wrong = CheckNumber("received", received.size(), options); !wrong) return wrong;
    const auto sent_c = BlocksToC(sent);
    const auto received_c = BlocksToC(received);
    return Begin(operation, [&](brigade_operation** started) {
      return brigade_alltoallv_start(get(), sent_c.data(), received_c.data(),
                                     sizeof(brigade_matrix), TypeOf<T>(), &options, started);
    });
  }
  /// Plans AllToAllV. `plan` is replaced.
  template <typename S, typename T>
  Result PlanAllToAllV(const std::vector<View<S>>& sent, const std::vector<View<T>>& received,
                       Plan* plan, const brigade_call_options& options = CallOptions()) {
    static_assert(IsWritable<View<T>>() && HaveOneType<View<S>, View<T>>());
    if (Result wrong = CheckNumber("sent", sent.size(), options); !wrong) return wrong;
    if (Result wrong = CheckNumber("received", received.size(), options); !wrong) return wrong;
    const auto sent_c = BlocksToC(sent);
    const auto received_c = BlocksToC(received);
    return Prepare(plan, [&](brigade_plan** made) {
      return brigade_plan_alltoallv(get(), sent_c.data(), received_c.data(), sizeof(brigade_matrix),
                                    TypeOf<T>(), &options, made);
    });
  }
};

}  // namespace detail
}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_BLOCKS_HPP_

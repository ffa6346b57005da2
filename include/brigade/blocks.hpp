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

/// The methods of brigade::Group for the calls of blocks.h. An argument of type
/// `std::vector<View<T>>` has one view per rank of the scope.
class BlockCalls : public GroupHandle {
 public:
  /// See brigade_allgather().
  template <typename Source, typename Destination>
  Result AllGather(const Source& source, Destination&& result,
                   const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Run(brigade_allgather), options, source, result);
  }
  /// Starts AllGather.
  template <typename Source, typename Destination>
  Result StartAllGather(const Source& source, Destination&& result, Operation* operation,
                        const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Make(brigade_allgather_start, operation), options, source, result);
  }
  /// Makes a persistent AllGather.
  template <typename Source, typename Destination>
  Result PlanAllGather(const Source& source, Destination&& result, Plan* plan,
                       const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Make(brigade_plan_allgather, plan), options, source, result);
  }

  /// See brigade_allgatherv().
  template <typename Source, typename T>
  Result AllGatherV(const Source& source, const std::vector<View<T>>& blocks,
                    const brigade_call_options& options = CallOptions()) {
    return MatrixToBlocks(Run(brigade_allgatherv), options, source, blocks);
  }
  /// Starts AllGatherV.
  template <typename Source, typename T>
  Result StartAllGatherV(const Source& source, const std::vector<View<T>>& blocks,
                         Operation* operation,
                         const brigade_call_options& options = CallOptions()) {
    return MatrixToBlocks(Make(brigade_allgatherv_start, operation), options, source, blocks);
  }
  /// Makes a persistent AllGatherV.
  template <typename Source, typename T>
  Result PlanAllGatherV(const Source& source, const std::vector<View<T>>& blocks, Plan* plan,
                        const brigade_call_options& options = CallOptions()) {
    return MatrixToBlocks(Make(brigade_plan_allgatherv, plan), options, source, blocks);
  }

  /// See brigade_gather().
  template <typename Source, typename Destination>
  Result Gather(const Source& source, Destination&& result, int root,
                const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Run(brigade_gather), options, source, result, root);
  }
  /// Starts Gather.
  template <typename Source, typename Destination>
  Result StartGather(const Source& source, Destination&& result, int root, Operation* operation,
                     const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Make(brigade_gather_start, operation), options, source, result, root);
  }
  /// Makes a persistent Gather.
  template <typename Source, typename Destination>
  Result PlanGather(const Source& source, Destination&& result, int root, Plan* plan,
                    const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Make(brigade_plan_gather, plan), options, source, result, root);
  }

  /// See brigade_gatherv().
  template <typename Source, typename T>
  Result GatherV(const Source& source, const std::vector<View<T>>& blocks, int root,
                 const brigade_call_options& options = CallOptions()) {
    return MatrixToBlocks(Run(brigade_gatherv), options, source, blocks, root);
  }
  /// Starts GatherV.
  template <typename Source, typename T>
  Result StartGatherV(const Source& source, const std::vector<View<T>>& blocks, int root,
                      Operation* operation, const brigade_call_options& options = CallOptions()) {
    return MatrixToBlocks(Make(brigade_gatherv_start, operation), options, source, blocks, root);
  }
  /// Makes a persistent GatherV.
  template <typename Source, typename T>
  Result PlanGatherV(const Source& source, const std::vector<View<T>>& blocks, int root, Plan* plan,
                     const brigade_call_options& options = CallOptions()) {
    return MatrixToBlocks(Make(brigade_plan_gatherv, plan), options, source, blocks, root);
  }

  /// See brigade_scatter().
  template <typename Source, typename Destination>
  Result Scatter(const Source& source, Destination&& result, int root,
                 const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Run(brigade_scatter), options, source, result, root);
  }
  /// Starts Scatter.
  template <typename Source, typename Destination>
  Result StartScatter(const Source& source, Destination&& result, int root, Operation* operation,
                      const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Make(brigade_scatter_start, operation), options, source, result, root);
  }
  /// Makes a persistent Scatter.
  template <typename Source, typename Destination>
  Result PlanScatter(const Source& source, Destination&& result, int root, Plan* plan,
                     const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Make(brigade_plan_scatter, plan), options, source, result, root);
  }

  /// See brigade_scatterv().
  template <typename T, typename Destination>
  Result ScatterV(const std::vector<View<T>>& blocks, Destination&& result, int root,
                  const brigade_call_options& options = CallOptions()) {
    return BlocksToMatrix(Run(brigade_scatterv), options, blocks, result, root);
  }
  /// Starts ScatterV.
  template <typename T, typename Destination>
  Result StartScatterV(const std::vector<View<T>>& blocks, Destination&& result, int root,
                       Operation* operation, const brigade_call_options& options = CallOptions()) {
    return BlocksToMatrix(Make(brigade_scatterv_start, operation), options, blocks, result, root);
  }
  /// Makes a persistent ScatterV.
  template <typename T, typename Destination>
  Result PlanScatterV(const std::vector<View<T>>& blocks, Destination&& result, int root,
                      Plan* plan, const brigade_call_options& options = CallOptions()) {
    return BlocksToMatrix(Make(brigade_plan_scatterv, plan), options, blocks, result, root);
  }

  /// See brigade_alltoall().
  template <typename Source, typename Destination>
  Result AllToAll(const Source& source, Destination&& result,
                  const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Run(brigade_alltoall), options, source, result);
  }
  /// Starts AllToAll.
  template <typename Source, typename Destination>
  Result StartAllToAll(const Source& source, Destination&& result, Operation* operation,
                       const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Make(brigade_alltoall_start, operation), options, source, result);
  }
  /// Makes a persistent AllToAll.
  template <typename Source, typename Destination>
  Result PlanAllToAll(const Source& source, Destination&& result, Plan* plan,
                      const brigade_call_options& options = CallOptions()) {
    return MatrixToMatrix(Make(brigade_plan_alltoall, plan), options, source, result);
  }

  /// See brigade_alltoallv().
  template <typename S, typename T>
  Result AllToAllV(const std::vector<View<S>>& sent, const std::vector<View<T>>& received,
                   const brigade_call_options& options = CallOptions()) {
    return BlocksToBlocks(Run(brigade_alltoallv), options, sent, received);
  }
  /// Starts AllToAllV.
  template <typename S, typename T>
  Result StartAllToAllV(const std::vector<View<S>>& sent, const std::vector<View<T>>& received,
                        Operation* operation, const brigade_call_options& options = CallOptions()) {
    return BlocksToBlocks(Make(brigade_alltoallv_start, operation), options, sent, received);
  }
  /// Makes a persistent AllToAllV.
  template <typename S, typename T>
  Result PlanAllToAllV(const std::vector<View<S>>& sent, const std::vector<View<T>>& received,
                       Plan* plan, const brigade_call_options& options = CallOptions()) {
    return BlocksToBlocks(Make(brigade_plan_alltoallv, plan), options, sent, received);
  }

 private:
  // Each function converts its arguments to C. `form` makes the call with the converted arguments.
  template <typename Form, typename Source, typename Destination, typename... Root>
  static Result MatrixToMatrix(const Form& form, const brigade_call_options& options,
                               const Source& source, Destination& result, Root... root) {
    static_assert(IsWritable<Destination>() && HaveOneType<const Source, Destination>());
    const auto source_c = ToC(source);
    const auto result_c = ToC(result);
    return form(options, &source_c.matrix, &result_c.matrix, source_c.type, root...);
  }
  template <typename Form, typename Source, typename T, typename... Root>
  Result MatrixToBlocks(const Form& form, const brigade_call_options& options, const Source& source,
                        const std::vector<View<T>>& blocks, Root... root) {
    static_assert(IsWritable<View<T>>() && HaveOneType<const Source, View<T>>());
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto source_c = ToC(source);
    const auto blocks_c = BlocksToC(blocks);
    return form(options, &source_c.matrix, blocks_c.data(), sizeof(brigade_matrix), source_c.type,
                root...);
  }
  template <typename Form, typename T, typename Destination>
  Result BlocksToMatrix(const Form& form, const brigade_call_options& options,
                        const std::vector<View<T>>& blocks, Destination& result, int root) {
    static_assert(IsWritable<Destination>() && HaveOneType<View<T>, Destination>());
    if (Result wrong = CheckNumber("blocks", blocks.size(), options); !wrong) return wrong;
    const auto blocks_c = BlocksToC(blocks);
    const auto result_c = ToC(result);
    return form(options, blocks_c.data(), sizeof(brigade_matrix), &result_c.matrix, result_c.type,
                root);
  }
  template <typename Form, typename S, typename T>
  Result BlocksToBlocks(const Form& form, const brigade_call_options& options,
                        const std::vector<View<S>>& sent, const std::vector<View<T>>& received) {
    static_assert(IsWritable<View<T>>() && HaveOneType<View<S>, View<T>>());
    if (Result wrong = CheckNumber("sent", sent.size(), options); !wrong) return wrong;
    if (Result wrong = CheckNumber("received", received.size(), options); !wrong) return wrong;
    const auto sent_c = BlocksToC(sent);
    const auto received_c = BlocksToC(received);
    return form(options, sent_c.data(), received_c.data(), sizeof(brigade_matrix), TypeOf<T>());
  }
};

}  // namespace detail
}  // namespace v1
}  // namespace brigade

#endif  // BRIGADE_BLOCKS_HPP_

/// @file
/// Brigade: collective calls that gather, scatter or exchange one block per rank. calls.h has what
/// all calls have in common.

#ifndef BRIGADE_BLOCKS_H_
#define BRIGADE_BLOCKS_H_

#include "brigade/group.h"
#include "brigade/operation.h"
#include "brigade/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @name Blocks
/// Calls without a `v` move blocks of equal numbers of elements. Shapes and `ld` of blocks may
/// differ between ranks. The matrices of a call must not overlap, except that the matrix that holds
/// this rank's block alone may be its place among the blocks: nothing is copied then. In a gather
/// or scatter, a rank that calls late may delay others.
/// @{

/// Gathers the matrix of each rank of the scope on all of them: the paper's multi-broadcast of
/// equal blocks.
///
/// @param group    of the call
/// @param source   this rank's block; NULL: in place, the block is already in `result`. The number
///                 of elements is equal on all ranks.
/// @param result   has n * c columns for n ranks: block q is in columns q * c to (q + 1) * c - 1
/// @param type     of the elements; equal on all ranks
/// @param options  NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_allgather(brigade_group* group, const brigade_matrix* source,
                                                const brigade_matrix* result, brigade_type type,
                                                const brigade_call_options* options);
/// Starts brigade_allgather().
BRIGADE_EXPORT brigade_status brigade_allgather_start(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, const brigade_call_options* options, brigade_operation** operation);
/// Plans brigade_allgather(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_allgather(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, const brigade_call_options* options, brigade_plan** plan);

/// Gathers the matrix of each rank of the scope, whose sizes may differ, on all of them: the
/// paper's multi-broadcast.
///
/// @param group         of the call
/// @param source        this rank's block; NULL: in place, the block is already in `blocks`
/// @param blocks        one matrix per rank of the scope. The number of elements of block q is
///                      equal on all ranks. The array may be freed afterwards.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param type          of the elements; equal on all ranks
/// @param options       NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_allgatherv(brigade_group* group, const brigade_matrix* source,
                                                 const brigade_matrix* blocks, size_t matrix_bytes,
                                                 brigade_type type,
                                                 const brigade_call_options* options);
/// Starts brigade_allgatherv().
BRIGADE_EXPORT brigade_status brigade_allgatherv_start(brigade_group* group,
                                                       const brigade_matrix* source,
                                                       const brigade_matrix* blocks,
                                                       size_t matrix_bytes, brigade_type type,
                                                       const brigade_call_options* options,
                                                       brigade_operation** operation);
/// Plans brigade_allgatherv(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_allgatherv(brigade_group* group,
                                                      const brigade_matrix* source,
                                                      const brigade_matrix* blocks,
                                                      size_t matrix_bytes, brigade_type type,
                                                      const brigade_call_options* options,
                                                      brigade_plan** plan);

/// Gathers the matrix of each rank of the scope at the root.
///
/// @param group    of the call
/// @param source   this rank's block; NULL: in place, at the root only, whose block is already in
///                 `result`. The number of elements is equal on all ranks.
/// @param result   at the root: has n * c columns for n ranks; block q is in columns q * c to
///                 (q + 1) * c - 1. Other ranks: ignored, may be NULL.
/// @param type     of the elements; elements of equal size on all ranks
/// @param root     a rank of the scope; equal on all ranks
/// @param options  NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_gather(brigade_group* group, const brigade_matrix* source,
                                             const brigade_matrix* result, brigade_type type,
                                             int root, const brigade_call_options* options);
/// Starts brigade_gather().
BRIGADE_EXPORT brigade_status brigade_gather_start(brigade_group* group,
                                                   const brigade_matrix* source,
                                                   const brigade_matrix* result, brigade_type type,
                                                   int root, const brigade_call_options* options,
                                                   brigade_operation** operation);
/// Plans brigade_gather(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_gather(brigade_group* group,
                                                  const brigade_matrix* source,
                                                  const brigade_matrix* result, brigade_type type,
                                                  int root, const brigade_call_options* options,
                                                  brigade_plan** plan);

/// Gathers the matrix of each rank of the scope, whose sizes may differ, at the root.
///
/// @param group         of the call
/// @param source        this rank's block; NULL: in place, the block is already in `blocks`
/// @param blocks        on all ranks: one matrix per rank of the scope. The number of elements of
///                      block q is equal on all ranks. The root writes all, but its own only if
///                      there is a `source`. Other ranks read their own, if there is no `source`;
///                      `data` of blocks that a rank neither reads nor writes may be NULL. The
///                      array may be freed afterwards.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param type          of the elements; elements of equal size on all ranks
/// @param root          a rank of the scope; equal on all ranks
/// @param options       NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_gatherv(brigade_group* group, const brigade_matrix* source,
                                              const brigade_matrix* blocks, size_t matrix_bytes,
                                              brigade_type type, int root,
                                              const brigade_call_options* options);
/// Starts brigade_gatherv().
BRIGADE_EXPORT brigade_status brigade_gatherv_start(brigade_group* group,
                                                    const brigade_matrix* source,
                                                    const brigade_matrix* blocks,
                                                    size_t matrix_bytes, brigade_type type,
                                                    int root, const brigade_call_options* options,
                                                    brigade_operation** operation);
/// Plans brigade_gatherv(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_gatherv(brigade_group* group,
                                                   const brigade_matrix* source,
                                                   const brigade_matrix* blocks,
                                                   size_t matrix_bytes, brigade_type type, int root,
                                                   const brigade_call_options* options,
                                                   brigade_plan** plan);

/// Sends each rank of the scope its block of the root's matrix.
///
/// @param group    of the call
/// @param source   at the root: has n * c columns for n ranks; block q is in columns q * c to
///                 (q + 1) * c - 1. Stays unchanged. Other ranks: ignored, may be NULL.
/// @param result   this rank's block; NULL: in place, at the root only, whose block stays in
///                 `source`. The number of elements is equal on all ranks.
/// @param type     of the elements; elements of equal size on all ranks
/// @param root     a rank of the scope; equal on all ranks
/// @param options  NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_scatter(brigade_group* group, const brigade_matrix* source,
                                              const brigade_matrix* result, brigade_type type,
                                              int root, const brigade_call_options* options);
/// Starts brigade_scatter().
BRIGADE_EXPORT brigade_status brigade_scatter_start(brigade_group* group,
                                                    const brigade_matrix* source,
                                                    const brigade_matrix* result, brigade_type type,
                                                    int root, const brigade_call_options* options,
                                                    brigade_operation** operation);
/// Plans brigade_scatter(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_scatter(brigade_group* group,
                                                   const brigade_matrix* source,
                                                   const brigade_matrix* result, brigade_type type,
                                                   int root, const brigade_call_options* options,
                                                   brigade_plan** plan);

/// Sends each rank of the scope its block at the root, for blocks of different sizes.
///
/// @param group         of the call
/// @param blocks        on all ranks: one matrix per rank of the scope. The number of elements of
///                      block q is equal on all ranks. The root reads each. Other ranks write their
///                      own, if there is no `result`; `data` of blocks that a rank neither reads
///                      nor writes may be NULL. The array may be freed afterwards.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param result        this rank's block; NULL: in place, the block is in `blocks`
/// @param type          of the elements; elements of equal size on all ranks
/// @param root          a rank of the scope; equal on all ranks
/// @param options       NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_scatterv(brigade_group* group, const brigade_matrix* blocks,
                                               size_t matrix_bytes, const brigade_matrix* result,
                                               brigade_type type, int root,
                                               const brigade_call_options* options);
/// Starts brigade_scatterv().
BRIGADE_EXPORT brigade_status
brigade_scatterv_start(brigade_group* group, const brigade_matrix* blocks, size_t matrix_bytes,
                       const brigade_matrix* result, brigade_type type, int root,
                       const brigade_call_options* options, brigade_operation** operation);
/// Plans brigade_scatterv(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_scatterv(brigade_group* group,
                                                    const brigade_matrix* blocks,
                                                    size_t matrix_bytes,
                                                    const brigade_matrix* result, brigade_type type,
                                                    int root, const brigade_call_options* options,
                                                    brigade_plan** plan);

/// Sends each rank of the scope a block, and receives a block from each.
///
/// @param group    of the call
/// @param source   has n * c columns for n ranks: block q, in columns q * c to (q + 1) * c - 1,
///                 goes to rank q. Stays unchanged. The number of elements is equal on all ranks.
/// @param result   as many elements as `source`, and n * d columns: block q, in columns q * d to
///                 (q + 1) * d - 1, comes from rank q
/// @param type     of the elements; elements of equal size on all ranks
/// @param options  NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_alltoall(brigade_group* group, const brigade_matrix* source,
                                               const brigade_matrix* result, brigade_type type,
                                               const brigade_call_options* options);
/// Starts brigade_alltoall().
BRIGADE_EXPORT brigade_status brigade_alltoall_start(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, const brigade_call_options* options, brigade_operation** operation);
/// Plans brigade_alltoall(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_alltoall(brigade_group* group,
                                                    const brigade_matrix* source,
                                                    const brigade_matrix* result, brigade_type type,
                                                    const brigade_call_options* options,
                                                    brigade_plan** plan);

/// Sends each rank of the scope a block, and receives a block from each, for blocks of different
/// sizes.
///
/// @param group         of the call
/// @param sent          one matrix per rank of the scope: block q goes to rank q. The array may be
///                      freed afterwards.
/// @param received      one matrix per rank of the scope: block q comes from rank q, and has as
///                      many elements as the block that rank q sends. The array may be freed
///                      afterwards.
/// @param matrix_bytes  sizeof(brigade_matrix), of both arrays
/// @param type          of the elements; elements of equal size on all ranks
/// @param options       NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_alltoallv(brigade_group* group, const brigade_matrix* sent,
                                                const brigade_matrix* received, size_t matrix_bytes,
                                                brigade_type type,
                                                const brigade_call_options* options);
/// Starts brigade_alltoallv().
BRIGADE_EXPORT brigade_status brigade_alltoallv_start(brigade_group* group,
                                                      const brigade_matrix* sent,
                                                      const brigade_matrix* received,
                                                      size_t matrix_bytes, brigade_type type,
                                                      const brigade_call_options* options,
                                                      brigade_operation** operation);
/// Plans brigade_alltoallv(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_alltoallv(brigade_group* group,
                                                     const brigade_matrix* sent,
                                                     const brigade_matrix* received,
                                                     size_t matrix_bytes, brigade_type type,
                                                     const brigade_call_options* options,
                                                     brigade_plan** plan);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_BLOCKS_H_ */

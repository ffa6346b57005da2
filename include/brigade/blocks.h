/// @file
/// Brigade: collective calls that gather, scatter or exchange one block per rank. calls.h has the
/// rules for all calls.

#ifndef BRIGADE_BLOCKS_H_
#define BRIGADE_BLOCKS_H_

#include "brigade/group.h"
#include "brigade/operation.h"
#include "brigade/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @name Blocks
/// In functions whose names do not end in `v`, all blocks have the same number of elements. A
/// matrix of n blocks has n * c columns, where c is any number: block q is columns q * c to
/// q * c + c - 1. The numbers of rows and columns of a block may differ between ranks. For an MPI
/// buffer with `count` elements for each of n ranks, pass the matrix `{buffer, count, n, 0}`. For
/// one block, pass `{block, count, 1, 0}`. In functions whose names end in `v`, pass
/// `{buffer + displacement, count, 1, 0}` for a block that has a count and a displacement in MPI.
///
/// The matrices of a call must not overlap. There are two exceptions: `source` of a gather or
/// all-gather may be this rank's block in the result, and `result` of a scatter may be this rank's
/// block in the root's matrix. In these cases the block is not copied. In a gather or scatter, a
/// rank that calls late can delay other ranks. A rank other than the root can return from a gather
/// before the root has called the function.
/// @{

/// Gathers the matrices of all ranks of the scope on every rank of the scope, like MPI_Allgather.
/// The paper on the Fujitsu AP3000 calls this pattern multi-broadcast.
///
/// @param group    of the call
/// @param source   this rank's block; NULL: in place, the block is already in `result`
/// @param result   a block for each rank of the scope
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

/// Gathers the matrices of all ranks of the scope on every rank of the scope, like MPI_Allgatherv.
/// The sizes of the matrices may differ. The paper on the Fujitsu AP3000 calls this pattern
/// multi-broadcast.
///
/// @param group         of the call
/// @param source        this rank's block; NULL: in place, the block is already in `blocks`
/// @param blocks        one matrix per rank of the scope. The number of elements of block q is
///                      equal on all ranks. The caller may free the array `blocks` when the
///                      function has returned.
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

/// Gathers the matrices of all ranks of the scope at the root, like MPI_Gather.
///
/// @param group    of the call
/// @param source   this rank's block. At the root, NULL means that the root's block is already in
///                 `result`; on other ranks, NULL is an error.
/// @param result   at the root: a block for each rank of the scope. On other ranks: ignored, may be
///                 NULL.
/// @param type     of the elements; all ranks pass types of the same size
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

/// Gathers the matrices of all ranks of the scope at the root, like MPI_Gatherv. The sizes of the
/// matrices may differ.
///
/// @param group         of the call
/// @param source        this rank's block. NULL, on any rank, means that the block is already in
///                      the entry of `blocks` for this rank.
/// @param blocks        on all ranks: one matrix per rank of the scope. The number of elements of
///                      block q is equal on all ranks. At the root, the call writes to the blocks
///                      of all other ranks, and if `source` is not NULL, also to the root's own
///                      block. The field `data` may be NULL in blocks that this rank neither reads
///                      nor writes. The caller may free the array `blocks` when the function has
///                      returned.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param type          of the elements; all ranks pass types of the same size
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

/// Distributes the blocks of the root's matrix, like MPI_Scatter: rank q of the scope gets block q.
///
/// @param group    of the call
/// @param source   at the root: a block for each rank of the scope; stays unchanged. On other
///                 ranks: ignored, may be NULL.
/// @param result   gets this rank's block. At the root, NULL leaves the root's block in `source`;
///                 on other ranks, NULL is an error.
/// @param type     of the elements; all ranks pass types of the same size
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

/// Distributes the root's blocks, like MPI_Scatterv: rank q of the scope gets block q. The sizes of
/// the blocks may differ.
///
/// @param group         of the call
/// @param blocks        on all ranks: one matrix per rank of the scope. The number of elements of
///                      block q is equal on all ranks. At the root, the call reads every block. The
///                      field `data` may be NULL in blocks that this rank neither reads nor writes.
///                      The caller may free the array `blocks` when the function has returned.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param result        gets this rank's block. NULL, on any rank, means that the entry of
///                      `blocks` for this rank gets the block.
/// @param type          of the elements; all ranks pass types of the same size
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

/// Sends a block to each rank of the scope, and receives a block from each rank, like MPI_Alltoall.
///
/// @param group    of the call
/// @param source   a block for each rank of the scope: block q goes to rank q. Stays unchanged.
/// @param result   a block for each rank of the scope: block q comes from rank q. The call has
///                 no equivalent of MPI_IN_PLACE: `source` and `result` must not be NULL.
/// @param type     of the elements; all ranks pass types of the same size
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

/// Sends a block to each rank of the scope, and receives a block from each rank, like
/// MPI_Alltoallv. The sizes of the blocks may differ.
///
/// @param group         of the call
/// @param sent          one matrix per rank of the scope: block q goes to rank q. The caller may
///                      free the array `sent` when the function has returned.
/// @param received      one matrix per rank of the scope: block q comes from rank q, and has as
///                      many elements as the block that rank q sends to this rank. The caller may
///                      free the array `received` when the function has returned. The call has no
///                      equivalent of MPI_IN_PLACE.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param type          of the elements; all ranks pass types of the same size
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

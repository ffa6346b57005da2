/// @file
/// Brigade: collective calls that gather, scatter or exchange one block per rank. calls.h has the
/// rules for all calls, and explains the forms `_start` and `brigade_plan_`.

#ifndef BRIGADE_BLOCKS_H_
#define BRIGADE_BLOCKS_H_

#include "brigade/group.h"
#include "brigade/operation.h"
#include "brigade/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @name Blocks
/// These calls are collective over the scope (brigade_call_options::scope): the group, or a row or
/// column of its grid. Below, n is the number of ranks of the scope, and rank q is the rank with
/// number q in the scope. A block is one rank's part of a matrix. When a function has returned, the
/// caller may free the options and the arrays of brigade_matrix; calls.h says how long the memory
/// of the matrices must stay valid. `root` must be equal on all ranks. In an all-gather `type` must
/// be equal on all ranks; in all other calls the ranks must pass types of the same size.
///
/// In functions without `v`, such as brigade_gather(), all blocks have the same number of elements.
/// Block q of a matrix with n * c columns is columns q * c to q * c + c - 1. Ranks may pass blocks
/// of different shapes, if the number of elements is equal. For an MPI buffer with `count` elements
/// for each rank, pass the matrix `{buffer, count, n, 0}`. For a buffer with one block, pass
/// `{buffer, count, 1, 0}`.
///
/// In functions with `v`, such as brigade_gatherv(), blocks may have different numbers of elements.
/// The functions take arrays of n matrices: matrix q is block q. For a block that has a count and a
/// displacement in MPI, pass `{buffer + displacement, count, 1, 0}`.
///
/// The matrices of a call must not overlap, with two exceptions:
///
/// - `source` of a gather or all-gather may be the memory of this rank's block in the result.
/// - At the root, `result` of a scatter may be the memory of the root's own block in `source` or
///   `blocks`.
///
/// In these two cases the call does not copy this rank's own block.
///
/// In a gather or scatter, a rank that calls late can delay other ranks. A rank other than the root
/// can return from a gather before the root has called the function.
/// @{

/// Gathers the blocks of all ranks on every rank, like MPI_Allgather. The paper on the Fujitsu
/// AP3000 calls this pattern multi-broadcast.
///
/// @param group    of the call
/// @param source   this rank's block; NULL: in place, the block is already in `result`
/// @param result   receives the blocks of all ranks: block q comes from rank q
/// @param type     of the elements
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_allgather(brigade_group* group, const brigade_matrix* source,
                                                const brigade_matrix* result, brigade_type type,
                                                const brigade_call_options* options);
/// Starts brigade_allgather().
BRIGADE_EXPORT brigade_status brigade_allgather_start(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, const brigade_call_options* options, brigade_operation** operation);
/// Makes a persistent brigade_allgather().
BRIGADE_EXPORT brigade_status brigade_plan_allgather(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, const brigade_call_options* options, brigade_plan** plan);

/// Like brigade_allgather(), with blocks of different sizes, like MPI_Allgatherv.
///
/// @param group         of the call
/// @param source        this rank's block; NULL: in place, the block is already in `blocks`
/// @param blocks        array: matrix q receives the block of rank q, and must have the same number
///                      of elements on all ranks
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param type          of the elements
/// @param options       NULL for the defaults
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
/// Makes a persistent brigade_allgatherv().
BRIGADE_EXPORT brigade_status brigade_plan_allgatherv(brigade_group* group,
                                                      const brigade_matrix* source,
                                                      const brigade_matrix* blocks,
                                                      size_t matrix_bytes, brigade_type type,
                                                      const brigade_call_options* options,
                                                      brigade_plan** plan);

/// Gathers the blocks of all ranks at the root, like MPI_Gather.
///
/// @param group    of the call
/// @param source   this rank's block. Only the root may pass NULL: its block is then already in
///                 `result`.
/// @param result   at the root: receives the blocks; block q comes from rank q. On other ranks:
///                 ignored, may be NULL.
/// @param type     of the elements
/// @param root     the root's number in the scope
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_gather(brigade_group* group, const brigade_matrix* source,
                                             const brigade_matrix* result, brigade_type type,
                                             int root, const brigade_call_options* options);
/// Starts brigade_gather().
BRIGADE_EXPORT brigade_status brigade_gather_start(brigade_group* group,
                                                   const brigade_matrix* source,
                                                   const brigade_matrix* result, brigade_type type,
                                                   int root, const brigade_call_options* options,
                                                   brigade_operation** operation);
/// Makes a persistent brigade_gather().
BRIGADE_EXPORT brigade_status brigade_plan_gather(brigade_group* group,
                                                  const brigade_matrix* source,
                                                  const brigade_matrix* result, brigade_type type,
                                                  int root, const brigade_call_options* options,
                                                  brigade_plan** plan);

/// Like brigade_gather(), with blocks of different sizes, like MPI_Gatherv.
///
/// @param group         of the call
/// @param source        this rank's block; NULL: the block is already in this rank's entry of
///                      `blocks`
/// @param blocks        on all ranks: array, one matrix per rank. At the root, matrix q receives
///                      the block of rank q. Matrix q must have the same number of elements on all
///                      ranks. On other ranks the field `data` may be NULL, except in this rank's
///                      entry if `source` is NULL.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param type          of the elements
/// @param root          the root's number in the scope
/// @param options       NULL for the defaults
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
/// Makes a persistent brigade_gatherv().
BRIGADE_EXPORT brigade_status brigade_plan_gatherv(brigade_group* group,
                                                   const brigade_matrix* source,
                                                   const brigade_matrix* blocks,
                                                   size_t matrix_bytes, brigade_type type, int root,
                                                   const brigade_call_options* options,
                                                   brigade_plan** plan);

/// Distributes the blocks of the root's matrix, like MPI_Scatter: rank q gets block q.
///
/// @param group    of the call
/// @param source   at the root: a block for each rank. On other ranks: ignored, may be NULL.
/// @param result   receives this rank's block. Only the root may pass NULL: the root's block is
///                 then not copied.
/// @param type     of the elements
/// @param root     the root's number in the scope
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_scatter(brigade_group* group, const brigade_matrix* source,
                                              const brigade_matrix* result, brigade_type type,
                                              int root, const brigade_call_options* options);
/// Starts brigade_scatter().
BRIGADE_EXPORT brigade_status brigade_scatter_start(brigade_group* group,
                                                    const brigade_matrix* source,
                                                    const brigade_matrix* result, brigade_type type,
                                                    int root, const brigade_call_options* options,
                                                    brigade_operation** operation);
/// Makes a persistent brigade_scatter().
BRIGADE_EXPORT brigade_status brigade_plan_scatter(brigade_group* group,
                                                   const brigade_matrix* source,
                                                   const brigade_matrix* result, brigade_type type,
                                                   int root, const brigade_call_options* options,
                                                   brigade_plan** plan);

/// Like brigade_scatter(), with blocks of different sizes, like MPI_Scatterv.
///
/// @param group         of the call
/// @param blocks        on all ranks: array, one matrix per rank. At the root, matrix q is the
///                      block for rank q. Matrix q must have the same number of elements on all
///                      ranks. On other ranks the field `data` may be NULL, except in this rank's
///                      entry if `result` is NULL.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param result        receives this rank's block. NULL: this rank's entry of `blocks` receives
///                      the block; at the root, the block is already in the entry.
/// @param type          of the elements
/// @param root          the root's number in the scope
/// @param options       NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_scatterv(brigade_group* group, const brigade_matrix* blocks,
                                               size_t matrix_bytes, const brigade_matrix* result,
                                               brigade_type type, int root,
                                               const brigade_call_options* options);
/// Starts brigade_scatterv().
BRIGADE_EXPORT brigade_status
brigade_scatterv_start(brigade_group* group, const brigade_matrix* blocks, size_t matrix_bytes,
                       const brigade_matrix* result, brigade_type type, int root,
                       const brigade_call_options* options, brigade_operation** operation);
/// Makes a persistent brigade_scatterv().
BRIGADE_EXPORT brigade_status brigade_plan_scatterv(brigade_group* group,
                                                    const brigade_matrix* blocks,
                                                    size_t matrix_bytes,
                                                    const brigade_matrix* result, brigade_type type,
                                                    int root, const brigade_call_options* options,
                                                    brigade_plan** plan);

/// Sends a block to each rank, and receives a block from each rank, like MPI_Alltoall. There is no
/// equivalent of MPI_IN_PLACE.
///
/// @param group    of the call
/// @param source   a block for each rank: block q goes to rank q
/// @param result   a block for each rank: block q comes from rank q
/// @param type     of the elements
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_alltoall(brigade_group* group, const brigade_matrix* source,
                                               const brigade_matrix* result, brigade_type type,
                                               const brigade_call_options* options);
/// Starts brigade_alltoall().
BRIGADE_EXPORT brigade_status brigade_alltoall_start(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, const brigade_call_options* options, brigade_operation** operation);
/// Makes a persistent brigade_alltoall().
BRIGADE_EXPORT brigade_status brigade_plan_alltoall(brigade_group* group,
                                                    const brigade_matrix* source,
                                                    const brigade_matrix* result, brigade_type type,
                                                    const brigade_call_options* options,
                                                    brigade_plan** plan);

/// Like brigade_alltoall(), with blocks of different sizes, like MPI_Alltoallv.
///
/// @param group         of the call
/// @param sent          array: matrix q goes to rank q
/// @param received      array: matrix q comes from rank q, and must have as many elements as the
///                      matrix that rank q sends to this rank
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param type          of the elements
/// @param options       NULL for the defaults
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
/// Makes a persistent brigade_alltoallv().
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

/// @file
/// Brigade: collective calls that gather, scatter or exchange one block per rank. calls.h has the
/// rules for all calls. Each call has three forms, for example:
///
/// - brigade_gather() blocks, like MPI_Gather.
/// - brigade_gather_start() starts the call and returns, like MPI_Igather.
/// - brigade_plan_gather() makes a plan, a persistent operation, like MPI_Gather_init.

#ifndef BRIGADE_BLOCKS_H_
#define BRIGADE_BLOCKS_H_

#include "brigade/group.h"
#include "brigade/operation.h"
#include "brigade/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @name Blocks
/// These calls are collective over the scope: the whole group, the calling rank's row of the
/// group's grid, or the calling rank's column (brigade_call_options::scope). On this page, "rank q"
/// is the rank with number q in the scope. A block is one rank's part of a matrix.
///
/// In functions without `v` behind the call's name, all blocks have the same number of elements. A
/// matrix that consists of n blocks of c columns each has n * c columns: block q is columns q * c
/// to q * c + c - 1. Ranks may pass blocks of different numbers of rows and columns, if the number
/// of elements is equal. The fields of a brigade_matrix are `{data, rows, cols, ld}`. For an MPI
/// buffer with `count` elements for each of n ranks, pass the matrix `{buffer, count, n, 0}`. For
/// one block, pass `{block, count, 1, 0}`.
///
/// In functions with `v` behind the call's name, such as brigade_gatherv(), blocks may have
/// different numbers of elements. For a block that has a count and a displacement in MPI, pass
/// `{buffer + displacement, count, 1, 0}`.
///
/// The matrices of a call must not overlap. There are two exceptions:
///
/// - `source` of a gather or all-gather may be the memory of this rank's block in the result.
/// - At the root, `result` of a scatter may be the memory of the root's block in the root's matrix.
///
/// In both exceptions the call does not copy this rank's own block.
///
/// In a gather or scatter, a rank that calls late can delay other ranks. A rank other than the root
/// can return from a gather before the root has called the function.
/// @{

/// Gathers the blocks of all ranks of the scope on every rank of the scope, like MPI_Allgather.
/// All matrices have the same number of elements. The paper on the Fujitsu AP3000 calls this
/// pattern multi-broadcast.
///
/// @param group    of the call
/// @param source   this rank's block; NULL: in place, the block is already in `result`
/// @param result   a block for each rank of the scope
/// @param type     of the elements; equal on all ranks
/// @param options  NULL for the defaults; may be freed when the function has returned
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

/// Gathers the blocks of all ranks of the scope on every rank of the scope, like MPI_Allgatherv.
/// The sizes of the matrices may differ. The paper on the Fujitsu AP3000 calls this pattern
/// multi-broadcast.
///
/// @param group         of the call
/// @param source        this rank's block; NULL: in place, the block is already in `blocks`
/// @param blocks        array with one matrix per rank of the scope: matrix q receives the block of
///                      rank q. All ranks must pass the same number of elements for block q. The
///                      caller may free the array `blocks` when the function has returned.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param type          of the elements; equal on all ranks
/// @param options       NULL for the defaults; may be freed when the function has returned
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

/// Gathers the blocks of all ranks of the scope at the root, like MPI_Gather.
///
/// @param group    of the call
/// @param source   this rank's block. At the root, NULL means that the root's block is already in
///                 `result`. On all other ranks, NULL is an error.
/// @param result   at the root: a block for each rank of the scope. On other ranks: ignored, may be
///                 NULL.
/// @param type     of the elements; all ranks pass types of the same size
/// @param root     a rank of the scope; equal on all ranks
/// @param options  NULL for the defaults; may be freed when the function has returned
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

/// Gathers the blocks of all ranks of the scope at the root, like MPI_Gatherv. The sizes of the
/// matrices may differ.
///
/// @param group         of the call
/// @param source        this rank's block. NULL, on any rank, means that the block is already in
///                      the entry of `blocks` for this rank.
/// @param blocks        on all ranks: array with one matrix per rank of the scope. All ranks must
///                      pass the same number of elements for block q. At the root, the call writes
///                      to the blocks of all other ranks. If `source` is not NULL, the call at the
///                      root also writes to the root's own block. If this rank does not access the
///                      data of a block, the field `data` of the block may be NULL. The caller may
///                      free the array `blocks` when the function has returned.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param type          of the elements; all ranks pass types of the same size
/// @param root          a rank of the scope; equal on all ranks
/// @param options       NULL for the defaults; may be freed when the function has returned
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
/// @param source   at the root: a block for each rank of the scope; the call does not change these
///                 blocks. On other ranks: ignored, may be NULL.
/// @param result   receives this rank's block. At the root, NULL means that the root's block stays
///                 in `source` only. On all other ranks, NULL is an error.
/// @param type     of the elements; all ranks pass types of the same size
/// @param root     a rank of the scope; equal on all ranks
/// @param options  NULL for the defaults; may be freed when the function has returned
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
/// @param blocks        on all ranks: array with one matrix per rank of the scope. All ranks must
///                      pass the same number of elements for block q. At the root, the call reads
///                      every block. If this rank does not access the data of a block, the field
///                      `data` of the block may be NULL. The caller may free the array `blocks`
///                      when the function has returned.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param result        receives this rank's block. NULL, on any rank, means that the call writes
///                      this rank's block to the entry of `blocks` for this rank; at the root,
///                      the block is already there.
/// @param type          of the elements; all ranks pass types of the same size
/// @param root          a rank of the scope; equal on all ranks
/// @param options       NULL for the defaults; may be freed when the function has returned
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
/// @param source   a block for each rank of the scope: block q goes to rank q. The call does not
///                 change these blocks.
/// @param result   a block for each rank of the scope: block q comes from rank q. The call has
///                 no equivalent of MPI_IN_PLACE: `source` and `result` must not be NULL.
/// @param type     of the elements; all ranks pass types of the same size
/// @param options  NULL for the defaults; may be freed when the function has returned
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
/// @param sent          array with one matrix per rank of the scope: block q goes to rank q. The
///                      caller may free the array `sent` when the function has returned.
/// @param received      array with one matrix per rank of the scope: block q comes from rank q.
///                      Block q must have as many elements as the block that rank q sends to this
///                      rank. The caller may free the array `received` when the function has
///                      returned. The call has no equivalent of MPI_IN_PLACE.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param type          of the elements; all ranks pass types of the same size
/// @param options       NULL for the defaults; may be freed when the function has returned
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

/// @file
/// Brigade: collective calls that combine matrices of all ranks, like MPI's reductions and scans.
/// calls.h has the rules for all calls.

#ifndef BRIGADE_REDUCTIONS_H_
#define BRIGADE_REDUCTIONS_H_

#include "brigade/group.h"
#include "brigade/operation.h"
#include "brigade/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @name Reductions and scans
/// These calls are collective over the scope (brigade_call_options::scope): the group, or a row or
/// column of its grid. `type`, `op` and `root` must be equal on all ranks. A rank's contribution is
/// the matrix that the call combines with the matrices of the other ranks, element by element. All
/// ranks must pass contributions with equal numbers of elements; shapes may differ. A call does not
/// change a contribution in `source`. If `source` of a reduce, all-reduce, scan or exclusive scan
/// is NULL, the call is in place: the contribution is in `result`. If `source` is not NULL, no
/// element of `result` may overlap `source`.
/// @{

/// Combines the matrices of all ranks of the scope, like MPI_Reduce. The root gets the result.
///
/// @param group    of the call
/// @param source   this rank's contribution; NULL: the contribution is in `result`
/// @param result   at the root: gets the result, and has as many elements as the contribution. On
///                 other ranks: is not changed, and may be NULL if `source` is not NULL.
/// @param type     of the elements
/// @param op       the reduction operation, such as #BRIGADE_SUM
/// @param root     the root's number in the scope
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_reduce(brigade_group* group, const brigade_matrix* source,
                                             const brigade_matrix* result, brigade_type type,
                                             brigade_op op, int root,
                                             const brigade_call_options* options);
/// Starts brigade_reduce().
BRIGADE_EXPORT brigade_status brigade_reduce_start(brigade_group* group,
                                                   const brigade_matrix* source,
                                                   const brigade_matrix* result, brigade_type type,
                                                   brigade_op op, int root,
                                                   const brigade_call_options* options,
                                                   brigade_operation** operation);
/// Makes a persistent brigade_reduce().
BRIGADE_EXPORT brigade_status brigade_plan_reduce(brigade_group* group,
                                                  const brigade_matrix* source,
                                                  const brigade_matrix* result, brigade_type type,
                                                  brigade_op op, int root,
                                                  const brigade_call_options* options,
                                                  brigade_plan** plan);

/// Combines the matrices of all ranks of the scope, like MPI_Allreduce. All ranks get the result,
/// with equal bits.
///
/// @param group    of the call
/// @param source   this rank's contribution; NULL: the contribution is in `result`
/// @param result   gets the result, and has as many elements as the contribution
/// @param type     of the elements
/// @param op       the reduction operation, such as #BRIGADE_SUM
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_allreduce(brigade_group* group, const brigade_matrix* source,
                                                const brigade_matrix* result, brigade_type type,
                                                brigade_op op, const brigade_call_options* options);
/// Starts brigade_allreduce().
BRIGADE_EXPORT brigade_status brigade_allreduce_start(brigade_group* group,
                                                      const brigade_matrix* source,
                                                      const brigade_matrix* result,
                                                      brigade_type type, brigade_op op,
                                                      const brigade_call_options* options,
                                                      brigade_operation** operation);
/// Makes a persistent brigade_allreduce().
BRIGADE_EXPORT brigade_status brigade_plan_allreduce(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, brigade_op op, const brigade_call_options* options, brigade_plan** plan);

/// Combines the blocks of all ranks, like MPI_Reduce_scatter_block. Each rank passes one block for
/// each rank of the scope. Rank q gets the combination of block q of all ranks. All blocks have the
/// same size. The paper on the Fujitsu AP3000 calls this pattern multi-reduce.
///
/// @param group    of the call
/// @param source   the blocks: a matrix of n * c columns for n ranks, where c is any number. Block
///                 q is columns q * c to q * c + c - 1.
/// @param result   gets the combined block, and has as many elements as a block
/// @param type     of the elements
/// @param op       the reduction operation, such as #BRIGADE_SUM
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_reduce_scatter(brigade_group* group,
                                                     const brigade_matrix* source,
                                                     const brigade_matrix* result,
                                                     brigade_type type, brigade_op op,
                                                     const brigade_call_options* options);
/// Starts brigade_reduce_scatter().
BRIGADE_EXPORT brigade_status brigade_reduce_scatter_start(brigade_group* group,
                                                           const brigade_matrix* source,
                                                           const brigade_matrix* result,
                                                           brigade_type type, brigade_op op,
                                                           const brigade_call_options* options,
                                                           brigade_operation** operation);
/// Makes a persistent brigade_reduce_scatter().
BRIGADE_EXPORT brigade_status brigade_plan_reduce_scatter(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, brigade_op op, const brigade_call_options* options, brigade_plan** plan);

/// Like brigade_reduce_scatter(), with blocks of different sizes, like MPI_Reduce_scatter.
///
/// @param group         of the call
/// @param blocks        an array of one matrix per rank of the scope: matrix q is block q. The
///                      number of elements of block q is equal on all ranks.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param result        on rank q, gets the combination of block q, and has as many elements as
///                      block q; must not overlap `blocks`
/// @param type          of the elements
/// @param op            the reduction operation, such as #BRIGADE_SUM
/// @param options       NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_reduce_scatterv(brigade_group* group,
                                                      const brigade_matrix* blocks,
                                                      size_t matrix_bytes,
                                                      const brigade_matrix* result,
                                                      brigade_type type, brigade_op op,
                                                      const brigade_call_options* options);
/// Starts brigade_reduce_scatterv().
BRIGADE_EXPORT brigade_status brigade_reduce_scatterv_start(
    brigade_group* group, const brigade_matrix* blocks, size_t matrix_bytes,
    const brigade_matrix* result, brigade_type type, brigade_op op,
    const brigade_call_options* options, brigade_operation** operation);
/// Makes a persistent brigade_reduce_scatterv().
BRIGADE_EXPORT brigade_status brigade_plan_reduce_scatterv(
    brigade_group* group, const brigade_matrix* blocks, size_t matrix_bytes,
    const brigade_matrix* result, brigade_type type, brigade_op op,
    const brigade_call_options* options, brigade_plan** plan);

/// Inclusive scan, like MPI_Scan: the result of rank r is the combination of the matrices of ranks
/// 0 to r of the scope, in the order of ranks.
///
/// @param group    of the call
/// @param source   this rank's contribution; NULL: the contribution is in `result`
/// @param result   gets the result, and has as many elements as the contribution
/// @param type     of the elements
/// @param op       the reduction operation, such as #BRIGADE_SUM
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_scan(brigade_group* group, const brigade_matrix* source,
                                           const brigade_matrix* result, brigade_type type,
                                           brigade_op op, const brigade_call_options* options);
/// Starts brigade_scan().
BRIGADE_EXPORT brigade_status brigade_scan_start(brigade_group* group, const brigade_matrix* source,
                                                 const brigade_matrix* result, brigade_type type,
                                                 brigade_op op, const brigade_call_options* options,
                                                 brigade_operation** operation);
/// Makes a persistent brigade_scan().
BRIGADE_EXPORT brigade_status brigade_plan_scan(brigade_group* group, const brigade_matrix* source,
                                                const brigade_matrix* result, brigade_type type,
                                                brigade_op op, const brigade_call_options* options,
                                                brigade_plan** plan);

/// Exclusive scan, like MPI_Exscan: the result of rank r is the combination of the matrices of
/// ranks 0 to r - 1 of the scope, in the order of ranks. Rank 0 has no result.
///
/// @param group    of the call
/// @param source   this rank's contribution; NULL: the contribution is in `result`
/// @param result   on rank 1 and higher: gets the result, and has as many elements as the
///                 contribution. On rank 0: is not changed, and may be NULL if `source` is not
///                 NULL.
/// @param type     of the elements
/// @param op       the reduction operation, such as #BRIGADE_SUM
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_exscan(brigade_group* group, const brigade_matrix* source,
                                             const brigade_matrix* result, brigade_type type,
                                             brigade_op op, const brigade_call_options* options);
/// Starts brigade_exscan().
BRIGADE_EXPORT brigade_status brigade_exscan_start(brigade_group* group,
                                                   const brigade_matrix* source,
                                                   const brigade_matrix* result, brigade_type type,
                                                   brigade_op op,
                                                   const brigade_call_options* options,
                                                   brigade_operation** operation);
/// Makes a persistent brigade_exscan().
BRIGADE_EXPORT brigade_status brigade_plan_exscan(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, brigade_op op, const brigade_call_options* options, brigade_plan** plan);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_REDUCTIONS_H_ */

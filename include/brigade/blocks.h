/// @file
/// Brigade: collective calls that move a block of each rank, from the rank or to it. calls.h has
/// what all calls have in common.

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
/// differ between ranks.
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

/// Gathers matrices of different sizes of each rank of the scope on all of them: the paper's multi-
/// broadcast.
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

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_BLOCKS_H_ */

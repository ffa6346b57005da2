/// @file
/// Brigade: sends, receives and collective calls.
///
/// Each call has three forms:
///
/// 1. `brigade_bcast(...)` blocks until the call is complete on this rank.
/// 2. `brigade_bcast_start(..., &operation)` starts the call and returns. brigade_wait() or one of
///    its kin completes the operation. The matrices, locations and user operation of the call must
///    stay valid until then.
/// 3. `brigade_plan_bcast(..., &plan)` checks the arguments and chooses the algorithm once. Then
///    brigade_plan_run() or brigade_plan_start() makes the call, as often as wanted, without this
///    cost. The matrices, locations and user operation must stay valid until the plan is
///    destroyed; their contents may change between calls.
///
/// A rank may use one form where other ranks use another.

#ifndef BRIGADE_CALLS_H_
#define BRIGADE_CALLS_H_

#include <string.h>

#include "brigade/group.h"
#include "brigade/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The topology along which messages travel. The topology determines the order in which
/// floating-point numbers are combined.
typedef enum {
  BRIGADE_AUTO = 0,          ///< the library chooses
  BRIGADE_TREE,              ///< parameter k >= 2: k-nomial; 0 means 2, binomial
  BRIGADE_INCREASING_RINGS,  ///< parameter: number of chains from the root; 0 means 1, a ring
  BRIGADE_DECREASING_RINGS,  ///< chains towards lower ranks
  BRIGADE_SPLIT_RING,        ///< one chain each way
  BRIGADE_HYPERCUBE,         ///< all-reduce only: recursive doubling
  BRIGADE_RING_ALLREDUCE,    ///< all-reduce only: reduce-scatter, then all-gather, along a ring
  BRIGADE_TWO_TREE,          ///< broadcast and reduce: two trees, each for half of the matrix
  BRIGADE_CIRCULANT          ///< broadcast, reduce, all-gather, reduce-scatter: circulant graph
} brigade_topology;

/// Counters of one operation on this rank; made by brigade_statistics_init().
typedef struct {
  size_t size;  ///< set by brigade_statistics_init()
  /// Pieces posted, headers included. A matrix that another rank reads in place counts as one piece
  /// if it is not empty.
  uint64_t messages_sent;
  uint64_t bytes_sent;  ///< bytes of these messages
  uint64_t pieces;      ///< what this rank's own message was cut into
  /// Pieces copied (1) between user memory and staging memory, (2) from another rank's memory to
  /// user memory, or (3) from another rank's memory into a combine.
  uint64_t copies;
  uint64_t bytes_copied;        ///< bytes of these copies
  uint64_t combines;            ///< pieces combined
  uint64_t bytes_combined;      ///< bytes of these pieces
  uint64_t overflow_pieces;     ///< pieces partly or wholly in ordinary memory
  uint64_t peak_staging_bytes;  ///< largest amount of staging memory in use
  uint64_t wait_ns;             ///< nanoseconds of waiting, for other ranks or for a chunk
} brigade_statistics;

/// Returns counters of 0.
static inline brigade_statistics brigade_statistics_init(void) {
  brigade_statistics statistics;
  memset(&statistics, 0, sizeof(statistics));
  statistics.size = sizeof(statistics);
  return statistics;
}

/// Options of a call, made by brigade_call_options_init(). Fields that a call has no use for are
/// ignored.
typedef struct {
  size_t size;                ///< set by brigade_call_options_init()
  brigade_scope scope;        ///< of a collective call; equal on all ranks of the scope
  brigade_topology topology;  ///< equal on all ranks of the scope
  int parameter;              ///< of the topology; 0 means its default; equal on all ranks
  /// All-gather and reduce-scatter along a ring: not 0 sends to the next lower rank. Equal on all
  /// ranks.
  int decreasing;
  /// Reduce and all-reduce with #BRIGADE_MAX, #BRIGADE_MIN, #BRIGADE_ABS_MAX or #BRIGADE_ABS_MIN:
  /// NULL, or one number per element, in packed order. In: a number for this rank's contribution;
  /// out: the winner's number. Of equal values the smaller number wins. NULL on all ranks, or on
  /// none.
  int32_t* locations;
  const brigade_user_op* user_op;  ///< the function of #BRIGADE_USER
  /// How long the call may take on this rank, in seconds; 0: no limit. A call that takes longer
  /// breaks the group with #BRIGADE_TIMED_OUT. If a sender has begun to copy into the matrix of a
  /// receive, the receive first waits until the copy is complete or the sender has ended.
  double timeout_seconds;
  /// Counters of the operation on this rank, written when a blocking call returns; NULL: not
  /// wanted. Started and planned calls ignore this field: brigade_wait(), brigade_plan_run().
  brigade_statistics* statistics;
} brigade_call_options;

/// Returns the default options.
static inline brigade_call_options brigade_call_options_init(void) {
  brigade_call_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  return options;
}

/// A started call; opaque.
typedef struct brigade_operation brigade_operation;
/// A call that is made often with the same arguments: a persistent operation; opaque.
typedef struct brigade_plan brigade_plan;

/// @name Calls
/// Sends and receives involve their two ranks. All other calls are collective over the scope, in
/// the same order on all its ranks.
///
/// Every function returns #BRIGADE_INVALID_ARGUMENT, #BRIGADE_MISMATCH, #BRIGADE_PEER_LOST,
/// #BRIGADE_TIMED_OUT (with brigade_call_options::timeout_seconds), #BRIGADE_INTERNAL or
/// #BRIGADE_ABORTED, if it fails; brigade.h has the state afterwards.
///
/// The functions ending in `_start` also return
///
/// 1. #BRIGADE_NO_RESOURCE, without effect: the staging memory that the call needs is in use. Other
///    ranks may have started the call. This rank must start it again until the start succeeds, and
///    must not wait for anything else before. Each try progresses pending operations. The start
///    succeeds eventually if the order of calls is the same on all ranks that take part in them,
///    across all scopes.
/// 2. #BRIGADE_OUT_OF_MEMORY, without effect: the call needs more staging memory than there is, on
///    all ranks of the scope.
///
/// Calls on one scope take place in the order of their starts, and so do sends to one rank, and
/// receives from one rank.
/// @{

/// Sends a matrix to a rank. Returns without the receiver, while staging and overflow memory last,
/// whatever the size.
///
/// @param group        of the call
/// @param source       the matrix; may be changed when the call is complete
/// @param type         of the elements
/// @param destination  a rank of the group
/// @param options      NULL for the defaults; may be freed afterwards
/// @return #BRIGADE_TIMED_OUT also at the limit of overflow memory
BRIGADE_EXPORT brigade_status brigade_send(brigade_group* group, const brigade_matrix* source,
                                           brigade_type type, int destination,
                                           const brigade_call_options* options);
/// Starts brigade_send().
BRIGADE_EXPORT brigade_status brigade_send_start(brigade_group* group, const brigade_matrix* source,
                                                 brigade_type type, int destination,
                                                 const brigade_call_options* options,
                                                 brigade_operation** operation);
/// Plans brigade_send(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_send(brigade_group* group, const brigade_matrix* source,
                                                brigade_type type, int destination,
                                                const brigade_call_options* options,
                                                brigade_plan** plan);

/// Receives a matrix from a rank. Sends of one rank are received in their order.
///
/// @param group        of the call
/// @param destination  may have more elements than the message, whose number of elements is the
///                     sender's: the rest stays untouched. Shape and `ld` may differ from the
///                     sender's.
/// @param type         of the elements
/// @param source       a rank of the group
/// @param options      NULL for the defaults; may be freed afterwards
/// @return #BRIGADE_MISMATCH also if the message is longer than the matrix
BRIGADE_EXPORT brigade_status brigade_recv(brigade_group* group, const brigade_matrix* destination,
                                           brigade_type type, int source,
                                           const brigade_call_options* options);
/// Starts brigade_recv().
BRIGADE_EXPORT brigade_status brigade_recv_start(brigade_group* group,
                                                 const brigade_matrix* destination,
                                                 brigade_type type, int source,
                                                 const brigade_call_options* options,
                                                 brigade_operation** operation);
/// Plans brigade_recv(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_recv(brigade_group* group,
                                                const brigade_matrix* destination,
                                                brigade_type type, int source,
                                                const brigade_call_options* options,
                                                brigade_plan** plan);

/// Sends a matrix to a rank, and receives a matrix from the same or another rank.
///
/// @param group        of the call
/// @param sent         as of brigade_send(); no element may overlap `received`
/// @param destination  a rank of the group
/// @param received     as of brigade_recv()
/// @param source       a rank of the group
/// @param type         of the elements
/// @param options      NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_sendrecv(brigade_group* group, const brigade_matrix* sent,
                                               int destination, const brigade_matrix* received,
                                               int source, brigade_type type,
                                               const brigade_call_options* options);
/// Starts brigade_sendrecv(). If staging memory is in use, waits as brigade_send() does.
BRIGADE_EXPORT brigade_status brigade_sendrecv_start(brigade_group* group,
                                                     const brigade_matrix* sent, int destination,
                                                     const brigade_matrix* received, int source,
                                                     brigade_type type,
                                                     const brigade_call_options* options,
                                                     brigade_operation** operation);
/// Plans brigade_sendrecv(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_sendrecv(brigade_group* group,
                                                    const brigade_matrix* sent, int destination,
                                                    const brigade_matrix* received, int source,
                                                    brigade_type type,
                                                    const brigade_call_options* options,
                                                    brigade_plan** plan);

/// Sends the root's matrix to all ranks of the scope: a broadcast. Does not wait for receivers at
/// the root, or at a rank that forwards the message, while staging and overflow memory last.
///
/// @param group    of the call
/// @param buffer   sent by the root, received by all others. The number of elements is equal on all
///                 ranks; shapes and `ld` may differ.
/// @param type     of the elements; equal on all ranks
/// @param root     a rank of the scope; equal on all ranks
/// @param options  NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_bcast(brigade_group* group, const brigade_matrix* buffer,
                                            brigade_type type, int root,
                                            const brigade_call_options* options);
/// Starts brigade_bcast().
BRIGADE_EXPORT brigade_status brigade_bcast_start(brigade_group* group,
                                                  const brigade_matrix* buffer, brigade_type type,
                                                  int root, const brigade_call_options* options,
                                                  brigade_operation** operation);
/// Plans brigade_bcast(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_bcast(brigade_group* group, const brigade_matrix* buffer,
                                                 brigade_type type, int root,
                                                 const brigade_call_options* options,
                                                 brigade_plan** plan);

/// Combines the matrices of all ranks of the scope in the root's result.
///
/// @param group    of the call
/// @param source   this rank's contribution, which stays unchanged; NULL: in place, the
///                 contribution is in `result`. The number of elements is equal on all ranks;
///                 shapes and `ld` may differ.
/// @param result   at the root: the result, as many elements as the contribution. Other ranks:
///                 ignored, if there is a `source`; otherwise unchanged. May be NULL where it is
///                 ignored. No element may overlap `source`.
/// @param type     of the elements; equal on all ranks
/// @param op       equal on all ranks
/// @param root     a rank of the scope; equal on all ranks
/// @param options  NULL for the defaults; may be freed afterwards
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
/// Plans brigade_reduce(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_reduce(brigade_group* group,
                                                  const brigade_matrix* source,
                                                  const brigade_matrix* result, brigade_type type,
                                                  brigade_op op, int root,
                                                  const brigade_call_options* options,
                                                  brigade_plan** plan);

/// Combines the matrices of all ranks of the scope, with equal bits on all of them.
///
/// @param group    of the call
/// @param source   as of brigade_reduce()
/// @param result   the result; as many elements as the contribution. No element may overlap
///                 `source`.
/// @param type     of the elements; equal on all ranks
/// @param op       equal on all ranks
/// @param options  NULL for the defaults; may be freed afterwards
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
/// Plans brigade_allreduce(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_allreduce(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, brigade_op op, const brigade_call_options* options, brigade_plan** plan);

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

/// Combines block q of all ranks of the scope in the result of rank q: the paper's multi-reduce of
/// equal blocks.
///
/// @param group    of the call
/// @param source   has n * c columns for n ranks: block q is in columns q * c to (q + 1) * c - 1.
///                 Stays unchanged.
/// @param result   as many elements as a block; equal on all ranks. No element may overlap
///                 `source`.
/// @param type     of the elements; equal on all ranks
/// @param op       equal on all ranks
/// @param options  NULL for the defaults; may be freed afterwards
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
/// Plans brigade_reduce_scatter(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_reduce_scatter(
    brigade_group* group, const brigade_matrix* source, const brigade_matrix* result,
    brigade_type type, brigade_op op, const brigade_call_options* options, brigade_plan** plan);

/// Combines block q of all ranks of the scope in the result of rank q, for blocks of different
/// sizes: the paper's multi-reduce.
///
/// @param group         of the call
/// @param blocks        one matrix per rank of the scope. The number of elements of block q is
///                      equal on all ranks. The array may be freed afterwards.
/// @param matrix_bytes  sizeof(brigade_matrix)
/// @param result        as many elements as this rank's block. No element may overlap `blocks`.
/// @param type          of the elements; equal on all ranks
/// @param op            equal on all ranks
/// @param options       NULL for the defaults; may be freed afterwards
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
/// Plans brigade_reduce_scatterv(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_reduce_scatterv(
    brigade_group* group, const brigade_matrix* blocks, size_t matrix_bytes,
    const brigade_matrix* result, brigade_type type, brigade_op op,
    const brigade_call_options* options, brigade_plan** plan);

/// Blocks until all ranks of the scope have called.
BRIGADE_EXPORT brigade_status brigade_barrier(brigade_group* group,
                                              const brigade_call_options* options);
/// Starts brigade_barrier().
BRIGADE_EXPORT brigade_status brigade_barrier_start(brigade_group* group,
                                                    const brigade_call_options* options,
                                                    brigade_operation** operation);
/// Plans brigade_barrier(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_barrier(brigade_group* group,
                                                   const brigade_call_options* options,
                                                   brigade_plan** plan);

/// @}
/// @name Plans
/// Persistent operations.
/// @{

/// Makes the call of a plan, and blocks until it is complete.
///
/// @param plan        no operation of it may be pending
/// @param statistics  counters of the operation on this rank; NULL: not wanted
/// @return as the planned function; also #BRIGADE_INVALID_ARGUMENT, if an operation is pending
BRIGADE_EXPORT brigade_status brigade_plan_run(brigade_plan* plan, brigade_statistics* statistics);
/// Starts the call of a plan. Returns as the planned function's `_start`; also
/// #BRIGADE_INVALID_ARGUMENT, if an operation of the plan is pending.
BRIGADE_EXPORT brigade_status brigade_plan_start(brigade_plan* plan, brigade_operation** operation);
/// Ends a plan. Local. Its operations must have been waited for, and its group must exist.
///
/// @param plan  NULL is ignored
BRIGADE_EXPORT void brigade_plan_destroy(brigade_plan* plan);

/// @}
/// @name Completion
/// An array of operations may contain NULL, which counts as complete. All others are of one engine.
/// Completed operations are ended, and set to NULL in the array.
/// @{

/// Progresses. Returns 1 if the operation is complete, successfully or not; it must still be waited
/// for. NULL counts as complete.
BRIGADE_EXPORT int brigade_test(brigade_operation* operation);
/// Blocks until the operation is complete, and ends it.
///
/// @param operation   invalid afterwards; NULL counts as complete, with counters of 0
/// @param statistics  counters of the operation on this rank; NULL: not wanted
/// @return the outcome of the call
BRIGADE_EXPORT brigade_status brigade_wait(brigade_operation* operation,
                                           brigade_statistics* statistics);
/// Blocks until all operations are complete, and ends them. Returns the first failure in the order
/// of the array.
BRIGADE_EXPORT brigade_status brigade_wait_all(brigade_operation** operations, size_t count);
/// Blocks until one operation is complete, and ends it.
///
/// @param operations  the array
/// @param count       its length
/// @param index       the place of this operation; `count`, if the array has only NULL
/// @return the outcome of the call
BRIGADE_EXPORT brigade_status brigade_wait_any(brigade_operation** operations, size_t count,
                                               size_t* index);
/// Blocks until at least one operation is complete, and ends all that are.
///
/// @param operations  the array
/// @param count       its length
/// @param indices     room for `count` places; gets the places of the ended operations, in
///                    increasing order
/// @param ended       their number; 0, if the array has only NULL
/// @return the first failure in the order of the array
BRIGADE_EXPORT brigade_status brigade_wait_some(brigade_operation** operations, size_t count,
                                                size_t* indices, size_t* ended);
/// Progresses. If all operations are complete, ends them and sets `*done` to 1. Otherwise sets
/// `*done` to 0, and ends none. Returns as brigade_wait_all().
BRIGADE_EXPORT brigade_status brigade_test_all(brigade_operation** operations, size_t count,
                                               int* done);
/// Progresses. Like brigade_wait_any(), but does not block: `*done` is 0, if no operation is
/// complete.
BRIGADE_EXPORT brigade_status brigade_test_any(brigade_operation** operations, size_t count,
                                               size_t* index, int* done);
/// Progresses. Like brigade_wait_some(), but does not block: `*ended` is 0, if no operation is
/// complete.
BRIGADE_EXPORT brigade_status brigade_test_some(brigade_operation** operations, size_t count,
                                                size_t* indices, size_t* ended);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_CALLS_H_ */

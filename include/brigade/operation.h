/// @file
/// Brigade: options and counters of calls, persistent operations, and the completion of started
/// calls.

#ifndef BRIGADE_OPERATION_H_
#define BRIGADE_OPERATION_H_

#include <string.h>

#include "brigade/group.h"
#include "brigade/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The topology along which messages travel. The topology determines the order in which
/// floating-point numbers are combined. Gather and scatter accept trees; with a parameter of at
/// least the number of ranks, every block travels directly. Scans accept increasing rings, of one
/// chain, and the hypercube. brigade_alltoall() accepts the circulant graph, and with any other
/// topology each block travels directly; brigade_alltoallv() refuses the circulant graph.
typedef enum {
  BRIGADE_AUTO = 0,          ///< the library chooses
  BRIGADE_TREE,              ///< parameter k >= 2: k-nomial; 0 means 2, binomial
  BRIGADE_INCREASING_RINGS,  ///< parameter: number of chains from the root; 0 means 1, a ring
  BRIGADE_DECREASING_RINGS,  ///< chains towards lower ranks
  BRIGADE_SPLIT_RING,        ///< one chain each way
  BRIGADE_HYPERCUBE,         ///< all-reduce and scans: recursive doubling
  BRIGADE_RING_ALLREDUCE,    ///< all-reduce only: reduce-scatter, then all-gather, along a ring
  BRIGADE_TWO_TREE,          ///< broadcast and reduce: two trees, each for half of the matrix
  /// Broadcast, reduce, all-gather, reduce-scatter, all-to-all: circulant graph.
  BRIGADE_CIRCULANT
} brigade_topology;

/// Counters of one operation on this rank; made by brigade_statistics_init(). A piece is a segment:
/// the part of a message that is sent at once.
typedef struct {
  size_t size;  ///< set by brigade_statistics_init()
  /// Pieces posted, headers included. A matrix that another rank reads in place counts as one piece
  /// if it is not empty.
  uint64_t messages_sent;
  uint64_t bytes_sent;  ///< bytes of these messages
  uint64_t pieces;      ///< into which the protocol cut the matrix, or all blocks of the call
  /// Pieces copied (1) between user memory and staging memory, (2) to another rank's memory, (3)
  /// from another rank's memory to user memory, (4) from another rank's memory into a combine, or
  /// (5) within this rank: a block that it keeps or forwards, or its contribution to the place of
  /// the result.
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

/// Options of a call, made by brigade_call_options_init(). A call ignores a
/// field that names other calls; other reductions and scans, however, refuse `locations`.
typedef struct {
  size_t size;                ///< set by brigade_call_options_init()
  brigade_scope scope;        ///< of a collective call; equal on all ranks of the scope
  brigade_topology topology;  ///< equal on all ranks of the scope
  int parameter;              ///< of the topology; 0 means its default; equal on all ranks
  /// All-gather and reduce-scatter along a ring: 0 sends to the next higher rank, any other value
  /// to the next lower one. Equal on all ranks.
  int decreasing;
  /// Reduce and all-reduce with #BRIGADE_MAX, #BRIGADE_MIN, #BRIGADE_ABS_MAX or #BRIGADE_ABS_MIN:
  /// NULL, or one number per element, in packed order. In: a number for this rank's contribution;
  /// out: the winner's number. Of equal values the smaller number wins. NULL on all ranks, or on
  /// none.
  int32_t* locations;
  const brigade_user_op* user_op;  ///< the function of #BRIGADE_USER
  /// The time limit of the call on this rank, in seconds from its start; 0: no limit. A call
  /// that takes longer breaks the group with #BRIGADE_TIMED_OUT. If a sender has begun to copy into
  /// the matrix of a receive, the receive first waits until the copy is complete or the sender has
  /// ended.
  double timeout_seconds;
  /// Counters of the operation on this rank, written when a blocking call returns; NULL: not
  /// wanted. Started and planned calls ignore this field: pass `statistics` to brigade_wait() or
  /// brigade_plan_run() instead.
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

/// @name Plans
/// Persistent operations.
/// @{

/// Makes the call of a plan, and blocks until it is complete.
///
/// @param plan        no operation of it may be pending
/// @param statistics  counters of the operation on this rank; NULL: not wanted
/// @return as the planned function; also #BRIGADE_INVALID_ARGUMENT, if an operation is pending
BRIGADE_EXPORT brigade_status brigade_plan_run(brigade_plan* plan, brigade_statistics* statistics);
/// Starts the call of a plan. Returns what the `_start` function of the call returns, and
/// #BRIGADE_INVALID_ARGUMENT if an operation of the plan is pending.
BRIGADE_EXPORT brigade_status brigade_plan_start(brigade_plan* plan, brigade_operation** operation);
/// Ends a plan. Local. Its operations must have been waited for, and its group must exist.
///
/// @param plan  NULL is ignored
BRIGADE_EXPORT void brigade_plan_destroy(brigade_plan* plan);

/// @}
/// @name Completion
/// Functions on arrays free completed operations, and set them to NULL in the array. An array may
/// contain NULL, which counts as complete; all other operations are of one engine.
/// @{

/// Progresses. Returns 1 if the operation is complete, successfully or not; NULL counts as
/// complete. Does not free the operation, unlike MPI_Test: call brigade_wait() afterwards.
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
/// `*done` to 0 and ends no operation. Returns as brigade_wait_all().
BRIGADE_EXPORT brigade_status brigade_test_all(brigade_operation** operations, size_t count,
                                               int* done);
/// Progresses. Like brigade_wait_any(), but does not block: `*done` is 0, if no operation is
/// complete, and 1, with `*index` of `count`, if the array has only NULL.
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

#endif /* BRIGADE_OPERATION_H_ */

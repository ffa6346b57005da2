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
/// floating-point numbers are combined. Sends, receives and barriers ignore the topology. All other
/// calls accept #BRIGADE_AUTO and these topologies:
///
/// - Broadcast, reduce, all-reduce: all topologies whose comments do not exclude the call.
/// - All-gather, reduce-scatter: #BRIGADE_CIRCULANT, and #BRIGADE_INCREASING_RINGS for one ring.
///   Any other topology counts as one ring.
/// - Gather, scatter: #BRIGADE_TREE, and #BRIGADE_INCREASING_RINGS for one ring. A tree whose
///   parameter is at least the number of ranks has only the root and its children: every block
///   travels directly between its rank and the root.
/// - Scans: #BRIGADE_HYPERCUBE, and #BRIGADE_INCREASING_RINGS for one chain.
/// - All-to-all: #BRIGADE_INCREASING_RINGS, with which every block travels directly from its sender
///   to its receiver. brigade_alltoall() also accepts #BRIGADE_CIRCULANT, for which
///   brigade_alltoallv() returns #BRIGADE_INVALID_ARGUMENT. Any other topology counts as
///   #BRIGADE_INCREASING_RINGS.
typedef enum {
  BRIGADE_AUTO = 0,          ///< the library chooses
  BRIGADE_TREE,              ///< k-nomial tree; the parameter is k, at least 2; 0 means 2
  BRIGADE_INCREASING_RINGS,  ///< parameter: number of chains to higher ranks; 0 means 1, a ring
  BRIGADE_DECREASING_RINGS,  ///< parameter: number of chains to lower ranks; 0 means 1, a ring
  BRIGADE_SPLIT_RING,        ///< one chain to higher ranks, and one to lower ranks
  BRIGADE_HYPERCUBE,         ///< recursive doubling; for all-reduce and scans only
  BRIGADE_RING_ALLREDUCE,    ///< reduce-scatter, then all-gather, along a ring; for all-reduce only
  /// Two trees, each for half of the matrix; for broadcast and reduce only.
  BRIGADE_TWO_TREE,
  /// A circulant graph; for broadcast, reduce, all-gather, reduce-scatter and brigade_alltoall()
  /// only.
  BRIGADE_CIRCULANT
} brigade_topology;

/// Counters of one operation on this rank. Initialise the structure with brigade_statistics_init().
/// The library cuts long messages into segments, and sends each segment separately.
typedef struct {
  size_t size;  ///< set by brigade_statistics_init()
  /// The number of segments sent. A matrix that another rank reads directly from this rank's memory
  /// counts as one segment if it is not empty.
  uint64_t messages_sent;
  uint64_t bytes_sent;  ///< the bytes of the segments sent, headers included
  uint64_t segments;    ///< the number of segments of the matrix, or of all blocks of the call
  /// The number of segments copied. The library counts these copies:
  /// (1) between user memory and staging memory;
  /// (2) to ordinary memory, if a send cannot finish at once;
  /// (3) to or from another rank's memory;
  /// (4) within this rank's memory: blocks that the rank keeps or forwards, and the copy of the
  /// rank's contribution to `result`.
  uint64_t copies;
  uint64_t bytes_copied;    ///< the bytes of the segments copied
  uint64_t combines;        ///< the number of segments combined
  uint64_t bytes_combined;  ///< the bytes of the segments combined
  /// The number of segments that used ordinary memory instead of staging memory.
  uint64_t overflow_segments;
  /// The largest number of bytes of staging memory that the operation used at once.
  uint64_t peak_staging_bytes;
  uint64_t wait_ns;  ///< nanoseconds of waiting for other ranks or staging memory
} brigade_statistics;

/// Returns a structure in which all counters are 0.
static inline brigade_statistics brigade_statistics_init(void) {
  brigade_statistics statistics;
  memset(&statistics, 0, sizeof(statistics));
  statistics.size = sizeof(statistics);
  return statistics;
}

/// Options of a call. Initialise the structure with brigade_call_options_init(). If the comment of
/// a field names calls, all other calls ignore the field. Exception: a reduction or scan that the
/// comment of `locations` does not name returns #BRIGADE_INVALID_ARGUMENT if `locations` is not
/// NULL.
typedef struct {
  size_t size;                ///< set by brigade_call_options_init()
  brigade_scope scope;        ///< the scope of a collective call; equal on all ranks of the scope
  brigade_topology topology;  ///< equal on all ranks of the scope
  int parameter;              ///< of the topology; 0 means the default; equal on all ranks
  /// All-gather and reduce-scatter along a ring: with 0 each rank sends to the next higher rank,
  /// with any other value to the next lower rank. Equal on all ranks.
  int decreasing;
  /// Reduce and all-reduce with #BRIGADE_MAX, #BRIGADE_MIN, #BRIGADE_ABS_MAX or #BRIGADE_ABS_MIN:
  /// NULL, or an array with one number per element, column by column, as for MPI_MAXLOC. Before the
  /// call, a number is the location of this rank's element. On ranks that get the result, the call
  /// replaces the number by the location of the maximum or minimum. Of equal maxima or minima the
  /// smallest location is stored. Either all ranks pass NULL, or no rank passes NULL.
  int32_t* locations;
  const brigade_user_op* user_op;  ///< the operation, in calls with #BRIGADE_USER
  /// The time limit of the call on this rank, in seconds from the start of the call; 0 or more; 0:
  /// no limit. A call that takes longer breaks the group with #BRIGADE_TIMED_OUT. If a sender is
  /// copying into the matrix of a receive when the time limit is reached, the receive fails later:
  /// when the copy is complete, or when the sender's process has ended.
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
/// A plan: a persistent operation, for many calls with the same arguments; opaque.
typedef struct brigade_plan brigade_plan;

/// @name Plans
/// Plans are persistent operations, as in MPI.
/// @{

/// Makes the call of a plan, and blocks until the call is complete.
///
/// @param plan        the plan; the program must have waited for all operations of the plan
/// @param statistics  counters of the operation on this rank; NULL: not wanted
/// @return as the planned function; also #BRIGADE_INVALID_ARGUMENT if the program has not waited
///         for an operation of the plan
///
/// Cost: that of the planned function, without the check of the arguments.
BRIGADE_EXPORT brigade_status brigade_plan_run(brigade_plan* plan, brigade_statistics* statistics);
/// Starts the call of a plan.
///
/// @param plan       the plan; the program must have waited for all operations of the plan
/// @param operation  the started operation
/// @return as the `_start` function of the call; also #BRIGADE_INVALID_ARGUMENT if the program has
///         not waited for an operation of the plan
BRIGADE_EXPORT brigade_status brigade_plan_start(brigade_plan* plan, brigade_operation** operation);
/// Destroys a plan. Local. Before this call, the program must have waited for all operations of the
/// plan, and must not have destroyed the group of the plan.
///
/// @param plan  NULL is ignored
BRIGADE_EXPORT void brigade_plan_destroy(brigade_plan* plan);

/// @}
/// @name Completion
/// If a function that takes an array frees an operation, the function sets the entry of the
/// operation to NULL. The function ignores entries that are NULL before the call. All other entries
/// must be operations of one engine, each of them once; otherwise the function returns
/// #BRIGADE_INVALID_ARGUMENT. An array of length 0 may be NULL.
///
/// Cost: a function that tests progresses all pending operations of the engine once. A function
/// that waits progresses these operations until it returns. A function that takes an array also
/// reads every entry.
/// @{

/// Progresses pending operations. Returns 1 if `operation` is complete, successfully or not, or
/// is NULL; otherwise 0. Does not free the operation, unlike MPI_Test: call brigade_wait()
/// afterwards.
BRIGADE_EXPORT int brigade_test(brigade_operation* operation);
/// Blocks until the operation is complete, and frees the operation.
///
/// @param operation   invalid afterwards; NULL counts as complete, with counters of 0
/// @param statistics  counters of the operation on this rank; NULL: not wanted
/// @return the outcome of the started call
BRIGADE_EXPORT brigade_status brigade_wait(brigade_operation* operation,
                                           brigade_statistics* statistics);
/// Blocks until all operations are complete, and frees all operations. Returns the first failure in
/// the order of the array.
BRIGADE_EXPORT brigade_status brigade_wait_all(brigade_operation** operations, size_t count);
/// Blocks until at least one operation is complete, and frees one complete operation.
///
/// @param operations  the array
/// @param count       the length of the array
/// @param index       the index of the freed operation; `count` if all entries were NULL
/// @return the outcome of the freed operation
BRIGADE_EXPORT brigade_status brigade_wait_any(brigade_operation** operations, size_t count,
                                               size_t* index);
/// Blocks until at least one operation is complete, and frees all complete operations.
///
/// @param operations  the array
/// @param count       the length of the array
/// @param indices     an array of length `count`; gets the indices of the freed operations, in
///                    increasing order
/// @param ended       the number of freed operations; 0 if all entries were NULL
/// @return the first failure in the order of the array
BRIGADE_EXPORT brigade_status brigade_wait_some(brigade_operation** operations, size_t count,
                                                size_t* indices, size_t* ended);
/// Progresses pending operations. If all operations are complete, frees all operations, and sets
/// `*done` to 1. If an operation is not complete, frees no operation, and sets `*done` to 0.
/// Returns the first failure of the freed operations in the order of the array.
BRIGADE_EXPORT brigade_status brigade_test_all(brigade_operation** operations, size_t count,
                                               int* done);
/// Like brigade_wait_any(), but does not block. Progresses pending operations. Sets `*done` to 1 if
/// an operation was freed or if all entries were NULL, and otherwise to 0.
BRIGADE_EXPORT brigade_status brigade_test_any(brigade_operation** operations, size_t count,
                                               size_t* index, int* done);
/// Like brigade_wait_some(), but does not block. Progresses pending operations. Sets `*ended` to 0
/// if no operation is complete.
BRIGADE_EXPORT brigade_status brigade_test_some(brigade_operation** operations, size_t count,
                                                size_t* indices, size_t* ended);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_OPERATION_H_ */

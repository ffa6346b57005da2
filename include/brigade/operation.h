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

/// The topology: the shape along which the messages of a collective call travel, such as a tree.
/// In MPI libraries and NCCL, the word for topology is *algorithm*. The topology determines the
/// order in which floating-point numbers are combined. Sends, receives and barriers ignore the
/// topology. All other calls return #BRIGADE_INVALID_ARGUMENT if they do not accept the topology.
/// They accept #BRIGADE_AUTO and these topologies:
///
/// - Broadcast, reduce: all topologies except #BRIGADE_HYPERCUBE and #BRIGADE_RING_ALLREDUCE.
/// - All-reduce: all topologies except #BRIGADE_TWO_TREE and #BRIGADE_CIRCULANT.
/// - All-gather, reduce-scatter: all topologies. With #BRIGADE_CIRCULANT, messages travel along a
///   circulant graph. With all topologies other than #BRIGADE_CIRCULANT and #BRIGADE_AUTO, messages
///   travel along one ring.
/// - Gather, scatter: #BRIGADE_TREE and #BRIGADE_INCREASING_RINGS. With #BRIGADE_INCREASING_RINGS,
///   messages travel along one ring. If the parameter of #BRIGADE_TREE
///   (brigade_call_options::parameter) is at least the number of ranks, every block travels
///   directly between its rank and the root.
/// - Scans: #BRIGADE_HYPERCUBE and #BRIGADE_INCREASING_RINGS. With #BRIGADE_INCREASING_RINGS,
///   messages travel from each rank to the next higher rank.
/// - All-to-all: all topologies, but brigade_alltoallv() does not accept #BRIGADE_CIRCULANT. With
///   #BRIGADE_CIRCULANT, messages travel along a circulant graph. With all topologies other than
///   #BRIGADE_CIRCULANT and #BRIGADE_AUTO, every block travels directly from its sender to its
///   receiver.
///
/// Some values below have a *parameter*: brigade_call_options::parameter.
///
/// In each round along a circulant graph, rank r sends to rank r + d, modulo the number of ranks; d
/// differs from round to round. A chain is a sequence of ranks other than the root. In a broadcast,
/// the root sends to the first rank of each chain, and each rank of a chain forwards to the next.
/// In a reduction, messages travel in the opposite direction.
typedef enum {
  BRIGADE_AUTO = 0,  ///< the library chooses
  BRIGADE_TREE,      ///< k-nomial tree; the parameter is k, at least 2; 0 means 2
  /// Chains in order of increasing rank. The highest rank is followed by rank 0.
  /// The parameter is the number of chains; 0 means one chain, which is a ring.
  BRIGADE_INCREASING_RINGS,
  /// Chains in order of decreasing rank. Rank 0 is followed by the highest rank.
  /// The parameter is the number of chains; 0 means one chain, which is a ring.
  BRIGADE_DECREASING_RINGS,
  BRIGADE_SPLIT_RING,      ///< one chain to higher ranks, and one chain to lower ranks
  BRIGADE_HYPERCUBE,       ///< recursive doubling
  BRIGADE_RING_ALLREDUCE,  ///< reduce-scatter, then all-gather, along a ring
  BRIGADE_TWO_TREE,        ///< two trees, each for half of the matrix
  BRIGADE_CIRCULANT        ///< a circulant graph
} brigade_topology;

/// Counters of one call on this rank. The library cuts long messages into segments, and sends each
/// segment separately.
typedef struct {
  size_t size;  ///< set by brigade_statistics_init()
  /// The number of segments sent. A matrix or block that another rank reads directly from this
  /// rank's memory is one segment.
  uint64_t messages_sent;
  uint64_t bytes_sent;  ///< the bytes of the segments sent, headers included
  /// The number of segments into which the call cuts its matrix. If the call has several blocks:
  /// the number of segments of all blocks together.
  uint64_t segments;
  /// The number of segments that this rank copied. The number includes these copies:
  ///
  /// - between user memory and staging memory (bounce buffers)
  /// - to overflow memory
  /// - to or from the memory of another rank
  /// - within user memory, or within staging memory
  uint64_t copies;
  uint64_t bytes_copied;    ///< the bytes of the segments copied
  uint64_t combines;        ///< the number of segments to which a brigade_op was applied
  uint64_t bytes_combined;  ///< the bytes of the segments to which a brigade_op was applied
  /// The number of segments that used overflow memory (brigade_options::overflow_bytes).
  uint64_t overflow_segments;
  /// The largest number of bytes of staging memory (bounce buffers) that the call used at once.
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

/// Options of a call. If the comment of a field names calls, all other calls ignore the field. The
/// field `locations` is an exception; see its comment. The fields `scope`, `topology`, `parameter`
/// and `decreasing` must be equal on all ranks of the scope.
typedef struct {
  size_t size;  ///< set by brigade_call_options_init()
  /// The ranks that take part in a collective call: the group, or a row or column of its grid.
  brigade_scope scope;
  brigade_topology topology;  ///< equal on all ranks of the scope
  /// The parameter of the topology; see brigade_topology. 0: the default.
  int parameter;
  /// Only all-gather and reduce-scatter along a ring use this field. 0: each rank sends to the next
  /// higher rank. Any other value: each rank sends to the next lower rank.
  int decreasing;
  /// Reduce and all-reduce with #BRIGADE_MAX, #BRIGADE_MIN, #BRIGADE_ABS_MAX or #BRIGADE_ABS_MIN:
  /// NULL, or an array with one location for each element of the matrix, column by column. A
  /// location is a number that the program chooses, like the index in MPI_MAXLOC. Before the call,
  /// each entry is the location of this rank's element. On ranks that get the result, the call
  /// replaces each entry by the location of the maximum or minimum. If several elements are equal
  /// to the maximum or minimum, the entry is the smallest of their locations. Either all ranks of
  /// the scope pass NULL, or no rank passes NULL.
  ///
  /// All other reductions and all scans return #BRIGADE_INVALID_ARGUMENT if `locations` is not
  /// NULL.
  int32_t* locations;
  /// Reductions and scans with #BRIGADE_USER: combine elements by this operation of the program,
  /// like by an MPI_Op of MPI_Op_create().
  const brigade_user_op* user_op;
  /// The time limit of the call on this rank, in seconds from the start of the call. Must not be
  /// negative; 0 means no limit. A call that exceeds its time limit fails with #BRIGADE_TIMED_OUT,
  /// and all later calls on the group fail. If a sender is copying into the matrix of a receive at
  /// the time limit, the receive fails when the copy is complete.
  double timeout_seconds;
  /// Blocking calls: counters, which the call writes when it returns. NULL: no counters. For
  /// started calls, pass counters to brigade_wait(); for plans, to brigade_plan_run().
  brigade_statistics* statistics;
} brigade_call_options;

/// Returns the default options.
static inline brigade_call_options brigade_call_options_init(void) {
  brigade_call_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  return options;
}

/// An operation that has been started, like MPI_Request; opaque.
typedef struct brigade_operation brigade_operation;
/// A plan: a persistent operation, for many calls with the same arguments; opaque.
typedef struct brigade_plan brigade_plan;

/// @name Plans
/// @{

/// Executes the call of a plan, and blocks until the call is complete.
///
/// @param plan        the plan. All operations that brigade_plan_start() has started with the plan
///                    must have been freed, for example by brigade_wait().
/// @param statistics  counters; NULL: no counters
/// @return the status of the blocking call, such as brigade_bcast(); #BRIGADE_INVALID_ARGUMENT also
///         if an operation of the plan has not been freed
///
/// Cost: the cost of the blocking call, without the check of the arguments.
BRIGADE_EXPORT brigade_status brigade_plan_run(brigade_plan* plan, brigade_statistics* statistics);
/// Starts the call of a plan, like MPI_Start.
///
/// @param plan       the plan; all operations that were started with it must have been freed
/// @param operation  the started operation
/// @return the status of the `_start` function, such as brigade_bcast_start();
///         #BRIGADE_INVALID_ARGUMENT also if an operation of the plan has not been freed
BRIGADE_EXPORT brigade_status brigade_plan_start(brigade_plan* plan, brigade_operation** operation);
/// Destroys a plan. Local. First free all operations that were started with the plan. Destroy the
/// plan before its group.
///
/// @param plan  NULL is ignored
BRIGADE_EXPORT void brigade_plan_destroy(brigade_plan* plan);

/// @}
/// @name Completion
/// These functions complete started operations, like the functions of MPI with the same words in
/// their names. The functions that end in `_all`, `_any` or `_some` take an array of operations:
///
/// - If a function frees an operation, it sets the entry of the operation in the array to NULL.
/// - A function ignores entries that are NULL before the call.
/// - All other entries must be different operations of one engine (engine.h). Otherwise the
///   function returns #BRIGADE_INVALID_ARGUMENT.
/// - A function that frees several operations returns #BRIGADE_OK, or the first failure in the
///   order of the array.
/// - An array of length 0 may be NULL.
///
/// Cost: a test function progresses all pending operations of the engine once; a wait function
/// progresses them until it returns.
/// @{

/// Returns 1 if `operation` is NULL, or has succeeded or failed; returns 0 if it is pending. Unlike
/// MPI_Test, does not free the operation: call brigade_wait() afterwards.
BRIGADE_EXPORT int brigade_test(brigade_operation* operation);
/// Blocks until the operation is complete, and frees the operation.
///
/// @param operation   invalid afterwards, unless `statistics` was not initialised. If NULL, the
///                    function returns #BRIGADE_OK, and sets all counters to 0.
/// @param statistics  counters; NULL: no counters
/// @return #BRIGADE_OK, or the failure of the operation; #BRIGADE_INVALID_ARGUMENT: `statistics`
///         was not initialised
BRIGADE_EXPORT brigade_status brigade_wait(brigade_operation* operation,
                                           brigade_statistics* statistics);
/// Blocks until all operations are complete, and frees all operations.
BRIGADE_EXPORT brigade_status brigade_wait_all(brigade_operation** operations, size_t count);
/// Blocks until at least one operation is complete, and frees one complete operation.
///
/// @param operations  the array
/// @param count       the length of the array
/// @param index       the index of the freed operation; `count` if all entries were NULL
/// @return #BRIGADE_OK, or the failure of the freed operation
BRIGADE_EXPORT brigade_status brigade_wait_any(brigade_operation** operations, size_t count,
                                               size_t* index);
/// Blocks until at least one operation is complete, and frees all complete operations.
///
/// @param operations  the array
/// @param count       the length of the array
/// @param indices     an array of length `count`; gets the indices of the freed operations, in
///                    increasing order
/// @param ended       the number of freed operations; 0 if all entries were NULL
BRIGADE_EXPORT brigade_status brigade_wait_some(brigade_operation** operations, size_t count,
                                                size_t* indices, size_t* ended);
/// If all operations are complete, frees all operations, and sets `*done` to 1. Otherwise frees no
/// operation, and sets `*done` to 0.
BRIGADE_EXPORT brigade_status brigade_test_all(brigade_operation** operations, size_t count,
                                               int* done);
/// Like brigade_wait_any(), but does not block. If an operation is complete, or if all entries are
/// NULL, sets `*done` to 1. Otherwise sets `*done` to 0, and `*index` to `count`.
BRIGADE_EXPORT brigade_status brigade_test_any(brigade_operation** operations, size_t count,
                                               size_t* index, int* done);
/// Like brigade_wait_some(), but does not block. Sets `*ended` to 0 if no operation is complete.
BRIGADE_EXPORT brigade_status brigade_test_some(brigade_operation** operations, size_t count,
                                                size_t* indices, size_t* ended);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_OPERATION_H_ */

/// @file
/// Brigade: communication patterns through scarce staging memory, for C99 and for languages that
/// can call C.
///
/// Conventions:
///
/// 1. Functions return a brigade_status. On failure brigade_error_text() returns what was wrong,
///    where, and what to do.
/// 2. A call that returns #BRIGADE_INVALID_ARGUMENT, #BRIGADE_NO_RESOURCE, #BRIGADE_OUT_OF_MEMORY
///    or #BRIGADE_UNAVAILABLE has had no effect. Any other failure breaks the group on all its
///    ranks: every pending and later call on the group fails, and the group can only be destroyed.
///    The error text names the rank that broke the group, its call and its reason. The output
///    memory of a failed call is unspecified.
/// 3. Matrices are column-major; ld is counted in elements and is at least rows. To pass a
///    row-major matrix, exchange rows and columns. Sizes are 64-bit. Staging memory stays within
///    its budget for every message length; a send or broadcast that must not wait for its receivers
///    takes ordinary memory beyond the budget.
/// 4. The caller owns every object that a _create or _start function makes, and must pass it to the
///    matching _destroy or _wait. On failure no object is made.
/// 5. Not thread-safe: at most one thread at a time may use an engine and its groups. Between calls
///    a progress thread of the library may progress pending operations if the transport allows it.
///    The thread makes no MPI calls and takes no signals.
/// 6. MPI must be initialised before the first call, at any thread level, and finalised after the
///    last.
/// 7. The ranks of a scope make their calls on it in the same order. Different scopes, and sends
///    and receives, do not wait for each other.
///
/// Source of the patterns: the work on buffered communication for the Fujitsu AP3000.

#ifndef BRIGADE_BRIGADE_H_
#define BRIGADE_BRIGADE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Marks what libbrigade.so exports.
#define BRIGADE_EXPORT __attribute__((visibility("default")))

/// The outcome of a call; convention 2 has the state after each.
typedef enum {
  BRIGADE_OK = 0,            ///< done
  BRIGADE_NO_RESOURCE,       ///< staging memory is in use: progress, then try again
  BRIGADE_INVALID_ARGUMENT,  ///< an argument of this rank is wrong
  BRIGADE_OUT_OF_MEMORY,     ///< memory, or a limit on it, is used up
  BRIGADE_TIMED_OUT,         ///< a wait for overflow memory, or a call, took too long
  BRIGADE_PEER_LOST,         ///< a rank is gone
  BRIGADE_MISMATCH,          ///< the ranks disagree about the call they make together
  BRIGADE_UNAVAILABLE,       ///< not in this build, or not on this machine
  BRIGADE_INTERNAL,          ///< a bug here or in the transport
  BRIGADE_ABORTED            ///< a rank aborted the group: brigade_group_abort()
} brigade_status;

/// A word for `status`: "ok", "no resource", ... The text is static. Any thread may call.
BRIGADE_EXPORT const char* brigade_status_name(brigade_status status);
/// The text of this thread's last failure, in English; valid until a later call of this thread
/// fails.
BRIGADE_EXPORT const char* brigade_error_text(void);
/// "0.1.0". The text is static. Any thread may call.
BRIGADE_EXPORT const char* brigade_version(void);

/// @name Engine
/// An engine holds the transport, the staging memory and the order of calls, for all groups of a
/// process. One per process.
/// @{

/// An engine; opaque.
typedef struct brigade_engine brigade_engine;

/// The options of an engine. Call brigade_options_init() first: zero is an invalid length. The
/// environment variables in docs/user/settings.md change the defaults. If the program sets a field
/// afterwards, the variable of the field has no effect.
typedef struct {
  /// "auto", "mpi", "shm", "tcp" or "sockets"; equal on all ranks of a group. NULL: the value of
  /// BRIGADE_TRANSPORT, or "auto".
  const char* transport;
  /// The unit in which staging memory is allocated, in bytes: a multiple of 64, at least 1024.
  /// Equal on all ranks of a group.
  size_t chunk_bytes;
  /// The budget of staging memory per rank, in bytes. Equal on all ranks of a group.
  size_t staging_bytes;
  /// Limit, in bytes, of the ordinary memory for returned sends; SIZE_MAX: all available memory.
  size_t overflow_bytes;
  /// How long a send at the limit `overflow_bytes` waits before it fails, in seconds.
  double overflow_wait_seconds;
  /// The file for a timeline of copies, combines, messages and waits, written when the engine is
  /// destroyed. NULL: the file of BRIGADE_TRACE, or none. Process 3 of MPI_COMM_WORLD writes
  /// lu.3.json if the value is "lu.json". Perfetto shows the timeline; brigade_merge_trace merges
  /// the files of all processes. A timeline is bounded: 2^20 events, 40 MiB of memory. The timeline
  /// includes the BLACS calls of the process. A process has one timeline at a time, including a
  /// timeline of BRIGADE_TRACE. If the file cannot be written, the error goes to stderr.
  const char* trace_file;
  /// Not 0: a group on several hosts measures the cost of messages when the group is made, and
  /// chooses topologies by this cost. The measurement takes place once per set of hosts, in well
  /// below a second. Equal on all ranks of a group.
  int calibrate;
  /// Not 0: if a call leaves the algorithm to the library, rank 0 of the scope prints the chosen
  /// algorithm and the reason on stderr, once per pattern and length.
  int explain;
  /// Not 0: windows of the engine check for conflicting operations (docs/user/windows.md), and are
  /// much slower. A window checks if one of its ranks has this option.
  int check_windows;
} brigade_options;

/// Fills in the defaults: NULL, 32 KiB, 2 MiB, SIZE_MAX, 120 s, NULL, 1, 0, 0. Environment
/// variables override them. Any thread may call.
BRIGADE_EXPORT void brigade_options_init(brigade_options* options);
/// Makes an engine. Local.
///
/// @param options  NULL for the defaults; may be freed afterwards
/// @param engine   the new engine
/// @return #BRIGADE_INVALID_ARGUMENT: no such transport or interface, lengths that do not fit each
///         other, a second timeline, or a bad value of a variable of docs/user/settings.md, even if
///         the engine does not use the variable; #BRIGADE_UNAVAILABLE: this machine lacks a
///         requirement of the transport; #BRIGADE_OUT_OF_MEMORY: no staging memory is available
///
/// Cost: takes the staging memory.
BRIGADE_EXPORT brigade_status brigade_engine_create(const brigade_options* options,
                                                    brigade_engine** engine);
/// Ends an engine. Every rank that made an engine must call this before MPI_Finalize, after
/// destroying all groups.
///
/// @param engine  NULL is ignored
///
/// Cost: waits until all returned sends have left.
BRIGADE_EXPORT void brigade_engine_destroy(brigade_engine* engine);
/// Progresses pending operations without waiting, for programs that compute for long between calls
/// over transports without a progress thread (shm, mpi). The next call on the group returns any
/// failure.
BRIGADE_EXPORT void brigade_progress(brigade_engine* engine);

/// @}
/// @name Groups
/// Ranks that communicate, as a grid.
/// @{

/// A group; opaque.
typedef struct brigade_group brigade_group;

/// Makes the ranks of a communicator a grid of rows x cols, numbered row by row. Collective over
/// the communicator: exactly its ranks must call.
///
/// @param engine    the engine of the calling process; must outlive the group
/// @param mpi_comm  the communicator's Fortran handle (MPI_Comm_c2f). The caller keeps the
///                  communicator: it is used during this call only, and may then be freed.
/// @param rows      rows of the grid; equal on all ranks
/// @param cols      columns of the grid; equal on all ranks; rows * cols must be the communicator's
///                  size
/// @param group     the new group
/// @return #BRIGADE_INVALID_ARGUMENT: no such communicator, or the shape does not fit it;
///         #BRIGADE_MISMATCH: ranks differ in shape or options; #BRIGADE_UNAVAILABLE: the transport
///         does not reach all members
///
/// Cost: a few messages per rank through MPI; on several hosts, the first time, the measurement of
/// `calibrate`.
BRIGADE_EXPORT brigade_status brigade_group_create(brigade_engine* engine, int mpi_comm, int rows,
                                                   int cols, brigade_group** group);
/// Ends a group. Local. Sends that have returned still reach their receivers. No operation of the
/// group may be pending.
///
/// @param group  NULL is ignored
BRIGADE_EXPORT void brigade_group_destroy(brigade_group* group);

/// Returns the first failure of a group, on this rank or another; #BRIGADE_OK if there is none yet.
/// Does not wait. Ranks that compute for long can call this function to learn of failures of other
/// ranks.
BRIGADE_EXPORT brigade_status brigade_group_error(const brigade_group* group);
/// Aborts a group. Local. Every pending and later call on the group fails with #BRIGADE_ABORTED, on
/// all ranks. The error text has the number of the aborting rank and `text`. No effect on a broken
/// group.
///
/// @param group  can only be destroyed afterwards
/// @param text   the reason; its first 200 bytes reach the other ranks
BRIGADE_EXPORT void brigade_group_abort(brigade_group* group, const char* text);

/// The ranks that take part in a call. 0 means #BRIGADE_ALL wherever a function takes a scope.
typedef enum {
  BRIGADE_ROW = 1,     ///< the calling rank's row of the grid
  BRIGADE_COLUMN = 2,  ///< the calling rank's column of the grid
  BRIGADE_ALL = 3      ///< the whole group
} brigade_scope;

/// Returns the number of ranks in the calling rank's scope; -1 if there is no such scope. Local.
BRIGADE_EXPORT int brigade_scope_size(const brigade_group* group, brigade_scope scope);
/// Returns the calling rank's number in its scope, from 0; -1 if there is no such scope. Local.
BRIGADE_EXPORT int brigade_scope_rank(const brigade_group* group, brigade_scope scope);

/// @}
/// @name Calls
/// Collective calls, sends and receives.
/// @{

/// The pattern of a call. docs/design/patterns.md has the cost of each.
typedef enum {
  BRIGADE_SEND = 0,    ///< locally blocking: returns without the receiver, whatever the size
  BRIGADE_RECEIVE,     ///< a shorter message is legal, a longer one a mismatch
  BRIGADE_BROADCAST,   ///< the root's matrix to all
  BRIGADE_REDUCE,      ///< combination of all matrices in the root's; other matrices stay unchanged
  BRIGADE_ALL_REDUCE,  ///< combination of all matrices in each of them, with equal bits
  BRIGADE_MULTI_BROADCAST,  ///< portion q of rank q to all; along a ring, or #BRIGADE_CIRCULANT
  BRIGADE_MULTI_REDUCE,     ///< combination of all portions q in the matrix of rank q
  BRIGADE_BARRIER           ///< no rank leaves before all have come
} brigade_pattern;

/// The topology along which messages travel. The topology determines the order in which
/// floating-point numbers are combined.
typedef enum {
  BRIGADE_TREE = 0,          ///< parameter k >= 2: k-nomial; 0 means 2, binomial
  BRIGADE_INCREASING_RINGS,  ///< parameter: number of chains from the root; 0 means 1, a ring
  BRIGADE_DECREASING_RINGS,  ///< chains towards lower ranks
  BRIGADE_SPLIT_RING,        ///< one chain each way
  BRIGADE_HYPERCUBE,         ///< all-reduce only
  BRIGADE_FREE,              ///< the library chooses: broadcast, reduce, all-reduce, multi patterns
  BRIGADE_DEALT,             ///< all-reduce only: reduce-scatter + allgather
  BRIGADE_TWO_TREE,          ///< broadcast and reduce: two trees, each for half of the matrix
  BRIGADE_CIRCULANT          ///< broadcast, reduce, multi patterns: fewest messages in a row
} brigade_shape;

/// The type of the elements of a matrix.
typedef enum {
  BRIGADE_DOUBLE = 0,     ///< 8 bytes
  BRIGADE_FLOAT,          ///< 4 bytes
  BRIGADE_INT32,          ///< 4 bytes
  BRIGADE_INT64,          ///< 8 bytes
  BRIGADE_COMPLEX_FLOAT,  ///< two floats
  BRIGADE_COMPLEX_DOUBLE  ///< two doubles
} brigade_type;

/// The operation that combines elements. The result has equal bits on every rank and in every run.
typedef enum {
  BRIGADE_SUM = 0,  ///< sum; where it is NaN, the canonical NaN
  BRIGADE_ABS_MAX,  ///< largest magnitude; complex: |re| + |im|; NaN wins
  BRIGADE_ABS_MIN   ///< smallest magnitude; complex: |re| + |im|; NaN wins
} brigade_op;

/// A matrix in the caller's memory, column by column.
typedef struct {
  void* data;    ///< its first element; NULL only if it has none
  int64_t rows;  ///< in elements, 0 or more
  int64_t cols;  ///< in elements, 0 or more
  int64_t ld;    ///< elements from one column to the next; 0 means rows
} brigade_matrix;

/// One rank's arguments of a call. Zero is a sensible value of every field, so only the other
/// fields need to be set: `{.pattern = BRIGADE_BROADCAST, ...}`.
typedef struct {
  brigade_pattern pattern;  ///< equal on all ranks of the scope
  brigade_scope scope;      ///< equal on all ranks of the scope; ignored by send and receive
  /// A rank in the scope, equal on all ranks. Send and receive: the peer's rank in the group.
  int root;
  brigade_type type;  ///< of the elements; equal on all ranks
  /// The matrix that is sent, combined or received. The number of elements is equal on all ranks;
  /// shapes and ld may differ. A receive may have more elements than the message: the rest stays
  /// untouched. Ignored by barrier and multi-broadcast.
  brigade_matrix matrix;
  brigade_shape shape;  ///< equal on all ranks
  int parameter;        ///< of the shape; 0 means its default; equal on all ranks
  brigade_op op;        ///< equal on all ranks
  /// For maximum and minimum: NULL, or one number per element, in packed order. In: a number for
  /// this rank's contribution; out: the winner's number. Of equal magnitudes the smaller number
  /// wins. NULL on all ranks, or on none.
  int32_t* locations;
  /// Multi patterns: one matrix per rank of the scope. The number of elements of portion q is equal
  /// on all ranks. Ignored by other patterns.
  const brigade_matrix* portions;
  int decreasing;  ///< multi patterns: non-zero sends to the next lower rank; equal on all ranks
  /// How long the call may take on this rank, in seconds; 0: no limit. A call that takes longer
  /// breaks the group with #BRIGADE_TIMED_OUT. If a sender has begun to copy into the matrix of a
  /// receive, the receive first waits until the copy is complete or the sender has ended.
  double timeout_seconds;
} brigade_call;

/// Counters of one operation on this rank.
typedef struct {
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

/// Runs a call and blocks until it is complete. Collective over the scope. A send or a receive
/// involves its two ranks only.
///
/// @param group       the group of the call
/// @param call        the arguments; read during the call only
/// @param statistics  counters of the operation on this rank; NULL: not wanted
/// @return #BRIGADE_INVALID_ARGUMENT; #BRIGADE_MISMATCH; #BRIGADE_PEER_LOST; #BRIGADE_TIMED_OUT (a
///         send or broadcast, or one with `timeout_seconds`); #BRIGADE_INTERNAL; #BRIGADE_ABORTED
///
/// A send does not wait for its receiver while staging and overflow memory last; nor does a
/// broadcast at the root, or at a rank that forwards the message. All other calls wait for the
/// messages that they need.
BRIGADE_EXPORT brigade_status brigade_run(brigade_group* group, const brigade_call* call,
                                          brigade_statistics* statistics);

/// A started call; opaque.
typedef struct brigade_operation brigade_operation;

/// Starts a call without waiting. Calls on one scope take place in the order of their starts. Sends
/// to one rank take place in the order of their starts, and so do receives from one rank.
///
/// @param group      the group of the call
/// @param call       the arguments. The matrices and locations that it points to must stay valid
///                   until the operation is done; `call` itself and its array of portions may be
///                   freed.
/// @param operation  the started operation
/// @return #BRIGADE_NO_RESOURCE: the staging memory that the call needs is in use;
///         #BRIGADE_OUT_OF_MEMORY: the call needs more staging memory than there is, on all ranks
///         of the scope; otherwise as brigade_run()
///
/// #BRIGADE_NO_RESOURCE may be returned on one rank only. That rank must start the call again until
/// the start succeeds, and must not wait for anything else before. Each try progresses pending
/// operations, like brigade_progress(). The start succeeds eventually if the order of calls is the
/// same on all ranks that take part in them, across all scopes.
BRIGADE_EXPORT brigade_status brigade_start(brigade_group* group, const brigade_call* call,
                                            brigade_operation** operation);
/// Progresses. Returns 1 if the operation is complete, successfully or not; it must still be waited
/// for. NULL counts as complete.
BRIGADE_EXPORT int brigade_test(brigade_operation* operation);
/// Blocks until the operation is complete, and ends it.
///
/// @param operation   invalid afterwards; NULL counts as complete, with counters of 0
/// @param statistics  counters of the operation on this rank; NULL: not wanted
/// @return the outcome of the call, as of brigade_run()
BRIGADE_EXPORT brigade_status brigade_wait(brigade_operation* operation,
                                           brigade_statistics* statistics);

/// @}
/// @name Memory
/// Memory that other ranks of the host can map.
/// @{

/// Allocates memory for matrices that are exchanged with other ranks of the host, and for windows.
/// Local; needs no engine and no MPI. Any thread may call.
///
/// brigade_run() copies less in two cases (docs/user/settings.md has the conditions):
///
/// 1. A send of more than 4 KiB within a host, if the receiver's matrix lies in this memory, and
///    the receiver has called before the sender, by at most about 20 us. The sender copies the
///    message straight to the receiver's matrix: one copy, no staging memory.
/// 2. Multi-broadcasts, multi-reduces and all-reduces on up to 8 ranks of one host, if the matrices
///    of all ranks lie in this memory and have at least 32 KiB on average. Ranks read each other's
///    matrices in place, and the call returns when all ranks have read.
///
/// brigade_window_create() with this memory gives windows that are as fast as windows of
/// brigade_window_allocate(). In every other use this memory behaves like ordinary memory.
///
/// @param bytes  the length; 0 counts as 1
/// @return memory with unspecified contents, for brigade_free(). Memory of up to half a page is
///         aligned to at least its length and at least 64 bytes; longer memory is aligned to a
///         page. NULL: the system has not enough memory left; see brigade_error_text(). If memory
///         cannot be shared, ordinary memory is returned.
///
/// A page counts as used, and gets its NUMA node, when it is first touched, like ordinary memory.
/// If the machine or a control group has no page left when a page is touched, the kernel ends a
/// process. If vm.overcommit_memory is 2, all pages count as used from the allocation on.
/// Allocations of up to half a page share pages. A block of more than 64 GiB is ordinary memory. A
/// forked child shares the memory with its parent. Core files do not include it.
///
/// Cost: allocating pages from the system. It is below a microsecond (1) for half a page or less,
/// and (2) if a freed block of the same length was kept for reuse. Up to 16 freed blocks with up to
/// 8 MiB in all are kept.
BRIGADE_EXPORT void* brigade_alloc(size_t bytes);
/// Frees memory of brigade_alloc(). Local. Any thread may call. No pending call and no window may
/// use the memory.
///
/// @param memory  NULL is ignored
///
/// Pages that are not kept go back to the system at once, even if other ranks still map them.
BRIGADE_EXPORT void brigade_free(void* memory);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_BRIGADE_H_ */

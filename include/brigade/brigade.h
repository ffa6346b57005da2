/// @file
/// Brigade: communication patterns through scarce staging memory, for C99 and what can call it.
///
/// Conventions:
///
/// 1. Functions return a brigade_status. On failure brigade_error_text() says what was wrong,
///    where, and what to do.
/// 2. After #BRIGADE_INVALID_ARGUMENT, #BRIGADE_NO_RESOURCE, #BRIGADE_OUT_OF_MEMORY and
///    #BRIGADE_UNAVAILABLE nothing happened. After any other failure the group is broken, on all
///    its ranks: every call on it, under way or made later, fails, and it can only be destroyed.
///    The text names the rank that broke it, its call and its reason. What the call was to write is
///    then unspecified.
/// 3. Matrices are column-major; ld is counted in elements and at least rows. A row-major matrix is
///    the same with rows and columns exchanged. Sizes are 64-bit; staging memory stays within its
///    budget whatever the size, and a send or broadcast that must not wait for its receivers takes
///    ordinary memory beyond that.
/// 4. Objects made by a _create or _start are the caller's, to be given back by the matching
///    _destroy or _wait. On failure nothing is made.
/// 5. Not thread-safe: an engine and all its groups are used by one thread at a time. Between calls
///    a thread of the library's own may move what is under way, where the transport allows that; it
///    makes no MPI calls and takes no signals.
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

/// The outcome of a call; convention 2 says what state each leaves.
typedef enum {
  BRIGADE_OK = 0,            ///< done
  BRIGADE_NO_RESOURCE,       ///< staging memory is in use: progress, then try again
  BRIGADE_INVALID_ARGUMENT,  ///< what this rank passed is wrong
  BRIGADE_OUT_OF_MEMORY,     ///< memory, or a limit on it, is used up
  BRIGADE_TIMED_OUT,         ///< at the limit of overflow memory, or in a call, for too long
  BRIGADE_PEER_LOST,         ///< a rank is gone
  BRIGADE_MISMATCH,          ///< the ranks disagree about the call they make together
  BRIGADE_UNAVAILABLE,       ///< not in this build, or not on this machine
  BRIGADE_INTERNAL,          ///< a bug here or in the transport
  BRIGADE_ABORTED            ///< a rank has given the group up: brigade_group_abort()
} brigade_status;

/// A word for `status`: "ok", "no resource", ... The text is static. Any thread may call.
BRIGADE_EXPORT const char* brigade_status_name(brigade_status status);
/// The text of this thread's last failure, in English; valid until its next call that fails.
BRIGADE_EXPORT const char* brigade_error_text(void);
/// "0.1.0". The text is static. Any thread may call.
BRIGADE_EXPORT const char* brigade_version(void);

/// @name Engine
/// What all groups of a process share: a transport, staging memory, the order of calls. One per
/// process.
/// @{

/// An engine; opaque.
typedef struct brigade_engine brigade_engine;

/// The options of an engine. Fill in the defaults with brigade_options_init() first: zeros are
/// no legal lengths. The variables of the environment in docs/user/settings.md change the defaults;
/// a field that the program sets afterwards comes before its variable.
typedef struct {
  /// "auto", "mpi", "shm", "tcp" or "sockets"; equal on all ranks of a group. NULL: that of
  /// BRIGADE_TRANSPORT, or "auto".
  const char* transport;
  /// What staging memory is lent out in, in bytes: a multiple of 64, 1024 at least. Equal on all
  /// ranks of a group.
  size_t chunk_bytes;
  /// The budget of staging memory per rank, in bytes. Equal on all ranks of a group.
  size_t staging_bytes;
  /// Limit, in bytes, of the ordinary memory for returned sends; SIZE_MAX: what is available.
  size_t overflow_bytes;
  /// How long a send waits at that limit before it fails, in seconds.
  double overflow_wait_seconds;
  /// NULL for that of BRIGADE_TRACE, or none; or where to write a timeline of copies, combines,
  /// messages and waits when the engine is destroyed: process 3 of MPI_COMM_WORLD writes lu.3.json
  /// if this is "lu.json". It is for Perfetto (brigade_merge_trace puts the parts together) and
  /// bounded: 2^20 events, 40 MiB of memory. An error that keeps it from being written goes to
  /// stderr. It has the BLACS calls of the process, too. A process has one timeline at a time, that
  /// of BRIGADE_TRACE included.
  const char* trace_file;
  /// Not 0: a group on several hosts measures what its edges cost when it is made, once per set of
  /// hosts, in well below a second, and chooses by that. Equal on all ranks of a group.
  int calibrate;
  /// Not 0: rank 0 of a scope says on stderr what was chosen for calls that leave it to the
  /// library, and why, once per pattern and length.
  int explain;
  /// Not 0: windows that the engine makes look for operations that must not meet, as
  /// docs/user/windows.md has it, and are much slower. One rank of a window that says so suffices.
  int check_windows;
} brigade_options;

/// Fills in the defaults: NULL, 32 KiB, 2 MiB, SIZE_MAX, 120 s, NULL, 1, 0, 0, or what the
/// environment says instead. Any thread may call.
BRIGADE_EXPORT void brigade_options_init(brigade_options* options);
/// Makes an engine. Local.
///
/// @param options  NULL for the defaults; may go afterwards
/// @param engine   the new engine
/// @return #BRIGADE_INVALID_ARGUMENT: no such transport or interface, lengths that do not fit
///         each other, a second timeline, or a bad value of a variable of docs/user/settings.md,
///         whether or not the engine uses it; #BRIGADE_UNAVAILABLE: this machine lacks what the
///         transport takes; #BRIGADE_OUT_OF_MEMORY: no staging memory to be had
///
/// Cost: takes the staging memory.
BRIGADE_EXPORT brigade_status brigade_engine_create(const brigade_options* options,
                                                    brigade_engine** engine);
/// Ends an engine: on every rank that made one, before MPI_Finalize. Every group must be destroyed
/// before.
///
/// @param engine  NULL is ignored
///
/// Cost: waits until sends that have returned have left.
BRIGADE_EXPORT void brigade_engine_destroy(brigade_engine* engine);
/// Moves what can move without waiting, for programs that compute for long between calls, over
/// transports where nothing else does (shm, mpi). What fails is told by the next call on the group.
BRIGADE_EXPORT void brigade_progress(brigade_engine* engine);

/// @}
/// @name Groups
/// Ranks that communicate, as a grid.
/// @{

/// A group; opaque.
typedef struct brigade_group brigade_group;

/// Makes the ranks of a communicator a grid of rows x cols, numbered row by row. Collective over
/// that communicator, and nobody else.
///
/// @param engine    the calling process's; must outlive the group
/// @param mpi_comm  the communicator's Fortran handle (MPI_Comm_c2f). It stays the caller's: it
///                  is used during this call only, and may then be freed.
/// @param rows      rows of the grid; equal on all ranks
/// @param cols      its columns, likewise; rows * cols must be the communicator's size
/// @param group     the new group
/// @return #BRIGADE_INVALID_ARGUMENT: no such communicator, or the shape does not fit it;
///         #BRIGADE_MISMATCH: ranks differ in shape or options; #BRIGADE_UNAVAILABLE: the transport
///         does not reach all members
///
/// Cost: a few messages per rank through MPI; on several hosts, the first time, what `calibrate`
/// says.
BRIGADE_EXPORT brigade_status brigade_group_create(brigade_engine* engine, int mpi_comm, int rows,
                                                   int cols, brigade_group** group);
/// Ends a group. Local. Sends that have returned still reach their receivers. No operation of the
/// group may be under way.
///
/// @param group  NULL is ignored
BRIGADE_EXPORT void brigade_group_destroy(brigade_group* group);

/// The first failure of a group, its own or told by another rank; #BRIGADE_OK if there is none yet.
/// Looks and does not wait: for ranks that compute for long and want to hear of the others.
BRIGADE_EXPORT brigade_status brigade_group_error(const brigade_group* group);
/// Gives a group up. Local. Every call on it, under way or made later, ends with #BRIGADE_ABORTED,
/// on every rank as soon as that calls: the error names this rank and says `text`. No effect on a
/// group that is broken already.
///
/// @param group  it can only be destroyed afterwards
/// @param text   why; its first 200 bytes reach the others
BRIGADE_EXPORT void brigade_group_abort(brigade_group* group, const char* text);

/// Which ranks take part in a call. Wherever a scope is asked for, 0 means #BRIGADE_ALL.
typedef enum {
  BRIGADE_ROW = 1,     ///< the calling rank's row of the grid
  BRIGADE_COLUMN = 2,  ///< its column
  BRIGADE_ALL = 3      ///< the whole group
} brigade_scope;

/// Ranks in the calling rank's scope; -1 if there is no such scope. Local.
BRIGADE_EXPORT int brigade_scope_size(const brigade_group* group, brigade_scope scope);
/// The calling rank's number in its scope, from 0; -1 if there is no such scope. Local.
BRIGADE_EXPORT int brigade_scope_rank(const brigade_group* group, brigade_scope scope);

/// @}
/// @name Calls
/// What ranks do together.
/// @{

/// What a call does. docs/design/patterns.md has the cost of each.
typedef enum {
  BRIGADE_SEND = 0,    ///< locally blocking: returns without the receiver, whatever the size
  BRIGADE_RECEIVE,     ///< a shorter message is legal, a longer one a mismatch
  BRIGADE_BROADCAST,   ///< the root's matrix to all
  BRIGADE_REDUCE,      ///< combination of all matrices, in the root's; others stay as they were
  BRIGADE_ALL_REDUCE,  ///< the same in all, with the same bits
  BRIGADE_MULTI_BROADCAST,  ///< portion q of rank q to all; along a ring, or #BRIGADE_CIRCULANT
  BRIGADE_MULTI_REDUCE,     ///< combination of all portions q, in the matrix of rank q; likewise
  BRIGADE_BARRIER           ///< no rank leaves before all have come
} brigade_pattern;

/// The way messages go. It fixes the order in which floating numbers are combined.
typedef enum {
  BRIGADE_TREE = 0,          ///< parameter k >= 2: k-nomial; 0 means 2, binomial
  BRIGADE_INCREASING_RINGS,  ///< parameter: number of chains from the root; 0 means 1, a ring
  BRIGADE_DECREASING_RINGS,  ///< the same, towards lower ranks
  BRIGADE_SPLIT_RING,        ///< one chain each way
  BRIGADE_HYPERCUBE,         ///< all-reduce only
  BRIGADE_FREE,      ///< broadcast, reduce, all-reduce, the multi forms: the library's choice
  BRIGADE_DEALT,     ///< all-reduce only: each rank combines its share, then all get all
  BRIGADE_TWO_TREE,  ///< broadcast and reduce: two trees, each for half of the matrix
  BRIGADE_CIRCULANT  ///< broadcast, reduce, the multi forms: fewest messages in a row
} brigade_shape;

/// What the elements of a matrix are.
typedef enum {
  BRIGADE_DOUBLE = 0,     ///< 8 bytes
  BRIGADE_FLOAT,          ///< 4 bytes
  BRIGADE_INT32,          ///< 4 bytes
  BRIGADE_INT64,          ///< 8 bytes
  BRIGADE_COMPLEX_FLOAT,  ///< two floats
  BRIGADE_COMPLEX_DOUBLE  ///< two doubles
} brigade_type;

/// How elements are combined. The result has the same bits on every rank and in every run.
typedef enum {
  BRIGADE_SUM = 0,  ///< sum; where it is NaN, the canonical NaN
  BRIGADE_ABS_MAX,  ///< largest magnitude; complex: |re| + |im|; NaN wins
  BRIGADE_ABS_MIN   ///< smallest magnitude, likewise
} brigade_op;

/// A matrix in the caller's memory, column by column.
typedef struct {
  void* data;    ///< its first element; NULL only if it has none
  int64_t rows;  ///< in elements, 0 or more
  int64_t cols;  ///< in elements, 0 or more
  int64_t ld;    ///< elements from one column to the next; 0 means rows
} brigade_matrix;

/// One rank's description of a call. Zero is a sensible value for every field, so name those you
/// need: `{.pattern = BRIGADE_BROADCAST, ...}`.
typedef struct {
  brigade_pattern pattern;  ///< what is done; equal on all ranks of the scope
  brigade_scope scope;      ///< equal on all ranks of it; ignored by send and receive
  /// A rank in the scope, equal on all ranks. Send and receive: the peer's rank in the group.
  int root;
  brigade_type type;  ///< of the elements; equal on all ranks
  /// What is sent, combined or received. Equally many elements on all ranks; shapes and ld may
  /// differ. A receive may have more elements than come: the rest stays untouched. Not looked at by
  /// barrier and multi-broadcast.
  brigade_matrix matrix;
  brigade_shape shape;  ///< equal on all ranks
  int parameter;        ///< of the shape; 0 means its default; equal on all ranks
  brigade_op op;        ///< equal on all ranks
  /// Of maximum and minimum: NULL, or per element, in packed order, a number for this rank's
  /// contribution in and the winner's out. Of equal magnitudes the smaller number wins. NULL on all
  /// ranks, or on none.
  int32_t* locations;
  /// Multi patterns: one matrix per rank of the scope. Portion q has equally many elements on all
  /// ranks. Not looked at by other patterns.
  const brigade_matrix* portions;
  int decreasing;  ///< multi patterns: non-zero sends to the next lower rank; equal on all ranks
  /// How long the call may take on this rank, in seconds, until it breaks the group with
  /// #BRIGADE_TIMED_OUT; 0: any time. A receive whose sender has begun to copy to its matrix waits
  /// for the end of that, or of the sender.
  double timeout_seconds;
} brigade_call;

/// What one operation did on this rank.
typedef struct {
  /// Pieces posted, headers included. What another rank reads here in place, and is not empty,
  /// counts as one.
  uint64_t messages_sent;
  uint64_t bytes_sent;  ///< bytes in them
  uint64_t pieces;      ///< what this rank's own message was cut into
  /// Pieces copied between user and staging memory, or from the memory of another rank: to user
  /// memory, or to be combined.
  uint64_t copies;
  uint64_t bytes_copied;        ///< bytes in them
  uint64_t combines;            ///< pieces combined
  uint64_t bytes_combined;      ///< bytes in them
  uint64_t overflow_pieces;     ///< pieces that took ordinary memory, if only for a part
  uint64_t peak_staging_bytes;  ///< staging memory held at once
  uint64_t wait_ns;             ///< nanoseconds of waiting, for others or for a chunk
} brigade_statistics;

/// Runs a call to its end. Collective over the scope; a send and a receive over the two ranks.
///
/// @param group       where it takes place
/// @param call        what is done; read during the call only
/// @param statistics  what it did on this rank; NULL: not wanted
/// @return #BRIGADE_INVALID_ARGUMENT; #BRIGADE_MISMATCH; #BRIGADE_PEER_LOST; #BRIGADE_TIMED_OUT (a
///         send or broadcast, or one with `timeout_seconds`); #BRIGADE_INTERNAL; #BRIGADE_ABORTED
///
/// A send, and a broadcast at its root and relays, return without their receivers as long as
/// staging and overflow memory last. They wait for receivers that have begun to read where the
/// sender has the message, but not for long: 50 ms, and 4 ms per MiB. All other calls wait for what
/// they need.
BRIGADE_EXPORT brigade_status brigade_run(brigade_group* group, const brigade_call* call,
                                          brigade_statistics* statistics);

/// A started call; opaque.
typedef struct brigade_operation brigade_operation;

/// Starts a call without waiting. What is started on one scope takes place in the order of the
/// starts, as do sends to, and receives from, one rank.
///
/// @param group      where it takes place
/// @param call       what is done. The matrices and locations that it points to must stay valid
///                   until the operation is done; `call` itself and its array of portions may go.
/// @param operation  the started call
/// @return #BRIGADE_NO_RESOURCE: the staging memory it needs is in use; #BRIGADE_OUT_OF_MEMORY: it
///         needs more than there is, on all ranks of the scope; else as brigade_run()
///
/// #BRIGADE_NO_RESOURCE may be the answer on one rank only, which then owes the others its part: it
/// starts the call again until it is taken, and waits for nothing else before. Each try moves what
/// is under way, as brigade_progress() does. The call is taken in the end if all ranks make the
/// calls that they share in one order, those on different scopes included.
BRIGADE_EXPORT brigade_status brigade_start(brigade_group* group, const brigade_call* call,
                                            brigade_operation** operation);
/// Progresses; 1 once the operation is done, well or not. It must still be waited for. NULL is
/// done.
BRIGADE_EXPORT int brigade_test(brigade_operation* operation);
/// Waits until done, and ends the operation.
///
/// @param operation   no longer valid afterwards; NULL is done, and did nothing
/// @param statistics  what it did on this rank; NULL: not wanted
/// @return the outcome, as of brigade_run()
BRIGADE_EXPORT brigade_status brigade_wait(brigade_operation* operation,
                                           brigade_statistics* statistics);

/// @}
/// @name Memory
/// Memory that other ranks of the host can map.
/// @{

/// Makes memory for matrices that come from other ranks of the host, and for windows. Local; needs
/// no engine and no MPI. Any thread may call.
///
/// Where a receiver waits in brigade_run() for a message of more than 4 KiB, a sender of its host
/// that comes within some 20 us copies that straight to a matrix in such memory: one copy, and no
/// staging memory. Of 32 KiB and more that are sent from such memory, with brigade_run(), to ranks
/// of the host that wait, they make that one copy themselves: a message from point to point, or a
/// broadcast of up to 8 ranks, all of whom must wait where some would pass it on. The call returns
/// when those have read that began to, or are late (brigade_run()); it waits for no others. Where
/// the matrices of all ranks lie in such memory, or the kernel is faster, up to 8 of a host, long
/// multi-broadcasts, multi-reduces and all-reduces with brigade_run(), and reductions of two, read
/// them in place, and return when all have read; docs/user/settings.md says which. Windows of it
/// (brigade_window_create()) are as fast as those of brigade_window_allocate(). For all else it is
/// memory like any other.
///
/// @param bytes  how much; 0 counts as 1
/// @return memory with unspecified contents, to be given back to brigade_free(). Up to half a page
///         it is aligned to its length or more, at least to 64 bytes; longer memory begins a page.
///         NULL: the system has not so much left; brigade_error_text() says so. Where nothing can
///         be shared, ordinary memory is given.
///
/// A page counts as used, and gets its NUMA node, when it is first touched, like ordinary memory:
/// if the machine or a control group has none left then, the kernel ends a process. Where
/// vm.overcommit_memory is 2, all pages count from here on. Allocations of up to half a page share
/// pages. A block of more than 64 GiB is ordinary memory. A forked child shares the memory with its
/// parent. Core files leave it out.
///
/// Cost: that of pages of the system, below a microsecond for half a page or less, and where a
/// block as long was freed: up to 16 of those, and up to 8 MiB, are kept for that.
BRIGADE_EXPORT void* brigade_alloc(size_t bytes);
/// Gives memory of brigade_alloc() back. Local. Any thread may call. No call under way and no
/// window may use it any more.
///
/// @param memory  NULL is ignored
///
/// Pages that are not kept go back to the system at once, though others may still map them.
BRIGADE_EXPORT void brigade_free(void* memory);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_BRIGADE_H_ */

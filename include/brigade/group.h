/// @file
/// Brigade: groups of ranks, with and without MPI.

#ifndef BRIGADE_GROUP_H_
#define BRIGADE_GROUP_H_

#include <string.h>

#include "brigade/engine.h"
#include "brigade/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @name Groups
/// Ranks that communicate, as a grid. For a plain communicator pass one row and `size` columns.
/// brigade_scope_rank() and brigade_scope_size() return rank and size. `root` and numbers of blocks
/// count ranks of the scope; `source` and `destination` of sends count ranks of the group.
/// @{

/// A group: a grid of rows x cols ranks, numbered row by row; opaque.
typedef struct brigade_group brigade_group;

/// Makes the ranks of an MPI communicator a grid of rows x cols, numbered row by row. Collective
/// over the communicator: exactly its ranks must call.
///
/// @param engine    the engine of the calling process; must outlive the group
/// @param mpi_comm  the communicator's Fortran handle (MPI_Comm_c2f). The caller keeps the
///                  communicator: it is used during this call only, and may then be freed.
/// @param rows      rows of the grid; equal on all ranks
/// @param cols      columns of the grid; equal on all ranks; rows * cols must be the communicator's
///                  size
/// @param group     the new group
/// @return #BRIGADE_INVALID_ARGUMENT: no such communicator, or the shape does not fit it;
///         #BRIGADE_MISMATCH: ranks differ in shape or options; #BRIGADE_UNAVAILABLE: MPI is not
///         initialised, or the transport does not reach all members
///
/// Cost: a few messages per rank through MPI; on several hosts, the first time, the measurement of
/// brigade_options::calibrate.
BRIGADE_EXPORT brigade_status brigade_group_from_mpi(brigade_engine* engine, int mpi_comm, int rows,
                                                     int cols, brigade_group** group);

/// Makes a group of some ranks of each colour, like MPI_Comm_split. Collective over `group`.
///
/// @param group    the parent; may be destroyed afterwards
/// @param colour   ranks of one colour, 0 or more, form a group; a negative colour: no group for
///                 this rank
/// @param key      ranks are numbered by key, and by their rank in the parent where keys are equal
/// @param members  the new group, a grid of one row; NULL if the colour is negative
/// @return the failure of the parent; otherwise as brigade_group_from_mpi(). After a failure of a
///         new group the parent can be used.
///
/// Cost: a few collective calls on the parent.
BRIGADE_EXPORT brigade_status brigade_group_split(brigade_group* group, int colour, int key,
                                                  brigade_group** members);
/// Makes a grid of the listed ranks of a group. Collective over `group`.
///
/// @param group    the parent; may be destroyed afterwards
/// @param ranks    ranks of the parent, each at most once, row by row of the new grid; equal on all
///                 ranks
/// @param rows     rows of the new grid; equal on all ranks
/// @param cols     columns of the new grid; equal on all ranks; `ranks` has rows * cols entries
/// @param members  the new group; NULL if this rank is not listed
/// @return #BRIGADE_INVALID_ARGUMENT: a rank that is not in the parent, or is listed twice;
///         #BRIGADE_MISMATCH: the ranks of the parent differ in the list or the shape; otherwise as
///         brigade_group_split()
BRIGADE_EXPORT brigade_status brigade_group_from_ranks(brigade_group* group, const int* ranks,
                                                       int rows, int cols, brigade_group** members);
/// Makes a group of the same ranks in the same shape, whose calls are independent of the calls on
/// `group`. Collective over `group`.
///
/// @param group      may be destroyed afterwards
/// @param duplicate  the new group
/// @return as brigade_group_split()
BRIGADE_EXPORT brigade_status brigade_group_duplicate(brigade_group* group,
                                                      brigade_group** duplicate);
/// Ends a group. Local. Sends that have returned still reach their receivers. No operation of the
/// group may be pending, and plans of the group must have been destroyed.
///
/// @param group  NULL is ignored
BRIGADE_EXPORT void brigade_group_destroy(brigade_group* group);

/// Returns the first failure of a group, on this rank or another; #BRIGADE_OK if there is none yet.
/// Does not wait. Ranks that compute for long can call this function to learn of failures of other
/// ranks.
BRIGADE_EXPORT brigade_status brigade_group_error(const brigade_group* group);

/// The first failure of a group, as a structure; made by brigade_failure_init().
typedef struct {
  size_t size;            ///< set by brigade_failure_init()
  brigade_status status;  ///< #BRIGADE_OK: the group is not broken
  int rank;               ///< the rank of the group that broke it; -1: not known
  /// The call that failed on that rank: "broadcast", "send", ... Static text; empty if there was
  /// none, or if it is not known.
  const char* call;
  uint64_t number;  ///< the number of that call on its channel, from 0
} brigade_failure;

/// Returns a structure for brigade_group_failure().
static inline brigade_failure brigade_failure_init(void) {
  brigade_failure failure;
  memset(&failure, 0, sizeof(failure));
  failure.size = sizeof(failure);
  return failure;
}
/// Describes the first failure of a group as data. Does not wait. Otherwise like
/// brigade_group_error().
///
/// @param group    may be broken
/// @param failure  what broke the group
/// @return the failure of the group; #BRIGADE_INVALID_ARGUMENT, if `failure` was not initialised
BRIGADE_EXPORT brigade_status brigade_group_failure(const brigade_group* group,
                                                    brigade_failure* failure);

/// Aborts a group. Local. Only the thread that uses the engine may call it; to end a blocked call,
/// set a time limit. Every pending and later call on the group fails with
/// #BRIGADE_ABORTED, on all ranks. The error text has the number of the aborting rank and `text`.
/// No effect on a broken group.
///
/// @param group  can only be destroyed afterwards
/// @param text   the reason; its first 200 bytes reach the other ranks
BRIGADE_EXPORT void brigade_group_abort(brigade_group* group, const char* text);

/// The ranks that take part in a call.
typedef enum {
  BRIGADE_ALL = 0,    ///< the whole group
  BRIGADE_ROW = 1,    ///< the calling rank's row of the grid
  BRIGADE_COLUMN = 2  ///< the calling rank's column of the grid
} brigade_scope;

/// Returns the number of ranks in the calling rank's scope; -1 if `group` is NULL or there is no
/// such scope. Local.
BRIGADE_EXPORT int brigade_scope_size(const brigade_group* group, brigade_scope scope);
/// Returns the calling rank's number in its scope, from 0; -1 if `group` is NULL or there is no
/// such scope. Local.
BRIGADE_EXPORT int brigade_scope_rank(const brigade_group* group, brigade_scope scope);

/// @}
/// @name Groups without MPI
/// A bootstrap connects the ranks of a job once, before they have a group.
/// @{

/// A bootstrap; opaque.
typedef struct brigade_bootstrap brigade_bootstrap;

/// Gathers `bytes` bytes of each rank in `all`, which has room for `size * bytes`, in rank order,
/// as MPI_Allgather does. Returns 0 on success. Any other value is an error, and the error text
/// contains this value.
typedef int (*brigade_allgather_callback)(const void* mine, void* all, size_t bytes, void* context);

/// Makes a bootstrap that calls an all-gather of the program. Local.
///
/// @param allgather  called by brigade_group_from_bootstrap() only, in the calling thread, equally
///                   often on all ranks and with equal `bytes`
/// @param context    passed to `allgather`
/// @param rank       the calling rank, from 0
/// @param size       the number of ranks; equal on all ranks
/// @param bootstrap  the new bootstrap
/// @return #BRIGADE_INVALID_ARGUMENT: `rank` is not below `size`, or a NULL pointer
BRIGADE_EXPORT brigade_status brigade_bootstrap_callback(brigade_allgather_callback allgather,
                                                         void* context, int rank, int size,
                                                         brigade_bootstrap** bootstrap);

/// Options of brigade_bootstrap_tcp(), made by brigade_bootstrap_options_init().
typedef struct {
  size_t size;         ///< set by brigade_bootstrap_options_init()
  const char* job;     ///< a name that tells jobs apart; equal on all ranks; NULL means ""
  const char* secret;  ///< a secret of the job's processes; equal on all ranks; NULL means none
  /// Seconds that ranks wait for each other in brigade_bootstrap_tcp(), and in each gather of
  /// brigade_group_from_bootstrap(); 0 means 60.
  double timeout_seconds;
} brigade_bootstrap_options;

/// Returns the default options.
static inline brigade_bootstrap_options brigade_bootstrap_options_init(void) {
  brigade_bootstrap_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  return options;
}
/// Connects the ranks of a job by TCP. Collective: all ranks must call within the time limit, in
/// any order. Rank 0 listens at `address`, and all others connect to it. If `host` is a name and
/// not an IP address, the system looks it up. The time limit does not interrupt a lookup: the call
/// may exceed it by the time limit of the system's resolver.
///
/// @param address    "host:port" or "[IPv6 address]:port" of rank 0; equal on all ranks
/// @param rank       the calling rank, from 0
/// @param size       the number of ranks; equal on all ranks
/// @param options    NULL for the defaults; may be freed afterwards
/// @param bootstrap  the new bootstrap
/// @return #BRIGADE_INVALID_ARGUMENT: a bad address or rank; #BRIGADE_TIMED_OUT: ranks, which the
///         text names, have not joined; #BRIGADE_MISMATCH: another job, secret, size or version, or
///         a rank that has joined twice; #BRIGADE_PEER_LOST: a rank died; #BRIGADE_UNAVAILABLE:
///         rank 0 cannot listen at the address, or libsodium is missing
BRIGADE_EXPORT brigade_status brigade_bootstrap_tcp(const char* address, int rank, int size,
                                                    const brigade_bootstrap_options* options,
                                                    brigade_bootstrap** bootstrap);
/// Ends a bootstrap. Local. Groups made with it stay.
///
/// @param bootstrap  NULL is ignored
BRIGADE_EXPORT void brigade_bootstrap_destroy(brigade_bootstrap* bootstrap);

/// Makes the ranks of a bootstrap a grid of rows x cols, numbered row by row. Collective over the
/// ranks of the bootstrap.
///
/// @param engine     the engine of the calling process; must outlive the group
/// @param bootstrap  used during this call only; serves any number of groups
/// @param rows       rows of the grid; equal on all ranks
/// @param cols       columns of the grid; equal on all ranks; rows * cols must be the number of
///                   ranks
/// @param group      the new group
/// @return #BRIGADE_INVALID_ARGUMENT: rows * cols is not the number of ranks; #BRIGADE_MISMATCH:
///         ranks differ in shape or options; #BRIGADE_TIMED_OUT, #BRIGADE_PEER_LOST: a rank did not
///         call, or ended; #BRIGADE_INTERNAL: the callback failed
BRIGADE_EXPORT brigade_status brigade_group_from_bootstrap(brigade_engine* engine,
                                                           brigade_bootstrap* bootstrap, int rows,
                                                           int cols, brigade_group** group);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_GROUP_H_ */

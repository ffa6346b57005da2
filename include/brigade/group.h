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
/// A group is a set of ranks that communicate, arranged in a grid, and corresponds to an MPI
/// communicator. If you need no grid, pass 1 row and n columns for n ranks.
///
/// Functions that make a group from a parent group are collective over the parent. The program may
/// destroy the parent afterwards. Each of these functions costs a few collective calls on the
/// parent. Convention 2 of brigade.h says whether the parent stays usable after a failure.
/// @{

/// A group: a grid of rows x cols ranks, which are numbered row by row. Opaque.
typedef struct brigade_group brigade_group;

/// Makes a group of all ranks of an MPI communicator, with the same rank numbers. Collective over
/// the communicator.
///
/// @param engine    the engine of the calling process; must outlive the group
/// @param mpi_comm  the communicator's Fortran handle (MPI_Comm_c2f). The caller may free the
///                  communicator afterwards.
/// @param rows, cols  the grid; equal on all ranks; rows * cols must be the communicator's size
/// @param group     the new group
/// @return #BRIGADE_INVALID_ARGUMENT: `mpi_comm` is not the handle of a communicator, or
///         rows * cols is not the communicator's size; #BRIGADE_MISMATCH: ranks differ in rows,
///         columns, or a field of brigade_options that must be equal; #BRIGADE_UNAVAILABLE: MPI is
///         not initialised, or the engine's transport does not connect all ranks
///
/// Cost: a few MPI messages per rank. The first group on a set of several hosts also measures the
/// links between the hosts (brigade_options::calibrate).
BRIGADE_EXPORT brigade_status brigade_group_from_mpi(brigade_engine* engine, int mpi_comm, int rows,
                                                     int cols, brigade_group** group);

/// Makes one group for each colour, like MPI_Comm_split. Collective over `group`.
///
/// @param group    the parent
/// @param colour   0 or more: all ranks with equal colours form a new group. Negative: this rank
///                 joins no new group, like MPI_UNDEFINED.
/// @param key      the ranks of a new group are numbered by increasing key; with equal keys, by
///                 increasing rank in the parent
/// @param members  the new group, a grid of one row; NULL if the colour is negative
/// @return one of the statuses that brigade_group_from_mpi() lists; if the parent is already broken
///         (convention 2 of brigade.h), the failure that broke the parent
BRIGADE_EXPORT brigade_status brigade_group_split(brigade_group* group, int colour, int key,
                                                  brigade_group** members);
/// Makes a group of the listed ranks of a group. Collective over `group`.
///
/// @param group    the parent
/// @param ranks    ranks of the parent in the order of the new grid, row by row; each rank at most
///                 once; equal on all ranks
/// @param rows, cols  the new grid; equal on all ranks; `ranks` has rows * cols entries
/// @param members  the new group; NULL if this rank is not listed
/// @return #BRIGADE_INVALID_ARGUMENT: a listed rank is not in the parent, or is listed twice;
///         #BRIGADE_MISMATCH: the ranks of the parent differ in `ranks`, `rows` or `cols`; or a
///         status that brigade_group_split() returns
BRIGADE_EXPORT brigade_status brigade_group_from_ranks(brigade_group* group, const int* ranks,
                                                       int rows, int cols, brigade_group** members);
/// Makes a group with the ranks and the grid of `group`, like MPI_Comm_dup. Collective over
/// `group`. Calls on the new group and calls on `group` do not wait for each other.
///
/// @param group      the parent
/// @param duplicate  the new group
/// @return see brigade_group_split()
BRIGADE_EXPORT brigade_status brigade_group_duplicate(brigade_group* group,
                                                      brigade_group** duplicate);
/// Destroys a group. Local. The messages of sends that have returned still reach their receivers.
/// Before this call, the program must have waited for all operations (started calls) of the group,
/// and must have destroyed all plans (operation.h) of the group.
///
/// @param group  NULL is ignored
BRIGADE_EXPORT void brigade_group_destroy(brigade_group* group);

/// Returns the failure, of this or another rank, that broke the group (convention 2 of brigade.h).
/// Returns #BRIGADE_OK if this rank knows of no failure. Local. Progresses pending operations; does
/// not wait.
BRIGADE_EXPORT brigade_status brigade_group_error(const brigade_group* group);

/// A description of the failure that broke a group (convention 2 of brigade.h).
typedef struct {
  size_t size;            ///< set by brigade_failure_init()
  brigade_status status;  ///< #BRIGADE_OK: the group is not broken
  int rank;               ///< the rank that broke the group; -1: not known
  /// The call that failed on the rank `rank`: the name of its C function without `brigade_`, such
  /// as "bcast". A `v` at the end of the name is omitted, too: "gather" means brigade_gather() or
  /// brigade_gatherv(). For brigade_sendrecv(): "send" or "recv". A string with static storage,
  /// which the caller must not free; "" if no call failed, or if the call is not known.
  const char* call;
  /// The number of the failed call, counted from 0. The library counts collective calls separately
  /// for each scope (the group, or a row or column of its grid), sends for each destination, and
  /// receives for each source. A function that makes a group from this one makes some collective
  /// calls on this group, which count.
  uint64_t number;
} brigade_failure;

/// Returns an empty description for brigade_group_failure().
static inline brigade_failure brigade_failure_init(void) {
  brigade_failure failure;
  memset(&failure, 0, sizeof(failure));
  failure.size = sizeof(failure);
  return failure;
}
/// Like brigade_group_error(), but also writes a description of the failure to `failure`.
///
/// @param group    the group, broken or not
/// @param failure  the description of the failure
/// @return the status that brigade_group_error() returns; #BRIGADE_INVALID_ARGUMENT: `failure` was
///         not initialised by brigade_failure_init()
BRIGADE_EXPORT brigade_status brigade_group_failure(const brigade_group* group,
                                                    brigade_failure* failure);

/// Aborts a group. Local. Every pending and later call on the group fails with #BRIGADE_ABORTED, on
/// all ranks, once the ranks have learned of the abort (convention 2 of brigade.h). If the group is
/// already broken, this function has no effect.
///
/// This function cannot end a call that blocks in this process; set
/// brigade_call_options::timeout_seconds instead.
///
/// @param group  the group; after this call the program can only destroy the group
/// @param text   the reason; the error text on the other ranks contains its first 200 bytes
BRIGADE_EXPORT void brigade_group_abort(brigade_group* group, const char* text);

/// The scope of a collective call: the ranks that take part in the call.
typedef enum {
  BRIGADE_ALL = 0,    ///< the whole group
  BRIGADE_ROW = 1,    ///< the calling rank's row of the grid
  BRIGADE_COLUMN = 2  ///< the calling rank's column of the grid
} brigade_scope;

/// Returns the number of ranks in the calling rank's scope. Local. Returns -1 if `group` is NULL or
/// `scope` is not a value of brigade_scope.
BRIGADE_EXPORT int brigade_scope_size(const brigade_group* group, brigade_scope scope);
/// Returns the calling rank's number in its scope, from 0. Local. Returns -1 if `group` is NULL or
/// `scope` is not a value of brigade_scope.
BRIGADE_EXPORT int brigade_scope_rank(const brigade_group* group, brigade_scope scope);

/// @}
/// @name Groups without MPI
/// In a program without MPI, the ranks first make a bootstrap, through which they exchange data,
/// such as their addresses. Then they make groups by brigade_group_from_bootstrap().
/// @{

/// A bootstrap, through which ranks exchange data while they make a group without MPI; opaque.
typedef struct brigade_bootstrap brigade_bootstrap;

/// A function of the program that works like MPI_Allgather. Each rank passes `bytes` bytes at
/// `mine`. On every rank, the function must write the bytes of all ranks to `all`, in the order of
/// ranks. The function must return 0 on success. Any other value is a failure, and appears in
/// brigade_error_text(). No function for a barrier is needed: an all-gather is also a barrier.
typedef int (*brigade_allgather_callback)(const void* mine, void* all, size_t bytes, void* context);

/// Makes a bootstrap that calls an all-gather function of the program. Local.
///
/// @param allgather  the function. Only brigade_group_from_bootstrap() calls the function, in the
///                   calling thread. The library calls the function equally often on all ranks, and
///                   passes the same `bytes` in corresponding calls. A call that fails must fail on
///                   all ranks, such as by a time limit; the library then calls the function no
///                   more for this bootstrap.
/// @param context    passed to `allgather`
/// @param rank       the calling rank, from 0
/// @param size       the number of ranks; equal on all ranks
/// @param bootstrap  the new bootstrap
/// @return #BRIGADE_INVALID_ARGUMENT: `rank` is not below `size`, or `allgather` or `bootstrap` is
///         NULL
BRIGADE_EXPORT brigade_status brigade_bootstrap_callback(brigade_allgather_callback allgather,
                                                         void* context, int rank, int size,
                                                         brigade_bootstrap** bootstrap);

/// Options of brigade_bootstrap_tcp().
typedef struct {
  size_t size;  ///< set by brigade_bootstrap_options_init()
  /// The name of the job, of up to 63 bytes. Equal on all ranks. NULL means "".
  const char* job;
  /// A text by which the job's processes authenticate each other. Equal on all ranks. NULL: none.
  const char* secret;
  /// Seconds that ranks wait for each other in brigade_bootstrap_tcp(), and in each all-gather that
  /// brigade_group_from_bootstrap() makes: up to 1e9; 0 means 60.
  double timeout_seconds;
} brigade_bootstrap_options;

/// Returns the default options.
static inline brigade_bootstrap_options brigade_bootstrap_options_init(void) {
  brigade_bootstrap_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  return options;
}
/// Makes a bootstrap over TCP. Collective: all ranks must call this function, in any order, within
/// brigade_bootstrap_options::timeout_seconds. Rank 0 listens at `address`, and all other ranks
/// connect to rank 0.
///
/// @param address    "host:port" or "[IPv6 address]:port" of rank 0; equal on all ranks. Rank 0
///                   listens there only if the host is a number or localhost; otherwise at all
///                   network addresses of its host
/// @param rank       the calling rank, from 0
/// @param size       the number of ranks; equal on all ranks
/// @param options    NULL for the defaults; may be freed afterwards
/// @param bootstrap  the new bootstrap
/// @return #BRIGADE_INVALID_ARGUMENT: an argument or option is not valid; #BRIGADE_TIMED_OUT: some
///         ranks did not call in time (the error text names these ranks), or this rank could not
///         connect to rank 0 in time; #BRIGADE_MISMATCH: ranks differ in size, or two
///         processes pass the same rank; or this rank differs from rank 0 in job, secret or version
///         of the handshake, and the other ranks then return #BRIGADE_TIMED_OUT;
///         #BRIGADE_PEER_LOST: the process of a rank ended; #BRIGADE_UNAVAILABLE: rank 0 cannot
///         listen at the address, or libsodium is missing. After a failure the processes may call
///         this function again.
///
/// Cost: one connection from each rank to rank 0. The connections stay open until the bootstrap is
/// destroyed.
BRIGADE_EXPORT brigade_status brigade_bootstrap_tcp(const char* address, int rank, int size,
                                                    const brigade_bootstrap_options* options,
                                                    brigade_bootstrap** bootstrap);
/// Destroys a bootstrap. Local. Groups that were made with the bootstrap stay usable.
///
/// @param bootstrap  NULL is ignored
BRIGADE_EXPORT void brigade_bootstrap_destroy(brigade_bootstrap* bootstrap);

/// Makes a group of all ranks of a bootstrap, with the same rank numbers. Collective over the ranks
/// of the bootstrap.
///
/// @param engine     the engine of the calling process; must outlive the group
/// @param bootstrap  the bootstrap; the program can make several groups from one bootstrap
/// @param rows, cols  the grid; equal on all ranks; rows * cols must be the number of ranks
/// @param group      the new group
/// @return #BRIGADE_INVALID_ARGUMENT: rows * cols is not the number of ranks; #BRIGADE_MISMATCH:
///         see brigade_group_from_mpi(); #BRIGADE_TIMED_OUT: a rank did not call within
///         brigade_bootstrap_options::timeout_seconds; #BRIGADE_PEER_LOST: the process of a rank
///         ended; #BRIGADE_INTERNAL: the function that the program passed to
///         brigade_bootstrap_callback() returned an error; #BRIGADE_UNAVAILABLE: the engine's
///         transport is "mpi", or "shm" while the ranks are on several hosts
///
/// Cost: like brigade_group_from_mpi(), but with all-gathers of the bootstrap instead of MPI
/// messages.
BRIGADE_EXPORT brigade_status brigade_group_from_bootstrap(brigade_engine* engine,
                                                           brigade_bootstrap* bootstrap, int rows,
                                                           int cols, brigade_group** group);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_GROUP_H_ */

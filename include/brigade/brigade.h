// Brigade: communication patterns through scarce staging memory, for C and anything that can call
// it.
//
// Conventions
//
// 1. Functions return a brigade_status. On failure brigade_error_text() says what was wrong, where,
//    and what to do.
// 2. After BRIGADE_INVALID_ARGUMENT, BRIGADE_NO_RESOURCE, BRIGADE_OUT_OF_MEMORY and
//    BRIGADE_UNAVAILABLE nothing happened. After any other failure the group is broken: every
//    further call on it fails alike, and it can only be destroyed.
// 3. Matrices are column-major; ld is counted in elements and at least rows. A row-major matrix is
//    the same with rows and columns exchanged. Sizes are 64-bit; staging memory stays within its
//    budget whatever the size, and a send or broadcast that must not wait for its receivers takes
//    ordinary memory beyond that.
// 4. Objects made by a _create or _start are the caller's, to be given back by the matching
//    _destroy or _wait.
// 5. Not thread-safe: an engine and all its groups are used by one thread at a time. Between calls
//    a thread of the library's own may move what is under way, where the transport allows that; it
//    makes no MPI calls and takes no signals.
// 6. MPI must be initialised before the first call, at any thread level, and finalised after the
//    last.

#ifndef BRIGADE_BRIGADE_H_
#define BRIGADE_BRIGADE_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BRIGADE_EXPORT __attribute__((visibility("default")))

typedef enum {
  BRIGADE_OK = 0,
  BRIGADE_NO_RESOURCE,      /* staging memory is in use: progress, then try again */
  BRIGADE_INVALID_ARGUMENT, /* what this rank passed is wrong */
  BRIGADE_OUT_OF_MEMORY,
  BRIGADE_TIMED_OUT,   /* at the limit of overflow memory for too long */
  BRIGADE_PEER_LOST,   /* a rank is gone */
  BRIGADE_MISMATCH,    /* the ranks disagree about the call they make together */
  BRIGADE_UNAVAILABLE, /* not in this build, or not on this machine */
  BRIGADE_INTERNAL     /* a bug here or in the transport */
} brigade_status;

/* A word for `status`: "ok", "no resource", ... */
BRIGADE_EXPORT const char* brigade_status_name(brigade_status status);
/* Text of the last failure in this thread; valid until the next call that fails. */
BRIGADE_EXPORT const char* brigade_error_text(void);
/* "0.1.0". */
BRIGADE_EXPORT const char* brigade_version(void);

/* --- engine: one per process ------------------------------------------------------------------ */

typedef struct brigade_engine brigade_engine;

typedef struct {
  const char* transport; /* "auto", "mpi"; equal on all ranks */
  size_t chunk_bytes;    /* equal on all ranks of a group; a multiple of 64, 1024 at least */
  size_t staging_bytes;  /* equal on all ranks of a group: the budget of special memory per rank */
  size_t
      overflow_bytes; /* limit of ordinary memory for returned sends; SIZE_MAX: what is available */
  double overflow_wait_seconds; /* how long a send waits at that limit before it fails */
  /* NULL, or where to write a timeline of copies, combines, messages and waits when the engine is
   * destroyed: process 3 of MPI_COMM_WORLD writes lu.3.json if this is "lu.json". It is for
   * Perfetto (tools/merge_trace.py puts the parts together) and bounded: 2^20 events, 40 MiB of
   * memory. What keeps it from being written is told on stderr. */
  const char* trace_file;
  /* Equal on all ranks of a group. Not 0: a group on several hosts measures what its edges cost
   * when it is made, once per set of hosts, in well below a second, and chooses by that. */
  int calibrate;
  /* Not 0: rank 0 of a scope says on stderr what was chosen for calls that leave it to the library,
   * and why, once per pattern and length. */
  int explain;
} brigade_options;

/* Fills in the defaults: auto, 32 KiB, 2 MiB, SIZE_MAX, 120 s, NULL, 1, 0. */
BRIGADE_EXPORT void brigade_options_init(brigade_options* options);
/* Local. `options` may be NULL for the defaults. */
BRIGADE_EXPORT brigade_status brigade_engine_create(const brigade_options* options,
                                                    brigade_engine** engine);
/* On every rank that made one, before MPI_Finalize; waits until sends that have returned have left.
 * Every group must be destroyed before. NULL is ignored. */
BRIGADE_EXPORT void brigade_engine_destroy(brigade_engine* engine);
/* Moves what can move without waiting, for programs that compute for long between calls, over
 * transports where nothing else does. */
BRIGADE_EXPORT void brigade_progress(brigade_engine* engine);

/* --- group: ranks that communicate ------------------------------------------------------------ */

typedef struct brigade_group brigade_group;

/* Collective over the communicator whose Fortran handle (MPI_Comm_c2f) is `mpi_comm`, and nobody
 * else. Its ranks become a grid of rows x cols, numbered row by row; rows * cols must be its size.
 * The communicator stays the caller's, is used during this call only, and may then be freed. */
BRIGADE_EXPORT brigade_status brigade_group_create(brigade_engine* engine, int mpi_comm, int rows,
                                                   int cols, brigade_group** group);
/* Local. Sends that have returned still reach their receivers. NULL is ignored. */
BRIGADE_EXPORT void brigade_group_destroy(brigade_group* group);

typedef enum { BRIGADE_ROW = 1, BRIGADE_COLUMN = 2, BRIGADE_ALL = 3 } brigade_scope;

/* Ranks in the calling rank's scope, and its number there; -1 if there is no such scope. */
BRIGADE_EXPORT int brigade_scope_size(const brigade_group* group, brigade_scope scope);
BRIGADE_EXPORT int brigade_scope_rank(const brigade_group* group, brigade_scope scope);

/* --- calls --------------------------------------------------------------------------------------
 */

typedef enum {
  BRIGADE_SEND = 0,   /* locally blocking: returns without the receiver, whatever the size */
  BRIGADE_RECEIVE,    /* a shorter message is legal, a longer one a mismatch */
  BRIGADE_BROADCAST,  /* the root's matrix to all */
  BRIGADE_REDUCE,     /* combination of all matrices, in the root's; others stay as they were */
  BRIGADE_ALL_REDUCE, /* the same in all, with the same bits */
  BRIGADE_MULTI_BROADCAST, /* portion q of rank q to all; along a ring, or BRIGADE_CIRCULANT */
  BRIGADE_MULTI_REDUCE,    /* combination of all portions q, in the matrix of rank q; likewise */
  BRIGADE_BARRIER
} brigade_pattern;

typedef enum {
  BRIGADE_TREE = 0,         /* parameter k >= 2: k-nomial; 0 means 2, binomial */
  BRIGADE_INCREASING_RINGS, /* parameter: number of chains from the root; 0 means 1, the increasing
                               ring */
  BRIGADE_DECREASING_RINGS,
  BRIGADE_SPLIT_RING, /* one chain each way */
  BRIGADE_HYPERCUBE,  /* all-reduce only */
  BRIGADE_FREE,       /* broadcast, reduce, all-reduce, the multi forms: the library's choice */
  BRIGADE_DEALT,      /* all-reduce only: each rank combines its share, then all get all shares */
  BRIGADE_TWO_TREE,   /* broadcast and reduce: two trees, each for half of the matrix */
  BRIGADE_CIRCULANT   /* broadcast, reduce, the multi forms: as few messages in a row as can be */
} brigade_shape;

typedef enum {
  BRIGADE_DOUBLE = 0,
  BRIGADE_FLOAT,
  BRIGADE_INT32,
  BRIGADE_INT64,
  BRIGADE_COMPLEX_FLOAT,
  BRIGADE_COMPLEX_DOUBLE
} brigade_type;

typedef enum {
  BRIGADE_SUM = 0,
  BRIGADE_ABS_MAX, /* largest magnitude; complex: |re| + |im|; NaN wins */
  BRIGADE_ABS_MIN
} brigade_op;

typedef struct {
  void* data;
  int64_t rows, cols;
  int64_t ld; /* 0 means rows */
} brigade_matrix;

/* Zero is a sensible value for every field, so name those you need: {.pattern = BRIGADE_BROADCAST,
 * ...}. */
typedef struct {
  brigade_pattern pattern;
  brigade_scope scope; /* 0 means BRIGADE_ALL; ignored by send and receive */
  int root; /* rank in the scope, equal on all ranks; send and receive: the peer's rank in the group
             */
  brigade_type type; /* equal on all ranks */
  brigade_matrix matrix;
  brigade_shape shape; /* equal on all ranks */
  int parameter;       /* of the shape */
  brigade_op op;       /* equal on all ranks */
  /* Of maximum and minimum: NULL, or per element, in packed order, a number for this rank's
   * contribution in and the winner's out. Of equal magnitudes the smaller number wins. */
  int32_t* locations;
  /* Multi patterns: one matrix per rank of the scope; portion q has equally many elements on all
   * ranks. */
  const brigade_matrix* portions;
  int decreasing; /* multi patterns: non-zero sends to the next lower rank */
} brigade_call;

/* What one operation did on this rank. */
typedef struct {
  uint64_t messages_sent, bytes_sent;
  uint64_t pieces;
  uint64_t copies, bytes_copied;     /* between user and staging memory */
  uint64_t combines, bytes_combined; /* pieces combined */
  uint64_t overflow_pieces;          /* pieces that took ordinary memory, if only for a part */
  uint64_t peak_staging_bytes;
  uint64_t wait_ns;
} brigade_statistics;

/* Runs a call to its end. `statistics` may be NULL. */
BRIGADE_EXPORT brigade_status brigade_run(brigade_group* group, const brigade_call* call,
                                          brigade_statistics* statistics);

typedef struct brigade_operation brigade_operation;

/* Starts a call without waiting. What the call points to must stay valid until the operation is
 * done; `call` itself and its array of portions may go. BRIGADE_NO_RESOURCE: the staging memory it
 * needs is in use; nothing happened. */
BRIGADE_EXPORT brigade_status brigade_start(brigade_group* group, const brigade_call* call,
                                            brigade_operation** operation);
/* Progresses; 1 once the operation is done, well or not. It must still be waited for. */
BRIGADE_EXPORT int brigade_test(brigade_operation* operation);
/* Waits until done, returns the outcome, and ends the operation. `statistics` may be NULL. */
BRIGADE_EXPORT brigade_status brigade_wait(brigade_operation* operation,
                                           brigade_statistics* statistics);

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_BRIGADE_H_ */

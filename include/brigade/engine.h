/// @file
/// Brigade: the engine of a process.

#ifndef BRIGADE_ENGINE_H_
#define BRIGADE_ENGINE_H_

#include <string.h>

#include "brigade/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An engine holds the transport, the staging memory and the pending calls of all groups of a
/// process; opaque. One engine suffices; several share no resources.
typedef struct brigade_engine brigade_engine;

/// On, off, or left to the library.
typedef enum {
  BRIGADE_DEFAULT = 0,  ///< as the environment variable says, or the library
  BRIGADE_ON = 1,
  BRIGADE_OFF = 2
} brigade_switch;

/// The options of an engine, made by brigade_options_init(). A field that is 0 has the value of its
/// environment variable (docs/user/settings.md), or the default. A field that is not 0 overrides
/// the variable.
typedef struct {
  size_t size;  ///< set by brigade_options_init()
  /// "auto", "mpi", "shm", "tcp" or "sockets"; equal on all ranks of a group. Default: "auto".
  const char* transport;
  /// The unit in which staging memory is allocated, in bytes: a multiple of 64, at least 1024.
  /// Equal on all ranks of a group. Default: 32 KiB.
  size_t chunk_bytes;
  /// The budget of staging memory per rank, in bytes. Equal on all ranks of a group. Default:
  /// 2 MiB.
  size_t staging_bytes;
  /// Limit, in bytes, of the ordinary memory for returned sends. Default: all available memory.
  size_t overflow_bytes;
  /// How long a send at the limit `overflow_bytes` waits before it fails, in seconds. Default: 120.
  double overflow_wait_seconds;
  /// The file for a timeline of copies, combines, messages and waits, written when the engine is
  /// destroyed. Default: none. Process 3 of the job writes lu.3.json if the value is "lu.json".
  /// Perfetto shows the timeline; brigade_merge_trace merges the files of all processes. A timeline
  /// is bounded: 2^20 events, 40 MiB of memory. The timeline includes BLACS calls. A
  /// process has one timeline at a time. If the file cannot be written, the error goes to stderr.
  const char* trace_file;
  /// On: a group on several hosts measures the cost of messages when the group is made, and chooses
  /// topologies by this cost. The measurement takes place once per set of hosts, in well below a
  /// second. Equal on all ranks of a group. Default: on.
  brigade_switch calibrate;
  /// On: if a call leaves the algorithm to the library, rank 0 of the scope prints the chosen
  /// algorithm and the reason on stderr, once per pattern and class of lengths. Default: off.
  brigade_switch explain;
  /// On: windows of the engine check for conflicting operations (docs/user/windows.md), and are
  /// much slower. A window checks if one of its ranks has this option. Default: off.
  brigade_switch check_windows;
  int reserved;  ///< 0
} brigade_options;

/// Returns options that leave everything to the environment and the library.
static inline brigade_options brigade_options_init(void) {
  brigade_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  return options;
}

/// Makes an engine. Local. Needs no MPI, except for the transport "mpi".
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
/// Ends an engine. Every rank that made an engine must call this after destroying all groups, and
/// before MPI_Finalize if it uses MPI.
///
/// @param engine  NULL is ignored
///
/// Cost: waits until all returned sends have left.
BRIGADE_EXPORT void brigade_engine_destroy(brigade_engine* engine);
/// Progresses pending operations without waiting. Needed by programs that compute for long between
/// calls over a transport without a progress thread (mpi). The next call on the group returns any
/// failure.
BRIGADE_EXPORT void brigade_progress(brigade_engine* engine);
/// Opens a file descriptor for poll() or epoll, for programs with an event loop. A progress thread
/// makes the descriptor readable when a started operation is complete; brigade_progress() makes it
/// unreadable. So call brigade_progress() when it is readable, then brigade_test_some(), and poll
/// again when nothing is complete. Call this function after making the groups, and again after
/// making any further group.
///
/// @param engine  the engine of the operations
/// @param fd      the descriptor, for polling only; it belongs to the engine
/// @return #BRIGADE_UNAVAILABLE: the transport of a group allows no progress thread (mpi), or the
///         process has no descriptor left
BRIGADE_EXPORT brigade_status brigade_engine_fd(brigade_engine* engine, int* fd);

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_ENGINE_H_ */

/// @file
/// Brigade: the engine of a process.

#ifndef BRIGADE_ENGINE_H_
#define BRIGADE_ENGINE_H_

#include <string.h>

#include "brigade/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An engine holds the transport, the staging memory and the pending calls of the groups of a
/// process; opaque. One engine per process suffices; several engines share no resources.
typedef struct brigade_engine brigade_engine;

/// A switch: on, off, or the default.
typedef enum {
  BRIGADE_DEFAULT = 0,  ///< the value of the environment variable, or the default if it is unset
  BRIGADE_ON = 1,
  BRIGADE_OFF = 2
} brigade_switch;

/// The options of an engine. Initialise the structure with brigade_options_init(). For a field that
/// is 0, the library uses the value of the field's environment variable (docs/user/settings.md), or
/// the default if the variable is unset. A field that is not 0 overrides its environment variable.
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
  /// The limit on overflow memory, in bytes. Overflow memory is ordinary memory for messages that
  /// are in flight after their send has returned. Default: all available memory.
  size_t overflow_bytes;
  /// How long a send waits for overflow memory before the send fails, in seconds; not negative.
  /// Default: 120.
  double overflow_wait_seconds;
  /// The name of the file for a timeline of copies, combines, messages and waits. Default: no
  /// timeline. The library writes the file when the engine is destroyed. If the name is "lu.json",
  /// process 3 of the job writes lu.3.json (docs/user/measuring.md). Perfetto shows the timeline;
  /// brigade_merge_trace merges the files of all processes. A timeline has at most 2^20 events, in
  /// 40 MiB of memory. The timeline includes BLACS calls. If the file cannot be written, the
  /// library prints the error on stderr. A process has one timeline at a time, for all its engines.
  /// During a timeline, brigade_engine_create() with a file name returns #BRIGADE_INVALID_ARGUMENT.
  const char* trace_file;
  /// On: when a group on several hosts is made, the library measures the cost of messages, and
  /// later chooses topologies by this cost. On links of 40 MB/s or more, a measurement takes less
  /// than a second. The library keeps a measurement in memory, and in a file for a week, so that
  /// later groups and jobs on the same hosts do not measure again. Equal on all ranks of a group.
  /// Default: on.
  brigade_switch calibrate;
  /// On: whenever a call chooses an algorithm (calls.h), rank 0 of the scope prints on stderr the
  /// algorithm, the reason, and the protocols. Default: off.
  brigade_switch explain;
  /// On: windows of the engine detect conflicting operations (docs/user/windows.md), and are much
  /// slower. If one rank of a window has this option, all ranks of the window detect conflicts.
  /// Default: off.
  brigade_switch check_windows;
  int reserved;  ///< must be 0
} brigade_options;

/// Returns options with `size` set, and 0 in all other fields.
static inline brigade_options brigade_options_init(void) {
  brigade_options options;
  memset(&options, 0, sizeof(options));
  options.size = sizeof(options);
  return options;
}

/// Makes an engine. Local. Only the transport "mpi" needs MPI. A forked child cannot use the
/// engine: in the child, calls on the engine's groups and operations return #BRIGADE_UNAVAILABLE.
///
/// @param options  NULL for the defaults; may be freed afterwards
/// @param engine   the new engine
/// @return #BRIGADE_INVALID_ARGUMENT: there is no such transport or network interface, the chunk
///         length is invalid, the budget has too few chunks, the process already has a timeline, or
///         a variable of docs/user/settings.md has a bad value, even if the engine does not use the
///         variable; #BRIGADE_UNAVAILABLE: this machine lacks a requirement of the transport;
///         #BRIGADE_OUT_OF_MEMORY: no staging memory is available
///
/// Cost: allocates the staging memory.
BRIGADE_EXPORT brigade_status brigade_engine_create(const brigade_options* options,
                                                    brigade_engine** engine);
/// Destroys an engine. Every process that made an engine must call this function, after it has
/// destroyed all groups of the engine, and before MPI_Finalize if a group or the transport uses
/// MPI.
///
/// @param engine  NULL is ignored
///
/// Cost: waits until the transport has completed all sends that have returned.
BRIGADE_EXPORT void brigade_engine_destroy(brigade_engine* engine);
/// Progresses pending operations without waiting. During long computations, call this function in
/// two cases: (1) an operation within a host is pending; (2) a group has used the transport "mpi".
/// If an operation fails in this function, the operation's group breaks: brigade_wait() on the
/// operation, and every later call on this group, return the failure.
///
/// @param engine  NULL is ignored
BRIGADE_EXPORT void brigade_progress(brigade_engine* engine);
/// Opens a file descriptor for poll() or epoll, for programs with an event loop. A progress thread
/// makes the descriptor readable when a started operation is complete; brigade_progress() makes the
/// descriptor unreadable. When the descriptor is readable, call brigade_progress(), then
/// brigade_test_some(). Poll the descriptor again when brigade_test_some() finds no complete
/// operation. Call brigade_engine_fd() after the groups have been made, and again whenever a
/// further group has been made.
///
/// @param engine  the engine of the operations
/// @param fd      the descriptor, which belongs to the engine; the program must only poll it
/// @return #BRIGADE_UNAVAILABLE: the transport of a group allows no progress thread (mpi), or the
///         process can open no further descriptor or make no further thread
///
/// Cost: the first call opens the descriptor, and makes the progress thread if the engine has none.
BRIGADE_EXPORT brigade_status brigade_engine_fd(brigade_engine* engine, int* fd);

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_ENGINE_H_ */

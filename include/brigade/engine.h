/// @file
/// Brigade: the engine of a process.

#ifndef BRIGADE_ENGINE_H_
#define BRIGADE_ENGINE_H_

#include <string.h>

#include "brigade/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An engine holds a process's transport, its staging memory (bounce buffers, through which
/// messages pass), and the pending calls of its groups; opaque. One engine per process suffices;
/// several engines share no resources.
typedef struct brigade_engine brigade_engine;

/// A switch: on, off, or the default.
typedef enum {
  BRIGADE_DEFAULT = 0,  ///< the option's environment variable; if unset, the option's default
  BRIGADE_ON = 1,
  BRIGADE_OFF = 2
} brigade_switch;

/// The options of an engine. Each field except `size` and `reserved` has an environment variable
/// (docs/user/settings.md). If a field is 0, the library uses the environment variable; if this
/// variable is unset, the default. On all ranks of a group, these fields must be equal:
/// `transport`, `chunk_bytes`, `staging_bytes` and `calibrate`.
typedef struct {
  size_t size;  ///< set by brigade_options_init()
  /// The transport: "auto", "mpi", "shm", "tcp" or "sockets" (docs/user/settings.md). Default:
  /// "auto".
  const char* transport;
  /// The length of a chunk, the unit in which staging memory is allocated, in bytes: a multiple of
  /// 64, at least 1024. Default: 32 KiB.
  size_t chunk_bytes;
  /// The size of each rank's staging memory (bounce buffers), in bytes. Default: 2 MiB.
  size_t staging_bytes;
  /// The limit on overflow memory, in bytes. Overflow memory is ordinary memory, in which the
  /// library keeps sent messages if staging memory is used up. Default: all available memory.
  size_t overflow_bytes;
  /// If all `overflow_bytes` are in use: how long a send waits for overflow memory before the send
  /// fails, in seconds; not negative. Default: 120.
  double overflow_wait_seconds;
  /// The file for a timeline of one process: the copies, the applications of a brigade_op, the
  /// messages and the waits of the process (docs/user/measuring.md). When the engine is destroyed,
  /// the library writes the file. If this fails, the library prints an error on stderr. If the name
  /// is "lu.json", process 3 of the job writes lu.3.json. A process has at most one timeline at a
  /// time. "" is like NULL. Default: NULL, no timeline.
  const char* trace_file;
  /// On: when a group on several hosts is made, the library measures the cost of messages. The
  /// library uses this cost to choose the topologies of calls, such as trees or rings. On links of
  /// 40 MB/s or more, a measurement takes less than a second. For a week, later groups and jobs on
  /// the same hosts use the result of the measurement. Default: on.
  brigade_switch calibrate;
  /// On: whenever a call chooses an algorithm (calls.h), rank 0 of the call's scope (brigade_scope)
  /// prints on stderr the algorithm, the reason, and the protocols (docs/design/protocols.md).
  /// Default: off.
  brigade_switch explain;
  /// On: windows (window.h) detect conflicting operations (docs/user/windows.md), and are much
  /// slower. If this option is on for one rank of a window, all ranks of the window detect
  /// conflicts. Default: off.
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
/// @return #BRIGADE_INVALID_ARGUMENT: see the list below; #BRIGADE_UNAVAILABLE: this machine lacks
///         a requirement of the transport; #BRIGADE_OUT_OF_MEMORY: the staging memory cannot be
///         allocated
///
/// The function returns #BRIGADE_INVALID_ARGUMENT in these cases:
///
/// 1. A field of the options has a value that the comment of the field does not allow.
/// 2. An environment variable of docs/user/settings.md has a bad value, even if the engine does not
///    use the variable.
/// 3. This host has none of the networks and interfaces that BRIGADE_IFACE (docs/user/settings.md)
///    lists.
/// 4. `staging_bytes` is too small for `chunk_bytes`. The error text names the minimum.
/// 5. `trace_file` names a timeline, but this process already records a timeline.
///
/// Cost: allocates the staging memory.
BRIGADE_EXPORT brigade_status brigade_engine_create(const brigade_options* options,
                                                    brigade_engine** engine);
/// Destroys an engine. Every process that made an engine must call this function. First destroy all
/// groups, windows and multipliers of the engine.
///
/// @param engine  NULL is ignored
///
/// Cost: this function waits until the transport has completed the messages of all sends. A send
/// can return before its message is complete.
BRIGADE_EXPORT void brigade_engine_destroy(brigade_engine* engine);
/// Progresses pending operations (started calls, like MPI requests) without waiting. Call this
/// function during long computations if an operation between ranks of one host is pending, or if a
/// group of this process has used the transport "mpi". If an operation fails in this function, the
/// operation's group breaks (convention 2 of brigade.h).
///
/// @param engine  NULL is ignored
BRIGADE_EXPORT void brigade_progress(brigade_engine* engine);
/// Opens a file descriptor for poll() or epoll, for programs with an event loop. When a started
/// operation is complete, a thread of the library (the progress thread) makes the descriptor
/// readable. brigade_progress() makes the descriptor unreadable. When the descriptor is readable,
/// call brigade_progress(), then brigade_test_some(). Poll the descriptor again when
/// brigade_test_some() finds no complete operation. Call brigade_engine_fd() after the groups have
/// been made, and again after each further group has been made.
///
/// @param engine  the engine of the operations
/// @param fd      the descriptor, which belongs to the engine; the program must only poll it
/// @return #BRIGADE_UNAVAILABLE: a group has used the transport "mpi", which allows no progress
///         thread; with "auto", the engine has no group yet; with "tcp" or "sockets", it has no
///         group of several ranks yet; the process is a forked child, or cannot make another file
///         descriptor or thread
///
/// Cost: the first call opens the descriptor, and makes the progress thread if the engine has none.
BRIGADE_EXPORT brigade_status brigade_engine_fd(brigade_engine* engine, int* fd);

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_ENGINE_H_ */

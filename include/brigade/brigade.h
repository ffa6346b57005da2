/// @file
/// Brigade: collective and point-to-point communication, for C99 and for languages that can call C.
/// Messages pass through a small amount of staging memory (bounce buffers). This header includes
/// the headers of engines, groups and calls. It does not include window.h, multiply.h, blacs.h,
/// bsp.h or li.h.
///
/// Objects:
///
/// - An engine (engine.h) holds the transport and the staging memory of a process. The transport is
///   the way in which messages travel: shared memory, TCP or MPI.
/// - A group (group.h) is a set of ranks that communicate, like an MPI communicator. The ranks form
///   a grid of rows and columns.
/// - An operation (operation.h) is a started call, like an MPI request. A plan (operation.h) is a
///   call that can be started repeatedly, like a persistent request of MPI.
/// - A window (window.h) is memory for one-sided communication, as in MPI. A multiplier
///   (multiply.h) computes products of distributed matrices.
///
/// Conventions:
///
/// 1. Most functions return a brigade_status. If a function fails, brigade_error_text() returns
///    what was wrong, where it was wrong, and what to do.
/// 2. Failures of calls on a group:
///    - A call that returns #BRIGADE_INVALID_ARGUMENT, #BRIGADE_NO_RESOURCE, #BRIGADE_OUT_OF_MEMORY
///      or #BRIGADE_UNAVAILABLE has had no effect on this rank. Other ranks that take part in this
///      call may then wait for this rank. Therefore repeat the call with correct arguments, or call
///      brigade_group_abort().
///    - Exception: if memory is used up in the middle of a call, the call breaks the group, and
///      brigade_group_error() returns the failure.
///    - A call that returns any other failure breaks the group on all its ranks.
///    - On a broken group, every pending and later call fails. The program can only destroy a
///      broken group. The error text names the rank that broke the group, the call that failed on
///      that rank, and the reason. brigade_group_failure() returns the rank, the call and the
///      status as data. The output memory of failed calls on a broken group has unspecified
///      contents.
///    - Some functions make a group, plan, window or multiplier from an existing group. If one of
///      these functions fails, call brigade_group_error() on the existing group: the existing group
///      is broken if brigade_group_error() returns a failure, and is usable otherwise.
/// 3. Matrices are column-major, as in BLAS. The leading dimension `ld` is counted in elements, and
///    is at least `rows`; 0 means `rows`. To pass a row-major matrix, pass its number of columns as
///    `rows` and its number of rows as `cols`. Sizes are 64-bit. For every message length, staging
///    memory is limited by a fixed budget (brigade_options::staging_bytes). When the budget is used
///    up, sends and broadcasts take ordinary memory (overflow memory), so that sends and broadcasts
///    need not wait for their receivers.
/// 4. The caller owns every object that a function makes. The caller must pass each operation to a
///    function that frees it: any wait or test function except brigade_test() (operation.h). The
///    caller must pass any other object to the `_destroy` or `_free` function of the object's type.
///    If a function that makes an object fails, the function makes no object, and returns NULL as
///    the handle.
/// 5. A structure to which later versions can add fields begins with the field `size`. For each of
///    these structures, a function whose name ends in `_init` sets `size`, and sets all other
///    fields to zero. Zero is a sensible value of every field. A call returns
///    #BRIGADE_INVALID_ARGUMENT if `size` of a structure is 0. A structure of a later version can
///    have fields that the library does not know. If one of these fields is not zero, a call with
///    the structure returns #BRIGADE_INVALID_ARGUMENT. Structures without `size` never change.
/// 6. The library is not thread-safe: at most one thread at a time may use an engine and the groups
///    of the engine. Over TCP, a thread of the library (the progress thread) progresses pending
///    operations between the program's calls. Over shared memory or MPI, an operation progresses
///    only while the rank that started it is in a call of Brigade, for example in
///    brigade_progress(). Exception: after brigade_engine_fd(), the progress thread also progresses
///    operations over shared memory. The progress thread makes no MPI calls and blocks all signals.
/// 7. If a group or the transport uses MPI, initialise MPI before the first call of Brigade, and
///    finalise MPI after the last call of Brigade. Every thread level of MPI is allowed.
/// 8. A scope is all ranks of a group, or a row or column of the group's grid. All ranks of a scope
///    must make the calls on the scope in the same order. Calls on different scopes do not wait for
///    each other. Collective calls do not wait for sends and receives. Sends and receives do not
///    wait for collective calls.
/// 9. Programs that were built with version 1.0 of Brigade run with all later versions 1.x.
///
/// The communication patterns of Brigade come from papers on buffered communication for the Fujitsu
/// AP3000.

#ifndef BRIGADE_BRIGADE_H_
#define BRIGADE_BRIGADE_H_

#include "brigade/blocks.h"
#include "brigade/calls.h"
#include "brigade/engine.h"
#include "brigade/group.h"
#include "brigade/memory.h"
#include "brigade/operation.h"
#include "brigade/reductions.h"
#include "brigade/status.h"
#include "brigade/types.h"

#endif /* BRIGADE_BRIGADE_H_ */

/// @file
/// Brigade: collective and point-to-point communication, for C99 and for languages that can call C.
/// This header includes all C headers except window.h, multiply.h,
/// blacs.h, blacs_mpi.h, bsp.h and li.h.
///
/// Objects:
///
/// - An engine (engine.h) holds the transport and the staging memory of a process. The transport is
///   the way in which messages travel: shared memory, TCP or MPI. Messages pass through staging
///   memory (bounce buffers). If staging memory (brigade_options::staging_bytes) is used up, sends
///   and broadcasts use ordinary memory, the overflow memory, so that they need not wait for their
///   receivers.
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
///      or #BRIGADE_UNAVAILABLE has had no effect on this rank. Other ranks may already wait in the
///      call for this rank: repeat the call with correct arguments, or call brigade_group_abort().
///    - Exception: if this process has no memory left in the middle of a call, the call breaks the
///      group, and brigade_group_error() returns the failure.
///    - A call that returns any other failure breaks the group on all its ranks.
///    - On a broken group, every pending call fails. Every later call fails, too, once this rank
///      has learned of the failure; until then a call that waits for no other rank can return
///      #BRIGADE_OK. The output memory of failed calls has unspecified contents. The program can
///      only destroy the group. The error text and brigade_group_failure() name the rank that broke
///      the group, and the call that failed on that rank.
///    - A function that makes a group, plan, window or multiplier from a parent group can fail
///      without breaking the parent. If brigade_group_error() of the parent returns #BRIGADE_OK,
///      the parent is not broken.
/// 3. Matrices are column-major, as in BLAS. The leading dimension `ld` is counted in elements, and
///    is at least `rows`; 0 means `rows`. To pass a row-major matrix, pass its number of columns as
///    `rows` and its number of rows as `cols`.
/// 4. The caller owns every object that a function makes. The caller must pass each operation to a
///    wait or test function that frees it (operation.h). The caller must pass any other object to
///    the `_destroy` or `_free` function of the object's type. If a function that makes an object
///    fails, it returns NULL as the handle.
/// 5. A structure to which later versions can add fields begins with the field `size`. Initialise
///    each of these structures with its function whose name ends in `_init`: the function sets
///    `size`, and sets all other fields to zero. Zero is a sensible value of every field. If `size`
///    is 0, or if a field that only later versions know is not zero, a call returns
///    #BRIGADE_INVALID_ARGUMENT. Structures without `size` never change.
/// 6. The library is not thread-safe: at most one thread at a time may use an engine and its
///    groups, windows and multipliers. Over TCP, a thread of the library (the progress thread)
///    progresses pending operations between the program's calls. Over shared memory or MPI, an
///    operation progresses only while the rank that started it is in a call of Brigade, for example
///    in brigade_progress(). Exception: after brigade_engine_fd(), the progress thread also
///    progresses operations over shared memory. The progress thread makes no MPI calls and blocks
///    all signals.
/// 7. If a group or the transport uses MPI, initialise MPI before the first call of Brigade. Make
///    the last call of Brigade, such as brigade_engine_destroy(), before MPI_Finalize. Every thread
///    level of MPI is allowed.
/// 8. A scope is all ranks of a group, or a row or column of the group's grid. All ranks of a scope
///    must make the collective calls on the scope in the same order. Calls on different scopes do
///    not wait for each other. Collective calls and point-to-point calls do not wait for each
///    other.
/// 9. Programs that were built with version 1.0 of Brigade run with all later versions 1.x.
///
/// Source of the communication patterns: J. E. Dawson and P. E. Strazdins, Optimizing User-Level
/// Communication Patterns on the Fujitsu AP3000, IWCC 1999.

#ifndef BRIGADE_BRIGADE_H_
#define BRIGADE_BRIGADE_H_

#include "brigade/blocks.h"
#include "brigade/calls.h"
#include "brigade/engine.h"
#include "brigade/group.h"
#include "brigade/memory.h"
#include "brigade/operation.h"
#include "brigade/reductions.h"
#include "brigade/renamed.h"
#include "brigade/status.h"
#include "brigade/types.h"

#endif /* BRIGADE_BRIGADE_H_ */

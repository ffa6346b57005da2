/// @file
/// Brigade: communication patterns through scarce staging memory (bounce buffers), for C99 and for
/// languages that can call C. This header includes the headers of engines, groups and calls. It
/// does not include window.h, multiply.h, blacs.h, bsp.h or li.h.
///
/// Conventions:
///
/// 1. Most functions return a brigade_status. On failure brigade_error_text() returns what was
///    wrong, where, and what to do.
/// 2. A call that returns #BRIGADE_INVALID_ARGUMENT, #BRIGADE_NO_RESOURCE, #BRIGADE_OUT_OF_MEMORY
///    or #BRIGADE_UNAVAILABLE has had no effect on this rank. Other ranks that take part in this
///    call may then wait for this rank: repeat the call with correct arguments, or call
///    brigade_group_abort(). Exception: if memory is used up in the middle of a call, the group
///    breaks, and brigade_group_error() returns the failure. A call that returns any other failure
///    breaks the group on all its ranks: every pending and later call on the group fails, and the
///    group can only be destroyed. The error text names the rank that broke the group, the call
///    that failed there, and the reason; brigade_group_failure() returns the rank, the call and the
///    status as data. If the group is broken, the output memory of failed calls has unspecified
///    contents. Some functions make a group, plan, window or multiplier from an existing group. If
///    such a function fails, the existing group stays usable, unless brigade_group_error() of the
///    existing group then returns a failure.
/// 3. Matrices are column-major, as in BLAS. The leading dimension `ld` is counted in elements, and
///    is at least `rows`; 0 means `rows`. To pass a row-major matrix, pass its number of columns as
///    `rows` and its number of rows as `cols`. Sizes are 64-bit. Staging memory stays within its
///    budget for every message length. When the budget is used up, sends and broadcasts take
///    ordinary memory (overflow memory), so that they need not wait for their receivers.
/// 4. The caller owns every object that a function makes. The caller must pass each operation
///    (a started call, like an MPI request) to a wait or test function that frees it (operation.h),
///    and any other object to its _destroy or _free function. On failure no object is made, and the
///    returned handle is NULL.
/// 5. A structure to which later versions can add fields begins with the field `size`. For each of
///    these structures, a function whose name ends in `_init` sets `size`, and sets all other
///    fields to zero. Zero is a sensible value of every field. A call returns
///    #BRIGADE_INVALID_ARGUMENT if `size` of a structure is 0. A call also returns
///    #BRIGADE_INVALID_ARGUMENT if the structure is of a later version and has a value other than
///    zero in a field that the library does not know. Structures without `size` never change.
/// 6. The library is not thread-safe: at most one thread at a time may use an engine and the groups
///    of the engine. Over TCP, a progress thread of the library progresses pending operations
///    between calls. Within a host and over the transport "mpi", an operation progresses only
///    during the calls of the rank that started the operation, for example brigade_progress().
///    After brigade_engine_fd() a progress thread progresses started operations within a host, too.
///    The progress thread makes no MPI calls and blocks all signals.
/// 7. If a group or the transport uses MPI, initialise MPI, at any thread level, before the first
///    call of Brigade, and finalise MPI after the last call of Brigade.
/// 8. A scope is a group, or a row or column of its grid. All ranks of a scope must make the calls
///    on the scope in the same order. Calls on different scopes do not wait for each other.
///    Collective calls do not wait for sends and receives. Sends and receives do not wait for
///    collective calls.
/// 9. Programs that were built with version 1.0 run with all later versions 1.x.
///
/// The patterns come from the work on buffered communication for the Fujitsu AP3000.

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

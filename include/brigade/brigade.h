/// @file
/// Brigade: communication patterns through scarce staging memory, for C99 and for languages that
/// can call C. This header includes those of engines, groups and calls; include
/// window.h, multiply.h, blacs.h, bsp.h or li.h apart.
///
/// Conventions:
///
/// 1. Functions return a brigade_status. On failure brigade_error_text() returns what was wrong,
///    where, and what to do.
/// 2. A call that returns #BRIGADE_INVALID_ARGUMENT, #BRIGADE_NO_RESOURCE, #BRIGADE_OUT_OF_MEMORY
///    or #BRIGADE_UNAVAILABLE has had no effect. Other ranks may already wait in the call: make it
///    again, with correct arguments, or call brigade_group_abort(). Any other failure breaks the
///    group on all its ranks: every pending and later call on the group fails, and the group can
///    only be destroyed. The error text names the rank that broke the group, its call and its
///    reason, and brigade_group_failure() gives them as data. The output memory of a failed call is
///    unspecified. If a function that makes an object of a group fails, the group stays usable,
///    unless brigade_group_error() then returns a failure.
/// 3. Matrices are column-major; ld is counted in elements and is at least rows. To pass a
///    row-major matrix, exchange rows and columns. Sizes are 64-bit. Staging memory stays within
///    its budget for every message length; a send or broadcast that must not wait for its receivers
///    takes ordinary memory beyond the budget.
/// 4. The caller owns every object that a function makes, and must pass it to the matching
///    _destroy, _free or _wait. On failure no object is made, and its handle is NULL.
/// 5. Structures that may grow begin with their size. The function whose name ends in `_init`
///    sets the size, and zero in all other fields. Zero is a sensible value of every field. A size
///    of 0, and a field that the library does not know and that is not zero, are invalid arguments.
///    Other structures never change.
/// 6. Not thread-safe: at most one thread at a time may use an engine and its groups. Between calls
///    a progress thread of the library may progress pending operations if the transport allows it.
///    The thread makes no MPI calls and takes no signals.
/// 7. Initialise MPI before the first call, at any thread level, and finalise it after the last, if
///    a group or the transport uses MPI.
/// 8. The ranks of a scope make their calls on it in the same order. Different scopes, and sends
///    and receives, do not wait for each other.
/// 9. Programs that were built with version 1.0 run with all later versions 1.x.
///
/// Source of the patterns: the work on buffered communication for the Fujitsu AP3000.

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

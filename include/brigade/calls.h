/// @file
/// Brigade: sends, receives and collective calls.
///
/// Each call has three forms:
///
/// 1. `brigade_bcast(...)` blocks until the call is complete on this rank.
/// 2. `brigade_bcast_start(..., &operation)` starts the call and returns. Complete the operation
///    with brigade_wait(), or with a function on arrays of operations (operation.h). The matrices,
///    locations and user operation of the call must stay valid until then.
/// 3. `brigade_plan_bcast(..., &plan)` checks the arguments and chooses the algorithm once. Then
///    brigade_plan_run() or brigade_plan_start() makes the call, as often as wanted, without this
///    cost. The matrices, locations and user operation must stay valid until the plan is
///    destroyed; their contents may change between calls.
///
/// A rank may use one form where other ranks use another.

#ifndef BRIGADE_CALLS_H_
#define BRIGADE_CALLS_H_

#include "brigade/blocks.h"
#include "brigade/group.h"
#include "brigade/operation.h"
#include "brigade/reductions.h"
#include "brigade/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @name Calls
/// Sends and receives involve their two ranks. All other calls are collective over the scope, in
/// the same order on all its ranks.
///
/// A function that fails returns #BRIGADE_INVALID_ARGUMENT, #BRIGADE_MISMATCH, #BRIGADE_PEER_LOST,
/// #BRIGADE_TIMED_OUT (with brigade_call_options::timeout_seconds), #BRIGADE_INTERNAL or
/// #BRIGADE_ABORTED; brigade.h says what still works afterwards. A `_start` function
/// returns errors of arguments, and brigade_wait() the outcome of the call.
///
/// The functions ending in `_start` also return
///
/// 1. #BRIGADE_NO_RESOURCE, without effect: the staging memory that the call needs is in use. Other
///    ranks may have started the call. Repeat the start until it succeeds, without another blocking
///    call in between. Each try progresses pending operations. The start
///    succeeds eventually if the order of calls is the same on all ranks that take part in them,
///    across all scopes.
/// 2. #BRIGADE_OUT_OF_MEMORY, without effect: the call needs more staging memory than there is, on
///    all ranks of the scope.
///
/// Calls on one scope take place in the order of their starts, and so do sends to one rank, and
/// receives from one rank.
/// @{

/// Sends a matrix to a rank. Returns when `source` may be changed, like MPI_Bsend. Waits for the
/// receiver only while overflow memory is full, and fails if that lasts
/// brigade_options::overflow_wait_seconds.
///
/// @param group        of the call
/// @param source       the matrix; may be changed when the call is complete
/// @param type         of the elements
/// @param destination  a rank of the group, which may be the caller
/// @param options      NULL for the defaults; may be freed afterwards
/// @return #BRIGADE_TIMED_OUT also at the limit of overflow memory
BRIGADE_EXPORT brigade_status brigade_send(brigade_group* group, const brigade_matrix* source,
                                           brigade_type type, int destination,
                                           const brigade_call_options* options);
/// Starts brigade_send().
BRIGADE_EXPORT brigade_status brigade_send_start(brigade_group* group, const brigade_matrix* source,
                                                 brigade_type type, int destination,
                                                 const brigade_call_options* options,
                                                 brigade_operation** operation);
/// Plans brigade_send(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_send(brigade_group* group, const brigade_matrix* source,
                                                brigade_type type, int destination,
                                                const brigade_call_options* options,
                                                brigade_plan** plan);

/// Receives a matrix from a rank. There are no tags and no wildcards: the n-th receive from a rank
/// gets the n-th message of that rank in this group.
///
/// @param group        of the call
/// @param destination  may have more elements than the message, whose number of elements is the
///                     sender's: the rest stays untouched. Shape and `ld` may differ from the
///                     sender's.
/// @param type         of the elements
/// @param source       a rank of the group
/// @param options      NULL for the defaults; may be freed afterwards
/// @return #BRIGADE_MISMATCH also if the message is longer than the matrix
BRIGADE_EXPORT brigade_status brigade_recv(brigade_group* group, const brigade_matrix* destination,
                                           brigade_type type, int source,
                                           const brigade_call_options* options);
/// Starts brigade_recv().
BRIGADE_EXPORT brigade_status brigade_recv_start(brigade_group* group,
                                                 const brigade_matrix* destination,
                                                 brigade_type type, int source,
                                                 const brigade_call_options* options,
                                                 brigade_operation** operation);
/// Plans brigade_recv(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_recv(brigade_group* group,
                                                const brigade_matrix* destination,
                                                brigade_type type, int source,
                                                const brigade_call_options* options,
                                                brigade_plan** plan);

/// Sends a matrix to a rank, and receives a matrix from the same or another rank.
///
/// @param group        of the call
/// @param sent         as of brigade_send(); no element may overlap `received`
/// @param destination  a rank of the group
/// @param received     as of brigade_recv()
/// @param source       a rank of the group
/// @param type         of the elements
/// @param options      NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_sendrecv(brigade_group* group, const brigade_matrix* sent,
                                               int destination, const brigade_matrix* received,
                                               int source, brigade_type type,
                                               const brigade_call_options* options);
/// Starts brigade_sendrecv(): the receive, then the send. If the receive has started, but the send
/// lacks staging memory, this call sends as brigade_send() does, and may wait as long.
BRIGADE_EXPORT brigade_status brigade_sendrecv_start(brigade_group* group,
                                                     const brigade_matrix* sent, int destination,
                                                     const brigade_matrix* received, int source,
                                                     brigade_type type,
                                                     const brigade_call_options* options,
                                                     brigade_operation** operation);
/// Plans brigade_sendrecv(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_sendrecv(brigade_group* group,
                                                    const brigade_matrix* sent, int destination,
                                                    const brigade_matrix* received, int source,
                                                    brigade_type type,
                                                    const brigade_call_options* options,
                                                    brigade_plan** plan);

/// Sends the root's matrix to all ranks of the scope: a broadcast. Does not wait for receivers at
/// the root, or at a rank that forwards the message, while staging and overflow memory last.
///
/// @param group    of the call
/// @param buffer   sent by the root, received by all others. The number of elements is equal on all
///                 ranks; shapes and `ld` may differ.
/// @param type     of the elements; equal on all ranks
/// @param root     a rank of the scope; equal on all ranks
/// @param options  NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_bcast(brigade_group* group, const brigade_matrix* buffer,
                                            brigade_type type, int root,
                                            const brigade_call_options* options);
/// Starts brigade_bcast().
BRIGADE_EXPORT brigade_status brigade_bcast_start(brigade_group* group,
                                                  const brigade_matrix* buffer, brigade_type type,
                                                  int root, const brigade_call_options* options,
                                                  brigade_operation** operation);
/// Plans brigade_bcast(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_bcast(brigade_group* group, const brigade_matrix* buffer,
                                                 brigade_type type, int root,
                                                 const brigade_call_options* options,
                                                 brigade_plan** plan);

/// Blocks until all ranks of the scope have called.
BRIGADE_EXPORT brigade_status brigade_barrier(brigade_group* group,
                                              const brigade_call_options* options);
/// Starts brigade_barrier().
BRIGADE_EXPORT brigade_status brigade_barrier_start(brigade_group* group,
                                                    const brigade_call_options* options,
                                                    brigade_operation** operation);
/// Plans brigade_barrier(). Local.
BRIGADE_EXPORT brigade_status brigade_plan_barrier(brigade_group* group,
                                                   const brigade_call_options* options,
                                                   brigade_plan** plan);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_CALLS_H_ */

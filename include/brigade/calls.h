/// @file
/// Brigade: sends, receives and collective calls.
///
/// Each call has three forms:
///
/// 1. `brigade_bcast(...)` blocks until the call is complete on this rank.
/// 2. `brigade_bcast_start(..., &operation)` starts the call and returns. Complete the operation
///    with brigade_wait(), or with a function on arrays of operations (operation.h). The memory of
///    the matrices, the array brigade_call_options::locations, and the context of a user operation
///    must stay valid until the operation is complete.
/// 3. `brigade_plan_bcast(..., &plan)` checks the arguments and chooses the algorithm once. Then
///    brigade_plan_run() or brigade_plan_start() makes the call any number of times, without the
///    cost of checking the arguments and choosing the algorithm again. The memory of the matrices,
///    the array brigade_call_options::locations, and the context of a user operation must stay
///    valid until the plan is destroyed. The program may change the values in this memory while no
///    operation of the plan is pending.
///
/// Forms 2 and 3 copy the arguments and their structures (brigade_matrix, brigade_user_op). If the
/// program changes a structure afterwards, the change has no effect on the operation or plan.
///
/// Different ranks may use different forms of the same call.

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
/// brigade_send(), brigade_recv() and brigade_sendrecv() are point-to-point. All other calls are
/// collective over the scope: all ranks of the scope make these calls in the same order.
///
/// A function that fails returns #BRIGADE_INVALID_ARGUMENT, #BRIGADE_MISMATCH, #BRIGADE_PEER_LOST,
/// #BRIGADE_TIMED_OUT (with brigade_call_options::timeout_seconds), #BRIGADE_INTERNAL,
/// #BRIGADE_ABORTED, #BRIGADE_OUT_OF_MEMORY (this process has no memory left) or
/// #BRIGADE_UNAVAILABLE (in a forked child). Convention 2 of brigade.h says whether the group stays
/// usable. A `_start` function returns errors of arguments; brigade_wait() returns the outcome of
/// the call.
///
/// The functions ending in `_start` also return these failures:
///
/// 1. #BRIGADE_NO_RESOURCE, without effect: the staging memory that the call needs is in use. Other
///    ranks may already have started the call. Repeat the `_start` function until it succeeds, and
///    make no blocking call in between. Each attempt progresses pending operations. If all ranks
///    make all their calls, on all scopes, in the same order, an attempt succeeds in the end.
/// 2. #BRIGADE_OUT_OF_MEMORY, without effect: the call needs more staging memory than the budget
///    allows. A collective call then returns this status on all ranks of the scope.
///
/// Calls on one scope are carried out in the order in which this rank starts them. Sends to one
/// rank are also carried out in the order in which this rank starts them, and so are receives from
/// one rank.
///
/// Cost: docs/design/patterns.md has the copies, combines and messages of every call. The first
/// call on a group with a new pattern, scope, root, operation, topology or range of message lengths
/// also chooses the algorithm. The functions that make a plan send no message.
/// @{

/// Sends a matrix to a rank. Buffered, like MPI_Bsend: the program may change `source` when the
/// call has returned. The call waits for the receiver only while overflow memory, the ordinary
/// memory for buffered sends, is full (brigade_options::overflow_bytes). The call fails if it waits
/// longer than brigade_options::overflow_wait_seconds.
///
/// @param group        of the call
/// @param source       the matrix; may be changed as soon as the call is complete
/// @param type         of the elements
/// @param destination  a rank of the group, which may be the caller
/// @param options      NULL for the defaults; may be freed afterwards
/// @return #BRIGADE_TIMED_OUT also if overflow memory stays full too long
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

/// Receives a matrix from a rank. There are no tags and no wildcards: within a group, the n-th
/// receive from rank r gets the n-th message that rank r sends to the caller.
///
/// @param group        of the call
/// @param destination  the matrix. If the matrix has more elements than the message, its last
///                     elements stay unchanged. Shape and `ld` may differ from the sender's.
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
/// @param sent         as `source` of brigade_send(); no element may overlap `received`
/// @param destination  a rank of the group
/// @param received     as `destination` of brigade_recv()
/// @param source       a rank of the group
/// @param type         of the elements
/// @param options      NULL for the defaults; may be freed afterwards
BRIGADE_EXPORT brigade_status brigade_sendrecv(brigade_group* group, const brigade_matrix* sent,
                                               int destination, const brigade_matrix* received,
                                               int source, brigade_type type,
                                               const brigade_call_options* options);
/// Starts brigade_sendrecv(): first the receive, then the send. If the receive has started, but
/// there is no staging memory to start the send, this call sends like brigade_send(), and can block
/// like brigade_send().
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

/// Sends the root's matrix to all ranks of the scope, like MPI_Bcast. The root, and a rank that
/// forwards the message, wait for their receivers only while staging memory and overflow memory are
/// full.
///
/// @param group    of the call
/// @param buffer   the matrix that the root sends and all other ranks receive. The number of
///                 elements is equal on all ranks; shapes and `ld` may differ.
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

/// Blocks until all ranks of the scope have made this call, like MPI_Barrier.
///
/// @param group    of the call
/// @param options  NULL for the defaults; may be freed afterwards
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

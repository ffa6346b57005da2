/// @file
/// Brigade: sends, receives and collective calls.
///
/// Each call has three forms, shown here for a broadcast:
///
/// 1. `brigade_bcast(...)` blocks until the call is complete on this rank.
/// 2. `brigade_bcast_start(..., &operation)` starts the call, stores a handle in `operation`
///    (brigade_operation, like an MPI request), and returns. Complete the operation with a function
///    of operation.h, such as brigade_wait().
/// 3. `brigade_plan_bcast(..., &plan)` checks the arguments, chooses the algorithm, and stores a
///    plan in `plan` (brigade_plan, like a persistent request of MPI). Local. Then
///    brigade_plan_run() or brigade_plan_start() makes the call any number of times.
///
/// Until the operation is complete (form 2) or the plan is destroyed (form 3), this memory must
/// stay valid:
///
/// - the memory of the matrices
/// - the array brigade_call_options::locations (for maxima and minima)
/// - the context of a user operation (brigade_user_op::context)
///
/// In form 3, the program may change the values in this memory while no operation that was started
/// with the plan is pending.
///
/// The library copies the structures brigade_call_options, brigade_matrix and brigade_user_op. When
/// a function of any form has returned, the caller may free or change these structures.
///
/// Different ranks may use different forms of one call.

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
/// brigade_send(), brigade_recv() and brigade_sendrecv() are point-to-point: `source` and
/// `destination` are ranks of the group. All other calls are collective over a scope
/// (brigade_call_options::scope): the group, or a row or column of its grid. All ranks of the scope
/// must make the collective calls on the scope in the same order. `root` is a rank number within
/// the scope, from 0.
///
/// A function that fails returns one of these statuses:
///
/// - #BRIGADE_INVALID_ARGUMENT, #BRIGADE_MISMATCH, #BRIGADE_PEER_LOST, #BRIGADE_INTERNAL or
///   #BRIGADE_ABORTED
/// - #BRIGADE_TIMED_OUT: the call took longer than brigade_call_options::timeout_seconds, or waited
///   for overflow memory longer than brigade_options::overflow_wait_seconds
/// - #BRIGADE_OUT_OF_MEMORY: this process has no memory left
/// - #BRIGADE_UNAVAILABLE: this process is a forked child
///
/// Convention 2 of brigade.h says whether the group stays usable. A `_start` function returns an
/// error if an argument is invalid. brigade_wait() returns the outcome of the started call. The
/// `_start` function of a collective call can fail in two further cases, without effect:
///
/// 1. #BRIGADE_NO_RESOURCE: the staging memory (bounce buffers) that the call needs is in use.
///    Other ranks may already have started the call. Repeat the `_start` function until it
///    succeeds, and make no blocking call in between. The function eventually succeeds if all ranks
///    make their calls on different scopes in the same order. For example, every rank first makes a
///    call on its row, then a call on its column. The earlier sends and receives of this rank hold
///    staging memory, too: they must be able to complete without further calls of this rank.
/// 2. #BRIGADE_OUT_OF_MEMORY: the call needs more staging memory than
///    brigade_options::staging_bytes allows. The function returns this on all ranks of the scope.
///
/// The library keeps the order in which this rank starts its calls, separately for the collective
/// calls on one scope, for the sends to one rank, and for the receives from one rank.
///
/// Cost: docs/design/patterns.md has the numbers of copies, combines (applications of a brigade_op)
/// and messages. If no earlier call on the group had the same function, scope, root, brigade_op,
/// topology and range of message lengths, the call also chooses the algorithm.
/// @{

/// Sends a matrix to a rank. Buffered, like MPI_Bsend: the program may change `source` when the
/// call is complete. The call waits for the receiver only while overflow memory (ordinary memory
/// for sent messages, brigade_options::overflow_bytes) is full.
///
/// @param group        of the call
/// @param source       the matrix
/// @param type         the type of the elements
/// @param destination  a rank of the group, which may be the caller
/// @param options      NULL for the defaults
/// @return for example #BRIGADE_TIMED_OUT: the call has waited for overflow memory longer than
///         brigade_options::overflow_wait_seconds
BRIGADE_EXPORT brigade_status brigade_send(brigade_group* group, const brigade_matrix* source,
                                           brigade_type type, int destination,
                                           const brigade_call_options* options);
/// Starts brigade_send().
BRIGADE_EXPORT brigade_status brigade_send_start(brigade_group* group, const brigade_matrix* source,
                                                 brigade_type type, int destination,
                                                 const brigade_call_options* options,
                                                 brigade_operation** operation);
/// Makes a persistent brigade_send().
BRIGADE_EXPORT brigade_status brigade_plan_send(brigade_group* group, const brigade_matrix* source,
                                                brigade_type type, int destination,
                                                const brigade_call_options* options,
                                                brigade_plan** plan);

/// Receives a matrix from a rank. There are no tags and no wildcards: within a group, the n-th
/// receive from rank r gets the n-th message that rank r sends to the caller.
///
/// @param group        of the call
/// @param destination  the matrix, of any shape. If it has more elements than the message, its last
///                     elements stay unchanged.
/// @param type         the type of the elements
/// @param source       a rank of the group
/// @param options      NULL for the defaults
/// @return for example #BRIGADE_MISMATCH: the message is longer than the matrix
BRIGADE_EXPORT brigade_status brigade_recv(brigade_group* group, const brigade_matrix* destination,
                                           brigade_type type, int source,
                                           const brigade_call_options* options);
/// Starts brigade_recv().
BRIGADE_EXPORT brigade_status brigade_recv_start(brigade_group* group,
                                                 const brigade_matrix* destination,
                                                 brigade_type type, int source,
                                                 const brigade_call_options* options,
                                                 brigade_operation** operation);
/// Makes a persistent brigade_recv().
BRIGADE_EXPORT brigade_status brigade_plan_recv(brigade_group* group,
                                                const brigade_matrix* destination,
                                                brigade_type type, int source,
                                                const brigade_call_options* options,
                                                brigade_plan** plan);

/// Sends a matrix to a rank, and receives a matrix from the same or another rank.
///
/// @param group        of the call
/// @param sent         the matrix to send; no element may overlap `received`
/// @param destination  the rank to which the caller sends
/// @param received     the matrix to receive; may be larger than the message, as in brigade_recv()
/// @param source       the rank from which the caller receives
/// @param type         the type of the elements
/// @param options      NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_sendrecv(brigade_group* group, const brigade_matrix* sent,
                                               int destination, const brigade_matrix* received,
                                               int source, brigade_type type,
                                               const brigade_call_options* options);
/// Starts brigade_sendrecv().
BRIGADE_EXPORT brigade_status brigade_sendrecv_start(brigade_group* group,
                                                     const brigade_matrix* sent, int destination,
                                                     const brigade_matrix* received, int source,
                                                     brigade_type type,
                                                     const brigade_call_options* options,
                                                     brigade_operation** operation);
/// Makes a persistent brigade_sendrecv().
BRIGADE_EXPORT brigade_status brigade_plan_sendrecv(brigade_group* group,
                                                    const brigade_matrix* sent, int destination,
                                                    const brigade_matrix* received, int source,
                                                    brigade_type type,
                                                    const brigade_call_options* options,
                                                    brigade_plan** plan);

/// Sends the root's matrix to all ranks of the scope, like MPI_Bcast. The root and forwarding ranks
/// wait for their receivers only while staging memory (bounce buffers) and overflow memory
/// (brigade_options::overflow_bytes) are full.
///
/// @param group    of the call
/// @param buffer   the matrix that the root sends and all other ranks receive. The number of
///                 elements is equal on all ranks; shapes may differ.
/// @param type     the type of the elements; equal on all ranks
/// @param root     the root's number in the scope; equal on all ranks
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_bcast(brigade_group* group, const brigade_matrix* buffer,
                                            brigade_type type, int root,
                                            const brigade_call_options* options);
/// Starts brigade_bcast().
BRIGADE_EXPORT brigade_status brigade_bcast_start(brigade_group* group,
                                                  const brigade_matrix* buffer, brigade_type type,
                                                  int root, const brigade_call_options* options,
                                                  brigade_operation** operation);
/// Makes a persistent brigade_bcast().
BRIGADE_EXPORT brigade_status brigade_plan_bcast(brigade_group* group, const brigade_matrix* buffer,
                                                 brigade_type type, int root,
                                                 const brigade_call_options* options,
                                                 brigade_plan** plan);

/// Blocks until all ranks of the scope have called brigade_barrier(), like MPI_Barrier.
///
/// @param group    of the call
/// @param options  NULL for the defaults
BRIGADE_EXPORT brigade_status brigade_barrier(brigade_group* group,
                                              const brigade_call_options* options);
/// Starts brigade_barrier().
BRIGADE_EXPORT brigade_status brigade_barrier_start(brigade_group* group,
                                                    const brigade_call_options* options,
                                                    brigade_operation** operation);
/// Makes a persistent brigade_barrier().
BRIGADE_EXPORT brigade_status brigade_plan_barrier(brigade_group* group,
                                                   const brigade_call_options* options,
                                                   brigade_plan** plan);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_CALLS_H_ */

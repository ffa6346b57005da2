/// @file
/// Brigade: one-sided communication, for C99 and for languages that can call C. Each member of a
/// window exposes memory. The other members put into this memory, get from it and accumulate into
/// it, without a call of its owner.
///
/// An operation is a put, get, accumulate, fetching accumulate (fetch-and-op, get-accumulate) or
/// compare-and-swap. As in MPI, the origin calls an operation on the memory of the target.
///
/// The conventions of brigade.h hold, and these conventions:
///
/// 1. The origin must call an operation within an epoch, as in MPI: between two fences, between
///    start and complete, or while it holds a lock of the target. A put with notification
///    (brigade_window_put_notify()) needs no epoch.
/// 2. A call can return before its operation is complete. The caller's memory that the operation
///    uses must stay valid until one of these has returned: (a) the call that ends the epoch, (b) a
///    flush or local flush of the target, (c) brigade_window_request_wait() for the operation.
///    Until then the caller must not write this memory, and must not read memory that the operation
///    writes.
/// 3. Accumulates, fetching accumulates and compare-and-swaps are atomic per element with respect
///    to each other. From one origin to one target, operations of these three kinds take place in
///    the order of the calls. Puts and gets are neither atomic nor ordered.
/// 4. If a call on a window returns #BRIGADE_INVALID_ARGUMENT, the call has had no effect on any
///    rank. The same holds if brigade_window_attach() returns #BRIGADE_OUT_OF_MEMORY. Any other
///    failure of a call on a window breaks the window on all its members. Every pending and later
///    call on a broken window fails with the failure that broke the window; operations on memory
///    that the origin maps, and flushes of these, may succeed until a call that synchronises has
///    failed. The output memory of failed calls has unspecified contents. A broken window can only
///    be freed or destroyed.
/// 5. A displacement is in displacement units of the target (brigade_window_unit()). All other
///    offsets and lengths are in bytes. The count of an operation is in elements of a brigade_type,
///    or in values. A value is one instance of a layout (brigade_layout), like one instance of an
///    MPI datatype. The caller may destroy a layout that pending operations use.
///
/// If the origin maps the target's memory, it uses loads and stores. Otherwise the kernel copies
/// the data (process_vm_readv(), process_vm_writev()). If the system does not permit these copies,
/// for example between hosts, or if the operation has 1024 or more short pieces, the operation
/// *goes by messages*: the origin sends the operation to the target's process, where a progress
/// thread of the library performs it. With brigade_options::check_windows, windows detect conflicts
/// (docs/user/windows.md), and all operations go by messages.
///
/// If a process has ever had a group that uses the transport `mpi`, the process has no progress
/// thread. As a target, this process performs operations that go by messages, but only inside calls
/// of this library, for example inside brigade_progress().
///
/// Sources: MPI-3.1, chapter 11; The Implementation of MPI-2 One-Sided Communication for the NEC
/// SX-5, sections 2 to 4; for puts with notification, ARMCI.

#ifndef BRIGADE_WINDOW_H_
#define BRIGADE_WINDOW_H_

#include <stddef.h>
#include <stdint.h>

#include "brigade/brigade.h"

#ifdef __cplusplus
extern "C" {
#endif

/// @name Windows
/// @{

/// A window; opaque.
typedef struct brigade_window brigade_window;

/// Makes a window of memory that the caller owns. Collective over the group. If all of `memory`
/// lies in one allocation of brigade_alloc(), the library maps it into all ranks of the window on
/// this rank's host.
///
/// @param group     the members of the window. The caller may destroy the group after this call;
///                  the group's engine (engine.h) must outlive the window.
/// @param memory    the memory that this rank exposes, which must stay valid until the window is
///                  freed; may be NULL only if `bytes` is 0
/// @param bytes     the length of `memory`; may differ by rank
/// @param unit      the displacement unit of this memory, in bytes, at least 1; may differ by rank
/// @param window    the new window; its ranks are numbered as in the group
/// @return a status that is equal on all ranks. #BRIGADE_INVALID_ARGUMENT: `memory`, `bytes` or
///         `unit` is invalid on a rank; #BRIGADE_OUT_OF_MEMORY: a rank has too little memory, or
///         too little staging memory (bounce buffers; all windows of an engine share 4 chunks, see
///         brigade_options::chunk_bytes); any other failure: see brigade_group_split().
///
/// Cost: brigade_group_split(), and a few all-gathers of at most a few hundred bytes per rank.
BRIGADE_EXPORT brigade_status brigade_window_create(brigade_group* group, void* memory,
                                                    size_t bytes, int64_t unit,
                                                    brigade_window** window);
/// Like brigade_window_create(), but the library allocates the memory, and maps it into all ranks
/// of the window on this rank's host.
///
/// @param group, bytes, unit  see brigade_window_create()
/// @param memory    the memory, zeroed and aligned to a page; valid until the window is freed
/// @param window    the new window
/// @return like brigade_window_create()
BRIGADE_EXPORT brigade_status brigade_window_allocate(brigade_group* group, size_t bytes,
                                                      int64_t unit, void** memory,
                                                      brigade_window** window);
/// Like brigade_window_create(), but without memory, like MPI_Win_create_dynamic. Each rank
/// attaches memory later (brigade_window_attach()). The displacement of an operation is an address
/// in the target's process, cast to int64_t.
///
/// @param group     see brigade_window_create()
/// @param window    the new window; brigade_window_bytes() is meaningless for this window
/// @return like brigade_window_create()
///
/// Cost: the cost of brigade_window_create(), and 64 KiB of shared memory on each rank.
BRIGADE_EXPORT brigade_status brigade_window_create_dynamic(brigade_group* group,
                                                            brigade_window** window);
/// Attaches memory of the caller to a dynamic window (brigade_window_create_dynamic()), until
/// brigade_window_detach(), or until the window is freed. Local. After this call has returned, the
/// program must send the address of the memory to the origins.
///
/// An operation on memory that is not attached is an error. If the operation goes by messages (see
/// the head of this header), the error breaks the window on all members. Otherwise the origin's
/// call returns #BRIGADE_INVALID_ARGUMENT.
///
/// @param window  a dynamic window
/// @param memory  memory of the caller; must stay valid until it is detached
/// @param bytes   the length of `memory`, 0 or more
/// @return #BRIGADE_INVALID_ARGUMENT: the window is not dynamic, or the memory overlaps attached
///         memory; #BRIGADE_OUT_OF_MEMORY: this rank has attached 4096 ranges of memory already
///
/// Cost: proportional to the number of attached ranges.
BRIGADE_EXPORT brigade_status brigade_window_attach(brigade_window* window, void* memory,
                                                    size_t bytes);
/// Detaches memory. Local. Before this call, all operations of all ranks on the memory must be
/// complete. Afterwards no rank may call operations on the memory.
///
/// @param window  a dynamic window
/// @param memory  the address that was passed to brigade_window_attach(), even if `bytes` was 0
/// @return #BRIGADE_INVALID_ARGUMENT: the window is not dynamic, or no attached memory begins at
///         `memory`
BRIGADE_EXPORT brigade_status brigade_window_detach(brigade_window* window, const void* memory);
/// Waits until all operations on a window are complete, then frees the window. Collective over the
/// members. If an epoch between fences is open, this call ends the epoch.
///
/// @param window  NULL is ignored; still valid after #BRIGADE_INVALID_ARGUMENT, otherwise invalid
/// @return #BRIGADE_INVALID_ARGUMENT in two cases: (1) this rank has not waited for a request; (2)
///         the window is not broken, and this rank holds a lock, is between start and complete, or
///         is between post and wait. Otherwise the failure that broke the window, or #BRIGADE_OK.
///
/// Cost: the cost of brigade_window_fence().
BRIGADE_EXPORT brigade_status brigade_window_free(brigade_window* window);
/// Destroys a window without waiting for the other members, for example after an error. Local.
/// Calls of other members on the window then fail with #BRIGADE_ABORTED. The caller must have
/// waited for all its requests (brigade_window_request) of the window.
///
/// @param window  NULL is ignored
BRIGADE_EXPORT void brigade_window_destroy(brigade_window* window);

/// Returns the number of members of a window; -1 if `window` is NULL. Local.
BRIGADE_EXPORT int brigade_window_size(const brigade_window* window);
/// Returns the calling rank's number in the window, from 0; -1 if `window` is NULL. Local.
BRIGADE_EXPORT int brigade_window_rank(const brigade_window* window);
/// Returns the number of bytes that a member exposes; -1 if `rank` is not a member, or if `window`
/// is NULL. Local.
BRIGADE_EXPORT int64_t brigade_window_bytes(const brigade_window* window, int rank);
/// Returns the displacement unit of a member, in bytes; -1 if `rank` is not a member, or if
/// `window` is NULL. Local.
BRIGADE_EXPORT int64_t brigade_window_unit(const brigade_window* window, int rank);
/// Returns the address at which this process maps the memory of the member `rank`, for loads and
/// stores. Returns NULL if this process does not map the memory, or if `rank` is not a member.
/// Local. Between its loads or stores and operations of other ranks on this memory, this process
/// must call one of these: brigade_window_sync(), brigade_window_flush(),
/// brigade_window_flush_all(), a function that begins or ends an epoch, or a function that consumes
/// notifications (brigade_window_notify_wait()).
BRIGADE_EXPORT void* brigade_window_pointer(const brigade_window* window, int rank);

/// @}
/// @name Values
/// @{

/// The layout of the bytes of one value, like an MPI datatype; opaque. The extent of a layout is
/// the distance in bytes between the beginnings of adjacent values. By default each value begins
/// directly after the last byte of the preceding value. Keep a layout that the program will use
/// again: a window that uses at most 256 layouts sends each layout to each target only once.
///
/// Functions that make layouts are local. When a call has returned, the caller may destroy the
/// layouts that it passed.
typedef struct brigade_layout brigade_layout;

/// Returns the layout of one element. The library owns this layout, which stays valid until the
/// process ends. Returns NULL if windows do not support the type.
BRIGADE_EXPORT const brigade_layout* brigade_layout_of(brigade_type type);
/// Makes a layout of `count` adjacent values, each with the layout `of`.
///
/// @param count   number of values, 0 or more
/// @param of      the layout of the values
/// @param layout  the new layout
/// @return #BRIGADE_INVALID_ARGUMENT: a negative count, a NULL pointer, or 2^62 bytes or more
BRIGADE_EXPORT brigade_status brigade_layout_contiguous(int64_t count, const brigade_layout* of,
                                                        brigade_layout** layout);
/// Makes a layout of equal blocks at equal distances, like MPI_Type_create_hvector. Each block
/// consists of adjacent values. For example, each column of a column-major matrix is a block.
///
/// @param count   number of blocks, 0 or more
/// @param block   number of values in each block, 0 or more
/// @param stride  bytes between the beginnings of adjacent blocks; may be negative
/// @param of      the layout of the values
/// @param layout  the new layout
/// @return like brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_strided(int64_t count, int64_t block, int64_t stride,
                                                     const brigade_layout* of,
                                                     brigade_layout** layout);
/// One block of brigade_layout_list(): adjacent values of one layout.
typedef struct {
  int64_t offset;            ///< bytes from the beginning of the new layout to the first value
  int64_t count;             ///< number of values, 0 or more
  const brigade_layout* of;  ///< the layout of the values
} brigade_block;
/// Makes a layout of blocks, each with its own offset and layout, like MPI_Type_create_struct.
///
/// @param count        number of blocks, 0 or more
/// @param blocks       the blocks. Operations read or write the values in the order of this array.
/// @param block_bytes  sizeof(brigade_block)
/// @param layout       the new layout
/// @return like brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_list(int64_t count, const brigade_block* blocks,
                                                  size_t block_bytes, brigade_layout** layout);
/// Makes a layout like `of`, but with another extent, like MPI_Type_create_resized.
///
/// @param extent  the new extent in bytes; may be 0 or negative; its magnitude must be below 2^62
/// @param of      the layout to change
/// @param layout  the new layout
/// @return like brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_resized(int64_t extent, const brigade_layout* of,
                                                     brigade_layout** layout);
/// Destroys a layout. Local.
///
/// @param layout  must not be a layout that brigade_layout_of() returned; NULL is ignored
BRIGADE_EXPORT void brigade_layout_destroy(brigade_layout* layout);

/// Values in the caller's memory.
typedef struct {
  void* data;     ///< address of the first value; may be NULL only if the values have no bytes;
                  ///< puts and accumulates only read from this address
  int64_t count;  ///< number of values, 0 or more
  const brigade_layout* layout;  ///< the layout of each value
} brigade_values;

/// Values in memory that a member exposes. In an operation, the total number of bytes of the
/// brigade_target must equal the total number of bytes of each brigade_values.
typedef struct {
  int rank;                      ///< the member, which may be the caller
  int64_t displacement;          ///< of the first value, in the member's displacement unit
  int64_t count;                 ///< number of values, 0 or more
  const brigade_layout* layout;  ///< the layout of each value; may differ from the origin's layout
} brigade_target;

/// @}
/// @name Operations
///
/// Errors: the failure that broke the window, or #BRIGADE_INVALID_ARGUMENT in these cases:
/// - The target is not a member, or the origin has no open epoch for the target.
/// - The origin's values and the target's values differ in their number of bytes.
/// - The access exceeds the memory of the target.
/// - `op` or the compare-and-swap is not defined for the types of the elements.
///
/// The call of an operation waits for other ranks only in these cases:
/// 1. An operation that goes by messages (head of this header) waits if 256 earlier operations of
///    the origin on the target are pending, or if 8192 earlier operations are not flushed.
/// 2. A segment is the part of a message that is sent in one piece. If a contiguous put goes by
///    messages and is longer than one segment, the call waits until the target can receive the put,
///    but at most about 80 us. After 80 us the call returns, and the put stays pending.
/// 3. While another rank performs an accumulate, fetching accumulate or compare-and-swap on the
///    target, these operations on the target wait: (a) accumulates, fetching accumulates and
///    compare-and-swaps; (b) some puts with notification.
/// 4. If the origin is on the target's host and does not map the memory, two kinds of operations
///    can wait: (a) the first operation after a fence, until the target has left the fence; (b) an
///    operation on 1024 or more separate pieces of at most 1 KiB, until the target has performed
///    it.
/// 5. In a dynamic window, an operation waits while the target attaches or detaches memory.
///
/// Cost (details: docs/design/windows.md):
/// - If the origin maps the memory: a copy, or the computation of an accumulate.
/// - If the kernel copies: one system call for a contiguous put or get; for an accumulate, at most
///   two system calls for each 16 KiB.
/// - If the operation goes by messages: a message to the target, and one back if the operation
///   returns values.
/// @{

/// Puts `count` adjacent elements from `data` into the memory of `rank`.
BRIGADE_EXPORT brigade_status brigade_window_put(brigade_window* window, const void* data,
                                                 int64_t count, brigade_type type, int rank,
                                                 int64_t displacement);
/// Gets `count` adjacent elements from the memory of `rank` into `result`.
BRIGADE_EXPORT brigade_status brigade_window_get(brigade_window* window, void* result,
                                                 int64_t count, brigade_type type, int rank,
                                                 int64_t displacement);
/// Applies `op` to `count` adjacent elements in the memory of `rank` and the elements at `data`,
/// and stores the results in the memory of `rank`.
BRIGADE_EXPORT brigade_status brigade_window_accumulate(brigade_window* window, brigade_op op,
                                                        const void* data, int64_t count,
                                                        brigade_type type, int rank,
                                                        int64_t displacement);
/// Like brigade_window_accumulate(), for the one element `*value`, but also stores the old value of
/// the target's element in `*result`. If `op` is #BRIGADE_NO_OP, `value` is ignored.
BRIGADE_EXPORT brigade_status brigade_window_fetch_and_op(brigade_window* window, brigade_op op,
                                                          brigade_type type, const void* value,
                                                          void* result, int rank,
                                                          int64_t displacement);
/// Compares one element in the memory of `rank` with `*expected`, bit by bit. If both are equal,
/// replaces the element by `*desired`. Stores the element's old value in `*result`. The type must
/// have at most 8 bytes. The caller may free `expected` and `desired` when the call has returned.
BRIGADE_EXPORT brigade_status brigade_window_compare_and_swap(brigade_window* window,
                                                              brigade_type type,
                                                              const void* expected,
                                                              const void* desired, void* result,
                                                              int rank, int64_t displacement);
/// Puts `count` adjacent elements, and then notifies the target, which consumes the notification by
/// brigade_window_notify_wait(). Needs no epoch. Puts with notification from one origin to one
/// target arrive in the order of the calls. The caller may reuse the memory at `data` once the
/// target has consumed the notification. To wait at the origin until the memory can be reused, call
/// brigade_window_put_notify_values() with a request instead.
BRIGADE_EXPORT brigade_status brigade_window_put_notify(brigade_window* window, const void* data,
                                                        int64_t count, brigade_type type, int rank,
                                                        int64_t displacement);

/// A handle of one operation, like an MPI request, to wait for this operation alone; opaque. If the
/// argument `request` of a function is not NULL, the function stores a request in `*request`. The
/// caller must then pass the request to brigade_window_request_wait(), and must also end the epoch
/// of the operation.
typedef struct brigade_window_request brigade_window_request;

/// Puts values of any layout (brigade_layout, like an MPI datatype).
BRIGADE_EXPORT brigade_status brigade_window_put_values(brigade_window* window,
                                                        const brigade_values* values,
                                                        const brigade_target* target,
                                                        brigade_window_request** request);
/// Gets values of any layout (brigade_layout, like an MPI datatype).
BRIGADE_EXPORT brigade_status brigade_window_get_values(brigade_window* window,
                                                        const brigade_values* result,
                                                        const brigade_target* target,
                                                        brigade_window_request** request);
/// Combines the target's values with the origin's values, each of any layout, and stores the
/// results at the target. All elements must have the same type, at the origin and at the target.
BRIGADE_EXPORT brigade_status brigade_window_accumulate_values(brigade_window* window,
                                                               brigade_op op,
                                                               const brigade_values* values,
                                                               const brigade_target* target,
                                                               brigade_window_request** request);
/// Like brigade_window_accumulate_values(), but also stores the old values of the target in
/// `result`. If `op` is #BRIGADE_NO_OP, `values` is ignored.
BRIGADE_EXPORT brigade_status brigade_window_get_accumulate(brigade_window* window, brigade_op op,
                                                            const brigade_values* values,
                                                            const brigade_values* result,
                                                            const brigade_target* target,
                                                            brigade_window_request** request);
/// Like brigade_window_put_notify(), but puts values of any layout.
BRIGADE_EXPORT brigade_status brigade_window_put_notify_values(brigade_window* window,
                                                               const brigade_values* values,
                                                               const brigade_target* target,
                                                               brigade_window_request** request);

/// Makes progress. Returns 1 if the operation no longer uses the caller's memory, if the window is
/// broken, or if `request` is NULL; otherwise 0. Does not free the request: the caller must still
/// call brigade_window_request_wait().
BRIGADE_EXPORT int brigade_window_request_test(brigade_window_request* request);
/// Blocks until the operation no longer uses the caller's memory, and frees the request. When the
/// call returns, a put or accumulate may still be incomplete at the target.
///
/// @param request  invalid afterwards; if NULL, the call returns #BRIGADE_OK immediately
/// @return #BRIGADE_OK, or the failure that broke the window
BRIGADE_EXPORT brigade_status brigade_window_request_wait(brigade_window_request* request);

/// @}
/// @name Fences
/// @{

/// Promises of the caller about a fence, like the assertions of MPI. To make several promises, pass
/// their sum. If a promise is broken, the result is unspecified.
typedef enum {
  BRIGADE_FENCE_NOTHING_PRECEDES = 1,  ///< this fence ends no epoch
  BRIGADE_FENCE_NOTHING_SUCCEEDS = 2   ///< this fence begins no epoch
} brigade_fence_promise;

/// Ends an epoch of all members and begins the next. Operations and stores before the fence are
/// visible to all members after the fence. If a rank calls an operation after a fence, the rank
/// must call another fence before brigade_window_start(), brigade_window_lock() or
/// brigade_window_lock_all(). Collective over the window.
///
/// @param window    no member may hold a lock, be between start and complete, or be between post
///                  and wait
/// @param promises  a sum of #brigade_fence_promise, equal on all ranks; 0: no promise
/// @return #BRIGADE_INVALID_ARGUMENT: `promises` is not a sum of promises, or this rank holds a
///         lock, is between start and complete, or is between post and wait; #BRIGADE_PEER_LOST on
///         all other members: the process of a member ended; otherwise the failure that broke the
///         window
///
/// Cost, for any number of targets:
/// - If all members access all memory without messages: one or two barriers.
/// - If a member accesses some memory by messages: on up to 8 ranks, a message from each rank to
///   each other rank; on more ranks, an all-reduce of 8 bytes per rank. A barrier follows if the
///   window is dynamic or detects conflicts, if a rank accesses another rank's memory without
///   messages, or if the caller promises #BRIGADE_FENCE_NOTHING_SUCCEEDS.
BRIGADE_EXPORT brigade_status brigade_window_fence(brigade_window* window, int promises);

/// @}
/// @name Start and complete, post and wait
/// Epochs of some members: the general active target synchronisation of MPI. `ranks` is an array of
/// `count` members, each at most once. The caller may free the array when the call has returned.
///
/// Errors: #BRIGADE_INVALID_ARGUMENT if `ranks` contains a rank twice, or a rank that is not a
/// member, or if the caller's epochs do not permit the call; otherwise the failure that broke the
/// window. Cost of each function: a store to shared memory or a short message for each target or
/// origin.
/// @{

/// Begins an epoch in which the caller is the origin and `ranks` are the targets. Blocks until each
/// target has called brigade_window_post().
BRIGADE_EXPORT brigade_status brigade_window_start(brigade_window* window, const int* ranks,
                                                   int count);
/// Ends the epoch of brigade_window_start(). Afterwards the caller may read the results of gets,
/// and may write the memory from which the operations of the epoch took their values.
BRIGADE_EXPORT brigade_status brigade_window_complete(brigade_window* window);
/// Exposes this rank's memory to the origins `ranks`, until brigade_window_wait(). Does not wait.
BRIGADE_EXPORT brigade_status brigade_window_post(brigade_window* window, const int* ranks,
                                                  int count);
/// Blocks until each origin of brigade_window_post() has called brigade_window_complete(), and the
/// operations of these origins are complete.
BRIGADE_EXPORT brigade_status brigade_window_wait(brigade_window* window);
/// Like brigade_window_wait(), but does not block. If all origins have called
/// brigade_window_complete(), ends the exposure and sets `*done` to 1; otherwise sets `*done` to 0.
BRIGADE_EXPORT brigade_status brigade_window_test(brigade_window* window, int* done);

/// @}
/// @name Locks
/// Epochs of one origin, for which the target makes no call: MPI's passive target synchronisation.
/// A flush function with the argument `rank` requires a lock of `rank`. A flush function without
/// this argument requires a lock of at least one member.
///
/// Errors: #BRIGADE_INVALID_ARGUMENT if `rank` is not a member, or if the epochs of the caller do
/// not permit the call; otherwise the failure that broke the window. Cost for each target: if
/// operations on the target go by messages, a message to the target and its answer; otherwise
/// accesses of shared memory.
/// @{

/// Kinds of locks.
typedef enum {
  BRIGADE_LOCK_SHARED = 0,  ///< several origins can hold the lock at the same time
  BRIGADE_LOCK_EXCLUSIVE    ///< only one origin can hold the lock at a time
} brigade_lock;

/// Blocks until the caller holds a lock of the memory of `rank`. The target's lock is granted in
/// the order in which origins request it.
BRIGADE_EXPORT brigade_status brigade_window_lock(brigade_window* window, brigade_lock kind,
                                                  int rank);
/// Blocks until all operations of the caller on the memory of `rank` are complete, and releases the
/// lock of `rank`.
BRIGADE_EXPORT brigade_status brigade_window_unlock(brigade_window* window, int rank);
/// Acquires a shared lock on the memory of each member. Not collective.
BRIGADE_EXPORT brigade_status brigade_window_lock_all(brigade_window* window);
/// Blocks until all operations of the caller are complete at their targets, and releases the locks
/// of brigade_window_lock_all().
BRIGADE_EXPORT brigade_status brigade_window_unlock_all(brigade_window* window);
/// Blocks until all operations of the caller on `rank` are complete at `rank`. If operations
/// between any two members go by messages, the call makes progress. To wait for a value that
/// another rank puts into the caller's memory, call this function with the caller's own rank and
/// load the value, in a loop.
BRIGADE_EXPORT brigade_status brigade_window_flush(brigade_window* window, int rank);
/// Calls brigade_window_flush() for all members whose locks the caller holds.
BRIGADE_EXPORT brigade_status brigade_window_flush_all(brigade_window* window);
/// Blocks until the caller's operations on `rank` no longer use the caller's memory.
BRIGADE_EXPORT brigade_status brigade_window_flush_local(brigade_window* window, int rank);
/// Calls brigade_window_flush_local() for all members whose locks the caller holds.
BRIGADE_EXPORT brigade_status brigade_window_flush_local_all(brigade_window* window);
/// Makes stores of this process visible to other processes, and their stores visible to this
/// process. Makes progress; does not wait.
BRIGADE_EXPORT brigade_status brigade_window_sync(brigade_window* window);

/// @}
/// @name Notifications
/// A target counts notifications separately for each origin, and subtracts the notifications that
/// it consumes. When the target consumes a notification, the values of the put with notification,
/// and of all earlier puts of this origin to this target, have arrived.
///
/// Errors: #BRIGADE_INVALID_ARGUMENT if `rank` is not a member, or if `count` is negative;
/// otherwise the failure that broke the window. Cost: accesses of this rank's memory.
/// @{

/// Blocks until `count` notifications from the origin `rank` have arrived, and consumes them.
BRIGADE_EXPORT brigade_status brigade_window_notify_wait(brigade_window* window, int rank,
                                                         int64_t count);
/// If `count` notifications from the origin `rank` have arrived, consumes these notifications and
/// sets `*taken` to 1; otherwise sets `*taken` to 0. Makes progress; does not wait.
BRIGADE_EXPORT brigade_status brigade_window_notify_test(brigade_window* window, int rank,
                                                         int64_t count, int* taken);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_WINDOW_H_ */

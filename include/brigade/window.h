/// @file
/// Brigade: one-sided communication, for C99 and for languages that can call C. Each member of a
/// window exposes memory. The other members put into this memory, get from it and accumulate into
/// it; the member that exposes the memory (its owner) makes no matching call.
///
/// The conventions of brigade.h hold, and these conventions:
///
/// 1. An operation must be called within an epoch, as in MPI: between two fences, between start and
///    complete, or while a lock is held. A put with notification needs no epoch.
/// 2. The call of an operation can return before the operation is complete. The caller's memory
///    that the operation uses must stay valid until (a) the call that ends the epoch, (b) a flush
///    of the target, or (c) the completion of the operation's request. Until then the caller must
///    not write this memory, and must not read memory that the operation writes. The caller may
///    destroy a layout as soon as the call that uses the layout has returned, even if the operation
///    is pending.
/// 3. Accumulates, fetching accumulates and swaps are atomic per element with respect to each
///    other. From one origin to one target, these operations take place in the order of the calls.
///    Puts and gets are neither atomic nor ordered: if two origins put to one location in one
///    epoch, the value at this location is unspecified.
/// 4. A call that returns #BRIGADE_INVALID_ARGUMENT has had no effect, on this rank or elsewhere.
///    #BRIGADE_OUT_OF_MEMORY of brigade_window_attach() also has no effect. Any other failure
///    breaks the window on all its members: every pending and later call on the window fails, and
///    the window can only be freed or destroyed. If a call fails in this way, the contents of its
///    output memory are unspecified.
/// 5. Not thread-safe: at most one thread at a time may use an engine, its groups and its windows.
/// 6. Displacements are in the displacement unit of the target. All other offsets and lengths are
///    in bytes. The count of an operation is in elements of a type, or in values of a layout; a
///    value is one instance of a layout, like one instance of an MPI datatype.
///
/// An operation goes by messages if the origin does not map the target's memory, and the kernel
/// cannot copy between the two processes, for example between hosts. All operations go by messages
/// in a window that detects conflicts (brigade_options::check_windows). A progress thread of the
/// target performs operations that go by messages. Exception: once the target has had a group that
/// uses the transport `mpi`, the target must call this library instead, for example
/// brigade_progress().
///
/// Sources: MPI-3.1, chapter 11; The Implementation of MPI-2 One-Sided Communication for the NEC
/// SX-5, sections 2 to 4; for notified puts, ARMCI.

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

/// Makes a window of memory that the caller owns. Collective over the group. While other ranks
/// access the memory, its owner need not call this library if (1) the system permits
/// process_vm_readv() and process_vm_writev() between the ranks, or (2) the transport has a
/// progress thread. If all of `memory` lies in one allocation of brigade_alloc(), the ranks of the
/// host access the memory by loads and stores, as with brigade_window_allocate().
///
/// @param group     the members of the window. The caller may destroy the group after this call;
///                  the group's engine must outlive the window.
/// @param memory    the memory that this rank exposes; must not be NULL unless `bytes` is 0. The
///                  caller still owns this memory, which must stay valid until the window is freed.
/// @param bytes     the length of `memory`; may differ by rank
/// @param unit      the unit of displacements into this memory, in bytes, at least 1; may differ by
///                  rank
/// @param window    the new window; its ranks are numbered as in the group
/// @return a status that is equal on all ranks. #BRIGADE_INVALID_ARGUMENT: a bad size or unit on a
///         rank; #BRIGADE_OUT_OF_MEMORY: too little memory, or too little staging memory (all
///         windows of an engine share 4 chunks); #BRIGADE_MISMATCH and #BRIGADE_UNAVAILABLE: see
///         brigade_group_split(). On failure no window is made.
///
/// Cost: that of making a group, and a few all-gathers of at most a few hundred bytes per rank.
BRIGADE_EXPORT brigade_status brigade_window_create(brigade_group* group, void* memory,
                                                    size_t bytes, int64_t unit,
                                                    brigade_window** window);
/// Makes a window of memory that the library allocates. Ranks of one host access this memory by
/// loads and stores, which is faster than access to ordinary memory. In all other respects like
/// brigade_window_create().
///
/// @param group     see brigade_window_create()
/// @param bytes     the length of the memory that this rank exposes; may differ by rank; may be 0
/// @param unit      the unit of displacements into this memory, in bytes, at least 1; may differ by
///                  rank
/// @param memory    the address of the memory, zeroed and aligned to a page; valid until the window
///                  is freed
/// @param window    the new window
/// @return like brigade_window_create()
///
/// The system counts a page of the memory as used from the first access to the page, as with
/// brigade_alloc().
BRIGADE_EXPORT brigade_status brigade_window_allocate(brigade_group* group, size_t bytes,
                                                      int64_t unit, void** memory,
                                                      brigade_window** window);
/// Makes a window without memory, like MPI_Win_create_dynamic: each rank attaches memory later.
/// Displacements are addresses of the target, in bytes, cast to int64_t. In all other respects like
/// brigade_window_create().
///
/// @param group     see brigade_window_create()
/// @param window    the new window; brigade_window_bytes() is meaningless for this window
/// @return like brigade_window_create()
///
/// Cost: that of brigade_window_create(), and 64 KiB of shared memory on each rank.
BRIGADE_EXPORT brigade_status brigade_window_create_dynamic(brigade_group* group,
                                                            brigade_window** window);
/// Attaches memory of the caller to a dynamic window. The memory stays attached until
/// brigade_window_detach(), or until the window is freed. Local: the library does not send the
/// address to other ranks. After this call has returned, the program must send the address to the
/// origins.
///
/// If the origin accesses the target's memory directly, an operation on memory that is not attached
/// fails with #BRIGADE_INVALID_ARGUMENT. If the operation goes by messages, only the target detects
/// the error, and the window then fails on all members, as in convention 4.
///
/// @param window  a dynamic window
/// @param memory  memory of the caller; must stay valid until it is detached
/// @param bytes   the length of `memory`; 0: the call attaches a range that no operation can access
/// @return #BRIGADE_INVALID_ARGUMENT: the window is not dynamic, or the memory overlaps attached
///         memory; #BRIGADE_OUT_OF_MEMORY: this rank has 4096 ranges of memory attached already. On
///         failure nothing is attached.
///
/// Cost: proportional to the number of attached ranges.
BRIGADE_EXPORT brigade_status brigade_window_attach(brigade_window* window, void* memory,
                                                    size_t bytes);
/// Detaches memory. Local. All operations of all ranks on the memory must be complete, and no rank
/// may call further operations on the memory.
///
/// @param window  a dynamic window
/// @param memory  the address that was passed to brigade_window_attach()
/// @return #BRIGADE_INVALID_ARGUMENT: the window is not dynamic, or no attached range begins at
///         `memory`. A range of 0 bytes is also an attached range.
BRIGADE_EXPORT brigade_status brigade_window_detach(brigade_window* window, const void* memory);
/// Waits until all operations on a window are complete, then frees the window. Collective over its
/// members.
///
/// @param window  invalid afterwards, unless the call returns #BRIGADE_INVALID_ARGUMENT. NULL is
///                ignored.
/// @return #BRIGADE_INVALID_ARGUMENT: this rank has not waited for a request, or the window is not
///         broken and this rank holds a lock or is between start and complete or post and wait;
///         otherwise the window's first failure, or #BRIGADE_OK. An epoch of fences may be open.
///
/// Cost: that of a fence.
BRIGADE_EXPORT brigade_status brigade_window_free(brigade_window* window);
/// Destroys a window without waiting for the other members. Call this function only if
/// brigade_window_free() is impossible. Local. Calls of other members on the window fail with
/// #BRIGADE_ABORTED. The caller must have waited for all its requests of the window.
///
/// @param window  NULL is ignored
BRIGADE_EXPORT void brigade_window_destroy(brigade_window* window);

/// Returns the number of members of a window; -1 if `window` is NULL. Local, like the next four
/// functions.
BRIGADE_EXPORT int brigade_window_size(const brigade_window* window);
/// Returns the calling rank's number in the window, from 0; -1 if `window` is NULL.
BRIGADE_EXPORT int brigade_window_rank(const brigade_window* window);
/// Returns the number of bytes that a member exposes; -1 if `rank` is not a member, or if `window`
/// is NULL.
BRIGADE_EXPORT int64_t brigade_window_bytes(const brigade_window* window, int rank);
/// Returns the displacement unit of a member, in bytes; -1 if `rank` is not a member, or if
/// `window` is NULL.
BRIGADE_EXPORT int64_t brigade_window_unit(const brigade_window* window, int rank);
/// Returns the address at which this process can load from and store to the memory of the member
/// `rank`, which may be the caller. Returns NULL if this process does not map the memory, or if
/// `rank` is not a member. Between loads or stores through this address and operations of other
/// ranks on this memory, the program must call one of these: brigade_window_sync(),
/// brigade_window_flush(), brigade_window_flush_all(), a function that begins or ends an epoch, or
/// a function that consumes notifications.
BRIGADE_EXPORT void* brigade_window_pointer(const brigade_window* window, int rank);

/// @}
/// @name Values
/// Types and layouts of the values in memory.
/// @{

/// The layout of the bytes of one value, like an MPI datatype; opaque. In an array of values, each
/// value begins directly after the last byte of the preceding value, unless
/// brigade_layout_resized() sets another extent. Keep a layout that the program will use again:
/// each window sends a layout to each target only once, as long as the window uses at most 256
/// layouts.
typedef struct brigade_layout brigade_layout;

/// Returns the layout of one element. The library owns this layout, which stays valid until the
/// process ends. Returns NULL if windows do not support the type.
BRIGADE_EXPORT const brigade_layout* brigade_layout_of(brigade_type type);
/// Makes a layout of `count` adjacent values of a layout. Local, like all functions that make
/// layouts.
///
/// @param count   number of values, 0 or more
/// @param of      the layout of the values; the caller may destroy it after this call
/// @param layout  the new layout
/// @return #BRIGADE_INVALID_ARGUMENT: a negative count, no layout, or a total of 2^62 bytes or more
BRIGADE_EXPORT brigade_status brigade_layout_contiguous(int64_t count, const brigade_layout* of,
                                                        brigade_layout** layout);
/// Makes a layout of equal blocks at equal distances, for example columns of a matrix: MPI's
/// hvector.
///
/// @param count   number of blocks, 0 or more
/// @param block   number of values in each block, 0 or more
/// @param stride  number of bytes from the beginning of one block to the beginning of the next; may
///                be negative
/// @param of      the layout of the values; the caller may destroy it after this call
/// @param layout  the new layout
/// @return like brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_strided(int64_t count, int64_t block, int64_t stride,
                                                     const brigade_layout* of,
                                                     brigade_layout** layout);
/// A block of adjacent values, as part of a list.
typedef struct {
  int64_t offset;            ///< bytes from the beginning of the layout to the first value
  int64_t count;             ///< number of values, 0 or more
  const brigade_layout* of;  ///< the layout of the values
} brigade_block;
/// Makes a layout of blocks, each with its offset and layout, like MPI_Type_create_struct.
///
/// @param count        number of blocks, 0 or more
/// @param blocks       the blocks, in the order in which their values are taken
/// @param block_bytes  sizeof(brigade_block)
/// @param layout       the new layout
/// @return like brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_list(int64_t count, const brigade_block* blocks,
                                                  size_t block_bytes, brigade_layout** layout);
/// Makes a layout with the bytes of `of` and another extent, like MPI_Type_create_resized: adjacent
/// values begin `extent` bytes apart. The extent may be smaller than the span of the bytes, 0, or
/// negative.
///
/// @param extent  the new extent in bytes; its magnitude must be below 2^62
/// @param of      the layout to change; the caller may destroy it after this call
/// @param layout  the new layout
/// @return like brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_resized(int64_t extent, const brigade_layout* of,
                                                     brigade_layout** layout);
/// Destroys a layout. Pending operations that use the layout still complete.
///
/// @param layout  must not be a layout that brigade_layout_of() returned; NULL is ignored
BRIGADE_EXPORT void brigade_layout_destroy(brigade_layout* layout);

/// Values in the caller's memory.
typedef struct {
  void* data;     ///< address of the first value; must not be NULL unless the values have no bytes;
                  ///< puts and accumulates do not write to it
  int64_t count;  ///< number of values, 0 or more
  const brigade_layout* layout;  ///< the layout of each value
} brigade_values;

/// Values in memory that a member exposes. In an operation, the brigade_target and the
/// brigade_values must have the same total number of bytes.
typedef struct {
  int rank;                      ///< the member, which may be the caller
  int64_t displacement;          ///< displacement of the first value, in the member's unit
  int64_t count;                 ///< number of values, 0 or more
  const brigade_layout* layout;  ///< the layout of each value; may differ from the caller's
} brigade_target;

/// @}
/// @name Operations
/// Operations that a member (the origin) calls on the memory of a member (the target). Origin and
/// target may be the same member.
///
/// Errors: #BRIGADE_INVALID_ARGUMENT if (1) the target is not a member, or no epoch is open for the
/// target, (2) the origin's and the target's values differ in their number of bytes, (3) the access
/// exceeds the memory of the target, or (4) the operation is not defined for the element types of
/// origin and target; otherwise the failure of the window.
///
/// A call of an operation waits for other ranks in these cases only:
/// (1) Messages carry the operation, and 256 earlier operations on this target are pending.
/// (2) Messages carry the operation, and 8192 earlier operations on this target were not flushed.
/// (3) An accumulate, fetching accumulate or swap waits for such operations of other ranks on the
/// same target.
/// (4) The origin is on the target's host, and does not map the memory: the first operation after a
/// fence can wait until the target has left the fence.
/// (5) The origin is on the target's host, and does not map the memory: an operation on 1024 or
/// more short blocks can wait until a progress thread of the target has performed the operation.
/// (6) The window is dynamic: an operation waits while the target attaches or detaches memory.
/// (7) Messages carry a long contiguous put: the call waits about 80 us at most for the target.
///
/// Cost: a copy or combine if the origin maps the memory. If the kernel copies between the
/// processes: one system call for a contiguous put or get, and at most two for each 16 KiB of an
/// accumulate. Otherwise a message to the target, and if the operation returns values, a message
/// back. docs/design/windows.md has the details.
/// @{

/// Puts `count` adjacent elements from `data` into the memory of `rank`.
BRIGADE_EXPORT brigade_status brigade_window_put(brigade_window* window, const void* data,
                                                 int64_t count, brigade_type type, int rank,
                                                 int64_t displacement);
/// Gets `count` adjacent elements from the memory of `rank` into `result`.
BRIGADE_EXPORT brigade_status brigade_window_get(brigade_window* window, void* result,
                                                 int64_t count, brigade_type type, int rank,
                                                 int64_t displacement);
/// Combines `count` adjacent elements in the memory of `rank` with the elements at `data`, and
/// stores the results in the memory of `rank`.
BRIGADE_EXPORT brigade_status brigade_window_accumulate(brigade_window* window, brigade_op op,
                                                        const void* data, int64_t count,
                                                        brigade_type type, int rank,
                                                        int64_t displacement);
/// Replaces one element in the memory of `rank` by its combination with `*value`, and stores the
/// element's old value in `*result`. If `op` is #BRIGADE_NO_OP, `value` is ignored.
BRIGADE_EXPORT brigade_status brigade_window_fetch_and_op(brigade_window* window, brigade_op op,
                                                          brigade_type type, const void* value,
                                                          void* result, int rank,
                                                          int64_t displacement);
/// Compares one element of at most 8 bytes in the memory of `rank` with `*expected`, bit by bit,
/// and if both are equal, replaces the element by `*desired`. Stores the element's old value in
/// `*result`. The caller may free `expected` and `desired` when the call has returned.
BRIGADE_EXPORT brigade_status brigade_window_compare_and_swap(brigade_window* window,
                                                              brigade_type type,
                                                              const void* expected,
                                                              const void* desired, void* result,
                                                              int rank, int64_t displacement);
/// Puts `count` adjacent elements, followed by a notification for which the target can wait with
/// brigade_window_notify_wait(). Needs no epoch. Puts with notification from one origin to one
/// target arrive in the order of the calls. The caller may reuse the memory at `data` once the
/// target has consumed the notification. To learn this, the caller can wait for a notification that
/// the target sends in reply. With brigade_window_put_notify_values(), the caller can wait for a
/// request instead.
BRIGADE_EXPORT brigade_status brigade_window_put_notify(brigade_window* window, const void* data,
                                                        int64_t count, brigade_type type, int rank,
                                                        int64_t displacement);

/// A handle of one operation, for which the caller can wait separately, like an MPI request;
/// opaque.
typedef struct brigade_window_request brigade_window_request;

/// Puts values of any layout. If `request` is not NULL, the call stores a request in `*request`,
/// with which the caller must wait for the operation. The caller must also end the epoch of the
/// operation.
BRIGADE_EXPORT brigade_status brigade_window_put_values(brigade_window* window,
                                                        const brigade_values* values,
                                                        const brigade_target* target,
                                                        brigade_window_request** request);
/// Gets values of any layout. `request`: see brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_get_values(brigade_window* window,
                                                        const brigade_values* result,
                                                        const brigade_target* target,
                                                        brigade_window_request** request);
/// Combines the target's values with the origin's values, each of any layout, and stores the
/// results at the target. All elements must have the same type, at the origin and at the target.
/// `request`: see brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_accumulate_values(brigade_window* window,
                                                               brigade_op op,
                                                               const brigade_values* values,
                                                               const brigade_target* target,
                                                               brigade_window_request** request);
/// Like brigade_window_accumulate_values(), but also stores the old values of the target in
/// `result`. If `op` is #BRIGADE_NO_OP, `values` is ignored. `request`: see
/// brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_get_accumulate(brigade_window* window, brigade_op op,
                                                            const brigade_values* values,
                                                            const brigade_values* result,
                                                            const brigade_target* target,
                                                            brigade_window_request** request);
/// Puts values of any layout with notification, like brigade_window_put_notify(). `request`: see
/// brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_put_notify_values(brigade_window* window,
                                                               const brigade_values* values,
                                                               const brigade_target* target,
                                                               brigade_window_request** request);

/// Makes progress. Returns 1 if the caller may reuse the memory of the operation, or if the window
/// is broken; otherwise 0. Does not end the request: the caller must still wait for it. NULL counts
/// as complete.
BRIGADE_EXPORT int brigade_window_request_test(brigade_window_request* request);
/// Blocks until the caller may reuse the memory of the operation, and ends the request. When the
/// call returns, a put is possibly not yet complete at the target.
///
/// @param request  invalid afterwards; NULL counts as complete
/// @return #BRIGADE_OK, or the failure of the window
BRIGADE_EXPORT brigade_status brigade_window_request_wait(brigade_window_request* request);

/// @}
/// @name Fences
/// @{

/// Promises of the caller about a fence, like the assertions of MPI. To make several promises, pass
/// their sum. All ranks must pass the same sum. If a promise is broken, the result is unspecified.
typedef enum {
  BRIGADE_FENCE_NOTHING_PRECEDES = 1,  ///< this fence ends no epoch
  BRIGADE_FENCE_NOTHING_SUCCEEDS = 2   ///< this fence begins no epoch
} brigade_fence_promise;

/// Ends an epoch of all members and begins the next. Operations and stores before the fence are
/// visible to all members after the fence. A rank that has called an operation since the fence must
/// call another fence before brigade_window_start(), brigade_window_lock() or
/// brigade_window_lock_all(). Collective over the window.
///
/// @param window    a window on which no member is in another kind of epoch
/// @param promises  a sum of #brigade_fence_promise; 0: no promise
/// @return #BRIGADE_INVALID_ARGUMENT: this rank is in another kind of epoch; #BRIGADE_PEER_LOST on
///         all other members: a member is lost; otherwise the failure of the window
///
/// Cost, for any number of targets:
/// - all ranks access all memory without messages: one barrier; two barriers if a rank got short
///   values from memory that is not shared
/// - all ranks access the memory of others by messages, and the window is not dynamic: on up to 8
///   ranks, a message from each rank to each other rank; on more ranks, an all-reduce of 8 bytes
///   per rank
/// - otherwise: the sum of these two costs
BRIGADE_EXPORT brigade_status brigade_window_fence(brigade_window* window, int promises);

/// @}
/// @name Start and complete, post and wait
/// Epochs of some members: the general active target synchronisation of MPI. `ranks` are `count`
/// different members. The caller may free the array `ranks` when the call has returned.
///
/// Errors: #BRIGADE_INVALID_ARGUMENT if the epochs of the caller do not permit the call, for
/// example a wait without a post, or if `ranks` are not different members; otherwise the failure of
/// the window. Cost of each function: a store to shared memory or a short message for each rank.
/// @{

/// Begins an epoch in which the caller is the origin and `ranks` are the targets. Blocks until each
/// target has called brigade_window_post().
BRIGADE_EXPORT brigade_status brigade_window_start(brigade_window* window, const int* ranks,
                                                   int count);
/// Ends the epoch of brigade_window_start(). Afterwards the caller may read the results of gets,
/// and may write the memory from which the operations of the epoch took their values.
BRIGADE_EXPORT brigade_status brigade_window_complete(brigade_window* window);
/// Exposes this rank's memory to the origins `ranks`. Does not wait.
BRIGADE_EXPORT brigade_status brigade_window_post(brigade_window* window, const int* ranks,
                                                  int count);
/// Blocks until each origin has called brigade_window_complete(), and the operations of all origins
/// are complete.
BRIGADE_EXPORT brigade_status brigade_window_wait(brigade_window* window);
/// Like brigade_window_wait(), but does not block: if all origins have completed, ends the epoch
/// and sets `*done` to 1; otherwise sets `*done` to 0.
BRIGADE_EXPORT brigade_status brigade_window_test(brigade_window* window, int* done);

/// @}
/// @name Locks
/// Epochs of one origin, for which the target makes no call: MPI's passive target synchronisation.
/// A flush requires a lock: of `rank`, or of any member for the flush functions without `rank`.
///
/// Errors: #BRIGADE_INVALID_ARGUMENT if `rank` is not a member, or if the epochs of the caller do
/// not permit the call, for example an unlock without a lock; otherwise the failure of the window.
/// Cost for each target: accesses of shared memory within a host; otherwise a message to the target
/// and its answer.
/// @{

/// Kinds of locks.
typedef enum {
  BRIGADE_LOCK_SHARED = 0,  ///< several origins can hold the lock
  BRIGADE_LOCK_EXCLUSIVE    ///< only one origin can hold the lock
} brigade_lock;

/// Locks the memory of `rank`. Blocks until the lock is granted. The locks of one target are
/// granted in the order in which ranks requested them.
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
/// between any two members of the window go by messages, the call also makes progress, and returns
/// the failure of a broken window. Therefore a rank can wait for a value that another rank puts
/// into the waiting rank's memory: in a loop, the waiting rank calls brigade_window_flush() with
/// its own rank number, and loads the value.
BRIGADE_EXPORT brigade_status brigade_window_flush(brigade_window* window, int rank);
/// Calls brigade_window_flush() for all locked members.
BRIGADE_EXPORT brigade_status brigade_window_flush_all(brigade_window* window);
/// Blocks until the caller may reuse the memory of its operations on `rank`.
BRIGADE_EXPORT brigade_status brigade_window_flush_local(brigade_window* window, int rank);
/// Calls brigade_window_flush_local() for all locked members.
BRIGADE_EXPORT brigade_status brigade_window_flush_local_all(brigade_window* window);
/// Makes stores of other processes visible to this process, and stores of this process visible to
/// other processes. Makes progress; does not wait.
BRIGADE_EXPORT brigade_status brigade_window_sync(brigade_window* window);

/// @}
/// @name Notifications
/// A target counts notifications separately for each source. When the target consumes a
/// notification, all values that the source put before this notification have arrived.
///
/// Errors: #BRIGADE_INVALID_ARGUMENT if `rank` is not a member, or if `count` is negative;
/// otherwise the failure of the window. Cost: accesses of this rank's memory.
/// @{

/// Blocks until `count` notifications from `rank` have arrived, and consumes them. `count` is 0 or
/// more.
BRIGADE_EXPORT brigade_status brigade_window_notify_wait(brigade_window* window, int rank,
                                                         int64_t count);
/// If `count` notifications from `rank` have arrived, consumes them and sets `*taken` to 1;
/// otherwise sets `*taken` to 0. Makes progress; does not wait.
BRIGADE_EXPORT brigade_status brigade_window_notify_test(brigade_window* window, int rank,
                                                         int64_t count, int* taken);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_WINDOW_H_ */

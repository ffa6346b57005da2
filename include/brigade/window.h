/// @file
/// Brigade: one-sided communication, for C99 and for languages that can call C. Each member
/// of a window exposes memory. The other members put into this memory, get from it and accumulate
/// into it, without a call of the owner.
///
/// The conventions of brigade.h hold. In addition:
///
/// 1. Operations take place within epochs, as in MPI: between fences, between start and complete,
///    or while a lock is held. A put with notification needs no epoch.
/// 2. An operation may return before it is complete. Memory of the caller must stay valid until (a)
///    the call that ends the epoch, (b) a flush, or (c) the completion of the operation's request.
///    Until then the caller must not write this memory, nor read it if the operation writes it. A
///    layout may be destroyed as soon as the call that uses it has returned, even if the operation
///    is pending.
/// 3. Accumulates, fetching accumulates and swaps are atomic per element against each other, and
///    those of one origin to one target take place in order. Puts and gets are not atomic and not
///    ordered: if two origins put into one place in one epoch, its value is unspecified.
/// 4. A call that returns #BRIGADE_INVALID_ARGUMENT has had no effect, on this rank or elsewhere.
///    Any other failure breaks the window on all its members: every pending and later call on the
///    window fails, and the window can only be freed or destroyed. The output memory of a failed
///    call is unspecified.
/// 5. Not thread-safe: at most one thread at a time may use an engine, its groups and its windows.
/// 6. Displacements are in the displacement unit of the target. All other sizes are in bytes, or in
///    values of a layout.
///
/// A progress thread of the target performs the operations that go by messages. The target must
/// call this library instead, for example brigade_progress(), (1) for operations over `mpi` between
/// hosts, and (2) for all of them once it has had a group that uses `mpi`.
///
/// Sources: MPI-3.1, chapter 11; MPI/SX, sections 2 to 4; notified puts: ARMCI.

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

/// Makes a window of memory that the caller owns. Collective over the group. The owner of the
/// memory need not call while other ranks access it, if their system permits direct access
/// (process_vm_writev), or if the transport has a progress thread. Memory of brigade_alloc() is
/// accessed like memory of brigade_window_allocate().
///
/// @param group     the members of the window; may be destroyed afterwards. Its engine must outlive
///                  the window.
/// @param memory    the memory that this rank exposes; NULL only if it has no bytes. The caller
///                  keeps this memory, which must stay valid until the window is freed.
/// @param bytes     the length of `memory`; may differ by rank
/// @param unit      the unit of displacements into this memory, in bytes, at least 1; may differ by
///                  rank
/// @param window    the new window; its ranks are numbered as in the group
/// @return equal on all ranks: #BRIGADE_INVALID_ARGUMENT: a bad size or unit on a rank;
///         #BRIGADE_OUT_OF_MEMORY: no memory, or no staging memory for windows (4 chunks, for all
///         windows of an engine); #BRIGADE_MISMATCH and #BRIGADE_UNAVAILABLE as of
///         brigade_group_split(). On failure no window is made.
///
/// Cost: making a group, and two exchanges of a few hundred bytes per rank.
BRIGADE_EXPORT brigade_status brigade_window_create(brigade_group* group, void* memory,
                                                    size_t bytes, int64_t unit,
                                                    brigade_window** window);
/// Makes a window of memory that the library allocates. The window is faster than a window of other
/// memory: ranks of one host access the memory by loads and stores. Otherwise like
/// brigade_window_create().
///
/// @param group     as of brigade_window_create()
/// @param bytes     the length of the memory that this rank exposes; may differ by rank
/// @param unit      the unit of displacements into it, in bytes, at least 1; may differ by rank
/// @param memory    the address of the memory, zeroed and aligned to a page; valid until the window
///                  is freed
/// @param window    the new window
/// @return as brigade_window_create()
///
/// Pages of the memory count as used when they are first touched, as with brigade_alloc().
BRIGADE_EXPORT brigade_status brigade_window_allocate(brigade_group* group, size_t bytes,
                                                      int64_t unit, void** memory,
                                                      brigade_window** window);
/// Makes a window to which each rank attaches memory later: MPI's dynamic window. Displacements are
/// addresses of the target, in bytes, cast to int64_t. Otherwise like brigade_window_create().
///
/// @param group     as of brigade_window_create()
/// @param window    the new window; brigade_window_bytes() is meaningless for it
/// @return as brigade_window_create()
///
/// Cost: brigade_window_create(), and 64 KiB of shared memory.
BRIGADE_EXPORT brigade_status brigade_window_create_dynamic(brigade_group* group,
                                                            brigade_window** window);
/// Attaches memory of the caller to a dynamic window, until it is detached or the window is freed.
/// Local: the program must send the address to other ranks after this call has returned.
///
/// An operation on memory that is not attached fails with #BRIGADE_INVALID_ARGUMENT if ranks access
/// each other's memory directly. Otherwise only the target detects the error, which breaks the
/// window.
///
/// @param window  a dynamic window
/// @param memory  memory of the caller; must be valid until it is detached
/// @param bytes   its length; nothing is attached if it is 0
/// @return #BRIGADE_INVALID_ARGUMENT: the window is not dynamic, or the memory overlaps attached
///         memory; #BRIGADE_OUT_OF_MEMORY: 4096 parts are attached. On failure nothing is attached.
///
/// Cost: proportional to the number of attached parts.
BRIGADE_EXPORT brigade_status brigade_window_attach(brigade_window* window, void* memory,
                                                    size_t bytes);
/// Detaches memory. Local. No operation on the memory may be pending, or be called later.
///
/// @param window  a dynamic window
/// @param memory  the address of an attached part
/// @return #BRIGADE_INVALID_ARGUMENT: the window is not dynamic, or no part begins there
BRIGADE_EXPORT brigade_status brigade_window_detach(brigade_window* window, const void* memory);
/// Frees a window once all operations on it are complete. Collective over its members.
///
/// @param window  invalid afterwards, unless #BRIGADE_INVALID_ARGUMENT is returned. NULL is
///                ignored.
/// @return #BRIGADE_INVALID_ARGUMENT: an epoch is open, or a request was not waited for; otherwise
///         the first failure of the window, or #BRIGADE_OK
///
/// Cost: a fence.
BRIGADE_EXPORT brigade_status brigade_window_free(brigade_window* window);
/// Destroys a window that its members cannot free together. Local. Calls of other members on the
/// window fail with #BRIGADE_ABORTED. All requests of the window must have been waited for.
///
/// @param window  NULL is ignored
BRIGADE_EXPORT void brigade_window_destroy(brigade_window* window);

/// Returns the number of members of a window; -1 if it is NULL. Local, like the four functions
/// below.
BRIGADE_EXPORT int brigade_window_size(const brigade_window* window);
/// Returns the calling rank's number in the window, from 0; -1 if it is NULL.
BRIGADE_EXPORT int brigade_window_rank(const brigade_window* window);
/// Returns the number of bytes that a member exposes; -1 if there is no such rank or window.
BRIGADE_EXPORT int64_t brigade_window_bytes(const brigade_window* window, int rank);
/// Returns the displacement unit of a member, in bytes; -1 if there is no such rank.
BRIGADE_EXPORT int64_t brigade_window_unit(const brigade_window* window, int rank);
/// Returns the address of a member's memory in this process, for loads and stores; the caller may
/// be the member. NULL if the memory is not mapped here, or if there is no such rank. Between loads
/// or stores and operations of other ranks, brigade_window_sync() or a synchronisation must be
/// called.
BRIGADE_EXPORT void* brigade_window_pointer(const brigade_window* window, int rank);

/// @}
/// @name Values
/// Types and layouts of the values in memory.
/// @{

/// The layout of the bytes of one value, like an MPI datatype; opaque. In an array of values each
/// value begins directly after the last byte of the value before, unless brigade_layout_resized()
/// sets another extent. Keep layouts that are used again: a layout is sent to each rank at most
/// once, if no more than 256 layouts are in use at a time.
typedef struct brigade_layout brigade_layout;

/// Returns the layout of one element. The library owns it, and it stays valid. NULL if windows have
/// no such type.
BRIGADE_EXPORT const brigade_layout* brigade_layout_of(brigade_type type);
/// Makes a layout of `count` adjacent values of a layout. Local, like all functions that make
/// layouts.
///
/// @param count   0 or more
/// @param of      may be destroyed afterwards
/// @param layout  the new layout
/// @return #BRIGADE_INVALID_ARGUMENT: a negative count, no layout, or a total of 2^62 bytes or more
BRIGADE_EXPORT brigade_status brigade_layout_contiguous(int64_t count, const brigade_layout* of,
                                                        brigade_layout** layout);
/// Makes a layout of equal blocks at equal distances, for example columns of a matrix: MPI's
/// hvector.
///
/// @param count   blocks, 0 or more
/// @param block   values in each, 0 or more
/// @param stride  bytes from the beginning of one block to the beginning of the next; may be
///                negative
/// @param of      the layout of the values; may be destroyed afterwards
/// @param layout  the new layout
/// @return as brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_strided(int64_t count, int64_t block, int64_t stride,
                                                     const brigade_layout* of,
                                                     brigade_layout** layout);
/// A block of adjacent values, as part of a list.
typedef struct {
  int64_t offset;            ///< of the first value, in bytes from the beginning of the layout
  int64_t count;             ///< number of values, 0 or more
  const brigade_layout* of;  ///< the layout of the values
} brigade_block;
/// Makes a layout of blocks, each with its offset and layout, like MPI_Type_create_struct.
///
/// @param count        blocks, 0 or more
/// @param blocks       the blocks, in the order in which their values are taken
/// @param block_bytes  sizeof(brigade_block)
/// @param layout       the new layout
/// @return as brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_list(int64_t count, const brigade_block* blocks,
                                                  size_t block_bytes, brigade_layout** layout);
/// Makes a layout with the bytes of `of` and another extent, like MPI_Type_create_resized: adjacent
/// values begin `extent` bytes apart. The extent may be smaller than the span of the bytes, 0, or
/// negative.
///
/// @param extent  within 2^62
/// @param of      may be destroyed afterwards
/// @param layout  the new layout
/// @return as brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_resized(int64_t extent, const brigade_layout* of,
                                                     brigade_layout** layout);
/// Destroys a layout. Operations that use the layout and are pending still complete.
///
/// @param layout  not a layout of brigade_layout_of(); NULL is ignored
BRIGADE_EXPORT void brigade_layout_destroy(brigade_layout* layout);

/// Values in the caller's memory.
typedef struct {
  void* data;     ///< of the first value; only read in puts; NULL only if there is none
  int64_t count;  ///< number of values, 0 or more
  const brigade_layout* layout;  ///< the layout of each value
} brigade_values;

/// Values in a member's memory. The values must have as many bytes as the caller's values, and lie
/// within the memory that the member exposes.
typedef struct {
  int rank;                      ///< the member, which may be the caller
  int64_t displacement;          ///< of the first value, in the member's unit
  int64_t count;                 ///< number of values, 0 or more
  const brigade_layout* layout;  ///< the layout of each value; may differ from the caller's
} brigade_target;

/// @}
/// @name Operations
/// Operations of a member, the origin, on the memory of another member, the target.
///
/// Errors: #BRIGADE_INVALID_ARGUMENT if (1) no epoch is open for the target, (2) origin and target
/// differ in their values, or the access exceeds the memory of the target, or (3) the operation is
/// not defined for the type of the elements; otherwise the failure of the window.
///
/// A call of an operation waits for other ranks in three cases only: (1) messages carry the
/// operation to the target, and 256 operations to this target, or 8192 in all, are pending; (2) an
/// accumulate waits for other accumulates on the same memory; (3) the first operation after a
/// fence, on one host, waits until its target has left the fence.
/// @{

/// Puts `count` adjacent elements of the caller into the memory of `rank`.
BRIGADE_EXPORT brigade_status brigade_window_put(brigade_window* window, const void* data,
                                                 int64_t count, brigade_type type, int rank,
                                                 int64_t displacement);
/// Gets `count` adjacent elements from the memory of `rank` into `result`.
BRIGADE_EXPORT brigade_status brigade_window_get(brigade_window* window, void* result,
                                                 int64_t count, brigade_type type, int rank,
                                                 int64_t displacement);
/// Combines `count` adjacent elements in the memory of `rank` with elements of the caller.
BRIGADE_EXPORT brigade_status brigade_window_accumulate(brigade_window* window, brigade_op op,
                                                        const void* data, int64_t count,
                                                        brigade_type type, int rank,
                                                        int64_t displacement);
/// Combines one element in the memory of `rank` with `*value`, which #BRIGADE_NO_OP
/// ignores. `*result` gets the element's old value.
BRIGADE_EXPORT brigade_status brigade_window_fetch_and_op(brigade_window* window, brigade_op op,
                                                          brigade_type type, const void* value,
                                                          void* result, int rank,
                                                          int64_t displacement);
/// Replaces one element of at most 8 bytes in the memory of `rank` by `*desired` if it equals
/// `*expected`, bit by bit. `*result` gets the element's old value. `expected` and `desired` may be
/// freed afterwards.
BRIGADE_EXPORT brigade_status brigade_window_compare_and_swap(brigade_window* window,
                                                              brigade_type type,
                                                              const void* expected,
                                                              const void* desired, void* result,
                                                              int rank, int64_t displacement);
/// Puts `count` adjacent elements, followed by a notification that the target can wait for with
/// brigade_window_notify_wait(). Needs no epoch. Puts with notification to one target arrive in
/// order. Once the target has consumed the notification, the caller may reuse the memory at `data`.
BRIGADE_EXPORT brigade_status brigade_window_put_notify(brigade_window* window, const void* data,
                                                        int64_t count, brigade_type type, int rank,
                                                        int64_t displacement);

/// A request: an operation that can be waited for by itself; opaque.
typedef struct brigade_window_request brigade_window_request;

/// Puts values of any layout. If `request` is not NULL, the operation can be waited for by itself;
/// its epoch must still be ended.
BRIGADE_EXPORT brigade_status brigade_window_put_values(brigade_window* window,
                                                        const brigade_values* values,
                                                        const brigade_target* target,
                                                        brigade_window_request** request);
/// Gets values of any layout; `request` as of brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_get_values(brigade_window* window,
                                                        const brigade_values* result,
                                                        const brigade_target* target,
                                                        brigade_window_request** request);
/// Combines values of any layout. All elements of the origin and target values must have one type.
/// `request` as of brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_accumulate_values(brigade_window* window,
                                                               brigade_op op,
                                                               const brigade_values* values,
                                                               const brigade_target* target,
                                                               brigade_window_request** request);
/// Combines values of any layout, and stores the old values of the target in `result`.
/// #BRIGADE_NO_OP ignores `values`. `request` as of brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_get_accumulate(brigade_window* window, brigade_op op,
                                                            const brigade_values* values,
                                                            const brigade_values* result,
                                                            const brigade_target* target,
                                                            brigade_window_request** request);
/// Puts values of any layout, like brigade_window_put_notify(). `request` as of
/// brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_put_notify_values(brigade_window* window,
                                                               const brigade_values* values,
                                                               const brigade_target* target,
                                                               brigade_window_request** request);

/// Progresses. Returns 1 if the caller may reuse its memory, or if the window is broken. The
/// request must still be waited for. NULL counts as complete.
BRIGADE_EXPORT int brigade_window_request_test(brigade_window_request* request);
/// Blocks until the caller may reuse its memory, and ends the request. A put may not have arrived
/// at the target yet.
///
/// @param request  invalid afterwards; NULL counts as complete
/// @return #BRIGADE_OK, or the failure of the window
BRIGADE_EXPORT brigade_status brigade_window_request_wait(brigade_window_request* request);

/// @}
/// @name Fences
/// @{

/// Promises of a caller about a fence; add several. All ranks pass the same sum, as with the
/// assertions of MPI. If a promise is broken, the result is unspecified.
typedef enum {
  BRIGADE_FENCE_NOTHING_PRECEDES = 1,  ///< no epoch ends here
  BRIGADE_FENCE_NOTHING_SUCCEEDS = 2   ///< no epoch begins here
} brigade_fence_promise;

/// Ends an epoch of all members and begins the next. Operations and stores before the fence are
/// visible to all members after it. A rank that has called an operation in this epoch must end the
/// epoch by another fence before it calls brigade_window_start() or brigade_window_lock().
/// Collective over the window.
///
/// @param window    a window on which no member is in another kind of epoch
/// @param promises  a sum of #brigade_fence_promise; 0: none
/// @return #BRIGADE_INVALID_ARGUMENT: another epoch is open; #BRIGADE_PEER_LOST: a member is gone,
///         returned on all other members; otherwise the failure of the window
///
/// Cost, for any number of targets:
/// - shared memory: a barrier, or two if short values were got from memory that is not shared
/// - messages only: a message from each rank to each other rank on up to 8 ranks; on more ranks an
///   all-reduce of 8 bytes per rank
/// - both: the sum of the two
BRIGADE_EXPORT brigade_status brigade_window_fence(brigade_window* window, int promises);

/// @}
/// @name Start and complete, post and wait
/// Epochs of some members: the general active target synchronisation of MPI. `ranks` are `count`
/// different members; the array may be freed afterwards.
/// @{

/// Begins an epoch at an origin. Blocks until each target has posted.
BRIGADE_EXPORT brigade_status brigade_window_start(brigade_window* window, const int* ranks,
                                                   int count);
/// Ends the epoch. Afterwards the caller may reuse the memory of its operations.
BRIGADE_EXPORT brigade_status brigade_window_complete(brigade_window* window);
/// Exposes this rank's memory to origins. Does not wait.
BRIGADE_EXPORT brigade_status brigade_window_post(brigade_window* window, const int* ranks,
                                                  int count);
/// Blocks until each origin has called brigade_window_complete(), and the operations of all origins
/// are complete.
BRIGADE_EXPORT brigade_status brigade_window_wait(brigade_window* window);
/// Tests instead of waiting: if brigade_window_wait() would return at once, `*done` is 1 and the
/// epoch is ended.
BRIGADE_EXPORT brigade_status brigade_window_test(brigade_window* window, int* done);

/// @}
/// @name Locks
/// Epochs of one origin, without a call of the target: MPI's passive target synchronisation.
/// @{

/// Kinds of locks.
typedef enum {
  BRIGADE_LOCK_SHARED = 0,  ///< several origins may hold it
  BRIGADE_LOCK_EXCLUSIVE    ///< one origin holds it
} brigade_lock;

/// Locks the memory of `rank`. Blocks until the lock is granted. Locks are granted in the order of
/// the requests.
BRIGADE_EXPORT brigade_status brigade_window_lock(brigade_window* window, brigade_lock kind,
                                                  int rank);
/// Releases the lock of `rank`, once all operations on the memory of `rank` are complete.
BRIGADE_EXPORT brigade_status brigade_window_unlock(brigade_window* window, int rank);
/// Locks the memory of all members, shared. Not collective.
BRIGADE_EXPORT brigade_status brigade_window_lock_all(brigade_window* window);
/// Releases the locks of brigade_window_lock_all(), once all operations are complete at their
/// targets.
BRIGADE_EXPORT brigade_status brigade_window_unlock_all(brigade_window* window);
/// Blocks until all operations on `rank` are complete at the target. If messages carry operations
/// between some ranks, the call also progresses, and returns the failure of the window if there is
/// one. So a rank may flush itself in a loop until it sees a value that another rank puts into its
/// memory. Must be called within a lock, like the three functions below.
BRIGADE_EXPORT brigade_status brigade_window_flush(brigade_window* window, int rank);
/// Calls brigade_window_flush() for all locked members.
BRIGADE_EXPORT brigade_status brigade_window_flush_all(brigade_window* window);
/// Blocks until the caller may reuse the memory of its operations on `rank`.
BRIGADE_EXPORT brigade_status brigade_window_flush_local(brigade_window* window, int rank);
/// Calls brigade_window_flush_local() for all locked members.
BRIGADE_EXPORT brigade_status brigade_window_flush_local_all(brigade_window* window);
/// Makes stores of this process and of other processes visible to each other. Progresses; does not
/// wait.
BRIGADE_EXPORT brigade_status brigade_window_sync(brigade_window* window);

/// @}
/// @name Notifications
/// Notifications are counted per source. When a notification is consumed, all values that its
/// source put before it have arrived.
/// @{

/// Blocks until `count` notifications from `rank` have arrived, and consumes them. `count` is 0 or
/// more.
BRIGADE_EXPORT brigade_status brigade_window_notify_wait(brigade_window* window, int rank,
                                                         int64_t count);
/// Consumes `count` notifications from `rank` and sets `*taken` to 1, if so many have arrived;
/// otherwise sets `*taken` to 0. Progresses; does not wait.
BRIGADE_EXPORT brigade_status brigade_window_notify_test(brigade_window* window, int rank,
                                                         int64_t count, int* taken);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_WINDOW_H_ */

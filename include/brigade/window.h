/// @file
/// Brigade: one-sided communication, for C99 and what can call it. Each member of a window exposes
/// memory, and the others put into it, get from it and combine with it, without a call of its
/// owner.
///
/// The conventions of brigade.h hold, and these:
///
/// 1. What is done to the memory of others is done within epochs, as MPI has them: between fences,
///    between start and complete, or while a lock is held. A put with notification needs none.
/// 2. An operation may return before it is done. Memory of the caller must stay valid and, unless
///    it is only read, untouched until the call that ends the epoch, a flush, or until the request
///    of the operation is done. A layout may be destroyed at once.
/// 3. Accumulates, fetching ones and swaps are atomic per element against each other, and those of
///    one origin to one target take place in order. Puts and gets are neither: what two origins
///    put into the same place in one epoch is unspecified.
/// 4. After #BRIGADE_INVALID_ARGUMENT nothing happened, on this rank or elsewhere. After any other
///    failure the window is broken, on all its members: every call on it fails, under way or made
///    later, and it can only be freed or destroyed. What was to be written is then unspecified.
/// 5. Not thread-safe, as an engine is not: an engine, its groups and its windows are used by one
///    thread at a time.
/// 6. Displacements count in the target's unit, all else in bytes, or in values of a layout.
///
/// A target need not call while others work on its memory where ranks share a host, or go by tcp: a
/// thread answers what comes by messages. Over `mpi` between hosts, and once a process has had a
/// group that uses `mpi`, its next call does that: any call of this library, brigade_progress()
/// among them.
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

/// Makes a window of memory that the caller has. Collective over the communicator, and nobody else.
/// It can be reached without a call of its owner by ranks whose system lets them
/// (process_vm_writev), and over transports with a thread. Memory of brigade_alloc() is reached as
/// that of brigade_window_allocate() is.
///
/// @param engine    the calling process's; must outlive the window
/// @param mpi_comm  as of brigade_group_create(): used during this call only
/// @param memory    what this rank exposes; NULL only if it has no bytes. It stays the caller's,
///                  and valid until the window is freed.
/// @param bytes     how much; may differ by rank
/// @param unit      of displacements into this memory, in bytes, at least 1; may differ by rank
/// @param window    the new window; of the members its ranks are those of the communicator
/// @return the same on all ranks: #BRIGADE_INVALID_ARGUMENT: a bad size or unit on a rank;
///         #BRIGADE_OUT_OF_MEMORY: no memory, or no staging memory for windows (4 chunks, for all
///         windows of an engine); #BRIGADE_MISMATCH and #BRIGADE_UNAVAILABLE as of
///         brigade_group_create(). No window then.
///
/// Cost: that of a group, and two exchanges of a few hundred bytes per rank.
BRIGADE_EXPORT brigade_status brigade_window_create(brigade_engine* engine, int mpi_comm,
                                                    void* memory, size_t bytes, int64_t unit,
                                                    brigade_window** window);
/// As brigade_window_create(), of memory that the library makes, which is the faster kind: ranks of
/// the same host work on it by loads and stores.
///
/// @param engine    the calling process's; must outlive the window
/// @param mpi_comm  as of brigade_group_create(): used during this call only
/// @param bytes     how much this rank exposes; may differ by rank
/// @param unit      of displacements into it, in bytes, at least 1; may differ by rank
/// @param memory    where it begins, zeroed and aligned to a page; valid until the window is freed
/// @param window    the new window
/// @return as brigade_window_create()
///
/// Its pages count as used when they are first touched, as those of brigade_alloc() do.
BRIGADE_EXPORT brigade_status brigade_window_allocate(brigade_engine* engine, int mpi_comm,
                                                      size_t bytes, int64_t unit, void** memory,
                                                      brigade_window** window);
/// As brigade_window_create(), of memory that each rank attaches and detaches later. Displacements
/// into it are addresses of the target, in bytes, as a cast to int64_t gives them.
///
/// @param engine    the calling process's; must outlive the window
/// @param mpi_comm  as of brigade_group_create(): used during this call only
/// @param window    the new window; brigade_window_bytes() has no meaning for it
/// @return as brigade_window_create()
///
/// Cost: as of brigade_window_create(), and 64 KiB of shared memory.
BRIGADE_EXPORT brigade_status brigade_window_create_dynamic(brigade_engine* engine, int mpi_comm,
                                                            brigade_window** window);
/// Lets the others reach memory of the caller, until it is detached or the window freed. Local:
/// they must learn of it by other means, after it has returned.
///
/// An operation on what is not attached is refused with #BRIGADE_INVALID_ARGUMENT where ranks reach
/// each other's memory by themselves; elsewhere the target finds it, and the window is broken.
///
/// @param window  a dynamic one
/// @param memory  the caller's; stays valid until it is detached
/// @param bytes   how much; nothing is attached if it is 0
/// @return #BRIGADE_INVALID_ARGUMENT: the window is not dynamic, or the memory overlaps what is
///         attached to it; #BRIGADE_OUT_OF_MEMORY: 4096 parts are attached. Nothing happened then.
///
/// Cost: grows with the number of parts that are attached.
BRIGADE_EXPORT brigade_status brigade_window_attach(brigade_window* window, void* memory,
                                                    size_t bytes);
/// Takes attached memory back. Local. Nobody may work on it any more.
///
/// @param window  a dynamic one
/// @param memory  where a part begins that is attached to it
/// @return #BRIGADE_INVALID_ARGUMENT: the window is not dynamic, or no part begins there
BRIGADE_EXPORT brigade_status brigade_window_detach(brigade_window* window, const void* memory);
/// Frees a window, once nobody works on it any more. Collective over its members.
///
/// @param window  gone afterwards, whatever the outcome, unless that is #BRIGADE_INVALID_ARGUMENT.
///                NULL is ignored.
/// @return #BRIGADE_INVALID_ARGUMENT: an epoch is open, or a request was not waited for; else the
///         first failure of the window, if it had one
///
/// Cost: a fence.
BRIGADE_EXPORT brigade_status brigade_window_free(brigade_window* window);
/// Gives a window up that is not to be freed together. Local. The others' calls on it end with
/// #BRIGADE_ABORTED. None of its requests may be left.
///
/// @param window  NULL is ignored
BRIGADE_EXPORT void brigade_window_destroy(brigade_window* window);

/// Members of a window. Local, as all four below.
BRIGADE_EXPORT int brigade_window_size(const brigade_window* window);
/// The calling rank's number among them, from 0.
BRIGADE_EXPORT int brigade_window_rank(const brigade_window* window);
/// Bytes that a member exposes; -1 if there is no such rank.
BRIGADE_EXPORT int64_t brigade_window_bytes(const brigade_window* window, int rank);
/// A member's unit, in bytes; -1 if there is no such rank.
BRIGADE_EXPORT int64_t brigade_window_unit(const brigade_window* window, int rank);
/// Where this process sees a member's memory, its own included: for loads and stores. NULL if it
/// does not, or if there is no such rank. Between them and others' work brigade_window_sync(), or a
/// synchronisation, is called.
BRIGADE_EXPORT void* brigade_window_pointer(const brigade_window* window, int rank);

/// @}
/// @name Values
/// What memory holds, as far as operations must know it.
/// @{

/// Kinds of values.
typedef enum {
  BRIGADE_ELEMENT_BYTE = 0,             ///< bits without a meaning
  BRIGADE_ELEMENT_INT8,                 ///< int8_t
  BRIGADE_ELEMENT_INT16,                ///< int16_t
  BRIGADE_ELEMENT_INT32,                ///< int32_t
  BRIGADE_ELEMENT_INT64,                ///< int64_t
  BRIGADE_ELEMENT_UINT8,                ///< uint8_t
  BRIGADE_ELEMENT_UINT16,               ///< uint16_t
  BRIGADE_ELEMENT_UINT32,               ///< uint32_t
  BRIGADE_ELEMENT_UINT64,               ///< uint64_t
  BRIGADE_ELEMENT_FLOAT,                ///< float
  BRIGADE_ELEMENT_DOUBLE,               ///< double
  BRIGADE_ELEMENT_LONG_DOUBLE,          ///< long double
  BRIGADE_ELEMENT_COMPLEX_FLOAT,        ///< two floats
  BRIGADE_ELEMENT_COMPLEX_DOUBLE,       ///< two doubles
  BRIGADE_ELEMENT_COMPLEX_LONG_DOUBLE,  ///< two long doubles
  BRIGADE_ELEMENT_BOOL,                 ///< a byte, 0 or 1
  BRIGADE_ELEMENT_LOGICAL,              ///< Fortran's, of 4 bytes; 0 is false
  /// A value and where it was found. It is packed without a gap: 12 bytes here, where a structure
  /// has 16; brigade_layout_resized() makes up for that. The same is true of those that follow.
  BRIGADE_ELEMENT_FLOAT_AND_INT,
  BRIGADE_ELEMENT_DOUBLE_AND_INT,       ///< of 12 bytes
  BRIGADE_ELEMENT_LONG_DOUBLE_AND_INT,  ///< of 20 bytes
  BRIGADE_ELEMENT_LONG_AND_INT,         ///< of 12 bytes
  BRIGADE_ELEMENT_SHORT_AND_INT,        ///< of 6 bytes
  BRIGADE_ELEMENT_INT_AND_INT,          ///< of 8 bytes
  BRIGADE_ELEMENT_FLOAT_AND_FLOAT,      ///< of 8 bytes
  BRIGADE_ELEMENT_DOUBLE_AND_DOUBLE     ///< of 16 bytes
} brigade_element;

/// How accumulates combine what is there with what comes. A sum of several origins is in the order
/// of their arrival.
typedef enum {
  BRIGADE_ACCUMULATE_REPLACE = 0,  ///< what comes; of every element
  BRIGADE_ACCUMULATE_NO_OP,        ///< what is there: an atomic read, if fetched
  BRIGADE_ACCUMULATE_SUM,          ///< of numbers; integers wrap
  BRIGADE_ACCUMULATE_PRODUCT,      ///< of numbers
  BRIGADE_ACCUMULATE_MAX,          ///< of integers and floating numbers
  BRIGADE_ACCUMULATE_MIN,          ///< likewise
  BRIGADE_ACCUMULATE_LOGICAL_AND,  ///< of integers, bools and logicals
  BRIGADE_ACCUMULATE_LOGICAL_OR,   ///< likewise
  BRIGADE_ACCUMULATE_LOGICAL_XOR,  ///< likewise
  BRIGADE_ACCUMULATE_BIT_AND,      ///< of integers and bytes
  BRIGADE_ACCUMULATE_BIT_OR,       ///< likewise
  BRIGADE_ACCUMULATE_BIT_XOR,      ///< likewise
  /// Of values with locations: the larger, and of equal ones the smaller location.
  BRIGADE_ACCUMULATE_MAX_LOCATION,
  BRIGADE_ACCUMULATE_MIN_LOCATION  ///< the smaller, likewise
} brigade_accumulate_op;

/// Where the bytes of one value lie; opaque. Values of it in a row begin where the last byte of the
/// one before ends, unless brigade_layout_resized() says otherwise. It is told to each rank at most
/// once, as long as no more than 256 are in use at a time: keep those that are used again.
typedef struct brigade_layout brigade_layout;

/// One element. It is the library's, and stays valid; NULL if there is no such element.
BRIGADE_EXPORT const brigade_layout* brigade_layout_of(brigade_element element);
/// `count` values of a layout in a row. Local, as all that make layouts.
///
/// @param count   0 or more
/// @param of      may be destroyed afterwards
/// @param layout  the new layout
/// @return #BRIGADE_INVALID_ARGUMENT: a negative count, no layout, or 2^62 bytes or more in all
BRIGADE_EXPORT brigade_status brigade_layout_contiguous(int64_t count, const brigade_layout* of,
                                                        brigade_layout** layout);
/// Equal blocks at even distances, such as columns of a matrix.
///
/// @param count   blocks, 0 or more
/// @param block   values in each, 0 or more
/// @param stride  bytes from the beginning of one to that of the next; may be negative
/// @param of      what the values are; may be destroyed afterwards
/// @param layout  the new layout
/// @return as brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_strided(int64_t count, int64_t block, int64_t stride,
                                                     const brigade_layout* of,
                                                     brigade_layout** layout);
/// Some values in a row, as part of a list.
typedef struct {
  int64_t offset;            ///< of the first, in bytes from the beginning of the value
  int64_t count;             ///< how many, 0 or more
  const brigade_layout* of;  ///< what they are
} brigade_block;
/// Blocks in any places, of any kinds: an indexed type of MPI, or a structure.
///
/// @param count   blocks, 0 or more
/// @param blocks  in the order in which their values are taken
/// @param layout  the new layout
/// @return as brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_list(int64_t count, const brigade_block* blocks,
                                                  brigade_layout** layout);
/// The same bytes, but values in a row begin `extent` bytes apart, which may be less than they
/// span, 0, or negative.
///
/// @param extent  within 2^62
/// @param of      may be destroyed afterwards
/// @param layout  the new layout
/// @return as brigade_layout_contiguous()
BRIGADE_EXPORT brigade_status brigade_layout_resized(int64_t extent, const brigade_layout* of,
                                                     brigade_layout** layout);
/// Ends a layout, also one that operations under way were given.
///
/// @param layout  NULL is ignored; not one of brigade_layout_of()
BRIGADE_EXPORT void brigade_layout_destroy(brigade_layout* layout);

/// Values in the caller's memory.
typedef struct {
  void* data;                    ///< of the first; only read where it is sent; NULL only if none
  int64_t count;                 ///< how many, 0 or more
  const brigade_layout* layout;  ///< what each is
} brigade_values;

/// Values in a member's memory. They are as many bytes as those of the caller, and lie in what the
/// member exposes.
typedef struct {
  int rank;                      ///< the member, which may be the caller
  int64_t displacement;          ///< of the first, in the member's unit
  int64_t count;                 ///< how many, 0 or more
  const brigade_layout* layout;  ///< what each is; need not be that of the caller's values
} brigade_target;

/// @}
/// @name Operations
/// What a member does to the memory of another, its target. They return #BRIGADE_INVALID_ARGUMENT
/// if no epoch is open for the target, if values do not fit each other or the target's memory, or
/// if an element has no such operation; otherwise the failure of the window. They wait for nobody,
/// except for a target that is reached by messages and is behind, with 256 operations under way or
/// 8192 in all; accumulates for others at work on the same memory; and the first one behind a
/// fence, on one host, for its target to leave that fence.
/// @{

/// Puts `count` adjacent elements of the caller's to `rank`.
BRIGADE_EXPORT brigade_status brigade_window_put(brigade_window* window, const void* data,
                                                 int64_t count, brigade_element element, int rank,
                                                 int64_t displacement);
/// Gets `count` adjacent elements from `rank`, into `result`.
BRIGADE_EXPORT brigade_status brigade_window_get(brigade_window* window, void* result,
                                                 int64_t count, brigade_element element, int rank,
                                                 int64_t displacement);
/// Combines `count` adjacent elements at `rank` with those of the caller.
BRIGADE_EXPORT brigade_status brigade_window_accumulate(brigade_window* window,
                                                        brigade_accumulate_op op, const void* data,
                                                        int64_t count, brigade_element element,
                                                        int rank, int64_t displacement);
/// Combines one element at `rank` with `*value`, which is not looked at by
/// #BRIGADE_ACCUMULATE_NO_OP. `*result` gets what was there before.
BRIGADE_EXPORT brigade_status brigade_window_fetch_and_op(brigade_window* window,
                                                          brigade_accumulate_op op,
                                                          brigade_element element,
                                                          const void* value, void* result, int rank,
                                                          int64_t displacement);
/// Replaces one element at `rank`, of 8 bytes at most, by `*desired` if it equals `*expected`, bit
/// by bit. `*result` gets what was there before. `expected` and `desired` may go afterwards.
BRIGADE_EXPORT brigade_status brigade_window_compare_and_swap(brigade_window* window,
                                                              brigade_element element,
                                                              const void* expected,
                                                              const void* desired, void* result,
                                                              int rank, int64_t displacement);
/// Puts `count` adjacent elements, and behind them a notification that the target can wait for with
/// brigade_window_notify_wait(). Needs no epoch. Puts with notification to one target arrive in
/// order. Once the target has taken the notification the caller's memory is its own again, too.
BRIGADE_EXPORT brigade_status brigade_window_put_notify(brigade_window* window, const void* data,
                                                        int64_t count, brigade_element element,
                                                        int rank, int64_t displacement);

/// An operation that can be waited for by itself; opaque.
typedef struct brigade_window_request brigade_window_request;

/// Puts values of any layout. Where `request` is not NULL, the operation can be waited for alone;
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
/// Combines values of any layout. Both sides consist of one and the same element. `request` as of
/// brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_accumulate_values(brigade_window* window,
                                                               brigade_accumulate_op op,
                                                               const brigade_values* values,
                                                               const brigade_target* target,
                                                               brigade_window_request** request);
/// The same, and `result` gets what was there before. `values` is not looked at by
/// #BRIGADE_ACCUMULATE_NO_OP. `request` as of brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_get_accumulate(
    brigade_window* window, brigade_accumulate_op op, const brigade_values* values,
    const brigade_values* result, const brigade_target* target, brigade_window_request** request);
/// brigade_window_put_notify() of values of any layout; `request` as of
/// brigade_window_put_values().
BRIGADE_EXPORT brigade_status brigade_window_put_notify_values(brigade_window* window,
                                                               const brigade_values* values,
                                                               const brigade_target* target,
                                                               brigade_window_request** request);

/// Progresses; 1 once the caller's memory is its own again, or the window is broken. The request
/// must still be waited for. NULL is done.
BRIGADE_EXPORT int brigade_window_request_test(brigade_window_request* request);
/// Waits until the caller's memory is its own again, and ends the request. A put may then still be
/// on its way to the target.
///
/// @param request  no longer valid afterwards; NULL is done
/// @return #BRIGADE_OK, or the failure of the window
BRIGADE_EXPORT brigade_status brigade_window_request_wait(brigade_window_request* request);

/// @}
/// @name Fences
/// @{

/// What a caller may promise of a fence, added up; equal on all ranks. A promise that is not kept
/// has an unspecified result.
typedef enum {
  BRIGADE_FENCE_NOTHING_PRECEDES = 1,  ///< no epoch ends here
  BRIGADE_FENCE_NOTHING_SUCCEEDS = 2   ///< no epoch begins here
} brigade_fence_promise;

/// Ends an epoch of all members and begins the next. What anybody did before it is seen by all
/// behind it. A rank that has called an operation in this epoch ends it by another fence before it
/// starts or locks. Collective over the window.
///
/// @param window    where nobody is in another kind of epoch
/// @param promises  a sum of #brigade_fence_promise; 0: none
/// @return #BRIGADE_INVALID_ARGUMENT: another epoch is open; #BRIGADE_PEER_LOST: a member is gone,
///         on all others; else the failure of the window
///
/// Cost, however many targets there were: a barrier in shared memory, or two if short values were
/// got from memory that is not shared; where all goes by messages, a note from each of up to 8
/// ranks to each other one, and of more an all-reduce of 8 bytes per rank; elsewhere a barrier and
/// these.
BRIGADE_EXPORT brigade_status brigade_window_fence(brigade_window* window, int promises);

/// @}
/// @name Start and complete, post and wait
/// Epochs of those who take part. `ranks` are `count` different members, and may go afterwards.
/// @{

/// Begins an epoch at an origin. Waits until each target has posted.
BRIGADE_EXPORT brigade_status brigade_window_start(brigade_window* window, const int* ranks,
                                                   int count);
/// Ends it. The caller's memory is its own again.
BRIGADE_EXPORT brigade_status brigade_window_complete(brigade_window* window);
/// Exposes this rank's memory to origins. Does not wait.
BRIGADE_EXPORT brigade_status brigade_window_post(brigade_window* window, const int* ranks,
                                                  int count);
/// Waits until each origin has completed, and what it asked for is done.
BRIGADE_EXPORT brigade_status brigade_window_wait(brigade_window* window);
/// Looks instead: `*done` is 1, and the epoch ended, if brigade_window_wait() would not wait.
BRIGADE_EXPORT brigade_status brigade_window_test(brigade_window* window, int* done);

/// @}
/// @name Locks
/// Epochs of one origin, of which the target need not know.
/// @{

/// Who else may hold a lock.
typedef enum {
  BRIGADE_LOCK_SHARED = 0,  ///< others that share it
  BRIGADE_LOCK_EXCLUSIVE    ///< nobody
} brigade_lock;

/// Locks the memory of `rank`; waits until it is had. Requests are served in their order.
BRIGADE_EXPORT brigade_status brigade_window_lock(brigade_window* window, brigade_lock kind,
                                                  int rank);
/// Gives it back, once all that was asked of `rank` is done there.
BRIGADE_EXPORT brigade_status brigade_window_unlock(brigade_window* window, int rank);
/// A shared lock of all members. Not collective.
BRIGADE_EXPORT brigade_status brigade_window_lock_all(brigade_window* window);
/// Gives them back, likewise.
BRIGADE_EXPORT brigade_status brigade_window_unlock_all(brigade_window* window);
/// Waits until all that was asked of `rank` is done there. Where some ranks are reached by messages
/// it progresses, so that whoever flushes its own memory again and again sees what others write to
/// it, and fails if the window has. Within a lock, as all four.
BRIGADE_EXPORT brigade_status brigade_window_flush(brigade_window* window, int rank);
/// The same of all that are locked.
BRIGADE_EXPORT brigade_status brigade_window_flush_all(brigade_window* window);
/// Waits until the caller's memory, of what was asked of `rank`, is its own again.
BRIGADE_EXPORT brigade_status brigade_window_flush_local(brigade_window* window, int rank);
/// The same of all that are locked.
BRIGADE_EXPORT brigade_status brigade_window_flush_local_all(brigade_window* window);
/// Makes what this process and others have stored visible to each other. Progresses; does not wait.
BRIGADE_EXPORT brigade_status brigade_window_sync(brigade_window* window);

/// @}
/// @name Notifications
/// Counted per source. What was put before a notification is there when it is taken.
/// @{

/// Takes `count` notifications of `rank`, 0 or more, and waits for them.
BRIGADE_EXPORT brigade_status brigade_window_notify_wait(brigade_window* window, int rank,
                                                         int64_t count);
/// Takes them if all are there: `*taken` is 1 then, else 0. Progresses; does not wait.
BRIGADE_EXPORT brigade_status brigade_window_notify_test(brigade_window* window, int rank,
                                                         int64_t count, int* taken);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_WINDOW_H_ */

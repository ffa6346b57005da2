/// @file
/// BSPlib for C99: programs that run in supersteps, with one-sided access to the memory of other
/// processes, and with messages.
///
/// Library: libbrigade_bsp.so. A program consists of processes, which all run the same supersteps.
/// The operations of a superstep take place at the end of the superstep, where all processes
/// synchronise. For example:
///
/// @code
///   bsp_begin(bsp_nprocs());
///   bsp_push_reg(a, bytes);         // each process passes its own address, as name
///   bsp_sync();                     // a superstep ends, and the registration is in effect
///   bsp_put(pid, source, a, offset, n);
///   bsp_sync();                     // the put is complete
///   bsp_pop_reg(a);
///   bsp_end();
/// @endcode
///
/// Conventions:
///
/// 1. A superstep lasts from bsp_begin() or bsp_sync() to the next bsp_sync(). Supersteps are
///    numbered from 0; error texts contain this number.
/// 2. All processes must make the same collective calls, in the same superstep and in the same
///    order. All other calls are local, and do not wait for other processes.
/// 3. At the end of a superstep, first all gets read their sources. Then gets write their results,
///    on each process in the order of its calls. Then puts write their destinations: first the puts
///    of process 0, then those of process 1, and so on. The puts of one process write in the order
///    of its calls. Registrations change last. Therefore a program gives equal bytes in every run.
/// 4. On an error the library prints the process, the call and the superstep on stderr, and ends
///    the program on all processes. The library always checks arguments, ranges of memory, and
///    whether collective calls agree on all processes.
/// 5. Offsets and lengths are in bytes.
/// 6. Not thread-safe: one thread of a process must make all calls.
///
/// Source: J. M. D. Hill et al., "BSPlib: The BSP programming library", Parallel Computing 24
/// (1998). The comments below define cases that the paper leaves open. Messages are received in the
/// order of their senders' numbers, and from one sender in the order of sending; the paper promises
/// no order.
///
/// docs/user/bsp.md has the cost of a superstep.

#ifndef BRIGADE_BSP_H_
#define BRIGADE_BSP_H_

#ifdef __cplusplus
extern "C" {
#endif

/// @cond
/* Suppresses compiler warnings: a program may register uninitialised memory. */
#if defined(__has_attribute)
#if __has_attribute(access)
#define BRIGADE_BSP_ADDRESS(argument) __attribute__((access(none, argument)))
#endif
#endif
#ifndef BRIGADE_BSP_ADDRESS
#define BRIGADE_BSP_ADDRESS(argument)
#endif
/// @endcond

/// @name Types
/// The type names of BSPonMPI and MulticoreBSP for processes, counts and lengths. These types are
/// int, as in BSPonMPI and in the paper; the types of MulticoreBSP are unsigned.
/// @{

/// The number of a process.
typedef int bsp_pid_t;
/// A number of processes or messages.
typedef int bsp_nprocs_t;
/// A number of bytes.
typedef int bsp_size_t;

/// @}
/// @name Start and end
/// @{

/// Lets process 0 run alone until bsp_begin(). A program that calls bsp_init() must call it as the
/// first statement of main(). On all processes except process 0, bsp_init() calls `start`, and ends
/// the process when `start` has returned. Collective.
///
/// @param start  a function whose first statement is bsp_begin(), and whose last statement is
///               bsp_end(); the program must call this function on process 0 after bsp_init()
/// @param argc, argv  the arguments of main(); ignored
void bsp_init(void (*start)(void), int argc, char** argv);
/// Begins the program. Must be called once, and must precede all other calls except bsp_init(),
/// bsp_nprocs() and bsp_abort(). If the program has not initialised MPI, the first BSPlib call
/// initialises MPI. Collective.
///
/// @param most_processes  largest number of processes of the program, at least 1; equal on all
///                        processes. After bsp_init(), only the value of process 0 is used. If
///                        mpirun has started fewer processes, the program has only these processes.
///                        If mpirun has started more processes, the surplus processes finalise MPI
///                        and exit in this call, with exit code 0.
void bsp_begin(int most_processes);
/// Ends the program, and finalises MPI if BSPlib initialised MPI. Collective: all processes
/// must call bsp_end() in the same superstep. Operations of that superstep do not take place. After
/// bsp_end() a process may call only bsp_nprocs() and bsp_abort().
void bsp_end(void);
/// Ends the program on all processes, and prints the text on stderr. Local; may be called at any
/// time.
///
/// @param format  the text, with further arguments, as in printf()
void bsp_abort(const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;
/// Returns the number of processes; before bsp_begin(), the largest possible number of processes.
/// Local.
int bsp_nprocs(void);
/// Returns the number of the calling process, from 0. Local.
int bsp_pid(void);
/// Returns the seconds since bsp_begin() on this process. The clocks of different processes differ.
/// Local.
double bsp_time(void);

/// @}
/// @name Supersteps
/// @{

/// Ends the superstep: completes the operations of the superstep, and begins the next superstep.
/// Collective. Cost: one short message from each process to each other process; further messages
/// for data that do not fit into the first; and a message in the opposite direction for the results
/// of gets.
void bsp_sync(void);

/// @}
/// @name Memory of other processes
/// @{

/// Registers memory from the next superstep on. Each process passes its own memory. In later puts
/// and gets, a process passes its own address to name this registration, and a process number to
/// select the process whose registered memory is accessed. If an address is registered several
/// times, the newest registration counts. Collective. Cost: 16 bytes to each process.
///
/// @param address  the memory, which the caller still owns. With NULL and 0 bytes, the process
///                 takes part without memory, and must not put or get by this registration.
/// @param bytes    length of the memory, 0 or more; may differ by process
void bsp_push_reg(const void* address, int bytes) BRIGADE_BSP_ADDRESS(1);
/// Ends the newest registration of an address, at the end of the superstep. The program may end a
/// registration in the superstep in which it made the registration. Collective.
///
/// @param address  the address that this process passed to bsp_push_reg(). All processes must name
///                 the same registration. Pass NULL if this process registered NULL. If all
///                 processes pass NULL, the call ends the newest registration that is NULL on all
///                 processes.
void bsp_pop_reg(const void* address) BRIGADE_BSP_ADDRESS(1);
/// Puts bytes into the memory of a process, at the end of the superstep. The call copies the bytes,
/// so the caller may reuse `source` when the call has returned. Local.
///
/// @param pid      the target process; may be the caller
/// @param source   the bytes
/// @param address  the calling process's address of the registered memory
/// @param offset   offset of the destination in the registered memory of `pid`
/// @param bytes    number of bytes; all of them must lie within the registered memory of `pid`. If
///                 `bytes` is 0, the other arguments are ignored.
void bsp_put(int pid, const void* source, void* address, int offset, int bytes)
    BRIGADE_BSP_ADDRESS(3);
/// Like bsp_put(), but without copies: until the superstep has ended, processes must not write the
/// source or destination, and must not read the destination. If `bytes` is at most the value of the
/// environment variable `BRIGADE_CHUNK_BYTES` (default: 32 KiB), the call does the same as
/// bsp_put().
void bsp_hpput(int pid, const void* source, void* address, int offset, int bytes)
    BRIGADE_BSP_ADDRESS(3);
/// Gets bytes from the memory of a process. The bytes are read when the superstep ends, before any
/// get or put of this superstep writes. Local.
///
/// @param pid      the target process; may be the caller
/// @param address  the calling process's address of the registered memory
/// @param offset   offset of the source in the registered memory of `pid`
/// @param result   destination, written at the end of the superstep
/// @param bytes    number of bytes; all of them must lie within the registered memory of `pid`. If
///                 `bytes` is 0, the other arguments are ignored.
void bsp_get(int pid, const void* address, int offset, void* result, int bytes)
    BRIGADE_BSP_ADDRESS(2);
/// Like bsp_get(), but without copies: until the superstep has ended, processes must not write the
/// source or destination, and must not read the destination. If `bytes` is at most the value of the
/// environment variable `BRIGADE_CHUNK_BYTES` (default: 32 KiB), the call does the same as
/// bsp_get().
void bsp_hpget(int pid, const void* address, int offset, void* result, int bytes)
    BRIGADE_BSP_ADDRESS(2);

/// @}
/// @name Messages
/// A message consists of a tag and a payload. All tags of a superstep have the same length.
/// A message that is sent in a superstep can be received in the next superstep only.
/// Messages are received in the order of their senders' numbers, and from one sender in the order
/// of sending.
/// @{

/// Sets the length of the tags of messages, from the next superstep on. Before the first call the
/// length is 0. Collective.
///
/// @param bytes  in: the length, equal on all processes; out: the length that was set before
void bsp_set_tagsize(int* bytes);
/// Sends a message. The call copies tag and payload. Local.
///
/// @param pid      the receiver; may be the caller
/// @param tag      the tag; must not be NULL unless tags have no bytes
/// @param payload  the payload; must not be NULL unless `bytes` is 0
/// @param bytes    number of bytes of the payload, 0 or more
void bsp_send(int pid, const void* tag, const void* payload, int bytes);
/// Returns the number of messages that are left to receive, and the sum of the lengths of their
/// payloads. The call is an error if one of the two numbers is above INT_MAX. bsp_get_tag(), which
/// reports when no message is left, has no such limit. Local. Cost: proportional to the number of
/// messages.
void bsp_qsize(int* messages, int* bytes);
/// Returns the payload length and the tag of the first message that is left to receive. Local.
///
/// @param status  the number of bytes of the payload; -1 if there is no message
/// @param tag     the tag, with the tag length of the superstep in which the message was sent;
///                unchanged if there is no message. Must not be NULL unless this length is 0.
void bsp_get_tag(int* status, void* tag);
/// Receives the first message that is left: copies the payload, and removes the message from the
/// queue. If there is no message, the call is an error. Local.
///
/// @param payload  destination of the payload; must not be NULL unless no bytes are copied
/// @param bytes    the length of `payload`; bytes of the message beyond this length are dropped
void bsp_move(void* payload, int bytes);
/// Receives the first message that is left, without a copy. Local.
///
/// @param tag, payload  the addresses of the message's tag and payload, which are aligned for every
///                      type and valid until the superstep ends; unchanged if there is no message
/// @return the number of bytes of the payload; -1 if there is no message
int bsp_hpmove(void** tag, void** payload);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_BSP_H_ */

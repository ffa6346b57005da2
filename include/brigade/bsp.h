/// @file
/// BSPlib for C99: programs that run in supersteps, with one-sided access to the memory of other
/// processes, and with messages.
///
/// Library: libbrigade_bsp.so. All processes of a program run the same supersteps. In a superstep,
/// each process computes and calls operations: puts, gets, sends and registrations. The operations
/// take place at the end of the superstep. For example:
///
/// @code
///   bsp_begin(bsp_nprocs());
///   bsp_push_reg(a, bytes);         // on each process: registers the process's own memory
///   bsp_sync();                     // ends the superstep; the registration is now in effect
///   bsp_put(pid, source, a, offset, n);
///   bsp_sync();                     // the put is complete
///   bsp_pop_reg(a);
///   bsp_end();
/// @endcode
///
/// Conventions:
///
/// 1. A superstep lasts from bsp_begin() or bsp_sync() to the next bsp_sync(), or to bsp_end().
///    Supersteps are numbered from 0; error texts contain the number of the superstep.
/// 2. All processes must make the same collective calls, in the same superstep and in the same
///    order. All other calls are local: they do not wait for other processes.
/// 3. At the end of a superstep, these steps take place, one after the other:
///    - All gets read their sources.
///    - The gets write their destinations. The gets of one process write in the order of its calls.
///    - The puts write their destinations: first the puts of process 0, then the puts of process 1,
///      and so on. The puts of one process write in the order of the calls.
///    - The calls of bsp_push_reg(), bsp_pop_reg() and bsp_set_tagsize() take effect.
///
///    Therefore puts and gets write the same bytes in every run.
/// 4. On an error the library prints the process, the call and the superstep on stderr, and ends
///    the program on all processes. The library always checks arguments, ranges of memory, and
///    whether all processes make the same collective calls.
/// 5. Offsets and lengths are in bytes.
/// 6. Not thread-safe: one thread of a process must make all calls.
///
/// Source: J. M. D. Hill et al., "BSPlib: The BSP programming library", Parallel Computing 24
/// (1998). This header also defines cases that the paper leaves open.
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
/// Type names of BSPonMPI and MulticoreBSP, two other implementations of BSPlib. In MulticoreBSP
/// the types are unsigned.
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

/// Makes process 0 the only process that runs the code of main(). Optional; must be the first
/// statement of main(). Returns on process 0. On every other process, calls `start`, and ends the
/// process when `start` has returned. Collective.
///
/// @param start  a function whose first statement is bsp_begin(), and whose last statement is
///               bsp_end(). On process 0, main() must call `start` after bsp_init().
/// @param argc, argv  the arguments of main(); ignored
void bsp_init(void (*start)(void), int argc, char** argv);
/// Begins superstep 0. Must be called once, and before all other BSPlib calls except bsp_init(),
/// bsp_nprocs() and bsp_abort(). If the program has not initialised MPI, the first BSPlib call
/// initialises MPI. Collective.
///
/// @param most_processes  largest number of processes of the program, at least 1. Must be equal on
///                        all processes, unless the program has called bsp_init(): then only the
///                        value of process 0 is used. If mpirun has started more processes, the
///                        surplus processes finalise MPI and exit in this call, with exit code 0.
void bsp_begin(int most_processes);
/// Ends the last superstep, and finalises MPI if BSPlib initialised MPI. The puts, gets, sends and
/// registrations of the last superstep do not take place. Afterwards the process may call only two
/// BSPlib functions: bsp_nprocs() and bsp_abort(). Collective.
void bsp_end(void);
/// Prints a text on stderr, and ends all processes of the program. May be called at any time.
///
/// @param format  the format of the text; further arguments follow, as in printf()
void bsp_abort(const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;
/// Returns the number of processes of the program. Before bsp_begin(), returns the number of
/// processes that mpirun has started.
int bsp_nprocs(void);
/// Returns the number of the calling process, from 0.
int bsp_pid(void);
/// Returns the number of seconds that have passed on this process since its bsp_begin().
double bsp_time(void);

/// @}
/// @name Supersteps
/// @{

/// Ends the superstep: completes its puts, gets, sends and registrations. Then begins the next
/// superstep. Collective.
///
/// Cost: each process sends one short message to every other process. Further messages
/// carry long data, and the bytes that bsp_get() and bsp_hpget() read from other processes.
void bsp_sync(void);

/// @}
/// @name Memory of other processes
/// @{

/// Registers memory. The registration takes effect at the start of the next superstep. Each process
/// passes an address in its own memory; addresses and lengths may differ. In a later put or get, a
/// process passes its own registered address. The put or get accesses the memory that process `pid`
/// registered in the collective call of bsp_push_reg() in which the caller registered this address.
/// If a process has registered an address several times, its newest registration is used.
/// Collective. Cost: 16 bytes in the message of bsp_sync() to each process.
///
/// @param address  the memory, which the caller still owns. NULL (only with 0 bytes): the process
///                 exposes no memory, and must not put or get with this registration.
/// @param bytes    length of the memory, 0 or more; may differ by process. With 0 bytes and an
///                 address other than NULL, the process exposes no memory, but can put and get with
///                 this registration.
void bsp_push_reg(const void* address, int bytes) BRIGADE_BSP_ADDRESS(1);
/// Ends the newest registration of an address, at the end of the superstep. This can be a
/// registration of the same superstep: bsp_push_reg() and bsp_pop_reg() take effect in the order of
/// the calls. Collective.
///
/// @param address  the address that this process passed to bsp_push_reg(), even if that was NULL.
///                 The addresses of all processes must come from the same collective call of
///                 bsp_push_reg(). If all processes pass NULL, the call ends the newest
///                 registration that is NULL on all processes.
void bsp_pop_reg(const void* address) BRIGADE_BSP_ADDRESS(1);
/// Puts bytes into the memory of a process, at the end of the superstep. The call copies the bytes
/// into memory of the library: the program may change `source` when the call has returned.
///
/// @param pid      the target process; may be the caller
/// @param source   the bytes
/// @param address  an address that the calling process has registered
/// @param offset   offset of the destination in the memory that `pid` has registered
/// @param bytes    number of bytes, which must lie within the registered memory. If 0, the other
///                 arguments are ignored.
void bsp_put(int pid, const void* source, void* address, int offset, int bytes)
    BRIGADE_BSP_ADDRESS(3);
/// Like bsp_put(), but without a copy of the bytes in the library. From the call to the end of the
/// superstep, no process may write the source, and no process may read or write the destination.
/// For up to `BRIGADE_CHUNK_BYTES` bytes (environment variable; default: 32 KiB), the call does the
/// same as bsp_put().
void bsp_hpput(int pid, const void* source, void* address, int offset, int bytes)
    BRIGADE_BSP_ADDRESS(3);
/// Gets bytes from the memory of a process, at the end of the superstep. All gets read before any
/// get or put writes.
///
/// @param pid      the target process; may be the caller
/// @param address  an address that the calling process has registered
/// @param offset   offset of the source in the memory that `pid` has registered
/// @param result   destination, written at the end of the superstep
/// @param bytes    number of bytes, which must lie within the registered memory. If 0, the other
///                 arguments are ignored.
void bsp_get(int pid, const void* address, int offset, void* result, int bytes)
    BRIGADE_BSP_ADDRESS(2);
/// Like bsp_get(), but without a copy of the bytes in the library. From the call to the end of the
/// superstep, no process may write the source, and no process may read or write the destination.
/// For up to `BRIGADE_CHUNK_BYTES` bytes (see bsp_hpput()), the call does the same as bsp_get().
void bsp_hpget(int pid, const void* address, int offset, void* result, int bytes)
    BRIGADE_BSP_ADDRESS(2);

/// @}
/// @name Messages
/// A message consists of a tag and a payload. A message can be received only in the superstep after
/// the send. A process receives first the messages of process 0, then the messages of process 1,
/// and so on. Messages of one sender arrive in the order of the sends.
/// @{

/// Sets the length of the tags of messages that are sent from the next superstep on. Before the
/// first call the length is 0. Collective.
///
/// @param bytes  in: the new length in bytes, equal on all processes; out: the length that was set
///               before this call
void bsp_set_tagsize(int* bytes);
/// Sends a message. The call copies tag and payload.
///
/// @param pid      the receiver; may be the caller
/// @param tag      the tag; may be NULL only if the length of tags is 0
/// @param payload  the payload; may be NULL only if `bytes` is 0
/// @param bytes    number of bytes of the payload, 0 or more
void bsp_send(int pid, const void* tag, const void* payload, int bytes);
/// Returns the number of messages that are left to receive, and the sum of the lengths of their
/// payloads. If the number or the sum exceeds INT_MAX, an error ends the program. The program can
/// instead receive messages until bsp_get_tag() sets `*status` to -1. Cost: proportional to the
/// number of messages.
void bsp_qsize(int* messages, int* bytes);
/// Returns the payload length and the tag of the first message that is left to receive.
///
/// @param status  the number of bytes of the payload; -1 if there is no message
/// @param tag     gets the tag, of the length that was in effect when the message was sent;
///                unchanged if there is no message. May be NULL only if this length is 0.
void bsp_get_tag(int* status, void* tag);
/// Receives the first message that is left: copies the payload, and removes the message from the
/// queue. If no message is left, an error ends the program.
///
/// @param payload  destination of the payload; may be NULL only if `bytes` or the length of the
///                 payload is 0
/// @param bytes    the length of the destination; bytes of the payload beyond this length are
///                 dropped
void bsp_move(void* payload, int bytes);
/// Receives the first message that is left: returns the addresses of the tag and the payload
/// instead of a copy.
///
/// @param tag, payload  get the addresses, which are aligned for every type, and valid until the
///                      superstep ends; unchanged if there is no message
/// @return the number of bytes of the payload; -1 if there is no message
int bsp_hpmove(void** tag, void** payload);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_BSP_H_ */

/// @file
/// BSPlib for C99: programs of supersteps, with one-sided access to the memory of other processes,
/// and messages.
///
/// Library: libbrigade_bsp.so. A program consists of processes and of supersteps. Operations of a
/// superstep take place at its end, where all processes synchronise:
///
/// @code
///   bsp_begin(bsp_nprocs());
///   bsp_push_reg(a, bytes);         // each process its own address, its name of the memory
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
///    numbered from 0; error texts have the number.
/// 2. Collective calls are made by all processes, in the same superstep and in one order. All other
///    calls are local, and return without another process.
/// 3. At the end of a superstep (1) all gets read their sources, (2) gets write their results, in
///    the order of a process's calls, (3) puts write, in the order of process numbers and for one
///    process in the order of its calls, (4) registrations change. Programs give equal bytes in
///    every run.
/// 4. An error ends the program on all processes, and prints on stderr the process, the call and
///    the superstep. Always checked: arguments, ranges, and that collective calls agree.
/// 5. Offsets and lengths are in bytes.
/// 6. Not thread-safe: one thread of a process makes all calls.
///
/// Source: J. M. D. Hill et al., "BSPlib: The BSP programming library", Parallel Computing 24
/// (1998). The comments below define cases that the paper leaves open. Messages are received in the
/// order of their senders' numbers, and from one sender in the order of sending; the paper promises
/// no order.

#ifndef BRIGADE_BSP_H_
#define BRIGADE_BSP_H_

#ifdef __cplusplus
extern "C" {
#endif

/// @cond
/* Registered memory may be uninitialised: suppresses compiler warnings about it. */
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
/// int, as in BSPonMPI and in the standard; the types of MulticoreBSP are unsigned.
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

/// Lets process 0 run alone until bsp_begin(). If called, it must be the first statement of main().
/// On all other processes it calls `start` and does not return. Collective.
///
/// @param start  a procedure whose first and last statements are bsp_begin() and bsp_end(); process
///               0 calls it later
/// @param argc, argv  main()'s; ignored
void bsp_init(void (*start)(void), int argc, char** argv);
/// Begins the program. Must be called once, and must precede all other calls except bsp_init() and
/// bsp_nprocs(). Initialises MPI if the program has not. Collective.
///
/// @param most_processes  at least 1, equal on all processes; after bsp_init() the value of process
///                        0 counts. The program gets this number of processes, or fewer if mpirun
///                        has started fewer. All other processes exit here, with exit code 0.
void bsp_begin(int most_processes);
/// Ends the program, and finalises MPI if bsp_begin() has initialised it. Collective, on all
/// processes in the same superstep. Operations of that superstep do not take place. After
/// bsp_init(), all processes except 0 exit. Only bsp_nprocs() and bsp_abort() may follow.
void bsp_end(void);
/// Ends the program on all processes, and prints the text on stderr. Local; may be called at any
/// time.
///
/// @param format  as printf()'s
void bsp_abort(const char* format, ...)
#ifdef __GNUC__
    __attribute__((format(printf, 1, 2)))
#endif
    ;
/// Returns the number of processes; before bsp_begin() the largest possible number. Local.
int bsp_nprocs(void);
/// Returns the number of the calling process, from 0. Local.
int bsp_pid(void);
/// Returns the seconds since bsp_begin() on this process. Processes have different clocks. Local.
double bsp_time(void);

/// @}
/// @name Supersteps
/// @{

/// Ends the superstep: completes its operations, and begins the next superstep. Collective. Cost: a
/// short message from each process to each other one; another message for data that does not fit;
/// and one more back for the results of gets.
void bsp_sync(void);

/// @}
/// @name Memory of other processes
/// @{

/// Registers memory from the next superstep on. Each process passes its own memory, and identifies
/// the memory of all processes by its own address. If an address is registered several times, the
/// newest registration counts. Collective. Cost: 16 bytes to each process.
///
/// @param address  the memory; the caller keeps it. NULL with 0 bytes takes part without memory;
///                 this process must then not put or get by this registration.
/// @param bytes    its length, 0 or more; may differ by process
void bsp_push_reg(const void* address, int bytes) BRIGADE_BSP_ADDRESS(1);
/// Ends the newest registration of an address, at the end of the superstep. The registration may be
/// of this superstep. Collective.
///
/// @param address  the address of one registration on all processes. NULL if this process
///                 registered NULL. If all processes pass NULL, the call ends the newest
///                 registration that is NULL on all processes.
void bsp_pop_reg(const void* address) BRIGADE_BSP_ADDRESS(1);
/// Puts bytes into the memory of a process, at the end of the superstep. The bytes are copied now.
/// Local.
///
/// @param pid      the target process; may be the caller
/// @param source   the bytes
/// @param address  the calling process's address of the registered memory
/// @param offset   destination in the registered memory of `pid`
/// @param bytes    number of bytes; must lie within the registered memory of `pid`. 0: the other
///                 arguments are ignored.
void bsp_put(int pid, const void* source, void* address, int offset, int bytes)
    BRIGADE_BSP_ADDRESS(3);
/// Like bsp_put() without copies: no process may change source or destination, or read the
/// destination, until the superstep has ended. For up to BRIGADE_CHUNK_BYTES bytes the call does
/// the same as bsp_put().
void bsp_hpput(int pid, const void* source, void* address, int offset, int bytes)
    BRIGADE_BSP_ADDRESS(3);
/// Gets bytes from the memory of a process. The bytes are read when the superstep ends, before any
/// get or put of this superstep writes. Local.
///
/// @param pid      the target process; may be the caller
/// @param address  the calling process's address of the registered memory
/// @param offset   source in the registered memory of `pid`
/// @param result   destination, written at the end of the superstep
/// @param bytes    number of bytes; must lie within the registered memory of `pid`. 0: the other
///                 arguments are ignored.
void bsp_get(int pid, const void* address, int offset, void* result, int bytes)
    BRIGADE_BSP_ADDRESS(2);
/// Like bsp_get() without copies: no process may change source or destination, or read the
/// destination, until the superstep has ended. For up to BRIGADE_CHUNK_BYTES bytes the call does
/// the same as bsp_get().
void bsp_hpget(int pid, const void* address, int offset, void* result, int bytes)
    BRIGADE_BSP_ADDRESS(2);

/// @}
/// @name Messages
/// A message is a tag, whose length is equal for all messages, and a payload. A message of a
/// superstep can be received in the next superstep only. Messages are received in the order of
/// their senders' numbers, and from one sender in the order of sending.
/// @{

/// Sets the length of tags of messages from the next superstep on; 0 before the first call.
/// Collective.
///
/// @param bytes  in: the length, equal on all processes; out: the length that was set before
void bsp_set_tagsize(int* bytes);
/// Sends a message. Tag and payload are copied now. Local.
///
/// @param pid      the receiver; may be the caller
/// @param tag      the tag; NULL only if tags have no bytes
/// @param payload  the payload; NULL only if it has no bytes
/// @param bytes    bytes of the payload, 0 or more
void bsp_send(int pid, const void* tag, const void* payload, int bytes);
/// Returns the number of messages that are left, and the bytes of their payloads. Error: one of the
/// two numbers is above INT_MAX. Use bsp_get_tag() in this case: it reports when no message is
/// left. Local. Cost: proportional to the number of messages.
void bsp_qsize(int* messages, int* bytes);
/// Returns length and tag of the first message. Local.
///
/// @param status  the bytes of its payload; -1 if there is no message
/// @param tag     the tag, with the length of tags when the message was sent; unchanged if there is
///                no message. NULL only if the length is 0.
void bsp_get_tag(int* status, void* tag);
/// Takes the first message. Error: there is no message. Local.
///
/// @param payload  destination of the payload. NULL only if no bytes are copied.
/// @param bytes    the length of `payload`; the rest is dropped
void bsp_move(void* payload, int bytes);
/// Takes the first message, without a copy. Local.
///
/// @param tag, payload  the addresses of tag and payload, aligned for every type, valid until the
///                      superstep ends. Unchanged if there is no message.
/// @return the bytes of its payload; -1 if there is no message
int bsp_hpmove(void** tag, void** payload);

/// @}

#ifdef __cplusplus
}
#endif

#endif /* BRIGADE_BSP_H_ */
